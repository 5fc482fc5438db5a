//! `tailcut ldpc curve`: failure rate, iterations and syndrome weights against the raw bit error rate.

use super::progress::Progress;
use crate::args::{CurveArgs, DecoderName, ScheduleName};
use crate::error::CliError;
use crate::run::threads;
use crate::terminal::{catch_interrupts, print, print_json};
use serde::Serialize;
use tailcut_ldpc::{
    BLOCK_ROWS, CODE_SEED, Code, Errors, Factor, Job, Method, Schedule, Sensing, Settings, Tally, WeightSums,
    at_count, at_rate, measure,
};
use tailcut_report::text::{Grid, grouped};

/// Default iterations of bit flipping. More than 100 change little.
const BIT_FLIP_ITERATIONS: u8 = 100;

/// A curve and its settings.
#[derive(Serialize)]
struct Curve {
    decoder: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<String>,
    iterations: u8,
    soft_senses: u32,
    seed: u64,
    frames: u32,
    points: Vec<Point>,
}

/// A point of a curve: a raw bit error rate, or a number of errors.
#[derive(Serialize)]
struct Point {
    #[serde(skip_serializing_if = "Option::is_none")]
    rber: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<u32>,
    failed: u64,
    undetected: u64,
    failure_rate: f64,
    failure_rate_low: f64,
    failure_rate_high: f64,
    /// Of decoded codewords.
    mean_iterations: Option<f64>,
    mean_iterations_half_width: Option<f64>,
    iterations_p99: Option<u32>,
    weight: Weight,
    first_weight: Weight,
}

/// A syndrome weight, measured and in closed form.
#[derive(Serialize)]
struct Weight {
    mean: f64,
    deviation: f64,
    expected_mean: f64,
    expected_deviation: f64,
    /// Correlation between the weight and a decoding failure.
    correlation: Option<f64>,
}

/// Measure a curve and print it.
pub fn run(args: &CurveArgs) -> Result<(), CliError> {
    let settings = settings(args)?;
    let senses = args.soft_senses.unwrap_or(0);
    let jobs = jobs(args, settings, senses)?;
    let code = Code::new(CODE_SEED);
    catch_interrupts();
    let progress = Progress::new(jobs.iter().map(|job| job.frames).sum());
    let threads = args.threads.map_or_else(threads, usize::from);
    let points = jobs
        .iter()
        .map(|job| Some(point(&code, job, &measure(&code, job, threads, &|more| progress.count(more))?)));
    let points = points.collect::<Option<Vec<Point>>>();
    progress.finish();
    let points = points.ok_or_else(|| CliError::Failed("interrupted".into()))?;
    let (decoder, schedule, factor) = match settings.method {
        Method::MinSum { schedule, factor } => ("min-sum", Some(schedule.name()), Some(factor.to_string())),
        Method::BitFlip => ("bit-flip", None, None),
    };
    let curve = Curve {
        decoder,
        schedule,
        factor,
        iterations: settings.iterations,
        soft_senses: senses,
        seed: args.seed,
        frames: args.frames,
        points,
    };
    if args.json { print_json(&curve) } else { print(&table(&curve)) }
}

/// The measurements of all points.
fn jobs(args: &CurveArgs, settings: Settings, senses: u32) -> Result<Vec<Job>, CliError> {
    let (seed, frames) = (args.seed, u64::from(args.frames));
    if !args.errors.is_empty() {
        if senses > 0 {
            let text = "--errors counts wrong hard decisions: leave out --soft-senses, or give --rber";
            return Err(CliError::Input(text.into()));
        }
        let job = |&n| Job { seed, settings, errors: Errors::Exactly(n), sensing: Sensing::hard(), frames };
        return Ok(args.errors.iter().map(job).collect());
    }
    let job = |&p| {
        let sensing = Sensing::new(senses, p).map_err(|e| CliError::Input(e.to_string()))?;
        Ok(Job { seed, settings, errors: Errors::Rate(p), sensing, frames })
    };
    args.rber.iter().map(job).collect()
}

/// The settings of the decoder. Options that the decoder does not have are refused.
fn settings(args: &CurveArgs) -> Result<Settings, CliError> {
    let method = match args.decoder {
        DecoderName::MinSum => Method::MinSum {
            schedule: Schedule::from(args.schedule.unwrap_or(ScheduleName::Flooding)),
            factor: args.factor.unwrap_or(Factor::DEFAULT),
        },
        DecoderName::BitFlip => {
            let given = [
                (args.schedule.is_some(), "--schedule"),
                (args.factor.is_some(), "--factor"),
                (args.soft_senses.is_some_and(|n| n > 0), "--soft-senses"),
            ];
            if let Some((_, name)) = given.iter().find(|(given, _)| *given) {
                let text = format!("{name} has no effect on bit flipping: leave it out, or choose min-sum");
                return Err(CliError::Input(text));
            }
            Method::BitFlip
        }
    };
    let usual = match args.decoder {
        DecoderName::MinSum => Settings::DEFAULT.iterations,
        DecoderName::BitFlip => BIT_FLIP_ITERATIONS,
    };
    Ok(Settings { method, iterations: args.iterations.unwrap_or(usual) })
}

fn point(code: &Code, job: &Job, tally: &Tally) -> Point {
    let rate = tally.failure_rate();
    let iterations = tally.iterations();
    let weight = |block_rows, sums: &WeightSums| {
        let (mean, deviation) = sums.moments(tally.frames);
        let expected = match job.errors {
            Errors::Rate(p) => at_rate(code, block_rows, p),
            Errors::Exactly(n) => at_count(code, block_rows, n as usize),
        };
        Weight {
            mean,
            deviation,
            expected_mean: expected.mean,
            expected_deviation: expected.deviation,
            correlation: sums.correlation(tally.frames, tally.failed),
        }
    };
    let (rber, errors) = match job.errors {
        Errors::Rate(p) => (Some(p), None),
        Errors::Exactly(n) => (None, Some(n)),
    };
    Point {
        rber,
        errors,
        failed: tally.failed,
        undetected: tally.undetected,
        failure_rate: rate.share,
        failure_rate_low: rate.low,
        failure_rate_high: rate.high,
        mean_iterations: iterations.map(|i| i.0),
        mean_iterations_half_width: iterations.map(|i| i.1),
        iterations_p99: tally.iterations_at(0.99),
        weight: weight(BLOCK_ROWS, &tally.all),
        first_weight: weight(1, &tally.first),
    }
}

fn table(curve: &Curve) -> String {
    let mut grid = Grid::with_widths(&[8]);
    let given = if curve.points.iter().any(|point| point.errors.is_some()) { "errors" } else { "rber" };
    let head = [given, "fail", "95 % of fail", "iterations", "p99", "weight", "of 4096", "first", "of 1024"];
    grid.row(head.map(String::from));
    grid.rule();
    let dash = || "-".to_string();
    for point in &curve.points {
        let mean = point.mean_iterations.zip(point.mean_iterations_half_width);
        let spread = |w: &Weight| [format!("{:.1}", w.mean), format!("± {:.1}", w.deviation)];
        let [all, all_spread] = spread(&point.weight);
        let [first, first_spread] = spread(&point.first_weight);
        let errors = point.errors.map(|errors| errors.to_string());
        grid.row([
            errors.or(point.rber.map(|p| p.to_string())).unwrap_or_default(),
            format!("{:.5}", point.failure_rate),
            format!("{:.5} to {:.5}", point.failure_rate_low, point.failure_rate_high),
            mean.map_or_else(dash, |(mean, half)| format!("{mean:.2} ± {half:.2}")),
            point.iterations_p99.map_or_else(dash, |p99| p99.to_string()),
            all,
            all_spread,
            first,
            first_spread,
        ]);
    }
    let mut how = curve.decoder.to_string();
    if let (Some(schedule), Some(factor)) = (curve.schedule, &curve.factor) {
        how += &format!(", {schedule}, factor {factor}");
    }
    how += &format!(", at most {} iterations", curve.iterations);
    if curve.soft_senses > 0 {
        how += &format!(", {} extra senses", curve.soft_senses);
    }
    format!(
        "{} codewords of 36,864 bits in each row; {how}\n\
         iterations: mean of decoded codewords with 95 %; weight: failing checks, mean ± deviation\n{}",
        grouped(u64::from(curve.frames)),
        grid.render()
    )
}
