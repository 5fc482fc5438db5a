//! Draws a chart as an SVG.

use super::chart::{Axis, Chart, Series};
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// A colour by its purpose.
struct Colour {
    /// The class of what has this colour in the SVG.
    class: &'static str,
    /// The colour on a light page, for drawing too: no two colours are equal here.
    light: u32,
    /// The colour on a dark page.
    dark: u32,
}

const PAGE: Colour = Colour { class: "page", light: 0xffffff, dark: 0x0d1117 };
const TEXT: Colour = Colour { class: "text", light: 0x1f2328, dark: 0xe6edf3 };
const GRID: Colour = Colour { class: "grid", light: 0xd8dee4, dark: 0x30363d };
const BAND: Colour = Colour { class: "band", light: 0xd3e3f5, dark: 0x1d3450 };
/// The colours of series, which repeat after the last.
const SERIES: [Colour; 8] = [
    Colour { class: "a", light: 0x0072b2, dark: 0x58a6ff },
    Colour { class: "b", light: 0xd55e00, dark: 0xff9e4a },
    Colour { class: "c", light: 0x00805d, dark: 0x3fc98f },
    Colour { class: "d", light: 0xaa3377, dark: 0xe07bc0 },
    Colour { class: "e", light: 0x9a7000, dark: 0xe6c229 },
    Colour { class: "f", light: 0x3a9bdc, dark: 0x9ad8ff },
    Colour { class: "g", light: 0x606060, dark: 0xb0b0b0 },
    Colour { class: "h", light: 0x8b4513, dark: 0xd2a679 },
];

impl Colour {
    fn drawn(&self) -> RGBColor {
        let [_, red, green, blue] = self.light.to_be_bytes();
        RGBColor(red, green, blue)
    }

    fn of_series(i: usize) -> RGBColor {
        SERIES[i % SERIES.len()].drawn()
    }
}

/// Width of a plain chart without its legend, and height, in pixels.
const PLAIN: (u32, u32) = (640, 360);
/// Width between the labels and the notes of a chart of rows, and height of a row, in pixels.
const ROWS: (u32, u32) = (420, 19);
/// Height of the title, and of the area below the plot, in pixels.
const TOP: u32 = 34;
const BELOW: u32 = 52;
/// Margin at the left edge, in pixels.
const EDGE: u32 = 8;
/// Size of texts in the unit of the plotting crate, and width of a character at that size.
const SIZE: f64 = 15.0;
const CHARACTER: f64 = 6.7;
/// Longer labels are cut.
const LABEL: usize = 64;

type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// Uses exactly the given ticks.
impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.from) / (self.to - self.from);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

pub(super) fn svg(chart: &Chart, title: &str) -> String {
    let mut text = String::new();
    // The back end writes to a string, which cannot fail.
    draw(chart, title, &mut text).expect("a string takes everything");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    adapted(text)
}

/// Replaces the colours of a drawn picture by classes. A style gives them the colours for a light or a dark page.
fn adapted(mut drawn: String) -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    for colour in [PAGE, TEXT, GRID, BAND].iter().chain(&SERIES) {
        for (attribute, suffix) in [("fill", ""), ("stroke", "-line")] {
            let class = format!("{}{suffix}", colour.class);
            let old = format!("{attribute}=\"#{:06X}\"", colour.light);
            if drawn.contains(&old) {
                drawn = drawn.replace(&old, &format!("class=\"{class}\""));
                light.push_str(&format!(".{class} {{ {attribute}: #{:06X}; }}\n", colour.light));
                dark.push_str(&format!(".{class} {{ {attribute}: #{:06X}; }}\n", colour.dark));
            }
        }
    }
    // Each text is one line.
    drawn = drawn.replace("class=\"text\">\n", "class=\"text\">").replace("\n</text>", "</text>");
    let style = format!("<style>\n{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n</style>\n");
    let head = drawn.find('\n').map_or(drawn.len(), |end| end + 1);
    drawn.insert_str(head, &style);
    drawn
}

fn draw<'a>(
    chart: &Chart,
    title: &str,
    out: &'a mut String,
) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>> {
    let labels: Vec<String> = chart.y.ticks.iter().map(|(_, label)| cut(label)).collect();
    let left = width(labels.iter()) + if chart.y.label.is_empty() { 22 } else { 44 };
    let notes = width(chart.notes.iter().map(|(_, note)| note)) + if chart.notes.is_empty() { 8 } else { 18 };
    let legend = if chart.rows { 0 } else { width(chart.series.iter().map(|s| &s.name)) + 44 };
    let (wide, high) = match chart.rows {
        true => (ROWS.0, ROWS.1 * chart.y.ticks.len() as u32 + 24),
        false => PLAIN,
    };
    let size = (left + wide + notes + legend, TOP + high + BELOW);
    let root = SVGBackend::with_string(out, size).into_drawing_area();
    root.fill(&PAGE.drawn())?;
    let colour = TEXT.drawn();
    let style = TextStyle::from(("sans-serif", SIZE).into_font()).color(&colour);
    let heading = TextStyle::from(("sans-serif", SIZE + 2.0).into_font()).color(&colour);
    let fits = (f64::from(size.0) / (CHARACTER * 1.13)) as usize;
    root.draw(&Text::new(shorten(title, fits), (10, 9), heading))?;
    let legend_at = match chart.rows {
        true => (left as i32, TOP as i32 + 6),
        false => ((left + wide + notes) as i32, TOP as i32 + 12),
    };
    draw_legend(chart, &style, legend_at, &root)?;
    let top = TOP + if chart.rows { 20 } else { 0 };
    // The label of the vertical axis is at the very edge of the area.
    let area = root.margin(top as i32, 4, EDGE as i32, (notes + legend) as i32);
    let mut plot: Plot<'_, '_> = ChartBuilder::on(&area)
        .x_label_area_size(BELOW - 6)
        .y_label_area_size(left - EDGE)
        .build_cartesian_2d(chart.x.clone(), chart.y.clone())?;
    for ([from, to], row) in &chart.bands {
        let corners = [(*from, row - 0.38), (*to, row + 0.38)];
        plot.draw_series([Rectangle::new(corners, BAND.drawn().filled())])?;
    }
    let (xs, ys) = (chart.x.ticks.clone(), chart.y.ticks.clone());
    plot.configure_mesh()
        .bold_line_style(GRID.drawn())
        .light_line_style(TRANSPARENT)
        .axis_style(colour)
        .label_style(style.clone())
        .axis_desc_style(style.clone())
        .x_desc(chart.x.label.clone())
        .y_desc(chart.y.label.clone())
        .x_label_formatter(&|at| label(&xs, *at))
        .y_label_formatter(&|at| cut(&label(&ys, *at)))
        .draw()?;
    for (i, series) in chart.series.iter().enumerate() {
        let colour = Colour::of_series(i);
        if series.line {
            plot.draw_series(LineSeries::new(series.points.iter().copied(), colour.stroke_width(2)))?;
        }
        draw_marks(&mut plot, series, i, colour)?;
    }
    let beside = style.pos(Pos::new(HPos::Left, VPos::Center));
    for (row, note) in &chart.notes {
        let (_, y) = plot.backend_coord(&(chart.x.to, *row));
        root.draw(&Text::new(note.clone(), ((left + wide) as i32 + 4, y), beside.clone()))?;
    }
    root.present()
}

/// Draws a different mark for each series, because not everyone can distinguish the colours.
fn draw_marks<'a, 'b>(
    plot: &mut Plot<'a, 'b>,
    series: &Series,
    i: usize,
    colour: RGBColor,
) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'b> as DrawingBackend>::ErrorType>> {
    let points = series.points.iter().copied();
    let filled = colour.filled();
    match i % 4 {
        0 => plot.draw_series(points.map(|p| Circle::new(p, 4, filled)))?,
        1 => plot.draw_series(points.map(|p| Cross::new(p, 4, colour.stroke_width(2))))?,
        2 => plot.draw_series(points.map(|p| TriangleMarker::new(p, 5, filled)))?,
        _ => plot.draw_series(points.map(|p| Circle::new(p, 4, colour.stroke_width(2))))?,
    };
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws the names of the series: one below the other beside a plain chart, in one line above a
/// chart of rows.
fn draw_legend<'a>(
    chart: &Chart,
    style: &TextStyle<'_>,
    (mut x, mut y): (i32, i32),
    root: &Area<'a>,
) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>> {
    let style = style.pos(Pos::new(HPos::Left, VPos::Center));
    for (i, series) in chart.series.iter().enumerate() {
        let colour = Colour::of_series(i);
        let at = (x + 12, y);
        if series.line {
            root.draw(&PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2)))?;
        }
        match i % 4 {
            0 => root.draw(&Circle::new(at, 4, colour.filled()))?,
            1 => root.draw(&Cross::new(at, 4, colour.stroke_width(2)))?,
            2 => root.draw(&TriangleMarker::new(at, 5, colour.filled()))?,
            _ => root.draw(&Circle::new(at, 4, colour.stroke_width(2)))?,
        }
        root.draw(&Text::new(series.name.clone(), (x + 30, y), style.clone()))?;
        if chart.rows {
            x += 46 + width([&series.name].into_iter()) as i32;
        } else {
            y += 20;
        }
    }
    if !chart.bands.is_empty() {
        root.draw(&Rectangle::new([(x + 4, y - 6), (x + 24, y + 6)], BAND.drawn().filled()))?;
        root.draw(&Text::new("band", (x + 30, y), style))?;
    }
    Ok(())
}

fn label(ticks: &[(f64, String)], at: f64) -> String {
    let near = ticks.iter().min_by(|a, b| (a.0 - at).abs().total_cmp(&(b.0 - at).abs()));
    near.map_or(String::new(), |(_, label)| label.clone())
}

/// Width of the longest text, in pixels.
fn width<'a>(texts: impl Iterator<Item = &'a String>) -> u32 {
    let most = texts.map(|t| t.chars().count().min(LABEL)).max().unwrap_or(0);
    (most as f64 * CHARACTER) as u32
}

fn cut(text: &str) -> String {
    shorten(text, LABEL)
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each colour of a picture is in its style, once for light and once for dark pages.
    #[test]
    fn a_picture_adapts_to_light_and_dark_pages() {
        let ticks = vec![(0.0, "0".to_string()), (1.0, "1".to_string())];
        let axis = Axis { label: "axis".to_string(), from: 0.0, to: 1.0, ticks };
        let series = |i: usize| Series {
            name: format!("series {i}"),
            points: vec![(0.0, 0.0), (1.0, 1.0)],
            line: i < 4,
        };
        let chart = Chart {
            x: axis.clone(),
            y: axis,
            rows: true,
            bands: vec![([0.0, 0.5], 0.0)],
            series: (0..SERIES.len()).map(series).collect(),
            notes: Vec::new(),
        };
        let picture = svg(&chart, "title");
        let (head, body) = picture.split_once("</style>").expect("a style");
        assert!(!body.contains('#'), "a colour outside of the style: {body}");
        let (light, dark) = head.split_once("@media (prefers-color-scheme: dark) {").expect("dark pages");
        for colour in [PAGE, TEXT, GRID, BAND].iter().chain(&SERIES) {
            assert!(light.contains(&format!("#{:06X}", colour.light)), "{}", colour.class);
            assert!(dark.contains(&format!("#{:06X}", colour.dark)), "{}", colour.class);
        }
        for tag in body.split('<').filter(|tag| tag.contains("class=")) {
            assert_eq!(tag.matches("class=").count(), 1, "one colour: {tag}");
            let class = tag.split("class=\"").nth(1).and_then(|c| c.split('"').next()).unwrap_or_default();
            assert!(
                light.contains(&format!(".{class} {{")) && dark.contains(&format!(".{class} {{")),
                "{tag}"
            );
        }
        assert_eq!(body.matches("class=\"text\"").count(), body.matches("<text").count(), "texts");
    }
}
