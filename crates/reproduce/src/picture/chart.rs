//! The content of a picture: axes, series, bands and notes.

/// The content of a picture. Positions on a logarithmic axis are logarithms.
#[derive(Clone, Debug)]
pub struct Chart {
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// The vertical axis has labelled rows instead of a scale.
    pub(super) rows: bool,
    /// Shaded bands: the range along x, and the row.
    pub(super) bands: Vec<([f64; 2], f64)>,
    pub(super) series: Vec<Series>,
    /// Texts to the right of rows.
    pub(super) notes: Vec<(f64, String)>,
}

/// The values of one name.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    pub(super) line: bool,
}

/// An axis and its ticks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis from the smallest to the largest value, with a margin and round ticks.
    pub(super) fn linear(label: String, values: impl Iterator<Item = f64>, zero: bool) -> Axis {
        let (mut from, mut to) = span(values);
        if zero && from > 0.0 {
            from = 0.0;
        }
        let room = 0.04 * (to - from).max(1e-9);
        (from, to) = (if from == 0.0 { 0.0 } else { from - room }, to + room);
        let raw = (to - from) / 6.0;
        let ten = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * ten).into_iter().find(|s| *s >= raw).unwrap_or(raw);
        let first = (from / step).ceil() as i64;
        let ticks = (first..).map(|i| i as f64 * step).take_while(|t| *t <= to);
        Axis { label, from, to, ticks: ticks.map(|t| (t, plain(t))).collect() }
    }

    /// An axis of the logarithms of positive values, with round ticks.
    pub(super) fn log(
        label: String,
        values: impl Iterator<Item = f64>,
        show: impl Fn(f64) -> String,
    ) -> Axis {
        let (from, to) = span(values.map(f64::log10));
        let room = 0.06 * (to - from).max(0.5);
        let (from, to) = (from - room, to + room);
        let decades = (from.floor() as i32)..=(to.ceil() as i32);
        let parts: &[f64] = match to - from {
            wide if wide > 2.2 => &[1.0],
            narrow if narrow < 0.9 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            _ => &[1.0, 2.0, 5.0],
        };
        let ticks = decades.flat_map(|d| parts.iter().map(move |p| p * 10f64.powi(d)));
        let ticks = ticks.map(|v| (v.log10(), show(v))).filter(|(at, _)| (from..=to).contains(at));
        Axis { label, from, to, ticks: ticks.collect() }
    }
}

/// The smallest and the largest value; 0 and 1 if there is none.
pub(super) fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (from, to) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if from > to { (0.0, 1.0) } else { (from, to) }
}

/// A number rounded to six decimals, without trailing zeros.
pub(super) fn plain(v: f64) -> String {
    ((v * 1e6).round() / 1e6).to_string()
}
