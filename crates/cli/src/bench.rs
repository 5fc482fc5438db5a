//! `tailcut bench`: measures the speed of the simulator.

mod repeat;
mod work;

use crate::args::BenchArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, catch_interrupts, interrupted, print_json};
use serde::{Deserialize, Serialize};
use tailcut_report::text::{Grid, grouped, rate};
use work::{Form, Names, READS, Scale, Target};

/// One result. A figure that a benchmark does not measure is absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Line {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_cpu_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events_per_cpu_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ns_per_request: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ns_per_event: Option<f64>,
    /// Mapping units programmed per second of ageing.
    #[serde(skip_serializing_if = "Option::is_none")]
    programs_per_cpu_second: Option<f64>,
    cpu_seconds: f64,
    wall_seconds: f64,
    /// Resident memory of the drive and its measurement, divided by the drive's mapping units.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_mapping_unit: Option<f64>,
    /// Memory of the drive's pools and queues after the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pool_bytes: Option<u64>,
    /// Page faults while the drive is created, before ageing. A later drive in the process may reuse memory without
    /// page faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    page_faults: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waf: Option<f64>,
    /// The digest of the run's completions; for ageing and restoring, the checksum of the
    /// state.
    digest: String,
}

#[derive(Serialize)]
struct Report<'a, T> {
    tailcut: &'static str,
    model_version: u32,
    peak_rss_bytes: Option<u64>,
    benchmarks: &'a [T],
}

impl<'a, T: Serialize> Report<'a, T> {
    /// Print the results as JSON.
    fn print(benchmarks: &'a [T]) -> Result<(), CliError> {
        let report = Report {
            tailcut: env!("CARGO_PKG_VERSION"),
            model_version: tailcut_sim::MODEL_VERSION,
            peak_rss_bytes: tailcut_sim::machine::peak_rss_bytes(),
            benchmarks,
        };
        print_json(&report)
    }
}

/// The benchmarks in the order of the table, by drive and fill.
const NAMES: [&str; 21] = [
    "mqsim-e/read-qd32",
    "mqsim-e/mixed-qd16",
    "mqsim-default/read-qd32",
    "mqsim-default/age-70",
    "mqsim-default/mixed-70",
    "mqsim-default/read-aged-70",
    "mqsim-default/restore",
    "mqsim-default/age-100",
    "mqsim-default/mixed-100",
    "growth/1M",
    "growth/10M",
    "growth/100M",
    "ttflash-256g/requests-64k",
    "rif-2t/errors-64k",
    "rif-2t/no-errors-64k",
    "cnex-westlake/read-page",
    "cnex-westlake/read-pblk",
    "cnex-westlake/read-rail",
    "cnex-westlake/mixed-page",
    "cnex-westlake/mixed-pblk",
    "cnex-westlake/mixed-rail",
];

/// Run the chosen benchmarks, one after another on this thread, or repeatedly in other processes.
pub fn bench(args: &BenchArgs) -> Result<(), CliError> {
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|o| name.starts_with(o.as_str()));
    if let Some(unknown) = args.only.iter().find(|o| !NAMES.iter().any(|n| n.starts_with(o.as_str()))) {
        let text = format!("no benchmark is called `{unknown}`; the benchmarks are {}", NAMES.join(", "));
        return Err(CliError::Input(text));
    }
    let terminal = Terminal::new(args.json);
    let scale = Scale { tiny: args.tiny };
    catch_interrupts();
    if args.repeat.is_some() || args.against.is_some() {
        // This benchmark takes as much time as all others together.
        let chosen = |name: &&str| wanted(name) && (!args.only.is_empty() || *name != LONGEST);
        let names: Vec<&str> = NAMES.into_iter().filter(chosen).collect();
        return repeat::repeat(args, &names, &terminal);
    }
    let mut lines: Vec<Line> = Vec::new();
    terminal.text(&header())?;
    let mut done = |line: Line| {
        // The benchmark may have been interrupted. Its figures and its digest are then incomplete.
        if interrupted() {
            return Ok(());
        }
        terminal.text(&row(&line))?;
        lines.push(line);
        Ok::<(), CliError>(())
    };
    let e = Target { device: "mqsim-e", share: 70, form: Form::OfPreset };
    let default = Target { device: "mqsim-default", ..e };
    let full = Target { share: 100, ..default };
    let alone = [
        ("mqsim-e/read-qd32", e, READS, 5_000_000),
        ("mqsim-e/mixed-qd16", e, MIXED, 4_000_000),
        ("mqsim-default/read-qd32", default, READS, 3_000_000),
    ];
    for (name, target, job, requests) in alone {
        if wanted(name) && !interrupted() {
            done(work::requests(name, scale, target, job, requests)?)?;
        }
    }
    for (target, requests) in [(default, 3_000_000), (full, 2_000_000)] {
        let [age, mixed] = ["age", "mixed"].map(|what| format!("mqsim-default/{what}-{}", target.share));
        let of_70 = |name: &'static str| Some(name).filter(|&name| target.share == 70 && wanted(name));
        let [restore, read] = ["mqsim-default/restore", "mqsim-default/read-aged-70"].map(of_70);
        if (wanted(&age) || wanted(&mixed) || restore.is_some() || read.is_some()) && !interrupted() {
            let names = Names { age: &age, run: &mixed, restore, read };
            for line in work::aged(scale, target, MIXED, requests, &names)? {
                if wanted(&line.name) {
                    done(line)?;
                }
            }
        }
    }
    for (name, requests) in
        [("growth/1M", 1_000_000), ("growth/10M", 10_000_000), ("growth/100M", 100_000_000)]
    {
        if wanted(name) && !interrupted() {
            done(work::requests(name, scale, e, MIXED, requests)?)?;
        }
    }
    let last = [
        ("ttflash-256g/requests-64k", Form::OfPreset, "randread,bs=64k,iodepth=16", 500_000),
        ("rif-2t/errors-64k", Form::HoursOld, "randread,bs=64k,iodepth=256", 3_000_000),
        ("rif-2t/no-errors-64k", Form::NoErrors, "randread,bs=64k,iodepth=256", 3_000_000),
        ("cnex-westlake/read-page", Form::Page, READS, 3_000_000),
        ("cnex-westlake/read-pblk", Form::Pblk, READS, 3_000_000),
        ("cnex-westlake/read-rail", Form::Rail, READS, 3_000_000),
        ("cnex-westlake/mixed-page", Form::Page, MIXED, 4_000_000),
        ("cnex-westlake/mixed-pblk", Form::Pblk, MIXED, 4_000_000),
        ("cnex-westlake/mixed-rail", Form::Rail, MIXED, 4_000_000),
    ];
    for (name, form, job, requests) in last {
        if wanted(name) && !interrupted() {
            let device = name.split_once('/').map_or(name, |(device, _)| device);
            done(work::requests(name, scale, Target { device, form, ..e }, job, requests)?)?;
        }
    }
    if interrupted() {
        return Err(CliError::Failed("interrupted".into()));
    }
    if args.json { Report::print(&lines) } else { Ok(()) }
}

/// The benchmark that is only repeated if the user names it.
const LONGEST: &str = "growth/100M";

/// The job of the mixed benchmarks.
const MIXED: &str = "randrw,bs=4k,rwmixread=70,iodepth=16";

const WIDTHS: [usize; 10] = [26, 9, 9, 8, 8, 8, 9, 7, 6, 16];

fn header() -> String {
    let head = [
        "benchmark",
        "req/CPU-s",
        "ev/CPU-s",
        "ns/req",
        "CPU s",
        "B/unit",
        "pools MB",
        "faults",
        "WAF",
        "digest",
    ];
    grid(head.map(String::from))
}

fn row(line: &Line) -> String {
    let of = |value: Option<f64>, text: fn(f64) -> String| value.map_or("-".to_string(), text);
    let speed = line.requests_per_cpu_second.or(line.programs_per_cpu_second);
    grid([
        line.name.clone(),
        of(speed, rate),
        of(line.events_per_cpu_second, rate),
        of(line.ns_per_request, |v| grouped(v as u64)),
        format!("{:.2}", line.cpu_seconds),
        of(line.bytes_per_mapping_unit, |v| format!("{v:.1}")),
        of(line.pool_bytes.map(|b| b as f64), |v| format!("{:.2}", v / 1e6)),
        of(line.page_faults.map(|n| n as f64), |v| grouped(v as u64)),
        of(line.waf, |v| format!("{v:.2}")),
        line.digest.clone(),
    ])
}

fn grid(cells: [String; 10]) -> String {
    let mut grid = Grid::with_widths(&WIDTHS);
    grid.row(cells);
    grid.render()
}
