//! Snapshots: an aged drive's map and extents, or a whole drive in the middle of a run.

use super::drive::{Device, State};
use crate::address::Lpn;
use crate::config::DeviceConfig;
use crate::device::copies::Copies;
use crate::figures::AgeReport;
use crate::flash::FlashState;
use crate::ftl::extents::Extents;
use crate::ftl::map::{MapState, Mapping};
use crate::medium::Medium;
use crate::nand::blocks::Blocks;
use crate::observer::Observer;
use crate::snapshot::{self, SnapshotError, SnapshotKind, audited, damaged, whole_key};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

#[derive(Serialize, Deserialize)]
struct Aged {
    report: AgeReport,
    map: MapState,
    extents: Extents,
    blocks: Blocks,
    /// Stripes that have moved: each with its group and the offset of its parity.
    moved: Vec<(u32, u32, u32)>,
}

impl<O: Observer> Device<O> {
    /// Restore the drive that [`Device::snapshot`] has saved.
    pub fn restore(
        config: &DeviceConfig,
        seed: u64,
        observer: O,
        from: &mut dyn Read,
    ) -> Result<Device<O>, SnapshotError> {
        let mut device = Device::new(config, seed, observer)?;
        let (mut state, flash, map): (State, FlashState, MapState) =
            snapshot::load(SnapshotKind::Whole, whole_key(config, seed), &mut device.map, from)?;
        let layout = &device.shape.layout;
        if !state.extents.fits(layout) || !state.slc.region.fits(layout) {
            return Err(damaged("its tables do not fit this drive"));
        }
        state.extents.check(layout, device.shape.holes.as_ref(), true).map_err(|e| damaged(&e))?;
        let (readers, targets) = (&device.state.readers, &device.state.parity.targets);
        let n = layout.extents();
        if !state.readers.fit(n, readers.most()) || !state.parity.targets.fit(n, targets.most()) {
            return Err(damaged("its reads do not fit this drive"));
        }
        // A logical unit is on flash, in a slot of the buffer, or in a stripe that is not written yet.
        let held = device.state.write.buffer.slots().max(device.state.parity.stripes.dirty.most());
        state.host.scratch = std::mem::take(&mut device.state.host.scratch);
        device.state = state;
        device.flash.restore(flash);
        device.map.state = map;
        if !device.map.is_sane(device.shape.layout.host_units, held) {
            return Err(damaged("its map points outside the drive"));
        }
        audited(|| device.audit())?;
        Ok(device)
    }
}

impl Copies<'_> {
    /// Whether every unit on flash is on the lane that its stripe gives it; true without stripes.
    fn stripes_are_home(&self) -> bool {
        let Some(stripes) = &self.shape.stripes else { return true };
        let (layout, places) = (&self.shape.layout, &self.parity.places);
        Lpn(0).run(self.map.forward.len() as u32).all(|lpn| match self.map.lookup(lpn) {
            Mapping::Flash(ppa) => layout.lane_at(ppa) == places.lane(stripes, lpn),
            _ => true,
        })
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Save the state of the translation layer. Every scheme with the same `key` can start from it. The drive must be
    /// idle.
    ///
    /// # Panics
    /// If a plane of the drive is dead: another scheme's drive would use that plane. If last loops of erases
    /// are deferred, or the SLC region holds data: the file has no place for them, and ageing leaves none.
    pub fn save_aged(&self, key: u64, report: &AgeReport, to: &mut dyn Write) -> Result<(), SnapshotError> {
        assert!(self.state.faults.life.is_empty(), "an aged drive has all its planes");
        assert!(self.state.gc.last_loops.deferred().next().is_none(), "an aged drive defers no last loop");
        assert!(
            self.state.slc.region.is_empty(&self.shape.layout),
            "ageing writes nothing to the SLC region"
        );
        let aged = Aged {
            report: report.clone(),
            map: self.map.state.clone(),
            extents: self.state.extents.clone(),
            blocks: self.flash.blocks().by_index(),
            moved: self.state.parity.places.all_moved(),
        };
        snapshot::save(SnapshotKind::Aged, key, &aged, &self.map, to)
    }

    /// Load a saved state of the translation layer. The drive must be new.
    pub fn load_aged(&mut self, key: u64, from: &mut dyn Read) -> Result<AgeReport, SnapshotError> {
        let aged: Aged = snapshot::load(SnapshotKind::Aged, key, &mut self.map, from)?;
        let fits = aged.extents.fits(&self.shape.layout) && self.flash.blocks_mut().take_counts(aged.blocks);
        if !fits || aged.map.filled > self.shape.layout.host_units {
            return Err(damaged("its tables do not fit this drive"));
        }
        // Ageing makes no block bad, so that the holes are those of a new drive.
        let layout = &self.shape.layout;
        aged.extents.check(layout, self.shape.holes.as_ref(), false).map_err(|e| damaged(&e))?;
        self.map.state = aged.map;
        self.state.extents = aged.extents;
        let homes = &mut self.state.parity.places;
        if !self.shape.stripes.as_ref().map_or(aged.moved.is_empty(), |s| homes.restore(s, &aged.moved)) {
            return Err(damaged("its stripes do not fit this drive"));
        }
        if !self.map.is_sane(self.shape.layout.host_units, 0) {
            return Err(damaged("its map points outside the drive"));
        }
        if !self.map.agrees() {
            return Err(damaged("the two directions of its map disagree"));
        }
        self.audit_extents().and_then(|()| self.audit_rows()).map_err(|e| damaged(&e))?;
        if !self.copies().stripes_are_home() {
            return Err(damaged("a unit is not where its stripe is"));
        }
        self.state.extents.check_room(&self.shape.layout).map_err(|e| damaged(&e))?;
        self.data.adopted(&self.shape, &self.map, &self.state);
        Ok(aged.report)
    }

    /// Save the whole drive as it is now, operations under way included. `config` and `seed` must
    /// be those that it was made with.
    pub fn snapshot(
        &self,
        config: &DeviceConfig,
        seed: u64,
        to: &mut dyn Write,
    ) -> Result<(), SnapshotError> {
        let state = (&self.state, self.flash.state(), &self.map.state);
        snapshot::save(SnapshotKind::Whole, whole_key(config, seed), &state, &self.map, to)
    }
}
