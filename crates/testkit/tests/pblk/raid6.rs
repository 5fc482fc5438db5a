//! Strides with two parities: any two members are computed from the others, with their bytes.

use crate::stage::{SECTOR, Stage, config_of};
use std::collections::BTreeSet;
use tailcut_core::address::Lpn;
use tailcut_core::device::OpKind;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::medium::{InMemory, Medium, filled_bytes};
use tailcut_core::pblk::Pblk;
use tailcut_core::pblk::lines::State;
use tailcut_units::{Command, HostOp, SimTime, Status};

/// Channels, and members of a stride: two strides on eight LUNs, of positions 0, 2, 4 and 6, and of 1, 3, 5 and 7.
const CHANNELS: u32 = 4;
const LUNS: u32 = 2 * CHANNELS;
const WIDTH: u32 = 4;

/// The die of a LUN position, as faults name it.
fn die(position: u32) -> u32 {
    position % CHANNELS * (LUNS / CHANNELS) + position / CHANNELS
}

/// A small drive on which LUNs at these positions die at these times.
fn config(deaths: &[(u32, &str)]) -> DeviceConfig {
    let sets = ["geometry.channels=4", "geometry.dies_per_chip=2", "geometry.blocks=48", "pblk.parities=2"];
    let mut config = config_of("tiny-pblk", "rail", &sets);
    assert_eq!((config.geometry.channels, config.pblk.stride), (CHANNELS, Some(WIDTH)));
    let fault =
        |&(position, at): &(u32, &str)| format!("die={}@{at}", die(position)).parse().expect("a fault");
    config.fault = deaths.iter().map(fault).collect();
    config
}

/// A drive with bytes, and what its sectors should hold: the write that wrote each last, or none for what the fill put
/// there.
struct Raid {
    drive: Pblk<(), InMemory>,
    last: Vec<Option<u8>>,
}

impl Raid {
    /// A filled drive.
    fn new(config: &DeviceConfig) -> Raid {
        let mut drive = Pblk::with_medium(config, 1, (), InMemory::new()).unwrap_or_else(|e| panic!("{e}"));
        let sectors = drive.host_bytes() / SECTOR * 7 / 10;
        drive.fill(sectors * SECTOR);
        drive.wear_in();
        Raid { drive, last: vec![None; sectors as usize] }
    }

    /// Run one command to its end. Returns its status and bytes.
    fn one(&mut self, op: HostOp, sector: u64, data: &[u8]) -> (Status, Vec<u8>) {
        let now = self.drive.now();
        let command = Command::new(op, sector * SECTOR, SECTOR as u32);
        self.drive.submit_write(now, now, command, 0, data).expect("a place");
        let mut ended = None;
        while ended.is_none() {
            let at = self.drive.next_deadline();
            assert_ne!(at, SimTime::NEVER, "{}", self.drive.describe_waiting());
            self.drive.advance(at, &mut |c| ended = Some((c.status, c.data.to_vec())));
        }
        ended.expect("it has ended")
    }

    fn write(&mut self, sector: u64, value: u8) {
        assert_eq!(self.one(HostOp::Write, sector, &[value; SECTOR as usize]).0, Status::Ok);
        self.last[sector as usize] = Some(value);
    }

    /// Read a sector. Returns whether it is there; then it must hold what was written.
    fn reads(&mut self, sector: u64) -> bool {
        let (status, data) = self.one(HostOp::Read, sector, &[]);
        if status != Status::Ok {
            assert_eq!((status, data.len()), (Status::MediaError, 0));
            return false;
        }
        let mut should = vec![0; SECTOR as usize];
        match self.last[sector as usize] {
            Some(value) => should.fill(value),
            None => filled_bytes(Lpn(sector as u32), 0, &mut should),
        }
        assert!(data == should, "sector {sector} has other bytes");
        true
    }

    /// The position of a sector of the host, and whether both parities of its stride are in its stripe, of a closed line.
    fn place(&self, sector: u64) -> Option<(u32, bool)> {
        let Mapping::Flash(at) = self.drive.whereabouts(Lpn(sector as u32)) else { return None };
        let place = self.drive.shape().place(at);
        let line = self.drive.lines().line(place.index);
        let strides = self.drive.shape().strides.expect("strides");
        let mut parities =
            strides.members(strides.stride_of(place.position)).filter(|&m| strides.is_parity(m));
        let in_line = |position| (line.start..line.end).contains(&(place.page * LUNS + position));
        Some((place.position, line.state == State::Closed && parities.all(in_line)))
    }

    /// The sectors that the report says are lost.
    fn lost(&self) -> BTreeSet<u64> {
        let report = self.drive.fault_report().expect("a drive that can fail");
        report.lost.into_iter().flat_map(|range| range.start / SECTOR..range.end / SECTOR).collect()
    }

    /// Check the laws, and that the medium has seen nothing that cannot be.
    fn audit(&self) {
        self.drive.audit().and_then(|()| self.drive.audit_parity()).unwrap_or_else(|e| panic!("{e}"));
        assert!(self.drive.medium().faults().is_empty(), "{:?}", self.drive.medium().faults());
    }
}

/// Two LUNs of one stride die, whichever they are: nothing is lost that has its parities, and the bytes are right. Reads
/// of the host and collection compute it, and write it again.
#[test]
fn two_dead_luns_of_a_stride_lose_nothing() {
    for dead in [[0, 2], [0, 4], [2, 4], [0, 6], [2, 6], [4, 6]] {
        let mut raid = Raid::new(&config(&dead.map(|position| (position, "1ms"))));
        raid.audit();
        raid.drive.advance(SimTime(2_000_000), &mut |_| ());
        let sectors = raid.last.len() as u64;
        // What has no parity in its place may be lost: data beside the metadata at the ends of lines.
        let lost = raid.lost();
        assert!(lost.len() < sectors as usize / 40, "{} of {sectors} sectors", lost.len());
        let unprotected =
            |&sector: &u64| raid.place(sector).is_some_and(|(at, both)| dead.contains(&at) && !both);
        assert!(lost.iter().all(unprotected), "{dead:?}: {lost:?}");
        for sector in (0..sectors).step_by(7) {
            assert_eq!(raid.reads(sector), !lost.contains(&sector), "{dead:?}: sector {sector}");
        }
        raid.audit();
        let computed = raid.drive.counters().rebuilt_units;
        let on_data = dead.iter().filter(|&&position| position < LUNS / 2).count() as u64;
        assert!(computed >= on_data * sectors / 7 / 5, "{dead:?}: {computed} of {sectors} sectors");
        // Collection moves what is left on the dead LUNs.
        let mut i = 0;
        while raid.drive.counters().collections < 4 {
            raid.write(i * 7919 % sectors, i as u8);
            i += 1;
            assert!(i < 100_000, "{}", raid.drive.describe_waiting());
        }
        raid.audit();
        assert!(on_data == 0 || raid.drive.counters().mended_units > 100, "{:?}", raid.drive.counters());
        for sector in (0..sectors).step_by(11) {
            assert!(raid.reads(sector) || lost.contains(&sector), "{dead:?}: sector {sector}");
        }
        raid.audit();
    }
}

/// A third LUN of the stride dies: what was on the dead LUNs of data is lost, reads fail, and the report names it all. The
/// other stride loses nothing.
#[test]
fn a_third_dead_lun_loses_data_and_says_so() {
    for dead in [[0, 2, 4], [0, 2, 6], [0, 4, 6]] {
        let mut raid = Raid::new(&config(&[(dead[0], "1ms"), (dead[1], "1ms"), (dead[2], "3ms")]));
        let sectors = raid.last.len() as u64;
        let on_dead = |raid: &Raid, sector| raid.place(sector).is_some_and(|(at, _)| dead.contains(&at));
        raid.drive.advance(SimTime(2_000_000), &mut |_| ());
        let before = raid.lost().len();
        raid.drive.advance(SimTime(4_000_000), &mut |_| ());
        let lost = raid.lost();
        let should: BTreeSet<u64> = (0..sectors).filter(|&sector| on_dead(&raid, sector)).collect();
        assert!(
            lost.is_subset(&should) && lost.len() > 10 * before,
            "{dead:?}: {} after {before}",
            lost.len()
        );
        // Members that hold no data in a stripe are known, so that two dead LUNs are left there.
        assert!(
            should.len() - lost.len() < sectors as usize / 40,
            "{dead:?}: {} of {}",
            lost.len(),
            should.len()
        );
        for sector in (0..sectors).step_by(13) {
            assert_eq!(raid.reads(sector), !lost.contains(&sector), "{dead:?}: sector {sector}");
        }
        raid.audit();
    }
}

/// A read of a busy LUN leaves out one member: a dead one, or else Q. If two others are dead, it waits for the LUN.
#[test]
fn of_two_parities_one_is_left_out() {
    // A LUN of data; the others of its stride are one of data, P and Q.
    let first = 0;
    for (dead, read) in [
        (&[][..], &[2, 4][..]),
        (&[2], &[4, 6]),
        (&[4], &[2, 6]),
        (&[6], &[2, 4]),
        // One other that is left out, and one that fails; then the LUN itself.
        (&[2, 4], &[4, 6, 0]),
    ] {
        let deaths: Vec<(u32, &str)> = dead.iter().map(|&position| (position, "1ms")).collect();
        let mut stage = Stage::new(&config(&deaths));
        let unit = stage.drive.shape().array.write_unit;
        stage.drive.fill(stage.drive.host_bytes() / 2);
        let mut at = 2_000_000;
        // Let the writer come to that LUN.
        loop {
            stage.submit(at, HostOp::Write, 0, unit);
            stage.until(at + 100_000);
            let last = stage.changes().last().expect("a program").clone();
            if last.position == first && last.ended == 0 {
                break;
            }
            at += 20_000_000;
            stage.until(at);
        }
        let on_first = |&sector: &u64| {
            let Mapping::Flash(place) = stage.drive.whereabouts(Lpn(sector as u32)) else { return false };
            let place = stage.drive.shape().place(place);
            (place.position, place.page) == (first, 32)
        };
        let sector = (0..).find(on_first).expect("a sector on the LUN");
        let (ops, failures) = (stage.drive.observer().ops.len(), stage.drive.counters().read_failures);
        stage.submit(at + 100_000, HostOp::Read, sector, 1);
        stage.until(at + 20_000_000);
        assert_eq!(stage.ended.last().map(|e| (e.op, e.status)), Some((HostOp::Read, Status::Ok)));
        let reads = stage.drive.observer().ops[ops..].iter().filter(|op| op.kind == OpKind::Read);
        assert_eq!(reads.map(|op| op.position).collect::<Vec<_>>(), read, "{dead:?}");
        let c = stage.drive.counters();
        assert_eq!(c.read_failures - failures, u64::from(dead.len() > 1), "{dead:?}");
        assert_eq!((c.rebuilt_units, c.unprotected_units), (1, 0), "{dead:?}");
    }
}

/// A LUN is dead, and in one stripe a page of another member cannot be read, which nobody knows. A third command reads other
/// members.
#[test]
fn a_page_beside_a_dead_lun_cannot_be_read() {
    for position in [2, 4] {
        let mut config = config(&[(0, "1ms")]);
        config.fault.push(format!("page={}.1.3.5", die(position)).parse().expect("a fault"));
        let mut raid = Raid::new(&config);
        raid.drive.advance(SimTime(2_000_000), &mut |_| ());
        let shape = raid.drive.shape();
        let is_beside = |&sector: &u64| {
            let Mapping::Flash(at) = raid.drive.whereabouts(Lpn(sector as u32)) else { return false };
            let place = shape.place(at);
            (place.index, place.page, place.plane, place.position) == (3, 5, 1, 0)
        };
        let sectors: Vec<u64> = (0..raid.last.len() as u64).filter(is_beside).collect();
        assert_eq!(sectors.len() as u32, shape.array.write_unit / shape.planes);
        for (at, &sector) in sectors.iter().enumerate() {
            let before = raid.drive.counters().rebuilt_units;
            assert!(raid.reads(sector));
            // Now the page is known, at least for this sector.
            let computed = raid.drive.counters().rebuilt_units - before;
            assert!(computed == 2 || at > 0, "{computed}");
        }
        raid.audit();
        assert!(raid.lost().is_empty());
    }
}
