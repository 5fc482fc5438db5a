//! Strides with two parities: any two members are computed from the others, with their bytes.

use crate::stage::{SECTOR, config_of};
use std::collections::BTreeSet;
use tailcut_core::address::Lpn;
use tailcut_core::ftl::map::Place;
use tailcut_core::medium::{InMemory, Medium, filled_bytes};
use tailcut_core::pblk::Pblk;
use tailcut_core::pblk::lines::State;
use tailcut_units::{Command, HostOp, SimTime, Status};

/// Channels, and members of a stride: two strides on eight LUNs, of positions 0, 2, 4 and 6, and of 1, 3, 5 and 7.
const CHANNELS: u32 = 4;
const LUNS: u32 = 2 * CHANNELS;
const WIDTH: u32 = 4;

/// A drive with bytes, and what its sectors should hold: the write that wrote each last, or none for what the fill put
/// there.
struct Raid {
    drive: Pblk<(), InMemory>,
    last: Vec<Option<u8>>,
}

impl Raid {
    /// A filled drive of which LUNs at these positions die at these times.
    fn new(deaths: &[(u32, &str)]) -> Raid {
        let sets =
            ["geometry.channels=4", "geometry.dies_per_chip=2", "geometry.blocks=48", "pblk.parities=2"];
        let mut config = config_of("tiny-pblk", "rail", &sets);
        assert_eq!((config.geometry.channels, config.pblk.stride), (CHANNELS, Some(WIDTH)));
        let fault = |(position, at): &(u32, &str)| {
            let die = position % CHANNELS * (LUNS / CHANNELS) + position / CHANNELS;
            format!("die={die}@{at}").parse().expect("a fault")
        };
        config.fault = deaths.iter().map(fault).collect();
        let mut drive = Pblk::with_medium(&config, 1, (), InMemory::new()).unwrap_or_else(|e| panic!("{e}"));
        let sectors = drive.host_bytes() / SECTOR * 7 / 10;
        drive.fill(sectors * SECTOR);
        drive.wear_in();
        Raid { drive, last: vec![None; sectors as usize] }
    }

    /// Run one command to its end. Returns its status and bytes.
    fn one(&mut self, op: HostOp, sector: u64, data: &[u8]) -> (Status, Vec<u8>) {
        let now = self.drive.now();
        let command = Command { op, offset: sector * SECTOR, bytes: SECTOR as u32 };
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
        let Place::Flash(at) = self.drive.whereabouts(Lpn(sector as u32)) else { return None };
        let place = self.drive.shape().place(at);
        let line = self.drive.lines().line(place.line);
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
        let mut raid = Raid::new(&dead.map(|position| (position, "1ms")));
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
        let mut raid = Raid::new(&[(dead[0], "1ms"), (dead[1], "1ms"), (dead[2], "3ms")]);
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
