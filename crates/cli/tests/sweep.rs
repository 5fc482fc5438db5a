//! Does a sweep run every point once, keep what is finished, and say what is wrong with a design?

mod common;

use common::chromium::{browser, open};
use common::{Ended, command, end, summary, tailcut};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const JOB: &str = "randrw,bs=4k,rwmixread=70,iodepth=8,number_ios=4000";

/// Runs a sweep without a cache; `args` without the folder.
fn sweep(out: &Path, args: &[&str]) -> Ended {
    tailcut(&[&["sweep", "--no-cache", "--out", out.to_str().unwrap()], args].concat())
}

/// The rows of the results, by column.
fn rows(out: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(out.join("results.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    // No cell of these tests but errors has a comma.
    let row =
        |line: &str| names.iter().zip(line.split(',')).map(|(n, v)| (n.to_string(), v.to_string())).collect();
    lines.map(row).collect()
}

fn column(out: &Path, name: &str) -> Vec<String> {
    rows(out).iter().map(|row| row.get(name).unwrap_or_else(|| panic!("no column {name}")).clone()).collect()
}

fn new(dir: &TempDir, name: &str) -> PathBuf {
    dir.path().join(name)
}

#[test]
fn a_product_runs_once_and_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let out = new(&dir, "sweep");
    let axes = ["tiny", "--workload", JOB, "--axis", "workload.iodepth=1,8", "--axis", "scheme=baseline,rps"];
    let text = sweep(&out, &axes).ok();
    assert!(text.contains("4 points: 4 finished (0 read back), 0 failed"), "{text}");
    assert_eq!(column(&out, "axis.workload.iodepth"), ["1", "1", "8", "8"]);
    assert_eq!(column(&out, "axis.scheme"), ["baseline", "rps", "baseline", "rps"]);
    let parquet = std::fs::read(out.join("results.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));

    // The same results as a run of both schemes, and figures that agree with its summary.
    let one = tailcut(&["run", "tiny", "--workload", JOB, "--scheme", "baseline,rps", "--json"]).ok();
    let one = summary(&one);
    let digests = column(&out, "digest");
    assert_eq!(common::digests(&one), digests[2..]);
    let scheme = &one["schemes"][1];
    assert_eq!(
        rows(&out)[3]["read_p99.9_ns"],
        scheme["read"]["lat_ns"]["percentile"]["99.900000"].to_string()
    );
    let waf: f64 = rows(&out)[3]["waf"].parse().unwrap();
    assert_eq!(Some(waf), scheme["waf"].as_f64());
    assert_eq!(rows(&out)[3]["host_capacity_bytes"], one["host_capacity_bytes"].to_string());

    // Both schemes age their drive in the same way: of the points of an aged state one has made it.
    let made = |file: &Path| {
        let point: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        point["scheme"]["precondition"]["cached"] == false
    };
    let points = || std::fs::read_dir(out.join("points")).unwrap().map(|e| e.unwrap().path());
    assert_eq!((points().count(), points().filter(|p| made(p)).count()), (4, 1));

    let before = std::fs::read_to_string(out.join("results.csv")).unwrap();
    std::fs::remove_file(out.join("results.parquet")).unwrap();
    let text = sweep(&out, &axes).ok();
    assert!(text.contains("4 finished (4 read back)"), "{text}");
    assert_eq!(std::fs::read_to_string(out.join("results.csv")).unwrap(), before);
    assert_eq!(std::fs::read(out.join("results.parquet")).unwrap(), parquet);

    // A damaged point runs again.
    let damaged = points().next().unwrap();
    std::fs::write(&damaged, "{").unwrap();
    assert!(sweep(&out, &axes).ok().contains("4 finished (3 read back)"));
    assert_eq!(column(&out, "digest"), digests);

    let other = ["tiny", "--workload", JOB, "--axis", "scheme=baseline,rps"];
    sweep(&out, &other).refused(&["holds another sweep", "its `axis` is"]);
    let name = out.join("results.csv");
    sweep(dir.path(), &axes).refused(&["is not empty (`sweep`) and holds no sweep"]);
    assert!(name.is_file());
}

#[test]
fn a_killed_sweep_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (out, whole) = (new(&dir, "killed"), new(&dir, "whole"));
    let job = JOB.replace("4000", "40000");
    let axes = ["tiny", "--workload", &job, "--threads", "1", "--axis", "workload.iodepth=1,2,3,4,5,6,7,8"];
    let path = out.to_str().unwrap();
    let mut child = command(Path::new("/nonexistent"))
        .args([&["sweep", "--no-cache", "--out", path], &axes[..]].concat())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let finished = || {
        let entries = std::fs::read_dir(out.join("points")).into_iter().flatten().flatten();
        entries.filter(|e| e.path().extension().is_some_and(|x| x == "json")).count()
    };
    let began = Instant::now();
    while finished() < 2 {
        assert!(began.elapsed() < Duration::from_secs(120), "no point was finished");
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = finished();
    assert!((2..8).contains(&kept), "{kept} points");
    // What a write in progress leaves.
    std::fs::write(out.join("points/0.json.7.partial"), "{").unwrap();
    let text = sweep(&out, &axes).ok();
    assert!(text.contains(&format!("8 finished ({kept} read back)")), "{text}");
    assert!(!out.join("points/0.json.7.partial").exists());
    sweep(&whole, &axes).ok();
    assert_eq!(column(&out, "digest"), column(&whole, "digest"));
    assert_eq!(column(&out, "key"), column(&whole, "key"));
}

#[test]
fn a_point_that_fails_is_recorded_and_the_others_run() {
    let dir = tempfile::tempdir().unwrap();
    let out = new(&dir, "sweep");
    // Nothing interrupts an erase under the schedule of the device.
    let axes = ["--axis", "scheme=baseline,rps", "--axis", "policy.suspend_erase=never,timeout"];
    let ended = sweep(&out, &[&["tiny", "--workload", JOB], &axes[..]].concat());
    assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("! point 2 failed: "), "{}", ended.out);
    assert!(ended.err.contains("error: 1 of 4 points failed"), "{}", ended.err);
    assert_eq!(column(&out, "status"), ["finished", "failed", "finished", "finished"]);
    let text = std::fs::read_to_string(out.join("results.csv")).unwrap();
    assert!(
        text.lines().nth(2).unwrap().contains("policy.suspend_erase: `timeout` with policy.schedule"),
        "{text}"
    );
}

#[test]
fn random_points_are_those_of_the_seed() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (new(&dir, "one"), new(&dir, "other"));
    let args = |seed| {
        [
            "tiny",
            "--workload",
            JOB,
            "--random",
            "5",
            "--seed",
            seed,
            "--axis",
            "workload.rwmixread=50..90",
            "--axis",
            "scheme=baseline,rps",
        ]
    };
    let text = sweep(&one, &args("1")).ok();
    assert!(text.contains("5 points: 5 finished"), "{text}");
    sweep(&other, &args("2")).ok();
    let shares = column(&one, "axis.workload.rwmixread");
    assert!(shares.iter().all(|s| (50..=90).contains(&s.parse::<u32>().unwrap())), "{shares:?}");
    assert_ne!(shares, column(&other, "axis.workload.rwmixread"));
}

#[test]
fn a_file_has_a_design_with_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, file, out) = (new(&dir, "trace.csv"), new(&dir, "design.toml"), new(&dir, "sweep"));
    let lines: String = (0..2000)
        .map(|i| format!("{},h,0,Read,{},4096,0\n", 128166372003061629u64 + i * 5000, i * 4096))
        .collect();
    std::fs::write(&trace, lines).unwrap();
    let design = format!(
        "device = \"tiny\"\nworkload = '{}'\nruns = 2\n[[axis]]\nkey = \"workload.rate_scale\"\nvalues = [1, 0.5]\n",
        trace.display()
    );
    std::fs::write(&file, &design).unwrap();
    let path = file.to_str().unwrap();
    sweep(&out, &[path]).ok();
    assert_eq!(
        (column(&out, "read_requests"), column(&out, "runs")),
        (vec!["2000".into(); 2], vec!["2".into(); 2])
    );
    let times: Vec<f64> = column(&out, "runtime_ns").iter().map(|t| t.parse().unwrap()).collect();
    assert!((times[1] / times[0] - 2.0).abs() < 0.05, "{times:?}");
    // Another content of the trace is another sweep of the same design: the points run again.
    std::fs::write(&trace, std::fs::read_to_string(&trace).unwrap().replace(",8192,4096", ",8192,8192"))
        .unwrap();
    assert!(sweep(&out, &[path]).ok().contains("2 finished (0 read back)"));

    for (from, to, said) in [
        ("rate_scale", "rate_scael", "axes are workload.rate_scale"),
        ("[1, 0.5]", "[]", "at least one value"),
        ("[1, 0.5]", "[1, 1]", "`1` is given twice"),
        ("[1, 0.5]", "[[1]]", "a value is a text, a number"),
        ("[1, 0.5]", "[1, -2]", "is not a number above 0"),
        ("runs = 2", "rums = 2", "rums"),
        ("runs = 2", "runs = 0", "1 to 1000"),
        ("runs = 2", "precondition = \"old\"", "old"),
        ("device = \"tiny\"", "", "no device"),
    ] {
        std::fs::write(&file, design.replace(from, to)).unwrap();
        sweep(&new(&dir, "never"), &[path]).refused(&[said]);
    }
    assert!(!new(&dir, "never").exists());
}

#[test]
fn a_design_that_cannot_be_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = new(&dir, "never");
    let many = (0..400).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let (many, more) = (format!("seed={many}"), format!("workload.number_ios={many}"));
    for (axes, said) in [
        (vec!["shceme=baseline"], "did you mean `scheme`?"),
        (vec!["ftl.over_provisionning=10%,20%"], "did you mean `over_provisioning`?"),
        (vec!["ftl.over_provisioning=10%,lots"], "axis `ftl.over_provisioning`, value `lots`"),
        (vec!["scheme=baseline,rsp"], "`rps`"),
        (vec!["workload.iodeph=1,2"], "iodep"),
        (vec!["scheme="], "no value may be empty"),
        (vec!["scheme"], "an axis is such as"),
        (vec!["seed=1,two"], "a seed is a whole number"),
        (vec!["scheme=rps", "scheme=es"], "given twice"),
        (vec!["host.submit_latency=1us..5us"], "only --random"),
        (vec![&many, &more], "160000 points; at most 100000"),
    ] {
        let axes = axes.iter().flat_map(|axis| ["--axis", axis]);
        sweep(&out, &["tiny", "--workload", JOB].into_iter().chain(axes).collect::<Vec<_>>())
            .refused(&[said]);
    }
    sweep(&out, &["tiny"]).refused(&["the file of a design", "--axis"]);
    sweep(&out, &["tiny", "--axis", "scheme=rps", "--random", "0"]).refused(&["from 1 to 100000"]);
    assert!(!out.exists());
    let ended =
        end(command(Path::new("/nonexistent")).args(["sweep", "x.toml", "--out", "y", "--seed", "3"]));
    assert_eq!(ended.code, Some(2), "an option of a design without axes: {}", ended.err);
}

/// The page of a sweep has its curves and fronts, and draws without an error.
#[test]
fn a_sweep_has_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let out = new(&dir, "page");
    let axes = [
        &["--axis", "scheme=baseline,rps"][..],
        &["--axis", "ftl.over_provisioning=20%,15%,25%"],
        &["--axis", "host.submit_latency=1us"],
    ];
    sweep(&out, &[&["tiny", "--workload", JOB][..], &axes.concat()].concat()).ok();
    let folder = out.display().to_string();
    let said = tailcut(&["report", &folder]).ok();
    assert!(said.contains("report.html"), "{said}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.len() < 6_000_000 && !page.contains("http://") || page.contains("plotly"), "{}", page.len());
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["points"].as_array().unwrap().len(), 6);
    assert_eq!(data["axes"][1]["values"], serde_json::json!(["15%", "20%", "25%"]));
    assert_eq!(data["axes"][1]["numbers"], serde_json::json!([15.0, 20.0, 25.0]));
    let names: Vec<&str> =
        data["figures"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"read_p99.9_ns") && names.contains(&"host_capacity_bytes"), "{names:?}");
    for (args, why) in [
        (&["report", &folder, "--csv=results"][..], "results.csv"),
        (&["report", &folder, &folder, "-o", "x.html"], "no other folder"),
    ] {
        let refused = tailcut(args);
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains(why), "{}", refused.err);
    }
    std::fs::write(out.join("results.csv"), "point,status\n1\n").unwrap();
    assert!(tailcut(&["report", &folder]).err.contains("results.csv: "));
    let Some(browser) = browser() else { return };
    let url = format!("file://{}", out.join("report.html").display());
    let (dom, messages) = open(&browser, dir.path(), &["--dump-dom"], &url);
    assert!(dom.contains("data-drawn=\"2\""), "both figures are drawn: {messages}");
    assert!(!messages.contains("CONSOLE"), "{messages}");
    assert!(dom.contains("On the front: points "), "the front has points");
    // Two schemes are two curves, with three points each; the front has a line of its own.
    for (id, traces) in [("curve", 2), ("front-points", 3)] {
        let div = dom.split(&format!("id=\"{id}\"")).nth(1).unwrap().split('>').next().unwrap();
        assert!(div.contains(&format!("data-rendered=\"{traces}\"")), "{id}: {div}");
    }
}

/// A point that is not what it seems is marked in its row, and what is set without effect is said.
#[test]
fn points_that_are_not_what_they_seem_are_marked() {
    let dir = tempfile::tempdir().unwrap();
    let out = new(&dir, "sweep");
    let job = "randrw,bs=4k,size=70%,number_ios=200";
    let axes = ["tiny", "--workload", job, "--axis", "scheme=baseline,fifo", "--axis", "faults.read=0%,5%"];
    let ended = sweep(&out, &axes);
    let (text, err) = (ended.out.clone(), ended.err.clone());
    ended.ok();
    let marked: Vec<&str> = text.lines().filter_map(|l| l.trim().split_once(" !").map(|row| row.0)).collect();
    assert_eq!(marked, ["1", "2", "3", "4"], "{text}");
    for note in [
        "! point 1: nothing was collected in this run",
        "! point 2: 6 of its reads (5.5 %) ended without success",
        "! point 3: same result as point 1: nothing was erased in this run",
    ] {
        assert!(text.contains(note), "{note}\n{text}");
    }
    assert!(err.contains("warning: point 3 and 1 more: scheme `fifo` changes nothing on tiny"), "{err}");
    let axes = ["tiny", "--workload", "randread,number_ios=200", "--axis", "age.pe_cycles=0,1000"];
    let ended = sweep(&new(&dir, "inert"), &axes);
    assert!(ended.err.contains("nothing reads age.pe_cycles here"), "{}", ended.err);
    assert!(ended.out.contains("! point 2: same result as point 1"), "{}", ended.out);
    // A point as long as this is what it seems.
    let axes = ["tiny", "--workload", "randrw,bs=4k,number_ios=20000", "--axis", "seed=1,2"];
    let ended = sweep(&new(&dir, "sound"), &axes);
    assert!(!ended.out.contains('!') && !ended.err.contains("warning"), "{} {}", ended.out, ended.err);
}

/// Drives whose presets differ in what they fill and in their spare space, beside each other.
#[test]
fn drives_that_differ_in_fill_and_spare_space_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let trace = new(&dir, "t.csv");
    let line = |i: u64| {
        format!(
            "1,{},{},4096,{}\n",
            if i.is_multiple_of(3) { 'W' } else { 'R' },
            i * 7919 % 20_000 * 4096,
            i * 900
        )
    };
    std::fs::write(&trace, (0..400).map(line).collect::<String>()).unwrap();
    let args = ["advise", trace.to_str().unwrap(), "--no-cache", "--target", "read.p50=1s"];
    let advise = |more: &[&str]| tailcut(&[&args[..], &["--devices", "tiny,mqsim-e"], more].concat());
    let ended = advise(&[]);
    for piece in [
        "the spare space of the devices differs",
        "tiny 12.0 %, mqsim-e 7.0 % of the raw flash; `--set ftl.over_provisioning=` gives all the same",
        "1 of 2 choices: tiny fills 90.0 % of the drive before a trace (age.fill)",
        "1 of 2 choices: mqsim-e fills 70.0 %",
    ] {
        assert!(ended.err.contains(piece), "{piece}\n{}", ended.err);
    }
    assert!(ended.out.contains("baseline !"), "{}", ended.out);
    assert!(ended.out.contains("! tiny with baseline: nothing was collected in this run"), "{}", ended.out);
    let json: Value = serde_json::from_str(&advise(&["--json"]).out).unwrap();
    assert!(json[0]["doubts"][0].as_str().unwrap().contains("nothing was collected"), "{json}");
    let ended = advise(&["--set", "age.fill=70%", "--set", "ftl.over_provisioning=10%"]);
    assert!(!ended.err.contains("spare space") && !ended.err.contains("age.fill"), "{}", ended.err);
    // Two runs that are compared.
    let folder = |device: &str| {
        let out = new(&dir, device).display().to_string();
        tailcut(&["run", device, "--workload", trace.to_str().unwrap(), "--out", &out]).ok();
        out
    };
    let said = tailcut(&["compare", &folder("tiny"), &folder("mqsim-e")]).ok();
    assert!(said.contains("A fills 90% of its drive before the trace and B 70% (age.fill)"), "{said}");
    assert!(said.contains("A: nothing was collected in this run"), "{said}");
}

#[test]
fn latencies_that_hardly_differ_can_be_read_off() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = new(&dir, "page");
    let job = "randread,bs=4k,iodepth=1,number_ios=2000";
    sweep(&out, &["tiny", "--workload", job, "--axis", "host.submit_latency=2us,3us,5us"]).ok();
    tailcut(&["report", &out.display().to_string()]).ok();
    let url = format!("file://{}", out.join("report.html").display());
    let (dom, _) = open(&browser, dir.path(), &["--dump-dom"], &url);
    let curve = dom.split("id=\"curve\"").nth(1).unwrap().split("id=\"front-points\"").next().unwrap();
    let ticks = curve.matches("class=\"ytick\"").count();
    assert!((3..=8).contains(&ticks), "{ticks} ticks");
}

#[test]
fn advice_is_by_targets() {
    let advise = |args: &[&str]| {
        let all = ["advise", JOB, "--no-cache", "--devices", "tiny,mqsim-e", "--schemes", "baseline,rps"];
        tailcut(&[&all[..], args].concat())
    };
    let easy = advise(&["--target", "read.p50=1s", "--target", "write.mean=1s"]);
    let text = easy.ok();
    assert!(text.contains("4 of 4 choices meet the targets; most margin: "), "{text}");
    assert!(text.contains("read.p50=1s") && text.contains("least write amplification"), "{text}");
    let hard = advise(&["--target", "read.p50=1us", "--json"]);
    assert_eq!(hard.code, Some(3), "{}", hard.err);
    let choices: Value = serde_json::from_str(&hard.out).unwrap();
    assert_eq!(choices.as_array().unwrap().len(), 4);
    for choice in choices.as_array().unwrap() {
        assert_eq!(choice["worth"], "misses");
        assert!(choice["margin"].as_f64().unwrap() < 0.0 && choice["host_capacity_bytes"].as_u64() > Some(0));
    }
    // A choice that cannot run is said, and the others are judged.
    let dir = tempfile::tempdir().unwrap();
    let out = new(&dir, "kept").display().to_string();
    let some = tailcut(&[
        "advise",
        JOB,
        "--no-cache",
        "--target",
        "read.p50=1s",
        "--devices",
        "tiny,z-ssd-none",
        "--out",
        &out,
    ]);
    assert!(some.err.contains("z-ssd-none") || some.out.contains("z-ssd-none"), "{} {}", some.out, some.err);
    assert_eq!(advise(&["--target", "read.p50"]).code, Some(2));
}
