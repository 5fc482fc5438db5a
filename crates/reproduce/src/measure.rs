//! The measures of a run: names such as `read.p99.999`, and their values.

mod figures;

pub use figures::Figure;
pub(crate) use figures::{number, time};

use crate::alone::{ALONE, OfBlocks};
use crate::rating::Rating;
use crate::unit::Kind;
use figures::{RATINGS, RUN, missing};
use tailcut_core::figures::Counters;
use tailcut_core::nand::loops::MOST_LOOPS;
use tailcut_report::summary::{OpSummary, Scheme};
use tailcut_stats::percentile;
use tailcut_units::{HostOp, Occupant};

/// What can be measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// A figure of one kind of request, of all jobs or of one.
    Side {
        /// The job; all if `None`.
        job: Option<String>,
        /// The kind.
        op: HostOp,
        /// The figure.
        what: Of,
    },
    /// A figure of a run.
    Run(&'static Figure<Scheme>),
    /// A figure of a search.
    Rating(&'static Figure<Rating>),
    /// A figure of blocks alone, or what the policies answer.
    Alone(&'static Figure<OfBlocks>),
    /// Of blocks alone, the share of the erases that took this number of pulses.
    TookPulses(usize),
    /// Mapping units programmed, of one class.
    Programs(String),
    /// A counter of the drive.
    Counter(&'static str),
    /// Mean number of planes of an operation of one occupant.
    Planes(String),
}

/// A figure of one kind of request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Of {
    /// Mean latency.
    Mean,
    /// Shortest latency.
    Min,
    /// Longest latency.
    Max,
    /// A percentile of latency.
    Percentile(f64),
    /// Requests a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Requests that ended without success, for lack of data or of room; of all jobs only.
    Failed,
}

/// The names of measures for error messages.
fn names() -> String {
    fn of<T>(figures: &'static [Figure<T>]) -> impl Iterator<Item = &'static str> {
        figures.iter().map(|figure| figure.name)
    }
    let figures = of(&RUN).chain(of(&RATINGS)).chain(of(&ALONE));
    let classes = Counters::CLASSES.map(|class| format!("programs.{class}"));
    let occupants = Occupant::ALL.map(|occupant| format!("planes_per.{}", occupant.name()));
    let figures: Vec<String> = figures.map(String::from).chain(classes).chain(occupants).collect();
    format!(
        "{}, blocks.share_1 (2, ...), counters.NAME (docs/summary.schema.json has the names), and \
         [job.NAME.]read (write, trim, flush) followed by .mean, .min, .max, .p99.9, .iops, .bw or .failed",
        figures.join(", ")
    )
}

/// The figure of this name.
fn named<T>(text: &str, figures: &'static [Figure<T>]) -> Option<&'static Figure<T>> {
    figures.iter().find(|figure| figure.name == text)
}

impl Measure {
    /// Parses the name of a measure.
    ///
    /// # Errors
    /// A sentence that lists the measures.
    pub fn parse(text: &str) -> Result<Measure, String> {
        let whole = named(text, &RUN)
            .map(Measure::Run)
            .or(named(text, &RATINGS).map(Measure::Rating))
            .or(named(text, &ALONE).map(Measure::Alone));
        if let Some(n) = text.strip_prefix("blocks.share_").and_then(|n| n.parse().ok())
            && (1..=MOST_LOOPS).contains(&n)
        {
            return Ok(Measure::TookPulses(n));
        }
        if let Some(occupant) = text.strip_prefix("planes_per.")
            && Occupant::ALL.iter().any(|o| o.name() == occupant)
        {
            return Ok(Measure::Planes(occupant.to_string()));
        }
        let class = text.strip_prefix("programs.").filter(|class| Counters::CLASSES.contains(class));
        let whole = whole.or(class.map(|c| Measure::Programs(c.to_string())));
        if let Some(name) = text.strip_prefix("counters.") {
            let names = Counters::NAMES.map(|(name, _)| name);
            return match names.into_iter().find(|known| *known == name) {
                Some(known) => Ok(Measure::Counter(known)),
                None => Err(format!("there is no counter `{name}`; the counters are {}", names.join(", "))),
            };
        }
        if let Some(measure) = whole {
            return Ok(measure);
        }
        let unknown = || format!("there is no measure `{text}`; the measures are {}", names());
        let (job, rest) = match text.strip_prefix("job.") {
            Some(rest) => {
                let (name, rest) = rest.split_once('.').ok_or_else(unknown)?;
                (Some(name.to_string()), rest)
            }
            None => (None, text),
        };
        let (side, what) = rest.split_once('.').ok_or_else(unknown)?;
        let op = HostOp::named(side).ok_or_else(unknown)?;
        let what = match what {
            "mean" => Of::Mean,
            "min" => Of::Min,
            "max" => Of::Max,
            "iops" => Of::Iops,
            "bw" => Of::Bandwidth,
            "failed" if job.is_none() => Of::Failed,
            _ => {
                let level = percentile::named(what).ok_or_else(unknown)?;
                if !percentile::LEVELS.contains(&level) {
                    let levels = percentile::names();
                    return Err(format!("`{what}` is not recorded; the percentiles are {levels}"));
                }
                Of::Percentile(level)
            }
        };
        Ok(Measure::Side { job, op, what })
    }

    /// The kind of number that the measure is.
    pub fn kind(&self) -> Kind {
        match self {
            Measure::Run(figure) => figure.kind,
            Measure::Rating(figure) => figure.kind,
            Measure::Alone(figure) => figure.kind,
            Measure::Side { what: Of::Iops, .. } => Kind::Rate,
            Measure::Side { what: Of::Bandwidth, .. } => Kind::Bandwidth,
            Measure::Side { what: Of::Failed, .. } => Kind::Number,
            Measure::Side { .. } => Kind::Time,
            Measure::Counter(name) if name.ends_with("_ns") => Kind::Time,
            Measure::TookPulses(_) | Measure::Programs(_) | Measure::Counter(_) | Measure::Planes(_) => {
                Kind::Number
            }
        }
    }

    /// Whether the measure is the result of a search and not of a run.
    pub fn is_rating(&self) -> bool {
        matches!(self, Measure::Rating(_))
    }

    /// The value of the measure for the result of a search.
    pub fn of_rating(&self, rating: &Rating) -> Result<f64, String> {
        match self {
            Measure::Rating(figure) => (figure.of)(rating),
            _ => Err("a search gives ratings only".to_string()),
        }
    }

    /// The value of the measure for blocks alone.
    ///
    /// # Errors
    /// Why there is no value.
    pub fn of_alone(&self, blocks: &OfBlocks) -> Result<f64, String> {
        match self {
            Measure::Alone(figure) => (figure.of)(blocks),
            Measure::TookPulses(n) => Ok(blocks.erases()?.by_pulses[*n]),
            _ => Err("blocks alone have no requests".to_string()),
        }
    }

    /// The value of the measure for a run, in the unit of the measure's kind.
    ///
    /// # Errors
    /// Why there is no value, or none that may be compared.
    pub fn of(&self, scheme: &Scheme) -> Result<f64, String> {
        match self {
            Measure::Side { op, what: Of::Failed, .. } => Ok(scheme.failures(*op) as f64),
            Measure::Side { job, op, what } => {
                let side = match job {
                    None => scheme.side(*op),
                    Some(name) => {
                        let job = scheme.jobs.iter().find(|j| j.name == *name);
                        job.ok_or_else(|| missing(&format!("job `{name}`")))?.side(*op)
                    }
                };
                what.of(side)
            }
            Measure::Run(figure) => (figure.of)(scheme),
            Measure::Rating(_) => Err("only a search gives ratings".to_string()),
            Measure::Alone(_) | Measure::TookPulses(_) => {
                Err("only a run with `alone` has figures of blocks alone and answers of the policies"
                    .to_string())
            }
            Measure::Programs(class) => {
                // A class that was not programmed is absent.
                Ok(scheme.programs.get(class).map_or(0.0, |&n| n as f64))
            }
            // A counter that counted nothing is absent.
            Measure::Counter(name) => Ok(scheme.counters.get(name).map_or(0.0, |&n| n as f64)),
            Measure::Planes(occupant) => {
                let operations = scheme.operations.get(occupant);
                operations.map(|o| o.planes).ok_or_else(|| missing(&format!("operation of {occupant}")))
            }
        }
    }
}

impl Of {
    fn of(self, side: &OpSummary) -> Result<f64, String> {
        if side.total_ios == 0 {
            return Err("no request of this kind completed".to_string());
        }
        let lat = &side.lat_ns;
        match self {
            Of::Mean => Ok(lat.mean),
            Of::Min => Ok(lat.min as f64),
            Of::Max => Ok(lat.max as f64),
            Of::Iops => Ok(side.iops),
            Of::Bandwidth => Ok(side.bw_bytes),
            Of::Failed => Err("only the whole run counts failed requests".to_string()),
            Of::Percentile(level) if percentile::is_thin(level, side.total_ios) => {
                let beyond = percentile::beyond(level, side.total_ios);
                Err(format!("too few samples: {beyond} beyond p{level}"))
            }
            Of::Percentile(level) => {
                let value = lat.percentile.get(&percentile::key(level));
                value.map(|&ns| ns as f64).ok_or_else(|| format!("p{level} is missing"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_report::faults::Faults;
    use tailcut_report::senses::PageSenses;
    use tailcut_report::summary::{Channel, Gc, Use, Utilisation};

    #[test]
    fn names_are_read_or_refused_with_what_there_is() {
        let side = |job: Option<&str>, op, what| Measure::Side { job: job.map(String::from), op, what };
        assert_eq!(Measure::parse("read.p99.999"), Ok(side(None, HostOp::Read, Of::Percentile(99.999))));
        assert_eq!(
            Measure::parse("job.small_reads.read.mean"),
            Ok(side(Some("small_reads"), HostOp::Read, Of::Mean))
        );
        assert_eq!(Measure::parse("flush.p99.9"), Ok(side(None, HostOp::Flush, Of::Percentile(99.9))));
        assert_eq!(Measure::parse("write.bw").unwrap().kind(), Kind::Bandwidth);
        assert_eq!(Measure::parse("counters.collecting_ns").unwrap().kind(), Kind::Time);
        assert!(Measure::parse("read.p94").unwrap_err().contains("p99.9"));
        assert!(Measure::parse("reads.mean").unwrap_err().contains("rating.stress"));
        assert!(Measure::parse("counters.shift").unwrap_err().contains("shifts, migrations"));
    }

    #[test]
    fn figures_of_collections_add_up_and_none_is_zero() {
        let mut scheme = Scheme::default();
        let of = |scheme: &Scheme, name: &str| Measure::parse(name).unwrap().of(scheme);
        for figure in RUN.iter().filter(|figure| figure.name.starts_with("gc.")) {
            assert_eq!((figure.of)(&scheme), Ok(0.0), "{}", figure.name);
        }
        scheme.gc = Some(Gc {
            collections: 4,
            moved_units: Some(300),
            blocked_reads_fraction: Some(0.25),
            queued_behind_fraction: Some(0.125),
            kept_out_fraction: Some(0.5),
            ..Gc::default()
        });
        scheme.programs.0.push(("parity".to_string(), 7));
        scheme.counters.0.push(("shifts".to_string(), 5));
        let values = ["gc.valid", "gc.all_blocked", "programs.parity", "programs.pad", "counters.shifts"];
        assert_eq!(values.map(|name| of(&scheme, name).unwrap()), [75.0, 0.75, 7.0, 0.0, 5.0]);
        assert_eq!(of(&scheme, "counters.migrations"), Ok(0.0));
        assert!(Measure::parse("programs.parities").is_err() && Measure::parse("gc.block").is_err());
    }

    #[test]
    fn what_failed_is_counted_and_none_is_zero() {
        let mut scheme = Scheme::default();
        let names = [
            "read.failed",
            "write.failed",
            "faults.lost_units",
            "faults.stripes_rewritten",
            "faults.units_rebuilt",
        ];
        let of = |scheme: &Scheme| names.map(|name| Measure::parse(name).unwrap().of(scheme).unwrap());
        assert_eq!(of(&scheme), [0.0; 5]);
        let failed = |n| [("media_error".to_string(), n), ("read_only".to_string(), 1)].into_iter().collect();
        scheme.failed =
            [("read".to_string(), failed(6)), ("write".to_string(), failed(2))].into_iter().collect();
        scheme.faults =
            Some(Faults { lost_units: 9, stripes_rewritten: 4, units_rebuilt: 3, ..Faults::default() });
        assert_eq!(of(&scheme), [7.0, 3.0, 9.0, 4.0, 3.0]);
        assert_eq!(Measure::parse("read.failed").unwrap().kind(), Kind::Number);
        assert!(Measure::parse("job.one.read.failed").is_err());
    }

    #[test]
    fn senses_and_channels_have_shares() {
        let mut scheme = Scheme::default();
        let of = |scheme: &Scheme, name: &str| Measure::parse(name).unwrap().of(scheme);
        assert!(of(&scheme, "pages.again").is_err() && of(&scheme, "channel.idle").is_err());
        let pages = PageSenses { pages: 120, again: 20, in_die: 30, given_up: 1, ..Default::default() };
        scheme.page_senses = Some(pages);
        scheme.channel =
            Some(Channel { idle: 0.5, useful: 0.25, uncorrectable: Some(0.125), ecc_wait: 0.125 });
        let values = ["pages.again", "pages.retries", "pages.given_up", "channel.wasted", "channel.useful"];
        assert_eq!(values.map(|name| of(&scheme, name).unwrap()), [0.2, 0.5, 0.01, 0.25, 0.25]);
        assert!(of(&scheme, "pages.accuracy").unwrap_err().contains("predictions"));
        assert!(of(&scheme, "use.link").is_err());
        let host_link = Use { mean: 0.75, busiest: 0.8 };
        scheme.utilisation = Some(Utilisation { host_link, ..Default::default() });
        assert_eq!(of(&scheme, "use.link").unwrap(), 0.75);
        scheme.page_senses = Some(PageSenses { predicted: 100, needless: 2, missed: 1, ..pages });
        assert_eq!(["pages.accuracy", "pages.missed"].map(|name| of(&scheme, name).unwrap()), [0.97, 0.01]);
        // Of 29 pages that would not have been decoded, one was missed.
        assert_eq!(of(&scheme, "pages.caught").unwrap(), 28.0 / 29.0);
    }

    #[test]
    fn a_thin_percentile_is_not_compared() {
        let mut scheme = Scheme::default();
        scheme.read.total_ios = 1000;
        scheme.read.lat_ns.percentile.0.push((percentile::key(99.0), 7));
        scheme.read.lat_ns.percentile.0.push((percentile::key(99.9), 9));
        let of = |name: &str| Measure::parse(name).unwrap().of(&scheme);
        assert_eq!(of("read.p99"), Ok(7.0));
        assert!(of("read.p99.9").unwrap_err().starts_with("too few samples: 1 beyond"));
        assert!(of("write.mean").is_err() && of("waf").is_err());
    }
}
