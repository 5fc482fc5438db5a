//! Snapshots of a drive under pblk.

use super::drive::{Pblk, State};
use super::limiter::Limiter;
use super::lines::Lines;
use super::rail::hot_cold::Mix;
use super::ring::Ring;
use super::writer::Writer;
use crate::config::DeviceConfig;
use crate::figures::AgeReport;
use crate::flash::FlashState;
use crate::ftl::map::MapState;
use crate::medium::Medium;
use crate::nand::blocks::Blocks;
use crate::observer::Observer;
use crate::snapshot::{self, SnapshotError, SnapshotKind, audited, damaged, whole_key};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// The aged state of an idle drive.
#[derive(Serialize, Deserialize)]
struct Aged {
    report: AgeReport,
    map: MapState,
    lines: Lines,
    writer: Writer,
    ring: Ring,
    limiter: Limiter,
    mix: Mix,
    blocks: Blocks,
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Save the aged state. Every scheme with the same `key` can start from it. No operation may be outstanding.
    ///
    /// # Errors
    /// The stream cannot be written.
    pub fn save_aged(&self, key: u64, report: &AgeReport, to: &mut dyn Write) -> Result<(), SnapshotError> {
        let aged = Aged {
            report: report.clone(),
            map: self.map.state.clone(),
            lines: self.state.lines.clone(),
            writer: self.state.writer.clone(),
            ring: self.state.ring.clone(),
            limiter: self.state.limiter.clone(),
            mix: self.state.mix,
            blocks: self.flash.blocks().by_index(),
        };
        snapshot::save(SnapshotKind::Aged, key, &aged, &self.map, to)
    }

    /// Load a saved aged state. The drive must be new.
    ///
    /// # Errors
    /// The stream cannot be read, or the state does not fit this drive.
    pub fn load_aged(&mut self, key: u64, from: &mut dyn Read) -> Result<AgeReport, SnapshotError> {
        let aged: Aged = snapshot::load(SnapshotKind::Aged, key, &mut self.map, from)?;
        let fits = aged.lines.fits(self.shape.array.lines, self.shape.luns, self.shape.hot_cold.is_some())
            && aged.writer.fits(&self.shape)
            && aged.ring.fits(self.shape.provision.ring, self.shape.array.lines * self.shape.line_sectors);
        if !fits || !self.flash.blocks_mut().take_counts(aged.blocks) || aged.map.filled > self.shape.sectors
        {
            return Err(damaged("its tables do not fit this drive"));
        }
        self.map.state = aged.map;
        self.state.lines = aged.lines;
        self.state.writer = aged.writer;
        self.state.ring = aged.ring;
        self.state.limiter = aged.limiter;
        self.state.mix = aged.mix;
        if !self.map.is_sane(self.shape.sectors, self.shape.provision.ring) {
            return Err(damaged("its map points outside the drive"));
        }
        if !self.map.agrees() {
            return Err(damaged("the two directions of its map disagree"));
        }
        audited(|| self.audit())?;
        let open = self.state.lines.line(self.state.writer.open().line).luns;
        self.state.gate.gate_follows(&self.shape, &self.state.writer, open);
        self.limits_at_once();
        self.data.adopted(&self.shape, &self.map, &self.state);
        Ok(aged.report)
    }

    /// Save the whole drive, including outstanding operations. `config` and `seed` must be those with which the drive
    /// was created.
    ///
    /// # Errors
    /// The stream cannot be written.
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

impl<O: Observer> Pblk<O> {
    /// Restore a drive that [`Pblk::snapshot`] has saved.
    ///
    /// # Errors
    /// The configuration is refused, or the snapshot is of another drive.
    pub fn restore(
        config: &DeviceConfig,
        seed: u64,
        observer: O,
        from: &mut dyn Read,
    ) -> Result<Pblk<O>, SnapshotError> {
        let mut drive = Pblk::new(config, seed, observer)?;
        let (mut state, flash, map): (State, FlashState, MapState) =
            snapshot::load(SnapshotKind::Whole, whole_key(config, seed), &mut drive.map, from)?;
        if !state.lines.fits(drive.shape.array.lines, drive.shape.luns, drive.shape.hot_cold.is_some())
            || !state.writer.fits(&drive.shape)
        {
            return Err(damaged("its tables do not fit this drive"));
        }
        state.interface.scratch = std::mem::take(&mut drive.state.interface.scratch);
        drive.state = state;
        drive.flash.restore(flash);
        drive.map.state = map;
        if !drive.map.is_sane(drive.shape.sectors, drive.shape.provision.ring) {
            return Err(damaged("its map points outside the drive"));
        }
        audited(|| drive.audit())?;
        Ok(drive)
    }
}
