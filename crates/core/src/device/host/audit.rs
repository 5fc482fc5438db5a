//! The audit of the host's commands.

use crate::containers::NONE;
use crate::device::drive::Device;
use crate::device::work::Work;
use crate::medium::Medium;
use crate::observer::Observer;
use tailcut_units::HostOp;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Check that every command is in exactly one place.
    pub(in crate::device) fn audit_commands(&self) -> Result<(), String> {
        let s = &self.state;
        let h = &s.host;
        let in_use = s.host.requests.in_use();
        let mut places = std::collections::BTreeMap::new();
        for (ring, name) in [&h.read_done, &h.write_done, &h.read_ready, &h.write_ready].into_iter().zip(0..)
        {
            ring.audit(&s.timers, s.now)?;
            for (_, id) in ring.iter() {
                law!(places.insert(id, name).is_none(), "command slot {id} is in two rings");
            }
        }
        let leaves = s.write.buffer.held() > s.write.buffer.dirty();
        let queued = s.write.queues.audit(leaves)?;
        for &id in h.room.iter().chain(&h.flushes).chain(&queued) {
            law!(places.insert(id, usize::MAX).is_none(), "command slot {id} waits and is elsewhere");
        }
        let mut parts = std::collections::BTreeMap::new();
        for id in self.flash.ops_in_use() {
            if let Work::Request(r) = Work::from(self.flash.op(id).cmd.owner) {
                *parts.entry(r).or_insert(0u32) += 1;
            }
        }
        for id in s.parity.rebuilds.in_use() {
            *parts.entry(s.parity.rebuilds[id].request).or_insert(0) += 1;
        }
        for (_, slot) in s.write.buffer.in_use() {
            if slot.waiter != NONE {
                *parts.entry(slot.waiter).or_insert(0) += 1;
            }
        }
        for &id in &in_use {
            let r = &s.host.requests[id];
            let n = parts.remove(&id).unwrap_or(0);
            match places.remove(&id) {
                Some(usize::MAX) if r.host.command.op == HostOp::Write => {}
                Some(_) => law!(n == 0, "command {} is at its end with {n} parts left", r.host.index),
                None => law!(
                    n > 0 && n == r.remaining,
                    "command {} waits for {n} parts of {}: {:?}",
                    r.host.index,
                    r.remaining,
                    r.host.command
                ),
            }
        }
        law!(places.is_empty() && parts.is_empty(), "a command that has ended still has work");
        if !h.room.is_empty() {
            let leaving = leaves || s.parity.stripes.jobs.used() > 0;
            law!(leaving, "writes wait for room and nothing is on its way");
        }
        Ok(())
    }
}
