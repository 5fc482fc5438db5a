//! The invariants of the write buffer, checked on demand.

use super::{Buffer, DirtyList, Slot};
use crate::address::Ppa;
use crate::containers::NONE;

impl Buffer {
    /// The slots in use, with their numbers.
    pub fn in_use(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let mut held = vec![true; self.slots.len()];
        for &i in &self.spare {
            held[i as usize] = false;
        }
        (0..).zip(&self.slots).filter(move |&(i, _)| held[i as usize])
    }

    /// Check that each slot is spare, dirty (and listed) or in flight, and that the epochs count
    /// their slots. `acknowledged`: writes are acknowledged when they are held, so that no request
    /// waits for a slot.
    pub fn audit(&self, acknowledged: bool) -> Result<(), String> {
        let used: Vec<(u32, &Slot)> = self.in_use().collect();
        law!(used.len() + self.spare.len() == self.slots.len(), "a slot is spare twice");
        let mut dirty = vec![false; self.slots.len()];
        for (i, slot) in &used {
            dirty[*i as usize] = !slot.in_flight;
        }
        let expected = dirty.iter().filter(|&&d| d).count();
        let age = self.age.walk(&self.by_age, "the buffer's list by age")?;
        law!(age.len() == expected, "{expected} slots are dirty and {} listed", age.len());
        let mut listed = 0;
        for (list, slots) in (0..).zip(&self.lanes) {
            for i in slots.walk(&self.by_lane, "a lane's list of dirty slots")? {
                law!(dirty[i as usize], "slot {i} is listed as dirty and is not");
                law!(self.slots[i as usize].list == DirtyList(list), "slot {i} is wrongly in list {list}");
                listed += 1;
            }
        }
        law!(listed == expected, "{expected} slots are dirty and {listed} are in the lists of lanes");
        let mut epochs = vec![0; self.epochs.len()];
        let mut moving = 0;
        for &(i, slot) in &used {
            law!(slot.mask & !self.full == 0, "slot {i} holds granules beyond its unit");
            law!(
                slot.mask == self.full || slot.old_ppa != Ppa::NONE || slot.in_flight,
                "slot {i} lacks data and has no copy on flash"
            );
            law!(!slot.moving || slot.in_flight, "slot {i} moves a unit and is not in flight");
            if slot.moving {
                moving += 1;
                continue;
            }
            let waits = slot.waiter != NONE;
            law!(waits != acknowledged, "slot {i}: waiter {}", slot.waiter);
            let epoch = slot.epoch.wrapping_sub(self.oldest_epoch) as usize;
            law!(epoch < epochs.len(), "slot {i} is of epoch {}, which is forgotten", slot.epoch);
            epochs[epoch] += 1;
        }
        law!(moving == self.moving && moving <= self.aside, "{moving} units move, {} counted", self.moving);
        law!(self.epochs.iter().eq(&epochs), "epochs count {:?} and hold {epochs:?}", self.epochs);
        Ok(())
    }
}
