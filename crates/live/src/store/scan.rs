//! Checks a whole store without a server.

use super::folder::{StoreError, Stored, look};
use super::{Kept, Note, StoreHeader};
use std::path::Path;
use tailcut_core::address::Ppa;
use tailcut_core::config::DeviceConfig;
use tailcut_core::medium::{Medium, Store, UnitKind};
use tailcut_units::{Command, HostOp, SimTime, Status};

/// The most violated invariants that are reported.
const TOLD: usize = 16;
/// Bytes of each read of the check.
const READ: u64 = 128 << 10;

/// The results of a check.
#[derive(Debug, Default)]
pub struct Findings {
    /// The number of the last committed turn.
    pub turn: u64,
    /// The state of the controller at this turn.
    pub note: Note,
    /// Programmed units, by [`KINDS`].
    pub units: [u64; KINDS.len()],
    /// Units whose data are stored.
    pub with_bytes: u64,
    /// Successful reads of the host's address space.
    pub reads: u64,
    /// Reads that the drive has answered with an error, because faults have lost the data.
    pub lost: u64,
    /// Bytes of the files.
    pub bytes_used: u64,
    /// The first violated invariants.
    pub broken: Vec<String>,
}

/// The kinds of units, in the order of [`Findings::units`].
pub const KINDS: [(UnitKind, &str); 5] = [
    (UnitKind::User, "written by the host"),
    (UnitKind::Gc, "moved by collection"),
    (UnitKind::Wear, "moved to level wear"),
    (UnitKind::Parity, "parity"),
    (UnitKind::Pad, "padding"),
];

impl Findings {
    fn broken(&mut self, what: String) {
        if self.broken.len() < TOLD {
            self.broken.push(what);
        }
    }
}

/// Check a store: every record and its data are intact, the controller can be restored to its last state, its
/// invariants hold there, and every logical unit reads its own data. Nothing is changed. `progress` is called with
/// the completed fraction, and returns false to stop the check.
///
/// # Errors
/// The store cannot be opened.
pub fn check(
    folder: &Path,
    header: &StoreHeader,
    config: &DeviceConfig,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Findings, StoreError> {
    let (mut drive, note) = look(folder, config, header.seed)?;
    let mut found = Findings { note, ..Findings::default() };
    units(&drive, &mut found, &mut |part| progress(part / 2.0));
    if let Err(law) = drive.audit() {
        found.broken(format!("the controller: {law}"));
    }
    reads(&mut drive, &mut found, &mut |part| progress(0.5 + part / 2.0));
    Ok(found)
}

/// Check every unit.
fn units(drive: &Stored, found: &mut Findings, progress: &mut dyn FnMut(f64) -> bool) {
    let Kept::Files(files) = drive.medium().store() else { return };
    let size = *files.size();
    (found.turn, found.bytes_used) = (files.turn(), files.bytes_used());
    let extents = size.extents;
    for extent in 0..extents {
        for ppa in units_of(size.units_of(extent)) {
            let Some(unit) = files.unit(ppa) else { continue };
            if let Some(place) = KINDS.iter().position(|(kind, _)| *kind == unit.oob.kind) {
                found.units[place] += 1;
            }
            found.with_bytes += u64::from(unit.stored().0.is_some());
            if !unit.is_sound() {
                found.broken(format!("unit {ppa}: its bytes are not those of its record, {:?}", unit.oob));
            }
        }
        if !progress(f64::from(extent + 1) / f64::from(extents)) {
            return;
        }
    }
    if let Some(failed) = files.failure() {
        found.broken(failed);
    }
}

fn units_of(range: std::ops::Range<Ppa>) -> impl Iterator<Item = Ppa> {
    range.start.run(range.end - range.start)
}

/// Read all of the host's address space.
fn reads(drive: &mut Stored, found: &mut Findings, progress: &mut dyn FnMut(f64) -> bool) {
    let all = drive.host_bytes();
    let step = READ.min(drive.max_transfer());
    let mut from = 0;
    while from < all {
        let bytes = step.min(all - from) as u32;
        let now = drive.now();
        let command = Command::new(HostOp::Read, from, bytes);
        let mut status = None;
        if let Err(e) = drive.submit(now, now, command, 0) {
            return found.broken(format!("a read of {bytes} bytes from {from}: {e}"));
        }
        while status.is_none()
            && drive.advance_to_completion(SimTime::NEVER, u64::MAX, &mut |c| status = Some(c.status)) > 0
        {
        }
        match status {
            Some(Status::Ok) => found.reads += 1,
            Some(Status::MediaError) => found.lost += 1,
            other => found.broken(format!("a read of {bytes} bytes from {from} ended with {other:?}")),
        }
        from += u64::from(bytes);
        if !progress(from as f64 / all as f64) {
            return;
        }
    }
    for fault in drive.medium().faults().to_vec() {
        found.broken(fault);
    }
}
