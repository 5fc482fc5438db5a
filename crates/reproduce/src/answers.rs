//! What the policies of a drive answer about its reads and writes, without a run.

use tailcut_core::config::DeviceConfig;
use tailcut_core::ftl::config::FtlKind;
use tailcut_core::policy::gc_schedule::GcSchedulePolicy;
use tailcut_core::policy::read_path::ReadPathPolicy;
use tailcut_core::policy::wear::WearPolicy;
use tailcut_core::policy::write_gate::Covered;
use tailcut_core::{device, pblk};

/// The answers of the policies of one drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answers {
    /// Reads go round the programs of users.
    pub programs: bool,
    /// Reads go round collection: its programs and its erases.
    pub collection: bool,
    /// Reads go round what levels wear.
    pub wear: bool,
    /// Share of the LUNs (of a stride, or of the lanes of a group) that may program for users at once.
    pub users_at_once: f64,
    /// The same for collection.
    pub collects_at_once: f64,
}

/// Asks the policies of a drive.
///
/// # Errors
/// The drive cannot be built.
pub fn answers(config: &DeviceConfig, seed: u64) -> Result<Answers, String> {
    match config.ftl.kind {
        FtlKind::Pblk => Ok(of_pblk(&pblk::Shape::new(config, seed).map_err(|e| e.to_string())?)),
        FtlKind::Page => of_pages(config, &device::Shape::new(config, seed).map_err(|e| e.to_string())?),
    }
}

/// Under pblk reads avoid the LUNs that have passed the gate.
fn of_pblk(shape: &pblk::Shape) -> Answers {
    let gate = shape.gate.zip(shape.strides);
    let in_turns = gate.map_or(1.0, |(_, s)| f64::from(s.parities) / f64::from(s.width));
    let programs = gate.is_some_and(|(rules, _)| rules.covers == Covered::All);
    // With LUNs of its own collection passes no gate, and what it writes has no parity.
    let collection = gate.is_some() && shape.hot_cold.is_none();
    Answers {
        programs,
        collection,
        // Nothing levels wear but collection, which takes its lines in turn.
        wear: collection,
        users_at_once: if programs { in_turns } else { 1.0 },
        collects_at_once: if collection { in_turns } else { 1.0 },
    }
}

/// A controller's reads go round collection if there is parity, and if one lane of a group collects at a time.
fn of_pages(config: &DeviceConfig, shape: &device::Shape) -> Result<Answers, String> {
    let policy = &config.policy;
    let reads = ReadPathPolicy::new(&policy.read_path, &shape.context)?;
    let turns = GcSchedulePolicy::new(&policy.gc_schedule, &shape.context)?;
    let wear = WearPolicy::new(&policy.wear, &shape.context)?;
    let width = shape.stripes.as_ref().map(|stripes| f64::from(stripes.width));
    let collection = reads.rebuilds() && turns.rotates() && width.is_some();
    Ok(Answers {
        programs: false,
        collection,
        // A stripe that moves is programmed as others are. Blocks that are emptied are collected.
        wear: collection && !wear.moves_stripes(),
        users_at_once: 1.0,
        collects_at_once: width.filter(|_| turns.rotates()).map_or(1.0, |width| 1.0 / width),
    })
}
