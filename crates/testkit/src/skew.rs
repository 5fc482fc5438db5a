//! Skewed writes, with the share of each address.

use tailcut_units::{Command, HostOp, Stream};

/// Shares of writes by rank, and writes of one unit of `bytes` each: ranks are scattered over the drive.
pub fn zipf(units: u32, bytes: u32, exponent: f64) -> (Vec<f64>, impl Iterator<Item = Command>) {
    let weights: Vec<f64> = (1..=units).map(|rank| f64::from(rank).powf(-exponent)).collect();
    let sum: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|w| w / sum).collect();
    let mut above = 0.0;
    let ends: Vec<f64> = shares.iter().map(|p| (above += p, above).1).collect();
    let mut s = Stream::new(1, "zipf", 0);
    let mut units: Vec<u32> = (0..units).collect();
    (1..units.len()).rev().for_each(|i| units.swap(i, s.below(i as u64 + 1) as usize));
    let writes = std::iter::repeat_with(move || {
        let u = s.unit();
        let rank = ends.partition_point(|&end| end <= u).min(units.len() - 1);
        Command::new(HostOp::Write, u64::from(units[rank]) * u64::from(bytes), bytes)
    });
    (shares, writes)
}
