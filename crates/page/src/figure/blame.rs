//! The causes of the slowest requests.

use super::canvas::{
    Axis, Broken, COLOURS, LEFT, Mark, Paper, ROW, cut, legend, legend_height, paper, style,
};
use crate::data::named;
use crate::error::PageError;
use crate::run::Run;
use plotters::prelude::*;
use tailcut_report::summary::BlameSummary;
use tailcut_report::tables::plural;
use tailcut_report::text::duration;
use tailcut_units::HostOp;

/// The levels that are shown: all requests, and the tail.
const LEVELS: [f64; 4] = [0.0, 99.0, 99.9, 99.99];

/// The causes with a colour of their own.
const CAUSES: usize = 6;

/// A bar: where it stands, the shares of the causes, and the mean latency, ns.
struct Bar {
    from: f64,
    to: f64,
    shares: Vec<f64>,
    mean: f64,
}

/// The causes of all schemes as shares of the latency.
pub fn svg(runs: &[Run], op: HostOp) -> Result<String, PageError> {
    let schemes: Vec<(String, &[BlameSummary])> = named(runs)
        .map(|(name, run, i)| (name, &run.summary.schemes[i].side(op).blame[..]))
        .filter(|(_, blame)| !blame.is_empty())
        .collect();
    let at = |blame: &'_ [BlameSummary], level: f64| blame.iter().position(|b| b.above == level);
    let levels: Vec<f64> =
        LEVELS.into_iter().filter(|&l| schemes.iter().any(|(_, blame)| at(blame, l).is_some())).collect();
    if levels.is_empty() {
        return Err(PageError::Nothing(format!("the runs have no causes of {}", plural(op))));
    }
    let all: Vec<&BlameSummary> = schemes.iter().flat_map(|(_, blame)| blame.iter()).collect();
    let causes = important(&all);
    let wide = 0.86 / schemes.len() as f64;
    let mut bars = Vec::new();
    for (group, &level) in levels.iter().enumerate() {
        for (i, (_, blame)) in schemes.iter().enumerate() {
            let Some(blame) = at(blame, level).map(|k| &blame[k]) else { continue };
            let from = group as f64 + 0.07 + i as f64 * wide;
            bars.push(Bar {
                from,
                to: from + wide * 0.94,
                shares: shares(blame, &causes),
                mean: blame.mean_ns,
            });
        }
    }
    let mut names: Vec<String> = causes.clone();
    names.push("other".to_string());
    let order: Vec<String> = schemes.iter().map(|(name, _)| name.clone()).collect();
    let below = legend_height(&names);
    let one = u32::from(schemes.len() > 1) * ROW;
    paper(560 + below + one, |paper| {
        plot(paper, &levels, &bars, (op, below + one))?;
        let top = 560;
        if one > 0 {
            let text = cut(&format!("Bars from the left: {}", order.join(", ")));
            paper.draw(&Text::new(text, (14, top), style()))?;
        }
        legend(paper, top + one as i32, &names, |i| Mark::Fill(fill(i)))
    })
}

/// The colour of a cause; the last is that of all others.
fn fill(i: usize) -> RGBColor {
    if i < CAUSES { COLOURS[i] } else { RGBColor(190, 190, 190) }
}

/// The causes with the largest shares over all bars.
fn important(all: &[&BlameSummary]) -> Vec<String> {
    let mut weights: Vec<(String, f64)> = Vec::new();
    for blame in all.iter().filter(|blame| blame.mean_ns > 0.0) {
        for (cause, ns) in blame.causes.iter() {
            let share = ns / blame.mean_ns;
            match weights.iter_mut().find(|(name, _)| name == cause) {
                Some((_, weight)) => *weight += share,
                None => weights.push((cause.clone(), share)),
            }
        }
    }
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    weights.truncate(CAUSES);
    weights.into_iter().map(|(name, _)| name).collect()
}

/// The shares of these causes, and of all others.
fn shares(blame: &BlameSummary, causes: &[String]) -> Vec<f64> {
    let of = |cause: &String| blame.causes.get(cause).copied().unwrap_or(0.0) / blame.mean_ns.max(1e-9);
    let mut shares: Vec<f64> = causes.iter().map(of).collect();
    shares.push((1.0 - shares.iter().sum::<f64>()).max(0.0));
    shares
}

fn plot(paper: &Paper, levels: &[f64], bars: &[Bar], (op, below): (HostOp, u32)) -> Result<(), Broken> {
    let area = paper.margin(8, below as i32 + 4, 4, 14);
    let ticks: Vec<f64> = (0..levels.len()).map(|group| group as f64 + 0.5).collect();
    let mut plot = ChartBuilder::on(&area).x_label_area_size(88).y_label_area_size(LEFT).build_cartesian_2d(
        Axis { range: 0.0..levels.len() as f64, ticks },
        Axis { range: 0.0..1.12, ticks: vec![0.0, 0.25, 0.5, 0.75, 1.0] },
    )?;
    plot.configure_mesh()
        .disable_x_mesh()
        .bold_line_style(RGBColor(216, 222, 228))
        .light_line_style(TRANSPARENT)
        .label_style(style())
        .axis_desc_style(style())
        .x_desc(format!("{} at and beyond", plural(op)))
        .y_desc("share of the latency")
        .x_label_formatter(&|x| match levels.get(*x as usize) {
            Some(0.0) => "all".to_string(),
            level => level.map_or(String::new(), |level| format!("p{level}")),
        })
        .y_label_formatter(&|y| format!("{} %", (y * 100.0).round()))
        .draw()?;
    for bar in bars {
        let mut from = 0.0;
        for (i, share) in bar.shares.iter().enumerate() {
            let corners = [(bar.from, from), (bar.to, from + share)];
            plot.draw_series([Rectangle::new(corners, fill(i).filled())])?;
            plot.draw_series([Rectangle::new(corners, WHITE.stroke_width(1))])?;
            from += share;
        }
    }
    // Mean latencies stand above their bars where there is room for them.
    if bars.len() <= 8 {
        let small = TextStyle::from(("sans-serif", 24.0).into_font());
        let small = small.pos(plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Bottom,
        ));
        let label = |bar: &Bar| {
            let text = duration(bar.mean).trim_end().replace("us", "µs");
            Text::new(text, ((bar.from + bar.to) / 2.0, 1.02), small.clone())
        };
        plot.draw_series(bars.iter().map(label))?;
    }
    Ok(())
}
