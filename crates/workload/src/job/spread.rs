//! Draws the offsets of one direction, as slots: multiples of the alignment from the
//! job's first byte.

use super::permute::{Pass, Permutation};
use super::ranks::{Normal, Pareto, Zipf};
use super::spec::{Block, Distribution, JobSpec, Zone};
use tailcut_units::Stream;

/// How slots are drawn.
#[derive(Clone, Debug)]
pub(super) enum Spread {
    /// In order, each direction from its own position.
    Sequential,
    /// Every block once a pass; all directions share the pass.
    Pass,
    /// Uniform over this many slots.
    Uniform(u64),
    /// Uniform over the slots in which the drawn size fits.
    UniformBySize,
    /// Ranks scattered by a permutation, so that hot blocks are not neighbours.
    Zipf(Zipf, Scatter),
    /// Ranks scattered as for Zipf.
    Pareto(Pareto, Scatter),
    Normal(Normal),
    Zoned(Vec<ZoneSlots>),
}

/// One zone in slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct ZoneSlots {
    /// A 64-bit draw below this bound, and not below the previous zone's bound, falls in
    /// this zone.
    below: u64,
    first: u64,
    count: u64,
}

/// Where the ranks of a skewed distribution lie.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    order: Permutation,
    count: u64,
    /// Added to every slot, modulo the count, so that the first rank lies at the centre.
    shift: u64,
}

impl Scatter {
    fn new(count: u64, centre: Option<f64>, keys: &Stream) -> Scatter {
        let order = Permutation::new(count, &mut keys.clone());
        let shift = centre.map_or(0, |centre| {
            let slot = ((count as f64 * centre) as u64).min(count - 1);
            let now = order.at(0);
            if slot >= now { slot - now } else { count - (now - slot) }
        });
        Scatter { order, count, shift }
    }

    #[inline]
    fn at(&self, rank: u64) -> u64 {
        let slot = self.order.at(rank);
        let room = self.count - self.shift;
        if slot < room { slot + self.shift } else { slot - room }
    }
}

impl Spread {
    /// The spread of one direction over a region of `size` bytes, which is at least the
    /// largest block. `keys` selects the scatter. It is the same for every direction of a
    /// job, so that reads and writes share their hot blocks.
    pub fn new(spec: &JobSpec, direction: usize, size: u64, keys: &Stream) -> Spread {
        if !spec.mode.random {
            return Spread::Sequential;
        }
        if spec.covers_each_block_once() {
            return Spread::Pass;
        }
        let align = spec.alignment(direction);
        let count = (size - u64::from(spec.block[direction].most())) / align + 1;
        let scatter = |centre: &Option<f64>| Scatter::new(count, *centre, keys);
        match &spec.distribution {
            Distribution::Uniform if matches!(spec.block[direction], Block::Fixed(_)) => {
                Spread::Uniform(count)
            }
            Distribution::Uniform => Spread::UniformBySize,
            Distribution::Zipf(exponent, centre) => {
                Spread::Zipf(Zipf::new(count, *exponent), scatter(centre))
            }
            Distribution::Pareto(h, centre) => Spread::Pareto(Pareto::new(count, *h), scatter(centre)),
            Distribution::Normal(percent) => Spread::Normal(Normal::new(count, *percent)),
            Distribution::Zoned(zones) => Spread::Zoned(zone_slots(&zones[direction], size, align, count)),
        }
    }

    /// Draw a slot; 0 for [`Spread::Sequential`]. `free_slots` gives the number of slots
    /// in which the request's size fits.
    #[inline]
    pub fn draw(
        &mut self,
        pass: Option<&mut Pass>,
        stream: &mut Stream,
        free_slots: impl FnOnce() -> u64,
    ) -> u64 {
        match self {
            Spread::Pass => pass.map_or(0, Pass::draw),
            Spread::Uniform(count) => stream.below(*count),
            Spread::UniformBySize => stream.below(free_slots()),
            Spread::Zipf(zipf, scatter) => scatter.at(zipf.draw(stream)),
            Spread::Pareto(pareto, scatter) => scatter.at(pareto.draw(stream)),
            Spread::Normal(normal) => normal.draw(stream),
            Spread::Zoned(zones) => draw_zoned(zones, stream),
            Spread::Sequential => 0,
        }
    }
}

fn draw_zoned(zones: &[ZoneSlots], stream: &mut Stream) -> u64 {
    let draw = stream.next_u64();
    let zone = zones.iter().find(|z| draw < z.below).or(zones.last());
    zone.map_or(0, |z| z.first + stream.below(z.count))
}

/// Lay out zones one after another over `count` slots. A zone shorter than a slot gets
/// one slot; a zone beyond the end gets the last slot.
fn zone_slots(zones: &[Zone], size: u64, align: u64, count: u64) -> Vec<ZoneSlots> {
    let mut byte = 0u64;
    let mut accesses = 0u64;
    let mut slots = Vec::with_capacity(zones.len());
    for zone in zones {
        let first = (byte / align).min(count - 1);
        byte = byte.saturating_add(zone.length.bytes_of(size)).min(size);
        accesses += zone.accesses;
        let end = (byte / align).min(count);
        slots.push(ZoneSlots {
            below: share_of_u64(accesses),
            first,
            count: end.saturating_sub(first).max(1),
        });
    }
    slots
}

/// The share `ppm` (parts per million) of 2^64, at most `u64::MAX`.
pub(super) fn share_of_u64(ppm: u64) -> u64 {
    let scaled = (u128::from(ppm) << 64) / 1_000_000;
    u64::try_from(scaled).unwrap_or(u64::MAX)
}
