//! `series.parquet`: one row for each fine interval.

use super::columns::{Columns, Kind};
use crate::error::ReportError;
use std::io::Write;
use tailcut_stats::{Interval, IntervalSide};
use tailcut_units::HostOp;

const SIDE: [(&str, Kind); 7] = [
    ("requests", Kind::Number),
    ("iops", Kind::Float),
    ("mean_ns", Kind::Float),
    ("p50_ns", Kind::Number),
    ("p99_ns", Kind::Number),
    ("p999_ns", Kind::Number),
    ("max_ns", Kind::Number),
];

const GAUGES: [(&str, Kind); 8] = [
    ("free_blocks", Kind::Number),
    ("buffer_fill", Kind::Float),
    ("user_limit", Kind::Float),
    ("queue_depth", Kind::Number),
    ("collections", Kind::Number),
    ("erases", Kind::Number),
    ("programs_user", Kind::Number),
    ("programs_total", Kind::Number),
];

const GROUPS: [(&str, Kind); 3] = [
    ("most_in_group", Kind::Number),
    ("groups_collecting", Kind::Number),
    ("planes_collecting", Kind::Floats),
];

/// Writes the fine series of one scheme's run.
///
/// Columns: `at_ns`, `length_ns`; then `requests`, `iops`, `mean_ns`, `p50_ns`, `p99_ns`,
/// `p999_ns`, `max_ns`, each prefixed with `read_`, `write_`, `trim_` and `flush_`; then the gauges, which
/// are null in intervals without a report; `user_limit` also on drives without a rate limiter. Collections, erases and programs count from the
/// start. The last columns are null without parity: `most_in_group`, the most planes of one
/// group that collected at once; `groups_collecting`, the groups with a collecting plane at the
/// end of the interval; and `planes_collecting`, a list with the number of collecting planes of
/// each group, mean over the interval.
pub struct SeriesWriter<W: Write + Send> {
    columns: Columns<W>,
}

impl<W: Write + Send> SeriesWriter<W> {
    /// Creates a file for one scheme's run.
    pub fn new(out: W, scheme: &str) -> Result<SeriesWriter<W>, ReportError> {
        let mut columns =
            vec![("at_ns".to_string(), Kind::Rising, false), ("length_ns".to_string(), Kind::Number, false)];
        for op in HostOp::ALL {
            columns.extend(SIDE.map(|(name, kind)| (format!("{}_{name}", op.name()), kind, false)));
        }
        columns.extend(GAUGES.into_iter().chain(GROUPS).map(|(name, kind)| (name.to_string(), kind, true)));
        Ok(SeriesWriter { columns: Columns::new(out, &columns, &[("scheme", scheme)])? })
    }

    /// Adds one interval.
    pub fn push(&mut self, interval: &Interval) -> Result<(), ReportError> {
        let c = &mut self.columns;
        c.number(interval.at_ns);
        c.number(interval.length_ns);
        interval.sides.iter().for_each(|side| push_side(c, side));
        match &interval.gauges {
            Some(g) => {
                c.number(g.free_blocks);
                c.float(g.buffer_fill);
                match g.user_limit {
                    Some(share) => c.float(share),
                    None => c.null(),
                }
                [g.queue_depth, g.collections, g.erases, g.programs_user, g.programs_total]
                    .into_iter()
                    .for_each(|n| c.number(n));
            }
            None => GAUGES.iter().for_each(|_| c.null()),
        }
        match &interval.groups {
            Some(g) => {
                c.number(g.most_in_group);
                c.number(g.groups_collecting);
                c.floats(&g.planes);
            }
            None => GROUPS.iter().for_each(|_| c.null()),
        }
        Ok(c.end_row()?)
    }

    /// Writes the remaining rows and the footer, and returns the output.
    pub fn finish(self) -> Result<W, ReportError> {
        Ok(self.columns.finish()?)
    }
}

fn push_side<W: Write + Send>(c: &mut Columns<W>, side: &IntervalSide) {
    c.number(side.requests);
    c.float(side.iops);
    c.float(side.mean_ns);
    [side.p50_ns, side.p99_ns, side.p999_ns, side.max_ns].into_iter().for_each(|n| c.number(n));
}
