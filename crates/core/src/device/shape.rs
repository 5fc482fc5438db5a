//! Everything that is derived from a configuration. It is checked once and constant afterwards.

use super::capacity::{
    check_room, factory_holes, lane_sizes, most_stripes, most_units, raw_bytes, slc_bytes, usable_extents,
    without_slc,
};
use super::checks::{check_striping, check_values};
use super::policies::{Arbiters, Dimensioning, FixedAnswers, Policies};
use super::slc::FoldRule;
use crate::address::BusyUnit;
use crate::array::eraser::Eraser;
use crate::array::senses::Senses;
use crate::config::{DeviceConfig, HostConfig};
use crate::figures::Capacity;
use crate::flash::setup::Parts;
use crate::ftl::config::{CopyMode, ExtentKind};
use crate::ftl::extents::Extents;
use crate::ftl::holes::Holes;
use crate::ftl::layout::Layout;
use crate::ftl::map::Fill;
use crate::ftl::stripes::Stripes;
use crate::nand::blocks::{Blocks, Past, factory_bad};
use crate::nand::config::{BusyKind, EnergyConfig, SuspendConfig};
use crate::nand::faults::config::FaultKind;
use crate::nand::faults::{Death, Faults, deaths};
use crate::nand::slc::SlcConfig;
use crate::nand::timing::Timing;
use crate::policy::PolicyContext;
use crate::policy::buffer::BufferPolicy;
use crate::policy::gc_schedule::GcSchedulePolicy;
use crate::policy::placement::PlacementPolicy;
use crate::policy::redundancy::RedundancyPolicy;
use crate::problem::{ConfigProblem, of_policy, refuse};
use tailcut_units::Span;

/// The values derived from a drive's configuration.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Address arithmetic.
    pub layout: Layout,
    /// Closed form of the sequential fill.
    pub fill: Fill,
    /// Where stripes lie; `None` without parity.
    pub stripes: Option<Stripes>,
    /// By group: largest number of stripes that wear levelling may bring there.
    pub most_stripes: Vec<u32>,
    /// Time to compute a unit from the rest of its stripe, ns.
    pub xor_ns: u64,
    /// Array and transfer times.
    pub timing: Timing,
    /// The same times for programs of blocks that were erased at the lower of two voltages, if the erase scheme
    /// chooses.
    pub slow_programs: Option<Timing>,
    /// Capacity arithmetic.
    pub capacity: Capacity,
    /// By lane: the rows of its extents, in whole extents.
    pub whole_extents: Vec<u32>,
    /// The parts of extents with a factory-bad block; `None` if spare blocks replace bad ones.
    pub holes: Option<Holes>,
    /// Costs and limits of suspension.
    pub suspend: SuspendConfig,
    /// Power of the array.
    pub energy: EnergyConfig,
    /// Number of channels.
    pub channels: u32,
    /// Number of dies of the drive.
    pub dies: u32,
    /// Number of dies on each channel.
    pub dies_per_channel: u32,
    /// The part of a die that an array operation keeps busy.
    pub busy: BusyKind,
    /// Number of busy units of the drive.
    pub units: u32,
    /// Number of planes of a busy unit that read independently, or 1.
    pub planes_read: u32,
    /// How collection moves a page.
    pub copy: CopyMode,
    /// Mapping units that one collection read covers.
    pub copy_units: u32,
    /// Moves under way at once in one collection.
    pub gc_in_flight: u32,
    /// Free extents that host data do not use.
    pub reserve: u32,
    /// Number of these that are kept for failed programs and for folds of the SLC region. The collection schedule does
    /// not see them.
    pub kept_for_failures: u32,
    /// When the SLC region is folded; `None` without one.
    pub(super) folds: Option<FoldRule>,
    /// Number of lanes of a pool: those to which a unit in the buffer may still go.
    pub pool_lanes: u32,
    /// Mapping units in a page, at least 1.
    pub units_per_page: u32,
    /// Bytes of a codeword.
    pub codeword: u64,
    /// Codewords in a mapping unit.
    pub codewords_per_unit: u32,
    /// The host side.
    pub host: HostConfig,
    /// Controller time of a command.
    pub controller_ns: u64,
    /// The context that policies are created with.
    pub context: PolicyContext,
    /// Codewords in a page.
    pub codewords_per_page: u32,
    /// Planes that one program of collection covers.
    pub gc_program_planes: u32,
    /// Planes that one erase of an extent of several planes covers.
    pub erase_planes: u32,
    /// Mapping units that the write buffer holds. Without a buffer: mapping units that may be under
    /// way.
    pub buffer_slots: u32,
    /// Number of blocks of a plane.
    pub blocks: u32,
    /// The past of every block: cycles, reads and retention age at the start of a run.
    pub past: Past,
    /// The factory-bad blocks of each plane.
    pub bad: Vec<Vec<u32>>,
    /// Whether the configuration names some of them.
    pub names_bad: bool,
    /// The faults that can occur; `None` if nothing can fail.
    pub faults: Option<Faults>,
    /// The model of the erase scheme; `None` if erases use the configured loops.
    pub eraser: Option<Eraser>,
    /// The model of senses; `None` if pages have no raw bit errors.
    pub senses: Option<Senses>,
    /// The run's seed.
    pub seed: u64,
    /// The planes that die, in order of time.
    pub(super) deaths: Vec<Death>,
    /// Initial value of the smallest time between two rewritten stripes, ns.
    pub rewrite_ns: u64,
    /// Warnings for the user about a configuration that can be built.
    pub warnings: Vec<String>,
    /// The answers of the policies that never change.
    pub(super) fixed: FixedAnswers,
}

impl Shape {
    /// Check a configuration and derive everything that follows from it.
    pub fn new(c: &DeviceConfig, seed: u64) -> Result<Shape, ConfigProblem> {
        Ok(Shape::with_policies(c, seed)?.0)
    }

    /// As [`Shape::new`], with the policies of the drive. Each is created once, because the dimensions depend on some of
    /// them.
    pub(super) fn with_policies(
        c: &DeviceConfig,
        seed: u64,
    ) -> Result<(Shape, Policies, Arbiters), ConfigProblem> {
        check_values(c)?;
        let g = &c.geometry;
        let dies = g.dies();
        let bad = factory_bad(g, &c.fault, seed);
        let usable = without_slc(c, usable_extents(c, &bad))?;
        let (raw, slc) = (raw_bytes(g), slc_bytes(c));
        let (capacity_key, user) = c.ftl.user_bytes(raw - slc)?;
        let unit = c.ftl.mapping_unit;
        let units = most_units(c, &usable);
        c.ftl.check_addressable(units, user, 0)?;
        let mut layout = Layout::new(
            c.ftl.extent,
            dies,
            g.planes,
            g.pages,
            g.page,
            unit,
            c.ftl.write_planes,
            usable,
            (user / unit) as u32,
        );
        if let Some(slc) = &c.slc {
            layout = layout.with_slc(slc.blocks, slc.pages(g.pages, &c.timing));
        }
        let holes = factory_holes(c, &layout, &bad);
        let sizes = lane_sizes(&layout, holes.as_ref());
        let whole_extents: Vec<u32> = sizes.iter().map(|size| size.whole_extents(&layout)).collect();
        let mut context = context(c, &layout, &whole_extents, seed);
        let placement =
            PlacementPolicy::new(&c.policy.placement, &context).map_err(of_policy("placement"))?;
        let pool_lanes = placement.pool_lanes();
        let (stripes, xor_ns) = striping(c, &mut layout, &mut context, placement.order(), pool_lanes == 1)?;
        let fill = Fill::new(&layout, placement.chunk(), placement.order(), stripes.clone());
        let gc_schedule =
            GcSchedulePolicy::new(&c.policy.gc_schedule, &context).map_err(of_policy("gc_schedule"))?;
        let faults = Faults::new(&c.faults, &c.fault, g, c.errors.is_some(), seed);
        // A failed program closes its extent early, so a further free extent is needed.
        let fails = faults.as_ref().is_some_and(Faults::may_fail_programs);
        // A fold may open an extent and frees none.
        let kept_for_failures = u32::from(fails) + u32::from(c.slc.is_some());
        let reserve = gc_schedule.reserve().saturating_add(kept_for_failures);
        let user = if stripes.is_some() { u64::from(layout.host_units) * unit } else { user };
        let capacity = check_room(&layout, &sizes, &fill, (raw, slc), user, &capacity_key, reserve)?;
        let most_stripes =
            stripes.as_ref().map_or_else(Vec::new, |s| most_stripes(&layout, &sizes, &fill, s, reserve));
        let buffer = BufferPolicy::new(&c.policy.buffer, &context).map_err(of_policy("buffer"))?;
        let (buffer_slots, warning) = buffer_slots(c, &layout, &buffer);
        c.ftl.check_addressable(units, user, buffer_slots.into())?;
        // Programs that join cover all planes of a die.
        let most_planes = if c.ftl.join_programs { g.planes } else { c.ftl.write_planes };
        let row_bytes = u64::from(most_planes) * g.page;
        let parts = Parts::new(c, &context, row_bytes, seed)?;
        check_last_loops(parts.eraser.as_ref(), faults.is_some())?;
        let arbiters = Arbiters::new(&c.policy, &context)?;
        let policies = Policies::new(&c.policy, &context, Dimensioning { buffer, placement, gc_schedule })?;
        let members = (&policies, &arbiters);
        let fixed = FixedAnswers::new(members, &parts, c.host.transfer, faults.is_some(), stripes.is_some());
        let Parts { timing, slow_programs, eraser, senses } = parts;
        let shape = Shape {
            fixed,
            folds: c.slc.as_ref().map(|slc| fold_rule(slc, &layout)),
            codewords_per_page: (g.page / c.ecc.codeword) as u32,
            gc_program_planes: c.ftl.gc.program_planes,
            erase_planes: c.ftl.gc.erase_planes,
            buffer_slots,
            warnings: warning.into_iter().collect(),
            blocks: g.blocks,
            whole_extents,
            holes,
            past: c.age.past(),
            bad,
            names_bad: c.fault.iter().any(|fault| fault.kind == FaultKind::Bad),
            faults,
            eraser,
            senses,
            seed,
            deaths: deaths(&c.faults, &c.fault, &c.geometry, seed),
            rewrite_ns: c.faults.rebuild_rate.map_or(0, |rate| Span::transfer(unit, rate).0),
            timing,
            slow_programs,
            fill,
            stripes,
            most_stripes,
            xor_ns,
            capacity,
            suspend: c.suspend.clone(),
            energy: c.energy.clone(),
            channels: g.channels,
            dies,
            dies_per_channel: g.chips_per_channel * g.dies_per_chip,
            busy: g.busy_unit,
            units: if g.busy_unit == BusyKind::Plane { dies * g.planes } else { dies },
            planes_read: g.planes_read(),
            copy: c.ftl.gc.copy,
            copy_units: ((u64::from(c.ftl.gc.copy_planes) * g.page / unit) as u32).max(1),
            gc_in_flight: c.ftl.gc.in_flight,
            reserve,
            kept_for_failures,
            pool_lanes,
            units_per_page: context.units_per_page,
            codeword: c.ecc.codeword,
            codewords_per_unit: (unit / c.ecc.codeword) as u32,
            host: c.host.clone(),
            controller_ns: c.controller.command.0,
            context,
            layout,
        };
        Ok((shape, policies, arbiters))
    }

    /// The blocks of a new drive.
    pub(super) fn new_blocks(&self) -> Blocks {
        let mut blocks =
            if self.faults.is_some() { self.fallible_blocks() } else { self.blocks_without_fault() };
        if self.eraser.is_some() {
            blocks.let_wear();
        }
        blocks
    }

    /// The blocks of a new drive, with the health of each.
    pub(super) fn fallible_blocks(&self) -> Blocks {
        let (layout, mut blocks) = (&self.layout, self.blocks_without_fault());
        match self.holes {
            None => blocks.let_fail(&self.bad, |plane| {
                layout.usable[(plane / layout.blocks_per_extent()) as usize] + layout.slc_extents
            }),
            Some(_) => blocks.let_fail_in_place(&self.bad),
        }
        blocks
    }

    fn blocks_without_fault(&self) -> Blocks {
        let planes = self.layout.planes;
        Blocks::new(self.bad.len() as u32 / planes, planes, self.blocks).with_past(self.past, self.seed)
    }

    /// The busy unit of a die and plane.
    #[inline]
    pub fn unit_of(&self, die: u32, plane: u32) -> BusyUnit {
        match self.busy {
            BusyKind::Die => BusyUnit(die),
            BusyKind::Plane => BusyUnit(die * self.layout.planes + plane),
        }
    }

    /// Number of planes of a busy unit.
    pub fn unit_planes(&self) -> u32 {
        match self.busy {
            BusyKind::Die => self.layout.planes,
            BusyKind::Plane => 1,
        }
    }

    /// Number of erases on each die that erase an extent.
    pub fn erases_per_die(&self) -> u32 {
        match self.layout.kind {
            ExtentKind::Block => 1,
            ExtentKind::Superblock | ExtentKind::Line => self.layout.planes / self.erase_planes,
        }
    }

    /// The channel of a busy unit.
    pub fn channel_of(&self, unit: BusyUnit) -> u32 {
        unit.0 / (self.units / self.channels)
    }

    /// The busy units on which a lane's extents lie.
    pub fn units_of_lane(&self, lane: u32) -> std::ops::Range<BusyUnit> {
        match self.layout.kind {
            ExtentKind::Line => BusyUnit(0)..BusyUnit(self.units),
            ExtentKind::Superblock => BusyUnit(lane)..BusyUnit(lane + 1),
            ExtentKind::Block => {
                let unit = self.unit_of(lane / self.layout.planes, lane % self.layout.planes);
                unit..unit + 1
            }
        }
    }

    /// Whether the logical address alone decides the lane.
    #[inline]
    pub fn is_fixed(&self) -> bool {
        self.pool_lanes == 1
    }

    /// The pool that a lane belongs to.
    #[inline]
    pub fn pool_of(&self, lane: u32) -> u32 {
        if self.is_fixed() { lane } else { lane / self.pool_lanes }
    }

    /// The number of lanes of one die; 1 if a lane spans a die or several.
    #[inline]
    pub fn lanes_of_die(&self) -> u32 {
        if self.layout.kind == ExtentKind::Block { self.layout.planes } else { 1 }
    }

    /// The first lane of a pool.
    #[inline]
    pub fn first_lane(&self, pool: u32) -> u32 {
        pool * self.pool_lanes
    }

    /// The lanes of a pool, as indices.
    pub fn lanes_of_pool(&self, pool: u32) -> std::ops::Range<usize> {
        let first = self.first_lane(pool) as usize;
        first..first + self.pool_lanes as usize
    }

    /// The busy units on which a pool's extents lie.
    pub fn units_of_pool(&self, pool: u32) -> std::ops::Range<BusyUnit> {
        let first = self.first_lane(pool);
        self.units_of_lane(first).start..self.units_of_lane(first + self.pool_lanes - 1).end
    }

    /// Whether redundancy is configured: units belong to stripes.
    #[inline]
    pub fn has_parity(&self) -> bool {
        self.stripes.is_some()
    }

    /// Whether stripes may move to colder lanes.
    pub fn moves_stripes(&self) -> bool {
        self.fixed.moves_stripes
    }

    /// Whether extents are emptied to level the erases of their blocks.
    pub fn levels_erases(&self) -> bool {
        self.fixed.erase_gap.is_some()
    }

    /// Whether old data are written again.
    pub fn refreshes(&self) -> bool {
        self.fixed.refreshes
    }

    /// Largest number of mapping units that one command touches.
    pub fn most_parts(&self) -> u32 {
        self.host.most_parts(self.layout.unit_bytes) as u32
    }

    /// The stripes of a drive. The caller must have checked that the drive has them.
    #[inline]
    pub(super) fn striped(&self) -> &Stripes {
        self.stripes.as_ref().expect("asked for only with parity")
    }

    /// Host capacity in bytes: whole mapping units.
    pub fn host_bytes(&self) -> u64 {
        u64::from(self.layout.host_units) * self.layout.unit_bytes
    }

    /// Call `give` with the plane and the index of each block in use.
    pub(super) fn of_blocks(&self, extents: &Extents, blocks: &Blocks, mut give: impl FnMut(u32, u32)) {
        let layout = &self.layout;
        for (lane, &usable) in (0..).zip(&layout.usable) {
            for plane in layout.planes_of(lane) {
                let (lane, part) = layout.part_of_plane(plane);
                let is_hole = |index| extents.is_hole(layout, lane * layout.stride + index, part);
                let in_use = |&index: &u32| blocks.has(plane, index) && !is_hole(index);
                (0..usable).filter(in_use).for_each(|index| give(plane, index));
            }
        }
    }

    /// Mean and maximum of a function of plane and index over the blocks in use.
    pub(super) fn mean_and_most(
        &self,
        extents: &Extents,
        blocks: &Blocks,
        of: impl Fn(u32, u32) -> u32,
    ) -> (f64, u32) {
        let (mut sum, mut count, mut most) = (0u64, 0u64, 0);
        self.of_blocks(extents, blocks, |plane, index| {
            let n = of(plane, index);
            sum += u64::from(n);
            most = most.max(n);
            count += 1;
        });
        (sum as f64 / count.max(1) as f64, most)
    }
}

/// The rule of folds, on a drive of this layout.
fn fold_rule(slc: &SlcConfig, layout: &Layout) -> FoldRule {
    let rows = f64::from(layout.slc_extents * layout.slc_rows) * slc.fold_below;
    FoldRule { idle: slc.fold_idle.0, rows: libm::ceil(rows) as u32 }
}

/// Return the stripes that the configuration asks for, and the time to compute a unit, ns. The host
/// capacity is reduced to whole stripes.
fn striping(
    c: &DeviceConfig,
    layout: &mut Layout,
    context: &mut PolicyContext,
    order: Vec<u32>,
    fixed_placement: bool,
) -> Result<(Option<Stripes>, u64), ConfigProblem> {
    let redundancy = RedundancyPolicy::new(&c.policy.redundancy, context).map_err(of_policy("redundancy"))?;
    let Some(striping) = redundancy.striping() else { return Ok((None, 0)) };
    check_striping(&c.policy, fixed_placement)?;
    let data = striping.width - 1;
    if c.ftl.user_capacity.is_none() {
        // The host's data and their parity share what over-provisioning leaves.
        layout.host_units =
            (u64::from(layout.host_units) * u64::from(data) / u64::from(striping.width)) as u32;
    }
    layout.host_units -= layout.host_units % data;
    if layout.host_units == 0 {
        return refuse("policy.redundancy", "the host's capacity is less than one stripe");
    }
    let per_channel = layout.lanes / c.geometry.channels;
    let positions: Vec<u32> = order.into_iter().filter(|&lane| lane < per_channel).collect();
    let stripes = Stripes::new(layout, c.geometry.channels, striping.width, &positions);
    context.groups = stripes.groups;
    Ok((Some(stripes), striping.xor.0))
}

/// Return the slots of the write buffer, and a warning if its capacity is reduced. A buffer can
/// never hold more than the drive's whole address space and the commands under way. A larger
/// capacity would distort everything that is measured by it.
fn buffer_slots(c: &DeviceConfig, layout: &Layout, buffer: &BufferPolicy) -> (u32, Option<String>) {
    let under_way = c.host.most_parts(layout.unit_bytes) as u32 * c.host.queue_depth;
    let Some(bytes) = buffer.capacity() else { return (under_way, None) };
    let wanted = bytes / layout.unit_bytes;
    let most = u64::from(layout.host_units) + u64::from(under_way);
    let warning = (wanted > most).then(|| {
        format!(
            "policy.buffer.{}.capacity is {bytes} bytes, but no more than {} bytes can ever be held (the drive's {} bytes and the commands under way): the buffer has that size",
            c.policy.buffer.name(),
            most * layout.unit_bytes,
            u64::from(layout.host_units) * layout.unit_bytes
        )
    });
    (wanted.min(most) as u32, warning)
}

/// Refuse deferred last loops where erases may fail.
fn check_last_loops(eraser: Option<&Eraser>, may_fail: bool) -> Result<(), ConfigProblem> {
    if may_fail && eraser.is_some_and(Eraser::defers_last_loop) {
        return refuse(
            "erase.defer_last_loop",
            "an erase fails at its last loop, when programs have the rows of its extent already: set it to false, or leave out all faults and the table errors",
        );
    }
    Ok(())
}

fn context(c: &DeviceConfig, layout: &Layout, whole_extents: &[u32], seed: u64) -> PolicyContext {
    let g = &c.geometry;
    PolicyContext {
        seed,
        lanes: layout.lanes,
        channels: g.channels,
        chips: g.chips_per_channel,
        dies: g.dies_per_chip,
        plane_lanes: if c.ftl.extent == ExtentKind::Block { g.planes } else { 1 },
        extents_per_lane: *whole_extents.iter().min().unwrap_or(&0),
        units_per_extent: layout.units_per_extent,
        units_per_page: ((g.page / c.ftl.mapping_unit) as u32).max(1),
        units_per_write: layout.units_per_row,
        unit_bytes: layout.unit_bytes,
        groups: 0,
        served_after_loop: c.served_after_loop(),
        erase: c.erase_context(),
    }
}
