//! A description of what a drive that makes no progress waits for.

use super::drive::Device;
use super::medium::Medium;
use crate::observer::Observer;
use std::fmt::Write;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Describe the commands and operations under way and what each waits for, for the error of a
    /// run that makes no progress. At most a few dozen lines.
    pub fn describe_waiting(&self) -> String {
        const MOST: usize = 16;
        let s = &self.state;
        let mut out = String::new();
        let requests = s.host.requests.in_use();
        let _ = writeln!(
            out,
            "{} commands outstanding, {} writes wait for buffer room ({} of {} slots held, {} dirty), {} FLUSH commands wait",
            requests.len(),
            s.host.room.len() + s.write.queues.waiting() as usize,
            s.write.buffer.held(),
            s.write.buffer.capacity(),
            s.write.buffer.dirty(),
            s.host.flushes.len(),
        );
        for &id in requests.iter().take(MOST) {
            let r = &s.host.requests[id];
            let _ = writeln!(
                out,
                "  command {} ({:?} of {} bytes at {}) since {} ns, {} parts left",
                r.index, r.command.op, r.command.bytes, r.command.offset, r.arrived, r.remaining
            );
        }
        for &id in self.flash.ops_in_use().iter().take(MOST) {
            let o = self.flash.op(id);
            let _ = writeln!(
                out,
                "  {:?} ({}) for {:?} on unit {} since {} ns",
                o.cmd.kind,
                o.cmd.occupant.name(),
                o.cmd.owner,
                o.cmd.unit,
                o.entered
            );
        }
        let jobs = s.parity.stripes.jobs.in_use();
        for &job in jobs.iter().take(MOST) {
            let j = &s.parity.stripes.jobs[job];
            let stripe = s.parity.stripes.dirty.entry(j.entry).stripe;
            let _ = writeln!(
                out,
                "  flush of stripe {stripe}: {} members, {} reads and {} programs to go",
                j.members, j.reads, j.programs
            );
        }
        let f = &s.faults;
        if self.fixed.may_fail {
            let _ = writeln!(
                out,
                "  {} dead planes, {} failing extents, {} retired, {} units unreadable, {} stripes broken, {} rewritten, {} programs wait to be repeated",
                self.dead_planes(),
                f.failing.len(),
                s.extents.retired().len(),
                f.unreadable.len(),
                f.broken.len(),
                s.parity.rewriting.under_way,
                f.again.waiting
            );
        }
        for (lane, c) in s.gc.collections.iter().enumerate().filter(|(_, c)| c.is_active()).take(MOST) {
            let free = s.extents.free(&self.shape.layout, lane as u32);
            let _ = writeln!(out, "  collection of lane {lane} ({free} free extents): {}", c.describe());
        }
        out
    }
}
