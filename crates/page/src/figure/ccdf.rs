//! The distribution of latencies.

use super::canvas::{
    Axis, BELOW, Broken, COLOURS, LEFT, Mark, Paper, cut, dashes, latencies, latency, legend, legend_height,
    paper, powers, style,
};
use crate::data::named;
use crate::error::PageError;
use crate::run::Run;
use plotters::prelude::*;
use tailcut_units::HostOp;

/// One scheme: its curve and the intervals of its percentiles, in logarithms of ns and of shares.
struct Line {
    points: Vec<(f64, f64)>,
    band: Vec<(f64, f64)>,
}

/// The curves of all schemes.
pub fn svg(runs: &[Run], op: HostOp) -> Result<String, PageError> {
    let mut names = Vec::new();
    let mut lines = Vec::new();
    for (name, run, i) in named(runs) {
        let points = &run.curves[i][op as usize].points;
        if points.is_empty() {
            continue;
        }
        let mut steps = Vec::new();
        for &(ns, share) in points {
            let (x, y) = ((ns as f64).log10(), share.log10());
            // The share falls just above a latency that a request has.
            steps.extend(steps.last().map(|&(before, _)| (before, y)));
            steps.push((x, y));
        }
        names.push(cut(&name));
        lines.push(Line { points: steps, band: band(run, i, op) });
    }
    if lines.is_empty() {
        return Err(PageError::Nothing("the runs have no distribution of these requests".to_string()));
    }
    let top = legend_height(&names);
    paper(top + 560, |paper| {
        legend(paper, 0, &names, Mark::Line)?;
        plot(paper, top, op, &lines)
    })
}

/// The corners of the area of the confidence intervals.
fn band(run: &Run, scheme: usize, op: HostOp) -> Vec<(f64, f64)> {
    let side = run.summary.schemes[scheme].side(op);
    let of = |(level, [low, high]): &(String, [u64; 2])| {
        let beyond = 1.0 - level.parse::<f64>().ok()? / 100.0;
        let log = |ns: u64| (ns.max(1) as f64).log10();
        (beyond * side.total_ios as f64 >= 1.0).then(|| (beyond.log10(), log(*low), log(*high)))
    };
    let all: Vec<(f64, f64, f64)> = side.lat_ns.ci95.iter().filter_map(of).collect();
    let low = all.iter().map(|(y, low, _)| (*low, *y));
    let high = all.iter().rev().map(|(y, _, high)| (*high, *y));
    low.chain(high).collect()
}

fn plot(paper: &Paper, top: u32, op: HostOp, lines: &[Line]) -> Result<(), Broken> {
    let all = || lines.iter().flat_map(|line| &line.points);
    let least = |by: fn(&(f64, f64)) -> f64| all().map(by).fold(f64::INFINITY, f64::min);
    let (x0, y0) = (least(|p| p.0) - 0.05, least(|p| p.1) - 0.1);
    let x1 = all().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max) + 0.05;
    let area = paper.margin(top as i32 + 8, 6, 4, 24);
    let mut plot =
        ChartBuilder::on(&area).x_label_area_size(BELOW).y_label_area_size(LEFT).build_cartesian_2d(
            Axis { range: x0..x1, ticks: latencies(x0, x1) },
            Axis { range: y0..0.05, ticks: powers(y0, 0.05) },
        )?;
    plot.configure_mesh()
        .bold_line_style(RGBColor(216, 222, 228))
        .light_line_style(TRANSPARENT)
        .label_style(style())
        .axis_desc_style(style())
        .x_desc(format!("latency of {}", tailcut_report::tables::plural(op)))
        .y_desc("share at least as long")
        .x_label_formatter(&|x| latency(*x))
        .y_label_formatter(&|y| share(*y))
        .draw()?;
    for (i, line) in lines.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        plot.draw_series([Polygon::new(line.band.clone(), colour.mix(0.2))])?;
    }
    for (i, line) in lines.iter().enumerate() {
        let stroke = COLOURS[i % COLOURS.len()].stroke_width(4);
        let points = line.points.iter().copied();
        match dashes(i) {
            None => plot.draw_series(LineSeries::new(points, stroke))?,
            Some((long, gap)) => {
                plot.draw_series(DashedLineSeries::new(points, long as u32, gap as u32, stroke))?
            }
        };
    }
    Ok(())
}

/// The label of a share by its logarithm.
fn share(power: f64) -> String {
    match power.round() as i32 {
        0 => "1".to_string(),
        power @ -3..0 => format!("{}", 10f64.powi(power)),
        power => format!("1e{power}"),
    }
}
