//! A drive of fewer blocks with the tail of the whole one: `scaled_blocks`.
//!
//! The steady tail depends on dies, planes, times, the length of a block and write amplification. With fewer blocks it
//! stays, if write amplification stays. The extents at which collection starts, and the one that is being written, hold
//! no data on average, and there are as many of them on the small drive. So the capacity of the host is in proportion to
//! the blocks without these.

use crate::device_entry::DeviceEntry;
use crate::error::{ConfigError, Problem};
use crate::resolved::Resolved;
use crate::tree::{Data, Source, Tree, parse};
use tailcut_core::ftl::config::FtlKind;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_units::quantity::{Level, human_bytes, parse_level};

/// The key, beside `description`.
pub(crate) const SCALED: &str = "scaled_blocks";

/// The description of the key.
pub(crate) const SCALED_IS: &str = "Model this number of blocks of each plane, and give the host the capacity that keeps the \
    steady tail (docs/guide.md, \"A scaled drive\"). A drive that would not keep it is refused. The resolved \
    configuration has `geometry.blocks` and `ftl.user_capacity` in place of this key.";

/// With fewer blocks write amplification differs by more than some percent.
pub(crate) const FEWEST: u32 = 40;
/// The buffer must hold less than this part of the drive.
const BUFFER_PART: u64 = 100;

/// Take the key out of a configuration.
pub(crate) fn take(tree: &mut Tree) -> Option<Tree> {
    let Data::Table(top) = &mut tree.data else { return None };
    top.remove(SCALED)
}

/// The layer that makes the whole drive a scaled one.
///
/// # Errors
/// The number is wrong, or the scaled drive would have another tail; the error says why.
pub(crate) fn layer(wanted: &Tree, whole: &Resolved) -> Result<Tree, ConfigError> {
    let refuse = |problem| {
        let place = wanted.origin.value_place();
        Err(ConfigError::Key { place, key: SCALED.to_string(), problem: Box::new(problem) })
    };
    let invalid = |sentence: String| refuse(Problem::Invalid(sentence));
    let (c, whole_blocks) = (&whole.config, whole.config.geometry.blocks);
    let number = match &wanted.data {
        Data::Integer(n) => Some(*n),
        Data::Text(text) => text.parse().ok(),
        _ => None,
    };
    let Some(blocks) = number.and_then(|n| u32::try_from(n).ok()) else {
        return refuse(Problem::WrongType {
            found: wanted.shown(),
            expected: "a number of blocks".to_string(),
        });
    };
    if !(FEWEST..=whole_blocks).contains(&blocks) {
        return invalid(format!("{blocks}: {FEWEST} to {whole_blocks} blocks of each plane"));
    }
    if c.ftl.kind != FtlKind::Page {
        return invalid("a drive under pblk is not scaled: its rate limiter counts lines".to_string());
    }
    if c.geometry.bad_blocks > 0.0 {
        let share =
            "geometry.bad_blocks must be \"0%\": of few blocks another share is bad in the worst plane";
        return invalid(share.to_string());
    }
    let user = DeviceEntry::new(&whole.device, c).host_bytes;
    if user == 0 {
        return invalid("the capacity of the whole drive is wrong".to_string());
    }
    let slc = c.slc.as_ref().map_or(0, |slc| slc.blocks);
    let slc_scaled = (u64::from(slc) * u64::from(blocks)).div_ceil(whole_blocks.into()) as u32;
    let levels = levels(whole, whole_blocks - slc.min(whole_blocks));
    let start = levels.iter().find(|(key, ..)| key.ends_with(".start")).map_or(0, |(_, count, _)| *count);
    let without =
        |blocks: u32, slc: u32| u64::from(blocks).saturating_sub(u64::from(slc) + u64::from(start) + 1);
    let (of_whole, of_scaled) = (without(whole_blocks, slc), without(blocks, slc_scaled));
    if of_scaled == 0 || of_whole == 0 {
        return invalid(format!("{blocks} blocks are not enough for an SLC region and {start} free extents"));
    }
    let unit = c.ftl.mapping_unit;
    if unit == 0 {
        return invalid("ftl.mapping_unit must be positive".to_string());
    }
    let scaled = (u128::from(user) * u128::from(of_scaled) / u128::from(of_whole)) as u64 / unit * unit;
    if let BufferConfig::Lru(buffer) = &c.policy.buffer
        && buffer.capacity > scaled / BUFFER_PART
        && buffer.capacity <= user / BUFFER_PART
    {
        let (buffer, scaled) = (human_bytes(buffer.capacity), human_bytes(scaled));
        return invalid(format!(
            "the write buffer of {buffer} is more than 1 % of {scaled}: model more blocks"
        ));
    }
    let mut text = format!("geometry.blocks = {blocks}\nftl.user_capacity = \"{scaled}B\"\n");
    if slc > 0 {
        text.push_str(&format!("slc.blocks = {slc_scaled}\n"));
    }
    for (key, count, _) in levels.iter().filter(|(.., is_share)| *is_share) {
        text.push_str(&format!("{key} = {count}\n"));
    }
    parse(&Source::bare(&format!("{SCALED}={blocks}")), &text)
}

/// The levels of free extents of the schedule of collection, as numbers for `extents` extents of a lane, and whether they
/// are given as shares.
fn levels(whole: &Resolved, extents: u32) -> Vec<(String, u32, bool)> {
    let is_level = |key: &str| {
        key.starts_with("policy.gc_schedule.") && (key.ends_with(".start") || key.ends_with(".hard"))
    };
    let of = |value: &toml::Value| match value {
        toml::Value::Integer(n) => u32::try_from(*n).ok().map(Level::Count),
        toml::Value::String(text) => parse_level(text).ok(),
        _ => None,
    };
    let entries = whole.entries.iter().filter(|entry| is_level(&entry.key));
    entries
        .filter_map(|entry| {
            let level = of(&entry.value)?;
            Some((entry.key.clone(), level.of(extents), matches!(level, Level::Share(_))))
        })
        .collect()
}
