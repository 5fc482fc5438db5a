//! Figures of a run by kind: of collections, faults, erases, channels and senses.

use tailcut_report::erases::ErasePulses;
use tailcut_report::faults::Faults;
use tailcut_report::senses::PageSenses;
use tailcut_report::summary::{Channel, Gc, Utilisation};

/// A figure of collections. Without collections the figures are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfGc {
    /// Blocks collected.
    Collections,
    /// Valid units moved in a collection, mean.
    Valid,
    /// Mean time from the choice of a victim to the end of its erase.
    Mean,
    /// The longest time from the choice of a victim to the end of its erase.
    Longest,
    /// Share of all reads that a collection held up.
    Blocked,
    /// Share of all reads that queued behind a host operation that a collection held up.
    QueuedBehind,
    /// Share of all reads that a full device queue kept out while it held a command that a
    /// collection held up.
    KeptOut,
    /// Sum of `Blocked` and `KeptOut`: both parts of a bar of FAST'17, Figure 7.
    AllBlocked,
    /// Share of all reads with a rebuilt unit.
    Rebuilt,
    /// Flash reads made only to rebuild units.
    RebuildReads,
    /// Flash reads made to compute parity.
    ParityReads,
    /// Collections that began while another of their plane group was under way.
    RotationBroken,
    /// The most planes of one group that collected at once.
    MostInGroup,
}

/// Figures of collections by name.
pub(super) const GC: [(&str, OfGc); 13] = [
    ("gc.collections", OfGc::Collections),
    ("gc.valid", OfGc::Valid),
    ("gc.mean", OfGc::Mean),
    ("gc.longest", OfGc::Longest),
    ("gc.blocked", OfGc::Blocked),
    ("gc.queued_behind", OfGc::QueuedBehind),
    ("gc.kept_out", OfGc::KeptOut),
    ("gc.all_blocked", OfGc::AllBlocked),
    ("gc.rebuilt", OfGc::Rebuilt),
    ("gc.rebuild_reads", OfGc::RebuildReads),
    ("gc.parity_reads", OfGc::ParityReads),
    ("gc.rotation_broken", OfGc::RotationBroken),
    ("gc.most_in_group", OfGc::MostInGroup),
];

impl OfGc {
    pub(super) fn of(self, gc: &Gc) -> f64 {
        let count = |n: Option<u64>| n.unwrap_or(0) as f64;
        let (blocked, kept_out) =
            (gc.blocked_reads_fraction.unwrap_or(0.0), gc.kept_out_fraction.unwrap_or(0.0));
        match self {
            OfGc::Collections => gc.collections as f64,
            OfGc::Valid => count(gc.moved_units) / gc.collections.max(1) as f64,
            OfGc::Mean => gc.mean_ns.unwrap_or(0.0),
            OfGc::Longest => count(gc.longest_ns),
            OfGc::Blocked => blocked,
            OfGc::QueuedBehind => gc.queued_behind_fraction.unwrap_or(0.0),
            OfGc::KeptOut => kept_out,
            OfGc::AllBlocked => blocked + kept_out,
            OfGc::Rebuilt => gc.rebuilt_reads_fraction.unwrap_or(0.0),
            OfGc::RebuildReads => count(gc.rebuild_reads),
            OfGc::ParityReads => count(gc.parity_reads),
            OfGc::RotationBroken => count(gc.rotation_broken),
            OfGc::MostInGroup => count(gc.most_in_group),
        }
    }
}

/// A figure of what failed. Without faults the figures are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfFaults {
    /// Units whose copy on flash cannot be read, at the end.
    LostUnits,
    /// Stripes rewritten because a unit of them could not be read.
    StripesRewritten,
    /// Units computed from the rest of their stripe for host reads.
    UnitsRebuilt,
}

/// Figures of what failed, by name.
pub(super) const FAULTS: [(&str, OfFaults); 3] = [
    ("faults.lost_units", OfFaults::LostUnits),
    ("faults.stripes_rewritten", OfFaults::StripesRewritten),
    ("faults.units_rebuilt", OfFaults::UnitsRebuilt),
];

impl OfFaults {
    pub(super) fn of(self, faults: &Faults) -> f64 {
        let count = match self {
            OfFaults::LostUnits => faults.lost_units,
            OfFaults::StripesRewritten => faults.stripes_rewritten,
            OfFaults::UnitsRebuilt => faults.units_rebuilt,
        };
        count as f64
    }
}

/// A figure of erases whose scheme chooses their pulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfPulses {
    /// Mean pulse time of the erase of a block.
    Time,
    /// Mean number of pulses of the erase of a block.
    Count,
    /// Share of the erases that left fail bits.
    Incomplete,
    /// Share of the erases that were at the full voltage, of a scheme that chooses between two.
    FullVoltage,
    /// Mean wear of the blocks at the end, as program/erase cycles of full pulses.
    Wear,
}

/// Figures of erases by name.
pub(super) const PULSES: [(&str, OfPulses); 5] = [
    ("erase.pulse_time", OfPulses::Time),
    ("erase.pulses", OfPulses::Count),
    ("erase.incomplete", OfPulses::Incomplete),
    ("erase.full_voltage", OfPulses::FullVoltage),
    ("erase.wear", OfPulses::Wear),
];

impl OfPulses {
    pub(super) fn of(self, erases: &ErasePulses) -> f64 {
        match self {
            OfPulses::Time => erases.pulse_ns,
            OfPulses::Count => erases.pulses,
            OfPulses::Incomplete => erases.incomplete as f64 / erases.blocks as f64,
            OfPulses::FullVoltage => erases.full_voltage.unwrap_or(0) as f64 / erases.blocks as f64,
            OfPulses::Wear => erases.wear_mean,
        }
    }
}

/// A share of the channels' time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfChannel {
    /// Transfers of data that were accepted, and commands.
    Useful,
    /// Transfers of pages that were not decoded.
    Uncorrectable,
    /// Waits for the queue of the decoder.
    EccWait,
    /// Sum of `Uncorrectable` and `EccWait`.
    Wasted,
    /// Nothing.
    Idle,
}

/// Shares of the channels' time, by name.
pub(super) const CHANNEL: [(&str, OfChannel); 5] = [
    ("channel.useful", OfChannel::Useful),
    ("channel.uncorrectable", OfChannel::Uncorrectable),
    ("channel.ecc_wait", OfChannel::EccWait),
    ("channel.wasted", OfChannel::Wasted),
    ("channel.idle", OfChannel::Idle),
];

impl OfChannel {
    pub(super) fn of(self, channel: &Channel) -> f64 {
        let uncorrectable = channel.uncorrectable.unwrap_or(0.0);
        match self {
            OfChannel::Useful => channel.useful,
            OfChannel::Uncorrectable => uncorrectable,
            OfChannel::EccWait => channel.ecc_wait,
            OfChannel::Wasted => uncorrectable + channel.ecc_wait,
            OfChannel::Idle => channel.idle,
        }
    }
}

/// The share of the time in which parts of one kind were in use, mean over all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfUse {
    /// Dies.
    Dies,
    /// Planes.
    Planes,
    /// Channels.
    Channels,
    /// The two directions of the host link.
    Link,
}

/// Shares of use by name.
pub(super) const USE: [(&str, OfUse); 4] = [
    ("use.dies", OfUse::Dies),
    ("use.planes", OfUse::Planes),
    ("use.channels", OfUse::Channels),
    ("use.link", OfUse::Link),
];

impl OfUse {
    pub(super) fn of(self, of: &Utilisation) -> f64 {
        match self {
            OfUse::Dies => of.dies.mean,
            OfUse::Planes => of.planes.mean,
            OfUse::Channels => of.channels.mean,
            OfUse::Link => of.host_link.mean,
        }
    }
}

/// A figure of the senses of pages with raw bit errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfPages {
    /// Senses after the first that the controller ordered, for each page.
    Again,
    /// Senses of both kinds after the first, for each page.
    Retries,
    /// Share of the predictions that came true.
    Accuracy,
    /// Share of the predictions that a page fails which would have been decoded.
    Needless,
    /// Share of the predictions that a page is decoded which fails.
    Missed,
    /// Of the pages that would not have been decoded, the share that a prediction in the die recognised.
    Caught,
    /// Share of the pages that were given up.
    GivenUp,
}

/// Figures of senses, by name.
pub(super) const PAGES: [(&str, OfPages); 7] = [
    ("pages.again", OfPages::Again),
    ("pages.retries", OfPages::Retries),
    ("pages.accuracy", OfPages::Accuracy),
    ("pages.needless", OfPages::Needless),
    ("pages.missed", OfPages::Missed),
    ("pages.caught", OfPages::Caught),
    ("pages.given_up", OfPages::GivenUp),
];

impl OfPages {
    /// `None` without predictions.
    pub(super) fn of(self, pages: &PageSenses) -> Option<f64> {
        let first = (pages.pages - pages.again).max(1) as f64;
        let predicted = (pages.predicted > 0).then_some(pages.predicted as f64);
        Some(match self {
            OfPages::Again => pages.again as f64 / first,
            OfPages::Retries => (pages.again + pages.in_die) as f64 / first,
            OfPages::Accuracy => 1.0 - (pages.needless + pages.missed) as f64 / predicted?,
            OfPages::Needless => pages.needless as f64 / predicted?,
            OfPages::Missed => pages.missed as f64 / predicted?,
            OfPages::Caught => {
                let caught = pages.in_die - pages.needless;
                predicted.filter(|_| caught + pages.missed > 0)?;
                caught as f64 / (caught + pages.missed) as f64
            }
            OfPages::GivenUp => pages.given_up as f64 / first,
        })
    }
}
