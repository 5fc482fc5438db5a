//! `tailcut trace`: measures, converts or cuts traces.

use crate::args::{Addresses, ConvertArgs, TraceArgs, TraceCommand};
use crate::error::CliError;
use crate::output::may_write;
use crate::run::counts_text;
use crate::terminal::{Terminal, catch_interrupts, print, print_json};
use std::fmt::Write;
use std::path::Path;
use tailcut_report::text::{grouped, percent, wrapped};
use tailcut_units::Span;
use tailcut_units::quantity::{human_bytes, human_time};
use tailcut_workload::trace::{Remap, TraceCounts, TraceFile, TraceInfo, TraceOptions, convert, info};

/// Measure, convert or cut a trace.
pub fn trace(what: &TraceCommand) -> Result<(), CliError> {
    match what {
        TraceCommand::Info { file, json, trace } => {
            let file = trace_file(file, &trace.options())?;
            let measured = info(file.clone(), &trace.options())?;
            warn(&measured.counts);
            if *json {
                return print_json(&measured);
            }
            print(&wrapped(&info_text(&file.name(), &measured, trace), NAME))
        }
        TraceCommand::Convert(args) => write_compact(args),
        TraceCommand::Cut(args) => {
            let t = &args.trace;
            if t.from.is_none() && t.to.is_none() && t.limit.is_none() && t.volume.is_none() {
                let text = "cut needs a part: --from and --to (times of the trace), --limit or --volume";
                return Err(CliError::Input(text.into()));
            }
            write_compact(args)
        }
    }
}

/// A trace file, or `-` for standard input.
fn trace_file(path: &Path, options: &TraceOptions) -> Result<TraceFile, CliError> {
    Ok(if path == Path::new("-") { TraceFile::standard_input(options)? } else { TraceFile::from(path) })
}

/// Print the warnings about a trace.
fn warn(counts: &TraceCounts) {
    let terminal = Terminal::new(false);
    counts.warnings.iter().for_each(|text| terminal.warn(text));
}

fn write_compact(args: &ConvertArgs) -> Result<(), CliError> {
    let mut options = args.trace.options();
    match args.remap {
        Some(Addresses::Modulo) => {
            let text = "--remap modulo folds addresses onto a drive, and this command has no drive; use it with `run`";
            return Err(CliError::Input(text.into()));
        }
        Some(Addresses::Dense) => options.remap = Remap::Dense,
        None => {}
    }
    let to = args.output.display();
    may_write(&args.output, args.force)?;
    let file = trace_file(&args.file, &options)?;
    let from = file.name();
    // From here on an interrupt must remove the incomplete file.
    catch_interrupts();
    let done = convert(file, &args.output, &options)?;
    warn(&done.counts);
    print(&format!(
        "{from} ({}) -> {to}: {} requests over {}, {}\n{}\n",
        done.format,
        grouped(done.requests),
        human_time(Span(done.span_ns)),
        human_bytes(done.bytes),
        counts_text(&done.counts),
    ))
}

/// The width of the names of the lines.
const NAME: usize = 18;

fn info_text(file: &str, i: &TraceInfo, args: &TraceArgs) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<NAME$}{value}");
    };
    line("file", file.to_string());
    let compressed = i.compression.map(|c| format!(", {c}")).unwrap_or_default();
    line("format", format!("{}{compressed}", i.format));
    if let Some(columns) = &args.options().columns {
        line("columns", columns.to_string());
    }
    line("time unit", format!("{} ({})", i.time_unit.name(), i.time_unit_from));
    if !i.note.is_empty() {
        line("note", i.note.to_string());
    }
    line("requests", grouped(i.requests));
    let others = [(i.trims, "trims"), (i.flushes, "flushes")];
    let others = others.iter().filter(|o| o.0 > 0).map(|(n, what)| format!(", {} {what}", grouped(*n)));
    line(
        "reads, writes",
        format!("{}, {}{}", grouped(i.reads), grouped(i.writes), others.collect::<String>()),
    );
    line("read share", percent(i.read_fraction, 1.0));
    line("mean size", format!("{:.1} KiB", i.mean_bytes / 1024.0));
    let about = if i.footprint_exact { "" } else { "about " };
    let (pages, addresses) = (human_bytes(i.footprint_bytes), human_bytes(i.address_bytes));
    line("footprint", format!("{about}{pages} in distinct 4 KiB pages, over {addresses} of addresses"));
    line("moved", format!("{} read, {} written", human_bytes(i.read_bytes), human_bytes(i.write_bytes)));
    line("span", format!("{:.3} s", i.span_ns as f64 / 1e9));
    if let Some(step) = i.clock_step_ns {
        let step = human_time(Span(step));
        line("clock step", format!("{step}, {:.1} requests at each time that occurs", i.requests_per_time));
    }
    line("volumes", grouped(i.devices));
    let ratio = |value: Option<f64>| value.map_or("-".to_string(), |v| format!("{v:.2}"));
    line(
        "burstiness",
        format!("{} variation of the gaps between arrivals (1: random)", ratio(i.interarrival_cv)),
    );
    line("", format!("{} peak to mean of 100 ms intervals", ratio(i.peak_to_mean_100ms)));
    line("", format!("{} dispersion of 100 ms intervals (1: random)", ratio(i.dispersion_100ms)));
    line("reordered", grouped(i.reordered));
    line("counts", counts_text(&i.counts));
    let all = (i.reads + i.writes).max(1) as f64;
    for s in &i.sizes {
        let share = percent((s.reads + s.writes) as f64, all);
        let text = format!("{share:>7}  {} reads, {} writes", grouped(s.reads), grouped(s.writes));
        line(&format!("up to {}", human_bytes(s.up_to_bytes)), text);
    }
    out
}
