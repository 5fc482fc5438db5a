//! A filled drive that holds bytes, whose failures are exact: every byte that is read is compared with
//! what was written, and every read that ends without data must lie in what the drive tells as lost.

use crate::{Host, parity_drive, small_drive};
use std::collections::BTreeMap;
use std::ops::Range;
use tailcut_core::address::{Lpn, Ppa};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, InMemory, Medium, Observer};
use tailcut_core::ftl::map::Mapping;
use tailcut_core::medium::filled_bytes;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_units::random::mix;
use tailcut_units::{Cause, Command, HostOp, SimTime, Status, Stream};

/// Bytes of a mapping unit.
pub const UNIT: u64 = 4096;
/// A fault that never comes true: the drive is prepared for faults, and has none.
pub const NEVER: &str = "page=0.0.0.0,once@1000s";

/// The small drive, with a small buffer and room for the data of a dead die.
pub fn rows() -> DeviceConfig {
    let mut c = small_drive();
    c.ftl.over_provisioning = Some(0.5);
    shrink(&mut c);
    c
}

/// The drive with parity, with a small buffer and room for the data of a dead plane.
pub fn stripes() -> DeviceConfig {
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

/// The drives without and with parity.
pub fn both() -> [(&'static str, DeviceConfig); 2] {
    [("rows", rows()), ("stripes", stripes())]
}

/// The drive with these faults at exact places.
pub fn with(mut c: DeviceConfig, faults: &[String]) -> DeviceConfig {
    c.fault = faults.iter().map(|text| text.parse().unwrap_or_else(|e| panic!("{e}"))).collect();
    c
}

/// The drive prepared for faults that never come true.
pub fn never(c: DeviceConfig) -> DeviceConfig {
    with(c, &[NEVER.to_string()])
}

/// What a command returned.
#[derive(Clone, Debug)]
pub struct Got {
    /// How it ended.
    pub status: Status,
    /// The bytes of a read.
    pub data: Vec<u8>,
    /// From the arrival to the end, ns.
    pub latency: u64,
    /// The time charged to operations that failed, ns.
    pub retried: u64,
}

/// A filled drive that holds bytes, the time, and what each unit should hold.
pub struct Rig {
    /// The drive.
    pub device: Device<(), InMemory>,
    /// The time.
    pub now: SimTime,
    /// What was written to each unit since the fill.
    pub written: BTreeMap<u32, Vec<u8>>,
    /// The unit of a write that was refused: it may have been written.
    pub open: Option<u32>,
}

impl Rig {
    /// A filled drive.
    pub fn new(config: &DeviceConfig) -> Rig {
        Rig::seeded(config, 1)
    }

    /// A filled drive of this seed.
    pub fn seeded(config: &DeviceConfig, seed: u64) -> Rig {
        let device = Device::with_medium(config, seed, (), InMemory::new()).unwrap_or_else(|e| panic!("{e}"));
        let mut rig = Rig { device, now: SimTime(0), written: BTreeMap::new(), open: None };
        rig.device.fill(rig.device.host_bytes());
        rig
    }

    /// Mapping units of the host.
    pub fn units(&self) -> u32 {
        self.device.shape().layout.host_units
    }

    /// Submit a command now.
    pub fn submit(&mut self, op: HostOp, offset: u64, bytes: u32, data: &[u8]) {
        let command = Command::new(op, offset, bytes);
        self.device.submit_write(self.now, self.now, command, 0, data).expect("a place in the queue");
    }

    /// Run until the drive is idle; return what has ended, in order.
    pub fn drain(&mut self) -> Vec<Got> {
        let mut out = Vec::new();
        while self.device.next_deadline() != SimTime::NEVER && !self.is_idle() {
            self.step(&mut out);
        }
        self.device.audit().and_then(|()| self.device.audit_parity()).unwrap_or_else(|e| panic!("{e}"));
        out
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.device.outstanding() == 0 && self.device.is_quiescent()
    }

    /// Fire the next event, and note what ends.
    pub fn step(&mut self, out: &mut Vec<Got>) {
        self.now = self.device.next_deadline();
        self.device.advance(self.now, &mut |c| {
            let retried = [Cause::RETRY_ARRAY, Cause::RETRY_TRANSFER, Cause::RETRY_DECODE];
            out.push(Got {
                status: c.status,
                data: c.data.to_vec(),
                latency: (c.completed - c.arrived).0,
                retried: retried.iter().map(|&cause| c.ledger.get(cause)).sum(),
            });
        });
    }

    /// Run one command until the drive is idle.
    pub fn one(&mut self, op: HostOp, offset: u64, bytes: u32, data: &[u8]) -> Got {
        self.submit(op, offset, bytes, data);
        self.drain().remove(0)
    }

    /// Run a FLUSH.
    pub fn flush(&mut self) -> Status {
        self.one(HostOp::Flush, 0, 0, &[]).status
    }

    /// Read a whole unit.
    pub fn read(&mut self, lpn: u32) -> Got {
        self.one(HostOp::Read, u64::from(lpn) * UNIT, UNIT as u32, &[])
    }

    /// Write a whole unit with one byte.
    pub fn write(&mut self, lpn: u32, value: u8) -> Status {
        let data = vec![value; UNIT as usize];
        let status = self.one(HostOp::Write, u64::from(lpn) * UNIT, UNIT as u32, &data).status;
        if status == Status::Ok {
            self.written.insert(lpn, data);
        }
        status
    }

    /// Overwrite random units until `done`, at most `most` times.
    pub fn churn(&mut self, most: u32, done: impl Fn(&Device<(), InMemory>) -> bool) {
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

    /// What a unit should hold.
    pub fn should(&self, lpn: u32) -> Vec<u8> {
        self.written.get(&lpn).cloned().unwrap_or_else(|| {
            let mut data = vec![0; UNIT as usize];
            filled_bytes(Lpn(lpn), 0, &mut data);
            data
        })
    }

    /// Read a unit whose data must be right.
    pub fn read_right(&mut self, lpn: u32) -> Got {
        let got = self.read(lpn);
        assert_eq!(got.status, Status::Ok, "unit {lpn}");
        assert!(got.data == self.should(lpn), "unit {lpn} has other bytes");
        got
    }

    /// Read a unit that must end without data.
    pub fn read_lost(&mut self, lpn: u32) -> Got {
        let got = self.read(lpn);
        assert_eq!((got.status, got.data.len()), (Status::MediaError, 0), "unit {lpn}");
        got
    }

    /// Read all units: those in the lost ranges end without data, all others are right.
    pub fn read_all(&mut self) -> u32 {
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
    pub fn only_loss(&self) -> Range<u64> {
        let lost = self.device.lost_ranges();
        assert_eq!(lost.len(), 1, "{lost:?}");
        lost[0].clone()
    }

    /// The address of a unit on flash.
    pub fn ppa(&self, lpn: u32) -> Ppa {
        match self.device.whereabouts(Lpn(lpn)) {
            Mapping::Flash(ppa) => ppa,
            place => panic!("unit {lpn} is {place:?}"),
        }
    }

    /// The die, plane, block and page of a unit, as a fault names them. Only right before blocks have
    /// been replaced.
    pub fn place(&self, lpn: u32) -> (u32, u32, u32, u32) {
        let layout = &self.device.shape().layout;
        let (_, slot) = layout.row_start(self.ppa(lpn));
        let place = layout.place(self.ppa(lpn));
        let plane = place.plane + layout.page_in_row(u64::from(slot) * layout.unit_bytes) as u32;
        (place.die, plane, layout.lane_of(place.extent).1, place.page)
    }

    /// The fault that makes the page of a unit unreadable.
    pub fn page_text(&self, lpn: u32) -> String {
        let (die, plane, block, page) = self.place(lpn);
        format!("page={die}.{plane}.{block}.{page}")
    }

    /// The extent of a unit.
    pub fn extent(&self, lpn: u32) -> u32 {
        self.device.shape().layout.extent_of(self.ppa(lpn)).0
    }

    /// Whether an extent holds nothing.
    pub fn is_empty(&self, extent: u32) -> bool {
        let each = self.device.shape().layout.units_per_extent;
        Ppa(extent * each).run(each).all(|ppa| self.device.medium().unit(ppa).is_none())
    }

    /// Check that the blocks add up; returns (grown bad, spare, retired extents).
    pub fn blocks(&self) -> (u64, u64, u64) {
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

/// What random commands came to.
pub struct Traffic {
    /// Digest over the commands that ended.
    pub digest: u64,
    /// Commands that ended because the drive is read-only.
    pub refused: usize,
}

/// Random commands as fast as the queue accepts them, until `done`; then until all have ended.
pub fn traffic<O: Observer>(
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
