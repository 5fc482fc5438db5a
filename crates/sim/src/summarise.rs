//! The summary of one run of one scheme.

use crate::experiment::RunResult;
use crate::load::Offered;
use crate::machine::peak_rss_bytes;
use crate::measure::RunOutcome;
use tailcut_core::device::{ChannelTime, GroupTime};
use tailcut_core::figures::{Counters, FaultReport};
use tailcut_core::flash::SenseTotals;
use tailcut_report::Ordered;
use tailcut_report::erases::ErasePulses;
use tailcut_report::faults::{FaultBlocks, Faults, MOST_LOST};
use tailcut_report::senses::PageSenses;
use tailcut_report::summary::{
    Channel, Gc, GcGroup, Load, Operations, PeCycles, Precondition, Scheme, SlcUse, Suspends, Use,
    Utilisation, WriteStall,
};
use tailcut_units::{HostOp, Occupant, Status};

/// The summary's figures of a run of the scheme called `name`.
pub fn summarise(name: &str, run: &RunResult) -> Scheme {
    let o = &run.outcome;
    let scheme = Scheme {
        name: name.to_string(),
        digest: o.digest.to_string(),
        wall_seconds: o.wall_seconds,
        cpu_seconds: o.cpu_seconds,
        peak_rss_bytes: peak_rss_bytes(),
        precondition: Some(Precondition {
            kind: run.past.kind.name().to_string(),
            cpu_seconds: run.past.cpu_seconds,
            cached: run.past.cached,
            waf: run.past.report.as_ref().map(|r| r.waf),
            steady: run.past.report.as_ref().map(|r| r.steady),
            analytic_start: run.past.report.as_ref().is_some_and(|r| r.analytic),
        }),
        load: o.offered.as_ref().map(load),
        ..counters(o)
    };
    scheme.with_measurements(&o.measured)
}

fn load(o: &Offered) -> Load {
    Load {
        offered_iops: o.per_second(),
        served_iops: o.served_per_second,
        backlog: o.backlog,
        behind_ns: o.behind.0,
        longest_backlog_ns: o.longest.0,
        longest_backlog_since_ns: o.longest_since.0,
        keeps_up: o.keeps_up(),
    }
}

/// A summary with the counters of the drive.
fn counters(o: &RunOutcome) -> Scheme {
    let c = &o.counters;
    let (mean, max) = o.wear;
    let of_reads = |n: u64| (c.reads > 0).then(|| n as f64 / c.reads as f64);
    // A class of which the drive has no mechanism is absent.
    let has = |class: &str, n: u64| match class {
        "user" | "gc" | "pad" => true,
        "parity" => o.has_parity,
        "wear" => o.moves_stripes || o.levels_erases || n > 0,
        "refresh" => o.refreshes,
        "fold" => o.slc_wear.is_some(),
        "failed" => o.faults.is_some(),
        _ => n > 0,
    };
    let programs = c.programs_by_class().into_iter().filter(|&(class, n)| has(class, n));
    let units = [
        ("never_written", c.unmapped_reads),
        ("from_buffer", c.buffer_hits),
        ("read_modify_write", c.rmw_reads),
        ("trimmed", c.trimmed),
    ];
    let with_parity = |n: u64| o.has_parity.then_some(n);
    Scheme {
        programs: programs.map(|(class, n)| (class.to_string(), n)).collect(),
        counters: counted(c.all()),
        units: counted(units),
        gc: Some(Gc {
            collections: c.collections,
            moved_units: Some(c.programs_gc),
            mean_ns: (c.collections > 0).then(|| c.collecting_ns as f64 / c.collections as f64),
            longest_ns: (c.collections > 0).then_some(c.longest_collection_ns),
            blocked_reads_fraction: of_reads(c.gc_blocked_reads),
            queued_behind_fraction: of_reads(c.queued_behind_reads),
            kept_out_fraction: of_reads(c.kept_out_reads),
            rebuilt_reads_fraction: of_reads(c.rebuilt_reads).filter(|_| o.has_parity),
            rebuild_reads: with_parity(c.rebuild_reads),
            unprotected_units: o.has_write_gate.then_some(c.unprotected_units),
            parity_reads: with_parity(c.parity_reads),
            scrub_reads: (c.scrub_reads > 0).then_some(c.scrub_reads),
            wear_reads: o.moves_stripes.then_some(c.wear_reads),
            stripes_shifted: o.moves_stripes.then_some(c.shifts),
            stripes_migrated: o.moves_stripes.then_some(c.migrations),
            for_wear: o.levels_erases.then_some(c.collections_for_wear),
            for_refresh: o.refreshes.then_some(c.collections_for_refresh),
            rotation_broken: with_parity(c.rotation_broken),
            most_in_group: with_parity(c.most_in_group),
            groups: groups(o),
        }),
        erases: Some(c.erases * u64::from(o.blocks_per_extent) - c.blocks_spared),
        pe_cycles: Some(PeCycles { mean, max: u64::from(max) }),
        slc: o.slc_wear.map(|(mean, max)| SlcUse {
            host_units: c.slc_programs,
            padding_units: c.slc_pads,
            folded_units: c.programs_fold,
            fold_reads: c.fold_reads,
            erases: c.slc_erases * u64::from(o.blocks_per_extent),
            pe_cycles: PeCycles { mean, max: u64::from(max) },
        }),
        erase_pulses: erase_pulses(o),
        page_senses: o.has_errors.then(|| page_senses(&o.flash.senses)),
        suspends: suspends(o),
        operations: operations(o),
        faults: o.faults.as_ref().map(|state| {
            let media_errors = o.measured.errors.of(HostOp::Read, Status::MediaError);
            faults(&o.counters, media_errors, state)
        }),
        write_stall: o.write_stall.map(|s| WriteStall {
            since_ns: s.since.0,
            length_ns: s.length.0,
            oldest_write_ns: s.oldest.0,
            at_end: s.lasts,
        }),
        energy_mj: Some(o.energy_mj.0),
        channel: channel(&o.channel, o.has_errors),
        utilisation: utilisation(o),
        ..Scheme::default()
    }
}

/// The counts that are not 0, by name.
pub fn counted<const N: usize>(counts: [(&str, u64); N]) -> Ordered<u64> {
    counts.into_iter().filter(|&(_, n)| n > 0).map(|(name, n)| (name.to_string(), n)).collect()
}

/// The failures of the flash, and the reads that ended with a media error.
pub fn faults(c: &Counters, media_errors: u64, state: &FaultReport) -> Faults {
    let blocks = state.blocks.blocks;
    Faults {
        program_failures: c.program_failures,
        erase_failures: c.erase_failures,
        read_failures: c.read_failures,
        media_errors,
        media_error_commands: c.media_errors,
        units_rebuilt: c.rebuilt_units,
        units_mended: c.mended_units,
        stripes_rewritten: c.stripes_rewritten,
        lost_units: state.lost_units,
        blocks: FaultBlocks {
            all: blocks.all,
            factory_bad: blocks.factory_bad,
            grown_bad: blocks.grown_bad,
            spare: blocks.spare,
            in_holes: state.blocks.in_holes,
        },
        retired_extents: state.blocks.retired_extents,
        spare_extents: state.blocks.spare_extents,
        dead_planes: u64::from(state.dead_planes),
        read_only_since_ns: state.read_only.map(|r| r.since.0),
        read_only_reason: state.read_only.map(|r| r.reason),
        lost_bytes: state.lost.iter().map(|range| range.end - range.start).sum(),
        lost_ranges: state.lost.len() as u64,
        lost: state.lost.iter().take(MOST_LOST).map(|range| [range.start, range.end]).collect(),
    }
}

/// The erases whose scheme chooses their pulses.
fn erase_pulses(o: &RunOutcome) -> Option<ErasePulses> {
    let (wear, e) = (o.pulse_wear.as_ref()?, &o.flash.erases);
    let each = |total: u64| total as f64 / e.blocks.max(1) as f64;
    let pulses = e.by_pulses.iter().zip(0..).map(|(n, pulses)| n * pulses).sum();
    Some(ErasePulses {
        blocks: e.blocks,
        pulse_ns: each(e.pulse_ns),
        pulses: each(pulses),
        by_level: e.by_level[1..=wear.levels as usize].to_vec(),
        too_short: e.too_short,
        too_long_ns: e.too_long * wear.step_ns,
        incomplete: e.incomplete,
        full_voltage: wear.chooses_voltage.then_some(e.full_voltage),
        wear_mean: wear.mean,
        wear_max: wear.most,
    })
}

/// The senses of pages with raw bit errors.
fn page_senses(t: &SenseTotals) -> PageSenses {
    let &SenseTotals {
        pages,
        again,
        in_die,
        dropped,
        uncorrectable,
        given_up,
        predicted,
        needless,
        missed,
        ..
    } = t;
    PageSenses { pages, again, in_die, dropped, uncorrectable, given_up, predicted, needless, missed }
}

/// The collections of each group of planes.
fn groups(o: &RunOutcome) -> Vec<GcGroup> {
    let runtime = o.measured.runtime.0.max(1) as f64;
    let group = |g: &GroupTime| GcGroup { mean: g.lane_ns as f64 / runtime, most: u64::from(g.most) };
    o.groups.iter().map(group).collect()
}

/// Operations of the arrays by occupant; occupants without operations are left out.
fn operations(o: &RunOutcome) -> Ordered<Operations> {
    let c = &o.flash;
    let of = |occupant: Occupant| {
        let (count, planes) = (c.operations[occupant as usize], c.planes[occupant as usize]);
        let mean = planes as f64 / count.max(1) as f64;
        (count > 0).then(|| (occupant.name().to_string(), Operations { count, planes: mean }))
    };
    Occupant::ALL.into_iter().filter_map(of).collect()
}

/// Suspensions; `None` if there were none.
fn suspends(o: &RunOutcome) -> Option<Suspends> {
    let (e, p) = (&o.flash.erase_suspension, &o.flash.program_suspension);
    let w = &o.suspension_wear;
    (e.suspends + p.suspends > 0).then(|| Suspends {
        erase: e.suspends,
        program: p.suspends,
        per_erase: e.suspends as f64 / o.flash.operations[Occupant::Erase as usize].max(1) as f64,
        resumes_cancelled: e.resumes_cancelled + p.resumes_cancelled,
        repeated_ns: e.repeated_ns + p.repeated_ns,
        overhead_ns: e.overhead_ns + p.overhead_ns,
        energy_mj: o.energy_mj.1,
        per_block_mean: w.mean,
        per_block_max: u64::from(w.most),
        rber_factor_mean: w.rber_mean,
        rber_factor_max: w.rber_most,
    })
}

/// Shares of the time in which parts of the drive were in use; `None` if no time has
/// passed.
fn utilisation(o: &RunOutcome) -> Option<Utilisation> {
    let (planes, independent) = o.die_planes;
    let total = o.usage.at as f64;
    let of = |parts: &[u64], each: u32| {
        let shares: Vec<f64> = parts
            .chunks(each as usize)
            .map(|part| part.iter().sum::<u64>() as f64 / (part.len() as f64 * total))
            .collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        Use { mean: shares.iter().sum::<f64>() / shares.len().max(1) as f64, busiest: most }
    };
    // If planes are the busy units, the share of a die is the mean of its planes.
    // Otherwise the time of planes is counted by die and divided by the planes of a die.
    let scaled = |u: Use, by: u32| Use { mean: u.mean / f64::from(by), busiest: u.busiest / f64::from(by) };
    (o.usage.at > 0).then(|| Utilisation {
        dies: of(&o.usage.units, if independent { planes } else { 1 }),
        planes: scaled(of(&o.usage.planes, 1), if independent { 1 } else { planes }),
        channels: of(&o.usage.channels, 1),
        host_link: of(&o.usage.link, 1),
    })
}

/// Shares of the channels' time; `None` if no time has passed.
fn channel(t: &ChannelTime, has_errors: bool) -> Option<Channel> {
    let share = |ns: u64| ns as f64 / t.total as f64;
    (t.total > 0).then(|| Channel {
        idle: share(t.total - t.granted),
        useful: share((t.granted - t.stalled).saturating_sub(t.uncorrectable)),
        uncorrectable: has_errors.then(|| share(t.uncorrectable.min(t.granted - t.stalled))),
        ecc_wait: share(t.stalled),
    })
}
