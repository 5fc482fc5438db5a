//! The command line.

mod ldpc;
pub mod serve;

pub use ldpc::{CurveArgs, DecoderName, LdpcCommand, PredictArgs, ScheduleName, TableArgs};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::io::Read;
use std::path::PathBuf;
use tailcut_config::{ConfigError, Resolved, resolve_with_faults};
use tailcut_core::nand::faults::config::FaultConfig;
use tailcut_report::compare::Limit;
use tailcut_report::targets::Target;
use tailcut_sim::sweep::Axis;
use tailcut_sim::sweep::design::MOST;
use tailcut_sim::timeline::Window;
use tailcut_sim::{Layers, PastKind};
use tailcut_units::quantity::{parse_fraction, parse_time};
use tailcut_units::{HostOp, Span};
use tailcut_workload::trace::{Columns, Delimiter, DeviceRule, Remap, TimeUnit, TraceError, TraceOptions};
use tailcut_workload::{TraceReplay, WarmUp};

/// Where the latency tail of an SSD comes from.
#[derive(Debug, Parser)]
#[command(name = "tailcut", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a workload on a modelled drive, with one scheme or several to compare
    Run(Box<RunArgs>),
    /// Explain what the slowest requests of a run waited for
    Explain(ExplainArgs),
    /// Compare two runs: differences with their confidence intervals, the causes that moved, and the
    /// configuration keys that differ
    Compare(CompareArgs),
    /// Run every point of a design on all cores: all combinations of the values of some axes, or random draws from them
    Sweep(SweepArgs),
    /// Find the drives and schemes that meet a target on a workload, and what each costs
    Advise(AdviseArgs),
    /// Make a page of figures and tables from the folders of runs, or a single figure or table
    Report(ReportArgs),
    /// List built-in devices, schemes and workloads, policies and keys, or print a configuration
    #[command(subcommand)]
    Show(ShowCommand),
    /// Measure block traces, convert them or cut them
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Run the experiments of papers and print measured values next to published ones
    Reproduce(ReproduceArgs),
    /// Age blocks until they no longer meet their error requirement, under each erase scheme
    Lifetime(LifetimeArgs),
    /// Measure the error-correcting code of a page: what it corrects, and what that costs
    #[command(subcommand)]
    Ldpc(LdpcCommand),
    /// Serve a modelled drive as a block device, with real data and in real time
    Serve(Box<serve::ServeArgs>),
    /// Check the store of a served drive: every record and its data, the invariants of the controller, and every read
    Check(serve::CheckArgs),
    /// Run the benchmarks
    Bench(BenchArgs),
    /// Run a demonstration: about ten seconds, no files needed
    Demo(DemoArgs),
    /// Print a script with which a shell completes commands and options
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each command to a folder
    Man {
        /// The folder, which is created if missing
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Device preset (see `tailcut show devices`) or a device file ending in .toml
    #[arg(default_value = "", hide_default_value = true)]
    pub device: String,
    /// Replay the log of a served drive (`tailcut serve --log`) with the same configuration: the same commands at the
    /// same times. With --scheme or --set, the commands run on a changed drive
    #[arg(long = "replay", value_name = "LOG", conflicts_with_all = ["device", "workload", "section", "seed", "precondition", "runs"])]
    pub replay_log: Option<PathBuf>,
    /// The device that a log names.
    #[arg(skip)]
    pub served: Option<String>,
    /// Schemes to compare, separated by commas; `A+B` applies both to the device
    #[arg(long, value_delimiter = ',', default_value = "baseline")]
    pub scheme: Vec<String>,
    /// A trace file, a fio job file, `-` for either on standard input, a workload preset, an
    /// inline job such as `randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=1000000`, or a
    /// line such as `fio --name=a --rw=randread`. Given again, with further trace files: they follow
    /// each other as one trace
    #[arg(long, short, default_value = "mixed-70-30-qd16")]
    pub workload: Vec<String>,
    /// Run only this section of a job file, with its [global] sections; may be repeated, and may hold
    /// `*` and `?`
    #[arg(long, value_name = "NAME")]
    pub section: Vec<String>,
    #[command(flatten)]
    pub layers: LayerArgs,
    /// Seed of every random stream
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of runs of each scheme, with consecutive seeds
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>(1, 1000))]
    pub runs: u32,
    /// Start all --runs from the same aged drive, that of the first seed: they then differ only in their requests, not
    /// in bad blocks or ageing
    #[arg(long)]
    pub one_drive: bool,
    /// Number of runs at the same time; by default one per processor
    #[arg(long, value_parser = whole::<u32>(1, 1024))]
    pub threads: Option<u32>,
    /// Preconditioning of the drive: none, sequential, steady or scattered; by default the workload and age.free decide
    #[arg(long, value_name = "PAST")]
    pub precondition: Option<PastKind>,
    /// Store the aged drive in this file, or read it from there. A file with another drive is an error
    #[arg(long, value_name = "FILE", conflicts_with = "no_cache")]
    pub snapshot: Option<PathBuf>,
    /// Neither read aged drives from the cache folder nor store them there
    #[arg(long)]
    pub no_cache: bool,
    /// A limit for a latency, e.g. `read.p99.9=1ms` or `write.mean=50us`; may be repeated. The exit code is 3 if a
    /// scheme misses one by its confidence interval, and 4 if none is missed but one is undecided
    #[arg(long, value_name = "TARGET")]
    pub target: Vec<Target>,
    /// Also search for the highest arrival rate at which each scheme meets all targets, to within 5 %. This takes about
    /// ten runs of each scheme, at multiples of the workload's rate
    #[arg(long, requires = "target")]
    pub highest_rate: bool,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub trace: TraceArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Configuration")]
pub struct LayerArgs {
    /// Apply a TOML file to the device and scheme; may be repeated
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// Set one key, e.g. `--set policy.schedule=fifo`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Let a part of the flash fail, e.g. `--fault die=3@2s` or `--fault erase=3.0.17,cycle=100`; may
    /// be repeated (see docs/faults.md)
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<FaultConfig>,
}

impl RunArgs {
    /// The device in output.
    pub fn device_name(&self) -> &str {
        self.served.as_deref().unwrap_or(&self.device)
    }
}

impl LayerArgs {
    /// These layers on a device.
    pub fn on(&self, device: &str) -> Layers {
        let LayerArgs { config, set, fault } = self.clone();
        Layers { device: device.to_string(), config, set, fault }
    }

    /// The configuration of a device and schemes under these layers.
    pub fn resolve(&self, device: &str, schemes: &[impl AsRef<str>]) -> Result<Resolved, ConfigError> {
        resolve_with_faults(device, schemes, &self.config, &self.set, &self.fault)
    }
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write summary.json, config.toml, latency.hlog and slowest.jsonl to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the run that the output folder holds
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print the summary as JSON on standard output, the tables on standard error
    #[arg(long)]
    pub json: bool,
    /// Write a page of figures and tables to this file, as `tailcut report` does
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Explain this many of the slowest reads and writes one by one
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0, usize::MAX))]
    pub list_slowest: Option<usize>,
    /// Also write every request with its account to requests.parquet
    #[arg(long, requires = "out")]
    pub requests_parquet: bool,
    /// Also write figures over time to series.parquet, in intervals of this length
    #[arg(long, requires = "out", value_name = "LENGTH", num_args = 0..=1,
          default_missing_value = "10ms", value_parser = length_ns)]
    pub series_parquet: Option<u64>,
    /// Also write what every die and channel did to timeline.pftrace, for ui.perfetto.dev: the
    /// first 50ms of the measurement, another length (`100ms`), or a start and a length
    /// (`2s+100ms`)
    #[arg(long, requires = "out", value_name = "WINDOW", num_args = 0..=1, require_equals = true,
          default_missing_value = "50ms")]
    pub timeline: Option<Window>,
}

/// How a trace is read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Traces")]
pub struct TraceArgs {
    /// Format of the trace; by default detected from the content
    #[arg(long)]
    pub format: Option<String>,
    /// The columns of any other text, e.g. `time=1:us,op=3,offset=4:sectors,size=5,volume=2`, or a file
    /// that holds such a description (see docs/guide.md)
    #[arg(long, value_name = "COLUMNS", conflicts_with = "format", value_parser = columns)]
    pub columns: Option<Columns>,
    /// What separates the columns: `,` (if not given), `;`, `|`, `:`, tab or blanks
    #[arg(long, value_name = "CHARACTER", requires = "columns")]
    pub delimiter: Option<Delimiter>,
    /// For traces with a coarse clock: the length of a clock step, over which the requests of the step are spread
    /// evenly
    #[arg(long, value_name = "STEP", value_parser = length_ns)]
    pub spread: Option<u64>,
    /// Unit of the trace's time column: ns, 100ns, us, ms or s
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<TimeUnit>,
    /// Divide arrival times by this factor: 10 gives ten times the rate
    #[arg(long, value_name = "F", value_parser = positive)]
    pub rate_scale: Option<f64>,
    /// Multiply sizes by this factor
    #[arg(long, value_name = "F", value_parser = positive)]
    pub size_scale: Option<f64>,
    /// Use only the first N requests (of each lap)
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, u64::MAX))]
    pub limit: Option<u64>,
    /// Use only requests from this time of the trace on; the replay starts there
    #[arg(long, value_name = "TIME", value_parser = time_ns)]
    pub from: Option<u64>,
    /// Use only requests before this time of the trace
    #[arg(long, value_name = "TIME", value_parser = time_ns)]
    pub to: Option<u64>,
    /// Use only this device (volume, address space) of the trace
    #[arg(long, value_name = "NUMBER")]
    pub volume: Option<u32>,
    /// Sort requests that are out of order by up to this time
    #[arg(long, value_name = "TIME", value_parser = time_ns)]
    pub sort_window: Option<u64>,
    /// Shorten gaps between requests to at most this length, and remove backward jumps of the clock that are longer
    #[arg(long, value_name = "TIME", value_parser = length_ns)]
    pub skip_gaps: Option<u64>,
}

/// How a trace is laid on a drive and replayed.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Replay of traces")]
pub struct ReplayArgs {
    /// Replay the trace this many times, with addresses shifted from lap to lap
    #[arg(long = "loop", value_name = "N", value_parser = whole::<u32>(1, u32::MAX))]
    pub laps: Option<u32>,
    /// Ignore timestamps and keep this many requests outstanding
    #[arg(long, value_name = "QD", value_parser = whole::<u32>(1, u32::MAX), conflicts_with = "rate_scale")]
    pub closed_loop: Option<u32>,
    /// How several devices of a trace share the drive
    #[arg(long, value_enum)]
    pub volumes: Option<Volumes>,
    /// How the pages that a trace touches are placed on the drive
    #[arg(long, value_enum)]
    pub remap: Option<Addresses>,
    /// Do not measure requests that arrive before this time of the run
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub warm_up: Option<Span>,
    /// Do not measure requests that arrive before this time of the trace
    #[arg(long, value_name = "TIME", value_parser = length, conflicts_with = "warm_up")]
    pub measure_from: Option<Span>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Addresses {
    /// At their own address modulo the size of the filled part of the drive
    Modulo,
    /// Without gaps, in order of volume and address, so that no two pages share an address
    Dense,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Volumes {
    /// One after another, in equal parts
    Slices,
    /// All at the same addresses
    Overlay,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Folder of a run (`tailcut run --out`), or its summary; `:SCHEME` behind it names one scheme
    pub dir: PathBuf,
    /// Requests above this percentile
    #[arg(long, default_value = "99.99", value_parser = percentile)]
    pub above: f64,
    /// Number of slowest requests to show one by one
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub top: usize,
    /// Only this scheme
    #[arg(long)]
    pub scheme: Option<String>,
    /// Only this job of a workload with several, by its name or its number (from 1)
    #[arg(long, value_name = "JOB")]
    pub job: Option<String>,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The folder of a run, or its summary.json; with several schemes in it, one of them after a colon:
    /// `run1:baseline`
    pub a: String,
    /// The run to compare with it, given in the same way
    pub b: String,
    /// The scheme of both runs, unless a colon names one
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// The largest allowed regression from A to B, e.g. `read.p99.9=5%`, `read.iops=2%` or `waf=1%`; may be repeated.
    /// The exit code is 3 if B is worse by more than that, by the confidence interval of the difference, and 4 if that
    /// is undecided
    #[arg(long, value_name = "LIMIT")]
    pub fail_above: Vec<Limit>,
    /// Print the comparison as JSON on standard output, the tables on standard error
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The file of a design ending in .toml; or with --axis a device preset or device file
    pub target: String,
    /// What varies: `scheme`, `device`, `seed`, `workload.OPTION` or a configuration key, with its values, e.g.
    /// `ftl.over_provisioning=10%,20%`; may be repeated
    #[arg(long, value_name = "KEY=A,B,…", value_parser = Axis::parse)]
    pub axis: Vec<Axis>,
    /// The folder of the sweep. The same command resumes a sweep that was stopped
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The workload: a trace file, a fio job file, a workload preset or an inline job [default: mixed-70-30-qd16]
    #[arg(long, short, requires = "axis")]
    pub workload: Option<String>,
    /// Draw this many points at random, independently on each axis. An axis may then be a range: `10%..30%` or
    /// `log:1000..100000`
    #[arg(long, value_name = "N", requires = "axis", value_parser = whole::<u32>(1, MOST as u32))]
    pub random: Option<u32>,
    /// Apply a TOML file to every device; may be repeated
    #[arg(long, value_name = "FILE", requires = "axis")]
    pub config: Vec<PathBuf>,
    /// Set one key at every point; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "axis")]
    pub set: Vec<String>,
    /// Seed of every point, and of random draws [default: 1]
    #[arg(long, requires = "axis")]
    pub seed: Option<u64>,
    /// Runs of each point, with consecutive seeds [default: 1]
    #[arg(long, requires = "axis", value_parser = whole::<u32>(1, 1000))]
    pub runs: Option<u32>,
    /// Preconditioning of the drives: none, sequential, steady or scattered; by default the workload and age.free
    /// decide
    #[arg(long, value_name = "PAST", requires = "axis")]
    pub precondition: Option<PastKind>,
    /// Number of points run at the same time; by default one per processor
    #[arg(long, value_parser = whole::<u32>(1, 1024))]
    pub threads: Option<u32>,
    /// Neither read aged drives from the cache folder nor store them there: they are kept in the folder of the sweep
    /// until it ends
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct AdviseArgs {
    /// The workload: a trace file, a fio job file, a workload preset or an inline job
    pub workload: String,
    /// A latency target, e.g. `read.p99.9=1ms`; may be repeated
    #[arg(long, value_name = "FIGURE=TIME", required = true)]
    pub target: Vec<Target>,
    /// The devices, separated by commas: presets, or device files ending in .toml
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "dc-tlc-gen4,dc-tlc-gen5,dc-qlc-gen4,client-tlc-gen3"
    )]
    pub devices: Vec<String>,
    /// The schemes to try on each, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "baseline")]
    pub schemes: Vec<String>,
    /// Apply a TOML file to every device; may be repeated
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// Set one key of every device; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Seed of every random stream
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of runs of each choice, with consecutive seeds; more runs leave fewer choices undecided
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>(1, 1000))]
    pub runs: u32,
    /// Preconditioning of the drives: none, sequential, steady or scattered; by default the workload decides
    #[arg(long, value_name = "PAST")]
    pub precondition: Option<PastKind>,
    /// Keep the runs as a sweep in this folder, for `tailcut report`; the same command resumes it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Neither read aged drives from the cache folder nor store them there
    #[arg(long)]
    pub no_cache: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folders of runs (`tailcut run --out`), or the folder of one sweep: response curves and Pareto fronts
    #[arg(required = true)]
    pub dir: Vec<PathBuf>,
    /// The file to write: by default `report.html` in the folder if there is one folder, and tables on standard output.
    /// Only a file of this command is replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// One figure at the width of a paper's column (241 pt) instead of the page: `-o` names a file that ends in .svg
    /// or .pdf
    #[arg(long, value_enum, requires = "output", group = "part")]
    pub figure: Option<FigureKind>,
    /// A table as CSV instead of the page: times in ns, with confidence intervals
    #[arg(long, value_enum, value_name = "TABLE", num_args = 0..=1, require_equals = true, group = "part",
          default_missing_value = "results")]
    pub csv: Option<TableKind>,
    /// A table as LaTeX (booktabs) instead of the page
    #[arg(long, value_enum, value_name = "TABLE", num_args = 0..=1, require_equals = true, group = "part",
          default_missing_value = "results")]
    pub latex: Option<TableKind>,
    /// The requests of a figure: read, write, trim or flush; by default the first kind that the run has
    #[arg(long, value_name = "KIND", requires = "figure", value_parser = host_op)]
    pub kind: Option<HostOp>,
    /// The scheme of the heat map; by default the first one
    #[arg(long, value_name = "SCHEME", requires = "figure")]
    pub scheme: Option<String>,
}

/// The figures that can be written alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FigureKind {
    /// The distribution of latencies
    Ccdf,
    /// The causes of the slowest requests
    Blame,
    /// Latencies over time
    Heat,
}

/// The tables that can be written alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableKind {
    /// Rates, latencies and write amplification
    Results,
    /// Mean time by cause
    Blame,
}

/// Parse a kind of request.
fn host_op(text: &str) -> Result<HostOp, String> {
    HostOp::named(text).ok_or_else(|| format!("`{text}` is none of read, write, trim and flush"))
}

#[derive(Debug, Subcommand)]
pub enum ShowCommand {
    /// Drives: capacity, geometry, timing
    Devices,
    /// Schemes and what they set
    Schemes,
    /// Workload presets
    Workloads,
    /// Policy families and their members
    Policies {
        /// Print the whole manual page
        #[arg(long)]
        markdown: bool,
    },
    /// Configuration keys: for each its purpose, type, unit, range, default and reader
    Keys {
        /// Part of a key, or a pattern with `*` or `?` for the whole key: `gc`, `suspend.*`
        pattern: Option<String>,
        /// Print the whole reference page
        #[arg(long, conflicts_with_all = ["json", "pattern"])]
        markdown: bool,
        /// Print a JSON Schema, from which editors complete and check device files
        #[arg(long, conflicts_with_all = ["json", "pattern", "markdown"])]
        schema: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// The resolved configuration: each value, the layer that set it, and its source
    Config {
        /// Device preset or a device file ending in .toml
        device: String,
        /// Scheme or `A+B`
        #[arg(long)]
        scheme: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        layers: LayerArgs,
    },
    /// The largest stripe width with which rotating collection keeps up with writes (FAST'17 Appendix A)
    RainBound(RainBoundArgs),
}

#[derive(Debug, Args)]
pub struct LifetimeArgs {
    /// Device preset or a device file ending in .toml
    pub device: String,
    /// Schemes to compare, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "ispe,i-ispe,dpes,aero-cons,aero")]
    pub scheme: Vec<String>,
    /// Raw bit errors per KiB, at the stated retention, at which a block's life ends; by default `erase.worn_errors` of
    /// the device
    #[arg(long, value_name = "BITS", value_parser = whole::<u32>(0, 8192))]
    pub requirement: Option<u32>,
    /// Run this workload on each scheme's drive until the drive is read-only, instead of ageing
    /// blocks alone
    #[arg(long, value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// With a workload: program/erase cycles that each simulated erase stands for. A lifetime then takes N times less,
    /// but the result differs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1, 10_000), requires = "workload")]
    pub cycles_per_erase: u32,
    /// With a workload: simulate 2 of every N + 1 program/erase cycles (one warm-up, one measured); apply the others as
    /// untimed overwrites like the workload's, which wear blocks but retire none. With 0, all cycles are measured
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0, 1_000), requires = "workload")]
    pub untimed_cycles: u32,
    /// With a workload: length of a stage in program/erase cycles, on average over the blocks; the table has a row for
    /// each stage
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = whole::<u32>(1, 1_000_000), requires = "workload")]
    pub stage: u32,
    /// Number of runs at the same time; by default one per processor
    #[arg(long, value_parser = whole::<u16>(1, 1024))]
    pub threads: Option<u16>,
    /// Seed of every random stream
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub layers: LayerArgs,
}

#[derive(Debug, Args)]
pub struct RainBoundArgs {
    /// Device preset or a device file ending in .toml
    pub device: String,
    /// Scheme or `A+B`
    #[arg(long)]
    pub scheme: Vec<String>,
    /// Drive writes per day; by default writes at full speed
    #[arg(long, value_name = "X", value_parser = positive)]
    pub dwpd: Option<f64>,
    /// Hours of each day in which the drive is written
    #[arg(long, value_name = "TIME", default_value = "8h", value_parser = length)]
    pub day: Span,
    /// Share of valid pages in a collected block
    #[arg(long, value_name = "SHARE", default_value = "25%", value_parser = share)]
    pub valid: f64,
    /// Include the time of erases
    #[arg(long)]
    pub erase: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub layers: LayerArgs,
}

#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Analyse a trace: requests, mix, footprint, burstiness, sizes
    Info {
        /// Trace file; .gz and .zst are read directly
        file: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        trace: TraceArgs,
    },
    /// Write a trace in the compact form, which replays at memory speed
    Convert(ConvertArgs),
    /// Write a part of a trace (--from, --to, --limit, --volume) in the compact form
    Cut(ConvertArgs),
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// Trace file; .gz and .zst are read directly
    pub file: PathBuf,
    /// The new file
    pub output: PathBuf,
    /// Replace the new file if it exists
    #[arg(long)]
    pub force: bool,
    /// How the pages that the trace touches are placed: `dense` numbers those of each volume without gaps; `modulo`
    /// needs a drive, so it is for `run` only
    #[arg(long, value_enum)]
    pub remap: Option<Addresses>,
    #[command(flatten)]
    pub trace: TraceArgs,
}

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Experiments (see --list), papers, or experiment files ending in .toml; by default all
    /// experiments with published values
    pub id: Vec<String>,
    /// List the built-in experiments
    #[arg(long, conflicts_with = "id")]
    pub list: bool,
    /// Quick sizes: seconds each; fewer checks are judged
    #[arg(long)]
    pub quick: bool,
    /// The folder of real traces
    #[arg(long, value_name = "DIR", env = "TAILCUT_TRACES")]
    pub traces: Option<PathBuf>,
    /// Write a summary to this Markdown file, the page of each experiment to a folder of its name next to it, and the
    /// figures to the folder `figures`. Pages of other experiments stay
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print the results as JSON on standard output, the tables on standard error
    #[arg(long)]
    pub json: bool,
    /// Exit with 1 if a result is out of band
    #[arg(long)]
    pub strict: bool,
    /// Number of runs at the same time; by default one per processor
    #[arg(long, value_parser = whole::<u32>(1, 1024))]
    pub threads: Option<u32>,
    /// Neither read aged drives from the cache folder nor store them there
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Print one JSON object with all results on standard output
    #[arg(long)]
    pub json: bool,
    /// Run only benchmarks whose name starts with this; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Run every benchmark at a tiny size, to test that it works
    #[arg(long)]
    pub tiny: bool,
    /// Run each benchmark this many times, each time in its own process and alternating between benchmarks, and print
    /// medians; by default 2 with --against. `growth/100M` runs only if --only names it
    #[arg(long, value_name = "TIMES", value_parser = whole::<u32>(1, 1000))]
    pub repeat: Option<u32>,
    /// Compare with another build of tailcut: run both in pairs, and print the ratio of their times
    #[arg(long, value_name = "PROGRAM")]
    pub against: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Requests for each scheme
    #[arg(long, default_value_t = 1_500_000, hide = true, value_parser = whole::<u64>(1, u64::MAX))]
    pub requests: u64,
    /// The page of figures; by default `tailcut-demo.html` in the current folder
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// Parse a length of time above 0, which may be in hours.
fn length(text: &str) -> Result<Span, String> {
    if let Some(hours) = text.trim().strip_suffix('h') {
        let hours: f64 = hours.trim().parse().map_err(|_| format!("`{text}` is not a time such as 8h"))?;
        return match (hours * 3.6e12) as u64 {
            0 => Err("the time must be longer than 0h".to_string()),
            ns => Ok(Span(ns)),
        };
    }
    length_ns(text).map(Span)
}

/// A parser of whole numbers in a range.
pub(crate) fn whole<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: Copy + std::str::FromStr + PartialOrd + std::fmt::Display + Send + Sync + 'static,
{
    move |text| {
        let value = text.parse::<T>().ok().filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| format!("it must be a whole number from {least} to {most}"))
    }
}

/// Parse a percentile, such as `99.9`, `p99.9` or `99.9%`.
fn percentile(text: &str) -> Result<f64, String> {
    let number = text.strip_prefix('p').unwrap_or(text).trim_end_matches('%').trim().parse().ok();
    let value = number.filter(|value| (0.0..100.0).contains(value));
    value.ok_or_else(|| "it must be a percentile from 0 to below 100, such as 99.9".to_string())
}

pub fn positive(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err("it must be a number above 0".to_string()) }
}

/// How fast the model's time may pass, against the clock.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

pub fn speed(text: &str) -> Result<f64, String> {
    let value = positive(text)?;
    if SPEEDS.contains(&value) { Ok(value) } else { Err("it must be 0.000001 to 1000000".to_string()) }
}

fn share(text: &str) -> Result<f64, String> {
    let value = parse_fraction(text).map_err(|e| e.to_string())?;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err("it must be 0% to 100%".to_string()) }
}

fn time_ns(text: &str) -> Result<u64, String> {
    parse_time(text).map(|span| span.0).map_err(|e| e.to_string())
}

/// Parse a description of columns, or read it from a file.
fn columns(text: &str) -> Result<Columns, String> {
    const FILE_MAX: u64 = 64 << 10;
    if text.contains('=') {
        return text.parse().map_err(|e: TraceError| e.to_string());
    }
    let fail = |e: std::io::Error| {
        format!("{text}: {e}; or describe columns, as in `time=1:us,op=3,offset=4,size=5`")
    };
    if !std::path::Path::new(text).is_file() {
        return Err(fail(std::io::ErrorKind::NotFound.into()));
    }
    let mut content = String::new();
    std::fs::File::open(text).and_then(|f| f.take(FILE_MAX).read_to_string(&mut content)).map_err(fail)?;
    content.parse().map_err(|e: TraceError| format!("{text}: {e}"))
}

/// Parse a length of time above 0, in ns.
fn length_ns(text: &str) -> Result<u64, String> {
    match time_ns(text)? {
        0 => Err("the time must be longer than 0ns".to_string()),
        ns => Ok(ns),
    }
}

impl TraceArgs {
    /// The options in the form of the trace reader.
    pub fn options(&self) -> TraceOptions {
        let default = TraceOptions::default();
        TraceOptions {
            format: self.format.clone(),
            columns: self.described_columns(),
            spread_ns: self.spread,
            time_unit: self.time_unit,
            rate_scale: self.rate_scale.unwrap_or(1.0),
            size_scale: self.size_scale.unwrap_or(1.0),
            limit: self.limit,
            start_ns: self.from.unwrap_or(0),
            end_ns: self.to,
            device: self.volume,
            sort_window_ns: self.sort_window.unwrap_or(default.sort_window_ns),
            skip_gaps_ns: self.skip_gaps,
            interrupt: crate::terminal::interrupt(),
            ..default
        }
    }

    /// The columns with their delimiter.
    fn described_columns(&self) -> Option<Columns> {
        let columns = self.columns.clone()?;
        Some(match &self.delimiter {
            Some(delimiter) => columns.delimited(*delimiter),
            None => columns,
        })
    }

    fn given(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            (self.format.is_some(), "--format"),
            (self.columns.is_some(), "--columns"),
            (self.spread.is_some(), "--spread"),
            (self.time_unit.is_some(), "--time-unit"),
            (self.rate_scale.is_some(), "--rate-scale"),
            (self.size_scale.is_some(), "--size-scale"),
            (self.limit.is_some(), "--limit"),
            (self.from.is_some(), "--from"),
            (self.to.is_some(), "--to"),
            (self.volume.is_some(), "--volume"),
            (self.sort_window.is_some(), "--sort-window"),
            (self.skip_gaps.is_some(), "--skip-gaps"),
        ];
        flags.into_iter().filter_map(|(given, name)| given.then_some(name))
    }
}

impl RunArgs {
    /// The options for the replay of a trace.
    pub fn replay(&self) -> TraceReplay {
        let r = &self.replay;
        let mut options = self.trace.options();
        options.loop_count = r.laps.unwrap_or(1);
        options.device_rule = match r.volumes {
            Some(Volumes::Overlay) => DeviceRule::Overlay,
            Some(Volumes::Slices) | None => DeviceRule::Slices,
        };
        options.remap = match r.remap {
            Some(Addresses::Dense) => Remap::Dense,
            Some(Addresses::Modulo) | None => Remap::Modulo,
        };
        let warm_up = match (r.warm_up, r.measure_from) {
            (Some(length), _) => WarmUp::For(length),
            (None, Some(time)) => WarmUp::Until(time),
            (None, None) => WarmUp::None,
        };
        let more = [
            (r.laps.is_some(), "--loop"),
            (r.closed_loop.is_some(), "--closed-loop"),
            (r.volumes.is_some(), "--volumes"),
            (r.remap.is_some(), "--remap"),
            (r.warm_up.is_some(), "--warm-up"),
            (r.measure_from.is_some(), "--measure-from"),
        ];
        let more = more.into_iter().filter_map(|(given, name)| given.then_some(name));
        let given = self.trace.given().chain(more).collect();
        TraceReplay { options, depth: r.closed_loop, warm_up, given, sections: self.section.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_bare_timeline_covers_the_default_window() {
        let cli = Cli::parse_from(["tailcut", "run", "--timeline", "tiny", "--out", "x"]);
        let Command::Run(args) = cli.command else { panic!("it is a run") };
        assert_eq!((args.device.as_str(), args.output.timeline), ("tiny", Some(Window::default())));
    }
}
