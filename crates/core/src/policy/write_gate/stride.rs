//! Stride gate (RAIL): only as many LUNs of a stride program or erase at once as its parities can stand for.
//!
//! **What it does.** A program or erase passes the gate of its stride if fewer LUNs of the stride are busy than the
//! stride has parities. Then its LUN is marked: host reads of it are computed from the other members. It waits until
//! the host reads that are under way to its LUN have ended, and only then goes to the device. The writer is one
//! thread, so that what follows waits too.
//!
//! **Why it helps the tail.** No host read waits for a program or an erase. The price is bandwidth: 1/S of the LUNs
//! write at once, parity included.
//!
//! **Parameters and source.** Litz et al. (TOS'22) sections 3.1 to 3.4. Their code has no `waits_for_reads` in its
//! published versions but one; without it 14 of 10,000 reads meet a program that has overtaken them between the look-up
//! and the queue of the LUN. `covers = "collection"` is LinuxTinyTail, which guards against collection alone:
//! its collection waits for all programs on the stride, users for none. `off_below` is 1,000 reads a second in
//! section 3.3; over which time they are counted is not said, and one second is assumed here.
//!
//! **Left out.** Reads under the gate are not decided again while they wait.
//!
//! **Checked by** `pblk`.

use super::{Covered, GateRules, PolicyContext, WriteGate};
use serde::{Deserialize, Serialize};

/// What the gate covers, and when it is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What must pass the gate, so that reads avoid its LUN.
    pub covers: Covered,
    /// What keeps the gate of a stride closed: `collection` lets collection pass while users program. It needs `covers` =
    /// `collection`: where users pass the gate too, it would change nothing.
    pub against: Covered,
    /// Whether what passes waits for the host reads that are under way to its LUN.
    pub waits_for_reads: bool,
    /// Whether reads avoid a LUN as soon as something waits at the gate for it.
    pub marks_early: bool,
    /// After a second with fewer host reads than this the gate is open. 0: it never is.
    ///
    /// - Range: 0 to 1000000000
    pub off_below: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            covers: Covered::All,
            against: Covered::All,
            waits_for_reads: true,
            marks_early: false,
            off_below: 0,
        }
    }
}

/// The rules.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    of: Config,
}

impl Policy {
    /// Build the policy; an error without strides.
    pub fn new(c: &Config, x: &PolicyContext) -> Result<Policy, String> {
        if x.groups == 0 {
            return Err("policy.write_gate.stride needs strides: set pblk.stride".into());
        }
        if c.off_below > 1_000_000_000 {
            return Err("policy.write_gate.stride.off_below: 0 to 1000000000 reads a second".into());
        }
        if (c.covers, c.against) == (Covered::All, Covered::Collection) {
            return Err("policy.write_gate.stride.against: `collection` changes nothing while users pass the gate too: set covers to `collection` as well".into());
        }
        Ok(Policy { of: c.clone() })
    }
}

impl WriteGate for Policy {
    #[inline]
    fn rules(&self) -> Option<GateRules> {
        let Config { covers, against, waits_for_reads, marks_early, off_below } = self.of;
        Some(GateRules { covers, against, waits_for_reads, marks_early, off_below })
    }
}
