//! Options with lists as values: block sizes and offset distributions.

use super::spec::{Block, Distribution, JobSpec, LARGEST_BLOCK, Zone};
use super::value::{self, Extent, MILLION, Units};

/// fio's own bounds on the entries of a list.
const MOST_SPLITS: usize = 64;
const MOST_ZONES: usize = 256;

const DEFAULT_BLOCK: Block = Block::Fixed(4096);

fn block_size(text: &str, units: Units) -> Result<u32, String> {
    value::bounded(text.trim(), units, 1, LARGEST_BLOCK).map(|bytes| bytes as u32)
}

/// Set `bs`.
pub(super) fn set_sizes(spec: &mut JobSpec, text: &str, units: Units) -> Result<(), String> {
    let sizes = value::by_direction(text, |t| block_size(t, units))?;
    spec.block = sizes.map(|s| s.map_or(DEFAULT_BLOCK, Block::Fixed));
    Ok(())
}

/// Set `bsrange`.
pub(super) fn set_ranges(spec: &mut JobSpec, text: &str, units: Units) -> Result<(), String> {
    let ranges = value::by_direction(text, |t| {
        let (least, most) = t.split_once('-').ok_or("not a range")?;
        let (least, most) = (block_size(least, units)?, block_size(most, units)?);
        if least > most {
            return Err("the range is empty".to_string());
        }
        // As in fio, sizes are multiples of the least one unless `bs_unaligned` is set.
        Ok(Block::Range { least, most, step: least })
    })?;
    spec.block = ranges.map(|r| r.unwrap_or(DEFAULT_BLOCK));
    Ok(())
}

/// Set `bssplit`. Returns true if the percentages add up to less than 100.
pub(super) fn set_splits(spec: &mut JobSpec, text: &str, units: Units) -> Result<bool, String> {
    let mut leaves_rest = false;
    let splits = value::by_direction(text, |t| {
        let mut sizes = Vec::new();
        let mut shares = Vec::new();
        for piece in t.split(':').map(str::trim).filter(|p| !p.is_empty()) {
            if sizes.len() == MOST_SPLITS {
                return Err(format!("more than {MOST_SPLITS} sizes"));
            }
            let (size, share) = piece.split_once('/').unwrap_or((piece, ""));
            sizes.push(block_size(size, units)?);
            shares.push(blank_or_percent(share)?);
        }
        if sizes.is_empty() {
            return Err("no size".to_string());
        }
        let (shares, total) = value::fill_blanks(&shares)?;
        leaves_rest |= total < MILLION;
        Ok(Block::Split(sizes.into_iter().zip(shares).collect()))
    })?;
    spec.block = splits.map(|s| s.unwrap_or(DEFAULT_BLOCK));
    Ok(leaves_rest)
}

fn blank_or_percent(text: &str) -> Result<Option<u64>, String> {
    match text.trim() {
        "" => Ok(None),
        share => value::percent(share).map(Some),
    }
}

/// Parse `random_distribution`.
pub(super) fn distribution(text: &str, units: Units) -> Result<Distribution, String> {
    let (name, parameter) = text.split_once(':').unwrap_or((text, ""));
    let (first, centre) = parameter.split_once(':').unwrap_or((parameter, ""));
    let number = |default: f64, least: f64, most: f64| match first.trim() {
        "" => Ok(default),
        given => value::float(given, least, most),
    };
    // As in fio, -1 stands for no centre.
    let centre = || match centre.trim() {
        "" | "-1" => Ok(None),
        given => value::float(given, 0.0, 1.0).map(Some).map_err(|wrong| format!("the centre is {wrong}")),
    };
    match name.trim() {
        "random" | "uniform" if parameter.is_empty() => Ok(Distribution::Uniform),
        "zipf" => {
            // An exponent of 0 is the uniform distribution.
            let theta = number(1.1, 0.0, 100.0)?;
            let centre = centre()?;
            Ok(if theta == 0.0 { Distribution::Uniform } else { Distribution::Zipf(theta, centre) })
        }
        "pareto" => Ok(Distribution::Pareto(number(0.2, 1e-6, 1.0 - 1e-6)?, centre()?)),
        "normal" | "gauss" => {
            if parameter.is_empty() {
                return Err("normal needs a deviation in percent".to_string());
            }
            if centre()?.is_some() {
                return Err(
                    "a normal distribution lies around the middle of the region; no other centre is \
                            modelled"
                        .to_string(),
                );
            }
            let percent = first.trim().trim_end_matches('%');
            Ok(Distribution::Normal(value::float(percent, 1e-6, 100.0)?))
        }
        "zoned" => zones(parameter, |t| Ok(blank_or_percent(t)?.map(Extent::PartsPerMillion))),
        "zoned_abs" => zones(parameter, |t| value::integer(t, units).map(Extent::Bytes).map(Some)),
        _ => Err("unknown distribution".to_string()),
    }
}

fn zones(
    text: &str,
    read_length: impl Fn(&str) -> Result<Option<Extent>, String>,
) -> Result<Distribution, String> {
    let lists = value::by_direction(text, |t| zone_list(t, &read_length))?;
    let default = || Zone { accesses: MILLION, length: Extent::PartsPerMillion(MILLION) };
    if lists.iter().all(Option::is_none) {
        return Err("no zone".to_string());
    }
    Ok(Distribution::Zoned(lists.map(|l| l.unwrap_or_else(|| vec![default()]))))
}

/// The zones of one direction. Blank accesses share the rest of the accesses, and blank sizes the rest
/// of the region.
fn zone_list(
    text: &str,
    read_length: &impl Fn(&str) -> Result<Option<Extent>, String>,
) -> Result<Vec<Zone>, String> {
    let mut shares = Vec::new();
    let mut lengths = Vec::new();
    for piece in text.split(':').map(str::trim) {
        if shares.len() == MOST_ZONES {
            return Err(format!("more than {MOST_ZONES} zones"));
        }
        let (accesses, length) = piece.split_once('/').ok_or("a zone is accesses%/size")?;
        shares.push(blank_or_percent(accesses.trim_end_matches('%'))?);
        lengths.push(read_length(length.trim().trim_end_matches('%'))?);
    }
    let (shares, total) = value::fill_blanks(&shares)?;
    if total != MILLION {
        return Err("the accesses do not add up to 100 percent".to_string());
    }
    let share = |l: &Option<Extent>| match l {
        Some(Extent::PartsPerMillion(ppm)) => Some(*ppm),
        Some(Extent::Bytes(_)) => Some(0),
        None => None,
    };
    let known: Vec<Option<u64>> = lengths.iter().map(share).collect();
    let (filled, _) = value::fill_blanks(&known)
        .map_err(|_| "the zone sizes add up to more than 100 percent".to_string())?;
    let lengths = lengths.into_iter().zip(filled).map(|(l, ppm)| l.unwrap_or(Extent::PartsPerMillion(ppm)));
    Ok(shares.into_iter().zip(lengths).map(|(accesses, length)| Zone { accesses, length }).collect())
}
