//! `tailcut advise`: which drives and schemes meet a target on a workload, and at which cost.

use crate::args::AdviseArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::run::threads;
use crate::terminal::{Terminal, catch_interrupts, interrupt, print, print_json};
use serde::Serialize;
use std::path::PathBuf;
use tailcut_report::targets::{TargetResult, Verdict};
use tailcut_report::text::{Grid, cut, duration, wrapped};
use tailcut_sim::Cache;
use tailcut_sim::settings;
use tailcut_sim::sweep::design::Design;
use tailcut_sim::sweep::folder::Finished;
use tailcut_sim::sweep::table::Row;
use tailcut_sim::sweep::{Axis, Options, Swept, sweep};
use tailcut_units::quantity::human_bytes;

/// The verdict on a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Worth {
    /// It meets all targets.
    Meets,
    /// It misses no target, but it is undecided whether it meets all.
    Undecided,
    /// It misses a target, or does not keep up with the load.
    Misses,
    /// It cannot be run.
    Fails,
}

impl Worth {
    fn name(self) -> &'static str {
        match self {
            Worth::Meets => "meets",
            Worth::Undecided => "undecided",
            Worth::Misses => "misses",
            Worth::Fails => "cannot run",
        }
    }
}

/// A device with a scheme.
#[derive(Debug, Serialize)]
struct Choice {
    device: String,
    scheme: String,
    worth: Worth,
    targets: Vec<TargetResult>,
    keeps_up: bool,
    /// The smallest margin of all targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_capacity_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waf: Option<f64>,
    /// Energy of the arrays for each request, uJ.
    #[serde(skip_serializing_if = "Option::is_none")]
    energy_uj: Option<f64>,
    /// Reasons to doubt the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    doubts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Run the workload on every device with every scheme, and judge each.
pub fn advise(args: &AdviseArgs) -> Result<(), CliError> {
    let terminal = Terminal::new(args.json);
    let design = design(args)?;
    let folder = tempfile::TempDir::new()
        .map_err(|e| CliError::Failed(format!("a folder for the results cannot be made: {e}")))?;
    let out: PathBuf = args.out.clone().unwrap_or_else(|| folder.path().join("advise"));
    let cache = if args.no_cache { None } else { Cache::of_user() };
    let options = Options { out, threads: threads(), cache, interrupt: interrupt() };
    catch_interrupts();
    let progress = Progress::of_tasks(0);
    let swept = sweep(&design, &options, &progress);
    progress.finish();
    let swept = swept?;
    let name = |values: &[String]| format!("{} with {}", values[0], values[1]);
    let doubts = swept.doubts(|i| name(&swept.points[i].0));
    let all = swept.points.iter().zip(doubts);
    let mut choices: Vec<Choice> =
        all.map(|(point, doubts)| Choice { doubts, ..choice(args, point) }).collect();
    // The best choice is first: by verdict, then by the smallest margin.
    let margin = |c: &Choice| c.margin.unwrap_or(f64::NEG_INFINITY);
    choices.sort_by(|a, b| a.worth.cmp(&b.worth).then(margin(b).total_cmp(&margin(a))));
    if args.json {
        print_json(&choices)?;
    } else {
        print(&text(args, &choices))?;
    }
    if swept.writes() {
        settings::of_devices(&args.devices, &args.config, &args.set)
            .iter()
            .for_each(|line| terminal.warn(line));
    }
    for warning in warnings(&swept) {
        terminal.warn(&warning);
    }
    if swept.stopped {
        return Err(CliError::partial());
    }
    verdict(&choices)
}

fn design(args: &AdviseArgs) -> Result<Design, CliError> {
    let axis = |key: &str, values: &[String]| Axis { key: key.to_string(), values: values.to_vec() };
    let design = Design {
        device: args.devices[0].clone(),
        workload: args.workload.clone(),
        seed: args.seed,
        runs: args.runs,
        precondition: args.precondition.map(|past| past.name().to_string()),
        config: args.config.clone(),
        set: args.set.clone(),
        axis: vec![axis("device", &args.devices), axis("scheme", &args.schemes)],
        ..Design::default()
    };
    design.checked().map_err(CliError::Input)
}

fn choice(args: &AdviseArgs, (values, _, row): &(Vec<String>, String, Row)) -> Choice {
    let (device, scheme) = (values[0].clone(), values[1].clone());
    let fails = |error: &str| Choice {
        device: device.clone(),
        scheme: scheme.clone(),
        worth: Worth::Fails,
        targets: Vec::new(),
        keeps_up: false,
        margin: None,
        host_capacity_bytes: None,
        waf: None,
        energy_uj: None,
        doubts: Vec::new(),
        error: Some(error.to_string()),
    };
    match row {
        Row::Finished(point) => judged(args, &device, &scheme, point),
        Row::Failed(why) => fails(why),
        Row::NotRun => fails("not run"),
    }
}

fn judged(args: &AdviseArgs, device: &str, scheme: &str, point: &Finished) -> Choice {
    let targets: Vec<TargetResult> = args.target.iter().map(|target| target.judge(&point.scheme)).collect();
    let keeps_up = point.scheme.load.is_none_or(|load| load.keeps_up);
    let any = |verdict: Verdict| targets.iter().any(|t| t.verdict == verdict);
    let worth = match () {
        () if !keeps_up || any(Verdict::Misses) => Worth::Misses,
        () if any(Verdict::Undecided) => Worth::Undecided,
        () => Worth::Meets,
    };
    let requests: u64 = tailcut_units::HostOp::ALL.iter().map(|&op| point.scheme.side(op).total_ios).sum();
    Choice {
        device: device.to_string(),
        scheme: scheme.to_string(),
        worth,
        margin: targets.iter().filter_map(|t| t.margin).min_by(f64::total_cmp),
        targets,
        keeps_up,
        host_capacity_bytes: Some(point.host_capacity_bytes),
        waf: point.scheme.waf,
        energy_uj: point.scheme.energy_mj.filter(|_| requests > 0).map(|mj| 1000.0 * mj / requests as f64),
        doubts: Vec::new(),
        error: None,
    }
}

/// The warnings of the points, each once, with the number of points that have it.
fn warnings(swept: &Swept) -> Vec<String> {
    let mut all: Vec<(String, u32)> = Vec::new();
    for (_, _, row) in &swept.points {
        let Row::Finished(point) = row else { continue };
        for warning in &point.warnings {
            match all.iter_mut().find(|(text, _)| text == warning) {
                Some((_, count)) => *count += 1,
                None => all.push((warning.clone(), 1)),
            }
        }
    }
    let of = swept.points.len();
    all.into_iter().map(|(text, count)| format!("{count} of {of} choices: {text}")).collect()
}

fn text(args: &AdviseArgs, choices: &[Choice]) -> String {
    let mut grid = Grid::default().names(2);
    let mut head = vec!["device".to_string(), "scheme".to_string()];
    head.extend(args.target.iter().map(ToString::to_string));
    head.extend(["margin", "verdict", "capacity", "WAF", "uJ/request"].map(String::from));
    grid.row(head);
    grid.rule();
    for c in choices {
        let mark = if c.doubts.is_empty() { "" } else { " !" };
        let mut cells = vec![cut(&c.device, 20), format!("{}{mark}", cut(&c.scheme, 24))];
        cells.extend(
            (0..args.target.len())
                .map(|i| c.targets.get(i).and_then(|t| t.measured_ns).map_or("-".to_string(), duration)),
        );
        cells.push(c.margin.map_or("-".into(), |m| format!("{:+.0} %", 100.0 * m)));
        cells.push(if c.error.is_none() && !c.keeps_up {
            "backlog".into()
        } else {
            c.worth.name().to_string()
        });
        cells.push(c.host_capacity_bytes.map_or("-".into(), human_bytes));
        cells.push(c.waf.map_or("-".into(), |waf| format!("{waf:.2}")));
        cells.push(c.energy_uj.map_or("-".into(), |uj| format!("{uj:.1}")));
        grid.row(cells);
    }
    let mut out = format!("{}\n", grid.render());
    out.push_str(&wrapped(&conclusion(choices), 2));
    for c in choices {
        if let Some(error) = &c.error {
            out.push_str(&wrapped(&format!("! {} with {} cannot run: {error}\n", c.device, c.scheme), 2));
        }
    }
    for (c, why) in choices.iter().flat_map(|c| c.doubts.iter().map(move |why| (c, why))) {
        out.push_str(&wrapped(&format!("! {} with {}: {why}\n", c.device, c.scheme), 2));
    }
    if choices.iter().any(|c| c.error.is_none() && !c.keeps_up) {
        out.push_str("backlog: the drive does not keep up with the load; its latencies measure that\n");
    }
    out
}

/// Describe the choices that meet the targets: the one with the largest margin, and those with the least cost.
fn conclusion(choices: &[Choice]) -> String {
    let meets: Vec<&Choice> = choices.iter().filter(|c| c.worth == Worth::Meets).collect();
    let Some(most) = meets.first() else {
        return format!("none of {} choices is sure to meet the targets\n", choices.len());
    };
    let name = |c: &Choice| format!("{} with {}", c.device, c.scheme);
    let mut out =
        format!("{} of {} choices meet the targets; most margin: {}", meets.len(), choices.len(), name(most));
    let least = |of: &dyn Fn(&Choice) -> Option<f64>| {
        let known = meets.iter().filter_map(|c| of(c).map(|x| (x, *c)));
        known.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, c)| name(c))
    };
    for (what, of) in [
        ("least write amplification", &(|c: &Choice| c.waf) as &dyn Fn(&Choice) -> Option<f64>),
        ("least energy", &|c: &Choice| c.energy_uj),
    ] {
        if let Some(name) = least(of) {
            out.push_str(&format!("; {what}: {name}"));
        }
    }
    out + "\n"
}

/// 0 if a choice meets the targets, 4 if a choice may meet them, else 3.
fn verdict(choices: &[Choice]) -> Result<(), CliError> {
    match choices.first().map(|c| c.worth) {
        Some(Worth::Meets) => Ok(()),
        Some(Worth::Fails) | None => Err(CliError::Failed("no choice could be run".into())),
        Some(worth) => {
            let missed = worth == Worth::Misses;
            let text = match missed {
                true => "every choice misses a target",
                false => "no choice is sure to meet the targets: longer runs (--runs) may decide",
            };
            Err(CliError::Target { text: text.to_string(), missed })
        }
    }
}
