//! The latencies of one scheme over time.

use super::canvas::{Axis, BELOW, Broken, LEFT, Paper, latencies, latency, paper, powers, style};
use crate::data::{Detail, LatencyData};
use crate::error::PageError;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use tailcut_report::summary::Scheme;
use tailcut_report::tables::plural;
use tailcut_units::HostOp;

/// Two intervals are shown as one: a column of paper cannot show more.
const DETAIL: Detail = Detail { join: 2, slowest: 0, heat: true };

/// The requests by time and latency.
pub fn svg(scheme: &Scheme, op: HostOp) -> Result<String, PageError> {
    let data = LatencyData::new(scheme, op, DETAIL);
    if data.bounds.is_empty() {
        let text = "the run was made by a version that did not count latencies over time: run it again";
        return Err(PageError::Nothing(text.to_string()));
    }
    let ends: Vec<(f64, f64)> = scheme
        .series
        .chunks(DETAIL.join)
        .filter_map(|joined| {
            let (first, last) = (joined.first()?, joined.last()?);
            Some((first.at_ns as f64, last.at_ns.saturating_add(last.length_ns) as f64))
        })
        .collect();
    paper(600, |paper| plot(paper, &data, &ends, op))
}

/// The colour of a number of requests, by its logarithm as a share of that of the largest: few are light.
fn colour(share: f64) -> RGBColor {
    ViridisRGB::get_color(1.0 - share)
}

fn plot(paper: &Paper, data: &LatencyData, ends: &[(f64, f64)], op: HostOp) -> Result<(), Broken> {
    let end = ends.last().map_or(1.0, |ends| ends.1);
    let (unit, scale) = match end {
        2e9.. => ("s", 1e9),
        2e6.. => ("ms", 1e6),
        _ => ("µs", 1e3),
    };
    let logs: Vec<f64> = data.bounds.iter().map(|ns| (*ns as f64).max(0.8).log10()).collect();
    let (low, high) = (logs[0] - 0.03, logs[logs.len() - 1] + 0.03);
    let most = data.counts.iter().flat_map(|row| &row[1..]).copied().max().unwrap_or(1) as f64;
    let area = paper.margin(12, 6, 4, 130);
    let mut plot = ChartBuilder::on(&area)
        .x_label_area_size(BELOW)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(0.0..end / scale, Axis { range: low..high, ticks: latencies(low, high) })?;
    plot.configure_mesh()
        .disable_mesh()
        .x_labels(6)
        .label_style(style())
        .axis_desc_style(style())
        .x_desc(format!("time, {unit}"))
        .y_desc(format!("latency of {}", plural(op)))
        .x_label_formatter(&|x| format!("{}", (x * 100.0).round() / 100.0))
        .y_label_formatter(&|y| latency(*y))
        .draw()?;
    let share = |count: u64| if most > 1.0 { (count as f64).ln() / most.ln() } else { 1.0 };
    for (row, (from, to)) in data.counts.iter().zip(ends) {
        let cells = row[1..].iter().enumerate().filter(|(_, count)| **count > 0).map(|(i, count)| {
            let bucket = row[0] as usize + i;
            let corners = [(from / scale, logs[bucket]), (to / scale, logs[bucket + 1])];
            Rectangle::new(corners, colour(share(*count)).filled())
        });
        plot.draw_series(cells)?;
    }
    scale_of(paper, most)
}

/// What the colours mean, at the right edge.
fn scale_of(paper: &Paper, most: f64) -> Result<(), Broken> {
    const PARTS: i32 = 40;
    let (x, top, high) = (850, 60, 400);
    for part in 0..PARTS {
        let y = |part: i32| top + high - part * high / PARTS;
        let filled = colour(f64::from(part) / f64::from(PARTS - 1)).filled();
        paper.draw(&Rectangle::new([(x, y(part)), (x + 26, y(part + 1))], filled))?;
    }
    let left = style().pos(Pos::new(HPos::Left, VPos::Center));
    for power in powers(0.0, most.log10()) {
        let share = if most > 1.0 { power / most.log10() } else { 0.0 };
        let y = top + high - (share * f64::from(high)) as i32;
        let text = match power as i32 {
            power @ 0..4 => format!("{}", 10u32.pow(power as u32)),
            power => format!("1e{power}"),
        };
        paper.draw(&Text::new(text, (x + 32, y), left.clone()))?;
    }
    paper.draw(&Text::new("requests", (954, 22), style().pos(Pos::new(HPos::Right, VPos::Center))))
}
