//! Tests that every read returns the bytes that were written.
//!
//! Small drives of every kind run a random workload. The data of reads are compared byte by
//! byte with an oracle. The medium itself detects a program over programmed data, a read of an
//! erased page, and data of another unit at the place where the map has a unit.

use tailcut_core::address::{Lpn, Ppa};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, InMemory, Medium, NoData};
use tailcut_core::ftl::config::{CopyMode, ExtentKind};
use tailcut_core::ftl::map::Mapping;
use tailcut_core::medium::{UnitKind, filled_bytes};
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_testkit::swarm::{self, Case, Plan, member};
use tailcut_testkit::{parity_drive, small_drive};
use tailcut_units::{Command, HostOp, SimTime, Status};

/// Small drives with different data paths.
fn drives() -> Vec<(&'static str, DeviceConfig)> {
    let base = || {
        let mut c = small_drive();
        c.geometry.blocks = 16;
        c.geometry.pages = 6;
        c.geometry.page = 4096;
        c.ecc.codeword = 512;
        c.ftl.over_provisioning = Some(0.45);
        c.ftl.mapping_unit = 2048;
        c.host.max_transfer = 24 << 10;
        if let BufferConfig::Lru(m) = &mut c.policy.buffer {
            m.capacity = 32 << 10;
        }
        c
    };
    let with = |change: fn(&mut DeviceConfig)| {
        let mut c = base();
        change(&mut c);
        c
    };
    let blocks = |c: &mut DeviceConfig| {
        c.ftl.extent = ExtentKind::Block;
        (c.ftl.write_planes, c.ftl.gc.copy_planes, c.ftl.gc.program_planes) = (1, 1, 1);
        c.ftl.gc.erase_planes = 1;
    };
    let mut out = vec![
        ("superblocks", base()),
        ("lines", with(|c| c.ftl.extent = ExtentKind::Line)),
        (
            "lines, placed freely, through a tiny buffer",
            with(|c| {
                c.ftl.extent = ExtentKind::Line;
                c.policy.placement = member("dynamic");
                if let BufferConfig::Lru(m) = &mut c.policy.buffer {
                    m.capacity = 16 << 10;
                }
            }),
        ),
        (
            "write-through",
            with(|c| {
                c.policy.buffer = member("none");
                c.policy.flush = member("immediate");
            }),
        ),
        ("a unit over two pages", with(|c| c.ftl.mapping_unit = 8192)),
        (
            "moves in parts",
            with(|c| (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.in_flight) = (1, 1, 16)),
        ),
        ("reads that join", with(|c| c.ftl.join_reads = true)),
        (
            "reads held back by collection",
            with(|c| {
                c.policy.gc_scope = member("controller");
                c.ftl.extent = ExtentKind::Line;
            }),
        ),
        (
            "programs and erases that give way",
            with(|c| {
                c.policy.schedule = member("read-write-erase");
                c.policy.suspend_erase = member("immediate");
                c.policy.suspend_program = member("inter-phase");
            }),
        ),
    ];
    let mut c = base();
    blocks(&mut c);
    out.push(("blocks", c.clone()));
    c.ftl.mapping_unit = 4096;
    c.ftl.gc.copy = CopyMode::Copyback;
    out.push(("blocks and copybacks", c));
    let stripes = || {
        let mut c = parity_drive();
        (c.geometry.blocks, c.geometry.pages, c.ecc.codeword) = (16, 6, 512);
        c.host.max_transfer = 24 << 10;
        c
    };
    out.push(("stripes, rotating collections", stripes()));
    let mut c = stripes();
    c.policy.gc_schedule = member("threshold");
    c.ftl.gc.copy = CopyMode::Controller;
    (c.ftl.gc.in_flight, c.policy.read_path) = (4, member("gc-tolerant-authors"));
    out.push(("stripes, concurrent collections through the controller", c));
    let mut c = stripes();
    (c.policy.gc_schedule, c.policy.read_path) = (member("instant"), member("wait"));
    c.policy.flush = member("write-unit");
    out.push(("stripes, collections that take no time", c));
    out
}

fn plan(grain: u64, weights: [u64; 4], fill: u64) -> Plan {
    Plan {
        commands: 1_500,
        fill,
        aged: fill > 0 && grain > 1,
        weights,
        astray: 50,
        grain,
        largest: 12 << 10,
        hot: 24,
        gap: 60_000,
        pause: 300,
        sequential: false,
        audit_every: 500,
        fails: 0,
        interventions: Default::default(),
    }
}

#[test]
fn every_read_returns_what_was_written() {
    let mut erases = 0;
    for (name, config) in drives() {
        for (i, grain) in [1, 512, 2048].into_iter().enumerate() {
            for (weights, fill) in [([8, 8, 1, 1], 256), ([4, 8, 0, 0], 0), ([2, 12, 3, 0], 256)] {
                let case =
                    Case { seed: 7 + i as u64, config: config.clone(), plan: plan(grain, weights, fill) };
                let with = swarm::run_over(&case, InMemory::new());
                let with = with.unwrap_or_else(|e| panic!("{name}, grain {grain}, {weights:?}: {e}"));
                let (with, device) = with;
                check_records(&device).unwrap_or_else(|e| panic!("{name}, grain {grain}: {e}"));
                erases += with.erases;
                let (without, _) = swarm::run_over(&case, NoData).unwrap_or_else(|e| panic!("{name}: {e}"));
                assert_eq!(with, without, "{name}: data must not change the outcome");
            }
        }
    }
    assert!(erases > 1_000, "too few collections: {erases} erases");
}

/// Check that every mapped unit is stored with its own logical page number, and that the map
/// points to its newest copy. A scan of the out-of-band records would find the same copy.
fn check_records(device: &Device<(), InMemory>) -> Result<(), String> {
    let layout = &device.shape().layout;
    let stripes = device.shape().stripes.as_ref();
    let parities = stripes.map_or(0, |s| s.count);
    let mut newest = vec![0; (layout.host_units + parities) as usize];
    for ppa in Ppa(0).run(layout.units()) {
        if let Some(unit) = device.medium().unit(ppa).filter(|u| u.oob.lpn != Lpn::NONE) {
            let n = &mut newest[unit.oob.lpn.index()];
            *n = unit.oob.sequence.max(*n);
        }
    }
    for (lpn, newest) in Lpn(0).run(newest.len() as u32).zip(newest) {
        if let Mapping::Flash(ppa) = device.whereabouts(lpn) {
            let unit = device.medium().unit(ppa).ok_or(format!("unit {ppa} of {lpn} is erased"))?;
            let oob = unit.oob;
            let parity = stripes.is_some_and(|s| s.is_parity(lpn));
            let kind = if parity {
                oob.kind == UnitKind::Parity
            } else {
                matches!(oob.kind, UnitKind::User | UnitKind::Gc)
            };
            if oob.lpn != lpn || !kind || !unit.is_sound() {
                return Err(format!("{lpn} should be at {ppa}, where there is {oob:?}"));
            }
            if oob.sequence != newest {
                return Err(format!("the map points to {oob:?} of {lpn}, but {newest} is the newest"));
            }
        }
    }
    device.audit_parity()
}

/// A drive that holds bytes, and the time.
struct Rig {
    device: Device<(), InMemory>,
    now: SimTime,
}

impl Rig {
    fn new(config: &DeviceConfig) -> Rig {
        let device = Device::with_medium(config, 1, (), InMemory::new()).unwrap_or_else(|e| panic!("{e}"));
        Rig { device, now: SimTime(0) }
    }

    /// Submit one command and run until the drive is idle; return the bytes of a read.
    fn one(&mut self, op: HostOp, offset: u64, bytes: u32, data: &[u8]) -> Vec<u8> {
        let command = Command::new(op, offset, bytes);
        self.device.submit_write(self.now, self.now, command, 0, data).expect("a place in the queue");
        let mut out = Vec::new();
        while self.device.next_deadline() != SimTime::NEVER {
            self.now = self.device.next_deadline();
            self.device.advance(self.now, &mut |c| {
                assert_eq!(c.status, Status::Ok);
                out = c.data.to_vec();
            });
        }
        out
    }

    fn read(&mut self, offset: u64, bytes: u32) -> Vec<u8> {
        self.one(HostOp::Read, offset, bytes, &[])
    }

    fn faults(&self) -> &[String] {
        self.device.medium().faults()
    }
}

#[test]
fn a_part_of_a_unit_keeps_the_rest() {
    for (name, config) in drives() {
        let mut d = Rig::new(&config);
        d.device.fill(d.device.host_bytes());
        let unit = config.ftl.mapping_unit as u32;
        let mut should = vec![0; 2 * unit as usize];
        filled_bytes(Lpn(0), 0, &mut should[..unit as usize]);
        filled_bytes(Lpn(1), 0, &mut should[unit as usize..]);
        assert_eq!(d.read(0, 2 * unit), should, "{name}: as filled");
        for (offset, bytes, value) in [(7, 1, 0xAA), (500, 600, 0xBB), (unit as usize - 3, 9, 0xCC)] {
            let data = vec![value; bytes];
            d.one(HostOp::Write, offset as u64, bytes as u32, &data);
            should[offset..offset + bytes].fill(value);
            assert_eq!(d.read(0, 2 * unit), should, "{name}: after {offset}");
        }
        d.one(HostOp::Flush, 0, 0, &[]);
        assert_eq!(d.read(0, 2 * unit), should, "{name}: on flash");
        d.one(HostOp::Trim, 0, unit, &[]);
        // With parity, a TRIM of a single unit is not applied, because the parity covers the
        // unit.
        if !d.device.shape().has_parity() {
            should[..unit as usize].fill(0);
        }
        assert_eq!(d.read(0, 2 * unit), should, "{name}: trimmed");
        d.one(HostOp::Write, u64::from(unit), unit, &[]);
        should[unit as usize..].fill(0);
        assert_eq!(d.read(0, 2 * unit), should, "{name}: without data");
        assert!(d.faults().is_empty(), "{name}: {:?}", d.faults());
    }
}

#[test]
fn what_the_map_says_is_what_the_flash_holds() {
    for (name, config) in drives() {
        let mut d = Rig::new(&config);
        let bytes = d.device.host_bytes();
        d.device.fill(bytes);
        d.device.age_uniform(0..bytes, config.ftl.mapping_unit as u32, &mut |_| true);
        let check = |d: &Rig, when: &str| {
            assert!(d.faults().is_empty(), "{name}, {when}: {:?}", d.faults());
            check_records(&d.device).unwrap_or_else(|e| panic!("{name}, {when}: {e}"));
        };
        check(&d, "aged");
        // Load the same aged state from a saved translation layer.
        let mut saved = Vec::new();
        d.device.save_aged(1, &Default::default(), &mut saved).expect("it is saved");
        let mut other = Rig::new(&config);
        other.device.load_aged(1, &mut saved.as_slice()).expect("it is loaded");
        check(&other, "loaded");
        let unit = config.ftl.mapping_unit as u32;
        for lpn in [0, 5, 77].map(Lpn) {
            let offset = u64::from(lpn.0 * unit);
            let mut should = vec![0; unit as usize];
            filled_bytes(lpn, 0, &mut should);
            assert_eq!(other.read(offset, unit), should);
            other.one(HostOp::Write, offset, unit, &vec![3; unit as usize]);
            assert_eq!(other.read(offset, unit), vec![3; unit as usize]);
        }
        check(&other, "loaded and written");
    }
}

#[test]
fn a_damaged_bit_is_noticed() {
    let (_, config) = drives().remove(0);
    let mut d = Rig::new(&config);
    d.one(HostOp::Write, 0, 2048, &[1; 2048]);
    d.one(HostOp::Flush, 0, 0, &[]);
    let Mapping::Flash(ppa) = d.device.whereabouts(Lpn(0)) else { panic!("it was flushed") };
    d.device.medium_mut().damage(ppa, 9);
    d.read(0, 2048);
    assert!(d.faults()[0].contains("the bytes of unit"), "{:?}", d.faults());
}
