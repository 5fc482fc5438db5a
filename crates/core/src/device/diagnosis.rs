//! A description of what a drive that makes no progress waits for.

use super::drive::Device;
use super::work::Work;
use crate::containers::NONE;
use crate::medium::Medium;
use crate::observer::Observer;
use std::fmt::Write;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Describe the commands and operations under way and what each waits for, for the error of a
    /// run that makes no progress. At most a few dozen lines.
    pub fn describe_waiting(&self) -> String {
        const MOST: usize = 16;
        let (s, f) = (&self.state, &self.state.faults);
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
                r.host.index,
                r.host.command.op,
                r.host.command.bytes,
                r.host.command.offset,
                r.host.arrived,
                r.remaining
            );
        }
        for &id in self.flash.ops_in_use().iter().take(MOST) {
            let o = self.flash.op(id);
            let _ = writeln!(
                out,
                "  {:?} ({}) for {:?} on unit {} since {} ns",
                o.cmd.kind,
                o.cmd.occupant.name(),
                Work::from(o.cmd.owner),
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
            for m in &s.parity.stripes.members[s.parity.stripes.members_of(job)] {
                let _ = writeln!(
                    out,
                    "    unit {} for lane {}, programmed: {}, old copy at {}, lacks data: {}",
                    m.unit,
                    self.copies().target_lane(m.unit),
                    m.done,
                    m.old_ppa,
                    m.short
                );
            }
        }
        for (list, l) in s.write.stalled.lists.iter().enumerate().filter(|(_, l)| !l.is_empty()).take(MOST) {
            let first = self.shape.first_lane(list as u32);
            let _ = writeln!(out, "  {} write units wait for rows of pool {list}:", l.len());
            (first..first + self.shape.pool_lanes).for_each(|lane| self.describe_lane(lane, &mut out));
        }
        for (lane, l) in f.again.lists.iter().enumerate().filter(|(_, l)| !l.is_empty()).take(MOST) {
            let _ = writeln!(out, "  {} members of stripes wait for rows of a lane:", l.len());
            self.describe_lane(lane as u32, &mut out);
        }
        for (group, l) in s.parity.stripes.stalled.iter().enumerate().filter(|(_, l)| !l.is_empty()) {
            let lane = s.parity.stripes.jobs[l.head()].lacking;
            let _ = writeln!(out, "  {} stripes of group {group} wait for rows:", l.len());
            if lane != NONE {
                self.describe_lane(lane, &mut out);
            }
        }
        if self.shape.fixed.may_fail {
            let _ = writeln!(
                out,
                "  {} dead planes, {} failing extents, {} retired, {} units unreadable, {} stripes broken, {} rewritten, {} programs wait to be repeated",
                self.copies().dead_planes(),
                f.failing.len(),
                s.extents.retired().len(),
                f.unreadable.len(),
                f.broken.len(),
                s.parity.rewriting.under_way,
                f.again.waiting
            );
        }
        if self.shape.fixed.defers_last_loop {
            let (deferred, held) = self.last_loops();
            let deferred = deferred.count();
            let _ = writeln!(out, "  {deferred} last loops are deferred, {held} programs wait for others");
        }
        for (lane, c) in s.gc.collections.iter().enumerate().filter(|(_, c)| c.is_active()).take(MOST) {
            let free = s.extents.free(&self.shape.layout, lane as u32);
            let _ = writeln!(out, "  collection of lane {lane} ({free} free extents): {}", c.describe());
        }
        out
    }

    /// Describe the space of a lane that something waits for.
    fn describe_lane(&self, lane: u32, out: &mut String) {
        let (e, layout) = (&self.state.extents, &self.shape.layout);
        let closed = (lane * layout.stride..(lane + 1) * layout.stride).filter(|&x| e.is_closed(x));
        let valid: Vec<u32> = closed.map(|x| e.valid(x)).collect();
        let _ = writeln!(
            out,
            "    lane {lane}, dead: {}, full: {}: {} free extents ({} reserved), {} retired; valid units of the closed ones, of {}: {valid:?}",
            self.state.faults.is_dead(lane),
            self.state.faults.full.contains(&lane),
            e.free(&self.shape.layout, lane),
            self.shape.reserve,
            e.retired_in(layout, lane),
            layout.units_per_extent
        );
    }
}
