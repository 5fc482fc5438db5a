//! The `scattered` aged state. It is created directly: the same share of every lane's extents is free, and the other
//! extents hold valid and stale units at random.

use crate::address::{Lpn, Ppa};
use crate::device::capacity::kept_extents;
use crate::device::drive::Device;
use crate::device::shape::Shape;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::problem::{ConfigProblem, refuse};
use tailcut_units::Stream;
use tailcut_units::quantity::Level;

/// Units between two calls of `progress`.
const SLICE: u32 = 1 << 20;

impl Shape {
    /// Return how many extents of a lane with `valid` valid units are full.
    fn full_extents(&self, lane: u32, valid: u32, free: Level) -> Result<u32, ConfigProblem> {
        let layout = &self.layout;
        let usable = layout.usable[lane as usize];
        let free_extents = free.of(usable);
        let (least, needed) = (kept_extents(self.reserve), valid.div_ceil(layout.units_per_extent));
        let full = usable.saturating_sub(free_extents);
        if free_extents >= least && full >= needed && free_extents <= usable {
            return Ok(full);
        }
        let most = usable.saturating_sub(needed);
        let problem = format!(
            "{free} is {free_extents} of the {usable} extents of lane {lane}; {least} are needed to write on, and at most {most} can be free beside the {valid} mapping units that are filled ({} an extent): take a level between, or fill less (age.fill for a trace, the addresses of a job)",
            layout.units_per_extent
        );
        refuse("age.free", problem)
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Fill the first `bytes` of the host's addresses, and leave `free` of every lane's extents
    /// free. The other extents are full, and each of their units is as likely to be valid as any
    /// other. All lanes therefore need their next collection at about the same time, and a victim
    /// has the valid units of a random block: on average the ratio of the filled addresses to the
    /// extents that are not free. The drive must be new. `progress` is called with a fraction and
    /// stops by returning false; a drive that was stopped must not be used.
    ///
    /// # Errors
    /// If the level leaves too little room for the data, or too little to write on.
    pub fn scatter(
        &mut self,
        bytes: u64,
        free: Level,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), ConfigProblem> {
        assert_eq!(self.map.state.filled, 0, "a drive is filled once, when new");
        let units = (bytes / self.shape.layout.unit_bytes).min(u64::from(self.shape.layout.host_units));
        let units = self.shape.fill.end(units as u32);
        let shares = self.shape.fill.units_by_lane(units);
        let full = (0..)
            .zip(&shares)
            .map(|(lane, &valid)| self.shape.full_extents(lane, valid, free))
            .collect::<Result<Vec<u32>, _>>()?;
        let lanes = shares.len() as f64;
        for (lane, (full, valid)) in full.into_iter().zip(shares).enumerate() {
            let mut within = |part: f64| progress((lane as f64 + part) / lanes);
            if !self.scatter_lane(lane as u32, full, valid, &mut within) {
                break;
            }
        }
        self.data.adopted(&self.shape, &self.map, &self.state);
        Ok(())
    }

    /// Scatter the units of one lane over its first extents; false when stopped.
    fn scatter_lane(
        &mut self,
        lane: u32,
        full: u32,
        valid: u32,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> bool {
        let upe = self.shape.layout.units_per_extent;
        let first = Ppa(lane * self.shape.layout.stride * upe);
        let mut stream = Stream::new(self.shape.context.seed, "scatter", u64::from(lane));
        // The units that a sequential fill would put here, shuffled (Fisher and Yates).
        let mut owners: Vec<Lpn> = first.run(valid).map(|ppa| self.map.fill.lpn(ppa)).collect();
        for i in (1..owners.len()).rev() {
            if i % SLICE as usize == 0 && !progress(0.0) {
                return false;
            }
            owners.swap(i, stream.below(i as u64 + 1) as usize);
        }
        let places = full * upe;
        let mut counts = vec![0; full as usize];
        for i in 0..places {
            if i % SLICE == 0 && !progress(f64::from(i) / f64::from(places)) {
                return false;
            }
            // All choices of positions are equally likely (selection sampling).
            if stream.below(u64::from(places - i)) >= owners.len() as u64 {
                continue;
            }
            let lpn = owners.pop().expect("there is one for each place chosen");
            self.map.set_flash(lpn, first + i);
            self.map.set_owner(first + i, lpn);
            self.map.set_valid(first + i);
            counts[(i / upe) as usize] += 1;
        }
        self.state.extents.take_full(&self.shape.layout, lane, &counts);
        true
    }
}
