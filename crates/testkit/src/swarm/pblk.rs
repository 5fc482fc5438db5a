//! Random drives under pblk and random work on them, from a seed.

use super::draw::{between, chance, one_of, read_by_plane};
use super::draw_flash::{draw_erases, draw_errors, draw_faults, draw_suspension};
use super::interventions::{Interventions, done, draw_prepared};
use crate::bytes::Bytes;
use crate::replay::{Reached, Replay};
use crate::small_drive;
use std::collections::BTreeMap;
use tailcut_core::address::Lpn;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::figures::Until;
use tailcut_core::ftl::config::FtlKind;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::intervention::Intervention;
use tailcut_core::medium::{InMemory, Medium, NoData};
use tailcut_core::nand::config::ChannelOrder;
use tailcut_core::pblk::config::{Kernel, SplitBy};
use tailcut_core::pblk::lines::State as LineState;
use tailcut_core::pblk::{Pblk, Shape};
use tailcut_core::policy::write_gate::{Covered, WriteGateConfig, stride};
use tailcut_units::random::mix;
use tailcut_units::{Command, HostOp, SimTime, Span, Status, Stream};

/// Bytes of a sector.
const SECTOR: u64 = 4096;
/// Events without a completion after which a run counts as stuck.
const MOST_SILENT: u64 = 1_000_000;
/// The same where pages have raw bit errors: on a worn drive with strides each read of collection is sensed many times,
/// and so are those from which it is computed.
const MOST_SILENT_WITH_ERRORS: u64 = 20_000_000;

/// The drive of a seed.
pub fn draw(seed: u64) -> DeviceConfig {
    let mut s = Stream::new(seed, "swarm pblk", 0);
    let mut strides = Stream::new(seed, "swarm pblk strides", 0);
    let mut planes = Stream::new(seed, "swarm pblk planes", 0);
    loop {
        let mut c = small_drive();
        c.ftl.kind = FtlKind::Pblk;
        let g = &mut c.geometry;
        g.channels = one_of(&mut s, &[1, 2, 3, 4]);
        g.dies_per_chip = one_of(&mut s, &[1, 2, 3]);
        g.planes = one_of(&mut s, &[1, 2, 4]);
        g.blocks = between(&mut s, 16, 64) as u32;
        g.pages = between(&mut s, 8, 40) as u32;
        g.page = one_of(&mut s, &[4096, 8192, 16_384]);
        if chance(&mut s, 3) {
            g.bad_blocks = 0.03;
        }
        if chance(&mut s, 2) {
            c.timing.read.truncate(1);
            c.timing.program.pulses.truncate(1);
        }
        c.ftl.over_provisioning = Some(between(&mut s, 20, 55) as f64 / 100.0);
        c.channel.order = one_of(&mut s, &ChannelOrder::ALL);
        c.host.queue_depth = one_of(&mut s, &[1, 4, 32]);
        c.host.max_transfer = one_of(&mut s, &[8 << 10, 64 << 10, 256 << 10]);
        let p = &mut c.pblk;
        p.kernel = one_of(&mut s, &[Kernel::V4_19, Kernel::V5_1, Kernel::V5_14]);
        p.ring = one_of(&mut s, &[None, Some(300), Some(2000)]);
        p.command = one_of(&mut s, &[None, Some(Span(0))]);
        p.read_sector = one_of(&mut s, &[None, Some(Span(1_300))]);
        p.write_sector = one_of(&mut s, &[None, Some(Span(2_100))]);
        p.erase_semaphore = chance(&mut s, 3);
        draw_suspension(&mut s, &mut c);
        if chance(&mut s, 3) {
            draw_erases(&mut s, &mut c);
        }
        if chance(&mut s, 4) && !draw_errors(&mut s, &mut c) {
            continue;
        }
        draw_faults(&mut Stream::new(seed, "swarm pblk faults", 0), &mut c, false);
        c.faults.rebuild_rate = None;
        draw_prepared(&mut Stream::new(seed, "swarm pblk interventions", 0), &mut c);
        draw_strides(&mut strides, &mut c);
        if chance(&mut planes, 3) {
            read_by_plane(&mut c);
        }
        if Shape::new(&c, seed).is_ok() && Pblk::new(&c, seed, ()).is_ok() {
            return c;
        }
    }
}

/// Give two drives of three strides, and most of them a gate.
fn draw_strides(s: &mut Stream, c: &mut DeviceConfig) {
    if chance(s, 3) {
        return;
    }
    c.geometry.channels = one_of(s, &[2, 4]);
    c.geometry.dies_per_chip = one_of(s, &[1, 2, 3]);
    c.pblk.kernel = one_of(s, &[Kernel::V5_1, Kernel::V5_14]);
    c.pblk.stride = Some(one_of(s, &[2, 3, 4]));
    let (all, collection) = (Covered::All, Covered::Collection);
    if !chance(s, 5) {
        let (covers, against) =
            one_of(s, &[(all, all), (all, all), (collection, all), (collection, collection)]);
        c.policy.write_gate = WriteGateConfig::Stride(stride::Config {
            covers,
            against,
            waits_for_reads: !chance(s, 3),
            marks_early: chance(s, 3),
            off_below: one_of(s, &[0, 0, 1_000]),
        });
        c.pblk.hot_cold = one_of(s, &[None, Some(SplitBy::Time), Some(SplitBy::Writes)]);
    }
    draw_second_parity(s, c);
}

/// Give one drive in two that has the LUNs for it two parities. On one of two of these, two LUNs of a stride die.
fn draw_second_parity(s: &mut Stream, c: &mut DeviceConfig) {
    let (channels, dies) = (c.geometry.channels, c.geometry.dies_per_chip);
    let luns = channels * dies;
    if luns < 4 || !chance(s, 2) {
        return;
    }
    let width = one_of(s, &[4, 5, 6]).min(luns);
    (c.pblk.stride, c.pblk.parities) = (Some(width), Some(2));
    if chance(s, 2) {
        let strides = luns / width;
        let stride = s.below(strides.into()) as u32;
        for _ in 0..2 {
            let position = stride + s.below(width.into()) as u32 * strides;
            let die = position % channels * dies + position / channels;
            let text = format!("die={die}@{}us", s.below(100_000));
            c.fault.push(text.parse().unwrap_or_else(|e| panic!("{e}")));
        }
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Digest over the commands in the order of their ends.
    pub digest: u64,
    /// Victims freed.
    pub collections: u64,
    /// Programs, erases and reads that have failed.
    pub failures: [u64; 3],
    /// Sectors that were computed from others, for reads and for collection, on a drive with two parities and with bytes.
    pub by_two_parities: [u64; 2],
    /// Faults that were injected, and keys that were changed, while it served commands.
    pub interventions: u64,
    /// Whether the drive became read-only.
    pub read_only: bool,
    /// What occurred.
    pub reached: Reached,
}

/// Run random commands on the drive of a seed. One drive in three holds bytes.
///
/// # Errors
/// The first law that is broken.
pub fn run(seed: u64) -> Result<Outcome, String> {
    match seed % 3 {
        0 => run_over(seed, InMemory::new()),
        _ => run_over(seed, NoData),
    }
}

/// Run random commands on the drive of a seed, over a medium.
///
/// # Errors
/// The first law that is broken.
pub fn run_over<M: Medium>(seed: u64, medium: M) -> Result<Outcome, String> {
    let config = draw(seed);
    let replay = Replay::new(&config, seed)?;
    let mut drive = Pblk::with_medium(&config, seed, replay, medium).map_err(|e| e.to_string())?;
    let mut s = Stream::new(seed, "work pblk", 0);
    let bytes = drive.host_bytes();
    let filled = bytes * between(&mut s, 0, 4) / 4;
    drive.fill(filled);
    let aged = filled >= 64 * SECTOR && chance(&mut s, 2);
    if aged {
        drive.overwrite_uniform(Until::Erases(between(&mut s, 1, 60)), &(0..filled), 4096, &mut |_| true);
    }
    drive.audit()?;
    let at_start = drive.counters().programs();
    let mut run = Run {
        drive,
        held: (0..(filled / SECTOR) as u32).map(|sector| (sector, true)).collect(),
        touches: BTreeMap::new(),
        under_way: BTreeMap::new(),
        bytes: M::HOLDS_DATA.then(|| Bytes::new(bytes, SECTOR, filled)),
        digest: 0,
        submitted: 0,
        silent: 0,
        interventions: 0,
    };
    let commands = between(&mut s, 200, 2_000);
    let gap = one_of(&mut s, &[0, 2_000, 30_000, 400_000]);
    let weights = one_of(&mut s, &[[4, 4, 1, 1], [1, 12, 0, 0], [8, 1, 1, 1], [1, 6, 6, 0]]);
    let all: u64 = weights.iter().sum();
    let mut injected = Stream::new(seed, "pblk interventions", 0);
    let interventions = Interventions::draw(&mut injected, &config, commands as u32);
    let mut at = 0;
    for i in 0..commands {
        at += s.below(gap + 1);
        if chance(&mut s, 400) {
            // Collection is not limited any more after five seconds without a write.
            at += 6_000_000_000;
        }
        for what in interventions.before(i as u32 + 1) {
            run.intervene(at, what)?;
            at = at.max(run.drive.now().0);
        }
        let mut kind = s.below(all);
        let mut op = HostOp::Read;
        for (weight, other) in
            weights.into_iter().zip([HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush])
        {
            if kind < weight {
                op = other;
                break;
            }
            kind -= weight;
        }
        let grain = if chance(&mut s, 8) { 512 } else { SECTOR };
        let most = (config.host.max_transfer / grain).min(bytes / grain / 2).min(if chance(&mut s, 4) {
            64
        } else {
            3
        });
        let length = (1 + s.below(most.max(1))) * grain;
        let offset = s.below((bytes - length) / grain + 1) * grain;
        let (offset, length) = if op == HostOp::Flush { (0, 0) } else { (offset, length as u32) };
        let offset = if chance(&mut s, 300) { bytes - 512 } else { offset };
        run.submit(at, Command { fua: chance(&mut s, 16), ..Command::new(op, offset, length) })?;
        at = at.max(run.drive.now().0);
        if i % 64 == 0 {
            run.drive.audit()?;
        }
        if i % 500 == 0 {
            run.drive.audit_parity()?;
        }
    }
    run.finish()?;
    run.drive.audit()?;
    run.check_content()?;
    let settled = match seed % 2 {
        0 => run.drive.settle(),
        _ => run.drive.shut_down(),
    };
    run.drive.audit()?;
    run.drive.audit_parity()?;
    run.check_content()?;
    if settled && seed % 2 == 1 {
        run.check_shut_down()?;
    }
    let c = run.drive.counters();
    let (collections, failures) = (c.collections, [c.program_failures, c.erase_failures, c.read_failures]);
    // Lines that failures took, or that cannot be collected, can be those that the last data need.
    if !settled && failures == [0; 3] {
        return Err(format!("the drive does not come to rest: {}", run.drive.describe_waiting()));
    }
    if settled {
        let programmed = c.rows_programmed * u64::from(run.drive.shape().array.write_unit);
        if programmed != c.programs() - at_start {
            return Err(format!(
                "{programmed} sectors were programmed, and {} counted",
                c.programs() - at_start
            ));
        }
    }
    let two = M::HOLDS_DATA && config.pblk.parities == Some(2);
    let by_two_parities = if two { [c.rebuilt_units, c.mended_units] } else { [0; 2] };
    let read_only = run.drive.read_only().is_some();
    let (digest, interventions) = (run.digest, run.interventions);
    let mut reached = run.drive.into_observer().reached;
    reached.keep_flash();
    Ok(Outcome { digest, collections, failures, by_two_parities, interventions, read_only, reached })
}

/// A run under way.
struct Run<M: Medium> {
    drive: Pblk<Replay, M>,
    /// By sector: whether it holds data; absent if commands that overlapped in time leave it open.
    held: BTreeMap<u32, bool>,
    /// By sector: commands under way that change it.
    touches: BTreeMap<u32, u32>,
    under_way: BTreeMap<u64, Command>,
    /// What each byte may be, if the medium holds data.
    bytes: Option<Bytes>,
    digest: u64,
    submitted: u64,
    silent: u64,
    interventions: u64,
}

/// The sectors that a command changes: a trim only those that it covers.
fn changes(c: &Command) -> std::ops::Range<u32> {
    let end = c.offset + u64::from(c.bytes);
    match c.op {
        HostOp::Write => (c.offset / SECTOR) as u32..end.div_ceil(SECTOR) as u32,
        HostOp::Trim => {
            (c.offset.div_ceil(SECTOR)) as u32..((end / SECTOR) as u32).max(c.offset.div_ceil(SECTOR) as u32)
        }
        HostOp::Read | HostOp::Flush => 0..0,
    }
}

impl<M: Medium> Run<M> {
    fn submit(&mut self, at: u64, command: Command) -> Result<(), String> {
        self.until(at)?;
        while !self.drive.has_place() {
            self.step()?;
        }
        let now = self.drive.now().0.max(at);
        self.until(now)?;
        let data = self.bytes.as_mut().map(|b| b.submit(self.submitted, &command)).unwrap_or_default();
        let (now, wanted) = (SimTime(now), SimTime(at.min(now)));
        let index = self.drive.submit_write(now, wanted, command, 7, &data).map_err(|e| e.to_string())?;
        if index != self.submitted {
            return Err(format!("submission {} got number {index}", self.submitted));
        }
        self.submitted += 1;
        self.under_way.insert(index, command);
        for sector in changes(&command) {
            let touches = self.touches.entry(sector).or_default();
            *touches += 1;
            // Two commands that overlap in time may take effect in either order.
            self.held.insert(sector, command.op == HostOp::Write && *touches == 1);
            if *touches > 1 {
                self.held.remove(&sector);
            }
        }
        Ok(())
    }

    fn intervene(&mut self, at: u64, what: &Intervention) -> Result<(), String> {
        self.until(at)?;
        let at = SimTime(self.drive.now().0.max(at));
        self.interventions += u64::from(done(what, self.drive.intervene(at, what))?);
        self.drive.audit()
    }

    fn until(&mut self, at: u64) -> Result<(), String> {
        while self.drive.next_deadline() <= SimTime(at) {
            self.step()?;
        }
        Ok(())
    }

    /// Let the drive do what is due next.
    fn step(&mut self) -> Result<(), String> {
        let due = self.drive.next_deadline();
        let most = match self.drive.shape().parts.senses {
            Some(_) => MOST_SILENT_WITH_ERRORS,
            None => MOST_SILENT,
        };
        if due == SimTime::NEVER || self.silent > most {
            return Err(format!("no progress: {}", self.drive.describe_waiting()));
        }
        let mut ended = Vec::new();
        let (bytes, mut of_bytes) = (&mut self.bytes, Ok(()));
        self.silent += self.drive.advance_to_completion(due, 1, &mut |c| {
            ended.push((c.index, c.arrived, c.completed, c.status, *c.ledger, c.tag));
            if let Some(bytes) = bytes.as_mut().filter(|_| of_bytes.is_ok()) {
                of_bytes = super::run::of_bytes(bytes, c);
            }
        });
        of_bytes?;
        if let Some(fault) = self.drive.medium().faults().first() {
            return Err(format!("the medium: {fault}"));
        }
        for (index, arrived, completed, status, ledger, tag) in ended {
            self.silent = 0;
            let command = self.under_way.remove(&index).ok_or("a command ended twice")?;
            self.digest = mix(self.digest ^ mix(index) ^ mix(completed.0 * 4 + status as u64));
            if ledger.sum() != (completed - arrived).0 || tag != 7 {
                return Err(format!("command {index}: {} of {:?}", ledger.sum(), completed - arrived));
            }
            let end = command.offset + u64::from(command.bytes);
            let inside = command.op == HostOp::Flush || command.bytes > 0 && end <= self.drive.host_bytes();
            let right = match status {
                Status::Ok => inside,
                Status::OutOfRange => !inside,
                Status::MediaError => command.op == HostOp::Read && self.drive.shape().faults.is_some(),
                Status::ReadOnly => {
                    self.drive.read_only().is_some() && matches!(command.op, HostOp::Write | HostOp::Flush)
                }
            };
            if !right {
                return Err(format!("command {index} ({command:?}) ended with {status:?}"));
            }
            for sector in changes(&command) {
                *self.touches.get_mut(&sector).expect("it was touched") -= 1;
                if status != Status::Ok {
                    self.held.remove(&sector);
                }
            }
            self.drive.observer_mut().ended(index, &ledger)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        while self.drive.outstanding() > 0 {
            self.step()?;
        }
        if self.under_way.is_empty() { Ok(()) } else { Err(format!("lost: {:?}", self.under_way)) }
    }

    /// All data are on flash, and the line that took them is closed.
    fn check_shut_down(&self) -> Result<(), String> {
        let in_ring = |&sector: &u32| matches!(self.drive.whereabouts(Lpn(sector)), Mapping::Buffer(_));
        let sectors = (self.drive.host_bytes() / SECTOR) as u32;
        if let Some(sector) = (0..sectors).find(in_ring) {
            return Err(format!("sector {sector} is in the ring of a drive that was shut down"));
        }
        let lines = self.drive.lines();
        let open = (0..lines.count()).filter(|&line| lines.line(line).state == LineState::Open);
        // The next line of each kind, if there is one.
        let next = 1 + usize::from(lines.split().is_some());
        match open.count() {
            open if open <= next => Ok(()),
            open => Err(format!("{open} lines are open on a drive that was shut down")),
        }
    }

    /// Each sector holds data or not, as the commands say.
    fn check_content(&self) -> Result<(), String> {
        for (&sector, &held) in &self.held {
            let mapped = self.drive.whereabouts(Lpn(sector)) != Mapping::Unmapped;
            if mapped != held && !self.drive.has_lost_data(Lpn(sector)) {
                return Err(format!("sector {sector}: mapped is {mapped}, not {held}"));
            }
        }
        Ok(())
    }
}
