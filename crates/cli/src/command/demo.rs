//! `tailcut demo`: a demonstration.

use crate::args::DemoArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::run::{explain_slowest, finished, past_text, plan_text, threads, workload};
use crate::terminal::{Terminal, catch_interrupts};
use tailcut_config::resolve;
use tailcut_report::tables;
use tailcut_sim::{Experiment, SchemeSpec, Snapshots};
use tailcut_workload::TraceReplay;

const DEVICE: &str = "tiny";
const SCHEMES: [&str; 2] = ["baseline", "rps"];

const NEXT: &str = "
Next
  tailcut show devices                                   the built-in drives
  tailcut run z-ssd --workload YOUR_TRACE --out run      replay your own trace (.gz and .zst work too)
  tailcut explain run                                    what its slowest requests waited for
  tailcut run tiny --scheme baseline,rps --workload 'randrw,bs=4k,iodepth=32,size=70%,number_ios=1000000'
  tailcut trace info YOUR_TRACE                          the measures of a trace
";

/// Compare two schemes on a small drive in its steady state.
pub fn demo(args: &DemoArgs) -> Result<(), CliError> {
    let terminal = Terminal::new(false);
    let job = format!(
        "randrw,bs=4k,rwmixread=70,rate_iops=5600,2400,rate_process=poisson,number_ios={}",
        args.requests
    );
    let workload = workload(&[job], &TraceReplay::default())?;
    let mut schemes = Vec::new();
    for name in SCHEMES {
        let none: [&str; 0] = [];
        let config = resolve(DEVICE, &[name], &none, &none)?.config;
        schemes.push(SchemeSpec { name: name.to_string(), config });
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
        "The same requests on one small drive with two ways to order its work: `baseline` serves\n\
         first come, first served; `rps` serves host reads first. The drive is brought to its steady\n\
         state first, so that garbage collection runs as it does after months of use.\n\n{}",
        plan_text(DEVICE, &experiment, &plan)
    ))?;
    catch_interrupts();
    let progress = Progress::new(&plan, SCHEMES.len());
    let results = experiment.run(&plan, &progress, &|_, _| Ok(None));
    progress.finish();
    let finished = finished(DEVICE, &experiment, &plan, results?)?;
    let measured = &finished.summary.schemes;
    terminal.text(&past_text(&experiment, &plan, &finished))?;
    terminal.text(&format!(
        "\n{}{}\n{}",
        tables::comparison(measured),
        tables::utilisation(measured),
        tables::blame(measured)
    ))?;
    terminal.text("\nWhat the three slowest reads and writes waited for, to the nanosecond:\n\n")?;
    terminal.text(&explain_slowest(&finished, 3, None)?)?;
    if finished.summary.partial {
        return Err(CliError::partial());
    }
    terminal.text(NEXT)
}
