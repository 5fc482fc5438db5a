//! The values that are derived from a configuration. They are checked once and then constant.

use super::array::{Array, MOST_VECTOR, SECTOR, Spot};
use super::config::{Kernel, SplitBy};
use super::lines::{LineSize, Lines, LunRange, Split};
use super::provision::{Provision, emeta};
use super::rail::hot_cold::least_hot;
use super::rail::strides::Strides;
use super::ring::{Heat, Ring};
use crate::address::{BusyUnit, Ppa};
use crate::array::eraser::Eraser;
use crate::config::{DeviceConfig, HostConfig};
use crate::divider::Divider;
use crate::figures::Capacity;
use crate::flash::setup::Parts;
use crate::ftl::config::CapacityRule;
use crate::ftl::map::Fill;
use crate::nand::blocks::{Blocks, factory_bad};
use crate::nand::config::{BusyKind, EnergyConfig};
use crate::nand::faults::{Death, Faults, deaths};
use crate::policy::PolicyContext;
use crate::policy::write_gate::{GateRules, WriteGatePolicy};
use crate::problem::{ConfigProblem, of_policy, refuse};
use tailcut_units::Span;

/// Pages of one plane that must be written behind a page before it can be read (the driver of OCSSD 1.2 devices).
const PAIRED_PAGES: u64 = 8;

/// The location of a sector on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorPlace {
    /// The index of its chunk on the LUN. Without cold lines this is its line.
    pub index: u32,
    /// LUN position.
    pub position: u32,
    /// Page index in the blocks of the chunk.
    pub page: u32,
    /// Plane of the LUN.
    pub plane: u32,
    /// The first sector of its write unit.
    pub unit: Ppa,
}

/// The values derived from a drive's configuration.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The device.
    pub array: Array,
    /// The sizes of metadata, ring and reserve.
    pub provision: Provision,
    /// The capacity calculation.
    pub capacity: Capacity,
    /// Sectors that the host addresses.
    pub sectors: u32,
    /// Number of LUNs.
    pub luns: u32,
    /// Sectors of a line.
    pub line_sectors: u32,
    /// Write units of a line.
    pub line_units: u32,
    /// With this number of free chunks or fewer no user writes.
    pub reserve: u32,
    /// By line and LUN position: whether the chunk is bad from the factory or unused. Empty if there is none.
    pub bad: Vec<bool>,
    /// Bad blocks by plane, for the flash.
    pub bad_blocks: Vec<Vec<u32>>,
    /// Planes of a LUN.
    pub planes: u32,
    /// Planes of a LUN that read independently, or 1.
    pub planes_read: u32,
    /// Codewords of a sector.
    pub codewords: u32,
    /// The flash.
    pub parts: Parts,
    /// The faults, if there are any, and reads of pages with raw bit errors.
    pub faults: Option<Faults>,
    /// The planes that die, in order of time.
    pub deaths: Vec<Death>,
    /// Power of the array.
    pub energy: EnergyConfig,
    /// Growth of the raw bit error rate by suspensions of erases, per 1,000.
    pub rber_growth: f64,
    /// The host side.
    pub host: HostConfig,
    /// Controller time of a command, ns.
    pub command_ns: u64,
    /// Controller time of each sector that is read, ns.
    pub read_sector_ns: u64,
    /// Controller time of each sector that is programmed, ns.
    pub write_sector_ns: u64,
    /// Whether an erase takes the semaphore of its LUN.
    pub erase_semaphore: bool,
    /// The strides, if the drive has parity.
    pub strides: Option<Strides>,
    /// The rules of the gate, if there is one.
    pub gate: Option<GateRules>,
    /// How the share of hot LUNs is computed, if there are hot and cold lines.
    pub hot_cold: Option<SplitBy>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The context that policies are created with.
    pub context: PolicyContext,
    /// The run's seed.
    pub seed: u64,
    by_line: Divider,
    by_unit: Divider,
    by_luns: Divider,
    by_page: Divider,
}

impl Shape {
    /// Check a configuration and derive the values.
    ///
    /// # Errors
    /// The first key that pblk refuses, and the values that are allowed.
    pub fn new(c: &DeviceConfig, seed: u64) -> Result<Shape, ConfigProblem> {
        check(c)?;
        let (g, unit) = (&c.geometry, c.ftl.mapping_unit);
        let sectors_per_page = (g.page / unit) as u32;
        let write_unit = sectors_per_page * g.planes;
        let array = Array {
            channels: g.channels,
            luns_per_channel: g.chips_per_channel * g.dies_per_chip,
            lines: g.blocks,
            chunk: write_unit * g.pages,
            write_unit,
            cunits: (PAIRED_PAGES * g.page / unit) as u32,
        };
        array.check()?;
        let luns = array.luns();
        let bad_blocks = factory_bad(g, &c.fault, seed);
        let strides = c.pblk.stride.map(|width| Strides::new(luns, width, c.pblk.parities.unwrap_or(1)));
        let strides = strides.transpose()?;
        if strides.is_none() && c.pblk.parities.is_some() {
            return refuse("pblk.parities", "without pblk.stride there is no parity");
        }
        let mut bad = bad_chunks(&array, g.planes, &bad_blocks);
        let mut warnings = Vec::new();
        if let Some(s) = strides.filter(|s| s.used() < luns) {
            // Unused LUNs count as bad.
            bad.resize((array.lines * luns) as usize, false);
            let positions = (0..array.lines).flat_map(|line| (s.used()..luns).map(move |p| line * luns + p));
            positions.for_each(|chunk| bad[chunk as usize] = true);
            warnings.push(format!(
                "{} of {luns} LUNs belong to no stride of {} and are not used (pblk.stride)",
                luns - s.used(),
                s.width
            ));
        }
        let bad_count = bad.iter().filter(|&&bad| bad).count() as u32;
        let least = Provision::least_chunks(&array);
        let good =
            (0..array.lines).map(|line| good_chunks(&bad, luns, line)).filter(|&good| good >= least).sum();
        let percent = percent(c)?;
        let mut provision = Provision::new(&array, good, percent, c.pblk.kernel, c.pblk.ring)?;
        if let Some(s) = &strides {
            provision.capacity = provision.capacity * u64::from(s.width - s.parities) / u64::from(s.width);
            // The ring keeps `PAIRED_PAGES` pages of one plane of each LUN free.
            if c.pblk.kernel != Kernel::V4_19 && provision.back < 2 * luns * write_unit {
                let problem = format!(
                    "{}; with strides at most {}: what stays free in the ring behind what is written holds two stripes, so that parity is programmed before its data can leave the ring",
                    g.planes,
                    PAIRED_PAGES / 2
                );
                return refuse("geometry.planes", problem);
            }
            if provision.back < 2 * luns * write_unit {
                let problem = format!(
                    "{} slots of the ring stay free behind what is written, so that data could leave it before their parity is programmed: strides need a kernel from v5-1 on",
                    provision.back
                );
                return refuse("pblk.kernel", problem);
            }
        }
        let line_sectors = array.line_sectors() as u32;
        let raw = u64::from(array.lines) * u64::from(line_sectors) * SECTOR;
        let user = provision.capacity * SECTOR;
        let lost = u64::from(bad_count) * u64::from(array.chunk) * SECTOR;
        let parity = strides.map_or(0, |s| user * u64::from(s.parities) / u64::from(s.width - s.parities));
        let context = context(c, &array, strides.as_ref(), seed);
        let gate = WriteGatePolicy::new(&c.policy.write_gate, &context).map_err(of_policy("write_gate"))?;
        let gate = gate.rules();
        if c.pblk.hot_cold.is_some() && gate.is_none() {
            let problem = "needs strides with a gate: set policy.write_gate to stride";
            return refuse("pblk.hot_cold", problem);
        }
        let parts = Parts::new(c, &context, g.page * u64::from(g.planes), seed)?;
        if parts.eraser.as_ref().is_some_and(Eraser::defers_last_loop) {
            return refuse("erase.defer_last_loop", "pblk erases a chunk as a whole: set it to false");
        }
        if c.slc.is_some() {
            return refuse("slc", "pblk knows no region: set slc.blocks to 0, or take ftl.kind = \"page\"");
        }
        let reserve = provision.reserve;
        if provision.high <= reserve {
            let problem = format!(
                "the rate limiter lets users write without limit from {} free chunks on and not at all up to {reserve}: more over-provisioning or more blocks are needed",
                provision.high
            );
            return refuse("ftl.over_provisioning", problem);
        }
        let most_write = provision.ring - 1 - provision.back;
        let least = MOST_VECTOR + parts_waiting(c.pblk.hot_cold, provision.ring, write_unit);
        if most_write < least {
            let problem = format!(
                "{} entries, of which {} stay free behind what is written, hold no request of {MOST_VECTOR} sectors behind a part of a write unit: set it to {} or more",
                provision.ring,
                provision.back,
                (provision.back + least + 1).next_power_of_two()
            );
            return refuse("pblk.ring", problem);
        }
        let size = |line: u32| {
            let bad = |position| bad.get((line * luns + position) as usize).is_some_and(|&bad| bad);
            size_of(&array, LunRange { from: 0, count: luns }, strides.as_ref(), bad)
        };
        let usable = (0..array.lines).map(size);
        let usable = usable.filter(|size| Provision::can_use(&array, size.chunks, size.capacity));
        let mut smallest = usable.map(|size| size.capacity).min().unwrap_or(0);
        if let (Some(_), Some(strides)) = (c.pblk.hot_cold, &strides) {
            let hot = LunRange { from: 0, count: least_hot(strides) };
            if hot.count >= strides.used() {
                let problem = format!(
                    "at least {} LUNs stay hot, whole strides, and the device has {} in strides: none would be cold; use more dies, or a smaller pblk.stride",
                    hot.count,
                    strides.used()
                );
                return refuse("pblk.hot_cold", problem);
            }
            let of_hot = Strides { count: hot.count / strides.width, ..*strides };
            smallest = smallest.min(size_of(&array, hot, Some(&of_hot), |_| false).capacity);
        }
        if most_write > smallest {
            // If users wait, the sectors in the ring must leave the last free line to collection.
            let problem = format!(
                "{most_write} sectors of the ring may wait to be programmed, and a line holds {smallest}: set it to a smaller value, or use larger blocks"
            );
            return refuse("pblk.ring", problem);
        }
        Ok(Shape {
            luns,
            line_sectors,
            line_units: line_sectors / write_unit,
            sectors: provision.capacity as u32,
            reserve,
            capacity: Capacity {
                raw,
                bad: lost,
                slc: 0,
                user,
                parity,
                reserved: u64::from(provision.metadata + reserve) * u64::from(array.chunk) * SECTOR,
                spare: raw - lost - user - parity,
            },
            bad,
            bad_blocks,
            planes: g.planes,
            planes_read: g.planes_read(),
            codewords: (unit / c.ecc.codeword) as u32,
            parts,
            faults: Faults::new(&c.faults, &c.fault, g, c.errors.is_some(), seed),
            deaths: deaths(&c.faults, &c.fault, g, seed),
            energy: c.energy.clone(),
            rber_growth: c.suspend.erase.rber_growth,
            host: c.host.clone(),
            command_ns: c.pblk.command.unwrap_or(c.controller.command).0,
            read_sector_ns: c.pblk.read_sector.unwrap_or(Span::ZERO).0,
            write_sector_ns: c.pblk.write_sector.unwrap_or(Span::ZERO).0,
            erase_semaphore: c.pblk.erase_semaphore || gate.is_some(),
            strides,
            gate,
            hot_cold: c.pblk.hot_cold,
            warnings,
            context,
            seed,
            by_line: Divider::new(line_sectors),
            by_unit: Divider::new(write_unit),
            by_luns: Divider::new(luns),
            by_page: Divider::new(sectors_per_page),
            provision,
            array,
        })
    }

    /// The line of a sector.
    #[inline]
    pub fn line_of(&self, lines: &Lines, sector: Ppa) -> u32 {
        match self.hot_cold {
            None => self.by_line.div_rem(sector.0).0,
            Some(_) => {
                let place = self.place(sector);
                lines.line_at(place.index, place.position)
            }
        }
    }

    /// Number of lines: one for each chunk index, or two with hot and cold lines.
    pub fn lines(&self) -> u32 {
        self.array.lines * (1 + u32::from(self.hot_cold.is_some()))
    }

    /// The chunk index of a line.
    #[inline]
    pub fn index_of(&self, line: u32) -> u32 {
        if line < self.array.lines { line } else { line - self.array.lines }
    }

    /// The first sector of a write unit of a line.
    #[inline]
    pub fn unit_start(&self, line: u32, unit: u32) -> Ppa {
        Ppa(self.index_of(line) * self.line_sectors + unit * self.array.write_unit)
    }

    /// The LUN position of a write unit of a line.
    #[inline]
    pub fn position_of(&self, unit: u32) -> u32 {
        self.by_luns.div_rem(unit).1
    }

    /// The place of a sector.
    #[inline]
    pub fn place(&self, sector: Ppa) -> SectorPlace {
        let (index, address) = self.by_line.div_rem(sector.0);
        let (unit, within) = self.by_unit.div_rem(address);
        let (page, position) = self.by_luns.div_rem(unit);
        let (plane, _) = self.by_page.div_rem(within);
        debug_assert_eq!(
            self.array.spot(address),
            Spot { position, sector: page * self.array.write_unit + within }
        );
        SectorPlace { index, position, page, plane, unit: Ppa(sector.0 - within) }
    }

    /// The busy unit of a LUN position.
    #[inline]
    pub fn unit_at(&self, position: u32) -> BusyUnit {
        let (channel, lun) = self.array.lun_at(position);
        BusyUnit(channel * self.array.luns_per_channel + lun)
    }

    /// The LUN position of a busy unit.
    #[inline]
    pub fn position_at(&self, unit: BusyUnit) -> u32 {
        let per_channel = self.array.luns_per_channel;
        self.array.position(unit.0 / per_channel, unit.0 % per_channel)
    }

    /// All planes of a LUN, as a mask.
    pub fn all_planes(&self) -> u32 {
        u32::MAX >> (32 - self.planes)
    }

    /// The channel of a busy unit.
    pub fn channel_of(&self, unit: BusyUnit) -> u32 {
        unit.0 / self.array.luns_per_channel
    }

    /// The capacity of a line over all LUNs; `None` if it has too few good chunks.
    pub fn line_size(&self, line: u32) -> Option<LineSize> {
        let first = (line * self.luns) as usize;
        let bad = |position| self.bad.get(first + position as usize).is_some_and(|&bad| bad);
        let size = self.size_of(Heat::Hot, LunRange { from: 0, count: self.luns }, bad);
        Provision::can_use(&self.array, size.chunks, size.capacity).then_some(size)
    }

    /// The capacity of a line on these LUNs with these bad chunks.
    pub fn size_of(&self, heat: Heat, luns: LunRange, is_bad: impl Fn(u32) -> bool) -> LineSize {
        size_of(&self.array, luns, self.strides_on(heat, luns).as_ref(), is_bad)
    }

    /// The strides of a line of this kind on these LUNs. Cold lines have none.
    #[inline]
    pub fn strides_on(&self, heat: Heat, luns: LunRange) -> Option<Strides> {
        match (self.hot_cold, heat) {
            (None, _) => self.strides,
            (Some(_), Heat::Hot) => self.strides.map(|s| Strides { count: luns.count / s.width, ..s }),
            (Some(_), Heat::Cold) => None,
        }
    }

    /// The strides of a line, if it has any.
    #[inline]
    pub fn strides_of(&self, lines: &Lines, line: u32) -> Option<Strides> {
        match self.hot_cold {
            None => self.strides,
            Some(_) => self.strides_on(lines.heat(line), lines.line(line).luns),
        }
    }

    /// The plane of a sector, counted over the drive.
    pub fn plane_of(&self, sector: Ppa) -> u32 {
        let place = self.place(sector);
        self.unit_at(place.position).0 * self.planes + place.plane
    }

    /// The boundary between hot and cold lines of a new drive, if there are cold lines. All LUNs are hot.
    pub fn first_split(&self) -> Option<Split> {
        let strides = self.strides.filter(|_| self.hot_cold.is_some())?;
        Some(Split { hot: strides.used(), used: strides.used(), width: strides.width })
    }

    /// A unit of metadata at the end of a line is submitted together with data on another LUN. Returns the position
    /// of the data for metadata on `position`.
    pub fn opposite(&self, heat: Heat, luns: LunRange, position: u32) -> u32 {
        let distance = metadata_distance(luns.count, self.strides_on(heat, luns).as_ref());
        luns.from + (position.saturating_sub(luns.from) + distance) % luns.count.max(1)
    }

    /// The closed form of a sequential fill, for a drive without bad chunks.
    pub fn fill(&self) -> Fill {
        let all = LunRange { from: 0, count: self.luns };
        let LineSize { capacity, .. } = self.size_of(Heat::Hot, all, |_| false);
        let stripe =
            |strides: &Strides| (self.luns * self.array.write_unit, strides.data() * self.array.write_unit);
        let row = self.strides.as_ref().map(stripe);
        Fill::of_lines(self.array.lines, self.line_sectors, (self.provision.smeta, capacity.max(1)), row)
    }

    /// The blocks of a new device.
    pub fn new_blocks(&self, c: &DeviceConfig) -> Blocks {
        let mut blocks =
            Blocks::new(self.luns, self.planes, self.array.lines).with_past(c.age.past(), self.seed);
        if self.faults.is_some() {
            blocks.let_fail_in_place(&self.bad_blocks);
        }
        if self.parts.eraser.is_some() {
            blocks.let_wear();
        }
        blocks
    }

    /// The most sectors that a partial write unit may keep from being programmed.
    pub fn parts_waiting(&self) -> u32 {
        parts_waiting(self.hot_cold, self.provision.ring, self.array.write_unit)
    }

    /// The most sectors that one host command touches.
    pub fn most_parts(&self) -> u32 {
        (self.host.max_transfer / SECTOR) as u32 + 2
    }

    /// Host capacity in bytes.
    pub fn host_bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR
    }
}

/// The most sectors that a partial write unit may keep from being programmed: its own, or those of the other kind
/// that may come after it.
fn parts_waiting(hot_cold: Option<SplitBy>, ring: u32, write_unit: u32) -> u32 {
    if hot_cold.is_some() { ring / Ring::OLD_PART + write_unit } else { write_unit - 1 }
}

/// Refuse a configuration that is invalid or that pblk does not support.
fn check(c: &DeviceConfig) -> Result<(), ConfigProblem> {
    let g = &c.geometry;
    g.check()?;
    c.timing.check()?;
    c.suspend.check()?;
    c.channel.check_times()?;
    c.ecc.check_times()?;
    c.host.check_times()?;
    c.controller.check()?;
    c.channel.check_rate()?;
    c.host.check_rate()?;
    c.ecc.check_queue()?;
    c.host.check_queue()?;
    c.ftl.check_rated_cycles(c.erase.is_some())?;
    if c.ftl.mapping_unit != SECTOR {
        return refuse(
            "ftl.mapping_unit",
            format!("{} bytes; pblk maps sectors of 4KiB", c.ftl.mapping_unit),
        );
    }
    if !g.page.is_multiple_of(SECTOR) || g.page / SECTOR * u64::from(g.planes) > u64::from(MOST_VECTOR) {
        let problem = format!(
            "{} bytes on {} planes; pblk needs pages of whole sectors of 4KiB, and at most {MOST_VECTOR} sectors on all planes of a LUN",
            g.page, g.planes
        );
        return refuse("geometry.page", problem);
    }
    if g.busy_unit != BusyKind::Die {
        return refuse(
            "geometry.busy_unit",
            "`plane`; pblk programs all planes of a LUN together: set it to die",
        );
    }
    g.check_plane_reads()?;
    if g.cache_program {
        let problem = "true, but pblk sends a LUN one program at a time (ftl.kind): leave it out";
        return refuse("geometry.cache_program", problem);
    }
    c.pblk.check()?;
    c.ecc.check_codeword(SECTOR, g.page)?;
    c.host.check_transfer(SECTOR)?;
    c.check_erase()?;
    c.check_faults()?;
    c.check_errors()?;
    c.age.check()
}

/// The capacity of a line on these LUNs with these bad chunks.
fn size_of(a: &Array, on: LunRange, strides: Option<&Strides>, is_bad: impl Fn(u32) -> bool) -> LineSize {
    let luns = a.luns();
    let sectors = on.count * a.chunk;
    let metadata = emeta(a, sectors.into()) / a.write_unit;
    let stripes = a.chunk / a.write_unit;
    let good: Vec<u32> = (on.from..on.end()).filter(|&position| !is_bad(position)).collect();
    let chunks = good.len() as u32;
    let empty = LineSize { luns: on, sectors, metadata, chunks, ..LineSize::default() };
    if stripes * chunks < metadata + 1 {
        return empty;
    }
    let is_data = |position: u32| strides.is_none_or(|strides| !strides.is_parity(position));
    let data = |before: u32| good.iter().filter(|&&p| p < before && is_data(p)).count() as u32;
    // The metadata at the end take whole stripes, and the last chunks of one more stripe.
    let (whole, rest) = (metadata / chunks, metadata % chunks);
    let (last, before) = match rest {
        0 => (stripes - whole, 0),
        _ => (stripes - whole - 1, good[(chunks - rest) as usize]),
    };
    // The metadata at the start take one unit of data.
    let units = (last * data(luns) + data(before)).saturating_sub(1);
    LineSize {
        capacity: if is_data(good[0]) { units * a.write_unit } else { 0 },
        start: good[0] + 1,
        end: last * luns + before,
        ..empty
    }
}

/// The distance between metadata at the end of a line and the data with which they are submitted, in LUN positions.
///
/// Without strides this is half the array. With strides the LUN at this distance may be a member of the same stride,
/// and the data have closed its gate. The authors of RAIL reduce the distance by three in one version and by one in
/// another. With one less the metadata close the gate of the stride of the next data. In the first stripe the erases
/// make the data wait for this gate. The model therefore uses three.
fn metadata_distance(luns: u32, strides: Option<&Strides>) -> u32 {
    let half = luns / 2;
    match strides.is_some_and(|strides| half.is_multiple_of(strides.count)) {
        true if half > 3 => half - 3,
        true => half - 1,
        false => half,
    }
}

fn good_chunks(bad: &[bool], luns: u32, line: u32) -> u32 {
    let of_line = bad.get((line * luns) as usize..((line + 1) * luns) as usize).unwrap_or_default();
    luns - of_line.iter().filter(|&&bad| bad).count() as u32
}

/// The over-provisioning, in percent of the good chunks.
fn percent(c: &DeviceConfig) -> Result<f64, ConfigProblem> {
    match c.ftl.capacity_rule() {
        Some((_, CapacityRule::OfRaw(share))) if share > 0.0 && share < 1.0 => Ok(share * 100.0),
        Some((_, CapacityRule::OfRaw(_))) => {
            refuse("ftl.over_provisioning", "more than 0% and less than 100%")
        }
        Some((key, _)) => refuse(
            &format!("ftl.{key}"),
            "pblk's capacity follows from ftl.over_provisioning, the share of good chunks that it keeps: give that key",
        ),
        None => refuse("ftl.over_provisioning", "pblk needs this key"),
    }
}

/// By line and LUN position: whether a block of the chunk is bad. Empty if no block is bad.
fn bad_chunks(array: &Array, planes: u32, bad_blocks: &[Vec<u32>]) -> Vec<bool> {
    if bad_blocks.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let luns = array.luns();
    let mut bad = vec![false; (array.lines * luns) as usize];
    for (plane, blocks) in (0..).zip(bad_blocks) {
        let die = plane / planes;
        let position = array.position(die / array.luns_per_channel, die % array.luns_per_channel);
        for &line in blocks {
            bad[(line * luns + position) as usize] = true;
        }
    }
    bad
}

fn context(c: &DeviceConfig, array: &Array, strides: Option<&Strides>, seed: u64) -> PolicyContext {
    let g = &c.geometry;
    PolicyContext {
        seed,
        lanes: 1,
        channels: g.channels,
        chips: g.chips_per_channel,
        dies: g.dies_per_chip,
        plane_lanes: 1,
        extents_per_lane: array.lines,
        units_per_extent: array.line_sectors() as u32,
        units_per_page: array.write_unit / g.planes,
        units_per_write: array.write_unit,
        unit_bytes: SECTOR,
        groups: strides.map_or(0, |strides| strides.count),
        served_after_loop: c.served_after_loop(),
        erase: c.erase_context(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance is half the array. If that is a multiple of the number of strides, it is three less, or one less
    /// on small arrays.
    #[test]
    fn distance_of_metadata() {
        let strides = |luns, width| Strides::new(luns, width, 1).expect("strides");
        let distance = |luns, width: Option<u32>| {
            let strides = width.map(|width| strides(luns, width));
            metadata_distance(luns, strides.as_ref())
        };
        assert_eq!([128, 8, 4].map(|luns| distance(luns, None)), [64, 4, 2]);
        assert_eq!([128, 16, 8].map(|luns| distance(luns, Some(4))), [61, 5, 1]);
        assert_eq!(distance(4, Some(4)), 1);
        assert_eq!([2, 8, 16, 32].map(|width| distance(128, Some(width))), [61; 4]);
        // Three strides on 12 LUNs: half the array is a multiple of three. Strides of five on 128 LUNs: 64 is no
        // multiple of 25.
        assert_eq!((distance(12, Some(4)), distance(128, Some(5))), (3, 64));
        for (luns, width) in [(128, 2), (128, 4), (128, 16), (16, 4), (8, 4), (4, 4)] {
            let s = strides(luns, width);
            let own = distance(luns, Some(width));
            assert!(s.count == 1 || s.stride_of(own) != s.stride_of(0), "{luns} LUNs in strides of {width}");
        }
    }
}
