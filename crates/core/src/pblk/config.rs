//! The parameters of pblk.

use crate::problem::{ConfigProblem, check_time, refuse};
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// A range of versions of Linux whose pblk has the same rules, named by one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Up to 4.19.
    V4_19,
    /// 5.1, which RAIL is compared with.
    #[default]
    V5_1,
    /// 5.2 to 5.14, the last with pblk.
    V5_14,
}

/// The parameters of pblk, Linux's translation layer on the host, of drives with `ftl.kind = "pblk"`.
///
/// - Read by: pblk (`pblk::shape`)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PblkConfig {
    /// The version of Linux. Its rules give the size of the ring and the chunks that the rate limiter keeps
    /// from users: 4.19 and 5.1 keep one line, 5.14 keeps as many as 100 / over-provisioning in percent.
    #[serde(default)]
    pub kernel: Kernel,
    /// Entries of the ring, if the rule of the kernel gives fewer. It is rounded up to a power of two.
    ///
    /// - Range: 1 to 1048576
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<u32>,
    /// Time of the device's controller for a vector command, in place of `controller.command`.
    ///
    /// - Range: 0ns to 1000s
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_time")]
    pub command: Option<Span>,
    /// Time of the device's controller for each sector that it reads, in addition to that for the command. It takes one
    /// sector of each command in turn.
    ///
    /// - Range: 0ns to 1000s
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_time")]
    pub read_sector: Option<Span>,
    /// Time of the device's controller for each sector that it programs. It limits the rate of sectors, and delays no
    /// command that comes alone.
    ///
    /// - Range: 0ns to 1000s
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_time")]
    pub write_sector: Option<Span>,
    /// Whether an erase takes the semaphore of its LUN, so that the writer waits for the program before it. In
    /// Linux it does not. With strides and a gate it always does.
    #[serde(default)]
    pub erase_semaphore: bool,
    /// LUNs of a stride, parity included (RAIL). Without this key there is no parity.
    ///
    /// - Range: 2 to 32; at most the LUNs of the drive
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<u32>,
    /// Members of a stride that are parity: 1, which is the default, or 2 (P and Q), from which any two members can be
    /// computed.
    ///
    /// - Range: 1 to 2; fewer than `pblk.stride`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parities: Option<u32>,
    /// Users write to hot LUNs, with strides and their gate, and collection to cold ones, without (RAIL-HC). The key says
    /// what the share of hot LUNs follows from. It needs `pblk.stride`, more than one of them on the device, and
    /// `policy.write_gate`. Without this key both write to all LUNs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_cold: Option<SplitBy>,
}

/// What the share of hot LUNs follows from, given the write amplification W of the last sectors written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// The time that both kinds of writes take. In a stride of S members with P of parity one unit is programmed at a time,
    /// parity too: S' / (S' + W - 1), where S' = S * S / ((S - P) * P).
    Time,
    /// The sectors that both kinds write: 1 / W.
    Writes,
}

impl PblkConfig {
    /// Check the ranges.
    pub(super) fn check(&self) -> Result<(), ConfigProblem> {
        if self.ring.is_some_and(|entries| entries == 0 || entries > 1 << 20) {
            return refuse("pblk.ring", "1 to 1048576 entries");
        }
        let times = [
            ("pblk.command", self.command),
            ("pblk.read_sector", self.read_sector),
            ("pblk.write_sector", self.write_sector),
        ];
        times.into_iter().try_for_each(|(key, time)| check_time(key, time.unwrap_or(Span::ZERO)))
    }

    /// Whether all parameters are those of a drive that names none.
    pub fn is_default(&self) -> bool {
        *self == PblkConfig::default()
    }
}
