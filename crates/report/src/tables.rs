//! The tables that a run prints: schemes side by side, and the causes of their tail latencies.
//!
//! Plain text without colour, at most as wide as the page ([`page`](crate::text::page)), so that it reads the same in
//! a terminal, a pipe and a mail.

use crate::doubts::{Doubt, doubts};
use crate::faults::read_only;
use crate::summary::{BlameSummary, OpSummary, Scheme};
use crate::text::{Grid, cut, duration, grouped, percent, rate, round_parts, wrapped};
use tailcut_stats::percentile;
use tailcut_units::HostOp;

/// The percentiles of the comparison.
const COLUMNS: [f64; 5] = [50.0, 99.0, 99.9, 99.99, 99.999];

/// The levels of the blame table.
const BLAME: [f64; 3] = [99.0, 99.9, 99.99];

/// A cause below this share at every level shown is summed up with others of this kind.
const SMALL: f64 = 0.0005;

/// The longest scheme name that is shown in full, in characters.
const NAME: usize = 24;

/// Minimum widths of the comparison's columns, so that the columns of writes line up with those
/// of reads.
const WIDTHS: [usize; 10] = [8, 5, 7, 8, 8, 8, 8, 8, 7, 5];

/// Returns a warning for each scheme whose drive did not keep up with the arrivals, in its lines.
pub fn overload(schemes: &[Scheme]) -> String {
    let parts = schemes.iter().filter_map(behind);
    parts.map(|parts| wrapped(&format!("{}\n\n", parts.join(";\n  ")), 2)).collect()
}

/// The same warnings, each in one line.
pub fn overloads(schemes: &[Scheme]) -> impl Iterator<Item = String> {
    schemes.iter().filter_map(behind).map(|parts| parts.join("; "))
}

/// What there is to say about a drive that did not keep up.
fn behind(scheme: &Scheme) -> Option<[String; 3]> {
    let load = scheme.load.filter(|load| !load.keeps_up)?;
    let offered = match load.offered_iops {
        Some(iops) => {
            format!("{} requests a second arrived, {} were served", rate(iops), rate(load.served_iops))
        }
        None => format!("all requests arrived at once, {} a second were served", rate(load.served_iops)),
    };
    // Over the whole run it may serve as much as arrives.
    let verdict = match load.offered_iops {
        Some(iops) if load.served_iops > iops * 0.99 && load.backlog < 1024 => "FELL BEHIND FOR A TIME",
        _ => "DOES NOT KEEP UP",
    };
    Some([
        format!("{} {verdict}: {offered}", cut(&scheme.name, NAME)),
        format!(
            "{} requests were outstanding at the last arrival; the last of them completed {} later",
            grouped(load.backlog),
            duration(load.behind_ns as f64).trim_end(),
        ),
        format!(
            "requests waited outside the drive's queue for {} without a break: latencies below measure the backlog",
            duration(load.longest_backlog_ns as f64).trim_end(),
        ),
    ])
}

/// Formats one row for each scheme, for reads, writes, trims and flushes. A kind without
/// requests is left out. `*` marks a percentile with fewer than ten requests beyond it, and `!` a row that does not say
/// what it seems to say; the reasons follow the tables.
pub fn comparison(schemes: &[Scheme]) -> String {
    let mut out = overload(schemes) + &read_only(schemes);
    let tables = out.len();
    let doubts = doubts(schemes);
    let with = |d: &HostOp| schemes.iter().any(|s| s.side(*d).total_ios > 0);
    // A narrow page has no place for the last percentile, which is uncertain in most runs.
    let shown =
        |n: usize| HostOp::ALL.iter().filter(|d| with(d)).all(|&d| op_grid(schemes, &doubts, d, n).fits());
    let percentiles = if shown(COLUMNS.len()) { &COLUMNS[..] } else { &COLUMNS[..COLUMNS.len() - 1] };
    for op in HostOp::ALL {
        if with(&op) {
            out.push_str(&format!("{}\n", capital(plural(op))));
            out.push_str(&op_grid(schemes, &doubts, op, percentiles.len()).render());
            out.push('\n');
        }
    }
    if out.len() == tables {
        out.push_str("no request completed\n");
        return out;
    }
    for doubt in &doubts {
        out.push_str(&wrapped(&format!("! {}\n", doubt.text), 2));
    }
    if out.contains('*') {
        out.push_str("* fewer than 10 requests beyond it: uncertain\n");
    }
    if percentiles.len() < COLUMNS.len() {
        out.push_str("p99.999 is shown on a wider page; summary.json has it\n");
    }
    out
}

/// Formats the shares of time in which the parts of each drive were in use: the mean over all
/// parts of a kind, and the busiest part. Empty if no drive reports them.
pub fn utilisation(schemes: &[Scheme]) -> String {
    if schemes.iter().all(|s| s.utilisation.is_none()) {
        return String::new();
    }
    let mut grid = Grid::with_widths(&WIDTHS[..1]).group(2);
    let head =
        ["scheme", "dies", "busiest", "planes", "busiest", "channels", "busiest", "host link", "busiest"];
    grid.row(head.map(String::from));
    grid.rule();
    for scheme in schemes {
        let mut row = vec![cut(&scheme.name, NAME)];
        match &scheme.utilisation {
            Some(u) => {
                let each = [u.dies, u.planes, u.channels, u.host_link];
                row.extend(each.iter().flat_map(|u| [u.mean, u.busiest].map(|share| percent(share, 1.0))));
            }
            None => row.extend(vec!["-".to_string(); head.len() - 1]),
        }
        grid.row(row);
    }
    format!("\nIn use, mean and busiest\n{}", grid.render())
}

fn op_grid(schemes: &[Scheme], doubts: &[Doubt], op: HostOp, percentiles: usize) -> Grid {
    let shown = &COLUMNS[..percentiles];
    let mut grid = Grid::with_widths(&[&WIDTHS[..3 + percentiles], &WIDTHS[8..]].concat());
    let mut head = vec!["scheme".to_string(), "IOPS".into(), "mean".into()];
    // Marked values end in a star and others in a blank, so that the units line up.
    head.extend(shown.iter().map(|p| format!("p{p} ")));
    head.extend(["max".to_string(), "WAF".into()]);
    grid.row(head);
    grid.rule();
    for (i, scheme) in schemes.iter().enumerate() {
        let side = scheme.side(op);
        let lat = &side.lat_ns;
        let doubted = doubts.iter().any(|d| d.scheme == i && d.of.is_none_or(|of| of == op));
        let mark = if doubted { " !" } else { "" };
        let mut row = vec![cut(&scheme.name, NAME) + mark, rate(side.iops)];
        if side.total_ios == 0 {
            row.extend(vec!["-".to_string(); shown.len() + 2]);
        } else {
            row.push(duration(lat.mean));
            row.extend(shown.iter().map(|&p| percentile_cell(side, p)));
            row.push(duration(lat.max as f64));
        }
        row.push(scheme.waf.map_or("-".to_string(), |waf| format!("{waf:.2}")));
        grid.row(row);
    }
    grid
}

pub(crate) fn percentile_cell(side: &OpSummary, percent: f64) -> String {
    match side.lat_ns.percentile.get(&percentile::key(percent)) {
        Some(&ns) => {
            let mark = if percentile::is_thin(percent, side.total_ios) { '*' } else { ' ' };
            format!("{}{mark}", duration(ns as f64))
        }
        None => "- ".to_string(),
    }
}

/// Formats the blame of each scheme's slowest requests, by kind.
pub fn blame(schemes: &[Scheme]) -> String {
    let mut out = String::new();
    for scheme in schemes {
        for op in HostOp::ALL {
            let all = &scheme.side(op).blame;
            let shown: Vec<&BlameSummary> =
                BLAME.iter().filter_map(|&p| all.iter().find(|b| b.above == p)).collect();
            if shown.is_empty() {
                continue;
            }
            let runs = scheme.runs.map_or(String::new(), |n| format!(" of {n} runs"));
            let (name, many) = (&scheme.name, format!("{}{runs}", plural(op)));
            if shown.iter().all(|b| b.mean_ns == 0.0) {
                out.push_str(&format!(
                    "{name}, slowest {many}: 0 ns, the drive charges nothing for them\n\n"
                ));
                continue;
            }
            out.push_str(&format!("{name}, slowest {many}: mean ns by cause\n"));
            out.push_str(&blame_grid(&shown).render());
            out.push('\n');
        }
    }
    out
}

/// Formats blame levels side by side: one row for each cause, sorted by the time at the highest
/// level, and a last row with the sum of the printed rows.
fn blame_grid(levels: &[&BlameSummary]) -> Grid {
    let rows = cause_rows(levels);
    let columns: Vec<Vec<u64>> = (0..levels.len())
        .map(|level| round_parts(&rows.iter().map(|r| r.1[level]).collect::<Vec<f64>>()))
        .collect();
    let sums: Vec<u64> = columns.iter().map(|c| c.iter().sum()).collect();
    let mut grid = Grid::default().group(2);
    let line = |name: &str, cell: &dyn Fn(usize) -> [String; 2]| {
        let cells = (0..levels.len()).flat_map(cell);
        [name.to_string()].into_iter().chain(cells).collect::<Vec<String>>()
    };
    grid.row(line("cause", &|l| [beyond(levels[l].above), "share".to_string()]));
    grid.rule();
    for (i, (name, _)) in rows.iter().enumerate() {
        grid.row(line(name, &|l| [grouped(columns[l][i]), percent(columns[l][i] as f64, sums[l] as f64)]));
    }
    grid.rule();
    grid.row(line("sum = mean", &|l| [grouped(sums[l]), String::new()]));
    grid.row(line("took at least", &|l| [grouped(levels[l].threshold_ns), String::new()]));
    grid.row(line("requests", &|l| [grouped(levels[l].requests), String::new()]));
    grid
}

/// The mean ns of each cause by level, sorted by falling time at the last level. Causes that
/// are small at every level are summed up in a last row.
fn cause_rows(levels: &[&BlameSummary]) -> Vec<(String, Vec<f64>)> {
    let mut rows: Vec<(String, Vec<f64>)> = Vec::new();
    for (level, blame) in levels.iter().enumerate() {
        for (name, ns) in blame.causes.iter() {
            let row = match rows.iter().position(|r| r.0 == *name) {
                Some(row) => row,
                None => {
                    rows.push((name.clone(), vec![0.0; levels.len()]));
                    rows.len() - 1
                }
            };
            rows[row].1[level] = *ns;
        }
    }
    let large = |row: &Vec<f64>| row.iter().zip(levels).any(|(ns, blame)| *ns > SMALL * blame.mean_ns);
    let (mut rows, small): (Vec<_>, Vec<_>) = rows.into_iter().partition(|r| large(&r.1));
    rows.sort_by(|a, b| b.1.iter().rev().partial_cmp(a.1.iter().rev()).expect("no NaN"));
    if !small.is_empty() {
        let mut rest = vec![0.0; levels.len()];
        for (_, row) in &small {
            rest.iter_mut().zip(row).for_each(|(sum, ns)| *sum += ns);
        }
        rows.push((format!("({} smaller)", small.len()), rest));
    }
    rows
}

/// `above p99.9`, or `all` for every request.
pub(crate) fn above(level: f64) -> String {
    if level == 0.0 { "all".to_string() } else { format!("above p{level}") }
}

/// `> p99.9`, or `all` for every request.
pub(crate) fn beyond(level: f64) -> String {
    if level == 0.0 { "all".to_string() } else { format!("> p{level}") }
}

/// `reads`, `writes`, `trims` or `flushes`.
/// The name of a kind of requests in the plural.
pub fn plural(op: HostOp) -> &'static str {
    match op {
        HostOp::Read => "reads",
        HostOp::Write => "writes",
        HostOp::Trim => "trims",
        HostOp::Flush => "flushes",
    }
}

pub(crate) fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered::Ordered;

    fn level(above: f64, causes: &[(&str, f64)]) -> BlameSummary {
        BlameSummary {
            above,
            threshold_ns: 1_000_000,
            requests: 1_234,
            mean_ns: causes.iter().map(|c| c.1).sum(),
            causes: causes.iter().map(|&(c, ns)| (c.to_string(), ns)).collect(),
        }
    }

    #[test]
    fn the_blame_table_adds_up_as_printed() {
        let mut scheme = Scheme { name: "t-es".into(), ..Scheme::default() };
        scheme.read.blame = vec![
            level(99.0, &[("array", 3_000.5), ("die_wait.erase", 900_000.25), ("command", 0.25)]),
            level(99.99, &[("array", 3_000.0), ("die_wait.erase", 4_000_000.5)]),
        ];
        let expected = "\
t-es, slowest reads: mean ns by cause
  cause               > p99   share   > p99.99   share
  ----------------------------------------------------
  die_wait.erase    900,000  99.7 %  4,000,001  99.9 %
  array               3,001   0.3 %      3,000   0.1 %
  (1 smaller)             0   0.0 %          0   0.0 %
  ----------------------------------------------------
  sum = mean        903,001          4,003,001
  took at least   1,000,000          1,000,000
  requests            1,234              1,234

";
        assert_eq!(blame(&[scheme]), expected);
    }

    #[test]
    fn the_comparison_marks_thin_percentiles_and_fits() {
        let mut scheme = Scheme { name: "a-very-long-name+of-a-composed-scheme".into(), ..Scheme::default() };
        scheme.waf = Some(12.34);
        scheme.read.total_ios = 50_000;
        scheme.read.iops = 123_456.0;
        let lat = &mut scheme.read.lat_ns;
        (lat.mean, lat.max) = (123_456.0, 123_456_789);
        lat.percentile = Ordered(COLUMNS.iter().map(|&p| (percentile::key(p), 100_000_000)).collect());
        let text = comparison(&[scheme, Scheme::default()]);
        assert!(text.starts_with("Reads\n") && !text.contains("Writes"), "{text}");
        // 50,000 reads: five beyond p99.99, fifty beyond p99.9; p99.999 has no place here.
        assert_eq!(text.matches("ms*").count(), 1, "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        assert_eq!(comparison(&[Scheme::default()]), "no request completed\n");
    }
}
