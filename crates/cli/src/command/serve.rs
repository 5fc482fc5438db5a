//! `tailcut serve`: serves a modelled drive as a block device.

mod control;
mod floor;
mod monitor;

use self::monitor::Monitor;
use crate::args::serve::ServeArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, catch_interrupts, interrupted};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tailcut_config::Resolved;
use tailcut_core::device::Until;
use tailcut_core::drive::Drive;
use tailcut_core::ftl::config::FtlKind;
use tailcut_core::medium::Bytes;
use tailcut_core::pblk::array::SECTOR;
use tailcut_live::store::folder::{self, Stored};
use tailcut_live::{Address, Control, Engine, Export, Listener, ServeOptions, Server};
use tailcut_live::{Keeper, Kept, Lateness, StoreHeader};
use tailcut_report::text::grouped;
use tailcut_report::{faults, tables};
use tailcut_sim::MODEL_VERSION;
use tailcut_units::quantity::{human_bytes, human_time};
use tailcut_units::{HostOp, Span};
use tailcut_workload::log::{LogError, LogHeader, LogWriter, PutSnapshot};

/// The fewest cores with which the server may spin.
const CORES_TO_SPIN: usize = 4;

pub fn serve(args: &ServeArgs) -> Result<(), CliError> {
    let terminal = Terminal::new(false);
    let (resolved, floor) = floor::lowered(args, args.layers.resolve(&args.device, &[&args.scheme])?)?;
    if let Some(floor) = floor {
        terminal.text(&floor)?;
    }
    let config = &resolved.config;
    let problem = |p| CliError::Input(format!("scheme `{}`: {p}", args.scheme));
    let bytes = <Drive>::host_bytes_of(config, args.seed).map_err(problem)?;
    let found = args.folder().map(folder::header).transpose()?.flatten();
    // Invalid addresses are reported before the drive is aged.
    let (folders, sockets): (Vec<&Address>, Vec<&Address>) =
        args.listen.iter().partition(|address| matches!(address, Address::Fuse(_)));
    if folders.len() > 1 {
        return Err(CliError::Input("--listen: one folder at most".into()));
    }
    let listeners: Result<Vec<Listener>, _> =
        sockets.iter().map(|address| Listener::bind(address, args.allow_remote)).collect();
    let listeners = listeners.map_err(|e| CliError::Input(format!("--listen: {e}")))?;
    let control = args.control.as_ref().map(Control::listen).transpose();
    let control = control.map_err(|e| CliError::Input(format!("--control: {e}")))?;
    catch_interrupts();
    let unit = match config.ftl.kind {
        FtlKind::Page => config.ftl.mapping_unit,
        FtlKind::Pblk => SECTOR,
    };
    let filled = if args.aged { (bytes as f64 * config.age.fill) as u64 / unit * unit } else { 0 };
    let begin = |past: Option<&Stored>| {
        args.log.as_deref().map(|path| begin_log(path, args, &resolved, (bytes, filled), past)).transpose()
    };
    if let Some(path) = args.log.as_ref().filter(|path| found.is_some() && path.symlink_metadata().is_ok()) {
        let exists = LogError::Exists { path: path.display().to_string() };
        return Err(CliError::Input(format!("--log: {exists}")));
    }
    // The log of a new drive is created before the drive is aged, so that an error is reported at once.
    let log = if found.is_none() { begin(None)? } else { None };
    let (drive, keeper) = drive(args, &resolved, filled, found.as_ref(), terminal)?;
    let log = if found.is_some() { begin(Some(&drive))? } else { log };
    for warning in drive.warnings() {
        terminal.warn(warning);
    }
    let unit = drive.dimensions().unit_bytes;
    let export = Export {
        name: "tailcut".to_string(),
        description: format!("{}, {}, modelled by Tailcut", args.device, args.scheme),
        bytes,
        preferred: unit as u32,
        longest: tailcut_live::nbd::PAYLOAD_MAX,
    };
    for listener in &listeners {
        terminal.text(&format!(
            "serves {} of {} at {}\n",
            human_bytes(bytes),
            args.device,
            listener.address()
        ))?;
    }
    if let Some(control) = &control {
        terminal
            .text(&format!("the live page, /summary.json and /metrics are at {}\n", control.address()))?;
    }
    let spin = std::thread::available_parallelism().is_ok_and(|n| n.get() >= CORES_TO_SPIN);
    let monitor = Monitor::new(&drive, log);
    let mut engine = Engine::new(drive);
    if let Some(keeper) = keeper {
        engine.kept_by(keeper);
    }
    let told = monitor.clone();
    engine.logged(Box::new(move |event| told.note(event)));
    let options = ServeOptions { export, speed: args.speed, spin };
    let mut server = Server::new(engine, listeners, options);
    let mounted = folders.first().map(|address| mount(address, bytes, &mut server)).transpose()?;
    terminal.text("Ctrl-C stops it\n")?;
    let stopped = AtomicBool::new(false);
    let ran = server.run(&|| stopped.load(Ordering::Relaxed) || interrupted(), &mut |server| {
        monitor.gauge(server.engine().drive());
        while let Some(asked) = control.as_ref().and_then(Control::next) {
            control::answer(asked, args, &monitor, server, &stopped);
        }
    });
    ran.map_err(|e| CliError::Failed(format!("the server stops: {e}")))?;
    if server.has_reached_the_end() {
        terminal.warn(
            "the drive has run for 146 years of its own time, the longest run: it is not served any more",
        );
    }
    drop(mounted);
    folders.iter().for_each(|address| unmount_for_good(address));
    let at = server.engine_mut().stop()?;
    terminal.text(&served_text(&server, &monitor, args))?;
    end_log(args, &monitor, at, terminal)
}

/// The drive to be served: a new one, or the drive of a store.
fn drive(
    args: &ServeArgs,
    resolved: &Resolved,
    filled: u64,
    found: Option<&StoreHeader>,
    terminal: Terminal,
) -> Result<(Stored, Option<Keeper>), CliError> {
    let (config, seed) = (&resolved.config, args.seed);
    let make = |medium: Bytes<Kept>| -> Result<Stored, CliError> {
        let problem = |p| CliError::Input(format!("scheme `{}`: {p}", args.scheme));
        let mut drive = Drive::with_medium(config, seed, (), medium).map_err(problem)?;
        if filled > 0 {
            age(&mut drive, filled, terminal)?;
        }
        Ok(drive)
    };
    let Some(path) = args.folder() else {
        return Ok((make(Bytes::over(Kept::Memory(Box::default())))?, None));
    };
    let of = (args.device.as_str(), args.scheme.as_str(), seed);
    let program = (env!("CARGO_PKG_VERSION"), MODEL_VERSION);
    let header = StoreHeader::new(program, of, filled, resolved.toml.clone());
    let Some(found) = found else {
        let (drive, keeper) = folder::create(path, &header, config, make)?;
        terminal.text(&format!("a new store in {}\n", path.display()))?;
        return Ok((drive, Some(keeper)));
    };
    found.serves(&header).map_err(|e| CliError::Input(format!("{}: {e}", path.display())))?;
    let opened = folder::open(path, config, seed)?;
    terminal.text(&format!(
        "the store in {}: {}\n",
        path.display(),
        match opened.stopped {
            true => "its server was stopped".to_string(),
            false => format!(
                "its server was killed; {} commands were simulated again, and nothing that was answered is lost",
                grouped(opened.replayed)
            ),
        }
    ))?;
    Ok((opened.drive, Some(opened.keeper)))
}

/// Mount the drive as a file in a folder.
#[cfg(target_os = "linux")]
fn mount(
    address: &Address,
    bytes: u64,
    server: &mut Server,
) -> Result<tailcut_live::fuse::Mounted, CliError> {
    let Address::Fuse(folder) = address else { unreachable!("the caller has seen a folder") };
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotConnected => {
            let folder = folder.display();
            CliError::Failed(format!("{address}: a server left it mounted: fusermount3 -u {folder}"))
        }
        _ => CliError::Failed(format!("{address}: {e}")),
    };
    let port = server.port().map_err(failed)?;
    let has_holes = !server.engine().trim_keeps();
    let mounted = tailcut_live::fuse::mount(folder, bytes, has_holes, port).map_err(failed)?;
    let file = folder.join(tailcut_live::fuse::FILE);
    Terminal::new(false).text(&format!("the drive is the file {}\n", file.display()))?;
    Ok(mounted)
}

/// Detach a folder (lazy unmount) that a program still has open. No server answers there any more.
#[cfg(target_os = "linux")]
fn unmount_for_good(address: &Address) {
    let Address::Fuse(folder) = address else { return };
    if std::fs::metadata(folder).is_err_and(|e| e.kind() == std::io::ErrorKind::NotConnected) {
        // If this fails, the next server reports the mounted folder.
        let _ = std::process::Command::new("fusermount3").arg("-uz").arg(folder).status();
    }
}

/// Without FUSE nothing is mounted.
#[cfg(not(target_os = "linux"))]
fn unmount_for_good(_: &Address) {}

/// Without FUSE nothing can be mounted.
#[cfg(not(target_os = "linux"))]
fn mount(address: &Address, _: u64, _: &mut Server) -> Result<(), CliError> {
    Err(CliError::Input(format!("--listen: {address}: a folder needs Linux")))
}

/// Fill the drive and overwrite it to its steady state.
fn age(drive: &mut Stored, filled: u64, terminal: Terminal) -> Result<(), CliError> {
    terminal.text("ages the drive\n")?;
    let unit = drive.dimensions().unit_bytes as u32;
    drive.fill(filled);
    drive.overwrite_uniform(Until::Steady, &(0..filled), unit, &mut |_| !interrupted());
    drive.reset_counters();
    if interrupted() { Err(CliError::Failed("interrupted while the drive was aged".into())) } else { Ok(()) }
}

fn begin_log(
    path: &Path,
    args: &ServeArgs,
    resolved: &Resolved,
    (capacity, aged): (u64, u64),
    past: Option<&Stored>,
) -> Result<LogWriter, CliError> {
    let header = LogHeader {
        tailcut: env!("CARGO_PKG_VERSION").to_string(),
        model_version: MODEL_VERSION,
        device: args.device.clone(),
        scheme: args.scheme.clone(),
        seed: args.seed,
        capacity,
        aged,
        begun: past.map_or(0, |drive| drive.now().0),
        held: past.map_or(0, |drive| drive.held_bytes()),
        config: resolved.toml.clone(),
    };
    let put = past.map(|drive| {
        move |to: &mut dyn Write| {
            drive.snapshot(&resolved.config, args.seed, to).map_err(std::io::Error::other)
        }
    });
    let put = put.as_ref().map(|put| put as PutSnapshot<'_>);
    LogWriter::create(path, &header, put).map_err(|e| CliError::Input(format!("--log: {e}")))
}

fn end_log(
    args: &ServeArgs,
    monitor: &Monitor,
    at: tailcut_units::SimTime,
    terminal: Terminal,
) -> Result<(), CliError> {
    let Some(path) = args.log.as_ref().map(|path| path.display()) else { return Ok(()) };
    let (digest, completions) = monitor.digest();
    let (log, failed) = {
        let mut m = monitor.measures();
        (m.log.take(), m.log_failed.take())
    };
    if let Some(e) = failed {
        return Err(CliError::Failed(format!("the log ends early: {e}")));
    }
    let ended = log.map_or(Ok(()), |log| log.end(at, digest, completions));
    ended.map_err(|e| CliError::Failed(e.to_string()))?;
    terminal.text(&format!("written to {path}; `tailcut run --replay {path}` replays it\n"))
}

fn served_text(server: &Server, monitor: &Monitor, args: &ServeArgs) -> String {
    let (served, late) = (server.served(), server.lateness());
    let mut text = format!(
        "\n{} requests of {} connections, {} failed\n",
        grouped(served.requests),
        grouped(served.connections),
        grouped(served.failed)
    );
    if served.broken > 0 {
        let why = served.last_broken.as_deref().unwrap_or_default();
        text += &format!(
            "{} connections were closed because the client broke the protocol: {why}\n",
            served.broken
        );
    }
    if late.completions() == 0 {
        return text;
    }
    let at = |percent| human_time(Span(late.percentile(percent)));
    text += &format!(
        "answers were late by {} (p50), {} (p99), {} (p99.9), {} at most\n",
        at(50.0),
        at(99.0),
        at(99.9),
        human_time(Span(late.max()))
    );
    text += &lateness_histogram(late);
    let schemes = monitor.summary(args, server).schemes;
    text += &lateness_spoils(server, &schemes[0]);
    for (at, what) in monitor.done() {
        text += &format!("{what} at {}\n", human_time(Span(at.0)));
    }
    text += &faults::read_only(&schemes);
    if let Some(units) = schemes[0].counters.get("unmapped_reads") {
        text += &format!(
            "{} units read that were never written, or were trimmed (answered without flash); --aged fills a new drive\n",
            grouped(*units)
        );
    }
    text + &format!(
        "\n{}\n{}{}",
        tables::comparison(&schemes),
        tables::blame(&schemes),
        faults::faults(&schemes)
    )
}

/// The length of the longest bar of the histogram, in columns.
const BAR: usize = 40;

/// The histogram of the lateness of answers.
fn lateness_histogram(late: &Lateness) -> String {
    let mut steps = late.histogram();
    steps.push((u64::MAX, late.completions()));
    let mut before = 0;
    let counts: Vec<(u64, u64)> = steps
        .into_iter()
        .map(|(bound, all)| (bound, all - std::mem::replace(&mut before, all)))
        .skip_while(|(_, count)| *count == 0)
        .collect();
    let last = counts.iter().rposition(|(_, count)| *count > 0).unwrap_or(0);
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let mut text = String::new();
    for (bound, count) in counts.iter().take(last + 1) {
        let bound =
            if *bound == u64::MAX { "more".to_string() } else { format!("<= {}", human_time(Span(*bound))) };
        let bar = "#".repeat((count * BAR as u64).div_ceil(most) as usize);
        let line = format!("  {bound:>10}  {:>12}  {bar}", grouped(*count));
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Lateness distorts a measured percentile if it is more than this share of it.
const SPOILT: f64 = 0.1;

/// A warning if lateness distorts the latencies that clients measure.
fn lateness_spoils(server: &Server, scheme: &tailcut_report::summary::Scheme) -> String {
    let late = server.lateness();
    let spoilt = |percent: f64| {
        let key = tailcut_stats::percentile::key(percent);
        let of = |op| scheme.side(op).lat_ns.percentile.get(&key).copied().unwrap_or(0);
        let drive = of(HostOp::Read).max(of(HostOp::Write));
        late.percentile(percent) as f64 > SPOILT * drive as f64 / server.speed()
    };
    let which: Vec<String> =
        [50.0, 99.0, 99.9].into_iter().filter(|&p| spoilt(p)).map(|p| format!("p{p}")).collect();
    if which.is_empty() {
        return String::new();
    }
    format!(
        "INVALID for clients: {} of lateness is more than {:.0} % of the drive's own; the figures below are the drive's\n",
        which.join(", "),
        100.0 * SPOILT
    )
}
