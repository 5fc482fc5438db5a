//! Tests that the explanation names what the slowest requests waited for, and that it adds up.

mod common;

use std::path::Path;
use tailcut_report::explain::ExplainOptions;
use tailcut_report::summary::Scheme;
use tailcut_report::{OutputFolder, ReportError, hlog, slowest, tables};

fn explain(dir: &Path, options: &ExplainOptions) -> Result<String, ReportError> {
    tailcut_report::explain::explain(dir, options, &|| false)
}
use tailcut_units::{Cause, Occupant};

/// Writes the results of two schemes to `dir`, as a run does.
fn leave(dir: &Path) -> tailcut_report::Summary {
    let mut folder = OutputFolder::prepare(dir, false).unwrap();
    let runs = [("baseline", 1), ("t-es", 2)].map(|(name, seed)| common::scheme(name, 200_000, seed));
    let mut file = folder.create(slowest::FILE).unwrap();
    for (scheme, measured) in &runs {
        slowest::write(&mut file, &scheme.name, measured).unwrap();
    }
    let of = runs.each_ref().map(|(scheme, measured)| (scheme.name.as_str(), measured));
    hlog::write(folder.create(hlog::FILE).unwrap(), &of).unwrap();
    let summary = common::summary(runs.map(|r| r.0).into());
    folder.write("summary.json", &summary.to_json()).unwrap();
    folder.commit().unwrap();
    summary
}

/// The time in a line of an account: before the share, or at the end.
fn figure(line: &str) -> u64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "%").map_or(words.len() - 1, |share| share - 2);
    words[at].replace(',', "").parse().unwrap_or_else(|_| panic!("no figure in `{line}`"))
}

/// Checks that the lines of every account in the text add up to its sum line. Returns the
/// number of accounts.
fn accounts_add_up(text: &str) -> usize {
    let (mut accounts, mut sum) = (0, 0);
    for line in text.lines() {
        if line.trim_start().starts_with("sum = ") {
            assert_eq!(sum, figure(line), "{text}");
            (accounts, sum) = (accounts + 1, 0);
        } else if line.contains(" % ") || line.ends_with(" %") {
            sum += figure(line);
        }
    }
    accounts
}

/// An interrupt ends the reading at the next request.
#[test]
fn an_interrupt_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    leave(dir.path());
    let asked = std::cell::Cell::new(0);
    let stopped = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let error =
        tailcut_report::explain::explain(dir.path(), &ExplainOptions::default(), &stopped).unwrap_err();
    assert!(matches!(error, ReportError::Interrupted) && asked.get() == 4, "{error} after {}", asked.get());
}

#[test]
fn of_several_runs_it_says_which_are_meant() {
    let of = |seed| common::scheme("t-es", 20_000, seed);
    let ((first, measured), (second, other)) = (of(1), of(2));
    let all = Scheme::over_runs(&[first.clone(), second], &[&measured, &other]);
    let mut file = Vec::new();
    slowest::write(&mut file, "t-es", &measured).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(slowest::FILE), file).unwrap();
    let reads = all.read.blame[0].requests;
    assert!(reads > first.read.total_ios);
    std::fs::write(dir.path().join("summary.json"), common::summary(vec![all]).to_json()).unwrap();
    let text = |above| explain(dir.path(), &ExplainOptions { above, ..ExplainOptions::default() }).unwrap();
    let together = text(99.0);
    let of_all = format!(" of {} took", tailcut_report::text::grouped(reads));
    assert!(together.contains("reads above p99 of 2 runs: ") && together.contains(&of_all), "{together}");
    assert!(together.contains("Of the first run the slowest:\n#1 "), "{together}");
    // A level that is not in the summary is computed from the requests kept one by one.
    let alone = text(99.5);
    assert!(alone.contains("reads above p99.5 of the first run: "), "{alone}");
}

#[test]
fn every_account_adds_up_as_printed() {
    let dir = tempfile::tempdir().unwrap();
    let summary = leave(dir.path());
    let options = ExplainOptions { above: 99.9, top: 3, scheme: Some("t-es".into()), job: None };
    let text = explain(dir.path(), &options).unwrap();
    // Of reads and writes: the mean, three requests, and three without success. No flush failed.
    assert_eq!(accounts_add_up(&text), 2 * (1 + 3 + 3) + (1 + 3), "{text}");
    // A long meaning is broken into lines.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&Cause::die_wait(Occupant::Erase).describe()), "{text}");
    assert!(flat.contains(&Cause::RETRY_ARRAY.describe()), "{text}");
    // Requests without a latency are not missing without a word.
    let failed = tailcut_report::faults::failed(&summary.schemes[1].failed);
    assert!(failed.contains(" reads (out_of_range)"), "{failed}");
    assert!(
        flat.contains(&format!("t-es: requests without success, not in the averages below: {failed}")),
        "{text}"
    );
    assert!(text.starts_with("t-es BECAME READ-ONLY after 1.23 ms: "), "{text}");
    assert!(!text.contains("baseline"), "{text}");
    let worst = summary.schemes[1].read.lat_ns.max.to_string();
    assert!(text.replace(',', "").contains(&format!("took {worst} ns")), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
}

#[test]
fn one_job_of_several_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let summary = leave(dir.path());
    let of = |job: &str| {
        let options =
            ExplainOptions { above: 99.9, top: 2, scheme: Some("t-es".into()), job: Some(job.into()) };
        explain(dir.path(), &options).map_err(|e| e.to_string())
    };
    let jobs = &summary.schemes[1].jobs;
    assert!(jobs.len() >= 2);
    for (i, job) in jobs.iter().enumerate() {
        let text = of(&job.name).unwrap();
        assert_eq!(of(&(i + 1).to_string()).unwrap(), text, "by its number");
        let reads = job.read.total_ios;
        let least = reads - tailcut_stats::percentile::rank(99.9, reads) + 1;
        let grouped = tailcut_report::text::grouped;
        let head = format!(
            "t-es, job {}, reads above p99.9: {} of {} took",
            job.name,
            grouped(least),
            grouped(reads)
        );
        assert!(text.contains(&head), "{head} in {text}");
        assert!(text.contains(&format!("of job {}:", job.name)), "{text}");
        let others = jobs.iter().filter(|other| other.name != job.name);
        assert!(others.into_iter().all(|other| !text.contains(&format!("of job {}:", other.name))), "{text}");
        accounts_add_up(&text);
    }
    assert!(of("9").unwrap_err().starts_with("no job `9` in this run; it has "));
}

#[test]
fn a_level_not_kept_is_computed_from_the_requests_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let summary = leave(dir.path());
    let at = |above| explain(dir.path(), &ExplainOptions { above, top: 0, ..ExplainOptions::default() });
    let text = at(99.5).unwrap();
    // Reads, writes and flushes of two schemes.
    assert_eq!(accounts_add_up(&text), 6, "{text}");
    let ios = summary.schemes[0].read.total_ios;
    let least = ios - tailcut_stats::percentile::rank(99.5, ios) + 1;
    assert!(text.contains(&tailcut_report::text::grouped(least)), "{least}: {text}");
    assert!(matches!(at(75.0).unwrap_err(), ReportError::NoLevel { .. }));
    let nobody = ExplainOptions { scheme: Some("es".into()), ..ExplainOptions::default() };
    let error = explain(dir.path(), &nobody).unwrap_err().to_string();
    assert_eq!(error, "no scheme `es` in this run; it has baseline, t-es");
    assert!(explain(Path::new("/nonexistent"), &nobody).unwrap_err().to_string().contains("summary.json"));
}

#[test]
fn tables_of_a_run_fit_and_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let summary = leave(dir.path());
    let used = tables::utilisation(&summary.schemes);
    let expected = [
        "t-es", "50.0", "%", "75.0", "%", "25.0", "%", "37.5", "%", "50.0", "%", "50.0", "%", "6.2", "%",
        "12.5", "%",
    ];
    assert!(used.lines().any(|l| l.split_whitespace().eq(expected)), "{used}");
    let text = tables::comparison(&summary.schemes) + &used + &tables::blame(&summary.schemes);
    let text = text + &tailcut_report::faults::faults(&summary.schemes);
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert!(text.contains("Reads\n") && text.contains("Writes\n"));
    assert!(text.contains("\nFaults\n") && text.contains("  t-es: 512 blocks: 3 bad from the factory, "));
    // One of 140,000 reads is beyond p99.999.
    assert!(text.contains("* fewer than 10"), "{text}");
    println!("{text}{}", explain(dir.path(), &ExplainOptions::default()).unwrap());
}
