//! `tailcut demo`: a demonstration.

use crate::args::DemoArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::run::{page, past_text, plan_text, threads, workload};
use crate::terminal::{Terminal, catch_interrupts};
use std::path::PathBuf;
use tailcut_config::resolve;
use tailcut_page::output;
use tailcut_report::tables;
use tailcut_sim::{Experiment, SchemeSpec, Snapshots, finished};
use tailcut_workload::TraceReplay;

/// The file of the tour's page, if the user names no other.
const PAGE: &str = "tailcut-demo.html";

const DEVICE: &str = "tiny";
const SCHEMES: [&str; 2] = ["baseline", "rps"];

/// The commands to try next. Every line that begins with the name of the program can be pasted into a shell.
fn next(program: &str) -> String {
    format!(
        "Next, in this folder (the commands can be pasted)\n  \
           {program} run tiny --scheme baseline,rps --out run1\n  \
           {program} explain run1 --top 1\n  \
           {program} show devices\n\
         Your own trace: `run z-ssd --workload FILE --out run2` (.gz and .zst work too)\n"
    )
}

/// The program as the user has called it.
fn program() -> String {
    let called = std::env::args().next().unwrap_or_else(|| "tailcut".to_string());
    if called.contains(char::is_whitespace) { format!("'{called}'") } else { called }
}

/// Compare two schemes on a small drive in its steady state.
pub fn demo(args: &DemoArgs) -> Result<(), CliError> {
    let terminal = Terminal::new(false);
    let job = format!(
        "randrw,bs=4k,rwmixread=70,rate_iops=5600,2400,rate_process=poisson,number_ios={}",
        args.requests
    );
    let workload = workload(&[job], &TraceReplay::default())?;
    if let Some(path) = &args.report {
        output::check(path)?;
    }
    let mut schemes = Vec::new();
    let mut resolved = Vec::new();
    for name in SCHEMES {
        let none: [&str; 0] = [];
        let one = resolve(DEVICE, &[name], &none, &none)?;
        schemes.push(SchemeSpec { name: name.to_string(), config: one.config.clone() });
        resolved.push((name.to_string(), one));
    }
    let experiment = Experiment {
        schemes,
        workload: &workload,
        seed: 1,
        runs: 1,
        past: None,
        snapshots: Snapshots::Off,
        threads: threads(),
        fine: None,
        one_past: false,
        timeline: None,
    };
    let plan = experiment.plan()?;
    terminal.text(&format!(
        "The same requests on one small drive, which is aged first, so that it collects\n\
         garbage: `baseline` is first come, first served; `rps` serves host reads first.\n\n{}",
        plan_text(DEVICE, &experiment, &plan)
    ))?;
    catch_interrupts();
    let progress = Progress::new(&plan, SCHEMES.len());
    let results = experiment.run(&plan, &progress, &|_, _| Ok(None));
    progress.finish();
    let mut finished = finished(DEVICE, &experiment, &plan, results?)?;
    finished.configured(&resolved)?;
    let measured = &finished.summary.schemes;
    let past = past_text(&experiment, &plan, &finished);
    let aged: String = past.split_inclusive('\n').filter(|line| line.starts_with("aged ")).collect();
    terminal.text(&aged)?;
    // To fit on a screen, the tour only shows the causes of the last scheme's reads.
    let causes = measured.last().map(|scheme| {
        let mut reads = scheme.clone();
        reads.write.blame.clear();
        tables::blame(&[reads])
    });
    terminal.text(&format!(
        "\n{}{}\n{}",
        tables::comparison(measured),
        tables::utilisation(measured),
        causes.unwrap_or_default()
    ))?;
    if finished.summary.partial {
        return Err(CliError::partial());
    }
    terminal.text(&next(&program()))?;
    let path = args.report.clone().unwrap_or_else(|| PathBuf::from(PAGE));
    match page(&path, "demonstration", &finished) {
        Ok(path) => terminal.text(&format!("The figures of this tour: open {path} in a browser\n")),
        // Without a page the tour is still complete.
        Err(error) if args.report.is_none() => {
            terminal.warn(&error.to_string());
            Ok(())
        }
        Err(error) => Err(error),
    }
}
