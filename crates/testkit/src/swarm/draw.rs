//! Random drives and random workloads, from a seed.

use super::draw_flash::{draw_deferral, draw_erases, draw_errors, draw_faults, draw_past, draw_suspension};
use super::interventions::{Interventions, draw_prepared};
use crate::small_drive;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::{Deserialize, de::IntoDeserializer};
use tailcut_core::device::Shape;
use tailcut_core::device::config::{DeviceConfig, Transfer};
use tailcut_core::ftl::config::{BadBlocks, CopyMode, ExtentKind};
use tailcut_core::nand::config::{BusyKind, ChannelOrder, LeastLeftOf, PlaneReading, ServedAfterLoop};
use tailcut_core::nand::faults::config::{FaultKind, FaultsConfig};
use tailcut_core::nand::slc::SlcConfig;
use tailcut_core::policy::background::{BackgroundConfig, scrub};
use tailcut_core::policy::buffer::{BufferConfig, QueueLimit, QueueOf, lru::PowerLoss};
use tailcut_core::policy::flush::FlushConfig;
use tailcut_core::policy::gc_schedule::GcScheduleConfig;
use tailcut_core::policy::gc_schedule::preemptive::States;
use tailcut_core::policy::gc_schedule::rotating::{self, Mode};
use tailcut_core::policy::gc_schedule::{threshold, tokens};
use tailcut_core::policy::gc_scope::GcScopeConfig;
use tailcut_core::policy::gc_victim::GcVictimConfig;
use tailcut_core::policy::placement::PlacementConfig;
use tailcut_core::policy::read_path::ReadPathConfig;
use tailcut_core::policy::read_retry::ReadRetryConfig;
use tailcut_core::policy::redundancy::{RedundancyConfig, rain};
use tailcut_core::policy::schedule::ScheduleConfig;
use tailcut_core::policy::wear::{WearConfig, shift_migrate, static_threshold};
use tailcut_core::policy::{flush, gc_scope};
use tailcut_units::quantity::Level;
use tailcut_units::{Span, Stream};

/// A drive and its workload.
#[derive(Clone, Debug)]
pub struct Case {
    /// The seed from which the case was drawn.
    pub seed: u64,
    /// The drive.
    pub config: DeviceConfig,
    /// The workload.
    pub plan: Plan,
}

/// A random workload. A weight of 0 switches a kind of event off.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of commands.
    pub commands: u32,
    /// Share of the capacity filled before the first command, in 256ths.
    pub fill: u64,
    /// The drive is aged after the fill, by overwrites that take no simulated time.
    pub aged: bool,
    /// Weights of reads, writes, TRIMs and FLUSHes.
    pub weights: [u64; 4],
    /// One command in this many is out of range; 0 for none.
    pub astray: u64,
    /// Offsets and lengths are multiples of this many bytes.
    pub grain: u64,
    /// Largest length of a command, bytes.
    pub largest: u64,
    /// Size of the hot part of the address space, in 256ths of it; 0 for none.
    pub hot: u64,
    /// Longest ordinary gap between two commands, ns; 0 for one continuous burst.
    pub gap: u64,
    /// One command in this many comes after a long pause; 0 for none.
    pub pause: u64,
    /// Addresses increase and wrap instead of being random.
    pub sequential: bool,
    /// Device events between two audits.
    pub audit_every: u64,
    /// Number of the command before which a plane fails, if the drive tolerates it; 0 for none.
    pub fails: u32,
    /// What is done to the drive while it serves the commands.
    pub interventions: Interventions,
}

pub(super) fn one_of<T: Clone>(s: &mut Stream, from: &[T]) -> T {
    from[s.below(from.len() as u64) as usize].clone()
}

pub(super) fn chance(s: &mut Stream, one_in: u64) -> bool {
    s.below(one_in) == 0
}

pub(super) fn between(s: &mut Stream, low: u64, high: u64) -> u64 {
    low + s.below(high - low + 1)
}

/// A member by its name, with default parameters.
pub fn member<'de, T: Deserialize<'de>>(name: &'de str) -> T {
    let name: StrDeserializer<'de, ValueError> = name.into_deserializer();
    T::deserialize(name).unwrap_or_else(|e| panic!("a listed member can be read: {e}"))
}

/// Draw the case of a seed; the same seed always gives the same case.
pub fn draw(seed: u64) -> Case {
    draw_case(seed, false)
}

/// Draw the case of a seed with faults, which one case in three of [`draw`] has.
pub fn draw_with_faults(seed: u64) -> Case {
    draw_case(seed, true)
}

fn draw_case(seed: u64, always_faults: bool) -> Case {
    let mut s = Stream::new(seed, "swarm", 0);
    let mut suspension = Stream::new(seed, "swarm suspension", 0);
    let mut parity = Stream::new(seed, "swarm parity", 0);
    let mut wear = Stream::new(seed, "swarm wear", 0);
    let mut joins = Stream::new(seed, "swarm joins", 0);
    let mut faults = Stream::new(seed, "swarm faults", 0);
    let mut past = Stream::new(seed, "swarm past", 0);
    let mut holes = Stream::new(seed, "swarm holes", 0);
    let mut erases = Stream::new(seed, "swarm erases", 0);
    let mut errors = Stream::new(seed, "swarm errors", 0);
    let mut last_loop = Stream::new(seed, "swarm last loop", 0);
    let mut tokens = Stream::new(seed, "swarm tokens", 0);
    let mut least_left = Stream::new(seed, "swarm least left", 0);
    let mut deferral = Stream::new(seed, "swarm deferral", 0);
    let mut channels = Stream::new(seed, "swarm channels", 0);
    let mut planes = Stream::new(seed, "swarm planes", 0);
    let mut slc = Stream::new(seed, "swarm slc", 0);
    let mut caches = Stream::new(seed, "swarm caches", 0);
    let mut injected = Stream::new(seed, "swarm interventions", 0);
    loop {
        let mut config = draw_drive(&mut s);
        draw_policies(&mut s, &mut config);
        draw_suspension(&mut suspension, &mut config);
        draw_parity(&mut parity, &mut config);
        draw_wear(&mut wear, &mut config);
        draw_joins(&mut joins, &mut config);
        draw_faults(&mut faults, &mut config, always_faults);
        draw_prepared(&mut injected, &mut config);
        // Some seeds, by their number, of which some hold bytes: the others draw what they drew before this.
        if seed % 16 == 11 || seed % 32 == 16 {
            draw_past(&mut past, &mut config);
        }
        draw_erases(&mut erases, &mut config);
        config.suspend.erase.keep_last_loop = chance(&mut last_loop, 6);
        if chance(&mut least_left, 3) {
            config.suspend.erase.least_left_of = LeastLeftOf::Loop;
        }
        // Some seeds, by their number, of which some hold bytes: the others draw what they drew before this.
        if (seed % 16 == 12 || matches!(seed % 96, 0 | 72)) && !draw_errors(&mut errors, &mut config) {
            continue;
        }
        draw_deferral(&mut deferral, &mut config);
        draw_tokens(&mut tokens, &mut config);
        config.channel.order = one_of(&mut channels, &ChannelOrder::ALL);
        if chance(&mut planes, 3) {
            read_by_plane(&mut config);
        }
        if chance(&mut holes, 3) {
            config.ftl.bad_blocks = BadBlocks::Hole;
        }
        draw_slc(&mut slc, &mut config);
        // Where the register is, no program is suspended.
        if chance(&mut caches, 3) && config.policy.suspend_program.name() == "never" {
            config.geometry.cache_program = true;
        }
        if set_capacity(&mut s, &mut config, seed) {
            widen_gap(&mut config, seed);
            let mut plan = draw_plan(&mut s, &config);
            plan.interventions = Interventions::draw(&mut injected, &config, plan.commands);
            return Case { seed, config, plan };
        }
    }
}

fn draw_drive(s: &mut Stream) -> DeviceConfig {
    let mut c = small_drive();
    let g = &mut c.geometry;
    g.channels = one_of(s, &[1, 1, 2, 2, 3, 4]);
    g.chips_per_channel = one_of(s, &[1, 1, 1, 2, 3]);
    g.dies_per_chip = one_of(s, &[1, 1, 2]);
    g.planes = one_of(s, &[1, 2, 2, 3, 4, 6, 10]);
    g.blocks = between(s, 5, 24) as u32;
    g.pages = between(s, 1, 20) as u32;
    g.page = one_of(s, &[512, 1024, 1536, 4096, 8192, 16384]);
    g.bad_blocks = one_of(s, &[0.0, 0.0, 0.0, 0.05, 0.2]);
    g.busy_unit = one_of(s, &[BusyKind::Die, BusyKind::Die, BusyKind::Plane]);
    let (planes, page) = (g.planes, g.page);
    let types = between(s, 1, 4) as usize;
    let t = &mut c.timing;
    t.read = (0..types).map(|_| Span(between(s, 1, 90_000))).collect();
    let kinds = if chance(s, 2) { 1 } else { types };
    t.program.pulses = (0..kinds).map(|_| between(s, 1, 8) as u32).collect();
    t.program.pulse = Span(between(s, 0, 80_000));
    t.program.verify = Span(between(s, 0, 9_000));
    t.erase.loops = between(s, 1, 3) as u32;
    let pulses = between(s, 1, u64::from(t.erase.loops));
    t.erase.execution = (0..pulses).map(|_| Span(one_of(s, &[0, 20_000, 900_000, 4_000_000]))).collect();
    c.channel.rate = one_of(s, &[u64::MAX, 100_000_000, 800_000_000, 1_600_000_000]);
    c.channel.command = Span(one_of(s, &[0, 0, 300, 5_000]));
    c.ftl.extent = one_of(s, &[ExtentKind::Block, ExtentKind::Superblock, ExtentKind::Line]);
    let divisors: Vec<u32> = (1..=planes).filter(|d| planes.is_multiple_of(*d)).collect();
    c.ftl.write_planes = if c.ftl.extent == ExtentKind::Block { 1 } else { one_of(s, &divisors) };
    let wide = c.ftl.write_planes;
    let copies: Vec<u32> = (1..=wide).filter(|d| wide.is_multiple_of(*d)).collect();
    c.ftl.gc.copy_planes = one_of(s, &copies);
    c.ftl.gc.program_planes = if chance(s, 3) { one_of(s, &copies) } else { wide };
    c.ftl.gc.in_flight = one_of(s, &[1, 1, 2, 4, 16]);
    c.ftl.gc.copy = one_of(s, &[CopyMode::Controller, CopyMode::Controller, CopyMode::Copyback]);
    c.ftl.gc.erase_planes = if c.ftl.extent == ExtentKind::Block { 1 } else { planes };
    c.ftl.join_reads = planes > 1 && c.geometry.busy_unit == BusyKind::Die && chance(s, 3);
    let mut sizes: Vec<u64> = (1..=8).map(|n| page / n).filter(|u| page % u == 0).collect();
    sizes.extend((2..=u64::from(wide)).map(|n| page * n));
    sizes.retain(|u| u % 512 == 0);
    c.ftl.mapping_unit = if chance(s, 3) { page } else { one_of(s, &sizes) };
    let unit = c.ftl.mapping_unit;
    let codewords: Vec<u64> = [512, 1024, 2048, 4096, 1536]
        .into_iter()
        .filter(|&w| unit.is_multiple_of(w) && page.is_multiple_of(w))
        .collect();
    c.ecc.codeword = one_of(s, &codewords);
    c.ecc.decode = Span(one_of(s, &[0, 1_700, 20_000]));
    c.ecc.queue = one_of(s, &[1, 2, 4, 64]);
    c.host.queue_depth = one_of(s, &[1, 1, 2, 3, 8, 32, 100]);
    c.host.link_rate = one_of(s, &[u64::MAX, 3_200_000_000, 200_000_000]);
    c.host.write_link_rate = one_of(s, &[None, None, Some(u64::MAX), Some(150_000_000)]);
    c.host.transfer = one_of(s, &[Transfer::ByPage, Transfer::Whole]);
    c.host.submit_latency = Span(one_of(s, &[0, 900]));
    c.host.complete_latency = Span(one_of(s, &[0, 1_100]));
    c.host.max_transfer = unit * between(s, 1, 20) + one_of(s, &[0, 0, 512]);
    c.controller.command = Span(one_of(s, &[0, 500, 10_000]));
    c
}

fn draw_policies(s: &mut Stream, c: &mut DeviceConfig) {
    let row = u64::from(c.ftl.write_planes) * c.geometry.page;
    let p = &mut c.policy;
    p.schedule = member(one_of(s, ScheduleConfig::MEMBERS));
    p.placement = member(one_of(s, PlacementConfig::MEMBERS));
    if let PlacementConfig::Static(m) = &mut p.placement {
        m.order = one_of(s, &["CWDP", "PDWC", "WCPD", "DPCW"]).to_string();
    }
    if let PlacementConfig::Die(m) = &mut p.placement {
        m.order = one_of(s, &["CWD", "DWC"]).to_string();
    }
    // Drawn from a copy of the stream, so that older seeds keep their drives.
    if s.clone().below(4) == 0 {
        p.background = BackgroundConfig::Scrub(scrub::Config {
            idle: Span(s.clone().below(3) * 400_000),
            pause: Span(50_000 + s.clone().below(2) * 200_000),
        });
    }
    p.gc_victim = member(one_of(s, GcVictimConfig::MEMBERS));
    if let GcVictimConfig::DChoices(m) = &mut p.gc_victim {
        m.d = one_of(s, &[1, 2, 10]);
    }
    p.gc_scope = member(one_of(s, GcScopeConfig::MEMBERS));
    if p.schedule.name() == "channel-reads" {
        // A collection that blocks reads would wait for them.
        p.gc_scope = member("operation");
    }
    p.gc_schedule = member(one_of(s, &["threshold", "threshold", "preemptive", "preemptive", "instant"]));
    let hard = between(s, 1, 3) as u32;
    let start = hard + s.below(3) as u32;
    let (start, hard) = match chance(s, 4) {
        true => (Level::Share(300_000), Level::Share(100_000)),
        false => (Level::Count(start), Level::Count(hard)),
    };
    match &mut p.gc_schedule {
        GcScheduleConfig::Threshold(m) => (m.start, m.hard) = (start, hard),
        GcScheduleConfig::Preemptive(m) => {
            (m.start, m.hard) = (start, hard);
            // Drawn from a copy of the stream, so that older seeds keep their drives.
            let four = s.clone().below(2) == 0;
            m.states = if four { States::Four } else { States::Two };
            m.high_priority_writes = four && s.clone().below(3) == 0;
        }
        GcScheduleConfig::Instant(m) => m.start = start,
        GcScheduleConfig::Rotating(_) => unreachable!("drawn with parity only"),
        GcScheduleConfig::Tokens(_) => unreachable!("drawn from another stream"),
    }
    p.buffer = member(one_of(s, BufferConfig::MEMBERS));
    if let BufferConfig::Lru(m) = &mut p.buffer {
        m.capacity = row * one_of(s, &[1, 1, 2, 5, 40]) + one_of(s, &[0, 512]);
        m.power_loss = one_of(s, &[PowerLoss::Volatile, PowerLoss::Capacitor]);
    }
    p.flush = loop {
        let flush: FlushConfig = member(one_of(s, &["immediate", "watermark", "write-unit"]));
        if (flush.name() == "immediate") == (p.buffer.name() == "none") {
            break flush;
        }
    };
    if let FlushConfig::Watermark(m) = &mut p.flush {
        let high = s.below(101);
        let low = s.below(high + 1);
        (m.high, m.low) = (high as f64 / 100.0, low as f64 / 100.0);
    }
}

/// Give one drive in three parity and change the rest of the configuration to fit, then draw
/// most of the settings that go with parity.
fn draw_parity(s: &mut Stream, c: &mut DeviceConfig) {
    let (g, f) = (&mut c.geometry, &mut c.ftl);
    let divisors = |n: u32| (3..=n).filter(move |w| n.is_multiple_of(*w)).collect::<Vec<u32>>();
    if !chance(s, 3) {
        return;
    }
    g.channels = one_of(s, &[3, 4, 4, 6, 8]);
    g.chips_per_channel = one_of(s, &[1, 1, 2]);
    if f.extent == ExtentKind::Line {
        f.extent = if g.busy_unit == BusyKind::Plane { ExtentKind::Block } else { ExtentKind::Superblock };
    }
    f.write_planes = if f.extent == ExtentKind::Block { 1 } else { f.write_planes };
    f.mapping_unit = g.page * u64::from(f.write_planes);
    c.ecc.codeword = 512;
    c.host.max_transfer = f.mapping_unit * between(s, 1, 20) + one_of(s, &[0, 0, 512]);
    let p = &mut c.policy;
    p.redundancy = RedundancyConfig::Rain(rain::Config {
        width: one_of(s, &divisors(g.channels)),
        xor: Span(one_of(s, &[0, 3_000, 400_000])),
    });
    p.placement = member("static");
    p.read_path = member(one_of(s, ReadPathConfig::MEMBERS));
    if p.buffer.name() == "none" {
        p.buffer = member("lru");
        p.flush = member("watermark");
    }
    if let BufferConfig::Lru(m) = &mut p.buffer {
        m.capacity = f.mapping_unit * one_of(s, &[1, 2, 5, 40, 200]);
    }
    if p.flush.name() == "watermark" && chance(s, 2) {
        let high = s.below(101) as f64 / 100.0;
        p.flush = FlushConfig::GcTolerant(flush::gc_tolerant::Config { high, low: high / 2.0 });
    }
    if p.gc_scope.name() == "plane" && chance(s, 2) {
        p.gc_scope = GcScopeConfig::Plane(gc_scope::plane::Config { one_per_channel: true });
    }
    if chance(s, 2) {
        let stop = between(s, 1, 2) as u32;
        let hard = stop + s.below(3) as u32;
        p.gc_schedule = GcScheduleConfig::Rotating(rotating::Config {
            start: Level::Count(hard + s.below(3) as u32),
            hard: Level::Count(hard),
            stop: Level::Count(stop),
            mode: one_of(s, &[Mode::Yielding, Mode::Forced, Mode::Dynamic]),
            wait_for_channel_above: one_of(s, &[Level::Share(1_000_000), Level::Count(hard)]),
        });
    }
}

/// Draw what joins over planes, how many planes an erase covers, what leaves the buffer
/// together, how many buffered bytes may wait to leave for one die or lane, and what an erase
/// serves between loops.
fn draw_joins(s: &mut Stream, c: &mut DeviceConfig) {
    let (g, f) = (&c.geometry, &mut c.ftl);
    let blocks = f.extent == ExtentKind::Block;
    let by_plane = blocks && g.busy_unit == BusyKind::Plane;
    let widths = if by_plane { 1 } else { g.planes };
    let divisors: Vec<u32> = (1..=widths).filter(|d| widths.is_multiple_of(*d)).collect();
    let parity = c.policy.redundancy.name() != "none";
    f.gc.erase_planes = if chance(s, 2) { one_of(s, &divisors) } else { divisors[divisors.len() - 1] };
    if blocks && widths > 1 && f.gc.copy == CopyMode::Controller {
        f.gc.join_reads = chance(s, 2);
        f.join_programs = !parity && chance(s, 2);
    }
    let bound = c.policy.placement.name() != "dynamic" && !parity;
    let fixed = c.policy.placement.name() == "static";
    let unit = u64::from(f.write_planes) * g.page;
    if let BufferConfig::Lru(m) = &mut c.policy.buffer
        && bound
        && chance(s, 2)
    {
        let of = match (f.extent, fixed || !blocks) {
            (ExtentKind::Line, _) => QueueOf::Lane,
            (_, true) => one_of(s, &[QueueOf::Die, QueueOf::Lane]),
            (_, false) => QueueOf::Die,
        };
        m.queue_limit = Some(QueueLimit { of, bytes: unit * one_of(s, &[1, 1, 2, 7]) });
    }
    if bound && chance(s, 2) && c.policy.flush.name() == "watermark" {
        let most = s.below(101) as f64 / 100.0;
        c.policy.flush = FlushConfig::InFlight(flush::in_flight::Config { most });
    }
    c.suspend.erase.serve = one_of(s, &[ServedAfterLoop::Queued, ServedAfterLoop::All]);
}

/// Let stripes move on half of the drives with parity, some with the smallest possible gap, and level the
/// erases of a sixth of the other drives.
fn draw_wear(s: &mut Stream, c: &mut DeviceConfig) {
    let gap = one_of(s, &[0, 0, 1, 5, 50]);
    if chance(s, 2) && c.policy.redundancy.name() != "none" {
        // A gap must be at least one page.
        let pages = u64::from(c.geometry.blocks) * u64::from(c.geometry.pages);
        let slightest = 4_000_000 / pages.max(4);
        let gap = Level::Share((slightest as u32).max(gap * 10_000).min(1_000_000));
        c.policy.wear = WearConfig::ShiftMigrate(shift_migrate::Config { gap });
    } else if chance(s, 6) {
        let gap = one_of(s, &[1, 2, 5]);
        c.policy.wear = WearConfig::StaticThreshold(static_threshold::Config { gap });
    }
}

/// Raise the gap of wear levelling to a page if bad blocks have left lanes so few pages that it is less.
fn widen_gap(c: &mut DeviceConfig, seed: u64) {
    if !matches!(c.policy.wear, WearConfig::ShiftMigrate(_)) {
        return;
    }
    let x = Shape::new(c, seed).expect("the capacity was accepted").context;
    let pages = u64::from(x.extents_per_lane) * u64::from(x.units_per_extent / x.units_per_write);
    let page = 1_000_000u64.div_ceil(pages.max(1)) as u32;
    if let WearConfig::ShiftMigrate(shift_migrate::Config { gap: Level::Share(share) }) = &mut c.policy.wear {
        *share = page.max(*share);
    }
}

/// Let reads on different planes of a die run side by side, if dies have several planes. Reads then join nothing, and
/// begin no sense ahead.
pub(super) fn read_by_plane(c: &mut DeviceConfig) {
    if c.geometry.planes == 1 || c.geometry.busy_unit == BusyKind::Plane {
        return;
    }
    c.geometry.plane_reads = PlaneReading::Independent;
    (c.ftl.join_reads, c.ftl.gc.join_reads) = (false, false);
    if let ReadRetryConfig::Walk(walk) = &mut c.policy.read_retry {
        walk.pipelined = false;
    }
}

/// Let host writes pay tokens on a quarter of the drives with thresholds.
fn draw_tokens(s: &mut Stream, c: &mut DeviceConfig) {
    let most = one_of(s, &[1, 2, 2, 30]);
    if let GcScheduleConfig::Threshold(threshold::Config { start, hard, .. }) = c.policy.gc_schedule
        && chance(s, 4)
    {
        c.policy.gc_schedule = GcScheduleConfig::Tokens(tokens::Config { start, hard, most });
    }
}

/// Give an SLC region to half of the drives that can have one.
fn draw_slc(s: &mut Stream, c: &mut DeviceConfig) {
    let slc = SlcConfig {
        blocks: between(s, 1, 3) as u32,
        read: Span(between(s, 1, 30_000)),
        program: Span(one_of(s, &[0, 5_000, 150_000])),
        erase: Span(one_of(s, &[100_000, 3_000_000, 7_000_001])),
        fold_idle: Span(one_of(s, &[1_000_000, 1_000_000, 40_000_000])),
        fold_below: one_of(s, &[0.0, 0.5, 1.0, 1.0]),
    };
    let alone = c.faults == FaultsConfig::default() && c.fault.iter().all(|f| f.kind == FaultKind::Bad);
    let types = c.timing.read.len();
    let fits = types > 1 && c.geometry.pages as usize >= types && c.ftl.gc.copy == CopyMode::Controller;
    let rows = c.policy.redundancy.name() == "none" && c.ftl.bad_blocks == BadBlocks::Remap;
    if chance(s, 2) && alone && fits && rows {
        c.geometry.blocks += slc.blocks;
        c.slc = Some(slc);
    }
}

/// Largest number of mapping units of a drive in the swarm. On small drives collection starts
/// soon.
const MOST_UNITS: u64 = 20_000;

/// Set a host capacity, often the largest that is accepted. Returns false if none is accepted.
fn set_capacity(s: &mut Stream, c: &mut DeviceConfig, seed: u64) -> bool {
    let g = &c.geometry;
    let blocks = u64::from(g.channels * g.chips_per_channel * g.dies_per_chip * g.planes * g.blocks);
    let unit = c.ftl.mapping_unit;
    let raw = blocks * u64::from(g.pages) * g.page / unit;
    if !(16..=MOST_UNITS).contains(&raw) {
        return false;
    }
    // A drive with parity needs the capacity of at least one stripe.
    let least = match &c.policy.redundancy {
        RedundancyConfig::Rain(m) => u64::from(m.width - 1),
        RedundancyConfig::None(_) => 1,
    };
    c.ftl.over_provisioning = None;
    // Raw bit errors take time to prepare, and none of the capacity.
    let mut bare = c.clone();
    if bare.errors.take().is_some() {
        bare.policy.read_retry = member("none");
        bare.policy.background = member("none");
    }
    let accepted = |units: u64, c: &mut DeviceConfig| {
        c.ftl.user_capacity = Some(units * unit);
        Shape::new(c, seed).is_ok()
    };
    if !accepted(least, &mut bare) {
        return false;
    }
    let (mut good, mut bad) = (least, raw + 1);
    while bad - good > 1 {
        let middle = (good + bad) / 2;
        if accepted(middle, &mut bare) { good = middle } else { bad = middle }
    }
    let units = match s.below(4) {
        0 | 1 => good - s.below(good.min(4)),
        _ => good * between(s, 128, 255) / 256,
    };
    accepted(units.max(least), c)
}

fn draw_plan(s: &mut Stream, c: &DeviceConfig) -> Plan {
    let mut weights = [8, 8, 2, 1].map(|w| if chance(s, 4) { 0 } else { w });
    if weights[1] == 0 && !chance(s, 8) {
        weights[1] = one_of(s, &[2, 8, 40]);
    }
    if weights == [0; 4] {
        weights[0] = 1;
    }
    let unit = c.ftl.mapping_unit;
    Plan {
        commands: one_of(s, &[100, 400, 1_000, 2_500]),
        fill: one_of(s, &[0, 128, 256, 256, 256]),
        aged: chance(s, 4),
        weights,
        astray: one_of(s, &[0, 0, 0, 20]),
        grain: one_of(s, &[unit, unit, 512, 1]),
        largest: match s.below(3) {
            0 => unit,
            1 => c.host.max_transfer,
            _ => between(s, 1, c.host.max_transfer),
        },
        hot: one_of(s, &[0, 0, 1, 16, 64]),
        gap: one_of(s, &[0, 0, 1_000, 30_000, 2_000_000]),
        pause: one_of(s, &[0, 0, 50, 500]),
        sequential: chance(s, 5),
        audit_every: one_of(s, &[50, 200, 1_000]),
        fails: if chance(s, 3) { between(s, 1, 100) as u32 } else { 0 },
        interventions: Interventions::default(),
    }
}
