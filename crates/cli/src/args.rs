//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use tailcut_sim::PastKind;
use tailcut_sim::timeline::Window;
use tailcut_units::Span;
use tailcut_units::quantity::{parse_fraction, parse_time};
use tailcut_workload::trace::{DeviceRule, Remap, TimeUnit, TraceOptions};
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
    /// Say what the slowest requests of a run waited for
    Explain(ExplainArgs),
    /// List what is built in, or print a resolved configuration
    #[command(subcommand)]
    Show(ShowCommand),
    /// Look at block traces, convert them, cut them
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Run a paper's figure again and print published beside measured
    Reproduce(ReproduceArgs),
    /// Run the benchmarks
    Bench(BenchArgs),
    /// The tour: about ten seconds, no files needed
    Demo(DemoArgs),
    /// Print the script with which a shell completes commands and options
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each command to a folder
    Man {
        /// The folder, which is made if it is not there
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Device preset (see `tailcut show devices`) or a device file ending in .toml
    pub device: String,
    /// Schemes to compare, separated by commas; `A+B` lays both over the device
    #[arg(long, value_delimiter = ',', default_value = "baseline")]
    pub scheme: Vec<String>,
    /// A trace file, a fio job file, `-` for either through standard input, a workload
    /// preset, or an inline job such as
    /// `randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=1000000`
    #[arg(long, short, default_value = "mixed-70-30-qd16")]
    pub workload: String,
    #[command(flatten)]
    pub layers: LayerArgs,
    /// Seed of every random stream
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Run each scheme so often, with seeds that follow one another
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Runs at a time; one a processor by default
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// The drive's past: none, sequential, steady or scattered; by the workload and age.free if not given
    #[arg(long, value_name = "PAST")]
    pub precondition: Option<PastKind>,
    /// Keep the aged drive in this file: made if it is not there, an error if it does not fit
    #[arg(long, value_name = "FILE", conflicts_with = "no_cache")]
    pub snapshot: Option<PathBuf>,
    /// Neither look for aged drives in the cache folder nor keep them there
    #[arg(long)]
    pub no_cache: bool,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub trace: TraceArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Configuration")]
pub struct LayerArgs {
    /// Lay a TOML file over the device and scheme; may be repeated
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// Set one key, e.g. `--set policy.schedule=fifo`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
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
    /// Explain so many of the slowest reads and writes one by one
    #[arg(long, value_name = "N")]
    pub list_slowest: Option<usize>,
    /// Also write every request with its account to requests.parquet
    #[arg(long, requires = "out")]
    pub requests_parquet: bool,
    /// Also write figures over time to series.parquet, in intervals of this length
    #[arg(long, requires = "out", value_name = "LENGTH", num_args = 0..=1,
          default_missing_value = "10ms", value_parser = length_ns)]
    pub series_parquet: Option<u64>,
    /// Also write what every die and channel did to timeline.pftrace, for ui.perfetto.dev:
    /// the first 50ms of the measurement, a length (`100ms`), or from some time on (`2s+100ms`)
    #[arg(long, requires = "out", value_name = "WINDOW", num_args = 0..=1, require_equals = true,
          default_missing_value = "50ms")]
    pub timeline: Option<Window>,
}

/// How a trace is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traces")]
pub struct TraceArgs {
    /// Format of the trace; found by content if not given
    #[arg(long)]
    pub format: Option<String>,
    /// Unit of the trace's time column: ns, 100ns, us, ms or s
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<TimeUnit>,
    /// Divide arrival times by this: 10 is ten times the rate
    #[arg(long, value_name = "F")]
    pub rate_scale: Option<f64>,
    /// Multiply sizes by this
    #[arg(long, value_name = "F")]
    pub size_scale: Option<f64>,
    /// Only the first so many requests (of each lap)
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Only requests from this time of the trace on, which becomes its start
    #[arg(long, value_name = "TIME", value_parser = time_ns)]
    pub from: Option<u64>,
    /// Only requests before this time of the trace
    #[arg(long, value_name = "TIME", value_parser = time_ns)]
    pub to: Option<u64>,
    /// Only this device (volume, address space) of the trace
    #[arg(long, value_name = "NUMBER")]
    pub volume: Option<u32>,
    /// Sort in requests that stand this much too late in the file
    #[arg(long, value_name = "TIME", value_parser = time_ns)]
    pub sort_window: Option<u64>,
    /// Shorten times between requests that are longer than this to it, and take out jumps
    /// back of the clock beyond it
    #[arg(long, value_name = "TIME", value_parser = length_ns)]
    pub skip_gaps: Option<u64>,
}

/// How a trace is laid on a drive and issued.
#[derive(Debug, Args)]
#[command(next_help_heading = "Replay of traces")]
pub struct ReplayArgs {
    /// Play the trace so many times, addresses shifted from lap to lap
    #[arg(long = "loop", value_name = "N")]
    pub laps: Option<u32>,
    /// Ignore timestamps and keep so many requests outstanding
    #[arg(long, value_name = "QD", value_parser = clap::value_parser!(u32).range(1..))]
    pub closed_loop: Option<u32>,
    /// How several devices of a trace share the drive
    #[arg(long, value_enum)]
    pub volumes: Option<Volumes>,
    /// Where the pages go that a trace touches
    #[arg(long, value_enum)]
    pub remap: Option<Addresses>,
    /// Replay the first so long of the run without measuring it
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub warm_up: Option<Span>,
    /// Replay what arrives before this time of the trace without measuring it
    #[arg(long, value_name = "TIME", value_parser = length, conflicts_with = "warm_up")]
    pub measure_from: Option<Span>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Addresses {
    /// To their own address, modulo the size of the filled part of the drive
    Modulo,
    /// Close together, in order of volume and address, so that no two meet
    Dense,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Volumes {
    /// One behind another, in equal parts
    Slices,
    /// All on the same addresses
    Overlay,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Folder of a run (`tailcut run --out`)
    pub dir: PathBuf,
    /// Requests above this percentile
    #[arg(long, default_value_t = 99.99)]
    pub above: f64,
    /// How many of the slowest to show one by one
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub top: usize,
    /// Only this scheme
    #[arg(long)]
    pub scheme: Option<String>,
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
        /// The whole manual page
        #[arg(long)]
        markdown: bool,
    },
    /// Configuration keys: type, unit, range, default, what each does, who reads it
    Keys {
        /// A part of the key, or with `*` or `?` the whole key: `gc`, `suspend.*`
        pattern: Option<String>,
        /// The whole page of the reference
        #[arg(long, conflicts_with_all = ["json", "pattern"])]
        markdown: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// The resolved configuration: each value, the layer that gave it, and its source
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
    /// How wide RAIN's stripes may be for rotating collection to keep up (FAST'17 Appendix A)
    RainBound(RainBoundArgs),
}

#[derive(Debug, Args)]
pub struct RainBoundArgs {
    /// Device preset or a device file ending in .toml
    pub device: String,
    /// Scheme or `A+B`
    #[arg(long)]
    pub scheme: Vec<String>,
    /// Writes of the whole drive a day; without it, full speed
    #[arg(long, value_name = "X", value_parser = positive)]
    pub dwpd: Option<f64>,
    /// How long a day of writing is
    #[arg(long, value_name = "TIME", default_value = "8h", value_parser = length)]
    pub day: Span,
    /// Share of a collected block that is valid
    #[arg(long, value_name = "SHARE", default_value = "25%", value_parser = share)]
    pub valid: f64,
    /// Count the time of erases too
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
    /// Measure a trace: requests, mix, footprint, burstiness, sizes
    Info {
        /// Trace file; .gz and .zst are read in place
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
    /// Trace file; .gz and .zst are read in place
    pub file: PathBuf,
    /// The new file
    pub output: PathBuf,
    /// Replace the new file if it is there
    #[arg(long)]
    pub force: bool,
    /// Where the pages go that the trace touches: `dense` numbers those of each volume
    /// without holes; `modulo` needs a drive and is for `run`
    #[arg(long, value_enum)]
    pub remap: Option<Addresses>,
    #[command(flatten)]
    pub trace: TraceArgs,
}

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Experiments (see --list), papers, or experiment files ending in .toml; all that
    /// papers published if none is given
    pub id: Vec<String>,
    /// List the experiments that are built in
    #[arg(long, conflicts_with = "id")]
    pub list: bool,
    /// Quick sizes: seconds each; fewer checks are judged
    #[arg(long)]
    pub quick: bool,
    /// The folder of real traces
    #[arg(long, value_name = "DIR", env = "TAILCUT_TRACES")]
    pub traces: Option<PathBuf>,
    /// Write the sections of what ran to this Markdown file, keeping its other sections, and
    /// their pictures to `figures` beside it
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print the results as JSON on standard output, the tables on standard error
    #[arg(long)]
    pub json: bool,
    /// Exit with 1 if anything is out of band
    #[arg(long)]
    pub strict: bool,
    /// Runs at a time; one a processor by default
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Neither look for aged drives in the cache folder nor keep them there
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Print one JSON object with all results on standard output
    #[arg(long)]
    pub json: bool,
    /// Only benchmarks whose name starts with this; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Every benchmark at a tiny size: does it still run?
    #[arg(long)]
    pub tiny: bool,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Requests for each scheme
    #[arg(long, default_value_t = 1_500_000, hide = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: u64,
}

/// A length of time, not nothing; hours too.
fn length(text: &str) -> Result<Span, String> {
    if let Some(hours) = text.trim().strip_suffix('h') {
        let hours: f64 = hours.trim().parse().map_err(|_| format!("`{text}` is no time, such as 8h"))?;
        return match (hours * 3.6e12) as u64 {
            0 => Err("a day is longer than 0h".to_string()),
            ns => Ok(Span(ns)),
        };
    }
    length_ns(text).map(Span)
}

fn positive(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err("it is a number above 0".to_string()) }
}

fn share(text: &str) -> Result<f64, String> {
    let value = parse_fraction(text).map_err(|e| e.to_string())?;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err("it is 0% to 100%".to_string()) }
}

fn time_ns(text: &str) -> Result<u64, String> {
    parse_time(text).map(|span| span.0).map_err(|e| e.to_string())
}

/// A length of time in ns, not nothing.
fn length_ns(text: &str) -> Result<u64, String> {
    match time_ns(text)? {
        0 => Err("an interval is longer than 0ns".to_string()),
        ns => Ok(ns),
    }
}

impl TraceArgs {
    /// As the trace crate wants it.
    pub fn options(&self) -> TraceOptions {
        let default = TraceOptions::default();
        TraceOptions {
            format: self.format.clone(),
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

    fn given(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            (self.format.is_some(), "--format"),
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
    /// How a trace would be replayed.
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
        TraceReplay { options, depth: r.closed_loop, warm_up, given }
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
