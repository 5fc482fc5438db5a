//! Numbers formatted for people, and grids of text.

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
    let left = whole.saturating_sub(rounded.iter().sum());
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
/// wide as needed.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    rows: Vec<Vec<String>>,
    rules: Vec<usize>,
    least: Vec<usize>,
}

impl Grid {
    /// An empty grid whose columns have at least these widths, so that the columns of several
    /// grids line up.
    pub fn with_widths(least: &[usize]) -> Grid {
        Grid { least: least.to_vec(), ..Grid::default() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds a horizontal line below the last row.
    pub fn rule(&mut self) {
        self.rules.push(self.rows.len());
    }

    /// The text: lines indented by two, two blanks between columns, no blanks at line ends.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count());
            cells.chain(self.least.get(c).copied()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let across = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
        let mut out = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            if self.rules.contains(&i) {
                out.push_str(&format!("  {}\n", "-".repeat(across)));
            }
            let mut line = String::new();
            for (c, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                line.push_str("  ");
                if c == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("{cell:>width$}"));
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
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
    }

    #[test]
    fn a_grid_lines_up() {
        let mut grid = Grid::default();
        grid.row(["scheme".into(), "p99".into()]);
        grid.rule();
        grid.row(["a".into(), "1.00 us".into()]);
        assert_eq!(grid.render(), "  scheme      p99\n  ---------------\n  a       1.00 us\n");
    }
}
