//! Everything that follows from a configuration: checked once, constant afterwards.

use super::config::DeviceConfig;
use crate::ftl::config::{CopyMode, ExtentKind, FtlConfig};
use crate::ftl::layout::Layout;
use crate::ftl::map::Fill;
use crate::ftl::stripes::Stripes;
use crate::nand::config::{BusyUnit, EnergyConfig, ServedAfterLoop, SuspendConfig};
use crate::nand::timing::Timing;
use crate::policy::PolicyContext;
use crate::policy::buffer::BufferPolicy;
use crate::policy::gc_schedule::GcSchedulePolicy;
use crate::policy::placement::PlacementPolicy;
use crate::policy::redundancy::RedundancyPolicy;
use crate::policy::suspend_erase::Serve;
use tailcut_units::{Span, Stream};

/// A configuration that cannot be built, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ConfigProblem {
    /// The key (or family) at fault.
    pub key: String,
    /// What is wrong and what is allowed.
    pub problem: String,
}

fn refuse<T>(key: &str, problem: impl Into<String>) -> Result<T, ConfigProblem> {
    Err(ConfigProblem { key: key.to_string(), problem: problem.into() })
}

/// The capacity arithmetic of a drive, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// All pages of all blocks.
    pub raw: u64,
    /// Lost to factory-bad blocks, and to good blocks that they leave without partners.
    pub bad: u64,
    /// What the host sees.
    pub user: u64,
    /// Taken by parity.
    pub parity: u64,
    /// Needed to keep writing: open extents and those collection copies into.
    pub reserved: u64,
    /// `raw − bad − user − parity`: room for stale data.
    pub spare: u64,
}

/// What a drive's configuration comes to.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Address arithmetic.
    pub layout: Layout,
    /// Closed form of the sequential fill.
    pub fill: Fill,
    /// Where stripes lie, with parity.
    pub stripes: Option<Stripes>,
    /// By group: the most stripes that wear levelling may bring there.
    pub most_stripes: Vec<u32>,
    /// Time to compute a unit from the rest of its stripe, ns.
    pub xor_ns: u64,
    /// Array and transfer times.
    pub timing: Timing,
    /// Capacity arithmetic.
    pub capacity: Capacity,
    /// What suspending costs.
    pub suspend: SuspendConfig,
    /// What the array draws.
    pub energy: EnergyConfig,
    /// Channels.
    pub channels: u32,
    /// Dies of the drive.
    pub dies: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// What an array operation keeps busy.
    pub busy: BusyUnit,
    /// Busy units of the drive.
    pub units: u32,
    /// How collection moves a page.
    pub copy: CopyMode,
    /// Mapping units that one collection read covers.
    pub copy_units: u32,
    /// Moves under way at once in one collection.
    pub gc_in_flight: u32,
    /// Free extents that host data leave alone.
    pub reserve: u32,
    /// Lanes that a written unit may still go to.
    pub pool_lanes: u32,
    /// Mapping units in a page, at least 1.
    pub units_per_page: u32,
    /// Bytes of a codeword.
    pub codeword: u64,
    /// Codewords in a mapping unit.
    pub codewords_per_unit: u32,
    /// The host side.
    pub host: super::config::HostConfig,
    /// Controller time of a command.
    pub controller_ns: u64,
    /// What policies were told.
    pub context: PolicyContext,
    /// Codewords in a page.
    pub codewords_per_page: u32,
    /// Planes that one program of collection covers.
    pub gc_program_planes: u32,
    /// Planes that one erase of an extent of several planes covers.
    pub erase_planes: u32,
    /// Mapping units that the write buffer holds; without one, those that may be under way.
    pub buffer_slots: u32,
    /// What the user should know of a configuration that can be built.
    pub warnings: Vec<String>,
}

/// Most mapping units that a drive may have: map entries keep one bit for themselves.
const MOST_UNITS: u64 = (1 << 31) - 4;

impl Shape {
    /// Check a configuration and work out everything that follows from it.
    pub fn new(c: &DeviceConfig, seed: u64) -> Result<Shape, ConfigProblem> {
        check_geometry(c)?;
        check_timing(c)?;
        check_ftl(c)?;
        let g = &c.geometry;
        let dies = g.channels * g.chips_per_channel * g.dies_per_chip;
        let usable = usable_extents(c, dies, seed);
        let raw = u64::from(dies) * u64::from(g.planes) * block_bytes(c) * u64::from(g.blocks);
        let user = user_bytes(c, raw)?;
        let unit = c.ftl.mapping_unit;
        let units = u64::from(usable.iter().copied().max().unwrap_or(0).max(1))
            * usable.len() as u64
            * extent_bytes(c, dies)
            / unit;
        if units.max(user / unit) > MOST_UNITS {
            return refuse(
                "ftl.mapping_unit",
                format!(
                    "the drive has {units} mapping units; at most {MOST_UNITS} can be addressed, so take a larger unit"
                ),
            );
        }
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
        let mut context = context(c, &layout, seed);
        let placement = |problem| ConfigProblem { key: "policy.placement".into(), problem };
        let places = PlacementPolicy::new(&c.policy.placement, &context).map_err(placement)?;
        let pool_lanes = places.pool_lanes();
        let (stripes, xor_ns) = striping(c, &mut layout, &mut context, places.order(), pool_lanes == 1)?;
        let fill = Fill::new(&layout, places.chunk(), places.order(), stripes.clone());
        let schedule = |problem| ConfigProblem { key: "policy.gc_schedule".into(), problem };
        let reserve = GcSchedulePolicy::new(&c.policy.gc_schedule, &context).map_err(schedule)?.reserve();
        let user = if stripes.is_some() { u64::from(layout.host_units) * unit } else { user };
        let capacity = check_room(&layout, &fill, raw, user, &capacity_key(c), reserve)?;
        let most_stripes =
            stripes.as_ref().map_or_else(Vec::new, |s| most_stripes(&layout, &fill, s, reserve));
        let (buffer_slots, warning) = buffer_slots(c, &layout, &context)?;
        // Programs that join cover all planes of a die.
        let most_planes = if c.ftl.join_programs { g.planes } else { c.ftl.write_planes };
        let row_bytes = u64::from(most_planes) * g.page;
        let timing =
            Timing::new(&c.timing, &c.suspend, &c.channel, &c.ecc, (row_bytes / c.ecc.codeword) as u32);
        Ok(Shape {
            codewords_per_page: (g.page / c.ecc.codeword) as u32,
            gc_program_planes: c.ftl.gc.program_planes,
            erase_planes: c.ftl.gc.erase_planes,
            buffer_slots,
            warnings: warning.into_iter().collect(),
            timing,
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
            units: if g.busy_unit == BusyUnit::Plane { dies * g.planes } else { dies },
            copy: c.ftl.gc.copy,
            copy_units: ((u64::from(c.ftl.gc.copy_planes) * g.page / unit) as u32).max(1),
            gc_in_flight: c.ftl.gc.in_flight,
            reserve,
            pool_lanes,
            units_per_page: context.units_per_page,
            codeword: c.ecc.codeword,
            codewords_per_unit: (unit / c.ecc.codeword) as u32,
            host: c.host.clone(),
            controller_ns: c.controller.command.0,
            context,
            layout,
        })
    }

    /// The busy unit of a die and plane.
    #[inline]
    pub fn unit_of(&self, die: u32, plane: u32) -> u32 {
        match self.busy {
            BusyUnit::Die => die,
            BusyUnit::Plane => die * self.layout.planes + plane,
        }
    }

    /// The planes of a die, as a mask.
    #[inline]
    pub fn all_planes(&self) -> u32 {
        u32::MAX >> (32 - self.layout.planes)
    }

    /// Erases that free an extent on each of its dies.
    pub fn erases_per_die(&self) -> u32 {
        match self.layout.kind {
            ExtentKind::Block => 1,
            ExtentKind::Superblock | ExtentKind::Line => self.layout.planes / self.erase_planes,
        }
    }

    /// The channel of a busy unit.
    pub fn channel_of(&self, unit: u32) -> u32 {
        unit / (self.units / self.channels)
    }

    /// The busy units that a lane's extents lie on.
    pub fn units_of_lane(&self, lane: u32) -> std::ops::Range<u32> {
        match self.layout.kind {
            ExtentKind::Line => 0..self.units,
            ExtentKind::Superblock => lane..lane + 1,
            ExtentKind::Block => {
                let unit = self.unit_of(lane / self.layout.planes, lane % self.layout.planes);
                unit..unit + 1
            }
        }
    }

    /// Whether the address alone decides the lane.
    #[inline]
    pub fn is_fixed(&self) -> bool {
        self.pool_lanes == 1
    }

    /// The pool that a lane belongs to.
    #[inline]
    pub fn pool_of(&self, lane: u32) -> u32 {
        if self.is_fixed() { lane } else { lane / self.pool_lanes }
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

    /// The busy units that a pool's extents lie on.
    pub fn units_of_pool(&self, pool: u32) -> std::ops::Range<u32> {
        let first = self.first_lane(pool);
        self.units_of_lane(first).start..self.units_of_lane(first + self.pool_lanes - 1).end
    }

    /// Whether redundancy is configured: units belong to stripes.
    #[inline]
    pub fn has_parity(&self) -> bool {
        self.stripes.is_some()
    }

    /// Most mapping units that one command touches.
    pub fn most_parts(&self) -> u32 {
        most_parts(&self.host, self.layout.unit_bytes)
    }

    /// The stripes of a drive that has them: whoever asks has seen to that.
    #[inline]
    pub(super) fn striped(&self) -> &Stripes {
        self.stripes.as_ref().expect("asked for only with parity")
    }

    /// Host capacity in bytes: whole mapping units.
    pub fn host_bytes(&self) -> u64 {
        u64::from(self.layout.host_units) * self.layout.unit_bytes
    }
}

/// The stripes that the configuration asks for. The host's share of the capacity shrinks to
/// whole stripes.
fn striping(
    c: &DeviceConfig,
    layout: &mut Layout,
    context: &mut PolicyContext,
    order: Vec<u32>,
    fixed_placement: bool,
) -> Result<(Option<Stripes>, u64), ConfigProblem> {
    let wrong = |problem| ConfigProblem { key: "policy.redundancy".into(), problem };
    let redundancy = RedundancyPolicy::new(&c.policy.redundancy, context).map_err(wrong)?;
    let Some(striping) = redundancy.striping() else { return Ok((None, 0)) };
    if !fixed_placement {
        return refuse(
            "policy.redundancy",
            format!(
                "`{}` binds each unit to its plane, and policy.placement `{}` does not: set it to static",
                c.policy.redundancy.name(),
                c.policy.placement.name()
            ),
        );
    }
    if c.policy.buffer.name() == "none" {
        return refuse(
            "policy.redundancy",
            format!(
                "`{}` gathers stripes in a write buffer: set policy.buffer to lru",
                c.policy.redundancy.name()
            ),
        );
    }
    let data = striping.width - 1;
    if c.ftl.user_capacity.is_none() {
        // What over-provisioning leaves is the host's and its parity's.
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

fn most_parts(host: &super::config::HostConfig, unit: u64) -> u32 {
    (host.max_transfer / unit + 2) as u32
}

/// Slots of the write buffer, and what is to be said of them: more than the drive's whole
/// address space and the commands under way can never be held, and would shift whatever is
/// measured by the buffer's size.
fn buffer_slots(
    c: &DeviceConfig,
    layout: &Layout,
    context: &PolicyContext,
) -> Result<(u32, Option<String>), ConfigProblem> {
    let buffer = |problem| ConfigProblem { key: "policy.buffer".into(), problem };
    let bytes = BufferPolicy::new(&c.policy.buffer, context).map_err(buffer)?.capacity();
    let under_way = most_parts(&c.host, layout.unit_bytes) * c.host.queue_depth;
    let Some(bytes) = bytes else { return Ok((under_way, None)) };
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
    Ok((wanted.min(most) as u32, warning))
}

fn block_bytes(c: &DeviceConfig) -> u64 {
    u64::from(c.geometry.pages) * c.geometry.page
}

fn extent_bytes(c: &DeviceConfig, dies: u32) -> u64 {
    let planes = match c.ftl.extent {
        ExtentKind::Block => 1,
        ExtentKind::Superblock => u64::from(c.geometry.planes),
        ExtentKind::Line => u64::from(c.geometry.planes) * u64::from(dies),
    };
    planes * block_bytes(c)
}

fn check_geometry(c: &DeviceConfig) -> Result<(), ConfigProblem> {
    let g = &c.geometry;
    let bounds: [(&str, u32, u32); 6] = [
        ("geometry.channels", g.channels, 256),
        ("geometry.chips_per_channel", g.chips_per_channel, 256),
        ("geometry.dies_per_chip", g.dies_per_chip, 64),
        ("geometry.planes", g.planes, 32),
        ("geometry.blocks", g.blocks, 1 << 20),
        ("geometry.pages", g.pages, 1 << 16),
    ];
    for (key, value, most) in bounds {
        if value == 0 || value > most {
            return refuse(key, format!("{value} is not in 1..={most}"));
        }
    }
    if !(512..=1 << 20).contains(&g.page) || !g.page.is_multiple_of(512) {
        return refuse(
            "geometry.page",
            format!("{} bytes; a page has 512 B to 1 MiB, in steps of 512 B", g.page),
        );
    }
    let dies = g.channels * g.chips_per_channel * g.dies_per_chip;
    if dies > 4096 {
        return refuse("geometry", format!("{dies} dies; at most 4096 are modelled"));
    }
    if !(0.0..=0.5).contains(&g.bad_blocks) {
        return refuse("geometry.bad_blocks", "a share from 0% to 50%");
    }
    let blocks = u128::from(dies) * u128::from(g.planes) * u128::from(g.blocks);
    if blocks * u128::from(block_bytes(c)) > 1 << 60 {
        return refuse("geometry", "more than 1 EiB of flash");
    }
    if blocks > 1 << 26 {
        return refuse(
            "geometry.blocks",
            format!("{blocks} blocks in all; at most {} are modelled", 1 << 26),
        );
    }
    Ok(())
}

fn check_timing(c: &DeviceConfig) -> Result<(), ConfigProblem> {
    const MOST: u64 = 1_000_000_000_000;
    let t = &c.timing;
    if t.read.is_empty() || t.read.len() > 16 {
        return refuse("timing.read", "give one sense time for each page type, 1 to 16 of them");
    }
    let n = t.program.pulses.len();
    if n != 1 && n != t.read.len() {
        return refuse(
            "timing.program.pulses",
            format!("{n} values; give one, or as many as timing.read has ({})", t.read.len()),
        );
    }
    if t.program.pulses.iter().any(|&p| p == 0 || p > 10_000) {
        return refuse("timing.program.pulses", "each value is in 1..=10000");
    }
    if t.erase.loops == 0 || t.erase.loops > 10_000 {
        return refuse("timing.erase.loops", format!("{} is not in 1..=10000", t.erase.loops));
    }
    let (e, p) = (&c.suspend.erase, &c.suspend.program);
    let spans = [
        ("timing.program.pulse", t.program.pulse),
        ("timing.program.verify", t.program.verify),
        ("timing.erase.ramp_up", t.erase.ramp_up),
        ("timing.erase.execution", t.erase.execution),
        ("timing.erase.recovery", t.erase.recovery),
        ("timing.erase.verify", t.erase.verify),
        ("suspend.erase.suspend", e.suspend),
        ("suspend.erase.resume", e.resume),
        ("suspend.erase.verify", e.verify),
        ("suspend.erase.limits.spacing", e.limits.spacing.unwrap_or_default()),
        ("suspend.erase.limits.least_left", e.limits.least_left.unwrap_or_default()),
        ("suspend.program.suspend", p.suspend),
        ("suspend.program.reload", p.reload),
        ("suspend.program.limits.spacing", p.limits.spacing.unwrap_or_default()),
        ("suspend.program.limits.least_left", p.limits.least_left.unwrap_or_default()),
        ("channel.command", c.channel.command),
        ("ecc.decode", c.ecc.decode),
        ("host.submit_latency", c.host.submit_latency),
        ("host.complete_latency", c.host.complete_latency),
        ("controller.command", c.controller.command),
    ];
    let reads = t.read.iter().map(|&span| ("timing.read", span));
    for (key, Span(ns)) in reads.chain(spans) {
        if ns > MOST {
            return refuse(key, format!("{ns} ns; no single time may exceed 1000s"));
        }
    }
    for (key, rate) in [("channel.rate", c.channel.rate), ("host.link_rate", c.host.link_rate)] {
        if rate < 1_000 {
            return refuse(key, "at least 1kB/s");
        }
    }
    if c.ecc.queue == 0 || c.ecc.queue > 65_536 {
        return refuse("ecc.queue", format!("{} codewords is not in 1..=65536", c.ecc.queue));
    }
    if c.host.queue_depth == 0 || c.host.queue_depth > 65_535 {
        return refuse("host.queue_depth", format!("{} is not in 1..=65535", c.host.queue_depth));
    }
    Ok(())
}

fn check_ftl(c: &DeviceConfig) -> Result<(), ConfigProblem> {
    let (g, f) = (&c.geometry, &c.ftl);
    let unit = f.mapping_unit;
    if unit < 512 || unit % 512 != 0 || (g.page % unit != 0 && unit % g.page != 0) {
        return refuse(
            "ftl.mapping_unit",
            format!(
                "{unit} bytes; it divides the page ({} bytes) or is a multiple of it, in steps of 512 B",
                g.page
            ),
        );
    }
    if f.write_planes == 0 || g.planes % f.write_planes != 0 {
        return refuse(
            "ftl.write_planes",
            format!("{} does not divide the {} planes of a die", f.write_planes, g.planes),
        );
    }
    if f.extent == ExtentKind::Block && f.write_planes != 1 {
        return refuse(
            "ftl.write_planes",
            "an extent of one block is written one plane at a time: 1 is the only value",
        );
    }
    let row = u64::from(f.write_planes) * g.page;
    if row % unit != 0 || row / unit > 64 {
        return refuse(
            "ftl.mapping_unit",
            format!("a write unit of {row} bytes must hold 1 to 64 whole mapping units of {unit} bytes"),
        );
    }
    if g.busy_unit == BusyUnit::Plane && g.planes > 1 && f.extent != ExtentKind::Block {
        return refuse("geometry.busy_unit", "independent planes need ftl.extent = \"block\"");
    }
    if f.join_reads && (g.busy_unit == BusyUnit::Plane || g.planes == 1) {
        return refuse("ftl.join_reads", "true, but no operation covers more than one plane of a die");
    }
    for (key, joins) in [("ftl.join_programs", f.join_programs), ("ftl.gc.join_reads", f.gc.join_reads)] {
        if joins && (f.extent != ExtentKind::Block || g.busy_unit == BusyUnit::Plane || g.planes == 1) {
            return refuse(
                key,
                "true, but only operations on single blocks of one die join: it needs ftl.extent = \"block\", geometry.busy_unit = \"die\" and several planes",
            );
        }
        if joins && f.gc.copy == CopyMode::Copyback {
            return refuse(key, "true, but copybacks do not join: set ftl.gc.copy to controller");
        }
    }
    if f.join_programs && c.policy.redundancy.name() != "none" {
        return refuse(
            "ftl.join_programs",
            "true, but a plane programs the pages of its data and its parity in the order of one queue: set policy.redundancy to none",
        );
    }
    let erased = match f.extent {
        ExtentKind::Block if g.busy_unit == BusyUnit::Plane => 1,
        _ => g.planes,
    };
    if f.gc.erase_planes == 0 || !erased.is_multiple_of(f.gc.erase_planes) {
        return refuse(
            "ftl.gc.erase_planes",
            format!("{} does not divide the {erased} planes that may be erased together", f.gc.erase_planes),
        );
    }
    let codeword = c.ecc.codeword;
    if codeword == 0 || unit % codeword != 0 || g.page % codeword != 0 {
        return refuse(
            "ecc.codeword",
            format!("{codeword} bytes does not divide the mapping unit ({unit} bytes) and the page"),
        );
    }
    if f.gc.copy_planes == 0 || f.write_planes % f.gc.copy_planes != 0 {
        return refuse(
            "ftl.gc.copy_planes",
            format!("{} does not divide ftl.write_planes ({})", f.gc.copy_planes, f.write_planes),
        );
    }
    if f.gc.program_planes == 0 || f.write_planes % f.gc.program_planes != 0 {
        return refuse(
            "ftl.gc.program_planes",
            format!("{} does not divide ftl.write_planes ({})", f.gc.program_planes, f.write_planes),
        );
    }
    let copied = u64::from(f.gc.copy_planes) * g.page;
    if copied % unit != 0 && unit % copied != 0 {
        return refuse(
            "ftl.gc.copy_planes",
            format!(
                "{copied} bytes are copied at once; that must divide a mapping unit ({unit} bytes) or be a multiple of it"
            ),
        );
    }
    if f.gc.in_flight == 0 || f.gc.in_flight > 1024 {
        return refuse("ftl.gc.in_flight", format!("{} is not in 1..=1024", f.gc.in_flight));
    }
    if f.gc.copy == CopyMode::Copyback && (f.extent != ExtentKind::Block || unit != g.page) {
        return refuse(
            "ftl.gc.copy",
            "copyback stays in a plane and moves whole pages: it needs ftl.extent = \"block\" and a mapping unit of one page",
        );
    }
    let most = 256 << 20;
    if c.host.max_transfer < unit || c.host.max_transfer > most {
        return refuse(
            "host.max_transfer",
            format!("{} bytes is not between one mapping unit and 256 MiB", c.host.max_transfer),
        );
    }
    let parts = (c.host.max_transfer / unit + 2) * u64::from(c.host.queue_depth);
    if parts > 1 << 22 {
        return refuse(
            "host.max_transfer",
            format!(
                "queue_depth x max_transfer comes to {parts} mapping units; at most 4 Mi may be under way"
            ),
        );
    }
    if u64::from(f.write_planes) * g.page / codeword > 65_536 {
        return refuse("ecc.codeword", "more than 65536 codewords in a write unit");
    }
    let name = c.policy.flush.name();
    let through = c.policy.buffer.name() == "none";
    if through != (name == "immediate") {
        return refuse(
            "policy.flush",
            format!(
                "`{name}` with policy.buffer `{}`: `none` and `immediate` go together",
                c.policy.buffer.name()
            ),
        );
    }
    if !(0.0..=1.0).contains(&c.age.fill) {
        return refuse("age.fill", "a share from 0% to 100%");
    }
    Ok(())
}

fn user_bytes(c: &DeviceConfig, raw: u64) -> Result<u64, ConfigProblem> {
    let Some((key, rule)) = c.ftl.capacity_rule() else {
        let keys = FtlConfig::CAPACITY_KEYS.map(|k| format!("ftl.{k}")).join(", ");
        return refuse("ftl.user_capacity", format!("give exactly one of {keys}"));
    };
    let Some(user) = rule.user_bytes(raw) else {
        return refuse(&format!("ftl.{key}"), "a share from 0% up to, not including, 100%");
    };
    if user < c.ftl.mapping_unit {
        return refuse(&format!("ftl.{key}"), format!("{user} bytes is less than one mapping unit"));
    }
    if user > raw {
        return refuse(
            &format!("ftl.{key}"),
            format!("{user} bytes is more than the raw capacity of {raw} bytes"),
        );
    }
    Ok(user)
}

/// The key that set the host's capacity.
fn capacity_key(c: &DeviceConfig) -> String {
    format!("ftl.{}", c.ftl.capacity_rule().map_or("user_capacity", |(key, _)| key))
}

/// Usable extents of each lane. A bad block is replaced by a good one of its plane, so
/// a lane loses as many extents as its worst plane has bad blocks.
fn usable_extents(c: &DeviceConfig, dies: u32, seed: u64) -> Vec<u32> {
    let g = &c.geometry;
    let threshold = libm::round(g.bad_blocks * 4_294_967_296.0) as u64;
    let bad = |die: u32, plane: u32| -> u32 {
        if threshold == 0 {
            return 0;
        }
        let mut s = Stream::new(seed, "bad_blocks", u64::from(die * g.planes + plane));
        (0..g.blocks).filter(|_| s.next_u64() >> 32 < threshold).count() as u32
    };
    let planes = |die: u32| (0..g.planes).map(move |plane| (die, plane));
    let worst =
        |it: &mut dyn Iterator<Item = (u32, u32)>| g.blocks - it.map(|(d, p)| bad(d, p)).max().unwrap_or(0);
    match c.ftl.extent {
        ExtentKind::Block => (0..dies).flat_map(planes).map(|(d, p)| g.blocks - bad(d, p)).collect(),
        ExtentKind::Superblock => (0..dies).map(|d| worst(&mut planes(d))).collect(),
        ExtentKind::Line => vec![worst(&mut (0..dies).flat_map(planes))],
    }
}

fn context(c: &DeviceConfig, layout: &Layout, seed: u64) -> PolicyContext {
    let g = &c.geometry;
    PolicyContext {
        seed,
        lanes: layout.lanes,
        channels: g.channels,
        chips: g.chips_per_channel,
        dies: g.dies_per_chip,
        plane_lanes: if c.ftl.extent == ExtentKind::Block { g.planes } else { 1 },
        extents_per_lane: *layout.usable.iter().min().unwrap_or(&0),
        units_per_extent: layout.units_per_extent,
        units_per_page: ((g.page / c.ftl.mapping_unit) as u32).max(1),
        units_per_write: layout.units_per_row,
        unit_bytes: layout.unit_bytes,
        groups: 0,
        served_after_loop: match c.suspend.erase.serve {
            ServedAfterLoop::Queued => Serve::Queued,
            ServedAfterLoop::All => Serve::All,
        },
    }
}

/// Extents of a lane that hold no valid data of their own: two frontiers are open, and
/// `reserve` extents are kept for copying into.
pub(super) fn kept_extents(reserve: u32) -> u32 {
    reserve + 2
}

/// A lane with fewer valid units than this can always win space.
pub(super) fn room_of(layout: &Layout, lane: u32, reserve: u32) -> u64 {
    let usable = layout.usable[lane as usize];
    let open = u64::from(usable.saturating_sub(kept_extents(reserve))) * u64::from(layout.units_per_extent);
    // With host writes stopped at the reserve, one frontier is open; one of the other
    // extents must have a whole row to win, however the stale units are spread.
    let worth = u64::from(usable.saturating_sub(reserve + 1)) * u64::from(layout.most_valid() + 1);
    open.min(worth)
}

/// The most stripes that migration may bring to each group. A stripe has one unit on each
/// lane of its group, and one that is leaving counts until its former copies are stale; so
/// with fewer stripes than the room of its narrowest lane a group can always win space, as
/// when the drive was built. A quarter of what is free then: collection in a group with less
/// to spare moves more for each block that it wins, and this is what levelling may cost it.
fn most_stripes(layout: &Layout, fill: &Fill, stripes: &Stripes, reserve: u32) -> Vec<u32> {
    let shares = fill.units_by_lane(fill.end(layout.host_units));
    let of = |group: u32| {
        let lanes = (0..stripes.width).map(|offset| stripes.lane(group, offset));
        let own = shares[stripes.lane(group, 0) as usize];
        let room = lanes.map(|lane| room_of(layout, lane, reserve)).min().unwrap_or(0);
        own + (room.saturating_sub(u64::from(own)) / 4) as u32
    };
    (0..stripes.groups).map(of).collect()
}

/// Each lane must hold its share of the host's data beside what is reserved.
fn check_room(
    layout: &Layout,
    fill: &Fill,
    raw: u64,
    user: u64,
    capacity_key: &str,
    reserve: u32,
) -> Result<Capacity, ConfigProblem> {
    let kept = kept_extents(reserve);
    let room = |lane: u32| room_of(layout, lane, reserve);
    // The fill gives every lane its share, whatever the placement does later.
    let shares = fill.units_by_lane(fill.end(layout.host_units));
    let short = (0..layout.lanes).any(|lane| u64::from(shares[lane as usize]) >= room(lane));
    let extent = u64::from(layout.units_per_extent) * layout.unit_bytes;
    let usable: u64 = layout.usable.iter().map(|&n| u64::from(n) * extent).sum();
    let reserved = u64::from(layout.lanes) * u64::from(kept) * extent;
    if short {
        let least = (0..layout.lanes).map(room).min().unwrap_or(0);
        let most = least * u64::from(layout.lanes) * layout.unit_bytes;
        return refuse(
            capacity_key,
            format!(
                "no spare blocks left for collection: of {raw} bytes raw, {} bytes are lost to bad blocks and {reserved} bytes are reserved ({kept} extents of {extent} bytes in each of {} lanes), so the host can have less than {most} bytes, not {user}",
                raw - usable,
                layout.lanes
            ),
        );
    }
    let filled = shares.iter().map(|&n| u64::from(n)).sum::<u64>();
    let parity = (filled - u64::from(layout.host_units)) * layout.unit_bytes;
    Ok(Capacity { raw, bad: raw - usable, user, parity, reserved, spare: usable - user - parity })
}
