//! Does a fio job file run on a drive as it does in fio: depths, pauses, walls, rates, rows?

mod common;

use common::{summary, tailcut};
use serde_json::Value;

fn job_file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".fio").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// The summary of a job file on a drive that was filled in order, and what was said beside it.
fn run(device: &str, text: &str) -> (Value, String) {
    let file = job_file(text);
    let path = file.path().to_str().unwrap();
    let ended = tailcut(&["run", device, "--precondition", "sequential", "--json", "-w", path]);
    let err = ended.err.clone();
    (summary(&ended.ok()), err)
}

fn iops(job: &Value, side: &str) -> f64 {
    job[side]["iops"].as_f64().unwrap()
}

#[test]
fn a_synchronous_engine_keeps_one_request() {
    let (s, _) =
        run("mqsim-e", "[j]\nioengine=psync\nrw=randread\nbs=4k\nsize=1g\niodepth=32\nnumber_ios=2000\n");
    let read = &s["schemes"][0]["read"];
    assert_eq!(read["lat_ns"]["mean"], 99_796.0);
    assert!((iops(&s["schemes"][0], "read") - 1e9 / 99_796.0).abs() < 1.0, "{read}");
}

#[test]
fn stonewalled_jobs_have_rows_and_times_of_their_own() {
    let text = "[global]\nbs=4k\nsize=64m\nruntime=200ms\ntime_based\n[qd1]\nrw=randread\niodepth=1\n\
                [qd32]\nstonewall\nrw=randread\niodepth=32\n";
    let (s, tables) = run("mqsim-e", text);
    let jobs = s["schemes"][0]["jobs"].as_array().unwrap();
    assert!((iops(&jobs[0], "read") - 10_020.0).abs() < 20.0, "{}", jobs[0]);
    assert!((iops(&jobs[1], "read") - 39_900.0).abs() < 500.0, "{}", jobs[1]);
    assert!(tables.contains("Reads by job") && tables.contains("qd1") && tables.contains("qd32"), "{tables}");
}

#[test]
fn group_reporting_gives_one_row() {
    let text = |global: &str| {
        format!(
            "[global]\nbs=4k\nsize=4m\n{global}\n[r]\nrw=randread\nnumjobs=3\nnumber_ios=50\n[w]\nstonewall\nrw=write\n"
        )
    };
    let names = |global: &str| -> Vec<(String, u64)> {
        let (s, _) = run("tiny", &text(global));
        let jobs = s["schemes"][0]["jobs"].as_array().unwrap().clone();
        let reads = |j: &Value| j["read"]["total_ios"].as_u64().unwrap();
        jobs.iter().map(|j| (j["name"].as_str().unwrap().to_string(), reads(j))).collect()
    };
    let of = |all: &[(&str, u64)]| all.iter().map(|(n, r)| (n.to_string(), *r)).collect::<Vec<_>>();
    assert_eq!(names(""), of(&[("r.0", 50), ("r.1", 50), ("r.2", 50), ("w", 0)]));
    assert_eq!(names("group_reporting"), of(&[("r.0 (3 jobs)", 150), ("w", 0)]));
}

/// The slowest requests name the rows of the tables, whichever job of a row has sent them.
#[test]
fn grouped_jobs_have_slowest_requests() {
    let file = job_file(
        "[global]\nbs=4k\nsize=4m\ngroup_reporting\nnumber_ios=50\n[r]\nrw=randread\nnumjobs=3\n[w]\nstonewall\nrw=write\nnumjobs=2\n",
    );
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let out = out.to_str().unwrap();
    tailcut(&["run", "tiny", "-w", file.path().to_str().unwrap(), "--out", out, "--list-slowest", "100"])
        .ok();
    let lines = std::fs::read_to_string(format!("{out}/slowest.jsonl")).unwrap();
    let jobs: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let of = |row: &str| jobs.iter().filter(|l| l["job"] == row).count();
    assert_eq!((of("r.0 (3 jobs)"), of("w.0 (2 jobs)"), jobs.len()), (150, 100, 250));
    let said = tailcut(&["explain", out, "--job", "w.0 (2 jobs)"]).ok();
    assert!(said.contains("job w.0 (2 jobs), writes") && !said.contains("reads above"), "{said}");
    tailcut(&["report", out]).ok();
}

#[test]
fn thinktime_pauses_the_whole_job() {
    let text = "[j]\nrw=randread\nbs=4k\nsize=64m\niodepth=16\nthinktime=10ms\nthinktime_blocks=8\nruntime=1\ntime_based\n";
    let (s, _) = run("z-ssd", text);
    let iops = iops(&s["schemes"][0], "read");
    assert!(iops > 700.0 && iops <= 808.0, "{iops}");
}

#[test]
fn a_missed_rate_is_said() {
    let text = "[j]\nrw=randrw\nbs=4k\nsize=100%\nrate_iops=50000,50000\niodepth=4\nnumber_ios=20000\n";
    let (s, said) = run("tiny", text);
    let issued = iops(&s["schemes"][0], "read");
    assert!(issued < 40_000.0, "{issued}");
    for piece in [
        "job `j` missed its rate",
        "50.0k reads a second asked",
        "50.0k writes a second asked",
        "from the issue",
    ] {
        assert!(said.contains(piece), "{piece}: {said}");
    }
    let (_, said) = run("tiny", &text.replace("50000", "100").replace("20000", "200"));
    assert!(!said.contains("missed its rate"), "{said}");
}

#[test]
fn engines_without_data_and_other_workloads_are_refused() {
    let file = job_file("[global]\nioengine=filestat\nfilesize=4k\nnrfiles=200\n[t0]\n");
    tailcut(&["run", "tiny", "-w", file.path().to_str().unwrap()])
        .refused(&["`ioengine=filestat` is refused", ":2 "]);
    tailcut(&["run", "tiny", "-w", "name=test rw=randread bs=4k iodepth=16"])
        .refused(&["separated by commas"]);
    let file = job_file("[a]\nrw=read\nsize=1m\n[b]\nrw=write\nsize=1m\n");
    let path = file.path().to_str().unwrap();
    let s = summary(&tailcut(&["run", "tiny", "--json", "-w", path, "--section", "b"]).ok());
    assert_eq!(s["schemes"][0]["write"]["total_ios"], 256);
    assert_eq!(s["schemes"][0]["read"]["total_ios"], 0);
    tailcut(&["run", "tiny", "-w", path, "--section", "c"]).refused(&["no section `c`; there are: a, b"]);
    tailcut(&["run", "tiny", "-w", "randread", "--section", "c"]).refused(&["--section", "job files"]);
    let s = summary(
        &tailcut(&["run", "tiny", "--json", "-w", "fio --name=a --rw=randread --bs=8k --number_ios=100"])
            .ok(),
    );
    assert_eq!(s["schemes"][0]["read"]["total_ios"], 100);
    assert_eq!(s["workload"]["mean_bytes"], 8192.0);
    let s = summary(&tailcut(&["run", "tiny", "--json", "-w", "randread,verify=0,number_ios=1000"]).ok());
    assert_eq!(s["schemes"][0]["read"]["total_ios"], 1000);
}
