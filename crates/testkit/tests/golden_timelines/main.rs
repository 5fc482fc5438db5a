//! Tests the sequence of operations in small scenarios: which operation holds which die and
//! channel at what time.
//!
//! Each scenario is a short script on an idle drive. Its waveform, the exact times and the
//! causes of every command's latency are stored in a text file in `tests/golden`; `UPDATE=1`
//! rewrites the files.

mod collections;
mod faults;
mod parity;
mod queues;
mod retries;
mod suspension;

use std::fmt::Write;
use std::path::Path;
use tailcut_core::device::StepEvent;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::{BadBlocks, CopyMode, ExtentKind};
use tailcut_core::nand::config::{BusyKind, ChannelOrder, ServedAfterLoop};
use tailcut_core::nand::errors::config::{CODEWORD, ErrorsConfig};
use tailcut_core::nand::slc::SlcConfig;
use tailcut_core::policy::*;
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, operations, parity_drive, small_drive, waveform};
use tailcut_units::quantity::Level;
use tailcut_units::{HostOp, Span, Status};

use HostOp::{Read, Trim, Write as Put};

/// Start time of the script, ns; everything before is preparation.
const START: u64 = 1_000_000_000;
/// Mapping units of 8 KiB are whole pages.
const UNIT: u64 = 8192;
const DIES: u64 = 4;

/// Two channels of two dies of two planes, without a write buffer, behind a host interface that
/// takes no time. Units are striped over the dies: 0 and 2 are on the dies of channel 0, 1 and
/// 3 on those of channel 1. A row is two units of a die, `DIES` apart. A block has four pages
/// of two alternating types.
fn drive() -> DeviceConfig {
    let mut c = small_drive();
    (c.geometry.blocks, c.geometry.pages) = (12, 4);
    (c.host.submit_latency, c.host.complete_latency, c.host.link_rate) = (Span(0), Span(0), u64::MAX);
    c.controller.command = Span(0);
    (c.ftl.mapping_unit, c.ftl.over_provisioning) = (UNIT, Some(0.5));
    c.policy.buffer = buffer::BufferConfig::None(Default::default());
    c.policy.flush = flush::FlushConfig::Immediate(Default::default());
    c
}

/// The same drive with a collection threshold that is reached as soon as a die opens a block
/// beyond the two full ones.
fn hungry() -> DeviceConfig {
    let limits = gc_schedule::threshold::Config {
        start: Level::Count(10),
        hard: Level::Count(1),
        ..Default::default()
    };
    let mut c = drive();
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Threshold(limits);
    c
}

/// A command of a script: time (from `START`), operation, first unit, bytes.
type Line = (u64, HostOp, u64, u64);

/// Play a script and compare its waveform with the golden file of that name.
fn check(name: &str, question: &str, c: &DeviceConfig, before: &[Line], script: &[Line], column: u64) {
    let mut host = Host::observed(c, Vec::<StepEvent>::new());
    // Fill two blocks of every plane of the usual four dies.
    let stripes = host.device.shape().stripes.as_ref();
    let (data, all) = stripes.map_or((1, 1), |s| (u64::from(s.width - 1), u64::from(s.width)));
    host.device.fill(2 * 4 * 2 * DIES * UNIT * data / all);
    for &(at, op, unit, bytes) in before {
        host.submit(at, op, unit * UNIT, bytes as u32);
    }
    // Not until idle: a fault of the script may come later.
    host.advance(START - 1);
    assert_eq!(host.device.outstanding(), 0, "the preparation has ended");
    let prepared = host.done.len();
    host.device.observer_mut().clear();
    for &(at, op, unit, bytes) in script {
        host.submit(START + at, op, unit * UNIT, bytes as u32);
    }
    host.drain();
    let ops = operations(host.device.observer());
    let end = ops.iter().map(|o| o.released()).max().expect("an operation ran");
    let shape = host.device.shape();
    let mut text = format!("{question}\n\n");
    for &(at, op, unit, bytes) in script {
        writeln!(text, "at {at:>7}  {op:?} unit {unit}, {bytes} bytes").unwrap();
    }
    writeln!(text).unwrap();
    let unit = if shape.busy == BusyKind::Plane { "plane" } else { "die" };
    text += &waveform(&ops, (unit, shape.units), shape.channels, (START, end), column);
    writeln!(text, "\n  command        ends   took  of which").unwrap();
    for d in &host.done[prepared..] {
        let causes: Vec<String> = d.ledger.iter().map(|(c, ns)| format!("{} {ns}", c.name())).collect();
        let (op, at) = (format!("{:?}", d.command.op), d.at.0 - START);
        let ended = if d.status == Status::Ok { String::new() } else { format!("{:?}: ", d.status) };
        let line = format!("  {op:<9} {at:>9} {:>6}  {ended}{}", d.latency, causes.join(", "));
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    if let Some(since) = host.device.read_only_since() {
        writeln!(text, "  read-only since {}", since.0 - START).unwrap();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("UPDATE").is_some_and(|v| v == "1") {
        std::fs::write(&file, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(text == golden, "{name} differs from {}; UPDATE=1 rewrites it. Now:\n{text}", file.display());
}

/// Trim the whole first extent of die 0, so that its collection is only an erase.
fn emptied() -> Vec<Line> {
    (0..8).map(|k| (1_000, Trim, k * DIES, UNIT)).collect()
}

/// Four channels of two planes with stripes of three pages and their parity. Even stripes are
/// on planes 0, 2, 4, 6 (units 0 and 24 on plane 0, the parity of their stripes on plane 6),
/// odd stripes on the others. Written data stay in the buffer until a FLUSH. Their program
/// opens a block and leaves the plane nine free blocks, so that the plane collects.
fn striped() -> DeviceConfig {
    let (mut c, still) = (parity_drive(), drive());
    (c.geometry.blocks, c.geometry.pages, c.geometry.page) = (12, 4, UNIT);
    (c.host, c.controller, c.ecc) = (still.host, still.controller, still.ecc);
    (c.ftl.mapping_unit, c.ftl.over_provisioning) = (UNIT, Some(0.5));
    if let buffer::BufferConfig::Lru(m) = &mut c.policy.buffer {
        (m.capacity, m.power_loss) = (32 * UNIT, buffer::lru::PowerLoss::Volatile);
    }
    let limits =
        gc_schedule::rotating::Config { start: Level::Count(9), hard: Level::Count(2), ..Default::default() };
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Rotating(limits);
    c
}
