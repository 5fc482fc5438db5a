//! The invariants that hold between two events.

use super::drive::Pblk;
use super::lines::State;
use crate::address::Lpn;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::Observer;

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Check every invariant over the whole state.
    ///
    /// # Errors
    /// Names the invariant that is violated, and where.
    pub fn audit(&self) -> Result<(), String> {
        self.flash.audit_besides(&self.state.interface.on_their_way())?;
        self.state.lines.audit()?;
        self.audit_map()?;
        if let Some(rules) = &self.shape.gate {
            self.state.gate.audit(rules)?;
        }
        self.audit_counts()
    }

    /// Each sector of the host is at the location that the map gives, and is counted there once.
    fn audit_map(&self) -> Result<(), String> {
        let lines = &self.state.lines;
        let mut valid = vec![0u32; lines.count() as usize];
        for lpn in Lpn(0).run(self.shape.sectors) {
            match self.map.lookup(lpn) {
                Mapping::Unmapped => {}
                Mapping::Buffer(held) => {
                    law!(self.state.ring.holds(held.slot(), lpn), "the ring does not hold sector {lpn}");
                }
                Mapping::Flash(sector) => {
                    law!(self.map.is_valid(sector), "sector {lpn} is at {sector}, which is not valid");
                    law!(self.map.owner(sector) == lpn, "the record at {sector} does not name sector {lpn}");
                    valid[self.shape.line_of(lines, sector) as usize] += 1;
                }
            }
        }
        let mut marked = vec![0u32; lines.count() as usize];
        for index in 0..lines.indexes() {
            let first = self.shape.unit_start(index, 0);
            for word in (0..self.shape.line_sectors).step_by(64) {
                let mut bits = self.map.valid_mask(first + word, (self.shape.line_sectors - word).min(64));
                if lines.split().is_none() {
                    marked[index as usize] += bits.count_ones();
                    continue;
                }
                while bits != 0 {
                    let sector = first + (word + bits.trailing_zeros());
                    marked[self.shape.line_of(lines, sector) as usize] += 1;
                    bits &= bits - 1;
                }
            }
        }
        for ((line, &mapped), bits) in (0..).zip(&valid).zip(marked) {
            let l = lines.line(line);
            law!(bits == mapped, "line {line} has {bits} valid sectors, and the map knows {mapped}");
            // Sectors of the ring count in their line until their slots are reused.
            match l.state {
                State::Closed => law!(
                    l.valid == bits + l.in_ring,
                    "line {line} counts {} valid sectors; {bits} are, and {} are in the ring",
                    l.valid,
                    l.in_ring
                ),
                State::Open => {
                    law!(l.valid >= bits + l.in_ring, "open line {line} counts too few valid sectors")
                }
                State::Victim | State::Free | State::Bad | State::Lost => {
                    law!(l.state == State::Victim || bits == 0, "free line {line} has {bits} valid sectors");
                }
            }
        }
        Ok(())
    }

    /// The rate limiter counts the slots that are not reused yet. The free chunks are those of free lines and of the
    /// next line.
    fn audit_counts(&self) -> Result<(), String> {
        let s = &self.state;
        let (user, gc) = s.limiter.counted();
        let counted = s.ring.counted();
        law!((user, gc) == counted, "the limiter counts {user} and {gc} slots, the ring has {counted:?}");
        let kinds = s.lines.free_of_kinds();
        let mut free = if s.lines.split().is_some() { kinds.iter().sum() } else { 0 };
        let mut in_ring = vec![0u32; s.lines.count() as usize];
        for entry in s.ring.mapped() {
            in_ring[self.shape.line_of(&s.lines, entry.media) as usize] += 1;
        }
        for (line, in_ring) in (0..).zip(in_ring) {
            let l = s.lines.line(line);
            law!(
                l.in_ring == in_ring,
                "line {line} has {in_ring} sectors in the ring and says {}",
                l.in_ring
            );
            let counts = match l.state {
                State::Free | State::Lost => true,
                State::Open => !l.begun,
                State::Closed | State::Victim | State::Bad => false,
            };
            free += if counts && s.lines.split().is_none() { l.chunks } else { 0 };
        }
        law!(free == s.lines.free_chunks, "{free} chunks are free, not {}", s.lines.free_chunks);
        Ok(())
    }
}
