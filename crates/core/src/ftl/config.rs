//! The translation layer's parameters.

use crate::problem::{ConfigProblem, check_count, refuse};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity;

/// What is opened, collected and erased as one.
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

/// How collection moves a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyMode {
    /// Read to the controller, decode, program.
    Controller,
    /// Inside the plane, over its page register.
    Copyback,
}

/// The translation layer's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtlConfig {
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
    /// What is opened, collected and erased as one.
    ///
    /// - Read by: the address arithmetic (`ftl::layout`)
    pub extent: ExtentKind,
    /// Planes of a die that one program operation covers.
    ///
    /// - Range: at least 1; divides `geometry.planes`; 1 where `ftl.extent = "block"`
    /// - Read by: the address arithmetic (`ftl::layout`)
    pub write_planes: u32,
    /// Host reads queued at one die that address the same page of their blocks, on planes
    /// of their own, join into one multi-plane read.
    ///
    /// - Range: `true` needs `geometry.busy_unit = "die"` and several planes
    /// - Read by: joining (`flash::join`), set up in `device::drive`
    pub join_reads: bool,
    /// Programs queued at one die for the same page index of their blocks, on planes of their
    /// own, join into one multi-plane program: the host's with the host's, a collection's with
    /// those of other collections. For extents of one block.
    ///
    /// - Range: `true` needs `ftl.extent = "block"`, `geometry.busy_unit = "die"`, several planes,
    ///   `ftl.gc.copy = "controller"` and no parity
    /// - Read by: joining (`flash::join`), set up in `device::drive`
    pub join_programs: bool,
    /// Collection mechanics.
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

/// What the checks of the translation layer know of the dies below it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DieGeometry {
    /// Bytes of user data in a page.
    pub page: u64,
    /// Planes of the die.
    pub planes: u32,
    /// Whether its planes work independently.
    pub independent: bool,
}

impl DieGeometry {
    /// Planes of the die that one operation can cover.
    fn planes_together(self) -> u32 {
        if self.independent { 1 } else { self.planes }
    }
}

impl FtlConfig {
    /// The keys that give the capacity, of which exactly one is set.
    pub const CAPACITY_KEYS: [&str; 3] = ["user_capacity", "over_provisioning", "over_provisioning_of_user"];

    /// The one of the keys that is set, and its value; `None` if none is, or several are.
    pub fn capacity_rule(&self) -> Option<(&'static str, CapacityRule)> {
        let given = [
            self.user_capacity.map(CapacityRule::User),
            self.over_provisioning.map(CapacityRule::OfRaw),
            self.over_provisioning_of_user.map(CapacityRule::OfUser),
        ];
        let mut set = Self::CAPACITY_KEYS.into_iter().zip(given).filter_map(|(key, rule)| Some((key, rule?)));
        set.next().filter(|_| set.next().is_none())
    }

    /// Bytes of a write unit, over pages of so many bytes.
    pub(crate) fn write_unit(&self, page: u64) -> u64 {
        u64::from(self.write_planes) * page
    }

    /// The key that gives the capacity, and the user's bytes of so many raw ones.
    pub(crate) fn user_bytes(&self, raw: u64) -> Result<(String, u64), ConfigProblem> {
        let Some((key, rule)) = self.capacity_rule() else {
            let keys = Self::CAPACITY_KEYS.map(|k| format!("ftl.{k}")).join(", ");
            return refuse("ftl.user_capacity", format!("give exactly one of {keys}"));
        };
        let key = format!("ftl.{key}");
        let Some(user) = rule.user_bytes(raw) else {
            return refuse(&key, "a share from 0% up to, not including, 100%");
        };
        if user < self.mapping_unit {
            return refuse(&key, format!("{user} bytes is less than one mapping unit"));
        }
        if user > raw {
            return refuse(&key, format!("{user} bytes is more than the raw capacity of {raw} bytes"));
        }
        Ok((key, user))
    }

    /// The map can address so many mapping units, and those of so many user bytes.
    pub(crate) fn check_addressable(&self, units: u64, user: u64) -> Result<(), ConfigProblem> {
        // Map entries keep one bit for themselves.
        const MOST: u64 = (1 << 31) - 4;
        if units.max(user / self.mapping_unit) > MOST {
            return refuse(
                "ftl.mapping_unit",
                format!(
                    "the drive has {units} mapping units; at most {MOST} can be addressed, so take a larger unit"
                ),
            );
        }
        Ok(())
    }

    /// Mapping units and write units fit the pages and planes of a die, and each other.
    pub(crate) fn check_units(&self, die: DieGeometry) -> Result<(), ConfigProblem> {
        let unit = self.mapping_unit;
        if unit < 512
            || !unit.is_multiple_of(512)
            || (!die.page.is_multiple_of(unit) && !unit.is_multiple_of(die.page))
        {
            return refuse(
                "ftl.mapping_unit",
                format!(
                    "{unit} bytes; it divides the page ({} bytes) or is a multiple of it, in steps of 512 B",
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

    /// What is to join can join.
    pub(crate) fn check_joins(&self, die: DieGeometry, has_parity: bool) -> Result<(), ConfigProblem> {
        let one_plane = die.planes_together() == 1;
        if self.join_reads && one_plane {
            return refuse("ftl.join_reads", "true, but no operation covers more than one plane of a die");
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

    /// An erase covers a share of the planes that may be erased together.
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

    /// The reads and programs of a collection fit write units and mapping units.
    pub(crate) fn check_copies(&self, die: DieGeometry) -> Result<(), ConfigProblem> {
        let (gc, unit) = (&self.gc, self.mapping_unit);
        let shares = [("ftl.gc.copy_planes", gc.copy_planes), ("ftl.gc.program_planes", gc.program_planes)];
        for (key, planes) in shares {
            if planes == 0 || !self.write_planes.is_multiple_of(planes) {
                return refuse(
                    key,
                    format!("{planes} does not divide ftl.write_planes ({})", self.write_planes),
                );
            }
        }
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
    /// The user's bytes of so many raw ones; `None` where the rule leaves none. Shares are
    /// taken in steps of 2^-32 and in integers, so that every machine agrees.
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

/// Collection mechanics (who decides when and what is in `policy`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcConfig {
    /// How a valid page moves.
    ///
    /// - Range: `copyback` needs `ftl.extent = "block"` and a mapping unit of one page
    /// - Read by: collection (`device::gc::collect`)
    pub copy: CopyMode,
    /// Planes of a die that one collection read covers.
    ///
    /// - Range: at least 1; divides `ftl.write_planes`; covers a part of a mapping unit, or whole
    ///   ones
    /// - Read by: collection (`device::gc::collect`), set up in `device::shape`
    pub copy_planes: u32,
    /// Planes of a die that one collection program covers; a write unit takes several where
    /// that is less than `ftl.write_planes`.
    ///
    /// - Range: at least 1; divides `ftl.write_planes`
    /// - Read by: programs (`device::write::write_unit`)
    pub program_planes: u32,
    /// Reads of several collections queued at one die join as host reads do.
    ///
    /// - Range: `true` needs `ftl.extent = "block"`, `geometry.busy_unit = "die"`, several planes
    ///   and `ftl.gc.copy = "controller"`
    /// - Read by: joining (`flash::join`), set up in `device::drive`
    pub join_reads: bool,
    /// Planes of a die that one erase covers at most. An extent of more planes is erased by several
    /// erases; erases of single blocks queued at one die join up to that width.
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
