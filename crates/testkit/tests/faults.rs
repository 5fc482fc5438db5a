//! Tests what the drive does about each kind of failure, in small exact scenarios.
//!
//! Drives without and with parity hold bytes. Every byte that is read is compared with what was
//! written, and every read that ends without data must lie in what the drive tells as lost.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tailcut_core::address::{Lpn, Ppa};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::medium::filled_bytes;
use tailcut_core::device::{Device, InMemory, Medium, Observer, OpKind, StepEvent};
use tailcut_core::ftl::config::{BadBlocks, CopyMode, ExtentKind};
use tailcut_core::ftl::map::Place;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, parity_drive, small_drive};
use tailcut_units::random::mix;
use tailcut_units::{Cause, Command, HostOp, SimTime, Status, Stream};

const UNIT: u64 = 4096;
/// A fault that never comes true: the drive is prepared for faults, and has none.
const NEVER: &str = "page=0.0.0.0,once@1000s";

/// The small drive, with a small buffer and room for the data of a dead die.
fn rows() -> DeviceConfig {
    let mut c = small_drive();
    c.ftl.over_provisioning = Some(0.5);
    shrink(&mut c);
    c
}

/// The drive with parity, with a small buffer and room for the data of a dead plane.
fn stripes() -> DeviceConfig {
    let mut c = parity_drive();
    c.ftl.over_provisioning = Some(0.5);
    shrink(&mut c);
    c
}

fn shrink(c: &mut DeviceConfig) {
    c.geometry.blocks = 16;
    if let BufferConfig::Lru(m) = &mut c.policy.buffer {
        m.capacity = 32 * UNIT;
    }
}

fn both() -> [(&'static str, DeviceConfig); 2] {
    [("rows", rows()), ("stripes", stripes())]
}

fn with(mut c: DeviceConfig, faults: &[String]) -> DeviceConfig {
    c.fault = faults.iter().map(|text| text.parse().unwrap_or_else(|e| panic!("{e}"))).collect();
    c
}

fn never(c: DeviceConfig) -> DeviceConfig {
    with(c, &[NEVER.to_string()])
}

/// What a command returned.
#[derive(Clone, Debug)]
struct Got {
    status: Status,
    data: Vec<u8>,
    latency: u64,
    retried: u64,
}

/// A filled drive that holds bytes, the time, and what each unit should hold.
struct Rig {
    device: Device<(), InMemory>,
    now: SimTime,
    written: BTreeMap<u32, Vec<u8>>,
    /// The unit of a write that was refused: it may have been written.
    open: Option<u32>,
}

impl Rig {
    fn new(config: &DeviceConfig) -> Rig {
        Rig::seeded(config, 1)
    }

    fn seeded(config: &DeviceConfig, seed: u64) -> Rig {
        let device = Device::with_medium(config, seed, (), InMemory::new()).unwrap_or_else(|e| panic!("{e}"));
        let mut rig = Rig { device, now: SimTime(0), written: BTreeMap::new(), open: None };
        rig.device.fill(rig.device.host_bytes());
        rig
    }

    fn units(&self) -> u32 {
        self.device.shape().layout.host_units
    }

    fn submit(&mut self, op: HostOp, offset: u64, bytes: u32, data: &[u8]) {
        let command = Command { op, offset, bytes };
        self.device.submit_write(self.now, self.now, command, 0, data).expect("a place in the queue");
    }

    /// Run until the drive is idle; return what has ended, in order.
    fn drain(&mut self) -> Vec<Got> {
        let mut out = Vec::new();
        while self.device.next_deadline() != SimTime::NEVER && !self.is_idle() {
            self.step(&mut out);
        }
        self.device.audit().and_then(|()| self.device.audit_parity()).unwrap_or_else(|e| panic!("{e}"));
        out
    }

    fn is_idle(&self) -> bool {
        self.device.outstanding() == 0 && self.device.is_quiescent()
    }

    fn step(&mut self, out: &mut Vec<Got>) {
        self.now = self.device.next_deadline();
        self.device.advance(self.now, &mut |c| {
            let retried =
                [Cause::RETRY_COMMAND, Cause::RETRY_ARRAY, Cause::RETRY_TRANSFER, Cause::RETRY_DECODE];
            out.push(Got {
                status: c.status,
                data: c.data.to_vec(),
                latency: (c.completed - c.arrived).0,
                retried: retried.iter().map(|&cause| c.ledger.get(cause)).sum(),
            });
        });
    }

    fn one(&mut self, op: HostOp, offset: u64, bytes: u32, data: &[u8]) -> Got {
        self.submit(op, offset, bytes, data);
        self.drain().remove(0)
    }

    fn flush(&mut self) -> Status {
        self.one(HostOp::Flush, 0, 0, &[]).status
    }

    fn read(&mut self, lpn: u32) -> Got {
        self.one(HostOp::Read, u64::from(lpn) * UNIT, UNIT as u32, &[])
    }

    /// Write a whole unit with one byte.
    fn write(&mut self, lpn: u32, value: u8) -> Status {
        let data = vec![value; UNIT as usize];
        let status = self.one(HostOp::Write, u64::from(lpn) * UNIT, UNIT as u32, &data).status;
        if status == Status::Ok {
            self.written.insert(lpn, data);
        }
        status
    }

    /// Overwrite random units until `done`, at most `most` times.
    fn churn(&mut self, most: u32, done: impl Fn(&Device<(), InMemory>) -> bool) {
        let mut s = Stream::new(3, "churn", 0);
        for i in 0..most {
            if done(&self.device) || self.device.read_only_since().is_some() {
                return;
            }
            let lpn = s.below(u64::from(self.units())) as u32;
            let status = self.write(lpn, i as u8);
            if status != Status::Ok {
                assert!(status == Status::ReadOnly && self.device.read_only_since().is_some(), "write {i}");
                self.open = Some(lpn);
            }
        }
        assert!(done(&self.device), "not reached by {most} writes: {:?}", self.device.counters());
    }

    fn should(&self, lpn: u32) -> Vec<u8> {
        self.written.get(&lpn).cloned().unwrap_or_else(|| {
            let mut data = vec![0; UNIT as usize];
            filled_bytes(Lpn(lpn), 0, &mut data);
            data
        })
    }

    /// Read a unit whose data must be right.
    fn read_right(&mut self, lpn: u32) -> Got {
        let got = self.read(lpn);
        assert_eq!(got.status, Status::Ok, "unit {lpn}");
        assert!(got.data == self.should(lpn), "unit {lpn} has other bytes");
        got
    }

    /// Read a unit that must end without data.
    fn read_lost(&mut self, lpn: u32) -> Got {
        let got = self.read(lpn);
        assert_eq!((got.status, got.data.len()), (Status::MediaError, 0), "unit {lpn}");
        got
    }

    /// Read all units: those in the lost ranges end without data, all others are right.
    fn read_all(&mut self) -> u32 {
        let mut lost = 0;
        for lpn in 0..self.units() {
            let at = u64::from(lpn) * UNIT;
            let told = |d: &Device<(), InMemory>| {
                d.lost_ranges().iter().any(|r: &Range<u64>| r.start < at + UNIT && at < r.end)
            };
            let got = self.read(lpn);
            if got.status == Status::MediaError {
                assert!(told(&self.device) && got.data.is_empty(), "unit {lpn} is not told as lost");
                lost += 1;
            } else if self.open != Some(lpn) {
                assert!(got.data == self.should(lpn), "unit {lpn} has other bytes");
                assert!(!told(&self.device), "unit {lpn} is told as lost");
            }
        }
        let faults = self.device.medium().faults();
        assert!(faults.is_empty(), "{faults:?}");
        lost
    }

    /// The one range that is lost.
    fn only_loss(&self) -> Range<u64> {
        let lost = self.device.lost_ranges();
        assert_eq!(lost.len(), 1, "{lost:?}");
        lost[0].clone()
    }

    fn ppa(&self, lpn: u32) -> Ppa {
        match self.device.whereabouts(Lpn(lpn)) {
            Place::Flash(ppa) => ppa,
            place => panic!("unit {lpn} is {place:?}"),
        }
    }

    /// The die, plane, block and page of a unit, as a fault names them. Only right before blocks have
    /// been replaced.
    fn place(&self, lpn: u32) -> (u32, u32, u32, u32) {
        let layout = &self.device.shape().layout;
        let (_, slot) = layout.row_start(self.ppa(lpn));
        let place = layout.place(self.ppa(lpn));
        let plane = place.plane + slot * layout.unit_bytes as u32 / layout.page_bytes as u32;
        (place.die, plane, layout.lane_of(place.extent).1, place.page)
    }

    fn page_text(&self, lpn: u32) -> String {
        let (die, plane, block, page) = self.place(lpn);
        format!("page={die}.{plane}.{block}.{page}")
    }

    fn extent(&self, lpn: u32) -> u32 {
        self.device.shape().layout.extent_of(self.ppa(lpn)).0
    }

    /// Whether an extent holds nothing.
    fn is_empty(&self, extent: u32) -> bool {
        let each = self.device.shape().layout.units_per_extent;
        Ppa(extent * each).run(each).all(|ppa| self.device.medium().unit(ppa).is_none())
    }

    /// Check that the blocks add up; returns (grown bad, spare, retired extents).
    fn blocks(&self) -> (u64, u64, u64) {
        let report = self.device.block_report().expect("blocks can fail");
        let b = report.blocks;
        let layout = &self.device.shape().layout;
        let extents: u64 = layout.usable.iter().map(|&n| u64::from(n)).sum();
        let each = u64::from(layout.blocks_per_extent());
        let used = match self.device.shape().holes {
            None => (extents - report.retired_extents) * each,
            Some(_) => extents * each - b.factory_bad - b.grown_bad,
        };
        assert_eq!(b.factory_bad + b.grown_bad + b.spare + used, b.all, "{report:?}");
        (b.grown_bad, b.spare, report.retired_extents)
    }
}

/// The place of unit 0 after it is written and flushed on a drive without faults.
fn next_place(config: &DeviceConfig) -> (u32, u32, u32, u32) {
    let mut rig = Rig::new(&never(config.clone()));
    rig.write(0, 7);
    rig.flush();
    rig.place(0)
}

#[test]
fn a_failed_program_is_made_again_elsewhere_and_its_block_is_retired() {
    for (name, config) in both() {
        let (die, plane, block, page) = next_place(&config);
        let mut rig = Rig::new(&with(config, &[format!("program={die}.{plane}.{block}.{page}")]));
        assert_eq!(rig.write(0, 7), Status::Ok, "{name}");
        assert_eq!(rig.flush(), Status::Ok, "{name}");
        let c = rig.device.counters();
        assert_eq!(c.program_failures, 1, "{name}");
        assert_ne!(rig.place(0), (die, plane, block, page), "{name}");
        rig.read_right(0);
        // The extent is emptied, and no spare block can replace the bad one.
        let extent = (0..rig.device.shape().layout.extents())
            .find(|&x| {
                let (lane, index) = rig.device.shape().layout.lane_of(x);
                let planes = rig.device.shape().layout.planes_of(lane);
                index == block && planes.contains(&(die * rig.device.shape().layout.planes + plane))
            })
            .expect("the block is in an extent");
        let (grown, spare, retired) = rig.blocks();
        let each = u64::from(rig.device.shape().layout.blocks_per_extent());
        assert_eq!((grown, spare, retired), (1, each - 1, 1), "{name}");
        // It is never programmed again.
        rig.churn(20_000, |d| d.counters().erases > 200);
        assert!(rig.is_empty(extent), "{name}");
        assert_eq!(rig.read_all(), 0, "{name}");
        assert_eq!(rig.device.counters().program_failures, 1, "{name}");
    }
}

#[test]
fn a_bad_block_is_replaced_while_there_are_spares_and_then_retired() {
    // Plane 1 of die 0 has two factory-bad blocks, so that plane 0 has two spare blocks: a third
    // bad block there takes its extent out of use.
    let mut faults = vec!["bad=0.1.3".to_string(), "bad=0.1.9".to_string()];
    faults.extend([2, 4, 6].map(|block| format!("erase=0.0.{block},cycle=1")));
    let mut rig = Rig::new(&with(rows(), &faults));
    assert_eq!(rig.blocks(), (0, 2, 0));
    rig.churn(60_000, |d| d.counters().erase_failures == 3);
    let c = rig.device.counters().clone();
    assert_eq!((c.blocks_replaced, rig.blocks()), (2, (3, 1, 1)), "the other plane's block is a spare");
    assert_eq!(rig.read_all(), 0);
    assert_eq!(rig.device.read_only_since(), None);

    // Extents of one block have no spares: every bad block is an extent less.
    let mut rig = Rig::new(&with(stripes(), &["erase=1.1.4".to_string(), "erase=2.0.5,cycle=2".to_string()]));
    rig.churn(60_000, |d| d.counters().erase_failures == 2);
    assert_eq!((rig.device.counters().blocks_replaced, rig.blocks()), (0, (2, 0, 2)));
    assert_eq!(rig.read_all(), 0);
}

#[test]
fn a_page_that_cannot_be_read_once() {
    for (name, config) in both() {
        let parity = name == "stripes";
        let text = Rig::new(&never(config.clone())).page_text(5);
        let direct = Rig::new(&never(config.clone())).read_right(5);
        let mut rig = Rig::new(&with(config, &[format!("{text},once")]));
        let first = if parity { rig.read_right(5) } else { rig.read_lost(5) };
        assert_eq!(rig.device.counters().read_failures, 1, "{name}");
        if parity {
            assert!(first.latency > direct.latency + 3_000, "{name}: {first:?}");
            // The read that has failed took as long as one that succeeds.
            let interface = 900 + 1_100 + 500 + 1_280;
            assert_eq!(first.retried, direct.latency - interface, "{name}");
            assert_eq!(rig.device.counters().rebuilt_units, 1);
        }
        let again = rig.read_right(5);
        assert_eq!((again.latency, again.retried), (direct.latency, 0), "{name}");
        assert_eq!(rig.device.lost_ranges(), [], "{name}");
        assert_eq!(rig.device.lost_units(), 0, "{name}");
    }
}

#[test]
fn a_page_that_cannot_be_read_until_it_is_erased() {
    let lpn = 5;
    // Without parity its unit is lost until it is overwritten.
    let text = Rig::new(&never(rows())).page_text(lpn);
    let mut rig = Rig::new(&with(rows(), std::slice::from_ref(&text)));
    for _ in 0..3 {
        rig.read_lost(lpn);
        let lost = rig.device.lost_ranges();
        assert!(lost.iter().any(|r| r.contains(&(u64::from(lpn) * UNIT))), "{lost:?}");
    }
    assert_eq!(rig.device.counters().media_errors, 3);
    let lost = rig.read_all();
    assert_eq!(lost, 2, "a page of the row has two units");
    assert_eq!(rig.write(lpn, 9), Status::Ok);
    rig.read_right(lpn);
    rig.flush();
    rig.read_right(lpn);
    assert_eq!(rig.read_all(), 1);

    // With parity it is computed, and then rewritten elsewhere.
    let direct = Rig::new(&never(stripes())).read_right(lpn);
    let text = Rig::new(&never(stripes())).page_text(lpn);
    let mut rig = Rig::new(&with(stripes(), &[text]));
    let before = rig.ppa(lpn);
    let first = rig.read_right(lpn);
    assert!(first.latency > direct.latency && first.retried > 0, "{first:?}");
    assert_eq!((rig.device.counters().rebuilt_units, rig.device.counters().stripes_rewritten), (1, 1));
    assert_eq!((rig.device.lost_units(), rig.device.lost_ranges()), (0, vec![]));
    assert_ne!(rig.ppa(lpn), before);
    let again = rig.read_right(lpn);
    assert_eq!((again.retried, rig.device.counters().rebuilt_units), (0, 1));
    assert_eq!(rig.read_all(), 0);
}

#[test]
fn a_page_that_cannot_be_read_after_many_reads() {
    for (name, config) in both() {
        let text = Rig::new(&never(config.clone())).page_text(5);
        let mut rig = Rig::new(&with(config, &[format!("{text},reads=4")]));
        for read in 0..4 {
            assert_eq!(rig.read_right(5).retried, 0, "{name}: read {read}");
        }
        match name {
            "rows" => rig.read_lost(5),
            _ => rig.read_right(5),
        };
        assert_eq!(rig.device.counters().read_failures, 1, "{name}");
    }
}

#[test]
fn two_unreadable_members_of_a_stripe_are_lost_and_overwriting_ends_it() {
    let clean = Rig::new(&never(stripes()));
    let texts = [clean.page_text(6), clean.page_text(7)];
    assert_eq!(6 / 3, 7 / 3, "stripes have three data units");
    let mut rig = Rig::new(&with(stripes(), &texts));
    rig.submit(HostOp::Read, 6 * UNIT, 2 * UNIT as u32, &[]);
    let got = rig.drain().remove(0);
    assert_eq!((got.status, got.data.len()), (Status::MediaError, 0));
    assert_eq!(rig.only_loss(), 6 * UNIT..8 * UNIT);
    rig.read_lost(6);
    rig.read_lost(7);
    rig.read_right(8);
    assert_eq!(rig.read_all(), 2);
    rig.write(6, 1);
    rig.flush();
    rig.read_right(6);
    assert_eq!(rig.only_loss(), 7 * UNIT..8 * UNIT);
    rig.read_lost(7);
    rig.write(7, 2);
    rig.flush();
    assert_eq!((rig.device.lost_ranges(), rig.read_all()), (vec![], 0));
}

#[test]
fn a_collection_mends_what_it_cannot_read_or_tells_it_as_lost() {
    let mut controller = stripes();
    controller.ftl.gc.copy = CopyMode::Controller;
    let drives = [("rows", rows()), ("copybacks", stripes()), ("stripes through the controller", controller)];
    for (name, config) in drives {
        let clean = Rig::new(&never(config.clone()));
        // All pages of unit 5's block but one in four: the collection meets some.
        let (die, plane, block, _) = clean.place(5);
        let texts: Vec<String> = (0..config.geometry.pages)
            .step_by(4)
            .map(|page| format!("page={die}.{plane}.{block}.{page}"))
            .collect();
        let mut rig = Rig::new(&with(config, &texts));
        let extent = rig.extent(5);
        let each = rig.device.shape().layout.units_per_extent;
        let start = rig.device.medium().unit(Ppa(extent * each)).expect("it is filled").oob;
        let gone = |d: &Device<(), InMemory>| {
            d.medium().unit(Ppa(extent * each)).is_none_or(|unit| unit.oob != start)
        };
        rig.churn(60_000, gone);
        let c = rig.device.counters().clone();
        assert!(c.read_failures > 0, "{name}: {c:?}");
        let lost = rig.device.lost_ranges();
        if name == "rows" {
            assert!(!lost.is_empty() && c.mended_units == 0, "{name}: {c:?}");
            assert!(rig.read_all() > 0);
        } else {
            assert!(lost.is_empty() && c.mended_units > 0, "{name}: {c:?}");
            assert_eq!(rig.read_all(), 0, "{name}");
        }
    }
}

#[test]
fn a_part_of_a_unit_that_cannot_be_read_is_kept() {
    let text = Rig::new(&never(rows())).page_text(5);
    let mut rig = Rig::new(&with(rows(), &[text]));
    let at = 5 * UNIT;
    assert_eq!(rig.one(HostOp::Write, at + 512, 1024, &[3; 1024]).status, Status::Ok);
    for flushed in [false, true] {
        if flushed {
            assert_eq!(rig.flush(), Status::Ok);
            // Unit 4 is on the same page.
            let lost = [at - UNIT..at + 512, at + 1536..at + UNIT];
            assert_eq!(rig.device.lost_ranges(), lost);
        }
        let part = rig.one(HostOp::Read, at + 512, 1024, &[]);
        assert_eq!((part.status, part.data), (Status::Ok, vec![3; 1024]), "flushed: {flushed}");
        for (from, bytes) in [(0, 512), (1536, 512), (0, 4096), (3584, 512)] {
            let got = rig.one(HostOp::Read, at + from, bytes, &[]);
            assert_eq!((got.status, got.data.len()), (Status::MediaError, 0), "{from}, flushed: {flushed}");
        }
    }
    // With parity the rest is computed.
    let text = Rig::new(&never(stripes())).page_text(5);
    let mut rig = Rig::new(&with(stripes(), &[text]));
    let mut should = rig.should(5);
    should[512..1536].fill(3);
    rig.written.insert(5, should);
    assert_eq!(rig.one(HostOp::Write, at + 512, 1024, &[3; 1024]).status, Status::Ok);
    rig.read_right(5);
    rig.flush();
    rig.read_right(5);
    assert_eq!(rig.read_all(), 0);
}

/// The dead part by its text, and the lanes' planes that it covers.
fn dead_parts(config: &DeviceConfig) -> [(&'static str, Range<u32>); 3] {
    let g = &config.geometry;
    let of_channel = g.dies() / g.channels * g.planes;
    [
        ("plane=1.0@2ms", g.planes..g.planes + 1),
        ("die=1@2ms", g.planes..2 * g.planes),
        ("channel=1@2ms", of_channel..2 * of_channel),
    ]
}

fn is_on(rig: &Rig, ppa: Ppa, planes: &Range<u32>) -> bool {
    let layout = &rig.device.shape().layout;
    layout.planes_of(layout.lane_at(ppa)).any(|plane| planes.contains(&plane))
}

#[test]
fn a_drive_with_parity_keeps_the_data_of_a_dead_plane() {
    // The planes of a die are in different groups here, so a dead die or channel is one plane of each.
    for (text, planes) in dead_parts(&stripes()) {
        let mut config = with(stripes(), &[text.to_string()]);
        config.ftl.over_provisioning = Some(0.6);
        let mut rig = Rig::new(&config);
        let units = rig.units();
        let on = |rig: &Rig| (0..units).filter(|&lpn| is_on(rig, rig.ppa(lpn), &planes)).count();
        assert!(on(&rig) > 0 && rig.device.dead_planes() == 0);
        while rig.device.dead_planes() == 0 {
            rig.step(&mut Vec::new());
        }
        assert_eq!(rig.now, SimTime(2_000_000), "{text}");
        assert_eq!(rig.device.last_death(), Some(rig.now));
        assert_eq!(rig.device.dead_planes(), planes.len() as u32, "{text}");
        assert!(rig.device.lost_units() > 0 && rig.device.lost_ranges().is_empty(), "{text}");
        rig.drain();
        assert_eq!((rig.device.lost_units(), on(&rig)), (0, 0), "{text}");
        assert_eq!(rig.device.read_only_since(), None, "{text}");
        assert_eq!(rig.read_all(), 0, "{text}");
        rig.churn(20_000, |d| d.counters().erases > 100);
        rig.flush();
        assert_eq!((rig.read_all(), on(&rig)), (0, 0), "{text}");
    }
}

/// Two planes of one group die, the first of its lanes last.
#[test]
fn dead_lanes_of_one_group_are_replaced_by_different_lanes() {
    let mut config = never(stripes());
    config.ftl.over_provisioning = Some(0.75);
    let mut rig = Rig::new(&config);
    let stripes = rig.device.shape().stripes.clone().expect("the drive has parity");
    for offset in [2, 0] {
        let plane = stripes.lane(1, offset);
        rig.device.kill_planes(plane..plane + 1).expect("the drive is prepared");
        rig.drain();
        assert_eq!(rig.device.lost_units(), 0, "all is written again");
    }
    assert_eq!(rig.device.read_only_since(), None);
    for stripe in 0..stripes.count {
        let lane = |unit| match rig.device.whereabouts(unit) {
            Place::Flash(ppa) => rig.device.shape().layout.lane_at(ppa),
            other => panic!("{unit:?} is at {other:?}"),
        };
        let lanes: BTreeSet<u32> = stripes.members(stripe).map(lane).collect();
        assert_eq!(lanes.len() as u32, stripes.width, "stripe {stripe} lies on the lanes {lanes:?}");
    }
}

#[test]
fn a_drive_without_parity_loses_what_was_on_a_dead_die_and_writes_round_it() {
    for (text, planes) in dead_parts(&rows()) {
        let mut config = with(rows(), &[text.to_string()]);
        config.ftl.over_provisioning = Some(0.7);
        let mut rig = Rig::new(&config);
        // The lane is a die: a dead plane makes it useless.
        let on: Vec<u32> = (0..rig.units()).filter(|&lpn| is_on(&rig, rig.ppa(lpn), &planes)).collect();
        while rig.device.dead_planes() == 0 {
            rig.step(&mut Vec::new());
        }
        rig.drain();
        assert_eq!(rig.device.read_only_since(), None, "{text}");
        assert_eq!(rig.read_all() as usize, on.len(), "{text}");
        for &lpn in &on {
            assert_eq!(rig.write(lpn, 5), Status::Ok);
        }
        rig.flush();
        assert_eq!(rig.device.lost_ranges(), [], "{text}");
        assert_eq!(rig.read_all(), 0, "{text}");
        assert!((0..rig.units()).all(|lpn| !is_on(&rig, rig.ppa(lpn), &planes)), "{text}");
    }
}

#[test]
fn rewriting_is_as_fast_as_it_may_be() {
    let mut took = Vec::new();
    for rate in [None, Some(4_000_000u64), Some(1_000_000)] {
        let mut config = with(stripes(), &["plane=1.0@2ms".to_string()]);
        config.faults.rebuild_rate = rate;
        let mut rig = Rig::new(&config);
        while rig.device.dead_planes() == 0 {
            rig.step(&mut Vec::new());
        }
        let lost = rig.device.lost_units();
        while rig.device.lost_units() > 0 {
            rig.step(&mut Vec::new());
        }
        let ns = (rig.now - SimTime(2_000_000)).0;
        took.push(ns);
        if let Some(rate) = rate {
            let least = (lost - 1) * UNIT * 1_000_000_000 / rate;
            assert!(ns >= least, "{lost} units in {ns} ns, at {rate}");
            assert!(ns < least + least / 10 + 5_000_000, "{lost} units in {ns} ns, at {rate}");
        }
    }
    assert!(took[0] < took[1] && took[1] < took[2], "{took:?}");
}

#[test]
fn a_drive_without_room_reads_on_and_says_so() {
    for (name, config) in both() {
        let blocks = config.geometry.blocks;
        let texts: Vec<String> = (0..blocks).map(|block| format!("erase=0.0.{block}")).collect();
        let mut rig = Rig::new(&with(config, &texts));
        rig.churn(60_000, |d| d.read_only_since().is_some());
        let since = rig.device.read_only_since().expect("it has no room");
        assert!(since <= rig.now && since > SimTime(0), "{name}");
        assert_eq!(rig.device.block_report().expect("blocks can fail").spare_extents, 0, "{name}");
        for op in [HostOp::Write, HostOp::Trim, HostOp::Flush] {
            let bytes = if op == HostOp::Flush { 0 } else { 3 * UNIT as u32 };
            let data = if op == HostOp::Write { vec![1; bytes as usize] } else { vec![] };
            assert_eq!(rig.one(op, 0, bytes, &data).status, Status::ReadOnly, "{name}: {op:?}");
        }
        assert_eq!(rig.device.read_only_since(), Some(since), "{name}");
        assert_eq!(rig.read_all(), 0, "{name}");
        rig.blocks();
    }
}

/// The commands that a drive becomes read-only under, many at once: all of them end.
#[test]
fn nothing_hangs_when_a_drive_becomes_read_only() {
    for (name, mut config) in both() {
        config.faults.erase = Some(0.1);
        for buffered in [true, false] {
            let mut config = config.clone();
            if !buffered {
                if name == "stripes" {
                    continue;
                }
                config.policy.buffer = member("none");
                config.policy.flush = member("immediate");
            }
            let mut host = Host::new(&config);
            host.device.fill(host.device.host_bytes());
            let digest = traffic(&mut host, 1, 60_000, |d| d.read_only_since().is_some());
            assert!(digest.refused > 0 && host.device.read_only_since().is_some(), "{name}");
            let (ended, refused) = (host.done.len(), digest.refused);
            let more = traffic(&mut host, 2, 300, |_| false);
            assert_eq!(host.done.len(), ended + 300, "{name}");
            assert!(more.refused > refused, "{name}");
        }
    }
}

struct Traffic {
    digest: u64,
    refused: usize,
}

/// Random commands as fast as the queue accepts them, until `done`; then until all have ended.
fn traffic<O: Observer>(
    host: &mut Host<O>,
    seed: u64,
    most: u32,
    done: impl Fn(&Device<O>) -> bool,
) -> Traffic {
    let mut s = Stream::new(seed, "traffic", 0);
    let units = host.device.host_bytes() / UNIT;
    let mut at = host.device.now().0;
    for _ in 0..most {
        while !host.device.has_place() {
            at = host.device.next_deadline().0;
            host.advance(at);
        }
        if done(&host.device) {
            break;
        }
        let op = [HostOp::Write, HostOp::Write, HostOp::Read, HostOp::Trim][s.below(4) as usize];
        let op = if s.below(100) == 0 { HostOp::Flush } else { op };
        let bytes = if op == HostOp::Flush { 0 } else { 512 * (1 + s.below(16) as u32) };
        host.submit(at, op, s.below(units - 3) * UNIT + 512 * s.below(8), bytes);
    }
    while host.device.outstanding() > 0 {
        at = host.device.next_deadline().0;
        host.advance(at);
    }
    let digest = host.done.iter().fold(0, |digest, d| {
        mix(digest ^ mix(d.index) ^ mix(d.at.0 * 2 + u64::from(d.status != Status::Ok)))
    });
    Traffic { digest, refused: host.done.iter().filter(|d| d.status == Status::ReadOnly).count() }
}

fn run(config: &DeviceConfig, seed: u64, n: u32) -> (Host, u64) {
    let device = Device::new(config, seed, ()).unwrap_or_else(|e| panic!("{e}"));
    let mut host = Host { device, done: Vec::new() };
    host.device.fill(host.device.host_bytes());
    let digest = traffic(&mut host, 7, n, |_| false).digest;
    (host, digest)
}

/// Rates of zero leave a drive that cannot fail. A drive with faults is prepared for them, whether
/// they come true or not:
///
/// - A read keeps its extent from being erased until its data are decoded, and a reconstruction keeps
///   that of its unit: erases may begin later. The drive without parity erases no extent with reads
///   under way here, so nothing differs. On the drive with parity the first difference is an erase.
/// - A drive whose programs can fail keeps a free extent more, and so collects earlier.
#[test]
fn faults_that_never_happen_change_only_when_erases_begin() {
    for (name, config) in both() {
        let mut zero = config.clone();
        let f = &mut zero.faults;
        (f.program, f.erase, f.read, f.page) = (Some(0.0), Some(0.0), Some(0.0), Some(0.0));
        let plain = run(&config, 1, 6_000);
        assert!(plain.0.device.counters().erases > 50, "{name}");
        assert_eq!(run(&zero, 1, 6_000).1, plain.1, "{name}: rates of zero");
        for text in [NEVER, "plane=0.0@1000s", "erase=0.0.3@1000s"] {
            let prepared = with(config.clone(), &[text.to_string()]);
            if name == "rows" {
                let (host, digest) = run(&prepared, 1, 6_000);
                assert_eq!(digest, plain.1, "{name}: {text}");
                assert_eq!(host.device.counters(), plain.0.device.counters(), "{name}: {text}");
                continue;
            }
            let (steps, later) = (steps(&config), steps(&prepared));
            let first = steps.iter().zip(&later).find(|(a, b)| (a.op, a.step, a.at) != (b.op, b.step, b.at));
            let (erase, _) = first.expect("an erase waits for a read to be decoded");
            assert_eq!(erase.kind, OpKind::Erase, "{name}: {text}");
            let begins =
                later.iter().find(|e| e.kind == OpKind::Erase && e.unit == erase.unit && e.at > erase.at);
            assert!(begins.is_some(), "{name}: {text}");
        }
    }
}

/// The steps of all operations of a run.
fn steps(config: &DeviceConfig) -> Vec<StepEvent> {
    let mut host = Host::observed(config, Vec::new());
    host.device.fill(host.device.host_bytes());
    traffic(&mut host, 7, 6_000, |_| false);
    host.device.into_observer()
}

fn failing(mut config: DeviceConfig) -> DeviceConfig {
    let f = &mut config.faults;
    (f.program, f.erase, f.read, f.page) = (Some(0.001), Some(0.001), Some(0.01), Some(0.01));
    config
}

#[test]
fn failures_depend_on_the_seed_alone() {
    for (name, config) in both() {
        let config = failing(config);
        let (host, digest) = run(&config, 1, 6_000);
        let (again, same) = run(&config, 1, 6_000);
        let (_, other) = run(&config, 2, 6_000);
        assert_eq!((digest, host.device.counters()), (same, again.device.counters()), "{name}");
        assert_ne!(digest, other, "{name}");
        let c = host.device.counters();
        assert!(c.program_failures > 0 && c.read_failures > 0, "{name}: {c:?}");
    }
}

/// Commands one after the other: both schedules program the same pages.
#[test]
fn schedules_that_program_the_same_pages_meet_the_same_failures() {
    for (name, mut config) in both() {
        config.faults.program = Some(0.004);
        let failures = |schedule: &str| {
            let mut config = config.clone();
            config.policy.schedule = member(schedule);
            let mut rig = Rig::new(&config);
            rig.churn(600, |d| d.counters().host_units_written == 600);
            rig.flush();
            let places: Vec<Place> = Lpn(0).run(rig.units()).map(|lpn| rig.device.whereabouts(lpn)).collect();
            (rig.device.counters().program_failures, rig.blocks(), places)
        };
        let fifo = failures("fifo");
        assert!(fifo.0 > 0, "{name}");
        assert!(fifo == failures("read-priority"), "{name}: other failures");
    }
}

#[test]
fn a_run_with_faults_goes_on_after_restoring() {
    for (name, config) in both() {
        let mut config = failing(config);
        config.fault = vec!["plane=1.0@40ms".parse().unwrap()];
        let mut whole = Host::new(&config);
        whole.device.fill(whole.device.host_bytes());
        let (mut failed, mut dead) = (0, 0);
        for part in 0..12 {
            traffic(&mut whole, part, 250, |_| false);
            // Commands are under way.
            for i in 0..8 {
                whole.submit(whole.device.now().0, HostOp::Read, i * 9 * UNIT, UNIT as u32);
            }
            let mut file = Vec::new();
            whole.device.snapshot(&config, 1, &mut file).unwrap();
            let device = Device::restore(&config, 1, (), &mut &file[..]).unwrap();
            device.audit().unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut one = Host { device, done: Vec::new() };
            let before = whole.done.len();
            traffic(&mut one, 100 + part, 250, |_| false);
            traffic(&mut whole, 100 + part, 250, |_| false);
            assert!(whole.done[before..] == one.done[..], "{name}: completions differ");
            assert_eq!(whole.device.counters(), one.device.counters(), "{name}");
            assert_eq!(whole.device.lost_ranges(), one.device.lost_ranges(), "{name}");
            assert_eq!(whole.device.block_report(), one.device.block_report(), "{name}");
            failed = whole.device.counters().program_failures;
            dead = whole.device.dead_planes();
        }
        assert!(failed > 0 && dead > 0, "{name}: {failed}, {dead}");
    }
}

/// The drive without parity, whose extents of two planes go on without a bad block.
fn holes() -> DeviceConfig {
    let mut c = rows();
    c.ftl.bad_blocks = BadBlocks::Hole;
    (c.ftl.write_planes, c.ftl.gc.copy_planes, c.ftl.gc.program_planes) = (1, 1, 1);
    c
}

/// The units on flash that lie in this block.
fn units_in(rig: &Rig, (die, plane, block): (u32, u32, u32)) -> usize {
    let on_flash = |&lpn: &u32| matches!(rig.device.whereabouts(Lpn(lpn)), Place::Flash(_));
    let there = |&lpn: &u32| {
        let (d, p, b, _) = rig.place(lpn);
        (d, p, b) == (die, plane, block)
    };
    (0..rig.units()).filter(on_flash).filter(there).count()
}

#[test]
fn an_extent_goes_on_without_its_bad_blocks() {
    let bad = ["bad=0.1.0", "bad=1.0.3", "bad=2.0.5", "bad=2.1.5"].map(String::from);
    let capacity = |c: &DeviceConfig| Device::new(c, 1, ()).expect("a valid drive").capacity().clone();
    let block = holes().geometry.block_bytes();
    assert_eq!(capacity(&with(holes(), &bad)).bad, 4 * block, "no good block is lost with a bad one");
    let mut remapped = with(holes(), &bad);
    remapped.ftl.bad_blocks = BadBlocks::Remap;
    assert_eq!(capacity(&remapped).bad, 6 * block, "two good blocks lack a partner");

    let mut faults = bad.to_vec();
    faults.extend(["erase=0.0.7,cycle=1".to_string(), "erase=3.0.2,cycle=2".to_string()]);
    let mut rig = Rig::new(&with(holes(), &faults));
    rig.churn(60_000, |d| d.counters().erase_failures == 2);
    let report = rig.device.block_report().expect("blocks can fail");
    assert_eq!((report.blocks.grown_bad, report.blocks.spare, report.in_holes), (2, 0, 0));
    assert_eq!(report.retired_extents, 1, "of extent 5 of die 2 no plane is left");
    let erases = rig.device.counters().erases;
    rig.churn(60_000, |d| d.counters().erases > erases + 200);
    for place in [(0, 1, 0), (1, 0, 3), (2, 0, 5), (2, 1, 5), (0, 0, 7), (3, 0, 2)] {
        assert_eq!(units_in(&rig, place), 0, "{place:?} is bad");
    }
    for place in [(0, 0, 0), (0, 1, 7), (1, 1, 3), (3, 1, 2)] {
        let filled = (0..2_000).any(|_| {
            let seen = units_in(&rig, place) > 0;
            let erases = rig.device.counters().erases;
            rig.churn(60_000, |d| seen || d.counters().erases > erases);
            seen
        });
        assert!(filled, "{place:?} is used");
    }
    assert_eq!(rig.read_all(), 0);
    rig.blocks();
}

#[test]
fn a_write_unit_of_two_planes_is_a_hole_if_one_of_its_blocks_is_bad() {
    let mut config = rows();
    config.ftl.bad_blocks = BadBlocks::Hole;
    config.ftl.extent = ExtentKind::Line;
    let mut rig = Rig::new(&with(config, &["bad=1.0.4".to_string(), "erase=2.1.6,cycle=1".to_string()]));
    let in_holes = |d: &Device<(), InMemory>| d.block_report().expect("blocks can fail").in_holes;
    assert_eq!(in_holes(&rig.device), 1);
    rig.churn(60_000, |d| d.counters().erase_failures == 1);
    assert_eq!(in_holes(&rig.device), 2);
    assert_eq!(rig.read_all(), 0);
    assert!([(1, 1, 4), (1, 0, 4), (2, 0, 6)].iter().all(|&place| units_in(&rig, place) == 0));
    assert_eq!(rig.blocks(), (1, 0, 0));
}

#[test]
fn extents_go_on_without_a_plane_that_dies() {
    for kind in [ExtentKind::Superblock, ExtentKind::Line] {
        let mut config = never(holes());
        config.ftl.extent = kind;
        let mut rig = Rig::new(&config);
        let planes = rig.device.shape().layout.planes;
        let on_dead = |rig: &Rig, lpn: u32| {
            let (die, plane, ..) = rig.place(lpn);
            (die, plane) == (1, 0)
        };
        let lost: Vec<u32> = (0..rig.units()).filter(|&lpn| on_dead(&rig, lpn)).collect();
        rig.device.kill_planes(planes..planes + 1).expect("the drive is prepared");
        assert_eq!((rig.device.dead_planes(), rig.device.partial_lanes()), (1, 1), "{kind:?}");
        assert_eq!(rig.device.lost_units(), lost.len() as u64, "{kind:?}");
        rig.read_lost(lost[0]);
        assert_eq!(rig.read_all(), lost.len() as u32, "{kind:?}");
        let erases = rig.device.counters().erases;
        rig.churn(60_000, |d| d.counters().erases > erases + 300);
        assert_eq!(rig.device.read_only_since(), None, "{kind:?}");
        let on_flash: Vec<u32> = (0..rig.units())
            .filter(|&lpn| matches!(rig.device.whereabouts(Lpn(lpn)), Place::Flash(_)))
            .collect();
        let beside = |lpn: &&u32| (rig.place(**lpn).0, rig.place(**lpn).1) == (1, 1);
        assert!(on_flash.iter().filter(beside).count() > 10, "{kind:?}: the other plane of the die is used");
        let dead_written = on_flash.iter().filter(|&&lpn| rig.written.contains_key(&lpn));
        assert_eq!(dead_written.filter(|&&lpn| on_dead(&rig, lpn)).count(), 0, "{kind:?}");
        // What was overwritten is there again; what is still lost is told.
        let left = lost.iter().filter(|lpn| !rig.written.contains_key(lpn)).count();
        assert_eq!(rig.read_all(), left as u32, "{kind:?}");
        // The rest of the die dies too.
        rig.device.kill_planes(planes + 1..planes + 2).expect("the drive is prepared");
        let whole = usize::from(kind == ExtentKind::Line);
        assert_eq!((rig.device.dead_planes(), rig.device.partial_lanes()), (2, whole), "{kind:?}");
        rig.read_all();
    }
}

#[test]
fn what_two_hurt_lanes_cannot_hold_goes_to_the_others() {
    let mut config = never(holes());
    config.ftl.over_provisioning = Some(0.6);
    let mut rig = Rig::new(&config);
    let planes = rig.device.shape().layout.planes;
    for die in [0, 1] {
        rig.device.kill_planes(die * planes..die * planes + 1).expect("the drive is prepared");
        assert_eq!(rig.device.read_only_since(), None, "die {die}");
    }
    assert_eq!(rig.device.partial_lanes(), 2);
    let erases = rig.device.counters().erases;
    rig.churn(60_000, |d| d.counters().erases > erases + 300);
    assert_eq!(rig.device.read_only_since(), None);
    rig.read_all();
}
