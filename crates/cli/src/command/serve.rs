//! `tailcut serve`: a modelled drive as a block device.

use crate::args::serve::ServeArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, catch_interrupts, interrupted};
use tailcut_core::device::{InMemory, Until};
use tailcut_core::drive::Drive;
use tailcut_live::{Engine, Export, Listener, ServeOptions, Server};
use tailcut_report::text::grouped;
use tailcut_units::Span;
use tailcut_units::quantity::{human_bytes, human_time};

/// Cores from which one may be kept busy.
const CORES_TO_SPIN: usize = 4;

/// `tailcut serve`.
pub fn serve(args: &ServeArgs) -> Result<(), CliError> {
    let terminal = Terminal::new(false);
    let config = args.layers.resolve(&args.device, &[&args.scheme])?.config;
    let problem = |p| CliError::Input(format!("scheme `{}`: {p}", args.scheme));
    let mut drive = Drive::with_medium(&config, args.seed, (), InMemory::new()).map_err(problem)?;
    for warning in drive.warnings() {
        terminal.warn(warning);
    }
    // An address that cannot be used is told before the drive is aged.
    let listeners: Result<Vec<Listener>, _> =
        args.listen.iter().map(|address| Listener::bind(address, args.allow_remote)).collect();
    let listeners = listeners.map_err(|e| CliError::Input(format!("--listen: {e}")))?;
    catch_interrupts();
    if args.aged {
        age(&mut drive, config.age.fill, terminal)?;
    }
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
    let mut server = Server::new(Engine::new(drive), listeners, options);
    let ran = server.run(&interrupted, &mut |_| {});
    ran.map_err(|e| CliError::Failed(format!("waiting for clients: {e}")))?;
    terminal.text(&served_text(&server))
}

/// Fill the drive and overwrite it until it is steady.
fn age(drive: &mut Drive<(), InMemory>, fill: f64, terminal: Terminal) -> Result<(), CliError> {
    terminal.text("ages the drive\n")?;
    let unit = drive.dimensions().unit_bytes;
    let filled = (drive.host_bytes() as f64 * fill) as u64 / unit * unit;
    drive.fill(filled);
    drive.overwrite_uniform(Until::Steady, &(0..filled), unit as u32, &mut |_| !interrupted());
    if interrupted() { Err(CliError::Failed("interrupted while the drive was aged".into())) } else { Ok(()) }
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
