//! The faults that a configuration asks for.

use crate::nand::blocks::MOST_CYCLES;
use crate::nand::config::GeometryConfig;
use crate::problem::{ConfigProblem, check_rate, refuse};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use tailcut_units::quantity::{format_time, parse_time};
use tailcut_units::{Span, Stream, quantity};

/// Shares of operations that fail at random. The draws depend on the seed, the block, its
/// program/erase cycle and the page alone, so that schemes meet the same failures.
///
/// - Read by: the faults of the flash (`nand::faults::draw`)
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultsConfig {
    /// Share of page programs that fail. The units are programmed again elsewhere; the block is
    /// emptied and retired.
    ///
    /// - Range: 0% to 10%
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub program: Option<f64>,
    /// Share of block erases that fail. The block is retired; a spare block takes its place while
    /// there are any.
    ///
    /// - Range: 0% to 10%
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub erase: Option<f64>,
    /// Share of senses of a page whose data cannot be decoded, this once.
    ///
    /// - Range: 0% to 10%
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub read: Option<f64>,
    /// Share of pages that cannot be read from their program until their block is erased.
    ///
    /// - Range: 0% to 10%
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub page: Option<f64>,
    /// Reads of a block since its erase after which the pages of `faults.page` cannot be read. Without it: none.
    ///
    /// - Range: at least 0; with `faults.page`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_reads: Option<u32>,
    /// Share of planes that die, each at a time between the beginning of the run and `faults.within`.
    ///
    /// - Range: 0% to 100%
    /// - Read by: deaths by chance (`nand::faults::config`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub plane: Option<f64>,
    /// Share of dies that die. See `faults.plane`.
    ///
    /// - Range: 0% to 100%
    /// - Read by: deaths by chance (`nand::faults::config`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub die: Option<f64>,
    /// Share of channels that die. See `faults.plane`.
    ///
    /// - Range: 0% to 100%
    /// - Read by: deaths by chance (`nand::faults::config`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_fraction")]
    pub channel: Option<f64>,
    /// By when the parts have died that `faults.plane`, `faults.die` and `faults.channel` let die, in the time of
    /// the run.
    ///
    /// - Range: 0ns to 1000s; needed with one of these shares
    /// - Read by: deaths by chance (`nand::faults::config`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_time")]
    pub within: Option<Span>,
    /// Raw bit errors of a KiB at the stated retention that a block may be expected to have. A block that
    /// has more after an erase has grown bad. Without it: any number.
    ///
    /// - Range: 0 to 8192; with an erase scheme that chooses its pulses
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worn: Option<u32>,
    /// Raw bit errors of a KiB that can be corrected. The pages of a block that is expected to have more at
    /// the stated retention, by its wear and by what its last erase has left, cannot be read. Without it: any
    /// number.
    ///
    /// - Range: 0 to 8192; with an erase scheme that chooses its pulses
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correctable: Option<u32>,
    /// Bytes a second at which units that only parity can still give are written again elsewhere.
    /// Without it: as fast as the drive can.
    ///
    /// - Range: 1000B/s to inf
    /// - Read by: rewriting (`device::parity::rewrite`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_rate")]
    pub rebuild_rate: Option<u64>,
    /// Whether faults may be injected into the drive while it runs (`tailcut serve`). The drive is then prepared for all
    /// of them, as it is with a rate of programs that fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
}

impl FaultsConfig {
    /// The shares of planes, dies and channels that die, with the kind of each.
    fn deaths(&self) -> [(FaultKind, Option<f64>); 3] {
        [(FaultKind::Plane, self.plane), (FaultKind::Die, self.die), (FaultKind::Channel, self.channel)]
    }

    /// Whether planes can die.
    pub fn kills(&self) -> bool {
        self.deaths().iter().any(|(_, share)| share.is_some_and(|share| share > 0.0))
    }

    /// The planes that die by chance, numbered over the drive, each with the time of death, ns. The seed decides.
    pub fn drawn_deaths(&self, g: &GeometryConfig, seed: u64) -> Vec<(u64, Range<u32>)> {
        let within = self.within.unwrap_or(Span(0)).0;
        let mut all = Vec::new();
        for (kind, share) in self.deaths() {
            let below = libm::round(share.unwrap_or(0.0) * 4_294_967_296.0) as u64;
            let planes = g.dies() * g.planes;
            let (count, each) = match kind {
                FaultKind::Channel => (g.channels, planes / g.channels),
                FaultKind::Die => (g.dies(), g.planes),
                _ => (planes, 1),
            };
            for number in 0..count {
                let mut s = Stream::new(seed, kind.name(), u64::from(number));
                if s.next_u64() >> 32 < below {
                    all.push((s.below(within + 1), number * each..(number + 1) * each));
                }
            }
        }
        all
    }
}

/// What fails at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A program of a page fails, once.
    Program,
    /// The erases of a block fail: it has grown bad.
    Erase,
    /// A page cannot be read: until its block is erased, or once.
    Page,
    /// A block is bad from the factory.
    Bad,
    /// A plane is dead: every operation on it fails.
    Plane,
    /// A die is dead.
    Die,
    /// All dies of a channel are dead to the controller.
    Channel,
}

impl FaultKind {
    const ALL: [(FaultKind, &str); 7] = [
        (FaultKind::Program, "program"),
        (FaultKind::Erase, "erase"),
        (FaultKind::Page, "page"),
        (FaultKind::Bad, "bad"),
        (FaultKind::Plane, "plane"),
        (FaultKind::Die, "die"),
        (FaultKind::Channel, "channel"),
    ];

    /// The name in a configuration.
    pub fn name(self) -> &'static str {
        FaultKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The numbers that name its place, from the widest part of the drive to the narrowest.
    fn parts(self) -> &'static [&'static str] {
        match self {
            FaultKind::Channel => &["channel"],
            FaultKind::Die => &["die"],
            FaultKind::Plane => &["die", "plane"],
            FaultKind::Erase | FaultKind::Bad => &["die", "plane", "block"],
            FaultKind::Program | FaultKind::Page => &["die", "plane", "block", "page"],
        }
    }
}

/// One fault at an exact place.
///
/// - Read by: the faults of the flash (`nand::faults::draw`), at the places of `nand::faults::config`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    /// What fails.
    pub kind: FaultKind,
    /// The channel, for a dead channel.
    ///
    /// - Range: at least 0; below the number of channels
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
    /// The die, counted over the drive: channel by channel.
    ///
    /// - Range: at least 0; below the number of dies of the drive
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<u32>,
    /// The plane in its die.
    ///
    /// - Range: at least 0; below `geometry.planes`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<u32>,
    /// The block in its plane.
    ///
    /// - Range: at least 0; below `geometry.blocks`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// The page in its block.
    ///
    /// - Range: at least 0; below `geometry.pages`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// From when on, in the time of the run. Without it: from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_time")]
    pub at: Option<Span>,
    /// Program, erase: from which program/erase cycle of the block on. Without it: at once.
    ///
    /// - Range: 0 to 8388606
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u32>,
    /// Page: after how many reads of its block since the erase. Without it: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u32>,
    /// Page: how old the data of its block must be. Without it: of any age.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_time")]
    pub older: Option<Span>,
    /// Page: whether only one sense fails, and not every one until the block is erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// Why a text names no fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} names no fault: {problem}. Write KIND=PLACE[,cycle=N][,reads=N][,older=TIME][,once][@TIME], for example die=3@2s, page=3.0.17.5 or erase=3.0.17,cycle=100"
)]
pub struct FaultTextError {
    text: String,
    problem: String,
}

impl FaultConfig {
    /// The number of a part of the place.
    fn part(&self, name: &str) -> Option<u32> {
        match name {
            "channel" => self.channel,
            "die" => self.die,
            "plane" => self.plane,
            "block" => self.block,
            _ => self.page,
        }
    }

    fn part_mut(&mut self, name: &str) -> &mut Option<u32> {
        match name {
            "channel" => &mut self.channel,
            "die" => &mut self.die,
            "plane" => &mut self.plane,
            "block" => &mut self.block,
            _ => &mut self.page,
        }
    }

    /// When it begins, in the time of the run.
    pub fn begins(&self) -> Span {
        self.at.unwrap_or(Span(0))
    }

    /// Whether it kills whole planes.
    pub fn kills(&self) -> bool {
        matches!(self.kind, FaultKind::Plane | FaultKind::Die | FaultKind::Channel)
    }

    /// The planes that it concerns, counted over the drive.
    pub fn planes(&self, g: &GeometryConfig) -> std::ops::Range<u32> {
        let at = |part: Option<u32>| part.unwrap_or(0);
        let die = at(self.die) * g.planes;
        match self.kind {
            FaultKind::Channel => {
                let each = g.dies() / g.channels * g.planes;
                at(self.channel) * each..(at(self.channel) + 1) * each
            }
            FaultKind::Die => die..die + g.planes,
            _ => die + at(self.plane)..die + at(self.plane) + 1,
        }
    }

    /// Check that the fault can be injected into a running drive, where it begins now.
    pub(crate) fn check_injected(&self, g: &GeometryConfig) -> Result<(), String> {
        if self.kind == FaultKind::Bad {
            return Err(format!("{self}: a block is bad from the factory or not; `erase` lets it grow bad"));
        }
        if self.at.is_some() {
            return Err(format!("{self}: a fault that is injected begins now; leave out its time"));
        }
        self.check("fault", g).map_err(|e| format!("{self}: {e}"))
    }

    fn check(&self, key: &str, g: &GeometryConfig) -> Result<(), ConfigProblem> {
        let kind = self.kind.name();
        let needed = self.kind.parts();
        for name in ["channel", "die", "plane", "block", "page"] {
            let there = self.part(name);
            let key = format!("{key}.{name}");
            if there.is_some() != needed.contains(&name) {
                let problem = match there {
                    None => format!("missing: kind `{kind}` needs {}", needed.join(", ")),
                    Some(_) => format!("does not belong to kind `{kind}`, which has {}", needed.join(", ")),
                };
                return refuse(&key, problem);
            }
            let most = match name {
                "channel" => g.channels,
                "die" => g.dies(),
                "plane" => g.planes,
                "block" => g.blocks,
                _ => g.pages,
            };
            if let Some(n) = there.filter(|&n| n >= most) {
                return refuse(&key, format!("{n}: the drive has {most}, counted from 0"));
            }
        }
        let of = |given: bool, name: &str, kinds: &[FaultKind]| {
            if given && !kinds.contains(&self.kind) {
                return refuse(&format!("{key}.{name}"), format!("does not belong to kind `{kind}`"));
            }
            Ok(())
        };
        of(self.cycle.is_some(), "cycle", &[FaultKind::Program, FaultKind::Erase])?;
        // An erase increments the cycles before it can fail.
        if let Some(n) = self.cycle.filter(|&n| n >= MOST_CYCLES) {
            return refuse(
                &format!("{key}.cycle"),
                format!("{n}: less than {MOST_CYCLES}, what a block counts"),
            );
        }
        of(self.reads.is_some(), "reads", &[FaultKind::Page])?;
        of(self.older.is_some(), "older", &[FaultKind::Page])?;
        of(self.once, "once", &[FaultKind::Page])?;
        let timed = FaultKind::ALL.map(|(kind, _)| kind).into_iter().filter(|&k| k != FaultKind::Bad);
        of(self.at.is_some(), "at", &timed.collect::<Vec<_>>())
    }
}

/// Check the rates and the places. `blocks_wear`: whether an erase scheme chooses pulses.
pub(crate) fn check(
    rates: &FaultsConfig,
    places: &[FaultConfig],
    g: &GeometryConfig,
    blocks_wear: bool,
) -> Result<(), ConfigProblem> {
    let FaultsConfig { program, erase, read, page, worn, correctable, rebuild_rate, within, .. } = rates;
    for (kind, share) in rates.deaths() {
        let key = format!("faults.{}", kind.name());
        let Some(share) = share else { continue };
        if !(0.0..=1.0).contains(&share) {
            return refuse(&key, "a share from 0% to 100%");
        }
        if share > 0.0 && within.is_none() {
            return refuse(&key, "needs faults.within, the time by which the parts have died");
        }
    }
    if within.is_some_and(|within| within.0 > 1_000_000_000_000) {
        return refuse("faults.within", "a time from 0ns to 1000s");
    }
    if rates.page_reads.is_some() && page.is_none() {
        return refuse("faults.page_reads", "needs faults.page, the share of the pages");
    }
    for (name, bits) in [("worn", worn), ("correctable", correctable)] {
        let Some(bits) = *bits else { continue };
        let key = format!("faults.{name}");
        if bits > 8192 {
            return refuse(&key, format!("{bits}: a KiB has 8192 bits"));
        }
        if !blocks_wear {
            let schemes = "an erase scheme that chooses its pulses (policy.erase_scheme: not `fixed`)";
            return refuse(&key, format!("only blocks that wear have expected errors: needs {schemes}"));
        }
    }
    if let Some(rate) = *rebuild_rate {
        check_rate("faults.rebuild_rate", rate)?;
    }
    for (name, rate) in [("program", program), ("erase", erase), ("read", read), ("page", page)] {
        if rate.is_some_and(|rate| !(0.0..=0.1).contains(&rate)) {
            return refuse(&format!("faults.{name}"), "a share from 0% to 10%");
        }
    }
    // The number bounds the time of a look-up and the memory that a configuration can ask for.
    if places.len() > 1 << 16 {
        return refuse("fault", format!("{} faults; at most 65536", places.len()));
    }
    for (i, place) in places.iter().enumerate() {
        let named = |e: ConfigProblem| ConfigProblem { problem: format!("{} ({place})", e.problem), ..e };
        place.check(&format!("fault.{}", i + 1), g).map_err(named)?;
    }
    Ok(())
}

impl FromStr for FaultConfig {
    type Err = FaultTextError;

    fn from_str(text: &str) -> Result<FaultConfig, FaultTextError> {
        let wrong = |problem: String| FaultTextError { text: text.to_string(), problem };
        let (rest, at) = match text.split_once('@') {
            Some((rest, at)) => (rest, Some(parse_time(at).map_err(|e| wrong(e.to_string()))?)),
            None => (text, None),
        };
        let (kind, rest) = rest.split_once('=').ok_or_else(|| wrong("there is no =".to_string()))?;
        let named = FaultKind::ALL.iter().find(|(_, name)| *name == kind.trim());
        let &(kind, name) = named.ok_or_else(|| {
            wrong(format!("the kind is one of {}", FaultKind::ALL.map(|(_, name)| name).join(", ")))
        })?;
        let mut fault = FaultConfig {
            kind,
            channel: None,
            die: None,
            plane: None,
            block: None,
            page: None,
            at,
            cycle: None,
            reads: None,
            older: None,
            once: false,
        };
        let number = |text: &str| {
            text.trim().parse::<u32>().map_err(|_| wrong(format!("{:?} is no whole number", text.trim())))
        };
        let mut parts = rest.split(',');
        let place: Vec<&str> = parts.next().unwrap_or_default().split('.').collect();
        let needed = kind.parts();
        if place.len() != needed.len() {
            return Err(wrong(format!("the place of `{name}` is {}", needed.join("."))));
        }
        for (&name, text) in needed.iter().zip(place) {
            *fault.part_mut(name) = Some(number(text)?);
        }
        let mut given = Vec::new();
        for part in parts {
            let key = part.split('=').next().unwrap_or_default().trim();
            if given.contains(&key) {
                return Err(wrong(format!("`{key}` is given twice")));
            }
            given.push(key);
            match part.split_once('=').map(|(key, value)| (key.trim(), value)) {
                None if part.trim() == "once" => fault.once = true,
                Some(("cycle", n)) => fault.cycle = Some(number(n)?),
                Some(("reads", n)) => fault.reads = Some(number(n)?),
                Some(("older", time)) => {
                    fault.older = Some(parse_time(time).map_err(|e| wrong(e.to_string()))?);
                }
                _ => {
                    return Err(wrong(format!(
                        "{:?} is not cycle=N, reads=N, older=TIME or once",
                        part.trim()
                    )));
                }
            }
        }
        Ok(fault)
    }
}

impl fmt::Display for FaultConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |name: &&str| self.part(name).map_or("?".to_string(), |n| n.to_string());
        let parts = self.kind.parts().iter().map(number);
        write!(f, "{}={}", self.kind.name(), parts.collect::<Vec<_>>().join("."))?;
        for (key, n) in [("cycle", self.cycle), ("reads", self.reads)] {
            if let Some(n) = n {
                write!(f, ",{key}={n}")?;
            }
        }
        if let Some(age) = self.older {
            write!(f, ",older={}", format_time(age))?;
        }
        if self.once {
            f.write_str(",once")?;
        }
        self.at.map_or(Ok(()), |at| write!(f, "@{}", format_time(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_and_its_fault_agree() {
        for text in [
            "die=3@2s",
            "plane=3.1@1ms",
            "channel=0",
            "bad=1.0.9",
            "erase=3.1.17,cycle=100",
            "program=3.1.17.5,cycle=2@4us",
            "page=3.1.17.5",
            "page=3.1.17.5,reads=1000,once@7ns",
            "page=3.1.17.5,older=3s",
        ] {
            let fault: FaultConfig = text.parse().expect(text);
            assert_eq!(fault.to_string(), text);
        }
    }

    #[test]
    fn a_text_that_names_no_fault_is_refused_with_the_reason() {
        for (text, words) in [
            ("die", "no ="),
            ("dye=3", "one of program, erase, page, bad, plane, die, channel"),
            ("die=3.1", "the place of `die` is die"),
            ("page=3.1", "die.plane.block.page"),
            ("die=x", "\"x\" is no whole number"),
            ("die=3@soon", "soon"),
            ("page=0.0.0.0,twice", "\"twice\""),
            ("page=0.0.0.0,reads=5,reads=7", "`reads` is given twice"),
        ] {
            let e = text.parse::<FaultConfig>().expect_err(text).to_string();
            assert!(e.contains(words), "{text}: {e}");
        }
    }
}
