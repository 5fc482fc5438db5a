//! What failed in a drive that can fail, for the summary and as text.

use crate::ordered::Ordered;
use crate::summary::Scheme;
use crate::text::{cut, grouped, wrapped};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::{human_bytes, human_time};
use tailcut_units::{ReadOnlyReason, Span};

/// The most ranges that [`Faults::lost`] lists.
pub const MOST_LOST: usize = 1_000;

/// Failures of the flash, and what the drive did about them. Counts cover the measurement, and states
/// are those at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Faults {
    /// Programs of rows that failed.
    pub program_failures: u64,
    /// Collections whose erase failed.
    pub erase_failures: u64,
    /// Flash reads whose data could not be decoded.
    pub read_failures: u64,
    /// Host reads that ended without data.
    pub media_errors: u64,
    /// Commands of these reads that ended without data: more than one for a read that was sent in parts.
    #[serde(default)]
    pub media_error_commands: u64,
    /// Units computed from the rest of their stripe for host reads.
    pub units_rebuilt: u64,
    /// Units computed from the rest of their stripe for collections.
    pub units_mended: u64,
    /// Stripes written again elsewhere because a unit of them could not be read.
    pub stripes_rewritten: u64,
    /// Units on flash whose copy cannot be read, though parity may still give them: on dead planes, or
    /// last read without success.
    #[serde(default)]
    pub lost_units: u64,
    /// The blocks by health.
    pub blocks: FaultBlocks,
    /// Extents retired since the drive was made.
    pub retired_extents: u64,
    /// Extents that every lane can still lose before the drive becomes read-only.
    pub spare_extents: u64,
    /// Planes that are dead.
    pub dead_planes: u64,
    /// When the drive became read-only, ns from the start of the run; absent if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_since_ns: Option<u64>,
    /// Why it became read-only; absent if it is not, and in results of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_reason: Option<ReadOnlyReason>,
    /// Bytes of the host whose data are lost.
    pub lost_bytes: u64,
    /// Number of ranges of lost bytes.
    pub lost_ranges: u64,
    /// The first of these ranges: the first byte, and the byte behind the last. At most [`MOST_LOST`];
    /// `lost.jsonl` has all of the first run.
    pub lost: Vec<[u64; 2]>,
}

/// Numbers of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultBlocks {
    /// All blocks.
    pub all: u64,
    /// Blocks that are bad from the factory.
    pub factory_bad: u64,
    /// Blocks that have become bad since.
    pub grown_bad: u64,
    /// Good blocks that no extent has, and that can replace bad ones. None where extents have holes.
    pub spare: u64,
    /// Good blocks in holes of extents: another block of their write unit is bad, or their plane is dead.
    #[serde(default)]
    pub in_holes: u64,
}

/// `1 program`, `3 programs`.
fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `a, b and c`; empty for an empty list.
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// The counts that are not 0, each with its word.
fn present(counts: &[(u64, &str)]) -> Vec<String> {
    counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| counted(*n, what)).collect()
}

impl Faults {
    /// Whether nothing has failed and no block is bad.
    fn is_sound(&self) -> bool {
        let sound = FaultBlocks { all: self.blocks.all, spare: self.blocks.spare, ..FaultBlocks::default() };
        let same = Faults { blocks: sound, spare_extents: self.spare_extents, ..Faults::default() };
        *self == same
    }

    /// The lines of the text.
    fn lines(&self) -> Vec<String> {
        let failed = present(&[
            (self.program_failures, "program"),
            (self.erase_failures, "erase"),
            (self.read_failures, "read"),
        ]);
        let mut first = match failed.is_empty() {
            true => "no operation failed".to_string(),
            false => format!("{} failed", listed(&failed)),
        };
        let repaired = [
            (self.units_rebuilt, "unit", "rebuilt for reads"),
            (self.units_mended, "unit", "rebuilt for collections"),
            (self.stripes_rewritten, "stripe", "rewritten"),
        ];
        for (n, what, done) in repaired.into_iter().filter(|(n, ..)| *n > 0) {
            first.push_str(&format!("; {} {done}", counted(n, what)));
        }
        let b = &self.blocks;
        let in_holes = match b.in_holes {
            0 => String::new(),
            n => format!(", {} in holes", grouped(n)),
        };
        let mut lines = vec![
            first,
            format!(
                "{}: {} bad from the factory, {} grown bad, {} spare{in_holes}; {} retired, a lane can lose {} more",
                counted(b.all, "block"),
                grouped(b.factory_bad),
                grouped(b.grown_bad),
                grouped(b.spare),
                counted(self.retired_extents, "extent"),
                grouped(self.spare_extents),
            ),
        ];
        if self.dead_planes > 0 {
            let are = if self.dead_planes == 1 { "is" } else { "are" };
            lines.push(format!("{} {are} dead", counted(self.dead_planes, "plane")));
        }
        if let Some([from, to]) = self.lost.first() {
            let first = format!("{} at {from:#x}", human_bytes(to.saturating_sub(*from)));
            lines.push(match self.lost_ranges {
                1 => format!("data lost: {first}"),
                n => {
                    let (bytes, n) = (human_bytes(self.lost_bytes), grouped(n));
                    format!("data lost: {bytes} in {n} ranges, the first {first}")
                }
            });
        }
        lines
    }
}

/// Returns a warning for each scheme whose drive became read-only.
pub fn read_only(schemes: &[Scheme]) -> String {
    let mut out = String::new();
    for scheme in schemes {
        let Some(faults) = &scheme.faults else { continue };
        let Some(since) = faults.read_only_since_ns else { continue };
        let reason = faults.read_only_reason.map_or("no room to write was left", ReadOnlyReason::describe);
        let refused: u64 = scheme.failed.iter().filter_map(|(_, by)| by.get("read_only")).sum();
        let text = format!(
            "{} BECAME READ-ONLY after {}: {reason}; {} refused\n\n",
            cut(&scheme.name, 24),
            human_time(Span(since)),
            counted(refused, "request"),
        );
        out.push_str(&wrapped(&text, 2));
    }
    out
}

/// The requests that ended without success, in words; empty if there are none.
pub fn failed(failed: &Ordered<Ordered<u64>>) -> String {
    let of = |(kind, by): &(String, Ordered<u64>)| {
        let kind = if kind == "flush" { "flushe" } else { kind };
        by.iter()
            .map(|(status, n)| match (kind, *n) {
                ("flushe", 1) => format!("1 flush ({status})"),
                (kind, n) => format!("{} ({status})", counted(n, kind)),
            })
            .collect::<Vec<_>>()
    };
    listed(&failed.iter().flat_map(of).collect::<Vec<_>>())
}

/// Formats the failures of each scheme: of the drive, and of requests. Empty if nothing can fail and
/// no request did.
pub fn faults(schemes: &[Scheme]) -> String {
    let mut out = String::new();
    for scheme in schemes {
        // A drive with raw bit errors can fail without being asked to. Nothing is said while it does not.
        let says = |faults: &&Faults| scheme.page_senses.is_none() || !faults.is_sound();
        let mut lines = scheme.faults.as_ref().filter(says).map_or(Vec::new(), Faults::lines);
        let failed = failed(&scheme.failed);
        if !failed.is_empty() {
            lines.push(format!("requests without success, not in the tables: {failed}"));
        }
        for line in lines {
            out.push_str(&wrapped(&format!("  {}: {line}\n", cut(&scheme.name, 24)), 6));
        }
    }
    if out.is_empty() { out } else { format!("\nFaults\n{out}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(pairs: &[(&str, u64)]) -> Ordered<u64> {
        pairs.iter().map(|&(status, n)| (status.to_string(), n)).collect()
    }

    #[test]
    fn a_drive_whose_pages_have_errors_says_what_has_failed_alone() {
        let blocks = FaultBlocks { all: 9, spare: 2, ..FaultBlocks::default() };
        let sound = Faults { blocks, spare_extents: 3, ..Faults::default() };
        let failed = Faults { read_failures: 1, ..sound.clone() };
        let scheme = |faults| Scheme {
            faults: Some(faults),
            page_senses: Some(Default::default()),
            ..Scheme::default()
        };
        assert_eq!(faults(&[scheme(sound)]), "");
        assert!(faults(&[scheme(failed)]).contains("1 read failed"));
    }

    #[test]
    fn a_drive_without_faults_has_no_lines() {
        assert_eq!(faults(&[Scheme::default()]) + &read_only(&[Scheme::default()]), "");
    }

    #[test]
    fn the_lines_say_what_failed() {
        let faulty = Faults {
            program_failures: 3,
            erase_failures: 1,
            read_failures: 1_200,
            units_rebuilt: 1,
            blocks: FaultBlocks { all: 512, factory_bad: 2, grown_bad: 1, spare: 4, in_holes: 0 },
            retired_extents: 1,
            spare_extents: 14,
            dead_planes: 2,
            lost_bytes: 12_288,
            lost_ranges: 2,
            lost: vec![[0x1000, 0x2000], [0x8000, 0xa000]],
            ..Faults::default()
        };
        let failed =
            [("read".to_string(), by(&[("media_error", 2)])), ("flush".to_string(), by(&[("read_only", 1)]))];
        let scheme = Scheme {
            name: "rps".into(),
            faults: Some(faulty),
            failed: failed.into_iter().collect(),
            ..Scheme::default()
        };
        let expected = "
Faults
  rps: 3 programs, 1 erase and 1,200 reads failed; 1 unit rebuilt for reads
  rps: 512 blocks: 2 bad from the factory, 1 grown bad, 4 spare; 1 extent
      retired, a lane can lose 14 more
  rps: 2 planes are dead
  rps: data lost: 12 KiB in 2 ranges, the first 4 KiB at 0x1000
  rps: requests without success, not in the tables: 2 reads (media_error) and 1
      flush (read_only)
";
        assert_eq!(faults(&[scheme]), expected);
    }

    #[test]
    fn a_long_line_is_wrapped() {
        let blocks = FaultBlocks {
            all: 1 << 26,
            factory_bad: 1 << 20,
            grown_bad: 1 << 20,
            spare: 1 << 20,
            in_holes: 0,
        };
        let faulty = Faults { blocks, spare_extents: 100_000, ..Faults::default() };
        let scheme = Scheme { name: "a".repeat(30), faults: Some(faulty), ..Scheme::default() };
        let text = faults(&[scheme]);
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        assert!(text.ends_with(" a lane can lose\n      100,000 more\n"), "{text}");
    }

    #[test]
    fn a_drive_that_became_read_only_says_so() {
        let reason = Some(ReadOnlyReason::NoFreeRow);
        let faulty =
            Faults { read_only_since_ns: Some(1_500_000), read_only_reason: reason, ..Faults::default() };
        let failed = [("write".to_string(), by(&[("read_only", 7), ("out_of_range", 1)]))];
        let scheme = Scheme {
            name: "rps".into(),
            faults: Some(faulty),
            failed: failed.into_iter().collect(),
            ..Scheme::default()
        };
        assert_eq!(
            read_only(&[scheme]),
            "rps BECAME READ-ONLY after 1.5 ms: collections found or gained no free row; 7\n  requests refused\n\n"
        );
    }
}
