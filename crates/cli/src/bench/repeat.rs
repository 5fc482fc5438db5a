//! Repeats benchmarks, and compares two builds in pairs of runs.
//!
//! The speed of a machine can change by a factor of two within minutes. Only runs that directly follow each other are
//! comparable. Each run is a process of its own. The order of the builds changes from round to round.

use super::{Line, Report};
use crate::args::BenchArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, interrupted};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tailcut_report::text::Grid;

/// Rounds of a comparison unless the user says otherwise.
const ROUNDS: u32 = 2;

/// A benchmark's runs.
#[derive(Debug, Serialize)]
struct Repeated {
    name: String,
    /// Processor seconds of each run of this build.
    cpu_seconds: Vec<f64>,
    /// Processor seconds of each run of the other build.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cpu_seconds_other: Vec<f64>,
    /// This build's time divided by the other's: lower quartile, median and upper quartile of the pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<[f64; 3]>,
    /// The digest of this build's first run, and the digests of other runs that differ from it.
    digest: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_digests: Vec<String>,
}

/// The output of a build that is parsed.
#[derive(Deserialize)]
struct Output {
    benchmarks: Vec<Line>,
}

/// Run all benchmarks in several rounds, and print medians.
pub(super) fn repeat(args: &BenchArgs, names: &[&str], terminal: &Terminal) -> Result<(), CliError> {
    let rounds = args.repeat.unwrap_or(ROUNDS);
    let this = std::env::current_exe().map_err(|e| CliError::Failed(format!("this program: {e}")))?;
    let new = |name: &&str| Repeated {
        name: (*name).to_string(),
        cpu_seconds: Vec::new(),
        cpu_seconds_other: Vec::new(),
        ratio: None,
        digest: String::new(),
        other_digests: Vec::new(),
    };
    let mut all: Vec<Repeated> = names.iter().map(new).collect();
    let mut stopped = None;
    'rounds: for round in 0..rounds {
        for benchmark in &mut all {
            for other in [round % 2 == 1, round % 2 == 0] {
                let program = if other { args.against.as_deref() } else { Some(this.as_path()) };
                let Some(program) = program else { continue };
                match run(program, &benchmark.name, args.tiny) {
                    Ok(line) => benchmark.add(line, other),
                    // The completed rounds are shown.
                    Err(e) if interrupted() => {
                        stopped = Some(e);
                        break 'rounds;
                    }
                    Err(e) => return Err(e),
                }
            }
        }
        // The results must be written even if standard error is closed.
        let _ = writeln!(std::io::stderr(), "round {} of {rounds} is done", round + 1);
    }
    all.retain(|benchmark| benchmark.is_measured(args.against.is_some()));
    for benchmark in &mut all {
        benchmark.compare();
    }
    terminal.text(&table(&all, args.against.is_some()))?;
    if args.json {
        Report::print(&all)?;
    }
    stopped.map_or(Ok(()), Err)
}

/// Run one benchmark of a build.
fn run(program: &Path, name: &str, tiny: bool) -> Result<Line, CliError> {
    let failed =
        |what: String| CliError::Failed(format!("{} bench --only {name}: {what}", program.display()));
    let mut command = Command::new(program);
    command.args(["bench", "--json", "--only", name]).stdin(Stdio::null());
    if tiny {
        command.arg("--tiny");
    }
    let output =
        command.output().map_err(|e| CliError::Input(format!("cannot run `{}`: {e}", program.display())))?;
    if interrupted() {
        return Err(CliError::Failed("interrupted".into()));
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("{}: {}", output.status, said.lines().last().unwrap_or_default())));
    }
    let output: Output = serde_json::from_slice(&output.stdout).map_err(|e| failed(e.to_string()))?;
    let line = output.benchmarks.into_iter().find(|line| line.name == name);
    line.ok_or_else(|| failed("it has no such benchmark".into()))
}

impl Repeated {
    fn add(&mut self, line: Line, other: bool) {
        let runs = if other { &mut self.cpu_seconds_other } else { &mut self.cpu_seconds };
        runs.push(line.cpu_seconds);
        if self.digest.is_empty() {
            self.digest = line.digest;
        } else if self.digest != line.digest && !self.other_digests.contains(&line.digest) {
            self.other_digests.push(line.digest);
        }
    }

    /// Whether there is a run of this build, and with `compared` of the other build too.
    fn is_measured(&self, compared: bool) -> bool {
        !self.cpu_seconds.is_empty() && (!compared || !self.cpu_seconds_other.is_empty())
    }

    fn compare(&mut self) {
        let pairs = self.cpu_seconds.iter().zip(&self.cpu_seconds_other);
        let ratios: Vec<f64> = pairs.map(|(this, other)| this / other.max(1e-9)).collect();
        self.ratio = (!ratios.is_empty()).then(|| quartiles(ratios));
    }
}

/// The quartiles of a nonempty list, interpolated linearly.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    [0.25, 0.5, 0.75].map(|share| {
        let place = share * last as f64;
        let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
        low + (high - low) * place.fract()
    })
}

/// A table of the medians; with `compared`, also the medians of the other build and the ratios.
fn table(all: &[Repeated], compared: bool) -> String {
    let mut grid = Grid::default();
    let mut head = vec!["benchmark", "CPU s", "quartiles", "digest"];
    if compared {
        head = vec!["benchmark", "CPU s", "other's", "ratio", "quartiles", "digest"];
    }
    grid.row(head.into_iter().map(String::from).collect::<Vec<_>>());
    for b in all {
        let range = |[low, _, high]: [f64; 3]| format!("{low:.3}-{high:.3}");
        let this = quartiles(b.cpu_seconds.clone());
        let mut cells = vec![b.name.clone(), format!("{:.3}", this[1])];
        match b.ratio {
            None => cells.push(range(this)),
            Some(ratio) => cells.extend([
                format!("{:.3}", quartiles(b.cpu_seconds_other.clone())[1]),
                format!("{:.3}", ratio[1]),
                range(ratio),
            ]),
        }
        cells.push(match &b.other_digests[..] {
            [] => b.digest.clone(),
            others => format!("{}, also {}", b.digest, others.join(", ")),
        });
        grid.row(cells);
    }
    grid.render()
}

#[cfg(test)]
mod tests {
    use super::quartiles;

    #[test]
    fn quartiles_of_short_lists() {
        assert_eq!(quartiles(vec![3.0]), [3.0, 3.0, 3.0]);
        assert_eq!(quartiles(vec![2.0, 1.0]), [1.25, 1.5, 1.75]);
        assert_eq!(quartiles(vec![5.0, 1.0, 4.0, 2.0, 3.0]), [2.0, 3.0, 4.0]);
    }
}
