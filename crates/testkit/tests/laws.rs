//! Tests that the physical laws hold for any drive and workload.
//!
//! By an observer of every step: one operation on a busy unit and one transfer on a channel at
//! a time, steps in order, times as configured, pages in order, no channel time lost. For whole
//! runs: the same inputs give the same digest on any thread and with any delay of the caller;
//! results do not depend on the start time; the capacity adds up.

use std::collections::{BTreeMap, BTreeSet};
use tailcut_core::address::BusyUnit;
use tailcut_core::device::{Device, OpKind, Shape, Step, StepEvent};
use tailcut_core::ftl::config::{CopyMode, ExtentKind};
use tailcut_core::nand::config::{BusyKind, SuspendedData};
use tailcut_core::nand::faults::config::FaultKind;
use tailcut_testkit::replay::program_ns;
use tailcut_testkit::swarm::{self, Case};
use tailcut_testkit::{Host, Stretch, operations, small_drive};
use tailcut_units::random::mix;
use tailcut_units::{HostOp, Occupant, Occupants, SimTime, Stream};

/// Cases of the swarm.
fn cases(from: u64, count: u64) -> impl Iterator<Item = Case> {
    (from..from + count).map(swarm::draw)
}

fn observed(case: &Case) -> Device<Vec<StepEvent>> {
    match swarm::observe(case, Vec::new()) {
        Ok((_, device)) => device,
        Err(e) => panic!("seed {}: {e}", case.seed),
    }
}

/// An operation that holds its unit or is suspended on it, with its last step and times.
struct Stay {
    op: u32,
    occupant: Occupant,
    last: Step,
    until: u64,
    passes: u32,
    /// Nominal time that was done when it last entered the array, ns.
    progress: u64,
    /// Total time in the array, ns.
    spent: u64,
    /// Array time of an erase that is not interrupted, as it was planned, ns.
    planned: u64,
}

impl Stay {
    /// An operation that gets its unit.
    fn new(e: &StepEvent) -> Stay {
        Stay {
            op: e.op,
            occupant: e.occupant,
            last: Step::Granted,
            until: e.at.0,
            passes: 0,
            progress: 0,
            spent: 0,
            planned: 0,
        }
    }

    /// Whether its data are out.
    fn is_out(&self, at: u64) -> bool {
        at >= self.until && self.last == Step::ChannelOut
    }

    fn is_over(&self, at: u64) -> bool {
        at >= self.until && matches!(self.last, Step::Array | Step::ChannelOut | Step::Ahead)
    }

    /// Whether an operation of this kind may start while this one is suspended.
    fn may_be_interrupted_by(&self, occupant: Occupant) -> bool {
        match self.occupant {
            Occupant::Erase => {
                matches!(occupant, Occupant::UserRead | Occupant::RmwRead)
                    || is_program(occupant) && occupant != Occupant::GcProgram
            }
            o if is_program(o) => occupant == Occupant::UserRead,
            _ => false,
        }
    }
}

/// The operations of one unit.
#[derive(Default)]
struct Stack {
    /// The suspended ones, and on top the one that executes.
    stays: Vec<Stay>,
    /// The program in the cache register.
    cached: Option<Stay>,
    /// Where reads run by plane: the reads that have planes, each with its own as a mask.
    reads: Vec<(u32, Stack)>,
}

impl Stack {
    /// Check that an operation may begin over those that are suspended.
    fn may_begin(&self, e: &StepEvent) -> Result<(), String> {
        let Some(below) = self.stays.last() else { return Ok(()) };
        if below.last != Step::Suspended || e.at.0 < below.until {
            return Err(format!("the unit is at {:?} until {}", below.last, below.until));
        }
        match below.may_be_interrupted_by(e.occupant) {
            true => Ok(()),
            false => Err(format!("{:?} is suspended for it", below.occupant)),
        }
    }

    /// Check a step of a program in the cache register, and apply it; `None`: it is none.
    fn cached(&mut self, e: &StepEvent) -> Option<Result<(), String>> {
        let at = e.at.0;
        if e.step == Step::Cached {
            let programs = |s: &&Stay| is_program(s.occupant) && s.last == Step::Array && s.until > at;
            let begun = self.stays.last().filter(programs).is_some_and(|s| s.until - s.planned <= at);
            let fits = begun && self.stays.len() == 1 && self.cached.is_none();
            self.cached = Some(Stay::new(e));
            return Some(if fits {
                Ok(())
            } else {
                Err("its unit programs nothing, or has one cached".into())
            });
        }
        let of = if e.step == Step::Joined { e.by } else { e.op };
        let cached = self.cached.as_mut().filter(|cached| cached.op == of)?;
        match e.step {
            Step::Granted => {
                let mut stay = self.cached.take()?;
                stay.until = stay.until.max(at);
                let fits = self.may_begin(e);
                self.stays.push(stay);
                Some(fits)
            }
            Step::Returned => {
                let waited = self.cached.take()?.last == Step::Granted;
                Some(if waited { Ok(()) } else { Err("it is loaded".into()) })
            }
            Step::ChannelIn => {
                (cached.last, cached.until) = (Step::ChannelIn, e.until.0);
                Some(Ok(()))
            }
            Step::Joined if cached.last == Step::ChannelIn => Some(Ok(())),
            _ => Some(Err("it is in the cache register".into())),
        }
    }

    /// The same as `step`, of a read that has planes of the unit for itself.
    fn read(&mut self, e: &StepEvent, case: &Case, shape: &Shape) -> Result<(), String> {
        let at = e.at.0;
        if e.step != Step::Granted {
            let own = self.reads.iter().position(|(_, read)| read.stays[0].op == e.op);
            let own = own.ok_or("without its planes")?;
            self.reads[own].1.step(e, case, shape)?;
            self.reads.retain(|(_, read)| !read.stays.is_empty());
            return Ok(());
        }
        self.reads.retain(|(_, read)| !read.stays[0].is_out(at));
        if self.stays.last().is_some_and(|stay| stay.is_over(at)) {
            self.stays.pop();
        }
        self.may_begin(e)?;
        if self.reads.iter().any(|(planes, _)| planes & e.planes != 0) {
            return Err("a plane has two reads".into());
        }
        self.reads.push((e.planes, Stack { stays: vec![Stay::new(e)], ..Stack::default() }));
        Ok(())
    }

    /// Check that a step is valid after the earlier steps of the unit's operations, and apply
    /// it.
    fn step(&mut self, e: &StepEvent, case: &Case, shape: &Shape) -> Result<(), String> {
        let (at, until) = (e.at.0, e.until.0);
        self.reads.retain(|(_, read)| !read.stays[0].is_out(at));
        if !self.reads.is_empty() {
            return Err("reads have planes of its unit".into());
        }
        let leaves = |stay: &Stay| stay.is_over(at) && (stay.op != e.op || e.step == Step::Granted);
        if self.stays.last().is_some_and(leaves) {
            self.stays.pop();
        }
        if let Some(fits) = self.cached(e) {
            return fits;
        }
        if e.step == Step::Joined {
            let head = self.stays.last().filter(|s| s.op == e.by && s.last == Step::ChannelIn);
            return head.map(|_| ()).ok_or("joins an operation that is not starting".into());
        }
        if e.step == Step::Granted {
            self.may_begin(e)?;
            self.stays.push(Stay::new(e));
            return Ok(());
        }
        let stay = self.stays.last_mut().filter(|s| s.op == e.op).ok_or("without its unit")?;
        let last = stay.last;
        if e.step == Step::Decode {
            return Ok(());
        }
        if e.step == Step::Returned {
            self.stays.pop();
            return if last == Step::Granted { Ok(()) } else { Err(format!("after {last:?}")) };
        }
        let copyback = case.config.ftl.gc.copy == CopyMode::Copyback && e.occupant == Occupant::GcProgram;
        let again = case.config.suspend.program.data == SuspendedData::Controller && is_program(e.occupant);
        let joins = case.config.ftl.join_reads || case.config.ftl.gc.join_reads;
        let on_time = at == stay.until;
        let early = at <= stay.until;
        let order = match e.step {
            Step::Granted | Step::Cached | Step::Returned | Step::Joined | Step::Decode => {
                unreachable!("handled above")
            }
            Step::ChannelIn if copyback && last == Step::Array => stay.passes == 1,
            Step::ChannelIn => {
                last == Step::Granted || (matches!(last, Step::Suspended | Step::Resuming) && again)
            }
            Step::Array => match last {
                Step::ChannelIn | Step::Resuming | Step::Ahead => on_time,
                Step::Suspended => true,
                _ => false,
            },
            // A read that was sensed together with another one holds the unit for its data
            // transfer.
            Step::ChannelOut => {
                is_read(e.occupant) && (last == Step::Array || joins && last == Step::Granted)
            }
            Step::Ahead => last == Step::ChannelOut && on_time,
            Step::Stopping => last == Step::Array && at < until && until < stay.until,
            Step::Suspending | Step::Suspended => match last {
                Step::Array | Step::Resuming => early,
                Step::Stopping => on_time,
                Step::Suspending => on_time && e.step == Step::Suspended,
                _ => false,
            },
            Step::Resuming => last == Step::Suspended,
        };
        let cuts = matches!(e.step, Step::Stopping | Step::Suspending | Step::Suspended);
        if !order || (!cuts && at < stay.until) {
            return Err(format!("after {last:?} until {}", stay.until));
        }
        // The interval of array time that is cut short here was counted to its planned end.
        let ends = if e.step == Step::Stopping { until } else { at };
        if cuts && last == Step::Array {
            stay.spent -= stay.until - ends;
        }
        if e.step == Step::Ahead {
            // What follows is another sense.
            (stay.passes, stay.progress, stay.spent) = (0, 0, 0);
        }
        if e.step == Step::Array {
            stay.passes += 1;
            let t = &shape.timing;
            if stay.spent == 0 || copyback && last == Step::ChannelIn {
                stay.planned = until - at;
            }
            let nominal = match e.occupant {
                Occupant::Erase if shape.eraser.is_some() => stay.planned,
                // The pages of an SLC region have the numbers behind those of a block.
                Occupant::Erase if e.page >= case.config.geometry.pages => {
                    case.config.slc.as_ref().map_or(0, |slc| slc.erase.0)
                }
                Occupant::Erase => t.erase_ns,
                // The die may predict, and sense again.
                o if is_read(o) && shape.senses.is_some() => stay.planned,
                o if is_read(o) => t.read_ns(e.page),
                _ => program_ns(&shape.timing, shape.slow_programs.as_ref(), e.page, stay.planned),
            };
            let first = matches!(last, Step::ChannelIn) && stay.progress == 0 && stay.spent == 0;
            if copyback && last == Step::ChannelIn {
                (stay.progress, stay.spent) = (0, 0);
            }
            let progress = nominal.checked_sub(until - at).ok_or("more than its whole course is left")?;
            if first && progress != 0 {
                return Err(format!("only {} of {nominal} ns", until - at));
            }
            if progress < stay.progress || progress > stay.spent {
                return Err(format!(
                    "{progress} ns are done, {} before, {} spent",
                    stay.progress, stay.spent
                ));
            }
            stay.progress = progress;
            stay.spent += until - at;
        }
        // A copyback begins as a read and ends as a program.
        (stay.last, stay.until, stay.occupant) = (e.step, until, e.occupant);
        Ok(())
    }
}

#[test]
fn one_operation_a_unit_one_transfer_a_channel_steps_in_order() {
    let (mut deepest, mut beside) = (0, 0);
    // Programs loaded beside another: all, with parity, in a drive with an SLC region.
    let mut cached = [0; 3];
    for case in cases(0, 600) {
        // Run further seeds until a read interrupted a program that interrupted an erase.
        if case.seed >= 60 && deepest == 3 {
            break;
        }
        let device = observed(&case);
        let shape = device.shape();
        let seed = case.seed;
        let mut units: BTreeMap<BusyUnit, Stack> = BTreeMap::new();
        let mut channels: BTreeMap<u32, u64> = BTreeMap::new();
        for e in device.observer() {
            let (at, until) = (e.at.0, e.until.0);
            assert!(until >= at, "seed {seed}: {e:?} ends before it begins");
            assert_eq!(e.channel, shape.channel_of(e.unit), "seed {seed}: {e:?}");
            if matches!(e.step, Step::ChannelIn | Step::ChannelOut) {
                let free = channels.insert(e.channel, until).unwrap_or(0);
                assert!(at >= free, "seed {seed}: {e:?} while the channel is busy until {free}");
            }
            let unit = units.entry(e.unit).or_default();
            let by_plane = shape.planes_read > 1 && e.kind == OpKind::Read;
            let fits = if by_plane { unit.read(e, &case, shape) } else { unit.step(e, &case, shape) };
            fits.unwrap_or_else(|why| panic!("seed {seed}: {e:?}: {why}"));
            deepest = deepest.max(unit.stays.len() + usize::from(!unit.reads.is_empty()));
            beside = beside.max(unit.reads.len());
            if e.step == Step::Cached {
                let parity = case.config.policy.redundancy.name() != "none";
                let of = [true, parity, case.config.slc.is_some()];
                cached.iter_mut().zip(of).for_each(|(n, of)| *n += u32::from(of));
            }
        }
    }
    assert!(beside > 2, "no drive reads by plane");
    assert!(cached.iter().all(|&n| n > 100), "{cached:?} programs are loaded beside another");
    assert_eq!(deepest, 3, "no read interrupted a program that interrupted an erase");
}

#[test]
fn time_in_the_array_is_conserved_by_suspension() {
    let mut suspends = [0, 0];
    for case in cases(300, 240) {
        let device = observed(&case);
        let c = device.flash_counters();
        let (mut spent, mut overhead, mut seen, mut cancelled) = (0, [0, 0], [0, 0], [0, 0]);
        for op in operations(device.observer()) {
            let length = |list: &[Stretch]| list.iter().map(|s| s.1 - s.0).sum::<u64>();
            let kind = usize::from(op.occupant != Occupant::Erase);
            spent += length(&op.array);
            overhead[kind] += length(&op.suspending) + length(&op.resuming);
            if kind == 1 && !op.suspended.is_empty() && op.occupant != Occupant::GcRead {
                overhead[kind] += length(&op.inward[1..]);
            }
            seen[kind] += op.suspended.len() as u64;
            let cut = |r: &&Stretch| {
                op.suspending.iter().map(|s| s.0).chain(op.suspended.iter().copied()).any(|at| at == r.1)
            };
            // The transfer of a suspended program's data ends before a read interrupts the program again.
            let transfers = kind == 1 && case.config.suspend.program.data == SuspendedData::Controller;
            if !transfers {
                cancelled[kind] += op.resuming.iter().filter(cut).count() as u64;
            }
        }
        let nominal: u64 = c.array_ns.iter().sum();
        let (e, p) = (&c.erase_suspension, &c.program_suspension);
        let seed = case.seed;
        assert_eq!(spent, nominal + e.repeated_ns + p.repeated_ns, "seed {seed}: {c:?}");
        assert_eq!(seen, [e.suspends, p.suspends], "seed {seed}: {c:?}");
        assert!(
            e.resumes_cancelled >= cancelled[0] && p.resumes_cancelled >= cancelled[1],
            "seed {seed}: {c:?}"
        );
        if case.config.ftl.gc.copy == CopyMode::Controller {
            assert_eq!(overhead, [e.overhead_ns, p.overhead_ns], "seed {seed}: {c:?}");
        }
        suspends[0] += e.suspends;
        suspends[1] += p.suspends;
    }
    assert!(suspends.iter().all(|&n| n > 1_000), "too few suspensions: {suspends:?}");
}

fn is_program(occupant: Occupant) -> bool {
    Occupants::PROGRAMS.has(occupant)
}

fn is_read(occupant: Occupant) -> bool {
    Occupants::READS.has(occupant)
}

#[test]
fn channel_time_and_operations_are_conserved() {
    for case in cases(100, 60) {
        let device = observed(&case);
        let seed = case.seed;
        let mut busy = [0; Occupant::COUNT];
        let mut granted = [0u64; Occupant::COUNT];
        let mut programs = 0;
        let (mut suspended, mut cached) = (BTreeSet::new(), BTreeSet::new());
        for e in device.observer() {
            let o = e.occupant as usize;
            match e.step {
                Step::Cached => {
                    granted[o] += 1;
                    cached.insert(e.op);
                }
                Step::Granted => {
                    granted[o] += u64::from(!cached.remove(&e.op));
                    suspended.remove(&e.op);
                }
                Step::Returned => {
                    granted[o] -= 1;
                    cached.remove(&e.op);
                }
                Step::Joined => {
                    granted[o] += 1;
                    programs += u64::from(is_program(e.occupant));
                }
                Step::Suspended => {
                    suspended.insert(e.op);
                }
                Step::Stopping | Step::Suspending | Step::Resuming | Step::Decode | Step::Ahead => {}
                Step::ChannelIn | Step::ChannelOut => busy[o] += (e.until - e.at).0,
                Step::Array if suspended.contains(&e.op) => {}
                Step::Array => {
                    programs += u64::from(is_program(e.occupant));
                }
            }
        }
        assert_eq!(busy, device.channel_busy(), "seed {seed}: channel time by occupant");
        let c = device.counters();
        let luns = u64::from(device.shape().layout.luns * device.shape().erases_per_die());
        // A unit that is rebuilt is not read itself.
        // Where reads can fail, some are read and then rebuilt.
        let can_fail = device.shape().faults.is_some();
        let reads = (c.flash_reads + c.rebuild_reads).wrapping_sub(c.rebuilt_units);
        assert!(
            can_fail || granted[Occupant::UserRead as usize] == reads,
            "seed {seed}: {reads} user reads, {granted:?}"
        );
        let whole = case.config.ftl.gc.program_planes == case.config.ftl.write_planes;
        // Collections that take no time use no die.
        let timed = case.config.policy.gc_schedule.name() != "instant";
        assert!(!whole || !timed || programs == c.rows_programmed, "seed {seed}: programs");
        let reads = c.rmw_reads + c.parity_reads + c.wear_reads;
        // Reads whose data cannot be decoded get their die again.
        let retries = device.shape().senses.is_some();
        let of_rmw = granted[Occupant::RmwRead as usize];
        assert!(of_rmw == reads || retries && of_rmw > reads, "seed {seed}: {of_rmw} of {reads} RMW reads");
        // A copyback that is to be repeated may find no row.
        let of_gc = granted[Occupant::GcRead as usize];
        assert!(
            of_gc == c.gc_reads || can_fail && of_gc < c.gc_reads || retries && of_gc > c.gc_reads,
            "seed {seed}: {of_gc} of {} GC reads",
            c.gc_reads
        );
        let of_folds = granted[Occupant::FoldRead as usize];
        assert_eq!(of_folds, c.fold_reads, "seed {seed}: fold reads");
        let erases = if timed { (c.erases + c.slc_erases) * luns } else { 0 };
        // Bad blocks and those in holes are not erased.
        let of_erases = granted[Occupant::Erase as usize];
        // An erase in two parts is one operation or two, of which the second may be deferred.
        let defers = device.shape().eraser.as_ref().is_some_and(|e| e.defers_last_loop());
        let deferred = device.last_loops().0.count() as u64 * luns;
        let in_parts = defers && of_erases + deferred >= erases && of_erases <= 2 * erases;
        assert!(
            of_erases == erases
                || in_parts
                || (can_fail || device.shape().holes.is_some()) && of_erases < erases,
            "seed {seed}: {of_erases} of {erases} erases"
        );
    }
}

#[test]
fn pages_of_a_block_are_programmed_in_order() {
    let mut tried = 0;
    for case in cases(200, 400) {
        // Where a unit has one open block for host data and one for collection, the pages of
        // each must be programmed in order.
        let one_lane_a_unit = case.config.ftl.extent != ExtentKind::Block
            || case.config.geometry.busy_unit == BusyKind::Plane
            || case.config.geometry.planes == 1;
        let whole = case.config.ftl.gc.program_planes == case.config.ftl.write_planes;
        let one_lane_a_unit = one_lane_a_unit && whole;
        // Programs that take no time are not observed and leave gaps.
        let instant = case.config.policy.gc_schedule.name() == "instant";
        // An extent is left early where a program has failed.
        let can_fail = Shape::new(&case.config, case.seed).expect("a drawn drive is valid").faults.is_some();
        if !one_lane_a_unit || instant || can_fail || tried == 60 {
            continue;
        }
        tried += 1;
        let device = observed(&case);
        let pages = case.config.geometry.pages;
        let in_slc = pages / case.config.timing.read.len() as u32;
        let mut last: BTreeMap<(BusyUnit, bool, bool), u32> = BTreeMap::new();
        let programs = |e: &&StepEvent| e.step == Step::Array && is_program(e.occupant);
        for e in device.observer().iter().filter(programs) {
            // The pages of blocks in SLC mode have numbers of their own.
            let slc = e.page >= pages && case.config.slc.is_some();
            let (page, count) = if slc { (e.page - pages, in_slc) } else { (e.page, pages) };
            assert!(page < count, "seed {}: {e:?}", case.seed);
            let moved = Occupants::COLLECTION.has(e.occupant);
            if let Some(before) = last.insert((e.unit, moved, slc), page) {
                let next = page == before || page == before + 1 || (before == count - 1 && page == 0);
                assert!(next, "seed {}: page {page} after {before}: {e:?}", case.seed);
            }
        }
    }
    assert_eq!(tried, 60);
}

#[test]
fn the_same_inputs_give_the_same_digest_on_any_thread() {
    let digests = || -> Vec<_> { cases(700, 40).map(|case| swarm::run(&case)).collect() };
    let here = digests();
    let there = std::thread::scope(|scope| {
        let (a, b) = (scope.spawn(digests), scope.spawn(digests));
        (a.join().expect("it ran"), b.join().expect("it ran"))
    });
    assert_eq!(here, there.0);
    assert_eq!(here, there.1);
    let distinct: std::collections::BTreeSet<_> = here.iter().flatten().map(|o| o.digest).collect();
    assert!(distinct.len() > 35, "digests tell runs apart: {} of 40", distinct.len());
}

/// Run a fixed mixed load with arrivals known in advance. The caller advances the device to
/// every deadline, or only at every `lazy`th arrival.
fn late_digest(start: u64, lazy: Option<u64>) -> (u64, u64) {
    let mut config = small_drive();
    config.host.queue_depth = 4_096;
    let mut host = Host::new(&config);
    host.device.fill(host.device.host_bytes());
    let units = host.device.host_bytes() / 4096;
    let mut s = Stream::new(4, "late", 0);
    let mut at = start;
    for i in 0..3_000u64 {
        at += s.below(400_000);
        if lazy.is_none_or(|n| i % n == 0) {
            while host.device.next_deadline().0 <= at {
                let due = host.device.next_deadline().0;
                host.advance(due);
            }
        }
        let op = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Trim][s.below(4) as usize];
        host.submit(at, op, s.below(units) * 4096, 4096);
    }
    let erases = host.device.counters().erases;
    if lazy.is_some() {
        host.advance(at + 100_000_000_000);
    }
    host.drain();
    let digest =
        host.done.iter().fold(0, |d, c| mix(d ^ mix(c.index) ^ mix(c.latency) ^ mix(c.at.0 - start)));
    (digest, erases)
}

#[test]
fn a_late_caller_does_not_bend_the_model_and_time_has_no_origin() {
    let (prompt, erases) = late_digest(0, None);
    assert!(erases > 10, "the load collects: {erases} erases");
    assert_eq!(prompt, late_digest(0, Some(7)).0, "a caller that sometimes advances late");
    assert_eq!(prompt, late_digest(0, Some(u64::MAX)).0, "a caller that advances only at submissions");
    assert_eq!(prompt, late_digest(1 << 50, None).0, "the same work thirteen days later");
}

#[test]
fn the_capacity_adds_up() {
    for case in cases(0, 500) {
        let shape = Shape::new(&case.config, case.seed).expect("a drawn drive is valid");
        let (c, g) = (&shape.capacity, &case.config.geometry);
        let blocks = u64::from(g.channels * g.chips_per_channel * g.dies_per_chip * g.planes * g.blocks);
        let raw = blocks * u64::from(g.pages) * g.page;
        assert_eq!(c.raw, raw, "seed {}", case.seed);
        assert_eq!(c.raw, c.bad + c.slc + c.user + c.parity + c.spare, "seed {}: {c:?}", case.seed);
        assert!(c.reserved <= c.spare, "seed {}: {c:?}", case.seed);
        let some_bad = g.bad_blocks > 0.0 || case.config.fault.iter().any(|f| f.kind == FaultKind::Bad);
        assert!(some_bad || c.bad == 0, "seed {}: {c:?}", case.seed);
        let host = shape.host_bytes();
        assert!(host <= c.user && c.user - host < case.config.ftl.mapping_unit, "seed {}: {c:?}", case.seed);
        let extents: u64 = shape.layout.usable.iter().map(|&n| u64::from(n)).sum();
        let holes = shape.holes.as_ref().map_or(0, |h| h.units().iter().map(|&n| u64::from(n)).sum());
        let good = extents * u64::from(shape.layout.units_per_extent) - holes;
        let good = good * shape.layout.unit_bytes;
        assert_eq!(c.raw - c.bad - c.slc, good, "seed {}: {c:?}", case.seed);
    }
}

#[test]
fn write_back_completions_keep_the_order_of_submission() {
    // The swarm's oracle checks this order for every seed. This is the most demanding case: a
    // buffer of one write unit, writes larger than the buffer, and reads and TRIMs between
    // them.
    let mut case = swarm::draw(0);
    case.config = small_drive();
    if let tailcut_core::policy::buffer::BufferConfig::Lru(c) = &mut case.config.policy.buffer {
        c.capacity = 16 << 10;
    }
    case.plan.commands = 2_000;
    case.plan.fill = 256;
    case.plan.weights = [4, 8, 2, 1];
    (case.plan.grain, case.plan.largest) = (512, 128 << 10);
    (case.plan.gap, case.plan.pause, case.plan.astray) = (0, 0, 0);
    let outcome = swarm::run(&case).unwrap_or_else(|e| panic!("{e}"));
    assert!(outcome.erases > 0 && SimTime(outcome.digest) != SimTime::ZERO);
}

#[test]
fn a_collection_that_yields_goes_on_when_space_runs_out() {
    // Reads keep the only die busy without a gap, so that a preemptive collection proceeds only
    // at the hard threshold. There it must proceed, or the writes never end.
    let mut config = small_drive();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.policy.buffer = swarm::member("none");
    config.policy.flush = swarm::member("immediate");
    config.policy.gc_schedule = swarm::member("preemptive");
    let mut host = Host::new(&config);
    let bytes = host.device.host_bytes();
    host.device.fill(bytes);
    host.device.age_uniform(0..bytes, 4096, &mut |_| true);
    let mut s = Stream::new(6, "yield", 0);
    // Start a collection while the host is nearly idle; the reads arrive in the middle of the
    // collection.
    while host.device.gauges().collecting == 0 {
        let at = host.done.last().map_or(0, |d| d.at.0);
        let index = host.submit(at, HostOp::Write, s.below(bytes / 4096) * 4096, 4096);
        while host.done.last().is_none_or(|d| d.index < index) {
            host.advance(host.device.next_deadline().0);
        }
    }
    let (mut at, mut reads, mut writes) = (host.done.last().map_or(0, |d| d.at.0), 0u64, 0u64);
    let (mut reading, mut writing, mut seen) = (0, 0, host.done.len());
    while writes < 2_000 {
        assert!(reads < 400_000, "{writes} writes ended beside {reads} reads: {:?}", host.device.counters());
        while reading < 8 {
            host.submit(at, HostOp::Read, s.below(bytes / 4096) * 4096, 4096);
            reading += 1;
        }
        if writing == 0 {
            host.submit(at, HostOp::Write, s.below(bytes / 4096) * 4096, 4096);
            writing = 1;
        }
        at = host.device.next_deadline().0;
        host.advance(at);
        for done in &host.done[seen..] {
            match done.command.op {
                HostOp::Read => (reading, reads) = (reading - 1, reads + 1),
                _ => (writing, writes) = (0, writes + 1),
            }
        }
        seen = host.done.len();
    }
}
