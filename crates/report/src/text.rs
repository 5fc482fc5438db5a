//! Numbers formatted for people, grids of text, and the width of the page on which they are printed.

use std::sync::OnceLock;

/// The width of the page if nothing else is known, in columns.
const PAGE: usize = 80;

/// The narrowest page, in columns: a table has a name and one figure there.
const NARROWEST: usize = 40;

static WIDTH: OnceLock<usize> = OnceLock::new();

/// Sets the width of the page in columns, once for the whole program. Tables and lines fit into it. Without this it
/// is 80.
pub fn set_page(columns: usize) {
    // A second call would change a page that is printed already.
    let _ = WIDTH.set(columns.max(NARROWEST));
}

/// The width of the page, in columns.
pub fn page() -> usize {
    WIDTH.get().copied().unwrap_or(PAGE)
}

/// Breaks lines that are wider than the page at blanks. What follows a break is indented by `indent` columns.
pub fn wrapped(text: &str, indent: usize) -> String {
    text.split_inclusive('\n').map(|line| wrapped_to(line, indent, page())).collect()
}

/// Breaks a line that is wider than `width` columns.
pub fn wrapped_to(line: &str, indent: usize, width: usize) -> String {
    if line.trim_end().chars().count() <= width {
        return line.to_string();
    }
    let (mut out, mut column, mut begun) = (String::new(), 0, false);
    for (i, word) in line.split(' ').enumerate() {
        let wide = word.trim_end().chars().count();
        // Blanks at the start of the line are no place for a break, and a word that fits no line gains nothing by one.
        if begun && wide > 0 && column + 1 + wide > width && indent + wide <= width {
            out.truncate(out.trim_end_matches(' ').len());
            out.push_str(&format!("\n{:indent$}", ""));
            column = indent;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += wide;
        begun |= wide > 0;
    }
    out
}

/// A duration in ns with 3 significant digits and its unit, 7 columns at most: `83.4 us`.
/// The unit always has two columns, so that right-aligned values line up.
pub fn duration(ns: f64) -> String {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s ", 1e9)];
    let (unit, scale) = units.into_iter().rev().find(|&(_, scale)| ns >= 0.9995 * scale).unwrap_or(units[0]);
    let value = ns / scale;
    let decimals = match value {
        v if unit == "ns" && v.fract() == 0.0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// A rate or count with 3 significant digits: `950`, `12.3k`, `1.20M`.
pub fn rate(value: f64) -> String {
    let (unit, scale) = match value {
        v if v < 999.5 => ("", 1.0),
        v if v < 999_500.0 => ("k", 1e3),
        v if v < 999_500_000.0 => ("M", 1e6),
        _ => ("G", 1e9),
    };
    let value = value / scale;
    let decimals = match value {
        v if unit.is_empty() && v.fract() == 0.0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{unit}")
}

/// A whole number with thousands separators: `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `part` as a percentage of `whole`: `52.1 %`.
pub fn percent(part: f64, whole: f64) -> String {
    format!("{:.1} %", if whole > 0.0 { 100.0 * part / whole } else { 0.0 })
}

/// Rounds parts to whole numbers that add up to the rounded sum, so that printed parts add up
/// to the printed sum.
pub fn round_parts(parts: &[f64]) -> Vec<u64> {
    let whole = parts.iter().sum::<f64>().round() as u64;
    let mut rounded: Vec<u64> = parts.iter().map(|p| p.floor() as u64).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&a, &b| parts[b].fract().total_cmp(&parts[a].fract()).then(a.cmp(&b)));
    let left = whole.saturating_sub(rounded.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)));
    for &i in order.iter().take(left as usize) {
        rounded[i] += 1;
    }
    rounded
}

/// Shortens `text` to at most `columns` columns; `~` marks a cut.
pub fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_string();
    }
    text.chars().take(columns.saturating_sub(1)).chain(['~']).collect()
}

/// Rows of cells. The first column is left-aligned and the others right-aligned; columns are as
/// wide as needed. A table that is too wide for the page has one blank between its columns instead of two; one that
/// is still too wide goes on below with its other columns.
#[derive(Clone, Debug)]
pub struct Grid {
    rows: Vec<Vec<String>>,
    rules: Vec<usize>,
    least: Vec<usize>,
    names: usize,
    group: usize,
}

impl Default for Grid {
    fn default() -> Grid {
        Grid { rows: Vec::new(), rules: Vec::new(), least: Vec::new(), names: 1, group: 1 }
    }
}

impl Grid {
    /// An empty grid whose columns have at least these widths, so that the columns of several
    /// grids line up.
    pub fn with_widths(least: &[usize]) -> Grid {
        Grid { least: least.to_vec(), ..Grid::default() }
    }

    /// The first `names` columns say what a row is: each part of a divided table has them.
    pub fn names(mut self, names: usize) -> Grid {
        self.names = names;
        self
    }

    /// The columns behind the names belong together in groups of this many, which are not divided.
    pub fn group(mut self, group: usize) -> Grid {
        self.group = group;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds a horizontal line below the last row.
    pub fn rule(&mut self) {
        self.rules.push(self.rows.len());
    }

    /// Whether all columns fit side by side into the page.
    pub fn fits(&self) -> bool {
        let widths = self.widths();
        self.gap(&widths, page()).is_some()
    }

    /// The text: lines indented by two, no blanks at line ends.
    pub fn render(&self) -> String {
        self.render_to(page())
    }

    fn render_to(&self, page: usize) -> String {
        let widths = self.widths();
        let all: Vec<usize> = (0..widths.len()).collect();
        if let Some(gap) = self.gap(&widths, page) {
            return self.part(&all, &widths, gap);
        }
        let (names, others) = all.split_at(self.names.min(all.len()));
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for group in others.chunks(self.group) {
            match parts.last_mut() {
                Some(part) if across(part.iter().chain(group), &widths, 2) <= page => part.extend(group),
                _ => parts.push(names.iter().chain(group).copied().collect()),
            }
        }
        parts.iter().map(|part| self.part(part, &widths, 2)).collect::<Vec<_>>().join("\n")
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count());
            cells.chain(self.least.get(c).copied()).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }

    /// The blanks between columns with which all of them fit.
    fn gap(&self, widths: &[usize], page: usize) -> Option<usize> {
        let all: Vec<usize> = (0..widths.len()).collect();
        [2, 1].into_iter().find(|&gap| across(all.iter(), widths, gap) <= page)
    }

    /// Some columns of all rows.
    fn part(&self, columns: &[usize], widths: &[usize], gap: usize) -> String {
        let mut out = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            if self.rules.contains(&i) {
                out.push_str(&format!("  {}\n", "-".repeat(across(columns.iter(), widths, gap) - 2)));
            }
            let mut line = "  ".to_string();
            for (n, &c) in columns.iter().enumerate() {
                let (cell, width) = (row.get(c).map_or("", String::as_str), widths[c]);
                match n {
                    0 => line.push_str(&format!("{cell:<width$}")),
                    _ => line.push_str(&format!("{:gap$}{cell:>width$}", "")),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// The width of a table of some columns, with its indent.
fn across<'a>(columns: impl Iterator<Item = &'a usize>, widths: &[usize], gap: usize) -> usize {
    let all: Vec<usize> = columns.map(|&c| widths[c]).collect();
    2 + all.iter().sum::<usize>() + gap * all.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let durations = [0.0, 7.0, 999.0, 999.6, 83_449.0, 1_234_567.0, 99_960.0, 61e9];
        let said: Vec<String> = durations.into_iter().map(duration).collect();
        assert_eq!(said, ["0 ns", "7 ns", "999 ns", "1.00 us", "83.4 us", "1.23 ms", "100 us", "61.0 s "]);
        assert_eq!([rate(0.0), rate(950.0), rate(12_345.0), rate(1.2e6)], ["0", "950", "12.3k", "1.20M"]);
        assert_eq!([grouped(0), grouped(999), grouped(1_234_567)], ["0", "999", "1,234,567"]);
    }

    #[test]
    fn rounded_parts_add_up() {
        assert_eq!(round_parts(&[0.4, 0.4, 0.4]), [1, 0, 0]);
        assert_eq!(round_parts(&[1.5, 2.25, 3.25]), [2, 2, 3]);
        assert_eq!(round_parts(&[]), [0u64; 0]);
        assert_eq!(round_parts(&[2.0f64.powi(63); 2]), [1 << 63; 2]);
    }

    #[test]
    fn a_grid_lines_up() {
        let mut grid = Grid::default();
        grid.row(["scheme".into(), "p99".into()]);
        grid.rule();
        grid.row(["a".into(), "1.00 us".into()]);
        assert_eq!(grid.render(), "  scheme      p99\n  ---------------\n  a       1.00 us\n");
    }

    #[test]
    fn a_grid_fits_the_page() {
        let mut grid = Grid::default().group(2);
        grid.row(["scheme", "p99", "share", "p99.9", "share"].map(String::from));
        grid.rule();
        grid.row(["a", "1.00 us", "2 %", "3.00 us", "4 %"].map(String::from));
        let two = "  scheme      p99  share    p99.9  share\n  --------------------------------------\n  \
                   a       1.00 us    2 %  3.00 us    4 %\n";
        assert_eq!(grid.render_to(40), two);
        let one = grid.render_to(37);
        assert!(one.lines().all(|l| l.chars().count() <= 37) && one.lines().count() == 3, "{one}");
        assert_eq!(
            grid.render_to(30),
            "  scheme      p99  share\n  ----------------------\n  a       1.00 us    2 %\n\n  \
             scheme    p99.9  share\n  ----------------------\n  a       3.00 us    4 %\n"
        );
    }

    #[test]
    fn lines_break_at_blanks() {
        let line = "counts   a: 12 units read, 13 units written\n";
        assert_eq!(wrapped_to(line, 9, 30), "counts   a: 12 units read, 13\n         units written\n");
        assert_eq!(wrapped_to(line, 9, 80), line);
        assert_eq!(
            wrapped_to("          a_word_that_is_longer\n", 4, 20),
            "          a_word_that_is_longer\n"
        );
    }
}
