//! Tests that every built-in experiment is valid and that the results at the quick sizes are in
//! band.

use std::path::{Path, PathBuf};
use tailcut_reproduce::measure::Measure;
use tailcut_reproduce::{
    CheckKind, Experiment, Options, Results, Verdict, fold, list, markdown, reproduce, text,
};
use tailcut_sim::{Cache, Snapshots};
use tailcut_testkit::traces;

fn quick(e: &Experiment, traces: Option<PathBuf>, cache: &Path) -> Results {
    let options = Options {
        quick: true,
        traces,
        snapshots: Snapshots::Cached(Cache::new(cache.to_path_buf(), tailcut_sim::cache::LIMIT)),
        threads: 2,
        interrupt: Default::default(),
    };
    reproduce(e, &options, &()).unwrap_or_else(|error| panic!("{}: {error}", e.id))
}

#[test]
fn every_file_of_the_folder_is_built_in_and_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut found = Vec::new();
    for paper in std::fs::read_dir(&root).expect("the folder of experiments") {
        let paper = paper.expect("readable").path();
        for file in std::fs::read_dir(&paper).expect("the folder of a paper") {
            let file = file.expect("readable").path();
            let (paper, figure) = (paper.file_name().expect("a name"), file.file_stem().expect("a name"));
            found.push(format!("{}/{}", paper.to_string_lossy(), figure.to_string_lossy()));
        }
    }
    let mut ids: Vec<String> = list::EXPERIMENTS.iter().map(|(id, _)| id.to_string()).collect();
    found.sort();
    ids.sort();
    assert_eq!(found, ids);
    for (e, (id, _)) in list::all().expect("every file is an experiment").iter().zip(list::EXPERIMENTS) {
        assert_eq!(e.id, *id);
        assert!(e.time.quick.contains('s') && e.time.full.contains('s'), "{id} says how long it takes");
        let paper = id.split('/').next().unwrap_or_default();
        assert!(list::PAPERS.iter().any(|(known, _)| *known == paper), "{paper} has a name in PAPERS");
    }
}

#[test]
fn names_stand_for_experiments_and_unknown_ones_are_refused() {
    let ids =
        |word: &str| -> Vec<String> { list::find(word).expect("known").into_iter().map(|e| e.id).collect() };
    assert_eq!(ids("atc19/fig4"), ["atc19/fig4"]);
    assert_eq!(ids("jsa14"), ["jsa14/load"]);
    assert!(ids("atc19").len() > 5);
    let error = list::find("atc19/fig44").expect_err("unknown");
    assert!(error.is_input() && error.to_string().contains("did you mean `atc19/fig4`"), "{error}");
    let error = list::find("/nonexistent/x.toml").expect_err("no file");
    assert!(error.is_input() && error.to_string().contains("/nonexistent/x.toml"), "{error}");
}

/// Check that each changed text of an experiment is refused with a message that names the file and the
/// problem.
fn are_refused(good: &str, wrong: &[(String, &str)]) {
    for (text, needle) in wrong {
        assert_ne!(text, good, "{needle}");
        let error = list::parse("x.toml", text).expect_err("refused");
        let message = error.to_string();
        assert!(error.is_input(), "{needle}: {message}");
        assert!(message.starts_with("x.toml: ") && message.contains(needle), "{needle}: {message}");
    }
}

#[test]
fn a_wrong_file_names_the_place_and_the_key() {
    let (_, good) = list::EXPERIMENTS[0];
    let wrong = [
        (good.replacen("published =", "publisched =", 1), "publisched"),
        (good.replacen("unit = \"us\"", "unit = \"MB/s\"", 1), "unit: `MB/s` does not fit the measure"),
        (good.replacen("run = \"seq-read\"", "run = \"nothing\"", 1), "there is no run `nothing`"),
        (good.replacen("measure = \"read.mean\"", "measure = \"read.men\"", 1), "no measure `read.men`"),
        (good.replacen("because", "becuase", 1), "becuase"),
        (good.replacen("trust = \"stated\"", "trust = \"mem\"", 1), "only remembered"),
        (good.replacen("fitted = \"`", "note = \"`", 1), "fitted is missing"),
        (
            good.replacen("kind = \"calibrated\"", "kind = \"value\"", 1),
            "only allowed with `kind = \"calibrated\"`",
        ),
    ];
    are_refused(good, &wrong);
}

/// An expectation has a band and nothing published, and stands in a file without checks. A fault is a
/// text of `--fault`.
#[test]
fn expectations_and_faults_are_checked() {
    let good = list::EXPERIMENTS.iter().find(|(id, _)| *id == "composed/death").expect("known").1;
    let wrong = [
        (good.replacen("unit = \"x\"", "published = 2\nunit = \"x\"", 1), "only allowed in a check"),
        (good.replacen("at_most = 0, because", "becuase", 1), "becuase"),
        (good.replacen("{ at_most = 0,", "{", 1), "give exactly one of"),
        (good.replacen("at_most = 0,", "at_most = nan,", 1), "`NaN` is no limit"),
        (good.replacen("at_most = 0,", "at_most = inf,", 1), "`inf` is no limit"),
        (good.replacen("at_most = 0,", "range = [-inf, 3],", 1), "`-inf` is no limit"),
        (good.replacen("at_most = 0,", "at_most = 0, at_least = 1,", 1), "at_least is above at_most"),
        (good.replacen("[[expect]]", "[[check]]", 1), "published or says is missing"),
        (good.replacen("at = { \"rebuild rate\" = \"no limit\" }\n", "", 1), "give one of the values"),
        (good.replacen("\"die=9@30s\"", "\"dye=9@30s\"", 1), "fault: "),
        (good.replacen("\"die=9@2s\"", "\"die=9@{death}\"", 1), "unknown placeholder `{death}`"),
        (
            good.replacen("measure = \"read.failed\"", "measure = \"job.a.read.failed\"", 1),
            "there is no measure",
        ),
    ];
    are_refused(good, &wrong);
}

/// A measure of a job names one that the workload has, and that has no clones: these have figures of their own.
#[test]
fn a_job_without_figures_is_refused() {
    let good = list::EXPERIMENTS.iter().find(|(id, _)| *id == "tos22/rocksdb").expect("known").1;
    let clones = "the job `readers` of";
    let wrong = [
        (good.replace("name=readers,", "name=readers,numjobs=4,"), clones),
        (good.replace("name=readers,", "name=reader,"), "has no job `readers`; its jobs are"),
    ];
    are_refused(good, &wrong);
    let message = list::parse("x.toml", &wrong[0].0).expect_err("refused").to_string();
    assert!(message.contains("has 4 clones (numjobs)"), "{message}");
}

/// The quick sizes of composed/death already show what a death does: reads fail without parity and not with
/// it, and lost units are rewritten.
#[test]
fn a_death_costs_data_without_parity_only() {
    let cache = tempfile::tempdir().expect("a folder");
    let e = &list::find("composed/death").expect("known")[0];
    let results = quick(e, None, cache.path());
    let value = |run: &str, scheme: &str, name: &str| {
        let measure = Measure::parse(name).expect("a measure");
        results.value(run, scheme, &measure).expect("a value")
    };
    let during = "during (rebuild rate 4 MB/s)";
    for scheme in ["baseline", "operation + ipc"] {
        assert!(value(during, scheme, "read.failed") > 0.0, "{scheme}");
        assert_eq!(value(during, scheme, "faults.stripes_rewritten"), 0.0, "{scheme}");
    }
    for scheme in ["ttflash", "ttflash, operation + ipc", "ttflash-nogc"] {
        assert_eq!(value(during, scheme, "read.failed"), 0.0, "{scheme}");
        assert!(value(during, scheme, "faults.stripes_rewritten") > 100.0, "{scheme}");
        let lost = |run| value(run, scheme, "faults.lost_units");
        assert!(lost(during) > 0.0 && lost("after (rebuild rate 4 MB/s)") < lost(during), "{scheme}");
        assert_eq!((lost("before"), lost("no death")), (0.0, 0.0), "{scheme}");
    }
}

/// A value has a published number, an order has none and has one limit. A file that declares a
/// kind that does not fit is refused.
#[test]
fn checks_say_what_they_decide() {
    let mut count = [0; 4];
    for e in list::all().expect("every file is an experiment") {
        for c in &e.check {
            let kind = e.kind(c);
            count[kind as usize] += 1;
            let itself = c.relative_to.as_ref().is_some_and(|to| {
                let same = |other: &Option<String>, own: Option<&str>| {
                    other.as_deref().is_none_or(|o| Some(o) == own)
                };
                let place = same(&to.run, c.run.as_deref()) && same(&to.scheme, e.scheme(c));
                place && same(&to.measure, Some(&c.measure)) && !to.difference
            });
            let place = format!("{}: {}", e.id, c.label);
            assert!(!itself || kind == CheckKind::Structural, "{place}: relative to itself");
            let order = c.published.is_none() && e.band(c).is_some_and(|b| b.is_one_sided());
            assert!(kind != CheckKind::Order || order, "{place}: an order has one limit and no value");
        }
    }
    assert!(count.iter().all(|n| *n > 0), "{count:?}");
    let (_, good) = list::EXPERIMENTS[0];
    for (kind, needle) in
        [("order", "a check with a published value is not an order"), ("odd", "unknown variant `odd`")]
    {
        let other = format!("kind = \"{kind}\"");
        let text = good.replacen("kind = \"calibrated\"", &other, 1).replacen("fitted =", "note =", 1);
        let message = list::parse("x.toml", &text).expect_err("refused").to_string();
        assert!(message.contains(needle), "{message}");
    }
    let text =
        good.replacen("published = 3300", "says = \"fast\", band = { at_least = 1, because = \"b\" }", 1);
    let message = list::parse("x.toml", &text).expect_err("refused").to_string();
    assert!(message.contains("is it an order?"), "{message}");
}

/// Every check of every experiment has a value at the quick size, or a reason that comes from
/// the size or the trace. What is judged is in band.
#[test]
fn quick_sizes_run_and_what_they_judge_is_in_band() {
    let cache = tempfile::tempdir().expect("a folder");
    let traces = traces();
    for e in list::all().expect("sound") {
        let results = quick(&e, traces.clone(), cache.path());
        for run in &e.run {
            assert_shows_something(&e.id, run, &results);
        }
        for o in &results.outcomes {
            let place = format!("{}: {} [{}]", e.id, o.label, o.scheme);
            let size = |why: &str| {
                why.contains("too few samples") || why.contains("no quick size") || why.contains("no erases")
            };
            match &o.verdict {
                Verdict::InBand | Verdict::FullSizeOnly => {}
                Verdict::OutOfBand => panic!("{place}: {} against {}", o.measured, o.published),
                Verdict::NotComparable(why) if o.value.is_none() && sized(&e, &o.run) => {
                    assert!(size(why) || (traces.is_none() && why.contains("trace")), "{place}: {why}");
                }
                Verdict::NotComparable(_) => {}
            }
            if traces.is_some() && o.value.is_none() && sized(&e, &o.run) {
                let tail = o.measure.contains(".p99") || o.measure == "suspends_per_erase";
                assert!(tail, "{place}: only a tail may have too few samples, this has no value");
            }
        }
        let (plain, page) = (text::result(&e, &results), markdown::page(&e, &results, "report.md"));
        for o in results.outcomes.iter().chain(&results.expected) {
            let shown = plain.contains(&o.label) || results.outcomes.len() > fold::LONG;
            assert!(shown && page.text.contains(&o.label), "{}: {}", e.id, o.label);
        }
        assert_eq!(markdown::page(&e, &results, "report.md").pictures, page.pictures, "the same bytes again");
        for (name, svg) in &page.pictures {
            assert!(page.text.contains(name), "{name} is shown");
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
            assert!(svg.len() < 60_000, "{name}: {} bytes", svg.len());
        }
    }
}

/// Checks that a run at the quick size shows what the figure is about: its `needs` occur, and
/// its schemes do not all give the same results.
fn assert_shows_something(id: &str, run: &tailcut_reproduce::file::Run, results: &Results) {
    let Some(ran) = results.run(&run.name).filter(|r| r.missing.is_none()) else { return };
    let place = format!("{id}: {}", run.name);
    assert_eq!(results.lacks(run), None, "{place}");
    let digests: std::collections::BTreeSet<&str> = ran.schemes.iter().map(|s| s.digest.as_str()).collect();
    assert!(ran.schemes.len() < 2 || digests.len() > 1, "{place}: all schemes came out the same");
}

/// Whether all these runs have a quick size.
fn sized(e: &Experiment, runs: &str) -> bool {
    let mut about = e.run.iter().filter(|r| runs.contains(r.name.as_str())).peekable();
    about.peek().is_some() && about.all(|r| r.has_quick())
}

#[test]
fn a_trace_that_is_not_there_is_not_comparable() {
    let cache = tempfile::tempdir().expect("a folder");
    let e = &list::find("fast17/fig10").expect("known")[0];
    let results = quick(e, Some(cache.path().to_path_buf()), cache.path());
    for o in &results.outcomes {
        let judged = matches!(o.verdict, Verdict::InBand | Verdict::OutOfBand);
        assert!(!judged, "{}: {:?} without its trace", o.label, o.verdict);
    }
    assert!(results.runs.iter().all(|r| {
        r.missing.as_ref().is_some_and(|why| why.contains("dtrs") || why.contains("no quick size"))
    }));
}
