//! The table of a run's jobs.

use crate::summary::{JobSummary, Scheme};
use crate::tables::{capital, percentile_cell, plural};
use crate::text::{Grid, cut, duration, rate};
use tailcut_units::HostOp;

/// The percentiles of the table.
const COLUMNS: [f64; 3] = [50.0, 99.0, 99.9];

/// The most jobs of a scheme that the table shows.
const MOST: usize = 16;

/// The longest names of schemes and jobs that are shown in full, in characters.
const NAME: usize = 20;

/// Formats one row for each job, for reads, writes, trims and flushes. Empty where every scheme has one
/// job.
pub fn jobs(schemes: &[Scheme]) -> String {
    if schemes.iter().all(|s| s.jobs.len() < 2) {
        return String::new();
    }
    let mut out = String::new();
    for op in HostOp::ALL {
        let of = |job: &JobSummary| job.side(op).total_ios > 0;
        if schemes.iter().flat_map(|s| &s.jobs).any(of) {
            out.push_str(&format!("\n{} by job\n", capital(plural(op))));
            out.push_str(&grid(schemes, op).render());
        }
    }
    if let Some(left) = schemes.iter().map(|s| s.jobs.len().saturating_sub(MOST)).max().filter(|n| *n > 0) {
        out.push_str(&format!(
            "{left} further jobs are left out; summary.json has them, and group_reporting gives\none row for all\n"
        ));
    }
    out
}

fn grid(schemes: &[Scheme], op: HostOp) -> Grid {
    let named = schemes.len() > 1;
    let mut grid = Grid::default().names(1 + usize::from(named));
    let scheme = |text: String| named.then_some(text);
    let mut head: Vec<String> = scheme("scheme".to_string()).into_iter().collect();
    head.extend(["job".to_string(), "IOPS".into(), "mean".into()]);
    head.extend(COLUMNS.iter().map(|p| format!("p{p} ")));
    head.push("max".to_string());
    grid.row(head);
    grid.rule();
    for s in schemes {
        for job in s.jobs.iter().take(MOST).filter(|job| job.side(op).total_ios > 0) {
            let side = job.side(op);
            let mut row: Vec<String> = scheme(cut(&s.name, NAME)).into_iter().collect();
            row.extend([cut(&job.name, NAME), rate(side.iops), duration(side.lat_ns.mean)]);
            row.extend(COLUMNS.iter().map(|&p| percentile_cell(side, p)));
            row.push(duration(side.lat_ns.max as f64));
            grid.row(row);
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::OpSummary;

    fn scheme(jobs: usize) -> Scheme {
        let job = |n: usize| JobSummary {
            name: format!("job{n}"),
            runtime_ns: None,
            read: OpSummary { total_ios: 5, iops: 1000.0, ..OpSummary::default() },
            write: OpSummary::default(),
            trim: OpSummary::default(),
            flush: OpSummary::default(),
        };
        Scheme { name: "baseline".into(), jobs: (0..jobs).map(job).collect(), ..Scheme::default() }
    }

    #[test]
    fn jobs_have_rows_where_there_are_several() {
        assert_eq!(jobs(&[scheme(1)]), "");
        let two = jobs(&[scheme(2)]);
        assert!(two.starts_with("\nReads by job\n") && !two.contains("Writes"), "{two}");
        assert_eq!(two.matches("job").count(), 4, "{two}");
        let many = jobs(&[scheme(20), scheme(2)]);
        assert_eq!(many.matches("baseline").count(), 18, "{many}");
        assert!(many.contains("4 further jobs are left out"), "{many}");
        assert!(many.lines().all(|l| l.chars().count() <= 80), "{many}");
    }
}
