//! The deaths of planes, with all their blocks.

use super::config::{FaultConfig, FaultsConfig};
use crate::nand::config::GeometryConfig;
use std::ops::Range;

/// Planes that die together.
#[derive(Clone, Debug)]
pub struct Death {
    /// Time of death, ns.
    pub at: u64,
    /// The planes, numbered over the drive by channel, die and plane.
    pub planes: Range<u32>,
}

/// The deaths of a configuration in order of time: those that it names, and those by chance, which the seed decides.
pub fn deaths(rates: &FaultsConfig, places: &[FaultConfig], g: &GeometryConfig, seed: u64) -> Vec<Death> {
    let dead = places.iter().filter(|f| f.kills());
    let named = dead.map(|f| Death { at: f.begins().0, planes: f.planes(g) });
    let drawn = rates.drawn_deaths(g, seed).into_iter();
    let mut deaths: Vec<Death> = named.chain(drawn.map(|(at, planes)| Death { at, planes })).collect();
    deaths.sort_by_key(|death| death.at);
    deaths
}
