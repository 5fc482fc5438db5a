//! `tailcut lifetime`: the lifetime of blocks under each erase scheme, without a drive or on a drive under a
//! workload.

mod under_workload;

use crate::args::LifetimeArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, catch_interrupts, interrupted, print, print_json};
use serde::Serialize;
use tailcut_core::device::Shape;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::policy::erase_scheme::EraseSchemeConfig;
use tailcut_report::text::{Grid, cut, duration, wrapped};
use tailcut_sim::lifetime::{BLOCKS, LONGEST, Lifetime, lifetime_unless};

/// The lifetimes of the blocks of one scheme.
#[derive(Serialize)]
struct Row {
    scheme: String,
    /// Mean lifetime relative to that of the first scheme.
    against_first: f64,
    #[serde(flatten)]
    life: Lifetime,
}

/// The results of all schemes, and the requirement.
#[derive(Serialize)]
struct Lives {
    device: String,
    requirement: u32,
    seed: u64,
    /// Whether the command was interrupted, so that schemes are missing.
    partial: bool,
    schemes: Vec<Row>,
}

/// Age blocks under each scheme, and print their lifetimes.
pub fn run(args: &LifetimeArgs) -> Result<(), CliError> {
    match &args.workload {
        Some(text) => under_workload::run(args, text),
        None => alone(args),
    }
}

/// Show the results of the schemes that have ended, and report whether others are missing.
fn show(partial: bool, nothing: bool, shown: impl FnOnce() -> Result<(), CliError>) -> Result<(), CliError> {
    if !partial {
        return shown();
    }
    if nothing {
        return Err(CliError::Failed("interrupted before the first life had ended".into()));
    }
    let told = shown();
    Err(told.err().unwrap_or_else(CliError::partial))
}

/// The configuration of a scheme whose erases differ from block to block.
fn config_of(args: &LifetimeArgs, name: &str) -> Result<DeviceConfig, CliError> {
    let mut config = args.layers.resolve(&args.device, &[name])?.config;
    if config.erase.is_none() || matches!(config.policy.erase_scheme, EraseSchemeConfig::Fixed(_)) {
        return Err(CliError::Input(format!(
            "{name}: every erase takes the configured loops, so that no block wears more than another; \
             choose an erase scheme (ispe, i-ispe, dpes, aero-cons, aero) on a device with a table `erase` \
             (tlc-3d)"
        )));
    }
    if let (EraseSchemeConfig::Aero(aero), Some(bits)) = (&mut config.policy.erase_scheme, args.requirement) {
        // The errors that an erase may leave depend on it too.
        aero.requirement = bits;
    }
    Ok(config)
}

/// Age blocks without a drive.
fn alone(args: &LifetimeArgs) -> Result<(), CliError> {
    if !args.layers.fault.is_empty() {
        return Err(CliError::Input(
            "--fault: blocks alone have no faults; a fault needs a drive: give --workload too".to_string(),
        ));
    }
    catch_interrupts();
    let mut schemes: Vec<Row> = Vec::new();
    let mut requirement = args.requirement;
    for name in args.scheme.iter().map(|name| name.trim()) {
        let config = config_of(args, name)?;
        let shape = Shape::new(&config, args.seed).map_err(|e| CliError::Input(format!("{name}: {e}")))?;
        let (Some(eraser), Some(erase)) = (&shape.eraser, &config.erase) else {
            unreachable!("the configuration has a scheme that chooses pulses")
        };
        // All schemes must meet the requirement of the first scheme.
        let bits = *requirement.get_or_insert(erase.worn_errors);
        if eraser.chooses_voltage() {
            Terminal::new(args.json).warn(&format!(
                "{name}: without a workload no host write waits, so that all erases are at the lower voltage"
            ));
        }
        let Some(life) = lifetime_unless(eraser, bits, &interrupted) else { break };
        let first = schemes.first().map_or(life.mean, |row| row.life.mean);
        schemes.push(Row { scheme: name.to_string(), against_first: life.mean / first.max(1.0), life });
    }
    let requirement = requirement.unwrap_or(0);
    let partial = interrupted();
    let lives = Lives { device: args.device.clone(), requirement, seed: args.seed, partial, schemes };
    let shown = || if args.json { print_json(&lives) } else { print(&table(&lives)) };
    show(partial, lives.schemes.is_empty(), shown)
}

fn table(lives: &Lives) -> String {
    let mut grid = Grid::with_widths(&[9]);
    let head = ["scheme", "mean life", "against", "first 1 %", "first", "last", "mean pulses", "incomplete"];
    grid.row(head.map(String::from));
    grid.rule();
    for row in &lives.schemes {
        let life = &row.life;
        // A block that is still alive after `LONGEST` cycles counts with `LONGEST`.
        let end = |cycles: u32| cycles.to_string() + if cycles >= LONGEST { "+" } else { "" };
        let more = if life.endless > 0 { "+" } else { "" };
        grid.row([
            cut(&row.scheme, 24),
            format!("{:.0}{more}", life.mean),
            format!("{:+.1} %{more}", 100.0 * (row.against_first - 1.0)),
            end(life.first_percent),
            end(life.first),
            end(life.last),
            duration(life.pulse_ns),
            format!("{:.1} %", 100.0 * life.incomplete),
        ]);
    }
    let title = format!(
        "Program/erase cycles until a block of {} has more than {} raw bit errors of a KiB ({BLOCKS} blocks)\n",
        lives.device, lives.requirement,
    );
    wrapped(&title, 2) + &grid.render()
}
