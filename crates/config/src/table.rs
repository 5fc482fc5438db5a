//! Aligned tables of plain text.

/// Lay out `rows` under `header` in columns two spaces apart. Columns listed in `right`
/// are aligned at their right edge; the last column is never padded.
pub fn text_table(header: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let header: Vec<String> = header.iter().map(|h| h.to_string()).collect();
    let lines = || std::iter::once(&header).chain(rows);
    let widths: Vec<usize> = (0..header.len())
        .map(|c| lines().filter_map(|l| l.get(c)).map(|s| s.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in lines() {
        let mut row = String::new();
        for (c, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            if c > 0 {
                row.push_str("  ");
            }
            let cell = if right.contains(&c) { format!("{cell:>width$}") } else { format!("{cell:width$}") };
            row.push_str(&cell);
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}
