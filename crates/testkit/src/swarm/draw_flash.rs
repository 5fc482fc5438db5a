//! Random draws of what the flash does: suspension, erases, raw bit errors, faults, and the past of blocks.

use super::draw::{between, chance, member, one_of};
use crate::errors_table;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::CopyMode;
use tailcut_core::nand::blocks::AgeLaw;
use tailcut_core::nand::config::{GeometryConfig, ProgramErase, SuspendLimits, SuspendedData};
use tailcut_core::nand::erase::config::Reading;
use tailcut_core::nand::errors::config::{CODEWORD, DecodeUnit, ErrorModel, ErrorsConfig, RetryPlace};
use tailcut_core::nand::faults::config::FaultsConfig;
use tailcut_core::policy::background::{BackgroundConfig, refresh};
use tailcut_core::policy::erase_scheme::{EraseSchemeConfig, dpes};
use tailcut_core::policy::gc_schedule::GcScheduleConfig;
use tailcut_core::policy::read_retry::ReadRetryConfig;
use tailcut_core::policy::schedule::ScheduleConfig;
use tailcut_core::policy::suspend_erase::{SuspendEraseConfig, timeout::Clock};
use tailcut_core::policy::suspend_program::SuspendProgramConfig;
use tailcut_units::{Span, Stream};

/// Make two drives in three suspend programs or erases and draw the settings of suspension too.
/// In the others, programs and erases sometimes take the time of a read or none.
pub(super) fn draw_suspension(s: &mut Stream, c: &mut DeviceConfig) {
    let span = |s: &mut Stream, from: &[u64]| Span(one_of(s, from));
    if chance(s, 3) {
        let bounds = [ProgramErase::AsRead, ProgramErase::Zero];
        c.timing.program_erase = if chance(s, 3) { one_of(s, &bounds) } else { ProgramErase::Timed };
        return;
    }
    let p = &mut c.policy;
    let (erases, programs) = one_of(s, &[(true, false), (false, true), (true, true), (true, true)]);
    p.schedule =
        member(one_of(s, &["read-priority", "read-write-erase", "read-write-erase", "channel-reads"]));
    if let ScheduleConfig::ReadWriteErase(m) = &mut p.schedule {
        m.write_suspends_erase = !chance(s, 3);
    }
    if erases || p.schedule.name() == "channel-reads" {
        // Every other scope blocks reads until the erase has ended.
        p.gc_scope = member("operation");
    }
    if erases {
        p.suspend_erase = member(one_of(s, &SuspendEraseConfig::MEMBERS[1..]));
        if let SuspendEraseConfig::Timeout(m) = &mut p.suspend_erase {
            m.after = span(s, &[0, 300_000, 5_000_000, 64_000_000]);
            m.clock = one_of(s, &[Clock::Erase, Clock::OldestWrite]);
        }
    }
    if programs {
        p.suspend_program = member(one_of(s, &SuspendProgramConfig::MEMBERS[1..]));
    }
    let e = &mut c.timing.erase;
    (e.ramp_up, e.recovery) = (span(s, &[0, 1, 50_000]), span(s, &[0, 1, 30_000]));
    e.verify = span(s, &[0, 1, 20_000]);
    let e = &mut c.suspend.erase;
    (e.suspend, e.resume) = (span(s, &[0, 1, 25_000]), span(s, &[0, 15_000, 300_000]));
    e.verify = span(s, &[0, 11_000]);
    e.limits = draw_limits(s);
    let p = &mut c.suspend.program;
    (p.suspend, p.reload) = (span(s, &[0, 4_000]), span(s, &[0, 3_000, 100_000]));
    p.data = one_of(s, &[SuspendedData::Shadow, SuspendedData::Controller]);
    p.limits = draw_limits(s);
}

/// Let a scheme choose the pulses of erases, on one drive in three.
pub(super) fn draw_erases(s: &mut Stream, c: &mut DeviceConfig) {
    if !chance(s, 3) {
        return;
    }
    c.policy.erase_scheme = member(one_of(s, &EraseSchemeConfig::MEMBERS[1..]));
    c.age.pe_cycles = one_of(s, &[None, Some(1000), Some(9000), Some(1_000_000)]);
    let e = c.erase.as_mut().expect("the small drive has the table");
    e.noise = one_of(s, &[0, 250, 20_000]);
    e.misprediction = one_of(s, &[0.0, 0.5]);
    e.reading = one_of(s, &[Reading::Cycles, Reading::Stress]);
    e.stress_exponent = one_of(s, &[0.0, 1.5]);
    e.error_spread = one_of(s, &[0.0, 0.1]);
    e.cycles_per_erase = one_of(s, &[1, 1, 100, 10_000]);
    if chance(s, 4) {
        c.faults.worn = one_of(s, &[None, Some(21), Some(40)]);
        c.faults.correctable = one_of(s, &[None, Some(22), Some(45)]);
    }
    if let EraseSchemeConfig::Dpes(m) = &mut c.policy.erase_scheme {
        m.mode = if chance(s, 4) { dpes::Mode::Always } else { dpes::Mode::Slack };
        m.full_above = one_of(s, &[0.0, 0.2, 0.5]);
        m.longer_programs = one_of(s, &[0.0, 0.2, 1.0]);
    }
    if let EraseSchemeConfig::Aero(m) = &mut c.policy.erase_scheme {
        m.requirement = one_of(s, &[63, 63, 55, 50, 30]);
    }
    c.erase.as_mut().expect("the small drive has the table").over_erase_stress = one_of(s, &[1.0, 2.5]);
}

/// Defer the last loops of erases on half of the drives whose erases a scheme plans and nothing of which can fail.
pub(super) fn draw_deferral(s: &mut Stream, c: &mut DeviceConfig) {
    let defers = chance(s, 2);
    let planned = !matches!(c.policy.erase_scheme, EraseSchemeConfig::Fixed(_));
    let may_fail = c.errors.is_some() || c.faults != FaultsConfig::default() || !c.fault.is_empty();
    if planned && !may_fail {
        c.erase.as_mut().expect("the small drive has the table").defer_last_loop = defers;
    }
}

/// Let pages have raw bit errors. False for drives whose units are not whole codewords of the code.
pub(super) fn draw_errors(s: &mut Stream, c: &mut DeviceConfig) -> bool {
    let whole = |bytes: u64| bytes.is_multiple_of(CODEWORD);
    let fits = whole(c.ftl.mapping_unit) && whole(c.geometry.page) && c.ftl.gc.copy == CopyMode::Controller;
    if !fits {
        return false;
    }
    c.ecc.codeword = CODEWORD;
    let mut errors = errors_table();
    errors.model = one_of(s, &[ErrorModel::Fitted, ErrorModel::PowerLaw, ErrorModel::ThresholdVoltage]);
    errors.iteration = Span(one_of(s, &[0, 1_000, 7_000]));
    // Draws of their own, so that those that follow stay as they are.
    let mut own = Stream::new(s.clone().next_u64(), "swarm errors", 0);
    draw_decoder_and_shifts(&mut own, &mut errors);
    c.errors = Some(errors);
    let day = 86_400_000_000_000;
    let days = |n: u64| Some(Span(n * day));
    c.age.pe_cycles = c.age.pe_cycles.or(one_of(s, &[None, Some(1000), Some(2000)]));
    c.age.retention = one_of(s, &[None, days(17), days(30), days(300)]);
    c.age.retention_from = if c.age.retention.is_some() { one_of(s, &[None, Some(Span(0))]) } else { None };
    if c.age.retention_from.is_some() && chance(&mut own, 2) {
        (c.age.law, c.age.retention_from) = (Some(AgeLaw::LogUniform), Some(Span(day / 4)));
    }
    c.policy.read_retry = member(one_of(s, ReadRetryConfig::MEMBERS));
    c.ecc.engines = one_of(s, &[None, None, Some(2), Some(5)]);
    match &mut c.policy.read_retry {
        ReadRetryConfig::Sentinel(m) => m.extra_read = chance(s, 2),
        ReadRetryConfig::SwiftReadPlus(m) => m.group = one_of(s, &[1, 3, 65_536]),
        ReadRetryConfig::Rif(m) => m.overlap = chance(s, 2),
        _ => {}
    }
    draw_walk(&mut s.clone(), c);
    let instant = matches!(c.policy.gc_schedule, GcScheduleConfig::Instant(_));
    if chance(s, 2) && !instant {
        c.policy.background = BackgroundConfig::Refresh(refresh::Config {
            after: Span(one_of(s, &[1, 17 * 24, 100 * 24]) * 3_600_000_000_000),
            pause: Span(one_of(s, &[10_000, 1_000_000, 30_000_000])),
        });
    }
    true
}

/// Draw how long the decoder takes, where reads wait that are sensed again, and how far optima of V_REF differ.
fn draw_decoder_and_shifts(s: &mut Stream, errors: &mut ErrorsConfig) {
    errors.decode_unit = one_of(s, &[DecodeUnit::Codeword, DecodeUnit::Page]);
    errors.retry_place = one_of(s, &[RetryPlace::Back, RetryPlace::Front]);
    if chance(s, 3) {
        errors.decode_times = [0, 1_000, 20_000].map(Span).into();
    }
    errors.shift_block_spread = one_of(s, &[0.0, 0.2]);
    errors.shift_layer_spread = one_of(s, &[0.0, 0.2]);
    errors.shift_boundary_spread = one_of(s, &[0.0, 0.2, 1.0]);
}

/// Walks have options of their own, and old data that need several senses. One drive with raw bit errors in three
/// has a walk.
fn draw_walk(s: &mut Stream, c: &mut DeviceConfig) {
    if chance(s, 3) {
        c.policy.read_retry = member("walk");
    }
    let ReadRetryConfig::Walk(m) = &mut c.policy.read_retry else { return };
    m.stride = one_of(s, &[0.25, 1.0, 3.0]);
    (m.pipelined, m.drop) = (!chance(s, 4), Span(one_of(s, &[0, 5_000, 300_000])));
    m.shorter = one_of(s, &[0.0, 0.25, 0.9]);
    let days = one_of(s, &[17, 30, 100]);
    c.age.retention = c.age.retention.or(Some(Span(days * 86_400_000_000_000)));
}

fn draw_limits(s: &mut Stream) -> SuspendLimits {
    let time =
        |s: &mut Stream| one_of(s, &[None, None, Some(Span(0)), Some(Span(40_000)), Some(Span(900_000))]);
    SuspendLimits {
        most: one_of(s, &[None, None, Some(0), Some(1), Some(3)]),
        spacing: time(s),
        least_left: time(s),
    }
}

/// One drive in three, or every drive, has faults: some kinds at random, and some at exact places.
pub(super) fn draw_faults(s: &mut Stream, c: &mut DeviceConfig, always: bool) {
    if !chance(s, 3) && !always {
        return;
    }
    let rate = |s: &mut Stream| one_of(s, &[None, None, Some(0.001), Some(0.02), Some(0.1)]);
    c.faults.program = rate(s);
    c.faults.erase = rate(s);
    c.faults.read = rate(s);
    c.faults.page = rate(s);
    c.faults.rebuild_rate = one_of(s, &[None, None, Some(10_000_000)]);
    let channels = u64::from(c.geometry.channels);
    for _ in 0..one_of(s, &[0, 1, 1, 3, 12]) {
        let [die, plane, block, page] = draw_page(s, &c.geometry);
        let text = match s.below(9) {
            0 | 1 => format!("program={die}.{plane}.{block}.{page},cycle={}", s.below(3)),
            2 | 3 => format!("erase={die}.{plane}.{block},cycle={}", s.below(3)),
            4 => format!("page={die}.{plane}.{block}.{page},reads={}", s.below(9)),
            5 => format!("page={die}.{plane}.{block}.{page},once@{}us", s.below(20_000)),
            6 => format!("plane={die}.{plane}@{}us", s.below(100_000)),
            7 if chance(s, 2) => format!("die={die}@{}us", s.below(100_000)),
            7 if chance(s, 4) => format!("channel={}@{}us", s.below(channels), s.below(100_000)),
            _ => format!("bad={die}.{plane}.{block}"),
        };
        c.fault.push(text.parse().unwrap_or_else(|e| panic!("{e}")));
    }
}

/// Draw a page: its die, plane, block, and number in the block.
pub(super) fn draw_page(s: &mut Stream, g: &GeometryConfig) -> [u64; 4] {
    [g.dies(), g.planes, g.blocks, g.pages].map(|n| s.below(u64::from(n)))
}

/// Give a past to the blocks of a drive with faults, pages that cannot be read when their data are old, and
/// programs and erases that fail from a time on.
pub(super) fn draw_past(s: &mut Stream, c: &mut DeviceConfig) {
    if c.faults == FaultsConfig::default() && c.fault.is_empty() {
        return;
    }
    c.age.reads = Some(s.below(12) as u32);
    c.age.retention = Some(Span(s.below(10_000_000)));
    for _ in 0..between(s, 1, 6) {
        let [die, plane, block, page] = draw_page(s, &c.geometry);
        let older = one_of(s, &[0, 100, 3_000, 12_000]);
        let text = format!("page={die}.{plane}.{block}.{page},older={older}us");
        c.fault.push(text.parse().unwrap_or_else(|e| panic!("{e}")));
    }
    for _ in 0..between(s, 1, 6) {
        let [die, plane, block, page] = draw_page(s, &c.geometry);
        let (at, cycle) = (s.below(50_000), s.below(3));
        let text = match chance(s, 2) {
            true => format!("program={die}.{plane}.{block}.{page},cycle={cycle}@{at}us"),
            false => format!("erase={die}.{plane}.{block},cycle={cycle}@{at}us"),
        };
        c.fault.push(text.parse().unwrap_or_else(|e| panic!("{e}")));
    }
    let few = |s: &mut Stream| one_of(s, &[None, None, Some(0.02), Some(0.2)]);
    (c.faults.plane, c.faults.die, c.faults.channel) = (few(s), few(s), few(s));
    c.faults.within = Some(Span(s.below(100_000_000)));
    c.faults.page_reads = c.faults.page.and(one_of(s, &[None, Some(0), Some(20)]));
}
