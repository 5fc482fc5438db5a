//! `tailcut serve`: a modelled drive as a block device.

use crate::args::serve::ServeArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, catch_interrupts, interrupted};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tailcut_config::Resolved;
use tailcut_core::device::{InMemory, Until};
use tailcut_core::drive::Drive;
use tailcut_live::{Engine, Event, Export, Listener, ServeOptions, Server};
use tailcut_report::text::grouped;
use tailcut_sim::MODEL_VERSION;
use tailcut_stats::Digest;
use tailcut_units::quantity::{human_bytes, human_time};
use tailcut_units::{SimTime, Span};
use tailcut_workload::log::{LogError, LogHeader, LogWriter};

/// Cores from which one may be kept busy.
const CORES_TO_SPIN: usize = 4;

/// `tailcut serve`.
pub fn serve(args: &ServeArgs) -> Result<(), CliError> {
    let terminal = Terminal::new(false);
    let resolved = args.layers.resolve(&args.device, &[&args.scheme])?;
    let config = &resolved.config;
    let problem = |p| CliError::Input(format!("scheme `{}`: {p}", args.scheme));
    let mut drive = Drive::with_medium(config, args.seed, (), InMemory::new()).map_err(problem)?;
    for warning in drive.warnings() {
        terminal.warn(warning);
    }
    // An address that cannot be used is told before the drive is aged.
    let listeners: Result<Vec<Listener>, _> =
        args.listen.iter().map(|address| Listener::bind(address, args.allow_remote)).collect();
    let listeners = listeners.map_err(|e| CliError::Input(format!("--listen: {e}")))?;
    catch_interrupts();
    let aged = if args.aged { age(&mut drive, config.age.fill, terminal)? } else { 0 };
    let bytes = drive.host_bytes();
    let export = Export {
        name: "tailcut".to_string(),
        description: format!("{}, {}, modelled by Tailcut", args.device, args.scheme),
        bytes,
        preferred: drive.dimensions().unit_bytes as u32,
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
    terminal.text("Ctrl-C stops it\n")?;
    let spin = std::thread::available_parallelism().is_ok_and(|n| n.get() >= CORES_TO_SPIN);
    let options = ServeOptions { export, speed: args.speed, spin };
    let mut engine = Engine::new(drive);
    let log = args.log.as_deref().map(|path| begin_log(path, args, &resolved, (bytes, aged))).transpose()?;
    if let Some(log) = &log {
        let log = Arc::clone(log);
        engine.logged(Box::new(move |event| log.lock().unwrap_or_else(PoisonError::into_inner).note(&event)));
    }
    let mut server = Server::new(engine, listeners, options);
    let ran = server.run(&interrupted, &mut |_| {});
    ran.map_err(|e| CliError::Failed(format!("waiting for clients: {e}")))?;
    terminal.text(&served_text(&server))?;
    let mut engine = server.into_engine();
    let at = engine.stop();
    let Some(log) = log else { return Ok(()) };
    let logged = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    let path = logged.end(at)?;
    terminal.text(&format!("written to {path}; `tailcut run --replay {path}` replays it\n"))
}

/// The log of a server, and the digest of what has completed.
#[derive(Default)]
struct Log {
    writer: Option<LogWriter>,
    digest: Digest,
    path: String,
    failed: Option<LogError>,
}

impl Log {
    fn note(&mut self, event: &Event) {
        match *event {
            Event::Completed { index, at, status } => self.digest.push(index, at.0, status),
            Event::Submitted { at, wanted, command } => {
                let written = self.writer.as_mut().map(|writer| writer.command(at, wanted, &command));
                if let Some(Err(e)) = written {
                    // The drive is served on; the error is told in the end.
                    self.failed = Some(e);
                    self.writer = None;
                }
            }
        }
    }

    fn end(self, at: SimTime) -> Result<String, CliError> {
        let ended = match (self.failed, self.writer) {
            (Some(e), _) => Err(e),
            (None, Some(writer)) => writer.end(at, self.digest.value(), self.digest.count()),
            (None, None) => Ok(()),
        };
        ended.map_err(|e| CliError::Failed(e.to_string())).map(|()| self.path)
    }
}

fn begin_log(
    path: &Path,
    args: &ServeArgs,
    resolved: &Resolved,
    (capacity, aged): (u64, u64),
) -> Result<Arc<Mutex<Log>>, CliError> {
    let header = LogHeader {
        tailcut: env!("CARGO_PKG_VERSION").to_string(),
        model_version: MODEL_VERSION,
        device: args.device.clone(),
        scheme: args.scheme.clone(),
        seed: args.seed,
        capacity,
        aged,
        config: resolved.toml.clone(),
    };
    let writer = LogWriter::create(path, &header).map_err(|e| CliError::Input(format!("--log: {e}")))?;
    let log = Log { writer: Some(writer), path: path.display().to_string(), ..Log::default() };
    Ok(Arc::new(Mutex::new(log)))
}

/// Fill the drive and overwrite it until it is steady. Returns the bytes filled.
fn age(drive: &mut Drive<(), InMemory>, fill: f64, terminal: Terminal) -> Result<u64, CliError> {
    terminal.text("ages the drive\n")?;
    let unit = drive.dimensions().unit_bytes;
    let filled = (drive.host_bytes() as f64 * fill) as u64 / unit * unit;
    drive.fill(filled);
    drive.overwrite_uniform(Until::Steady, &(0..filled), unit as u32, &mut |_| !interrupted());
    if interrupted() {
        Err(CliError::Failed("interrupted while the drive was aged".into()))
    } else {
        Ok(filled)
    }
}

fn served_text(server: &Server) -> String {
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
    if late.completions() > 0 {
        let at = |percent| human_time(Span(late.percentile(percent)));
        text += &format!(
            "answers were late by {} (p50), {} (p99), {} (p99.9), {} at most\n",
            at(50.0),
            at(99.0),
            at(99.9),
            human_time(Span(late.max()))
        );
    }
    text
}
