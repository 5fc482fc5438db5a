//! Planes that die, with all their blocks.

use super::config::{FaultConfig, FaultsConfig};
use crate::nand::config::GeometryConfig;
use std::ops::Range;

/// Planes that die together.
#[derive(Clone, Debug)]
pub struct Death {
    /// When, ns.
    pub at: u64,
    /// Which, counted over the drive by channel, die and plane.
    pub planes: Range<u32>,
}

/// The deaths of a configuration, named and by chance, in order of time. The seed decides which come by chance.
pub fn deaths(rates: &FaultsConfig, places: &[FaultConfig], g: &GeometryConfig, seed: u64) -> Vec<Death> {
    let dead = places.iter().filter(|f| f.kills());
    let named = dead.map(|f| Death { at: f.begins().0, planes: f.planes(g) });
    let drawn = rates.drawn_deaths(g, seed).into_iter();
    let mut deaths: Vec<Death> = named.chain(drawn.map(|(at, planes)| Death { at, planes })).collect();
    deaths.sort_by_key(|death| death.at);
    deaths
}
