//! Tests that a sweep runs at every point, is shown by its axes, and is judged at the value
//! that a find determines.

use tailcut_reproduce::table::tables;
use tailcut_reproduce::{Options, Results, Verdict, list, markdown, reproduce};
use tailcut_sim::Snapshots;
use tailcut_workload::Interrupt;

const FILE: &str = r#"
id = "test/sweep"
title = "reads by depth and delay"
source = "nobody"
shows = "That more requests outstanding wait for longer."

[time]
quick = "1 s"
full = "1 s"

[defaults]
scheme = "fifo"
source = "nobody"
trust = "stated"
band = { relative = 10, because = "set beforehand" }

[[run]]
name = "reads"
device = "tiny"
schemes = ["fifo", "rps"]
workload = "randread,bs=4k,iodepth={depth},{size}"
full = "number_ios=3000"

[[run.axis]]
name = "depth"
values = ["1", "4", "16"]

[[run.axis]]
name = "delay"
unit = "us"
point = [
    { name = "20", set = ["host.submit_latency=20us"] },
    { name = "40", set = ["host.submit_latency=40us"] },
]

[[run]]
name = "alone"
device = "tiny"
schemes = ["fifo", "rps"]
workload = "randread,bs=4k,iodepth=1,{size}"
full = "number_ios=3000"
set = ["host.submit_latency={delay}us"]

[[run.axis]]
name = "delay"
values = ["20", "40"]

[[find]]
name = "where it slows"
axis = "depth"

[[check]]
label = "by so much slower at depth"
run = "reads"
at = { "delay" = "20" }
found = "where it slows"
measure = "read.mean"
relative_to = { run = "alone" }
published = 1
unit = "x"

[[check]]
label = "as fast at any depth"
run = "reads"
at = { "delay" = "20" }
found = "where it slows"
measure = "read.mean"
relative_to = { run = "alone", difference = true }
says = "0 us more"
unit = "us"
band = { at_most = 0.001, because = "exact" }

[[check]]
label = "what the way takes longer"
run = "reads"
at = { "delay" = "40", depth = "1" }
measure = "read.p50"
relative_to = { run = "twenty", difference = true }
published = 20
unit = "us"

[[run]]
name = "twenty"
device = "tiny"
schemes = ["fifo"]
set = ["host.submit_latency=20us"]
workload = "randread,bs=4k,iodepth=1,{size}"
full = "number_ios=3000"

[[table]]
title = "grid"
run = "reads"
columns = ["read.mean us in ..100", "read.mean us @ alone", "read.mean/fifo x in 0.5..1.5"]

[[table]]
title = "lines"
run = "reads"
columns = ["read.mean us"]
by_scheme = true
"#;

fn run(text: &str) -> (tailcut_reproduce::Experiment, Results) {
    let e = list::parse("sweep.toml", text).expect("sound");
    let options = Options {
        quick: false,
        traces: None,
        snapshots: Snapshots::Off,
        threads: 2,
        interrupt: Interrupt::default(),
    };
    let results = reproduce(&e, &options, &()).expect("runs");
    (e, results)
}

#[test]
fn a_sweep_is_shown_by_its_axes_and_judged_at_the_value_that_is_found() {
    let (e, results) = run(FILE);
    let found = &results.found[0];
    assert_eq!((found.value.as_deref(), found.said.as_str(), found.checks), (Some("1"), "depth 1", 2));
    let misses: Vec<f64> = found.misses.iter().map(|(_, miss)| miss.expect("every value ran")).collect();
    assert!(misses[0] < 1e-6 && misses[1] > misses[0] && misses[2] > misses[1], "{misses:?}");
    for o in &results.outcomes {
        assert_eq!(o.verdict, Verdict::InBand, "{}: {}", o.label, o.measured);
    }
    assert_eq!(results.outcomes[0].label, "by so much slower at depth, delay 20 us, depth 1");
    assert_eq!(results.outcomes[0].run, "reads (depth 1, delay 20 us)");
    let shown = tables(&e, &results);
    let [grid, lines, finds] = &shown[..] else { panic!("{}", shown.len()) };
    assert_eq!(grid.rows.len(), 1 + 3 * 2 * 2, "depths, delays, schemes");
    assert_eq!(
        grid.rows[0],
        ["depth", "delay", "scheme", "read.mean", "read.mean, alone", "read.mean/fifo", "in range, of 2"]
    );
    let row = &grid.rows[1];
    assert_eq!(row[..3], ["1", "20", "fifo"]);
    assert!(row[3].ends_with(" us (in)") && row[3].starts_with(row[4].as_str()), "{row:?}");
    assert_eq!(row[5..], ["1x (in)", "2"]);
    assert_eq!(lines.rows[0], ["depth", "delay", "fifo", "rps"]);
    assert_eq!(lines.rows.len(), 7);
    assert!(lines.chart.is_some() && grid.chart.is_none());
    assert!(finds.title.contains("fitted to them"), "{}", finds.title);
    let page = markdown::page(&e, &results, "report.md");
    let svg = &page.pictures[1].1;
    for needle in ["fifo, delay 20 us", "rps, delay 40 us", "read.mean (us)", "depth"] {
        assert!(svg.contains(needle), "{needle}");
    }
}

#[test]
fn a_find_may_be_decided_by_one_check() {
    let (_, results) =
        run(&FILE.replacen("axis = \"depth\"", "axis = \"depth\"\nby = \"by so much slower at depth\"", 1));
    let found = &results.found[0];
    assert_eq!((found.value.as_deref(), found.checks), (Some("1"), 1));
}

/// Blocks alone need no requests: their erases at an age, and their lives.
#[test]
fn blocks_alone_give_erases_and_lives() {
    let head = FILE.split("[[run]]").next().expect("it has a head");
    let run_of = |alone: &str, cycles: &str| {
        format!(
            "[[run]]\nname = \"{alone} {cycles}\"\ndevice = \"tlc-3d\"\nschemes = [\"ispe\", \"aero\"]\n\
                 set = [\"geometry.blocks=64\", \"age.pe_cycles={cycles}\"]\nalone = \"{alone}\"\n"
        )
    };
    let table = |run: &str, column: &str| {
        format!("[[table]]\ntitle = \"{column}\"\nrun = \"{run}\"\ncolumns = [\"{column}\"]\n")
    };
    let file = [
        head.to_string(),
        run_of("erases", "2500"),
        run_of("lives", "0"),
        table("erases 2500", "blocks.share_2"),
        table("lives 0", "blocks.life"),
    ]
    .concat();
    let (_, results) = run(&file);
    let of = |run: &str, scheme: &str, name: &str| {
        results.value(run, scheme, &tailcut_reproduce::measure::Measure::parse(name).expect("a measure"))
    };
    let mean = |scheme: &str| of("erases 2500", scheme, "blocks.pulse_time").expect("it has erases");
    assert!((9.6e6..10.0e6).contains(&mean("ispe")) && mean("aero") < 0.6 * mean("ispe"));
    assert!(of("erases 2500", "ispe", "blocks.distance").expect("there is a row") < 0.02);
    let life = |scheme: &str| of("lives 0", scheme, "blocks.life").expect("it has lives");
    assert!((5200.0..5500.0).contains(&life("ispe")) && life("aero") > 1.1 * life("ispe"));
    assert!(
        of("lives 0", "ispe", "blocks.pulse_time").is_err() && of("lives 0", "ispe", "read.p99").is_err()
    );
    let error = list::parse("x.toml", &file.replacen("alone = ", "workload = \"randread\"\nalone = ", 1));
    assert!(error.expect_err("both").to_string().contains("blocks alone have no requests"));
}

/// At the common capacity all schemes read the same addresses. At its own each reads all that it has, so that
/// parity on one LUN of four leaves three quarters. Either way the schemes are in one table.
#[test]
fn a_run_addresses_the_common_or_its_own_capacity() {
    let head = FILE.split("[[run]]").next().expect("it has a head");
    let run_of = |capacity: &str| {
        format!(
            "[[run]]\nname = \"{capacity}\"\ndevice = \"tiny-pblk\"\nschemes = [\"pblk\", \"rail\"]\n\
             set = [\"geometry.channels=4\", \"geometry.chips_per_channel=2\"]\n\
             workload = \"read,bs=64k,iodepth=4,size=100%,{{size}}\"\nfull = \"loops=1\"\ncapacity = \"{capacity}\"\n"
        )
    };
    let file = [head.to_string(), run_of("common"), run_of("own")].concat();
    let (e, results) = run(&file);
    let reads = |run: &str, scheme: &str| {
        let run = results.run(run).filter(|r| r.missing.is_none()).expect("it ran");
        let of = run.schemes.iter().find(|s| s.name == scheme).expect("it has the scheme");
        of.read.total_ios as f64
    };
    assert_eq!(results.runs.len(), e.run.len());
    assert_eq!(reads("common", "pblk"), reads("common", "rail"));
    assert_eq!(reads("own", "rail"), reads("common", "rail"), "the smallest capacity is that of rail");
    let share = reads("own", "rail") / reads("own", "pblk");
    assert!((0.74..0.76).contains(&share), "{share}");
    let both = |run: &str| results.run(run).map(|r| r.capacities.clone());
    assert_eq!(both("common"), both("own"), "what a scheme could use alone does not depend on the run");
    let alone = file.replacen("[\"pblk\", \"rail\"]", "[\"pblk\"]", 2);
    let error = list::parse("x.toml", &alone).expect_err("nothing to choose");
    assert!(error.to_string().contains("a single scheme has its own capacity"), "{error}");
}

/// The policies of a drive say what reads avoid. What they say changes with the policies, not with the name of the scheme.
#[test]
fn policies_answer_what_reads_avoid() {
    let head = FILE.split("[[run]]").next().expect("it has a head");
    let variant = |name: &str, scheme: &str, set: &str| {
        format!("[[run.variant]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nset = [{set}]\n")
    };
    let run_of = |name: &str, device: &str| {
        format!("[[run]]\nname = \"{name}\"\ndevice = \"{device}\"\nalone = \"answers\"\n")
    };
    let file = [
        head.to_string(),
        run_of("host", "cnex-westlake"),
        variant("pblk", "pblk", ""),
        variant("rail", "rail", ""),
        variant("six", "rail", "\"pblk.parities=2\""),
        variant("collection", "rail", "\"policy.write_gate.stride.covers=collection\""),
        variant("open", "rail", "\"policy.write_gate=none\""),
        variant("hot-cold", "rail", "\"pblk.hot_cold=time\""),
        run_of("drive", "ttflash-256g"),
        variant("page", "baseline", ""),
        variant("ttflash", "ttflash", ""),
        variant("waits", "ttflash", "\"policy.read_path=wait\""),
        variant("moves", "ttflash", "\"policy.wear=shift-migrate\""),
    ]
    .concat();
    let (_, results) = run(&file);
    let of = |run: &str, scheme: &str| {
        let names = ["avoids.programs", "avoids.collection", "avoids.wear", "avoids.exactly"];
        names.map(|name| {
            let measure = tailcut_reproduce::measure::Measure::parse(name).expect("a measure");
            results.value(run, scheme, &measure).expect("an answer") == 1.0
        })
    };
    assert_eq!(of("host", "pblk"), [false; 4]);
    assert_eq!(of("host", "rail"), [true; 4]);
    assert_eq!(of("host", "six"), [true; 4]);
    assert_eq!(of("host", "collection"), [false, true, true, true]);
    assert_eq!(of("host", "open"), [false; 4]);
    assert_eq!(of("host", "hot-cold"), [true, false, false, true]);
    assert_eq!(of("drive", "page"), [false; 4]);
    assert_eq!(of("drive", "ttflash"), [false, true, true, true]);
    assert_eq!(of("drive", "waits"), [false; 4]);
    assert_eq!(of("drive", "moves"), [false, true, false, true]);
    let at_once = |scheme: &str| {
        let measure = tailcut_reproduce::measure::Measure::parse("at_once.users").expect("a measure");
        results.value("host", scheme, &measure).expect("an answer")
    };
    assert_eq!(["pblk", "rail", "six", "collection"].map(at_once), [1.0, 0.25, 0.5, 1.0]);
}

#[test]
fn a_check_of_a_sweep_names_a_value_of_every_axis() {
    let wrong = [
        (FILE.replacen("\"delay\" = \"20\"", "\"delay\" = \"30\"", 1), "give one of the values of each axis"),
        (FILE.replacen("found = \"where it slows\"", "", 1), "fewer than two checks use it"),
        (
            FILE.replacen("measure = \"read.p50\"", "found = \"x\"\nmeasure = \"read.p50\"", 1),
            "there is no find `x`",
        ),
        (FILE.replacen("axis = \"depth\"", "axis = \"dept\"", 1), "no sweep has an axis `dept`"),
        (FILE.replacen("axis = \"depth\"", "axis = \"depth\"\nby = \"no one\"", 1), "has the label `no one`"),
        (FILE.replacen("depth = \"1\"", "deep = \"1\"", 1), "has an axis `deep`"),
        (FILE.replacen("in ..100", "in 100", 1), "is not a range"),
        (FILE.replacen("read.mean/fifo", "read.mean/fif", 1), "`reads` has no scheme `fif`"),
        (FILE.replacen("by_scheme = true", "by_scheme = true\nschemes = [\"es\"]", 1), "has no scheme `es`"),
    ];
    for (text, needle) in wrong {
        assert_ne!(text, FILE);
        let error = list::parse("x.toml", &text).expect_err(needle).to_string();
        assert!(error.contains(needle), "{needle}: {error}");
    }
}
