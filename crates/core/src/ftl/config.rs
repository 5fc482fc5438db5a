//! The translation layer's parameters.

use crate::problem::{ConfigProblem, Found, check_count, refuse};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// The blocks that are opened, written, collected and erased together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtentKind {
    /// One block of one plane.
    Block,
    /// The block of one index on every plane of a die.
    Superblock,
    /// The block of one index on every plane of every die.
    Line,
}

/// What becomes of a bad block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadBlocks {
    /// A good block of its plane takes its place, so that all extents have the same width. A lane has
    /// as many extents as its plane with the fewest good blocks.
    #[default]
    Remap,
    /// Its extent stays in use without the write units on its plane.
    Hole,
}

/// Who translates addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FtlKind {
    /// The controller of the drive, page by page.
    #[default]
    Page,
    /// The host, with pblk, over an open-channel device.
    Pblk,
}

/// How collection moves a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyMode {
    /// Read to the controller, decode, program.
    Controller,
    /// Move inside the plane, through its page register.
    Copyback,
}

/// The translation layer's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtlConfig {
    /// Who translates addresses: the controller, or the host with pblk.
    ///
    /// - Read by: the choice of the controller (`drive`)
    #[serde(default)]
    pub kind: FtlKind,
    /// Granularity of the map.
    ///
    /// - Range: at least 512B; in steps of 512 B; divides `geometry.page` or is a multiple of it; a
    ///   write unit holds 1 to 64 of them
    /// - Read by: the map (`ftl::map`), set up in `device::shape`
    #[serde(with = "quantity::bytes")]
    pub mapping_unit: u64,
    /// Capacity that the host sees. Exactly one of this key, `ftl.over_provisioning` and
    /// `ftl.over_provisioning_of_user` is given.
    ///
    /// - Range: more than 0B; at least one mapping unit, and so much less than the raw capacity
    ///   that collection has its reserve
    /// - Read by: the capacity (`ftl::config`, `device::capacity`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_bytes")]
    pub user_capacity: Option<u64>,
    /// Over-provisioning by the raw capacity: (raw − user) / raw. It is given in place of
    /// `ftl.user_capacity`.
    ///
    /// - Range: more than 0%, less than 100%; enough for the extents that collection reserves
    /// - Read by: the capacity (`ftl::config`, `device::capacity`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub over_provisioning: Option<f64>,
    /// Over-provisioning by the user's capacity, as vendors give it: (raw − user) / user. It is
    /// given in place of `ftl.user_capacity`.
    ///
    /// - Range: more than 0%, at most 99999%; enough for the extents that collection reserves
    /// - Read by: the capacity (`ftl::config`, `device::capacity`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_ratio")]
    pub over_provisioning_of_user: Option<f64>,
    /// Program/erase cycles that a block is rated for, from which a run gives the endurance of the drive. With the table
    /// `erase` they are `erase.worn_cycles`.
    ///
    /// - Range: 1 to 1000000; not with the table `erase`
    /// - Read by: the endurance in the summary of a run
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_cycles: Option<u32>,
    /// The blocks that are opened, written, collected and erased together.
    ///
    /// - Read by: the address arithmetic (`ftl::layout`)
    pub extent: ExtentKind,
    /// What becomes of a block that is bad from the factory or has grown bad, and of the blocks of a
    /// plane that has died.
    ///
    /// - Range: `"hole"` excludes `age.free`
    /// - Read by: the capacity (`device::capacity`), the holes of extents (`ftl::holes`)
    #[serde(default)]
    pub bad_blocks: BadBlocks,
    /// Planes of a die that one program operation covers.
    ///
    /// - Range: at least 1; divides `geometry.planes`; 1 where `ftl.extent = "block"`
    /// - Read by: the address arithmetic (`ftl::layout`)
    pub write_planes: u32,
    /// Whether host reads queued at one die join into one multi-plane read, if they address the
    /// same page of their blocks and different planes.
    ///
    /// - Range: `true` needs `geometry.busy_unit = "die"`, several planes and `geometry.plane_reads = "together"`
    /// - Read by: joining (`flash::join`), set up in `device::drive`
    pub join_reads: bool,
    /// Whether programs queued at one die join into one multi-plane program, if they are for the
    /// same page index of their blocks and different planes. Host programs join host programs, and
    /// programs of a collection join those of other collections. For extents of one block.
    ///
    /// - Range: `true` needs `ftl.extent = "block"`, `geometry.busy_unit = "die"`, several planes,
    ///   `ftl.gc.copy = "controller"` and no parity
    /// - Read by: joining (`flash::join`), set up in `device::drive`
    pub join_programs: bool,
    /// How collection reads, programs and erases.
    pub gc: GcConfig,
}

/// How a drive's capacity is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CapacityRule {
    /// In bytes.
    User(u64),
    /// (raw − user) / raw.
    OfRaw(f64),
    /// (raw − user) / user.
    OfUser(f64),
}

/// The geometry of a die, for the checks of the translation layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DieGeometry {
    /// Bytes of user data in a page.
    pub page: u64,
    /// Planes of the die.
    pub planes: u32,
    /// Whether the planes work independently.
    pub independent: bool,
    /// Whether its reads on different planes run side by side, and its other operations do not.
    pub reads_by_plane: bool,
}

impl DieGeometry {
    /// Planes of the die that one operation can cover.
    fn planes_together(self) -> u32 {
        if self.independent { 1 } else { self.planes }
    }
}

impl FtlConfig {
    /// The keys that can give the capacity; exactly one of them must be set.
    pub const CAPACITY_KEYS: [&str; 3] = ["user_capacity", "over_provisioning", "over_provisioning_of_user"];

    /// The capacity key that is set, and its value; `None` if no key is set, or several are.
    pub fn capacity_rule(&self) -> Option<(&'static str, CapacityRule)> {
        let given = [
            self.user_capacity.map(CapacityRule::User),
            self.over_provisioning.map(CapacityRule::OfRaw),
            self.over_provisioning_of_user.map(CapacityRule::OfUser),
        ];
        let mut set = Self::CAPACITY_KEYS.into_iter().zip(given).filter_map(|(key, rule)| Some((key, rule?)));
        set.next().filter(|_| set.next().is_none())
    }

    /// Check the rated cycles; `has_wear` tells whether the drive has the table `erase`.
    pub(crate) fn check_rated_cycles(&self, has_wear: bool) -> Result<(), ConfigProblem> {
        let Some(cycles) = self.rated_cycles else { return Ok(()) };
        if has_wear {
            return refuse(
                "ftl.rated_cycles",
                "a drive with the table `erase` has erase.worn_cycles instead",
            );
        }
        check_count("ftl.rated_cycles", cycles, 1_000_000)
    }

    /// Bytes of a write unit, for pages of `page` bytes.
    pub(crate) fn write_unit(&self, page: u64) -> u64 {
        u64::from(self.write_planes) * page
    }

    /// The key that gives the capacity, and the bytes of user capacity for `raw` bytes of raw
    /// capacity.
    pub(crate) fn user_bytes(&self, raw: u64) -> Result<(String, u64), ConfigProblem> {
        let Some((key, rule)) = self.capacity_rule() else {
            let keys = Self::CAPACITY_KEYS.map(|k| format!("ftl.{k}")).join(", ");
            return refuse("ftl.user_capacity", format!("give exactly one of {keys}"));
        };
        let key = format!("ftl.{key}");
        let Some(user) = rule.user_bytes(raw) else {
            return refuse(&key, "must be at least 0% and less than 100%");
        };
        if user < self.mapping_unit {
            return refuse(&key, format!("{user} bytes is less than one mapping unit"));
        }
        if user > raw {
            return refuse(&key, format!("{user} bytes is more than the raw capacity of {raw} bytes"));
        }
        Ok((key, user))
    }

    /// Check that the map can address `units` mapping units, or the mapping units of `user` bytes, and a slot
    /// for each of `buffered` units.
    pub(crate) fn check_addressable(
        &self,
        units: u64,
        user: u64,
        buffered: u64,
    ) -> Result<(), ConfigProblem> {
        // An entry has 32 bits. The last is for trimmed units, and some are for units that only move.
        const MOST: u64 = u32::MAX as u64 - (1 << 16);
        if units.max(user / self.mapping_unit) + buffered > MOST {
            return refuse(
                "ftl.mapping_unit",
                format!(
                    "the drive has {units} mapping units, and its buffer {buffered}; at most {MOST} can be addressed, so use a larger unit"
                ),
            );
        }
        Ok(())
    }

    /// Check that mapping units and write units fit the pages and planes of a die, and each other.
    pub(crate) fn check_units(&self, die: DieGeometry) -> Result<(), ConfigProblem> {
        let unit = self.mapping_unit;
        if unit < 512
            || !unit.is_multiple_of(512)
            || (!die.page.is_multiple_of(unit) && !unit.is_multiple_of(die.page))
        {
            return refuse(
                "ftl.mapping_unit",
                format!(
                    "{unit} bytes; it must divide the page ({} bytes) or be a multiple of it, in steps of 512 B",
                    die.page
                ),
            );
        }
        if self.write_planes == 0 || !die.planes.is_multiple_of(self.write_planes) {
            return refuse(
                "ftl.write_planes",
                format!("{} does not divide the {} planes of a die", self.write_planes, die.planes),
            );
        }
        if self.extent == ExtentKind::Block && self.write_planes != 1 {
            return refuse(
                "ftl.write_planes",
                "an extent of one block is written one plane at a time: 1 is the only value",
            );
        }
        let row = self.write_unit(die.page);
        if !row.is_multiple_of(unit) || row / unit > 64 {
            return refuse(
                "ftl.mapping_unit",
                format!("a write unit of {row} bytes must hold 1 to 64 whole mapping units of {unit} bytes"),
            );
        }
        Ok(())
    }

    /// Check that the operations that are configured to join can join.
    pub(crate) fn check_joins(&self, die: DieGeometry, has_parity: bool) -> Result<(), ConfigProblem> {
        let one_plane = die.planes_together() == 1;
        if self.join_reads && one_plane {
            return refuse("ftl.join_reads", "true, but no operation covers more than one plane of a die");
        }
        for (key, joins) in [("ftl.join_reads", self.join_reads), ("ftl.gc.join_reads", self.gc.join_reads)] {
            if joins && die.reads_by_plane {
                return refuse(
                    key,
                    "true, but with geometry.plane_reads = \"independent\" each read begins for itself, and none waits to join another: leave one of the two out",
                );
            }
        }
        let of_blocks =
            [("ftl.join_programs", self.join_programs), ("ftl.gc.join_reads", self.gc.join_reads)];
        for (key, joins) in of_blocks {
            if joins && (self.extent != ExtentKind::Block || one_plane) {
                return refuse(
                    key,
                    "true, but only operations on single blocks of one die join: it needs ftl.extent = \"block\", geometry.busy_unit = \"die\" and several planes",
                );
            }
            if joins && self.gc.copy == CopyMode::Copyback {
                return refuse(key, "true, but copybacks do not join: set ftl.gc.copy to controller");
            }
        }
        if self.join_programs && has_parity {
            return refuse(
                "ftl.join_programs",
                "true, but a plane programs the pages of its data and its parity in the order of one queue: set policy.redundancy to none",
            );
        }
        Ok(())
    }

    /// Check that the planes of an erase divide the planes that may be erased together.
    pub(crate) fn check_erases(&self, die: DieGeometry) -> Result<(), ConfigProblem> {
        let erased = match self.extent {
            ExtentKind::Block => die.planes_together(),
            ExtentKind::Superblock | ExtentKind::Line => die.planes,
        };
        let planes = self.gc.erase_planes;
        if planes == 0 || !erased.is_multiple_of(planes) {
            return refuse(
                "ftl.gc.erase_planes",
                format!("{planes} does not divide the {erased} planes that may be erased together"),
            );
        }
        Ok(())
    }

    /// Check that the reads and programs of a collection fit write units and mapping units.
    pub(crate) fn check_copies(&self, die: DieGeometry) -> Result<(), ConfigProblem> {
        let (gc, unit) = (&self.gc, self.mapping_unit);
        let shares = [("ftl.gc.copy_planes", gc.copy_planes), ("ftl.gc.program_planes", gc.program_planes)];
        let mut found = Found::default();
        for (key, planes) in shares {
            let (write, die) = (self.write_planes, die.planes);
            if planes == 0 || !write.is_multiple_of(planes) {
                found.add(refuse(key, format!("{planes} does not divide ftl.write_planes ({write})")));
            } else if !die.is_multiple_of(planes) {
                // Nor does `ftl.write_planes`, which has its own problem.
                found.add(refuse(key, format!("{planes} does not divide the {die} planes of a die")));
            }
        }
        found.end()?;
        let copied = u64::from(gc.copy_planes) * die.page;
        if !copied.is_multiple_of(unit) && !unit.is_multiple_of(copied) {
            return refuse(
                "ftl.gc.copy_planes",
                format!(
                    "{copied} bytes are copied at once; that must divide a mapping unit ({unit} bytes) or be a multiple of it"
                ),
            );
        }
        check_count("ftl.gc.in_flight", gc.in_flight, 1024)?;
        if gc.copy == CopyMode::Copyback && (self.extent != ExtentKind::Block || unit != die.page) {
            return refuse(
                "ftl.gc.copy",
                "copyback stays in a plane and moves whole pages: it needs ftl.extent = \"block\" and a mapping unit of one page",
            );
        }
        Ok(())
    }
}

impl CapacityRule {
    /// The bytes of user capacity for `raw` bytes of raw capacity; `None` if the share or ratio is
    /// out of range. Computed in integers, in steps of 2^-32, so that every machine gets the same
    /// result.
    pub fn user_bytes(self, raw: u64) -> Option<u64> {
        const ONE: f64 = 4_294_967_296.0;
        match self {
            CapacityRule::User(bytes) => Some(bytes),
            CapacityRule::OfRaw(share) if (0.0..1.0).contains(&share) => {
                let kept = libm::round((1.0 - share) * ONE) as u128;
                Some(((u128::from(raw) * kept) >> 32) as u64)
            }
            CapacityRule::OfUser(ratio) if ratio >= 0.0 => {
                let per_user = libm::round((1.0 + ratio) * ONE) as u128;
                Some(((u128::from(raw) << 32) / per_user) as u64)
            }
            CapacityRule::OfRaw(_) | CapacityRule::OfUser(_) => None,
        }
    }
}

/// How collection reads, programs and erases. Members of `policy` decide when and what it collects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcConfig {
    /// How collection moves a valid page.
    ///
    /// - Range: `copyback` needs `ftl.extent = "block"` and a mapping unit of one page
    /// - Read by: collection (`device::gc::moves`)
    pub copy: CopyMode,
    /// Planes of a die that one collection read covers.
    ///
    /// - Range: at least 1; divides `ftl.write_planes`; covers a part of a mapping unit, or whole
    ///   ones
    /// - Read by: collection (`device::gc::moves`), set up in `device::shape`
    pub copy_planes: u32,
    /// Planes of a die that one collection program covers. If they are fewer than
    /// `ftl.write_planes`, a write unit takes several programs.
    ///
    /// - Range: at least 1; divides `ftl.write_planes`
    /// - Read by: programs (`device::write::write_unit`)
    pub program_planes: u32,
    /// Whether reads of several collections queued at one die join, as host reads do under
    /// `ftl.join_reads`.
    ///
    /// - Range: `true` needs `ftl.extent = "block"`, `geometry.busy_unit = "die"`, several planes,
    ///   `geometry.plane_reads = "together"` and `ftl.gc.copy = "controller"`
    /// - Read by: joining (`flash::join`), set up in `device::drive`
    pub join_reads: bool,
    /// The most planes of a die that one erase covers. An extent of more planes is erased by
    /// several erases. Erases of single blocks queued at one die join, up to this number of planes.
    ///
    /// - Range: at least 1; divides `geometry.planes`; 1 where `geometry.busy_unit = "plane"`
    /// - Read by: joining (`flash::join`), set up in `device::drive`
    pub erase_planes: u32,
    /// Collection reads (or copybacks) under way at once in one collection.
    ///
    /// - Range: 1 to 1024
    /// - Read by: collection (`device::gc::collect`)
    pub in_flight: u32,
}
