//! Decides which operations fail. The decision is a function of the seed, the block, its program/erase cycle and the
//! page; for a sense that fails once, also of the block's reads. Other operations before do not change it, so all
//! schemes meet the same failures.

use super::config::{FaultConfig, FaultKind, FaultsConfig};
use crate::address::BlockId;
use crate::nand::blocks::Found;
use crate::nand::config::GeometryConfig;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tailcut_units::Stream;
use tailcut_units::random::mix;

/// A failure rate: an operation fails if its draw is below a threshold. With the key of the draws.
#[derive(Clone, Copy, Debug)]
struct Rate {
    below: u64,
    key: u64,
}

impl Rate {
    fn new(share: Option<f64>, seed: u64, purpose: &str) -> Rate {
        let below = libm::round(share.unwrap_or(0.0) * 4_294_967_296.0) as u64;
        Rate { below, key: Stream::new(seed, purpose, 0).next_u64() }
    }

    #[inline]
    fn falls_on(&self, a: &Attempt, sense: u32) -> bool {
        if self.below == 0 {
            return false;
        }
        let block = mix(self.key ^ (u64::from(a.found.block.0) << 32 | u64::from(a.found.cycles)));
        mix(block ^ (u64::from(a.page) << 32 | u64::from(sense))) >> 32 < self.below
    }
}

/// One fault at a block.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct BlockFault {
    block: BlockId,
    kind: FaultKind,
    page: u32,
    at: u64,
    cycle: u32,
    reads: u32,
    older: u64,
    once: bool,
    /// The program/erase cycle of the block in which the fault first occurred; `u32::MAX` if it has not occurred.
    met: u32,
}

impl BlockFault {
    /// The place of a fault of a page or a block, from a time on.
    fn of(f: &FaultConfig, g: &GeometryConfig, at: u64) -> BlockFault {
        BlockFault {
            block: BlockId(f.planes(g).start * g.blocks + f.block.unwrap_or(0)),
            kind: f.kind,
            page: f.page.unwrap_or(0),
            at,
            cycle: f.cycle.unwrap_or(0),
            reads: f.reads.unwrap_or(0),
            older: f.older.map_or(0, |age| age.0),
            once: f.once || f.kind == FaultKind::Program,
            met: u32::MAX,
        }
    }
}

/// The faults of blocks and pages.
#[derive(Clone, Debug)]
pub struct Faults {
    program: Rate,
    erase: Rate,
    read: Rate,
    page: Rate,
    /// Reads of a block after which the pages of `page` fail.
    page_reads: u32,
    /// Largest number of expected errors per KiB, in 1/16, of a block that may be used.
    pub worn: Option<u32>,
    /// Largest number of errors per KiB, in 1/16, that can be corrected.
    pub correctable: Option<u32>,
    /// The faults of the configuration at exact places.
    places: Places,
    /// Whether faults may be injected while the drive runs.
    injected: bool,
    geometry: GeometryConfig,
    /// Whether reads of pages can fail for reasons other than raw bit errors, dead planes and injected faults.
    pub may_fail_reads: bool,
}

/// The faults at exact places so far, in order of their blocks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Places(Vec<BlockFault>);

impl Places {
    /// Whether one of the faults makes this attempt fail.
    #[inline]
    fn fail(&mut self, kind: FaultKind, a: &Attempt) -> bool {
        !self.0.is_empty() && self.some_fail(kind, a)
    }

    #[cold]
    fn some_fail(&mut self, kind: FaultKind, a: &Attempt) -> bool {
        let Found { block, cycles, reads, age } = a.found;
        let first = self.0.partition_point(|place| place.block < block);
        let mut fails = false;
        for place in self.0[first..].iter_mut().take_while(|place| place.block == block) {
            if place.kind != kind || place.page != a.page || a.now < place.at {
                continue;
            }
            let due = cycles >= place.cycle && reads >= place.reads && age >= place.older;
            let falls = match (place.met, kind) {
                (u32::MAX, _) => due,
                (_, FaultKind::Erase) => true,
                (cycle, _) => !place.once && cycle == cycles,
            };
            if falls && place.met == u32::MAX {
                place.met = cycles;
            }
            fails |= falls;
        }
        fails
    }
}

/// An operation on a page or block that may fail.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// The state of the block.
    pub found: Found,
    /// The page; 0 for an erase.
    pub page: u32,
    /// When the operation ends, ns.
    pub now: u64,
}

impl Faults {
    /// The faults of a checked configuration; `None` if nothing can fail. `has_errors`: pages have raw bit errors.
    pub fn new(
        rates: &FaultsConfig,
        places: &[FaultConfig],
        g: &GeometryConfig,
        has_errors: bool,
        seed: u64,
    ) -> Option<Faults> {
        let of_blocks =
            |f: &&FaultConfig| matches!(f.kind, FaultKind::Program | FaultKind::Erase | FaultKind::Page);
        let mut at_blocks: Vec<BlockFault> =
            places.iter().filter(of_blocks).map(|f| BlockFault::of(f, g, f.begins().0)).collect();
        at_blocks.sort_by_key(|place| place.block);
        let mut faults = Faults {
            program: Rate::new(rates.program, seed, "fault program"),
            erase: Rate::new(rates.erase, seed, "fault erase"),
            read: Rate::new(rates.read, seed, "fault read"),
            page: Rate::new(rates.page, seed, "fault page"),
            page_reads: rates.page_reads.unwrap_or(0),
            worn: rates.worn.map(|bits| 16 * bits),
            correctable: rates.correctable.map(|bits| 16 * bits),
            places: Places(at_blocks),
            injected: rates.injected,
            geometry: g.clone(),
            may_fail_reads: false,
        };
        let of_pages = faults.places.0.iter().any(|place| place.kind == FaultKind::Page);
        let rated = faults.page.below > 0 || faults.read.below > 0;
        faults.may_fail_reads = rated || faults.correctable.is_some() || of_pages;
        let rated = [&faults.program, &faults.erase, &faults.read, &faults.page].iter().any(|r| r.below > 0);
        let limited = faults.worn.is_some() || faults.correctable.is_some();
        (rated
            || limited
            || has_errors
            || rates.kills()
            || rates.injected
            || !faults.places.0.is_empty()
            || places.iter().any(FaultConfig::kills))
        .then_some(faults)
    }

    /// The configured faults at exact places, none of which has occurred yet.
    pub fn places(&self) -> Places {
        self.places.clone()
    }

    /// Check a fault that will be injected while the drive runs. Returns the planes that it concerns.
    ///
    /// # Errors
    /// If the place does not exist, or (`None`) the drive was created without support for injected faults.
    pub fn check_injected(&self, fault: &FaultConfig) -> Result<Range<u32>, Option<String>> {
        if !self.injected {
            return Err(None);
        }
        fault.check_injected(&self.geometry)?;
        Ok(fault.planes(&self.geometry))
    }

    /// Add a fault of a page or a block to the places, from `now` on.
    pub fn add(&self, places: &mut Places, fault: &FaultConfig, now: u64) {
        let place = BlockFault::of(fault, &self.geometry, now);
        let at = places.0.partition_point(|other| other.block <= place.block);
        places.0.insert(at, place);
    }

    /// Whether the program of a page fails.
    pub fn program_fails(&self, a: &Attempt, places: &mut Places) -> bool {
        self.program.falls_on(a, 0) | places.fail(FaultKind::Program, a)
    }

    /// Whether the erase of a block fails.
    pub fn erase_fails(&self, a: &Attempt, places: &mut Places) -> bool {
        self.erase.falls_on(a, 0) | places.fail(FaultKind::Erase, a)
    }

    /// Whether a sense of a page cannot be decoded.
    pub fn read_fails(&self, a: &Attempt, places: &mut Places) -> bool {
        (a.found.reads >= self.page_reads && self.page.falls_on(a, 0))
            | self.read.falls_on(a, a.found.reads)
            | places.fail(FaultKind::Page, a)
    }

    /// Whether programs of pages can fail.
    pub fn may_fail_programs(&self) -> bool {
        self.program.below > 0
            || self.injected
            || self.places.0.iter().any(|place| place.kind == FaultKind::Program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> GeometryConfig {
        GeometryConfig {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 2,
            planes: 2,
            blocks: 10,
            pages: 8,
            page: 4096,
            bad_blocks: 0.0,
            busy_unit: crate::nand::config::BusyKind::Die,
            plane_reads: Default::default(),
            cache_program: false,
        }
    }

    fn faults(rates: FaultsConfig, places: &[&str]) -> (Faults, Places) {
        let places: Vec<FaultConfig> = places.iter().map(|text| text.parse().expect(text)).collect();
        let faults = Faults::new(&rates, &places, &geometry(), false, 1).expect("something can fail");
        let met = faults.places();
        (faults, met)
    }

    fn attempt(cycles: u32, page: u32, reads: u32, now: u64) -> Attempt {
        // Block 7 of plane 1 of die 3.
        Attempt { found: Found { block: BlockId(77), cycles, reads, age: now + 100 }, page, now }
    }

    #[test]
    fn nothing_is_asked_for() {
        assert!(Faults::new(&FaultsConfig::default(), &[], &geometry(), false, 1).is_none());
        let zero = FaultsConfig { read: Some(0.0), ..FaultsConfig::default() };
        assert!(Faults::new(&zero, &[], &geometry(), false, 1).is_none());
    }

    #[test]
    fn a_fault_that_is_added_is_one_of_the_configuration_from_then_on() {
        let (_, mut planned) = faults(FaultsConfig::default(), &["page=3.1.7.2@10ns", "page=3.1.8.2"]);
        let injected = FaultsConfig { injected: true, ..FaultsConfig::default() };
        let (f, mut added) = faults(injected, &["page=3.1.8.2"]);
        assert!(f.may_fail_programs());
        f.add(&mut added, &"page=3.1.7.2".parse().unwrap(), 10);
        for (cycles, page, now) in [(4, 2, 9), (4, 2, 10), (4, 2, 11), (4, 1, 12), (5, 2, 13)] {
            let a = attempt(cycles, page, 0, now);
            assert_eq!(f.read_fails(&a, &mut planned), f.read_fails(&a, &mut added), "{a:?}");
        }
        let check = |text: &str| f.check_injected(&text.parse().unwrap());
        assert_eq!(check("die=3"), Ok(6..8));
        for text in ["die=4", "bad=0.0.1", "die=0@2s"] {
            assert!(matches!(check(text), Err(Some(_))), "{text}");
        }
        let (f, _) = faults(FaultsConfig::default(), &["die=0@2s"]);
        assert_eq!(f.check_injected(&"die=1".parse().unwrap()), Err(None));
    }

    #[test]
    fn a_rate_is_met_and_does_not_depend_on_what_else_was_drawn() {
        let rates = FaultsConfig { program: Some(0.01), read: Some(0.05), ..FaultsConfig::default() };
        let (f, mut met) = faults(rates, &[]);
        let fails = |n: u32, met: &mut Places| f.program_fails(&attempt(n / 1000, n % 1000, 0, 0), met);
        let count = (0..100_000).filter(|&n| fails(n, &mut met)).count();
        // Binomial(100000, 0.01): sd 31.
        assert!((850..1150).contains(&count), "{count}");
        let again = (0..100_000).filter(|&n| fails(n, &mut met)).count();
        assert_eq!(count, again);
        let reads = (0..10_000).filter(|&n| f.read_fails(&attempt(3, 2, n, 0), &mut met)).count();
        assert!((390..610).contains(&reads), "{reads}");
        assert!(!f.erase_fails(&attempt(0, 0, 0, 0), &mut met));
    }

    #[test]
    fn a_page_fails_until_its_block_is_erased_or_once() {
        let (f, mut met) = faults(
            FaultsConfig::default(),
            &["page=3.1.7.2,reads=5@10ns", "page=3.1.7.3,once", "page=3.1.8.2"],
        );
        let mut fails = |cycle, page, reads, now| f.read_fails(&attempt(cycle, page, reads, now), &mut met);
        assert!(!fails(4, 2, 5, 9) && !fails(4, 2, 4, 10), "before its time, and before its reads");
        assert!(fails(4, 2, 5, 10) && fails(4, 2, 6, 11) && !fails(4, 1, 7, 12));
        assert!(!fails(5, 2, 9, 13), "the block was erased");
        assert!(fails(5, 3, 9, 13) && !fails(5, 3, 9, 13), "once");
    }

    #[test]
    fn pages_of_a_rate_fail_after_reads_of_their_block() {
        let rates = FaultsConfig { page: Some(0.1), page_reads: Some(5), ..FaultsConfig::default() };
        let (f, mut met) = faults(rates, &[]);
        let mut count =
            |reads| (0..1000).filter(|&p| f.read_fails(&attempt(1, p, reads, 0), &mut met)).count();
        assert_eq!(count(4), 0);
        let after = count(5);
        assert!((60..140).contains(&after) && count(90) == after, "{after}");
    }

    #[test]
    fn parts_die_by_chance_within_the_time() {
        let g = GeometryConfig { channels: 100, ..geometry() };
        let none = FaultsConfig::default();
        assert!(none.drawn_deaths(&g, 1).is_empty() && !none.kills());
        let shares = FaultsConfig {
            plane: Some(0.1),
            die: Some(0.2),
            channel: Some(1.0),
            within: Some(tailcut_units::Span(1000)),
            ..none
        };
        let deaths = shares.drawn_deaths(&g, 1);
        assert!(shares.kills() && deaths.iter().all(|(at, planes)| *at <= 1000 && planes.end <= 400));
        let of = |width: u32| deaths.iter().filter(|(_, planes)| planes.len() == width as usize).count();
        // 400 planes and 200 dies: binomial. A channel has four planes.
        assert!((15..70).contains(&of(1)) && (15..70).contains(&of(2)) && of(4) == 100, "{deaths:?}");
        assert_ne!(deaths, shares.drawn_deaths(&g, 2));
    }

    #[test]
    fn a_page_fails_when_its_data_are_old() {
        let (f, mut met) = faults(FaultsConfig::default(), &["page=3.1.7.2,older=150ns"]);
        let mut fails = |now| f.read_fails(&attempt(4, 2, 0, now), &mut met);
        assert!(!fails(49) && fails(50) && fails(60));
    }

    #[test]
    fn a_program_fails_once_and_a_bad_block_keeps_failing() {
        let (f, mut met) =
            faults(FaultsConfig::default(), &["program=3.1.7.2,cycle=2", "erase=3.1.7,cycle=3"]);
        assert!(!f.program_fails(&attempt(1, 2, 0, 0), &mut met));
        assert!(f.program_fails(&attempt(2, 2, 0, 0), &mut met));
        assert!(!f.program_fails(&attempt(3, 2, 0, 0), &mut met));
        assert!(!f.erase_fails(&attempt(2, 0, 0, 0), &mut met));
        assert!(
            f.erase_fails(&attempt(3, 0, 0, 0), &mut met) && f.erase_fails(&attempt(3, 0, 0, 0), &mut met)
        );
    }
}
