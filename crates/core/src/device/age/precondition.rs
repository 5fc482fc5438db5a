//! The aged state of a drive, made without the timing model: functional overwrites of a filled drive with
//! its own placement and victim policies.

use super::threads;
use crate::address::{Lpn, Ppa};
use crate::config::DeviceConfig;
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::shape::Shape;
use crate::figures::{AgeReport, Until};
use crate::ftl::extents::Extents;
use crate::ftl::extents::Writer;
use crate::ftl::map::Mapping;
use crate::ftl::open_row::OpenRow;
use crate::medium::Medium;
use crate::nand::faults::Faults;
use crate::nand::faults::config::{FaultConfig, FaultKind};
use crate::observer::Observer;
use crate::overwrites::{BATCH, Windows};
use crate::policy::gc_victim::VictimRule;
use crate::policy::placement::{LaneLoad, LaneView};
use std::ops::Range;

/// The writes that overwrite a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Uniform writes, from an analytic start.
    UniformFromStart,
    /// Uniform writes, from the drive as it is.
    Uniform,
    /// Any writes.
    Any,
}

/// The state from which uniform overwrites start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniformStart {
    /// At the sequential fill, or on a large drive at an analytic start if its kind has one.
    BySize,
    /// At the sequential fill.
    Fill,
    /// At an analytic start made by this many threads, if the kind of drive has one.
    Analytic(usize),
}

/// Units of a victim whose map entries are fetched before the units are moved.
const MOVES: usize = 64;
/// Units of a victim whose owners are fetched before they are read: eight cache lines.
const OWNERS_AHEAD: u32 = 128;
/// Entries of the map in a cache line.
const OWNERS_A_LINE: u32 = 16;
/// The pass ends without a steady state after it has programmed this many times the raw capacity.
const BOUND: u64 = 12;
/// Largest number of collections in one lane for one extent opened.
const COLLECTIONS_MAX: u32 = 64;
/// Limit of levelling: it ends after it has raised the largest number of rows of a lane this often without reducing the
/// differences.
const RAISED_MAX: u32 = 8;
/// Progress is reported after this many programs, or after `TELL_COLLECTIONS` collections, each of
/// which may search a whole lane for its victim: a tenth of a second or less. The first programs
/// touch new pages of memory, which may take milliseconds each, so progress is reported more often
/// then.
const TELL_PROGRAMS: u64 = 1 << 18;
/// Early in a pass, progress is reported again after the programs so far divided by this.
const TELL_PART: u64 = 32;
const TELL_COLLECTIONS: u64 = 1 << 8;
/// Drives with fewer mapping units are overwritten from the sequential fill on, which takes some seconds. No drive with
/// published results has as many.
const ANALYTIC_MIN: u32 = 1 << 27;
/// The share of an analytic start in the progress of ageing.
const START_PART: f64 = 0.4;
/// Largest number of extents that a window after an analytic start programs in a lane. Write amplification has its
/// final value after one to two percent of the raw capacity, for each victim policy, so a window must only be long
/// enough to measure it.
const START_WINDOW: u64 = 256;
/// The state of one functional pass.
struct Pass {
    host: Vec<OpenRow>,
    collection: Vec<OpenRow>,
    /// By lane: its load as the placement policy sees it. The number of programs is 0.
    load: Vec<LaneLoad>,
    /// By lane: rows written for the host.
    written: Vec<u64>,
    host_units: u64,
    programs: u64,
    collections: u64,
    windows: Windows,
    /// By extent: whether this pass has erased it.
    erased: Vec<bool>,
    erased_extents: u64,
    extents: u64,
    moved: Vec<(Lpn, Ppa)>,
    /// The stripe of the last write, whose parity has not been written yet, or `NONE`.
    stripe: u32,
    /// Whether collections of a lane could not restore its start level.
    out_of_reach: bool,
    /// The difference of erases at which a lane is levelled, if it is.
    erase_gap: Option<u32>,
}

impl Shape {
    /// Whether a lane has a free row for the host, or an extent whose collection frees one.
    fn can_win_room(&self, extents: &Extents, lane: u32) -> bool {
        let layout = &self.layout;
        let (valid, _) = extents.lane_slices(layout, lane);
        extents.has_row(layout, lane, Writer::Host, self.reserve)
            || valid.iter().any(|&valid| valid <= layout.most_valid())
    }
}

impl Copies<'_> {
    /// Prefetch what becomes stale when a unit is written. The map entry may change before that.
    #[inline]
    fn prefetch_copy_of(&self, lpn: Lpn) {
        if let Mapping::Flash(ppa) = self.map.lookup(lpn) {
            self.prefetch_copy(ppa);
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Overwrite uniformly at random, `bytes` at a time, inside `region` until steady. `progress`
    /// is called with a rough fraction and stops the pass by returning false; a drive that was
    /// stopped must not be used.
    pub fn age_uniform(
        &mut self,
        region: Range<u64>,
        bytes: u32,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        self.age_uniform_from(UniformStart::BySize, region, bytes, progress)
    }

    /// As [`Device::age_uniform`], with a start for tests.
    pub fn age_uniform_from(
        &mut self,
        start: UniformStart,
        region: Range<u64>,
        bytes: u32,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        let Some(mut writes) = self.uniform_writes(&region, bytes) else { return AgeReport::default() };
        let threads = match start {
            UniformStart::Fill => 0,
            UniformStart::Analytic(threads) => threads,
            UniformStart::BySize if self.shape.layout.units() < ANALYTIC_MIN => 0,
            UniformStart::BySize => threads::available(),
        };
        let unit = self.shape.layout.unit_bytes;
        // The last mapping unit may be only partly inside the region.
        let end = (region.end / unit).min(u64::from(self.shape.layout.host_units));
        let all =
            u64::from(bytes) <= unit && region.start < unit && end + 1 >= u64::from(self.map.state.filled);
        let plan = if all && threads > 0 { self.plan_start() } else { None };
        let analytic = plan.is_some();
        if let Some(lanes) = plan
            && !self.start(&lanes, threads, &mut |part| progress(START_PART * part))
        {
            return AgeReport { analytic, ..AgeReport::default() };
        }
        let load = if analytic { Load::UniformFromStart } else { Load::Uniform };
        self.age(load, Until::Steady, progress, &mut writes)
    }

    /// The common loop, from an analytic start or from the drive as it is. `next` fills a batch with logical
    /// units and returns how many.
    pub(super) fn age(
        &mut self,
        load: Load,
        until: Until,
        progress: &mut dyn FnMut(f64) -> bool,
        next: &mut dyn FnMut(&mut [Lpn; BATCH]) -> usize,
    ) -> AgeReport {
        // A run must not depend on whether its aged drive came from a snapshot, which does not contain the state of
        // policies.
        let policies = self.state.policies.clone();
        let levelled_at = self.state.gc.levelled_at.clone();
        self.state.gc.finish_last_loops(&self.shape, &mut self.flash, &self.state.extents);
        let mut pass = Pass::new(self, load);
        // Ageing before a run has no levelling: the blocks of a lane start with equal numbers of erases.
        pass.erase_gap = if until == Until::Steady { None } else { self.shape.fixed.erase_gap };
        let analytic = load == Load::UniformFromStart;
        if analytic {
            // The analytic start has no extents of the fill that must be erased first.
            pass.extents = 0;
            let layout = &self.shape.layout;
            let most = START_WINDOW * u64::from(layout.lanes) * u64::from(layout.units_per_extent);
            pass.windows.shorten(most);
        }
        let raw = u64::from(self.shape.layout.units());
        let (mut tell, mut collections) = (0, 0);
        let mut steady = false;
        // Three batches of writes: the present one, the next and the one after it.
        let mut batches = [[Lpn(0); BATCH]; 3];
        let mut filled = [next(&mut batches[0]), next(&mut batches[1]), 0];
        let mut at = 0;
        let erased = self.state.extents.erases;
        let goes_on = |device: &Self, pass: &Pass| match until {
            Until::Steady => pass.programs < BOUND * raw,
            Until::Erases(more) => device.state.extents.erases - erased < more,
        };
        while goes_on(self, &pass) && filled[at] > 0 {
            let (soon, later) = ((at + 1) % 3, (at + 2) % 3);
            filled[later] = if filled[soon] > 0 { next(&mut batches[later]) } else { 0 };
            for (i, &lpn) in batches[at][..filled[at]].iter().enumerate() {
                // A batch that was not filled still contains older units, whose prefetch does no harm.
                self.map.prefetch(batches[later][i]);
                self.copies().prefetch_copy_of(batches[soon][i]);
                self.overwrite(&mut pass, lpn);
            }
            at = soon;
            if pass.windows.is_over(pass.programs) {
                let alike = pass.windows.end(pass.host_units, pass.programs);
                steady = alike && pass.erased_extents >= pass.extents;
                if steady && until == Until::Steady {
                    break;
                }
            }
            if pass.programs >= tell || pass.collections >= collections {
                tell = pass.programs + (pass.programs / TELL_PART).min(TELL_PROGRAMS);
                collections = pass.collections + TELL_COLLECTIONS;
                let (before, rest) = match analytic {
                    true => (START_PART, pass.windows.least()),
                    false => (0.0, pass.windows.typical(raw)),
                };
                let fraction = before + (1.0 - before) * pass.programs as f64 / rest;
                if !progress(fraction) {
                    break;
                }
            }
        }
        self.end_stripe(&mut pass);
        self.end_pass(&mut pass);
        self.state.policies = policies;
        self.state.gc.levelled_at = levelled_at;
        let waf = pass.windows.amplification(pass.host_units, pass.programs);
        AgeReport { programs: pass.programs, waf, steady: steady && !pass.out_of_reach, analytic }
    }

    /// One functional write of a logical unit.
    #[inline]
    fn overwrite(&mut self, pass: &mut Pass, lpn: Lpn) {
        if let Some(stripes) = &self.shape.stripes {
            let stripe = stripes.stripe_of(lpn);
            if pass.stripe != stripe {
                self.end_stripe(pass);
                pass.stripe = stripe;
            }
        }
        pass.host_units += 1;
        self.put(pass, lpn);
    }

    /// Write the parity of the stripe written last. Consecutive writes to one stripe share one write of its parity, as
    /// in the buffer.
    fn end_stripe(&mut self, pass: &mut Pass) {
        if let Some(stripes) = &self.shape.stripes
            && pass.stripe != NONE
        {
            let parity = stripes.parity(std::mem::replace(&mut pass.stripe, NONE));
            self.put(pass, parity);
        }
    }

    /// Program a unit in zero time.
    #[inline]
    fn put(&mut self, pass: &mut Pass, lpn: Lpn) {
        let pool = match &self.shape.stripes {
            Some(stripes) => self.state.parity.places.lane(stripes, lpn),
            None => self.state.policies.placement.pool(lpn),
        };
        if pass.host[pool as usize].is_full() {
            pass.host[pool as usize] = self.host_row(pass, pool);
        }
        pass.programs += 1;
        if let Mapping::Flash(old_ppa) = self.map.lookup(lpn) {
            self.state.invalidate(&mut self.map, &self.shape.layout, old_ppa);
        }
        let row = &mut pass.host[pool as usize];
        let (ppa, extent) = (row.fill(&mut self.state.extents, &self.shape.layout), row.extent());
        self.data.aged(&self.state.copies(&self.shape, &self.map), ppa, lpn);
        self.map.set_flash(lpn, ppa);
        self.state.validate_in(&mut self.map, extent, lpn, ppa);
    }

    /// Take a new row for host data, and collect where the policy wants it.
    fn host_row(&mut self, pass: &mut Pass, pool: u32) -> OpenRow {
        let lanes = self.shape.lanes_of_pool(pool);
        for attempt in 0.. {
            let view = LaneView { load: &pass.load, written: &pass.written };
            let lane = self.state.policies.placement.lane(pool, &view);
            let free = self.state.extents.free(&self.shape.layout, lane);
            let row = self.state.extents.take_row(&self.shape.layout, lane, Writer::Host, self.shape.reserve);
            let opened = self.state.extents.free(&self.shape.layout, lane) != free;
            if row.is_none() || opened {
                self.collect_while_wanted(pass, lane);
            }
            if let Some(ppa) = row {
                pass.written[lane as usize] += 1;
                if pass.erase_gap.is_some() {
                    self.state.gc.levelled_at[lane as usize] = u64::MAX;
                }
                if attempt > 0 {
                    pass.load[lanes].fill(LaneLoad::default());
                }
                return OpenRow::new(ppa, &self.shape.layout);
            }
            // Collection may have made room in this lane, so it is tried again after the other lanes.
            pass.load[lane as usize].lacks_room();
            if pass.load[lanes.clone()].iter().all(|load| !load.has_room()) {
                pass.load[lanes.clone()].fill(LaneLoad::default());
            }
            assert!(attempt < 1_000_000, "construction proved that every lane can win space");
        }
        unreachable!()
    }

    fn collect_while_wanted(&mut self, pass: &mut Pass, lane: u32) {
        // If the start level cannot be reached, collecting would never end. The lane then continues with the
        // collections so far, and the drive does not count as steady.
        for _ in 0..COLLECTIONS_MAX {
            let view = self.state.space(&self.shape, &self.flash, lane);
            if !self.state.policies.gc_schedule.start(&view) {
                return;
            }
            let Some(victim) = self.best_victim(lane) else { return };
            self.collect_functionally(pass, lane, victim);
        }
        pass.out_of_reach = true;
    }

    /// Move a victim's valid units and erase it, in zero time.
    fn collect_functionally(&mut self, pass: &mut Pass, lane: u32, victim: u32) {
        pass.collections += 1;
        if self.state.gc.coldest.get(lane as usize) == Some(&victim) {
            // The lane is not levelled again before the host has written.
            self.state.gc.levelled_at[lane as usize] = self.state.counters.programs_user;
        }
        self.state.extents.begin_collection(victim);
        let n = self.shape.layout.units_per_extent;
        let base = Ppa(victim * n);
        let mut moved = std::mem::take(&mut pass.moved);
        self.map.fetch_owners(base, n);
        for line in 0..n.min(OWNERS_AHEAD) / OWNERS_A_LINE {
            self.map.prefetch_owner(base + line * OWNERS_A_LINE);
        }
        let mut done = 0;
        for at in (0..n).step_by(64) {
            for line in 0..64 / OWNERS_A_LINE {
                self.map
                    .reverse
                    .prefetch((base + at).index() + (OWNERS_AHEAD + line * OWNERS_A_LINE) as usize);
            }
            let mut mask = self.map.valid_mask(base + at, (n - at).min(64));
            while mask != 0 {
                let ppa = base + at + mask.trailing_zeros();
                mask &= mask - 1;
                let lpn = self.map.owner(ppa);
                self.map.prefetch(lpn);
                moved.push((lpn, ppa));
            }
            while moved.len() - done > MOVES {
                self.move_unit(pass, lane, moved[done].0, moved[done].1);
                done += 1;
            }
            if done >= MOVES {
                moved.copy_within(done.., 0);
                moved.truncate(moved.len() - done);
                done = 0;
            }
        }
        for &(lpn, from) in &moved[done..] {
            self.move_unit(pass, lane, lpn, from);
        }
        moved.clear();
        pass.moved = moved;
        if !std::mem::replace(&mut pass.erased[victim as usize], true) {
            pass.erased_extents += 1;
        }
        self.shape.choose_lower_voltage(&mut self.flash, &self.state.extents, victim);
        self.shape.count_erases_of(&mut self.flash, &self.state.extents, victim);
        self.extent_erased(victim);
        if let Some(gap) = pass.erase_gap {
            self.state.gc.note_coldest(
                &self.shape.layout,
                &self.state.extents,
                self.flash.blocks(),
                lane,
                gap,
            );
        }
    }

    #[inline]
    fn move_unit(&mut self, pass: &mut Pass, lane: u32, lpn: Lpn, from: Ppa) {
        let (extents, layout) = (&mut self.state.extents, &self.shape.layout);
        let row = &mut pass.collection[lane as usize];
        if row.is_full() {
            *row = OpenRow::new(extents.take_collection_row(layout, lane), layout);
        }
        let (to, extent) = (row.fill(extents, layout), row.extent());
        pass.programs += 1;
        self.data.copied(from, to);
        self.map.set_flash(lpn, to);
        self.state.validate_in(&mut self.map, extent, lpn, to);
        self.state.invalidate(&mut self.map, &self.shape.layout, from);
    }

    /// Pad the open rows and level the lanes of each pool, so that the drive is idle and the initial state of the
    /// policies fits it.
    fn end_pass(&mut self, pass: &mut Pass) {
        if self.state.policies.placement.levels() {
            self.level(pass);
        }
        let begun: Vec<OpenRow> = pass.host.iter().chain(&pass.collection).copied().collect();
        for row in begun {
            self.pad(pass, row);
        }
    }

    /// Pad until the lanes of each pool have the same number of written rows. A lane that cannot free space stays
    /// behind, because padding makes nothing stale. The same holds for a lane that frees a row only while another lane
    /// takes one, as with blocks of one page.
    fn level(&mut self, pass: &mut Pass) {
        for pool in 0..self.shape.layout.lanes / self.shape.pool_lanes {
            let lanes = self.shape.lanes_of_pool(pool);
            let (mut least, mut raised) = (u64::MAX, 0);
            loop {
                let written = &pass.written[lanes.clone()];
                let most = written.iter().copied().max().unwrap_or(0);
                let missing = written.iter().map(|written| most - written).sum();
                if missing < least {
                    (least, raised) = (missing, 0);
                }
                let mut behind = lanes.clone().filter(|&lane| pass.written[lane] < most);
                if raised == RAISED_MAX
                    || !behind.any(|lane| self.shape.can_win_room(&self.state.extents, lane as u32))
                {
                    break;
                }
                let row = self.host_row(pass, pool);
                self.pad(pass, row);
                raised += u32::from(pass.written[lanes.clone()].iter().any(|&written| written > most));
            }
        }
    }

    /// Pad the rest of a row.
    fn pad(&mut self, pass: &mut Pass, mut row: OpenRow) {
        let rest = row.pad(&mut self.state.extents, &self.shape.layout);
        pass.programs += u64::from(rest.end - rest.start);
        self.data.padded(rest);
    }
}

impl Pass {
    fn new<O: Observer, M: Medium>(device: &Device<O, M>, load: Load) -> Pass {
        let layout = &device.shape.layout;
        // With FIFO victims, extents return in the order in which they were closed. Uniform writes have no hot data,
        // whose share could oscillate.
        let by_turns = device.state.policies.gc_victim.rule() == VictimRule::Age && load == Load::Any;
        let lanes = layout.lanes as usize;
        Pass {
            host: vec![OpenRow::default(); lanes],
            collection: vec![OpenRow::default(); lanes],
            load: vec![LaneLoad::default(); lanes],
            written: vec![0; lanes],
            host_units: 0,
            programs: 0,
            collections: 0,
            windows: Windows::new(u64::from(layout.units()), by_turns),
            erased: vec![false; layout.extents() as usize],
            erased_extents: 0,
            extents: layout.usable.iter().map(|&n| u64::from(n)).sum::<u64>()
                - device.state.extents.retired().len() as u64,
            moved: Vec::with_capacity(2 * MOVES + 64),
            stripe: NONE,
            out_of_reach: false,
            erase_gap: None,
        }
    }
}

/// A hash of everything that determines a drive's aged state. `what` names the preconditioning and its workload.
/// Schemes with the same key share one aged state.
pub fn aged_key(config: &DeviceConfig, seed: u64, what: &str) -> u64 {
    let f = &config.ftl;
    let p = &config.policy;
    let bad: Vec<&FaultConfig> = config.fault.iter().filter(|f| f.kind == FaultKind::Bad).collect();
    // A drive whose programs may fail keeps more extents free.
    let faults = Faults::new(&config.faults, &config.fault, &config.geometry, config.errors.is_some(), seed);
    let programs_fail = faults.is_some_and(|faults| faults.may_fail_programs());
    // Ageing leaves the SLC region empty, so its blocks hold no data.
    let slc = config.slc.as_ref().map(|slc| slc.blocks);
    let text = format!(
        "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {:?} {:?} {bad:?} {programs_fail} {slc:?} {seed} {what}",
        crate::snapshot::VERSION,
        config.geometry,
        f.kind,
        (
            config.pblk.kernel,
            config.pblk.ring,
            config.pblk.stride,
            config.pblk.parities,
            config.pblk.hot_cold
        ),
        f.mapping_unit,
        f.capacity_rule(),
        f.extent,
        f.bad_blocks,
        f.write_planes,
        p.placement,
        p.redundancy,
        p.gc_victim,
        p.gc_schedule,
        config.age.free,
    );
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}
