//! Figures that have a name of their own: each is one line of a table.

use crate::rating::Rating;
use crate::unit::Kind;
use std::fmt;
use tailcut_report::erases::ErasePulses;
use tailcut_report::senses::PageSenses;
use tailcut_report::summary::{Channel, Gc, Scheme, Utilisation};

/// A figure of a result of type `T`.
pub struct Figure<T: 'static> {
    /// Its name.
    pub name: &'static str,
    /// The kind of number that it is.
    pub kind: Kind,
    /// Its value, or why there is none.
    pub of: fn(&T) -> Value,
}

/// The value of a figure, or why there is none.
pub type Value = Result<f64, String>;

/// Figures are equal if their names are.
impl<T> PartialEq for Figure<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<T> fmt::Debug for Figure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A figure that is a number without a unit.
pub(crate) const fn number<T>(name: &'static str, of: fn(&T) -> Value) -> Figure<T> {
    Figure { name, kind: Kind::Number, of }
}

/// A figure that is a time, in ns.
pub(crate) const fn time<T>(name: &'static str, of: fn(&T) -> Value) -> Figure<T> {
    Figure { name, kind: Kind::Time, of }
}

const GIB: f64 = 1_073_741_824.0;

/// Figures of the run of a scheme.
pub(crate) static RUN: [Figure<Scheme>; 47] = [
    // Reads and writes a second.
    Figure { name: "iops", kind: Kind::Rate, of: |s| Ok(s.read.iops + s.write.iops) },
    // Write amplification.
    number("waf", |s| s.waf.ok_or_else(|| missing("programs of host data"))),
    // Blocks erased.
    number("erases", erases),
    // Blocks erased for each GiB that the host wrote.
    number("erases_per_gib", |s| Ok(erases(s)? / (s.write.bw_bytes * s.runtime_ns as f64 / 1e9 / GIB))),
    // Share of parity programs among all programs.
    number("parity_share", |s| {
        let all: u64 = s.programs.0.iter().map(|(_, n)| n).sum();
        Ok(s.programs.get("parity").copied().unwrap_or(0) as f64 / all.max(1) as f64)
    }),
    // Mean number of suspensions of an erase operation; suspensions of erases and of programs.
    number("suspends_per_erase", |s| erases(s).map(|_| s.suspends.unwrap_or_default().per_erase)),
    number("suspends.erase", |s| Ok(s.suspends.unwrap_or_default().erase as f64)),
    number("suspends.program", |s| Ok(s.suspends.unwrap_or_default().program as f64)),
    // The longest time in which writes were outstanding and none completed.
    time("write_stall", |s| Ok(s.write_stall.map_or(0.0, |stall| stall.length_ns as f64))),
    // The longest write latency as a share of the run; near 1 the writes starved.
    number("starved", |s| Ok(s.write.lat_ns.max as f64 / s.runtime_ns.max(1) as f64)),
    // Collections. Without any the figures are zero. Blocks collected:
    number("gc.collections", |s| Ok(gc(s).collections as f64)),
    // Valid units moved in a collection, mean.
    number("gc.valid", |s| Ok(count(gc(s).moved_units) / gc(s).collections.max(1) as f64)),
    // Mean and longest time from the choice of a victim to the end of its erase.
    time("gc.mean", |s| Ok(gc(s).mean_ns.unwrap_or(0.0))),
    time("gc.longest", |s| Ok(count(gc(s).longest_ns))),
    // Share of all reads that a collection held up.
    number("gc.blocked", |s| Ok(share(gc(s).blocked_reads_fraction))),
    // Share of all reads that queued behind a host operation that a collection held up.
    number("gc.queued_behind", |s| Ok(share(gc(s).queued_behind_fraction))),
    // Share of all reads that a full device queue kept out while it held a command that a collection held up.
    number("gc.kept_out", |s| Ok(share(gc(s).kept_out_fraction))),
    // Sum of blocked and kept out: both parts of a bar of FAST'17, Figure 7.
    number("gc.all_blocked", |s| Ok(share(gc(s).blocked_reads_fraction) + share(gc(s).kept_out_fraction))),
    // Share of all reads with a rebuilt unit.
    number("gc.rebuilt", |s| Ok(share(gc(s).rebuilt_reads_fraction))),
    // Flash reads made only to rebuild units, and only to compute parity.
    number("gc.rebuild_reads", |s| Ok(count(gc(s).rebuild_reads))),
    number("gc.parity_reads", |s| Ok(count(gc(s).parity_reads))),
    // Collections that began while another of their plane group was under way.
    number("gc.rotation_broken", |s| Ok(count(gc(s).rotation_broken))),
    // The most planes of one group that collected at once.
    number("gc.most_in_group", |s| Ok(count(gc(s).most_in_group))),
    // Units whose copy on flash cannot be read, at the end. Without faults these three are zero.
    number("faults.lost_units", |s| Ok(s.faults.as_ref().map_or(0.0, |f| f.lost_units as f64))),
    // Stripes rewritten because a unit of them could not be read.
    number("faults.stripes_rewritten", |s| Ok(s.faults.as_ref().map_or(0.0, |f| f.stripes_rewritten as f64))),
    // Units computed from the rest of their stripe for host reads.
    number("faults.units_rebuilt", |s| Ok(s.faults.as_ref().map_or(0.0, |f| f.units_rebuilt as f64))),
    // Erases whose scheme chooses their pulses: mean pulse time and pulses of the erase of a block,
    time("erase.pulse_time", |s| Ok(pulses(s)?.pulse_ns)),
    number("erase.pulses", |s| Ok(pulses(s)?.pulses)),
    // the share of the erases that left fail bits,
    number("erase.incomplete", |s| pulses(s).map(|p| p.incomplete as f64 / p.blocks as f64)),
    // the share at the full voltage, of a scheme that chooses between two,
    number("erase.full_voltage", |s| pulses(s).map(|p| p.full_voltage.unwrap_or(0) as f64 / p.blocks as f64)),
    // and the mean wear of the blocks at the end, as program/erase cycles of full pulses.
    number("erase.wear", |s| Ok(pulses(s)?.wear_mean)),
    // Shares of the channels' time: transfers of data that were accepted, and commands;
    number("channel.useful", |s| Ok(channel(s)?.useful)),
    // transfers of pages that were not decoded;
    number("channel.uncorrectable", |s| Ok(share(channel(s)?.uncorrectable))),
    // waits for the queue of the decoder; the sum of these two; nothing.
    number("channel.ecc_wait", |s| Ok(channel(s)?.ecc_wait)),
    number("channel.wasted", |s| channel(s).map(|c| share(c.uncorrectable) + c.ecc_wait)),
    number("channel.idle", |s| Ok(channel(s)?.idle)),
    // The share of the time in which parts of one kind were in use, mean over all.
    number("use.dies", |s| Ok(in_use(s)?.dies.mean)),
    number("use.planes", |s| Ok(in_use(s)?.planes.mean)),
    number("use.channels", |s| Ok(in_use(s)?.channels.mean)),
    number("use.link", |s| Ok(in_use(s)?.host_link.mean)),
    // Senses of a page with raw bit errors after the first: those that the controller ordered, and all.
    number("pages.again", |s| pages(s).map(|p| p.again as f64 / first_senses(p))),
    number("pages.retries", |s| pages(s).map(|p| (p.again + p.in_die) as f64 / first_senses(p))),
    // Share of the predictions that came true.
    number("pages.accuracy", |s| Ok(1.0 - of_predicted(s, |p| p.needless + p.missed)?)),
    // Share of the predictions that a page fails which would have been decoded.
    number("pages.needless", |s| of_predicted(s, |p| p.needless)),
    // Share of the predictions that a page is decoded which fails.
    number("pages.missed", |s| of_predicted(s, |p| p.missed)),
    // Of the pages that would not have been decoded, the share that a prediction in the die recognised.
    number("pages.caught", |s| {
        of_predicted(s, |_| 0)?;
        let pages = pages(s)?;
        let caught = pages.in_die - pages.needless;
        let failing = caught + pages.missed;
        (failing > 0).then(|| caught as f64 / failing as f64).ok_or_else(|| missing("predictions"))
    }),
    // Share of the pages that were given up.
    number("pages.given_up", |s| pages(s).map(|p| p.given_up as f64 / first_senses(p))),
];

/// Multipliers up to which a test of the ACT tool is passed.
pub(crate) static RATINGS: [Figure<Rating>; 5] = [
    number("rating.performance", |r| Ok(f64::from(r.performance))),
    number("rating.stress", |r| Ok(f64::from(r.stress))),
    // The stress test, with steady free blocks.
    number("rating.sustained", |r| Ok(f64::from(r.sustained))),
    // By the tool's own rule.
    number("rating.official_performance", |r| Ok(f64::from(r.official_performance))),
    number("rating.official_stress", |r| Ok(f64::from(r.official_stress))),
];

/// The message for a part that the run does not have.
pub(super) fn missing(what: &str) -> String {
    format!("the run has no {what}")
}

fn count(n: Option<u64>) -> f64 {
    n.unwrap_or(0) as f64
}

fn share(of: Option<f64>) -> f64 {
    of.unwrap_or(0.0)
}

fn gc(s: &Scheme) -> Gc {
    s.gc.clone().unwrap_or_default()
}

fn erases(s: &Scheme) -> Value {
    s.erases.filter(|&n| n > 0).map(|n| n as f64).ok_or_else(|| missing("erases"))
}

fn pulses(s: &Scheme) -> Result<&ErasePulses, String> {
    let pulses = s.erase_pulses.as_ref().filter(|erases| erases.blocks > 0);
    pulses.ok_or_else(|| missing("erases whose scheme chooses their pulses"))
}

fn channel(s: &Scheme) -> Result<Channel, String> {
    s.channel.ok_or_else(|| missing("channel shares"))
}

fn in_use(s: &Scheme) -> Result<Utilisation, String> {
    s.utilisation.ok_or_else(|| missing("shares of use"))
}

fn pages(s: &Scheme) -> Result<&PageSenses, String> {
    s.page_senses.as_ref().ok_or_else(|| missing("pages with raw bit errors"))
}

/// The pages that were read: each has one first sense.
fn first_senses(pages: &PageSenses) -> f64 {
    (pages.pages - pages.again).max(1) as f64
}

/// A number as a share of the predictions.
fn of_predicted(s: &Scheme, number: fn(&PageSenses) -> u64) -> Value {
    let pages = pages(s)?;
    let predicted = Some(pages.predicted).filter(|&n| n > 0).ok_or_else(|| missing("predictions"))?;
    Ok(number(pages) as f64 / predicted as f64)
}
