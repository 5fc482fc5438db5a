//! The checks that a configuration passes before a drive is built, in their order, and the checks
//! that relate policies to each other. Every other check is next to the keys that it concerns.

use super::policies::{Arbiters, Policies};
use crate::config::DeviceConfig;
use crate::flash::setup::check_suspension;
use crate::ftl::config::{BadBlocks, CopyMode, DieGeometry, ExtentKind};
use crate::nand::config::BusyKind;
use crate::nand::faults::config::{FaultKind, FaultsConfig};
use crate::policy::PolicyConfig;
use crate::policy::background::BackgroundConfig;
use crate::policy::buffer::BufferConfig;
use crate::policy::gc_schedule::GcScheduleConfig;
use crate::policy::gc_scope::Scope;
use crate::policy::redundancy::RedundancyConfig;
use crate::policy::write_gate::WriteGateConfig;
use crate::problem::{ConfigProblem, Found, refuse};

/// Refuse values that no drive can have. A check may rely on those of the groups before its own; what the checks of a group
/// find is reported together.
pub(super) fn check_values(c: &DeviceConfig) -> Result<(), ConfigProblem> {
    let g = &c.geometry;
    let mut alone = Found::default();
    alone.add(g.check());
    alone.add(c.timing.check());
    alone.add(c.suspend.check());
    alone.add(c.channel.check_times());
    alone.add(c.ecc.check_times());
    alone.add(c.host.check_times());
    alone.add(c.controller.check());
    alone.add(c.channel.check_rate());
    alone.add(c.host.check_rate());
    alone.add(c.ecc.check_queue());
    alone.add(c.host.check_queue());
    alone.end()?;
    let f = &c.ftl;
    let die = DieGeometry {
        page: g.page,
        planes: g.planes,
        independent: g.busy_unit == BusyKind::Plane,
        reads_by_plane: g.reads_by_plane(),
    };
    let mut of_planes = Found::default();
    of_planes.add(f.check_units(die));
    of_planes.add(f.check_rated_cycles(c.erase.is_some()));
    of_planes.add(g.check_busy_unit(f.extent == ExtentKind::Block));
    of_planes.add(g.check_plane_reads());
    of_planes.add(f.check_joins(die, !matches!(c.policy.redundancy, RedundancyConfig::None(_))));
    of_planes.add(f.check_erases(die));
    of_planes.add(f.check_copies(die));
    of_planes.end()?;
    c.ecc.check_codeword(f.mapping_unit, g.page)?;
    c.host.check_transfer(f.mapping_unit)?;
    c.ecc.check_write_unit(f.write_unit(g.page))?;
    check_flush(&c.policy)?;
    if !matches!(c.policy.write_gate, WriteGateConfig::None(_)) {
        return refuse(
            "policy.write_gate",
            "only pblk has strides with a gate: it belongs to ftl.kind = \"pblk\"",
        );
    }
    c.check_faults()?;
    check_slc(c)?;
    c.check_erase()?;
    check_errors(c)?;
    c.age.check()?;
    check_scatter(c)
}

/// Check the SLC region, and that nothing else is asked for that cannot go with it.
fn check_slc(c: &DeviceConfig) -> Result<(), ConfigProblem> {
    let Some(slc) = &c.slc else { return Ok(()) };
    slc.check(&c.timing, c.geometry.pages)?;
    if !matches!(c.policy.redundancy, RedundancyConfig::None(_)) {
        let problem = "parity protects units at the places of their stripe, and a region takes writes wherever it has room: set policy.redundancy to none, or slc.blocks to 0";
        return refuse("slc", problem);
    }
    if c.ftl.gc.copy == CopyMode::Copyback {
        let problem = "`copyback` moves pages inside a plane from block to block of one kind, and a fold changes the kind: take `controller`, or set slc.blocks to 0";
        return refuse("ftl.gc.copy", problem);
    }
    if c.ftl.bad_blocks == BadBlocks::Hole {
        let problem = "extents with holes keep the numbers of their blocks, and the region takes the last good blocks of each plane: set ftl.bad_blocks to remap, or slc.blocks to 0";
        return refuse("slc", problem);
    }
    let fails = c.faults != FaultsConfig::default();
    if fails || c.fault.iter().any(|fault| fault.kind != FaultKind::Bad) {
        let problem = "nothing fails in a region here, and this drive has faults: leave the faults out, or set slc.blocks to 0";
        return refuse("slc", problem);
    }
    Ok(())
}

/// Check the raw bit errors, and that nothing reacts to them where there are none.
fn check_errors(c: &DeviceConfig) -> Result<(), ConfigProblem> {
    let refreshes = matches!(c.policy.background, BackgroundConfig::Refresh(_));
    if refreshes && matches!(c.policy.gc_schedule, GcScheduleConfig::Instant(_)) {
        let problem = "`refresh` moves data by collections, which take no time under policy.gc_schedule = \"instant\": choose another schedule";
        return refuse("policy.background", problem);
    }
    if refreshes && c.errors.is_none() {
        let problem = "`refresh` writes data again before their errors are too many, and this drive has no table `errors`";
        return refuse("policy.background", problem);
    }
    c.check_errors()?;
    if c.errors.is_some() && c.ftl.gc.copy == CopyMode::Copyback {
        let problem = "`copyback` moves pages without decoding them, so that their errors would add up: take `controller`, or leave the table `errors` out";
        return refuse("ftl.gc.copy", problem);
    }
    Ok(())
}

/// Check that a state of whole free extents is not asked for where extents have holes.
fn check_scatter(c: &DeviceConfig) -> Result<(), ConfigProblem> {
    if c.age.free.is_some() && c.ftl.bad_blocks == BadBlocks::Hole {
        let problem = "the past `scattered` cannot be made around holes of extents: leave this key out, or set ftl.bad_blocks to remap";
        return refuse("age.free", problem);
    }
    Ok(())
}

/// Check that data leave at once (`immediate`) exactly if there is no write buffer (`none`).
fn check_flush(p: &PolicyConfig) -> Result<(), ConfigProblem> {
    let name = p.flush.name();
    let through = matches!(p.buffer, BufferConfig::None(_));
    if through != (name == "immediate") {
        return refuse(
            "policy.flush",
            format!("`{name}` with policy.buffer `{}`: `none` and `immediate` go together", p.buffer.name()),
        );
    }
    Ok(())
}

/// Check that units stay in their planes and that there is a write buffer: stripes need both.
pub(super) fn check_striping(p: &PolicyConfig, fixed_placement: bool) -> Result<(), ConfigProblem> {
    if !fixed_placement {
        return refuse(
            "policy.redundancy",
            format!(
                "`{}` binds each unit to its plane, and policy.placement `{}` does not: set it to static",
                p.redundancy.name(),
                p.placement.name()
            ),
        );
    }
    if matches!(p.buffer, BufferConfig::None(_)) {
        return refuse(
            "policy.redundancy",
            format!("`{}` gathers stripes in a write buffer: set policy.buffer to lru", p.redundancy.name()),
        );
    }
    Ok(())
}

/// Refuse combinations in which nothing would be suspended or rebuilt, or the drive would make no
/// progress.
pub(super) fn check_combinations(
    config: &DeviceConfig,
    policies: &Policies,
    arbiters: &Arbiters,
    has_parity: bool,
) -> Result<(), ConfigProblem> {
    let p = &config.policy;
    let schedule = &arbiters.schedule;
    let (erases, programs) = (arbiters.suspend_erase.suspends(), arbiters.suspends_programs());
    let refuse =
        |key: &str, name: &str, why: &str| refuse(&format!("policy.{key}"), format!("`{name}` {why}"));
    check_suspension(config, schedule, erases, programs)?;
    if schedule.reads_close_channel() && policies.gc_scope.scope() != Scope::Operation {
        let why = format!(
            "with policy.gc_scope `{}`: a collection would block the reads that this schedule serves first",
            p.gc_scope.name()
        );
        return refuse("schedule", p.schedule.name(), &why);
    }
    if policies.flush.by_die() && policies.placement.pool_lanes() > config.geometry.planes {
        let why = format!(
            "sends data by die, with policy.placement `{}`, which chooses the die of a write only when it leaves the buffer: set it to static or die",
            p.placement.name()
        );
        return refuse("flush", p.flush.name(), &why);
    }
    if policies.read_path.rebuilds() && !has_parity {
        let why = "rebuilds from parity, and there is none: set policy.redundancy to rain, or take wait";
        return refuse("read_path", p.read_path.name(), why);
    }
    if erases && matches!(policies.gc_scope.scope(), Scope::Channel | Scope::Controller) {
        let why = format!(
            "with policy.gc_scope `{}`: a collection blocks host reads until its erase has ended, so none could interrupt the erase",
            p.gc_scope.name()
        );
        return refuse("suspend_erase", p.suspend_erase.name(), &why);
    }
    Ok(())
}
