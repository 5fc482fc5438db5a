//! Do the smaller commands work as documented?

mod common;

use common::{digests, summary, tailcut};
use serde_json::Value;

/// 2,000 requests in the MSR format, five in six reads, one every 100 us.
fn trace() -> String {
    let line = |i: u64| {
        let op = if i.is_multiple_of(6) { "Write" } else { "Read" };
        format!("{},web,0,{op},{},8192,500\n", 128_166_372_000_000_000 + i * 1_000, i * 7919 % 200_000 * 4096)
    };
    (0..2000).map(line).collect()
}

#[test]
fn show_lists_what_is_built_in() {
    for (what, needles) in [
        (&["devices"][..], &["z-ssd", "ttflash-256g", "cnex-westlake", "mqsim-default", "tiny"][..]),
        (&["schemes"], &["baseline", "rps", "policy.schedule"]),
        (&["workloads"], &["mixed-70-30-qd16", "act-30"]),
        (&["policies"], &["policy.schedule", "read-priority"]),
        (&["keys", "--markdown"], &["# Configuration", "## `suspend.erase.limits`", "| `age.free` |"]),
        (
            &["keys", "geometry.page"],
            &[
                "geometry.pages\n",
                "size (B, KB,",
                "512B to 1MiB; in steps",
                "default: required",
                "read by: the",
            ],
        ),
        (&["policies", "--markdown"], &["# Policies", "## `policy.gc_victim`", "### `greedy`"]),
        (
            &["config", "tiny", "--scheme", "rps", "--set", "host.queue_depth=9"],
            &["read-priority", "scheme rps", "--set host.queue_depth=9"],
        ),
        (
            &["rain-bound", "ttflash-256g", "--scheme", "ttflash", "--dwpd", "5"],
            &["38.2 ms/s", "26.2", "19.6", "the scheme's 8: rotation always holds"],
        ),
        (
            &["rain-bound", "ttflash-256g", "--erase", "--json"],
            &["\"widest\": 4", "\"lasting_widest\": 3", "\"erases_per_s\""],
        ),
    ] {
        let text = tailcut(&[&["show"], what].concat()).ok();
        for needle in needles {
            assert!(text.contains(needle), "{what:?}: `{needle}` is not in\n{text}");
        }
    }
}

#[test]
fn blocks_live_longer_under_shorter_pulses() {
    let text = tailcut(&["lifetime", "tlc-3d", "--scheme", "ispe,aero-cons,aero", "--json"]).ok();
    let lives: Value = serde_json::from_str(&text).unwrap();
    let mean = |i: usize| lives["schemes"][i]["mean"].as_f64().unwrap();
    // The errors of the blocks grow by 10 % more or less than in the mean, which dies at 5,300 cycles.
    assert!((5_250.0..5_450.0).contains(&mean(0)) && mean(0) < mean(1) && mean(1) < mean(2), "{text}");
    assert_eq!((lives["requirement"].as_u64(), lives["schemes"][0]["endless"].as_u64()), (Some(63), Some(0)));
    let table =
        tailcut(&["lifetime", "tlc-3d", "--requirement", "40", "--set", "erase.error_spread=0%"]).ok();
    assert!(table.contains("i-ispe") && table.contains("more than 40 raw bit errors"), "{table}");
    let under = ["--set", "geometry.blocks=24", "--set", "geometry.pages=16", "--cycles-per-erase", "500"];
    let load = "randwrite,bs=16k,iodepth=8,size=90%,time_based,runtime=1000h";
    let text = tailcut(
        &[&["lifetime", "tlc-3d", "--scheme", "ispe,aero", "--workload", load, "--json"], &under[..]]
            .concat(),
    )
    .ok();
    let lives: Value = serde_json::from_str(&text).unwrap();
    let [ispe, aero] = [0, 1].map(|i| &lives["schemes"][i]);
    assert!(ispe["ended"] == true && aero["ended"] == true, "{text}");
    assert!(aero["against_first"].as_f64().unwrap() > 1.1, "{text}");
    let stages = ispe["stages"].as_array().unwrap();
    let of = |name: &str| stages.iter().map(|stage| stage[name].as_f64().unwrap()).collect::<Vec<_>>();
    assert!(of("cycles_mean").is_sorted() && of("pulse_ns").is_sorted() && stages.len() >= 3, "{text}");
    assert!(of("spare_extents").iter().rev().is_sorted() && of("grown_bad").last() > Some(&0.0), "{text}");
    // One cycle of five is measured: the blocks die as in the run, and what is written follows from the run.
    let lives = |untimed: &str| {
        let load = "randrw,bs=16k,rwmixread=50,iodepth=4,size=90%,time_based,runtime=1000h";
        let level = "policy.wear.static-threshold.gap=1000";
        let set = ["--set", "geometry.blocks=24", "--set", "geometry.pages=16", "--set", level];
        let args = ["lifetime", "tlc-3d", "--scheme", "ispe", "--workload", load, "--json"];
        let few = ["--cycles-per-erase", "25", "--untimed-cycles", untimed];
        let text = tailcut(&[&args[..], &set, &few].concat()).ok();
        let lives: Value = serde_json::from_str(&text).unwrap();
        let life = &lives["schemes"][0];
        assert!(life["ended"] == true, "{text}");
        (life["written"].as_f64().unwrap(), life["cycles"][1].as_f64().unwrap())
    };
    let all = lives("0");
    // With one of two cycles, the other one is the warm-up, and none is left to pass without timing.
    for untimed in ["1", "4"] {
        let few = lives(untimed);
        assert!((few.0 / all.0 - 1.0).abs() < 0.2 && (few.1 / all.1 - 1.0).abs() < 0.05, "{all:?}, {few:?}");
    }
    // Blocks alone meet no writes that wait.
    let slack = "policy.erase_scheme.dpes.mode=slack";
    let of = |set: &[&str]| {
        let args = ["lifetime", "tlc-3d", "--scheme", "dpes", "--json"];
        tailcut(&[&args[..], set].concat())
    };
    let chooses = of(&["--set", slack]);
    assert_eq!(chooses.ok(), of(&[]).ok());
    assert!(of(&["--set", slack]).err.contains("lower voltage"));
    tailcut(&["lifetime", "tiny", "--scheme", "baseline"]).refused(&["baseline", "tlc-3d"]);
    tailcut(&["lifetime", "tiny"]).refused(&["ispe", "erase"]);
    tailcut(&["lifetime", "tlc-3d", "--fault", "die=0"]).refused(&["--fault", "--workload"]);
}

#[test]
fn a_converted_trace_is_the_same_workload_and_a_cut_one_a_part_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let (file, compact, part) = (path("t.csv"), path("t.tct"), path("part.tct"));
    std::fs::write(&file, trace()).unwrap();
    let info = |file: &str| -> Value {
        serde_json::from_str(&tailcut(&["trace", "info", file, "--json"]).ok()).unwrap()
    };
    let measures = |v: &Value| {
        ["requests", "read_fraction", "mean_bytes", "footprint_bytes", "span_ns"]
            .map(|name| v[name].to_string())
    };
    let original = info(&file);
    assert_eq!((original["format"].as_str(), original["requests"].as_u64()), (Some("msr"), Some(2000)));
    assert_eq!(original["span_ns"], 199_900_000);
    tailcut(&["trace", "convert", &file, &compact]).ok();
    assert_eq!(measures(&info(&compact)), measures(&original));
    tailcut(&["trace", "cut", &file, &part, "--from", "50ms", "--to", "100ms"]).ok();
    assert_eq!(info(&part)["requests"], 500);
    assert!(tailcut(&["trace", "info", &file]).ok().contains("burstiness"));

    let run = |file: &str, more: &[&str]| {
        let all =
            [&["run", "tiny", "--precondition", "sequential", "--json", "--workload", file], more].concat();
        summary(&tailcut(&all).ok())
    };
    let whole = run(&file, &[]);
    assert_eq!(digests(&whole), digests(&run(&compact, &[])));
    assert_eq!(whole["schemes"][0]["jobs"][0]["name"], "trace");

    // The options that change the replay change the measured trace.
    let runtime = |s: &Value| s["schemes"][0]["runtime_ns"].as_f64().unwrap();
    let requests = |s: &Value| s["workload"]["requests"].as_u64().unwrap();
    assert!((runtime(&run(&file, &["--rate-scale", "0.5"])) / runtime(&whole) - 2.0).abs() < 0.05);
    assert_eq!(requests(&run(&file, &["--limit", "100"])), 100);
    let looped = run(&file, &["--loop", "3"]);
    assert_eq!(requests(&looped), 6000);
    assert!((runtime(&looped) / runtime(&whole) - 3.0).abs() < 0.05);
    let doubled = run(&file, &["--size-scale", "2"]);
    assert_eq!(doubled["workload"]["mean_bytes"], 16384.0);
    let closed = run(&file, &["--closed-loop", "1"]);
    assert_eq!(requests(&closed), 2000);
    assert!(runtime(&closed) < runtime(&whole));
}

#[test]
fn a_trace_ages_its_drive_with_its_own_writes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.csv");
    std::fs::write(&file, trace()).unwrap();
    let ended = tailcut(&["run", "tiny", "--workload", file.to_str().unwrap(), "--json"]);
    assert!(ended.err.contains("folded into it"), "{}", ended.err);
    assert!(!ended.err.contains("did not become steady"), "{}", ended.err);
    let s = summary(&ended.ok());
    let past = &s["schemes"][0]["precondition"];
    assert_eq!(past["kind"], "steady");
    assert!(past["waf"].as_f64().unwrap() > 1.0);
}

#[test]
fn a_configuration_says_where_its_values_come_from() {
    let args = ["show", "config", "z-ssd", "--scheme", "t-es", "--set", "geometry.blocks=700"];
    let text = tailcut(&args).ok();
    assert!(text.contains("channels = 4") && text.contains("# device z-ssd: ATC'19 Table 1\n"), "{text}");
    let json = tailcut(&[&args[..], &["--json"]].concat()).ok();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["device"], "z-ssd");
    let blocks = serde_json::json!({"value": 700, "layer": "--set geometry.blocks=700"});
    assert_eq!(json["config"]["geometry.blocks"], blocks);
    let read = serde_json::json!({"value": ["3us"], "layer": "device z-ssd", "source": "ATC'19 Table 1; SLC has one page type"});
    assert_eq!(json["config"]["timing.read"], read);
    assert_eq!(json["config"]["policy.suspend_erase.timeout.after"]["layer"], "scheme t-es");
}

#[test]
fn keys_are_found_by_a_part_of_their_name_or_by_stars() {
    let keys = |pattern: &str| -> Vec<Value> {
        let text = tailcut(&["show", "keys", pattern, "--json"]).ok();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    };
    let timeout = keys("*.timeout.*");
    let names: Vec<&str> = timeout.iter().map(|k| k["key"].as_str().unwrap()).collect();
    assert_eq!(names, ["policy.suspend_erase.timeout.after", "policy.suspend_erase.timeout.clock"]);
    assert_eq!(timeout[0]["default"], serde_json::json!({"value": "\"64ms\""}));
    assert_eq!((&timeout[0]["type"], &timeout[0]["units"]), (&"time".into(), &"ns, us, ms, s, h, d".into()));
    assert_eq!(timeout[1]["values"][1]["name"], "oldest-write");
    let page = &keys("geometry.page?")[0];
    assert_eq!((&page["key"], &page["default"]), (&"geometry.pages".into(), &"required".into()));
    assert_eq!(page["range"]["most"], serde_json::json!({"value": "65536", "excluded": false}));
    let all: Vec<Value> = serde_json::from_str(&tailcut(&["show", "keys", "--json"]).ok()).unwrap();
    assert!(all.len() > 110 && all.iter().any(|k| k["key"] == "policy.schedule"));
    tailcut(&["show", "keys", "geometri.pages"]).refused(&["no key matches", "`geometry.pages`"]);
    tailcut(&["show", "keys", "gc", "--markdown"]).refused(&["--markdown"]);
}

/// A user's device file may change another device.
#[test]
fn a_device_file_may_have_a_base() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("lab")).unwrap();
    std::fs::write(dir.path().join("lab/half.toml"), "base = 'tiny'\n[geometry]\nblocks = 64  # measured\n")
        .unwrap();
    let mine = dir.path().join("mine.toml");
    std::fs::write(&mine, "base = 'lab/half.toml'\n[geometry]\npages = 32\n").unwrap();
    let mine = mine.to_str().unwrap();
    let run = |device: &str, sets: &[&str]| {
        let sets: Vec<&str> = sets.iter().flat_map(|s| ["--set", s]).collect();
        let args = ["run", device, "--workload", "randread,number_ios=500", "--json"];
        digests(&summary(&tailcut(&[&args[..], &sets].concat()).ok()))
    };
    assert_eq!(run(mine, &[]), run("tiny", &["geometry.blocks=64", "geometry.pages=32"]));
    let json: Value = serde_json::from_str(&tailcut(&["show", "config", mine, "--json"]).ok()).unwrap();
    assert_eq!(json["config"]["geometry.blocks"]["source"], "measured");
}

/// Completion scripts and manual pages are generated from the command line itself.
#[test]
fn shells_and_man_know_the_commands() {
    let commands = ["run", "explain", "report", "show", "trace", "reproduce", "lifetime", "bench", "demo"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = tailcut(&["completions", shell]).ok();
        for word in commands.iter().chain(&["--requests-parquet", "rain-bound"]) {
            let option = word.trim_start_matches('-');
            assert!(script.contains(option), "{shell}: no {word}");
        }
    }
    tailcut(&["completions", "csh"]).refused(&["csh", "fish"]);
    let page = tailcut(&["man"]).ok();
    assert!(
        page.contains(".TH tailcut 1")
            && commands.iter().all(|c| page.contains(&format!("tailcut\\-{c}(1)"))),
        "{page}"
    );
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("man1");
    tailcut(&["man", "--dir", folder.to_str().unwrap()]).ok();
    let pages = common::files(&folder);
    for name in ["tailcut.1", "tailcut-run.1", "tailcut-trace-info.1", "tailcut-show-config.1"] {
        assert!(pages.contains(&name.to_string()), "no {name} in {pages:?}");
    }
    let run = std::fs::read_to_string(folder.join("tailcut-run.1")).unwrap();
    assert!(run.contains("precondition") && run.contains("requests\\-parquet"), "{run}");
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    tailcut(&["man", "--dir", file.to_str().unwrap()]).refused(&["cannot write to", "file"]);
}

/// The script completes, if the shell is installed.
#[cfg(unix)]
#[test]
fn bash_completes_a_command() {
    let script = tailcut(&["completions", "bash"]).ok();
    let ask =
        "\nCOMP_WORDS=(tailcut repr); COMP_CWORD=1; _tailcut tailcut repr tailcut; echo \"${COMPREPLY[@]}\"";
    match std::process::Command::new("bash").args(["-c", &(script + ask)]).output() {
        Ok(done) => assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "reproduce", "{done:?}"),
        Err(e) => println!("skipped: no bash here ({e})"),
    }
}

#[test]
fn the_tour_runs_and_says_what_to_try_next() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("p.html");
    let text = common::piped(&["demo", "--requests", "20000", "--report", page.to_str().unwrap()]).ok();
    let last = text.lines().last().unwrap();
    assert!(last.contains(page.to_str().unwrap()) && last.contains("browser"), "{text}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("id=\"ccdf\""));
    for needle in ["baseline", "rps", "rps, slowest reads", "sum = mean", "Next"] {
        assert!(text.contains(needle), "`{needle}` is not in\n{text}");
    }
    assert!(
        text.lines().all(|l| l.chars().count() <= 80
            || l.contains("number_ios")
            || l.contains("run1")
            || l.contains("p.html")),
        "{text}"
    );
    // What to run next is run as it stands.
    let program = env!("CARGO_BIN_EXE_tailcut");
    let next: Vec<&str> = text.lines().filter_map(|l| l.trim_start().strip_prefix(program)).collect();
    assert!(next.len() >= 3, "{text}");
    for line in next {
        let mut command = common::command(&dir.path().join("cache"));
        let ended = common::end(command.current_dir(&dir).args(line.split_whitespace()));
        assert!(!ended.ok().is_empty(), "{line}");
    }
}

#[test]
fn the_whole_tour_fits_a_screen() {
    let dir = tempfile::tempdir().unwrap();
    let tour = || {
        let mut command = common::command(&dir.path().join("cache"));
        command.env_remove("COLUMNS").current_dir(&dir).arg("demo");
        common::end(&mut command)
    };
    let text = tour().ok();
    assert!(text.ends_with("open tailcut-demo.html in a browser\n"), "{text}");
    assert!(text.lines().count() <= 60, "{} lines\n{text}", text.lines().count());
}

#[test]
fn benchmarks_are_compared_pair_by_pair() {
    let this = env!("CARGO_BIN_EXE_tailcut");
    let args = ["bench", "--tiny", "--only", "mqsim-e", "--repeat", "3", "--against", this];
    let text = tailcut(&args).ok();
    assert!(text.contains("ratio") && text.contains("mqsim-e/mixed-qd16"), "{text}");
    let report: Value = serde_json::from_str(&tailcut(&[&args[..], &["--json"]].concat()).ok()).unwrap();
    for line in report["benchmarks"].as_array().unwrap() {
        assert_eq!(line["cpu_seconds"].as_array().unwrap().len(), 3);
        assert_eq!(line["cpu_seconds_other"].as_array().unwrap().len(), 3);
        let ratio: Vec<f64> = line["ratio"].as_array().unwrap().iter().map(|r| r.as_f64().unwrap()).collect();
        assert!(ratio.is_sorted() && ratio[0] > 0.0, "{ratio:?}");
        assert!(line.get("other_digests").is_none(), "{line}");
    }
    tailcut(&["bench", "--tiny", "--against", "no/such/program"]).refused(&["`no/such/program`"]);
}

#[test]
fn every_benchmark_runs() {
    let run = || -> Value { serde_json::from_str(&tailcut(&["bench", "--tiny", "--json"]).ok()).unwrap() };
    let (first, second) = (run(), run());
    let lines = first["benchmarks"].as_array().unwrap();
    let names: Vec<&str> = lines.iter().map(|l| l["name"].as_str().unwrap()).collect();
    for name in ["mqsim-e/read-qd32", "mqsim-default/read-aged-70", "mqsim-default/restore", "growth/100M"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let digest_of = |name: &str| &lines[names.iter().position(|n| *n == name).unwrap()]["digest"];
    assert_ne!(digest_of("rif-2t/errors-64k"), digest_of("rif-2t/no-errors-64k"));
    for (a, b) in lines.iter().zip(second["benchmarks"].as_array().unwrap()) {
        assert_eq!(a["digest"], b["digest"], "{}", a["name"]);
        assert_eq!(a["digest"].as_str().unwrap().len(), 16, "{}", a["name"]);
        if a.get("requests").is_some() {
            assert!(a["requests_per_cpu_second"].as_f64().unwrap() > 0.0);
            assert!(a["events_per_cpu_second"].as_f64().unwrap() > 0.0);
            assert!(a["pool_bytes"].as_u64().unwrap() > 0);
            assert_eq!(a["page_faults"].as_u64().is_some(), cfg!(target_os = "linux"));
        }
    }
}
