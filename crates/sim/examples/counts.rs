//! Counts instructions a request, and checks that they have not grown. `tests/counts` runs it.
//!
//! Callgrind runs this program twice for each load, with many requests and with few. It counts only
//! inside of [`counted_run`], which leaves out construction and ageing. A build gives the same counts in every run.
//! `tests/counts.toml` has the numbers. Two more loads drive the tournaments of deadlines alone. The
//! choice between two deadlines must not be a branch there, so their mispredicted branches count.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use tailcut_config::resolve;
use tailcut_core::containers::fronts::Fronts;
use tailcut_core::containers::timers::Timers;
use tailcut_core::drive::Drive;
use tailcut_sim::cache::Locks;
use tailcut_sim::host::Host;
use tailcut_sim::measure::{MeasureError, MeasureOptions, RunOutcome, measure};
use tailcut_sim::precondition::Past;
use tailcut_sim::{PastKind, Snapshots};
use tailcut_units::Stream;
use tailcut_workload::{Source, TraceReplay, Workload, WorkloadSpec};

/// A run whose instructions are counted.
struct Load {
    name: &'static str,
    device: &'static str,
    scheme: &'static str,
    /// Keys that make the drive small, so that ageing under callgrind is short.
    sets: &'static [&'static str],
    /// Whether the pages of a drive with raw bit errors have them. Without, a codeword takes one iteration in the
    /// decoder.
    errors: bool,
    past: PastKind,
    job: &'static str,
    /// Requests of the longer of two runs.
    requests: u64,
    /// What the load is about. It must happen a hundred times.
    shows: fn(&RunOutcome) -> u64,
}

/// Erases whose pulses a scheme chooses.
const ISPE: Load = Load {
    name: "tlc-3d/ispe",
    device: "tlc-3d",
    scheme: "ispe",
    sets: &["geometry.blocks=48", "geometry.pages=64", "age.pe_cycles=2500"],
    errors: true,
    past: PastKind::Steady,
    job: "randrw,bs=16k,rwmixread=70,iodepth=16",
    requests: 40_000,
    shows: |o| o.flash.erases.blocks,
};

/// Reads of which nearly all pages are decoded after the first sense, as without errors.
const HOURS_OLD: Load = Load {
    name: "rif-2t/hours-old",
    device: "rif-2t",
    scheme: "rif",
    sets: &["geometry.blocks=64", "age.retention=6h", "age.retention_from=6h"],
    errors: true,
    past: PastKind::Sequential,
    job: "randread,bs=64k,iodepth=32",
    requests: 50_000,
    shows: |o| o.issued,
};
/// The same without errors.
const NO_ERRORS: Load = Load {
    name: "rif-2t/no-errors",
    scheme: "baseline",
    sets: &["geometry.blocks=64"],
    errors: false,
    ..HOURS_OLD
};
/// Errors cost at most this share of the requests.
const COST_OF_ERRORS: f64 = 0.25;

/// Host reads and writes of a drive under pblk, which collects.
const PBLK: Load = Load {
    name: "tiny-pblk/mixed",
    device: "tiny-pblk",
    scheme: "pblk",
    sets: &[],
    errors: true,
    past: PastKind::Steady,
    job: "randrw,bs=4k,rwmixread=70,iodepth=16",
    requests: 50_000,
    shows: |o| o.counters.erases,
};

const LOADS: [Load; 12] = [
    Load {
        name: "mqsim-e/read",
        device: "mqsim-e",
        scheme: "baseline",
        sets: &["geometry.blocks=64"],
        errors: true,
        past: PastKind::Sequential,
        job: "randread,bs=8k,iodepth=32",
        requests: 50_000,
        shows: |o| o.issued,
    },
    Load {
        name: "mqsim-e/mixed",
        device: "mqsim-e",
        scheme: "baseline",
        sets: &["geometry.blocks=64", "geometry.pages=64"],
        errors: true,
        past: PastKind::Steady,
        job: "randrw,bs=8k,rwmixread=70,iodepth=16",
        requests: 50_000,
        shows: |o| o.counters.collections,
    },
    Load {
        name: "mqsim-e/mixed-faults",
        device: "mqsim-e",
        scheme: "baseline",
        sets: &[
            "geometry.blocks=64",
            "geometry.pages=64",
            "faults.read=0.000001%",
            "faults.program=0.000001%",
            "faults.erase=0.000001%",
            "faults.page=0.000001%",
        ],
        errors: true,
        past: PastKind::Steady,
        job: "randrw,bs=8k,rwmixread=70,iodepth=16",
        requests: 50_000,
        shows: |o| o.counters.collections,
    },
    Load {
        name: "ttflash-256g/read-64k",
        device: "ttflash-256g",
        scheme: "ttflash",
        sets: &["geometry.blocks=64"],
        errors: true,
        past: PastKind::Sequential,
        job: "randread,bs=64k,iodepth=16",
        requests: 5_000,
        shows: |o| o.issued,
    },
    ISPE,
    Load { name: "tlc-3d/aero", scheme: "aero", ..ISPE },
    Load {
        name: "z-ssd/suspend",
        device: "z-ssd",
        scheme: "d-es",
        sets: &[
            "geometry.blocks=128",
            "geometry.pages=32",
            "ftl.user_capacity=1870MB",
            "policy.buffer.lru.capacity=2MiB",
        ],
        errors: true,
        past: PastKind::Steady,
        job: "randrw,bs=4k,rwmixread=70,iodepth=16",
        requests: 20_000,
        shows: |o| o.flash.erase_suspension.suspends,
    },
    Load {
        name: "rif-2t/read",
        device: "rif-2t",
        scheme: "rif",
        sets: &["geometry.blocks=64", "age.retention=12d"],
        errors: true,
        past: PastKind::Sequential,
        job: "randread,bs=64k,iodepth=32",
        requests: 10_000,
        shows: |o| o.flash.senses.in_die,
    },
    HOURS_OLD,
    NO_ERRORS,
    PBLK,
    Load { name: "tiny-pblk/mixed-rail", scheme: "rail", ..PBLK },
];

/// The loads that drive the tournaments alone: with random deadlines, and with the same deadline in
/// the same place each time. They differ in mispredicted branches if a choice between two deadlines is
/// a branch.
const RANDOM: &str = "tournaments/random";
const EVEN: &str = "tournaments/even";
/// Deadlines set in each tournament.
const WALKS: u64 = 100_000;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", name, part] => part.parse().map_err(Into::into).and_then(|part| run(name, part)),
        ["check"] => check(),
        ["update", compiler] => update(compiler),
        _ => Err("usage: counts check | update COMPILER | run LOAD PART".into()),
    };
    done.map_or_else(
        |e| {
            eprintln!("{e}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Prepare a load and run it, or the first `1 / part` of it. Prints the number of requests, or of walks.
fn run(name: &str, part: u64) -> Result<(), Box<dyn Error>> {
    if [RANDOM, EVEN].contains(&name) {
        let bounds = if name == RANDOM { [64, 8, 1 << 40] } else { [1, 1, 1] };
        let (mut timers, mut fronts) = (Timers::new(64), Fronts::default());
        black_box(counted_walks(&mut timers, &mut fronts, black_box(bounds)));
        println!("{WALKS}");
        return Ok(());
    }
    let load = LOADS.iter().find(|l| l.name == name).ok_or("no such load")?;
    let none: [&str; 0] = [];
    let config = resolve(load.device, &[load.scheme], &none, load.sets)?.config;
    let config = if load.errors { config } else { config.without_errors() };
    let text = format!("{},size=70%,norandommap,number_ios={}", load.job, load.requests / part);
    let workload = WorkloadSpec::parse(&text, |_| None, &TraceReplay::default())?;
    let capacity = Drive::new(&config, 1, ())?.host_bytes();
    let filled = workload.open(capacity, 0, 1)?.region().end;
    let past = Past {
        kind: load.past,
        filled,
        capacity,
        workload: &workload,
        identity: "",
        snapshots: &Snapshots::Off,
        locks: &Locks::default(),
        task: 0,
        watch: &(),
    };
    let (mut device, _) = past.give(&config, 1)?;
    let mut host = Host::new(workload.open(capacity, filled, 1)?)?;
    let outcome = counted_run(&mut host, &mut device)?;
    println!("{}", outcome.issued);
    let shown = (load.shows)(&outcome);
    if shown < 100 && part == 1 {
        Err(format!("what the load is about happened only {shown} times").into())
    } else {
        Ok(())
    }
}

/// What callgrind counts of a run. [`COUNTED`] matches its name. It is a copy of the run loop of its own: its numbers do not
/// depend on which other copies are compiled beside that of runs.
#[inline(never)]
fn counted_run(
    host: &mut Host<Workload>,
    device: &mut Drive,
) -> Result<RunOutcome, MeasureError<<Workload as Source>::Error>> {
    measure(host, device, MeasureOptions::default(), None, &())
}

/// Set random deadlines in both tournaments, below these bounds of slots, lanes and times; also
/// counted.
#[inline(never)]
fn counted_walks(timers: &mut Timers, fronts: &mut Fronts, [slots, lanes, times]: [u64; 3]) -> u64 {
    let (mut stream, mut sum) = (Stream::new(1, "counts", 0), 0u64);
    for _ in 0..WALKS {
        timers.set(stream.below(slots) as usize, stream.below(times));
        fronts.set(stream.below(lanes) as usize, stream.below(times), 0);
        sum = sum.wrapping_add(timers.first().1 ^ fronts.first().1);
    }
    sum
}

/// The functions in which callgrind counts.
const COUNTED: &str = "*counted_*";

/// The file `tests/counts.toml`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    /// The compiler and the target for which the numbers hold.
    compiler: String,
    /// By load: instructions a request.
    instructions: BTreeMap<String, u64>,
}

/// The growth of a number that fails.
const LIMIT: f64 = 1.02;
/// The C library must not choose the code of `memset` and `memcpy` by the processor. Callgrind also counts
/// a string instruction once for each step.
const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX2,-AVX,-ERMS,-FSRM,-AVX_Fast_Unaligned_Load";

/// The shorter of two runs is this part of the longer one.
const PART: u64 = 5;

/// Branches mispredicted because of random deadlines, for each deadline set, that fail. With a branch at
/// every level of the tree there are about two.
const MISPREDICTED: f64 = 0.1;

/// A file in the root of the repository.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn read(name: &str) -> Result<String, Box<dyn Error>> {
    fs::read_to_string(file(name)).map_err(|e| format!("{name}: {e}").into())
}

/// Count all loads: instructions a request. Fails if a tournament has a branch.
fn count() -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // All at the same time, since the speed of the machine does not matter.
    let start = |name, part| Started::new(name, part, folder.path());
    let (random, even) = (start(RANDOM, 1)?, start(EVEN, 1)?);
    // The difference leaves out what a run does once.
    let pairs = LOADS.iter().map(|l| Ok((start(l.name, 1)?, start(l.name, PART)?)));
    let pairs = pairs.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let branches = (random.finish()?.mispredicted - even.finish()?.mispredicted) / WALKS as f64;
    let text = format!("counts: tournaments: {branches:.3} mispredicted branches from random deadlines");
    if branches > MISPREDICTED {
        return Err(format!(
            "{text}, {MISPREDICTED} are allowed: a choice between two deadlines has become a branch \
             (crates/core/src/containers/timers.rs or fronts.rs)"
        )
        .into());
    }
    println!("{text}");
    let mut counts = BTreeMap::new();
    for (whole, part) in pairs {
        let name = whole.name.to_string();
        let (whole, part) = (whole.finish()?, part.finish()?);
        let each = (whole.instructions - part.instructions) / (whole.requests - part.requests);
        counts.insert(name, each.round() as u64);
    }
    Ok(counts)
}

/// Compare with `tests/counts.toml`.
fn check() -> Result<(), Box<dyn Error>> {
    let old: Counts =
        toml::from_str(&read("tests/counts.toml")?).map_err(|e| format!("tests/counts.toml: {e}"))?;
    let mut problems = String::new();
    let counts = count()?;
    let [with, without] = [HOURS_OLD, NO_ERRORS].map(|load| counts[load.name] as f64);
    let cost = 1.0 - without / with;
    println!("counts: raw bit errors cost {:.1} % of the requests", cost * 100.0);
    if cost > COST_OF_ERRORS {
        writeln!(
            problems,
            "counts: raw bit errors cost more than {:.0} % of the requests",
            COST_OF_ERRORS * 100.0
        )?;
    }
    for (name, count) in counts {
        let Some(&before) = old.instructions.get(&name) else {
            writeln!(problems, "counts: {name} is not in tests/counts.toml")?;
            continue;
        };
        let ratio = count as f64 / before as f64;
        println!("counts: {name}: {count} instructions a request ({:+.2} %)", (ratio - 1.0) * 100.0);
        if ratio > LIMIT {
            writeln!(problems, "counts: {name} has grown from {before} to {count} instructions a request")?;
        } else if ratio < 1.0 / LIMIT {
            println!("counts: {name} needs fewer than tests/counts.toml allows: `make counts` keeps it so");
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    problems += "More than 2 % need a reason: run `make counts`, and give the reason in CHANGELOG.md.";
    Err(problems.into())
}

/// Write `tests/counts.toml`, and the numbers in the changelog that are lower now.
fn update(compiler: &str) -> Result<(), Box<dyn Error>> {
    let mut changelog = read("CHANGELOG.md")?;
    let counts = Counts { compiler: compiler.to_string(), instructions: count()? };
    for (name, &count) in &counts.instructions {
        println!("counts: {name}: {count} instructions a request");
        let start = format!("- `{name}`: ");
        let line = changelog.lines().find(|l| l.starts_with(&start)).unwrap_or_default();
        let stated: Option<f64> = line.split_whitespace().nth(2).and_then(|n| n.parse().ok());
        match stated {
            Some(stated) if count as f64 * LIMIT < stated => {
                let new = line.replacen(&stated.to_string(), &count.to_string(), 1);
                changelog = changelog.replacen(line, &new, 1);
            }
            Some(stated) if count as f64 <= stated * LIMIT => {}
            _ => println!("  CHANGELOG.md must say, with the reason: {start}{count} instructions a request"),
        }
    }
    fs::write(file("CHANGELOG.md"), changelog)?;
    fs::write(file("tests/counts.toml"), format!("{HEAD}{}", toml::to_string(&counts)?))?;
    Ok(())
}

/// The comment at the beginning of the file.
const HEAD: &str = "\
# Instructions a request: `make counts` writes this file, and docs/profiling.md explains it.
# The test `house` compares it with the numbers that CHANGELOG.md states.
";

/// A load that runs in callgrind.
struct Started {
    name: &'static str,
    out: PathBuf,
    child: Child,
}

/// What callgrind counted.
struct Count {
    requests: f64,
    instructions: f64,
    mispredicted: f64,
}

impl Started {
    fn new(name: &'static str, part: u64, folder: &Path) -> Result<Started, Box<dyn Error>> {
        let out = folder.join(format!("{}-{part}", name.replace('/', "-")));
        let child = Command::new("valgrind")
            .args(["--tool=callgrind", "--branch-sim=yes"])
            .arg(format!("--toggle-collect={COUNTED}"))
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(std::env::current_exe()?)
            .args(["run", name, &part.to_string()])
            .env("GLIBC_TUNABLES", TUNABLES)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("valgrind: {e}"))?;
        Ok(Started { name, out, child })
    }

    fn finish(self) -> Result<Count, Box<dyn Error>> {
        let Started { name, out, child } = self;
        let ended = child.wait_with_output()?;
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stderr);
            return Err(format!("{name}: callgrind ended with {}:\n{said}", ended.status).into());
        }
        let requests: f64 = String::from_utf8(ended.stdout)?.trim().parse()?;
        let text = std::fs::read_to_string(&out).map_err(|e| format!("{}: {e}", out.display()))?;
        let line =
            |key| text.lines().find_map(|l| l.strip_prefix(key)).ok_or(format!("callgrind wrote no `{key}`"));
        let events = line("events: ")?.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let totals = line("totals: ")?.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let of = |event: &str| {
            let total = events.iter().position(|e| e == event).and_then(|i| totals.get(i));
            total.copied().ok_or(format!("callgrind counted no {event}"))
        };
        let count = Count { requests, instructions: of("Ir")?, mispredicted: of("Bcm")? };
        if count.instructions < 1.0 {
            return Err(format!("{name}: callgrind found no function `{COUNTED}`").into());
        }
        Ok(count)
    }
}
