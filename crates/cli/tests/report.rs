//! `tailcut report`: the page, single figures and tables of a run.

mod common;

use common::{summary, tailcut};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A name that would be a command in HTML, in a chart and in LaTeX, if it were not escaped.
const NAME: &str = "a<script>alert(1)</script>&_b";

/// A run of two schemes whose job has a bad name, and its page; made once.
static RUN: LazyLock<(tempfile::TempDir, String)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let job = format!(
        "[{NAME}]\nrw=randrw\nbs=4k\nrwmixread=70\niodepth=8\nsize=70%\nnumber_ios=30000\nfsync=50\n"
    );
    std::fs::write(dir.path().join("job.fio"), job).unwrap();
    let job = dir.path().join("job.fio");
    let args = ["run", "tiny", "--scheme", "baseline,rps", "--workload", job.to_str().unwrap()];
    tailcut(&[&args[..], &["--out", out.to_str().unwrap(), "--precondition", "steady"]].concat()).ok();
    let said = tailcut(&["report", out.to_str().unwrap()]).ok();
    let page = out.join("report.html");
    assert_eq!(said, format!("written to {}\n", page.display()));
    let text = std::fs::read_to_string(page).unwrap();
    (dir, text)
});

fn folder() -> PathBuf {
    RUN.0.path().join("run")
}

/// The data of a page's figures.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").expect("the data");
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
}

#[test]
fn every_figure_has_its_data() {
    let data = data(&RUN.1);
    let made = summary(&std::fs::read_to_string(folder().join("summary.json")).unwrap());
    assert_eq!(data["kinds"], serde_json::json!(["read", "write", "flush"]));
    for (shown, scheme) in data["schemes"].as_array().unwrap().iter().zip(made["schemes"].as_array().unwrap())
    {
        assert_eq!(shown["name"], scheme["name"]);
        for kind in ["read", "write", "flush"] {
            let (of, side) = (&shown["of"][kind], &scheme[kind]);
            assert_eq!(of["requests"], side["total_ios"]);
            // The curve begins with all requests and ends with the slowest.
            let (ns, share) = (of["ns"].as_array().unwrap(), of["share"].as_array().unwrap());
            assert_eq!((ns.len(), share[0].as_f64()), (share.len(), Some(1.0)));
            let (last, max) = (ns.last().unwrap().as_f64().unwrap(), side["lat_ns"]["max"].as_f64().unwrap());
            assert!(last <= max && last >= max * 0.998, "{kind}: {last} and {max}");
            let least = share.last().unwrap().as_f64().unwrap() * of["requests"].as_f64().unwrap();
            assert!((0.99..5.0).contains(&least), "{kind}: {least} requests at the end");
            assert_eq!(of["blame"].as_array().unwrap().len(), side["blame"].as_array().unwrap().len());
            // Every request is in one cell of the heat map.
            let heat = &shown["time"]["of"][kind];
            let cells = |row: &Value| -> u64 {
                row.as_array().unwrap()[1..].iter().map(|n| n.as_u64().unwrap()).sum()
            };
            let rows = heat["counts"].as_array().unwrap();
            assert_eq!(rows.iter().map(cells).sum::<u64>(), of["requests"].as_u64().unwrap());
            assert_eq!(rows.len(), shown["time"]["at"].as_array().unwrap().len());
        }
        assert!(shown["of"]["read"]["bands"].as_array().unwrap().len() > 10, "confidence intervals");
        let time = &shown["time"];
        let number =
            |list: &str| time[list].as_array().unwrap().iter().filter_map(Value::as_f64).sum::<f64>();
        let ended = scheme["series"].as_array().unwrap().iter().filter_map(|p| p["collections"].as_f64());
        assert_eq!(number("collections"), ended.fold(0.0, f64::max));
        assert!(number("free") > 0.0 && number("buffer") > 0.0 && number("channels") > 0.0);
        // Weighted by time, the use by interval is that of the run.
        let used = |list: &str| {
            let each = time[list].as_array().unwrap().iter().zip(time["length"].as_array().unwrap());
            let sum: f64 = each.map(|(share, ns)| share.as_f64().unwrap_or(0.0) * ns.as_f64().unwrap()).sum();
            sum / scheme["runtime_ns"].as_f64().unwrap()
        };
        for part in ["dies", "channels"] {
            let whole = scheme["utilisation"][part]["mean"].as_f64().unwrap();
            assert!((used(part) - whole).abs() < 0.02, "{part}: {} and {whole}", used(part));
        }
    }
}

#[test]
fn the_page_is_whole_safe_and_small() {
    let page = &RUN.1;
    assert!(page.len() < 6_000_000, "{} bytes", page.len());
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"));
    // Outside the scripts nothing refers to anything else, and inside the data nothing ends them.
    let (head, rest) = page.split_once("<script type=\"application/json\"").unwrap();
    assert!(
        !head.contains("http://") && !head.contains("https://") && !head.contains("<script"),
        "a reference"
    );
    for loads in ["src=", "@import", "url(", "<link", "<iframe", "<img"] {
        assert!(!head.contains(loads), "{loads}");
    }
    assert_eq!(page.matches("<script").count() - rest_of_plotly(rest), 3);
    assert!(
        head.contains("a&#60;script&#62;alert(1)") || head.contains("a&lt;script&gt;alert(1)"),
        "escaped"
    );
    for part in [
        "Configuration",
        "geometry.channels",
        "The slowest requests",
        "p99.99",
        "WAF",
        "Its die was busy with",
    ] {
        assert!(head.contains(part), "no {part}");
    }
}

/// The script of the charts makes such elements itself.
fn rest_of_plotly(rest: &str) -> usize {
    let plotly = rest.split("</script>").nth(1).expect("the script of the charts");
    plotly.matches("<script").count().saturating_sub(1)
}

#[test]
fn only_a_page_of_its_own_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (run, at) = (folder(), |name: &str| dir.path().join(name).to_str().unwrap().to_string());
    let run = run.to_str().unwrap();
    std::fs::write(at("mine.html"), "mine").unwrap();
    tailcut(&["report", run, "-o", &at("mine.html")]).refused(&["mine.html", "would be lost"]);
    assert_eq!(std::fs::read_to_string(at("mine.html")).unwrap(), "mine");
    tailcut(&["report", run, "-o", &at("page.html")]).ok();
    tailcut(&["report", run, "-o", &at("page.html")]).ok();
    tailcut(&["report", run, "-o", &at("no/page.html")]).refused(&["no/page.html"]);
    tailcut(&["report", run, run]).refused(&["-o FILE.html"]);
    tailcut(&["report", run, run, "-o", &at("two.html")]).ok();
    let two = data(&std::fs::read_to_string(at("two.html")).unwrap());
    let names: Vec<&str> =
        two["schemes"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["run (1): baseline", "run (1): rps", "run (2): baseline", "run (2): rps"]);
    // Bad targets are refused before anything runs.
    tailcut(&["run", "tiny", "--report", &at("mine.html")]).refused(&["mine.html", "would be lost"]);
}

#[test]
fn figures_and_tables_can_be_had_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (run, at) = (folder(), |name: &str| dir.path().join(name).to_str().unwrap().to_string());
    let run = run.to_str().unwrap();
    for (figure, needles) in [
        ("ccdf", ["share at least as long", "<polyline", "<polygon"]),
        ("blame", ["Bars from the left: baseline, rps", "<rect", "die_wait"]),
        ("heat", ["time, ms", "requests", "latency of reads"]),
    ] {
        let name = at(&format!("{figure}.svg"));
        for _ in 0..2 {
            tailcut(&["report", run, "--figure", figure, "-o", &name]).ok();
        }
        let svg = std::fs::read_to_string(&name).unwrap();
        assert!(svg.contains("width=\"241pt\""), "{}", &svg[..300]);
        for needle in needles {
            assert!(svg.contains(needle), "{figure}: no {needle}");
        }
        let write = ["report", run, "--figure", figure, "--kind", "write", "--scheme", "rps", "-o", &name];
        tailcut(&write).ok();
        assert_ne!(std::fs::read_to_string(&name).unwrap(), svg);
    }
    tailcut(&["report", run, "--figure", "ccdf", "-o", &at("x.png")]).refused(&[".svg or .pdf"]);
    tailcut(&["report", run, "--figure", "ccdf", "--kind", "trim", "-o", &at("x.svg")])
        .refused(&["no trims"]);
    tailcut(&["report", run, "--figure", "heat", "--scheme", "es", "-o", &at("x.svg")])
        .refused(&["`es`", "baseline, rps"]);
    let csv = tailcut(&["report", run, "--csv"]).ok();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 3, "{csv}");
    let cells = |line: &str| line.split(',').count();
    assert!(lines.iter().all(|line| cells(line) == cells(lines[0])), "{csv}");
    assert!(lines[1].starts_with("run,baseline,read,") && lines[0].contains(",p99.9_low_ns,"), "{csv}");
    assert!(tailcut(&["report", run, "--csv=blame"]).ok().contains("run,rps,write,99.9,"));
    let latex = tailcut(&["report", run, "--latex"]).ok();
    assert!(latex.contains("\\toprule") && latex.contains("baseline & Reads & "), "{latex}");
    assert!(tailcut(&["report", run, "--latex=blame"]).ok().contains("die\\_wait."));
    // A table goes to a file too, and replaces none but its own.
    for _ in 0..2 {
        tailcut(&["report", run, "--csv", "-o", &at("t.csv")]).ok();
        tailcut(&["report", run, "--latex", "-o", &at("t.tex")]).ok();
    }
    assert_eq!(std::fs::read_to_string(at("t.csv")).unwrap(), csv);
    tailcut(&["report", run, "--csv", "--latex"]).refused(&["cannot be used"]);
}

#[test]
fn a_pdf_is_made_where_there_is_a_font() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("f.pdf");
    let run = folder();
    let args = ["report", run.to_str().unwrap(), "--figure", "blame", "-o", name.to_str().unwrap()];
    let ended = tailcut(&args);
    if ended.err.contains("no font") {
        println!("skipped: no font here");
        return;
    }
    ended.ok();
    let pdf = std::fs::read(&name).unwrap();
    let has = |text: &str| pdf.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(pdf.starts_with(b"%PDF-") && has("/FontFile") && has("MediaBox [0 0 241"), "{} bytes", pdf.len());
    tailcut(&args).ok();
}

/// A copy of the run's folder in which one file is changed.
fn damaged(file: &str, change: impl Fn(&mut Vec<u8>)) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
    }
    let path = dir.path().join(file);
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(&path, bytes).unwrap();
    dir
}

#[test]
fn damaged_folders_are_refused_by_file() {
    let report = |dir: &Path| tailcut(&["report", dir.to_str().unwrap()]);
    report(Path::new("/nonexistent")).refused(&["/nonexistent"]);
    let empty = tempfile::tempdir().unwrap();
    report(empty.path()).refused(&["summary.json"]);
    let half = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2);
    for file in ["summary.json", "latency.hlog", "slowest.jsonl"] {
        report(damaged(file, half).path()).refused(&[file, "line"]);
        report(damaged(file, |bytes| bytes.iter_mut().for_each(|b| *b ^= 0x55)).path()).refused(&[file]);
    }
    let text = |from: &'static str, to: &'static str| {
        move |bytes: &mut Vec<u8>| {
            let old = String::from_utf8(std::mem::take(bytes)).unwrap();
            assert!(old.contains(from));
            *bytes = old.replacen(from, to, 1).into_bytes();
        }
    };
    report(damaged("summary.json", text("\"schema\": 1", "\"schema\": 7")).path())
        .refused(&["summary.json", "schema 7"]);
    report(damaged("latency.hlog", text("HISTFAAA", "HISTFAAB")).path()).refused(&["latency.hlog", "line 6"]);
    report(damaged("latency.hlog", text("HISTF", "HISTG")).path()).refused(&["latency.hlog", "line 6"]);
    // Any byte of the log may be wrong: it is refused or read, but nothing panics.
    for step in 0..40 {
        let ended = report(
            damaged("latency.hlog", |bytes| {
                let at = 250 + step * 97 % (bytes.len() - 260);
                bytes[at] = b"Az09+/=\xff"[step % 8];
            })
            .path(),
        );
        assert!(matches!(ended.code, Some(0 | 2)) && !ended.err.contains("panicked"), "{}", ended.err);
    }
    // What is missing is said on the page.
    let dir = damaged("summary.json", |_| ());
    std::fs::remove_file(dir.path().join("latency.hlog")).unwrap();
    std::fs::remove_file(dir.path().join("slowest.jsonl")).unwrap();
    report(dir.path()).ok();
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains("latency.hlog is missing") && page.contains("slowest.jsonl is missing"));
    assert!(data(&page)["schemes"][0]["of"]["read"]["ns"].as_array().unwrap().len() > 10);
}

#[test]
fn a_run_writes_its_page_too() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let job = "randrw,bs=4k,rwmixread=70,iodepth=8,size=70%,number_ios=20000";
    let args = ["run", "tiny", "--scheme", "baseline,rps", "--runs", "2", "--workload", job];
    let (run, page) = (at("run"), at("page.html"));
    let said = tailcut(&[&args[..], &["--out", &run, "--report", &page]].concat()).ok();
    assert!(said.contains("page.html"), "{said}");
    tailcut(&["report", &run]).ok();
    let of = |path: &str| data(&std::fs::read_to_string(path).unwrap());
    // The page of the folder has the same data as that from memory.
    assert_eq!(of(&page), of(&at("run/report.html")));
    // A new run replaces the page with the results.
    tailcut(&[&args[..], &["--out", &run, "--force"]].concat()).ok();
    assert!(!Path::new(&at("run/report.html")).exists());
}
