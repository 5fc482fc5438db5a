//! Tests that searches run after all other runs and give ratings, and that a run with `search` has no key that a
//! search does not use.

use std::sync::Mutex;
use tailcut_reproduce::measure::Measure;
use tailcut_reproduce::{Follow, Options, list, reproduce};
use tailcut_sim::{Snapshots, Watch};
use tailcut_workload::Interrupt;

/// The search is before the run, to show that the order of the file does not matter. At the quick size it has one of
/// its two points.
const FILE: &str = r#"
id = "test/search"
title = "ratings"
source = "nobody"
shows = "What a small drive sustains."

[time]
quick = "1 s"
full = "1 s"

[[run]]
name = "act"
device = "tiny"
schemes = ["fifo", "rps"]
workload = "act,multiplier={multiplier},{size}"
full = "duration=2s"
quick = "duration=1s"
set = ["host.submit_latency={delay}us"]
search = { most = 4, step = 2, after = "500ms", slice = "200ms" }

[[run.axis]]
name = "delay"
values = ["1", "20000"]
quick = ["20000"]

[[run]]
name = "reads"
device = "tiny"
schemes = ["fifo"]
workload = "randread,bs=4k,iodepth=1,{size}"
full = "number_ios=300"
quick = "number_ios=200"

[[table]]
title = "ratings"
run = "act"
columns = ["rating.stress x"]
by_scheme = true
"#;

/// The numbers of the tasks in the order in which they end.
#[derive(Default)]
struct Done(Mutex<Vec<usize>>);

impl Watch for Done {
    fn done(&self, task: usize) {
        self.0.lock().expect("no panic").push(task);
    }
}

impl Follow for Done {}

#[test]
fn searches_run_after_the_runs_at_the_points_of_the_size() {
    let e = list::parse("search.toml", FILE).expect("sound");
    assert_eq!(e.tasks(), 5);
    for quick in [true, false] {
        let options = Options {
            quick,
            traces: None,
            snapshots: Snapshots::Off,
            threads: 1,
            interrupt: Interrupt::default(),
        };
        let done = Done::default();
        let results = reproduce(&e, &options, &done).expect("runs");
        assert_eq!(done.0.into_inner().expect("no panic"), [0, 1, 2, 3, 4]);
        assert_eq!(results.runs.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["reads"]);
        let names: Vec<&str> = results.searches.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["act (delay 1)", "act (delay 20000)"]);
        let rating = |run: &str, name: &str| {
            results.value(run, "rps", &Measure::parse(name).expect("a measure")).map(|x| x as u32)
        };
        let slow = rating("act (delay 20000)", "rating.performance");
        assert_eq!(slow, Ok(0), "each read takes 20 ms");
        let fast = rating("act (delay 1)", "rating.performance");
        assert_eq!(fast.ok(), (!quick).then_some(4), "the point has no quick size");
    }
}

#[test]
fn a_search_that_makes_no_sense_is_refused() {
    let wrong = [
        (FILE.replace("multiplier={multiplier}", "multiplier=2"), "must contain `{multiplier}`"),
        (FILE.replace("full = \"duration=2s\"\n", ""), "full is missing"),
        (FILE.replace("step = 2", "step = 5"), "search.step: must be at least 1"),
        (FILE.replace("\"200ms\"", "\"0s\""), "`0s` is not a time above zero"),
        (FILE.replace("step = 2", "stop = 2"), "unknown field `stop`"),
        (FILE.replace("search =", "fault = [\"die=0@1s\"]\nsearch ="), "search: not allowed with"),
        (FILE.replace("search =", "needs = [\"gc.count\"]\nsearch ="), "search: not allowed with"),
        (FILE.replace("search =", "capacity = \"own\"\nsearch ="), "search: not allowed with"),
        (FILE.replace("iodepth=1,", "iodepth={multiplier},"), "unknown placeholder `{multiplier}`"),
        (FILE.replace("\"duration=2s\"", "\"duration={multiplier}s\""), "unknown placeholder `{multiplier}`"),
        (FILE.replace("rating.stress x", "waf x"), "columns: `act (delay 1)` is a search"),
        (FILE.replace("run = \"act\"", "run = \"reads\""), "columns: only a search gives ratings"),
        (
            format!(
                "{FILE}\n[[series]]\ntitle = \"t\"\nrun = \"act (delay 1)\"\nof = \"read.max\"\nrows = 2\n"
            ),
            "`act (delay 1)` is a search",
        ),
    ];
    for (text, needle) in wrong {
        assert_ne!(text, FILE, "{needle}");
        let error = list::parse("x.toml", &text).expect_err(needle).to_string();
        assert!(error.contains(needle), "{needle}: {error}");
    }
}

#[test]
fn ratings_are_those_of_searches_only() {
    let check = |run: &str, measure: &str| {
        let check = format!(
            "\n[[expect]]\nlabel = \"x\"\nrun = \"{run}\"\nscheme = \"fifo\"\nmeasure = \"{measure}\"\nunit = \"x\"\n\
             band = {{ at_most = 1, because = \"b\" }}\n"
        );
        list::parse("x.toml", &format!("{FILE}{check}")).map_err(|e| e.to_string()).map(|_| ())
    };
    let search = "act (delay 1)";
    assert_eq!(check(search, "rating.stress"), Ok(()));
    assert!(check(search, "waf").expect_err("no rating").contains("a search, which gives ratings only"));
    assert!(check("reads", "rating.stress").expect_err("a rating").contains("only a search gives ratings"));
}
