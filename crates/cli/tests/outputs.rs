//! Does a run keep its results if nobody reads its output, if a disk is full, and if something else stands where it
//! writes?
#![cfg(unix)]

mod common;

use common::{Ended, command, digests, end, files, summary, tailcut};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUN: [&str; 4] = ["run", "tiny", "--workload", "randrw,bs=4k,size=70%,number_ios=3000"];
const WRITTEN: [&str; 4] = ["config.toml", "latency.hlog", "slowest.jsonl", "summary.json"];

/// Run a line of a shell; `tailcut` is the program.
fn shell(line: &str) -> Ended {
    let line = line.replace("tailcut ", &format!("'{}' ", env!("CARGO_BIN_EXE_tailcut")));
    end(Command::new("sh").args(["-c", &line]).env("TAILCUT_CACHE", "/nonexistent").stdin(Stdio::null()))
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Neither a reader that leaves at once or after some lines, nor a full disk behind standard output, costs the folder.
#[test]
fn a_folder_gets_its_files_whoever_reads_the_output() {
    let dir = tempfile::tempdir().unwrap();
    for (i, to) in ["| head -2", "| true", "> /dev/full", ">&-"].into_iter().enumerate() {
        let out = dir.path().join(i.to_string());
        let line = format!(
            "(tailcut {} --no-cache --out '{}'; echo code $? >&2) {to}",
            RUN.join(" "),
            out.display()
        );
        let ended = shell(&line);
        assert_eq!(files(&out), WRITTEN, "{to}: {}", ended.err);
        summary(&std::fs::read_to_string(out.join("summary.json")).unwrap());
        assert!(!ended.err.contains("panicked"), "{}", ended.err);
        // A full disk is a failure of the command though the folder is complete.
        let code = if to == "> /dev/full" { "code 1" } else { "code 0" };
        assert!(ended.err.contains(code), "{to}: {}", ended.err);
    }
}

/// A limit on the size of files stands for a full disk: the files fail, and standard output is a pipe.
#[test]
fn the_json_is_printed_though_the_disk_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let line = format!("ulimit -f 4; tailcut {} --no-cache --json --out '{}'", RUN.join(" "), out.display());
    let ended = shell(&line);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("error: ") && ended.err.contains("too large"), "{}", ended.err);
    let s = summary(&ended.out);
    assert_eq!((s["workload"]["requests"].as_u64(), files(&out)), (Some(3000), vec![]));
    // Without JSON the tables are there.
    let ended = shell(&line.replace(" --json", ""));
    assert_eq!((ended.code, ended.out.contains("IOPS")), (Some(1), true), "{}", ended.out);
}

#[test]
fn warnings_and_counts_are_in_the_json() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.csv");
    // Addresses beyond the drive, and a clock that jumps back.
    let line = |i: u64| {
        let time = if i < 400 { 1000 * i } else { 10 * i };
        format!("0,{},4096,w,{}.{:06}\n", i * (1 << 22), time / 1_000_000, time % 1_000_000)
    };
    std::fs::write(&file, (0..800).map(line).collect::<String>()).unwrap();
    let args = ["run", "tiny", "--precondition", "steady", "--json", "--workload", file.to_str().unwrap()];
    let ended = tailcut(&args);
    let said: Vec<String> =
        ended.err.lines().filter_map(|l| l.strip_prefix("warning: ")).map(String::from).collect();
    let s = summary(&ended.ok());
    assert_eq!(s["warnings"], serde_json::json!(said));
    let records = &s["workload"]["records"];
    assert_eq!(records["lines"], 800, "{records}");
    assert!(records["folded"].as_u64() > Some(0) && records["reordered"].as_u64() > Some(0), "{records}");
    assert!(s["schemes"][0]["precondition"]["steady"].is_boolean());

    // Parts of a large request are one request, and of its parts that failed each is counted by its own name.
    let args = ["run", "tiny", "--json", "--precondition", "sequential", "--set", "faults.read=2%"];
    let s = summary(&tailcut(&[&args[..], &["--workload", "randread,bs=1m,number_ios=200"]].concat()).ok());
    let (scheme, faults) = (&s["schemes"][0], &s["schemes"][0]["faults"]);
    assert_eq!(s["workload"]["parted_requests"], 200);
    assert_eq!(faults["media_errors"], scheme["failed"]["read"]["media_error"]);
    assert!(faults["media_error_commands"].as_u64() > faults["media_errors"].as_u64(), "{faults}");
}

/// A pipe is refused at once instead of waited for; in the cache it is no state, and the state is made again.
#[test]
fn a_pipe_is_no_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    fifo(&pipe);
    let began = Instant::now();
    tailcut(&[&RUN[..], &["--snapshot", pipe.to_str().unwrap()]].concat()).refused(&["pipe", "a named pipe"]);
    let cache = dir.path().join("cache");
    let run = || end(command(&cache).args(RUN).arg("--json"));
    run().ok();
    let state = cache.join(&files(&cache)[0]);
    std::fs::remove_file(&state).unwrap();
    fifo(&state);
    let ended = run();
    assert!(ended.err.contains("a named pipe") && ended.err.contains("made again"), "{}", ended.err);
    ended.ok();
    assert!(began.elapsed() < Duration::from_secs(60));
    // A link that leads nowhere is not written through.
    let link = dir.path().join("link.snap");
    symlink(dir.path().join("nothing"), &link).unwrap();
    tailcut(&[&RUN[..], &["--snapshot", link.to_str().unwrap()]].concat()).refused(&["link.snap"]);
    assert!(!dir.path().join("nothing").exists());
}

#[test]
fn a_folder_with_links_and_pipes_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mine = dir.path().join("mine");
    std::fs::write(&mine, "mine").unwrap();
    let out = dir.path().join("run");
    let args = [&RUN[..], &["--out", out.to_str().unwrap(), "--force"]].concat();
    tailcut(&args).ok();
    symlink(&mine, out.join(".tailcut.lock")).unwrap();
    tailcut(&args).refused(&[".tailcut.lock", "a symbolic link"]);
    std::fs::remove_file(out.join(".tailcut.lock")).unwrap();
    fifo(&out.join(".tailcut.lock"));
    tailcut(&args).refused(&[".tailcut.lock", "a named pipe"]);
    std::fs::remove_file(out.join(".tailcut.lock")).unwrap();
    for name in ["latency.hlog", "summary.json"] {
        std::fs::rename(out.join(name), dir.path().join("kept")).unwrap();
        symlink(&mine, out.join(name)).unwrap();
        tailcut(&args).refused(&[out.to_str().unwrap()]);
        std::fs::remove_file(out.join(name)).unwrap();
        std::fs::rename(dir.path().join("kept"), out.join(name)).unwrap();
    }
    tailcut(&args).ok();
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    // The other commands that write files.
    symlink(&mine, dir.path().join("link")).unwrap();
    let link = dir.path().join("link");
    let link = link.to_str().unwrap();
    let trace = dir.path().join("t.csv");
    std::fs::write(&trace, "0,0,4096,r,0.0\n0,8,4096,r,0.1\n").unwrap();
    for to in [link, "/dev/null"] {
        tailcut(&["trace", "convert", trace.to_str().unwrap(), to, "--force"]).refused(&[to, "regular file"]);
        tailcut(&["ldpc", "table", "--out", to, "--force", "--frames", "1"]).refused(&[to, "regular file"]);
    }
    std::fs::create_dir(dir.path().join("man")).unwrap();
    symlink(&mine, dir.path().join("man/tailcut-run.1")).unwrap();
    tailcut(&["man", "--dir", dir.path().join("man").to_str().unwrap()])
        .refused(&["tailcut-run.1", "a symbolic link"]);
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
}

/// The cache on a full disk costs the stored state and nothing else; `--report` and `trace convert` fail in words and
/// leave what was there.
#[test]
fn a_full_disk_is_said_by_every_command_that_writes() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    // A limit on the size of files stands for the full disk; the unit of the shell is 512 or 1,024 bytes.
    let limited = |cache: &Path, line: &str| {
        let line = format!("ulimit -f 4; '{}' {line}", env!("CARGO_BIN_EXE_tailcut"));
        end(Command::new("sh").args(["-c", &line]).env("TAILCUT_CACHE", cache).stdin(Stdio::null()))
    };
    let job = "run tiny --json --workload randwrite,bs=4k,number_ios=1000";
    let ended = limited(&at("cache"), job);
    assert!(ended.err.contains("warning: baseline: cannot store the aged state in"), "{}", ended.err);
    let digest = digests(&summary(&ended.ok()));
    assert_eq!(files(&at("cache")), [""; 0]);
    assert_eq!(digests(&summary(&limited(&at("cache"), &format!("{job} --no-cache")).ok())), digest);

    let snapshot = at("my.snap");
    let ended = limited(&at("cache"), &format!("{job} --snapshot '{}'", snapshot.display()));
    assert!(
        ended.code == Some(1) && ended.err.contains("error: ") && ended.err.contains("my.snap"),
        "{}",
        ended.err
    );
    assert!(!snapshot.exists());

    // A trace that fills the file, over one that is kept.
    let trace = at("t.csv");
    let line = |i: u64| format!("1,W,{},4096,{}\n", i * 7919 % 100_000 * 4096, i * i % 1000 + 1000 * i);
    std::fs::write(&trace, (0..20_000).map(line).collect::<String>()).unwrap();
    std::fs::write(at("kept"), "kept").unwrap();
    let convert = |to: &str| {
        limited(&at("cache"), &format!("trace convert '{}' '{}' --force", trace.display(), at(to).display()))
    };
    for to in ["kept", "new"] {
        let ended = convert(to);
        assert!(ended.code == Some(1) && ended.err.contains("error: "), "{:?} {}", ended.code, ended.err);
    }
    assert_eq!(std::fs::read_to_string(at("kept")).unwrap(), "kept");

    let report = at("report.md");
    let ended = limited(
        &at("cache"),
        &format!("reproduce atc19/fig4 --quick --no-cache --report '{}'", report.display()),
    );
    assert!(ended.code == Some(1) && ended.err.contains("cannot write"), "{:?} {}", ended.code, ended.err);
    let left: Vec<String> =
        files(dir.path()).into_iter().filter(|f| f != "cache" && f != "figures").collect();
    assert_eq!(left, ["kept", "t.csv"]);
}

/// What goes through a pipe whose reader leaves ends without a panic, and with code 0.
#[test]
fn a_reader_that_leaves_ends_every_command_quietly() {
    for command in ["show keys", "show config tiny", "show policies", "reproduce --list", "man", "run --help"]
    {
        let ended = shell(&format!("(tailcut {command}; echo code $? >&2) | true"));
        assert!(ended.err.contains("code 0"), "{command}: {}", ended.err);
        assert!(!ended.err.contains("panicked"), "{command}: {}", ended.err);
    }
}
