//! What the figures have in common: the paper, colours, ticks and legends.

use crate::error::PageError;
use crate::output::MARK;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// Why a figure cannot be drawn.
pub type Broken = DrawingAreaErrorKind<std::io::Error>;

/// The paper.
pub type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Width of a figure in its own units, and in points: the column of a paper with two.
pub const WIDTH: u32 = 960;
const POINTS: f64 = 241.0;

/// Size of texts (8 pt), mean width of a character, and height of a row of a legend.
pub const SIZE: f64 = 32.0;
const CHARACTER: f64 = 15.5;
pub const ROW: u32 = 44;

/// Width of the labels of the vertical axis, and height of those of the other with its name.
pub const LEFT: u32 = 130;
pub const BELOW: u32 = 96;

/// Colours that can be distinguished with any common colour blindness, and on grey paper by their order from dark to
/// light at least in pairs.
pub const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 128, 93),
    RGBColor(170, 51, 119),
    RGBColor(154, 112, 0),
    RGBColor(58, 155, 220),
    RGBColor(96, 96, 96),
    RGBColor(139, 69, 19),
];

/// Lengths of the dashes of a scheme's line and of their gaps; `None` for a line without gaps.
pub fn dashes(i: usize) -> Option<(i32, i32)> {
    [None, Some((18, 10)), Some((4, 8)), Some((32, 14))][i % 4]
}

/// A figure with a height of `height` units, drawn by `draw`.
pub fn paper(height: u32, draw: impl FnOnce(&Paper) -> Result<(), Broken>) -> Result<String, PageError> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        let drawn = root.fill(&WHITE).and_then(|()| draw(&root)).and_then(|()| root.present());
        drawn.map_err(|e| PageError::Draw(e.to_string()))?;
    }
    let points = POINTS * f64::from(height) / f64::from(WIDTH);
    let units = format!("width=\"{WIDTH}\" height=\"{height}\"");
    let sized = text.replacen(&units, &format!("width=\"{POINTS}pt\" height=\"{points:.2}pt\""), 1);
    Ok(format!("<!-- {MARK} -->\n{sized}\n"))
}

/// A linear axis whose ticks are given.
pub struct Axis {
    /// Its ends.
    pub range: Range<f64>,
    /// Where it has ticks.
    pub ticks: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// The style of texts.
pub fn style<'a>() -> TextStyle<'a> {
    TextStyle::from(("sans-serif", SIZE).into_font()).color(&BLACK)
}

/// The logarithms of the powers of ten in a range of logarithms.
pub fn powers(from: f64, to: f64) -> Vec<f64> {
    (from.ceil() as i32..=to.floor() as i32).map(f64::from).collect()
}

/// Ticks between two latencies, as logarithms of ns: at powers of ten, and where these are few at some of their multiples.
pub fn latencies(from: f64, to: f64) -> Vec<f64> {
    let steps: &[f64] = match to - from {
        ..0.5 => &[1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
        0.5..1.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let powers = from.floor() as i32..=to.floor() as i32;
    let ticks = powers.flat_map(|power| steps.iter().map(move |step| f64::from(power) + step.log10()));
    ticks.filter(|tick| (from..=to).contains(tick)).collect()
}

/// The label of a latency by the logarithm of its ns.
pub fn latency(log: f64) -> String {
    // Logarithms are not exact: what is nearly whole is whole.
    let power = (log + 1e-9).floor() as i32;
    let (unit, base) = match power {
        ..3 => ("ns", 0),
        3..6 => ("µs", 3),
        6..9 => ("ms", 6),
        _ => ("s", 9),
    };
    let value = 10f64.powf(log - f64::from(base));
    format!("{} {unit}", (value * 100.0).round() / 100.0)
}

/// How a name of a legend is marked.
pub enum Mark {
    /// By the line of a scheme.
    Line(usize),
    /// By a filled box.
    Fill(RGBColor),
}

/// The places of a legend's names in rows, from the left edge: column, row.
fn places(names: &[String]) -> Vec<(i32, i32)> {
    let (mut x, mut row) = (0, 0);
    let mut places = Vec::new();
    for name in names {
        let wide = 70 + (name.chars().count() as f64 * CHARACTER) as i32;
        if x > 0 && x + wide > (WIDTH - 20) as i32 {
            (x, row) = (0, row + 1);
        }
        places.push((x, row));
        x += wide + 10;
    }
    places
}

/// The height of a legend.
pub fn legend_height(names: &[String]) -> u32 {
    places(names).last().map_or(0, |(_, row)| (*row as u32 + 1) * ROW)
}

/// Draw a legend whose first row begins at `top`.
pub fn legend(paper: &Paper, top: i32, names: &[String], mark: impl Fn(usize) -> Mark) -> Result<(), Broken> {
    let style = style().pos(Pos::new(HPos::Left, VPos::Center));
    for (i, ((x, row), name)) in places(names).into_iter().zip(names).enumerate() {
        let (x, y) = (x + 14, top + row * ROW as i32 + ROW as i32 / 2);
        match mark(i) {
            Mark::Line(i) => line(paper, (x, y), (x + 48, y), i)?,
            Mark::Fill(colour) => {
                paper.draw(&Rectangle::new([(x + 14, y - 13), (x + 42, y + 13)], colour.filled()))?
            }
        }
        paper.draw(&Text::new(name.clone(), (x + 56, y), style.clone()))?;
    }
    Ok(())
}

/// A line in the manner of a scheme.
fn line(paper: &Paper, from: (i32, i32), to: (i32, i32), i: usize) -> Result<(), Broken> {
    let stroke = COLOURS[i % COLOURS.len()].stroke_width(4);
    match dashes(i) {
        None => paper.draw(&PathElement::new([from, to], stroke)),
        Some((long, gap)) => paper.draw(&DashedPathElement::new([from, to], long, gap, stroke)),
    }
}

/// A name that fits a legend.
pub fn cut(name: &str) -> String {
    tailcut_report::text::cut(name, 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_latencies_are_few_and_round() {
        let labels = |from: f64, to: f64| -> Vec<String> {
            latencies(from.log10(), to.log10()).into_iter().map(latency).collect()
        };
        assert_eq!(labels(16_900.0, 5e6), ["100 µs", "1 ms"]);
        assert_eq!(labels(10_384.0, 17_944.0), ["12 µs", "14 µs", "16 µs"]);
        assert_eq!(labels(90_000.0, 600_000.0), ["100 µs", "200 µs", "500 µs"]);
        assert_eq!(labels(50.0, 2e9).first().unwrap(), "100 ns");
        assert_eq!(labels(50.0, 2e9).last().unwrap(), "1 s");
    }

    #[test]
    fn a_legend_breaks_into_rows_that_fit() {
        let names = vec!["x".repeat(30); 3];
        assert_eq!(legend_height(&names), 3 * ROW);
        assert_eq!(legend_height(&vec!["short".to_string(); 3]), ROW);
        assert_eq!(legend_height(&[]), 0);
    }
}
