//! Does every bad input end with exit code 2 and one message with the place, the problem
//! and the allowed values, and without any file left behind?

mod common;

use common::{files, tailcut};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const JOB: [&str; 2] = ["--workload", "randrw,number_ios=1000"];

fn run(device: &str, more: &[&str]) -> common::Ended {
    tailcut(&[&["run", device], &JOB[..], more].concat())
}

#[test]
fn names_that_are_none() {
    run("z-sdd", &[]).refused(&["`z-sdd`", "did you mean `z-ssd`", "ttflash-256g"]);
    run("tiny", &["--scheme", "rsp"]).refused(&["`rsp`", "did you mean `rps`", "baseline"]);
    run("tiny", &["--scheme", "fifo+rps"]).refused(&["fifo", "rps", "policy.schedule"]);
    run("tiny", &["--scheme", "rps,rps"]).refused(&["--scheme", "`rps` twice"]);
    run("tiny", &["--set", "timing.raed=40us"]).refused(&["timing.raed", "did you mean `read`"]);
    run("tiny", &["--set", "policy.schedule=fido"]).refused(&["policy.schedule", "`fido`", "`fifo`"]);
    run("tiny", &["--set", "ftl"]).refused(&["--set ftl", "key=value"]);
    run("tiny", &["--config", "/no/such.toml"]).refused(&["/no/such.toml"]);
    tailcut(&["show", "config", "tiny", "--set", "host.deep=3"]).refused(&["host.deep"]);
    tailcut(&["bench", "--only", "nothing"]).refused(&["`nothing`", "mqsim-e/read-qd32"]);
}

#[test]
fn values_that_do_not_fit() {
    run("tiny", &["--set", "channel.command=200"]).refused(&["channel.command", "ns"]);
    run("tiny", &["--set", "channel.command=200KiB"]).refused(&["channel.command", "KiB", "ns"]);
    run("tiny", &["--set", "ftl.over_provisioning=-7%"]).refused(&["ftl.over_provisioning"]);
    run("tiny", &["--set", "geometry.channels=0"]).refused(&["geometry.channels", "0"]);
    run("tiny", &["--set", "geometry.blocks=4000000000"]).refused(&["geometry"]);
    run("tiny", &["--set", "ftl.over_provisioning=0%"]).refused(&["ftl", "no spare blocks left"]);
    for key in [
        "timing.program.pulse",
        "timing.erase.verify",
        "channel.command",
        "ecc.decode",
        "host.submit_latency",
        "controller.command",
    ] {
        run("tiny", &["--set", &format!("{key}=2000s")]).refused(&[key, "2000000000000 ns", "1000s"]);
    }
    run(
        "tiny",
        &["--set", "scaled_blocks=64", "--set", "geometry.bad_blocks=0%", "--set", "ftl.mapping_unit=0B"],
    )
    .refused(&["ftl.mapping_unit"]);
    let level = |name: &str| format!("policy.gc_schedule.threshold.{name}=4294967295");
    run("tiny", &["--set", &level("start"), "--set", &level("hard")]).refused(&["no spare blocks left"]);
    let late = ["run", "tiny", "--workload", "randread,number_ios=10,thinktime=36500d"];
    tailcut(&late).refused(&["the longest run"]);
    run("tiny", &["--set", "timing.read=['40us','2000s']"]).refused(&["timing.read", "1000s"]);
    tailcut(&["demo", "--requests", "0"]).refused(&["--requests", "'0'"]);
    tailcut(&["serve", "tiny", "--listen", "nbd+unix:/tmp/x", "--speed", "1e12"])
        .refused(&["--speed", "0.000001 to 1000000"]);
    run("tiny", &["--precondition", "aged"]).refused(&["aged", "steady"]);
    run("tiny", &["--seed=-1"]).refused(&["--seed"]);
}

/// Keys that follow from one another are wrong together: the error names each, with its place.
#[test]
fn values_that_depend_on_each_other_come_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.toml");
    std::fs::write(&file, "[geometry]\nplanes = 4\n[ftl]\nwrite_planes = 3\ngc.erase_planes = 3\n").unwrap();
    let run = ["run", "tiny", "--workload", "randread", "--config", file.to_str().unwrap()];
    let more = ["--set", "ftl.gc.copy_planes=3", "--set", "ftl.gc.program_planes=3"];
    tailcut(&[&run[..], &more].concat()).refused(&[
        "x.toml:4:16: scheme `baseline`: ftl.write_planes: 3 does not divide the 4 planes",
        "x.toml:5:19: scheme `baseline`: ftl.gc.erase_planes: 3 does not divide",
        "--set ftl.gc.copy_planes=3: scheme `baseline`: ftl.gc.copy_planes: 3 does not divide the 4 planes",
        "ftl.gc.program_planes: 3 does not divide the 4 planes",
    ]);
    let both = ["--set", "geometry.planes=0", "--set", "host.queue_depth=0"];
    tailcut(&[&run[..4], &both].concat())
        .refused(&["geometry.planes: 0 is out of range", "host.queue_depth: 0 is out of range"]);
}

#[test]
fn a_configuration_file_is_named_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("layer.toml");
    let path = file.to_str().unwrap();
    for (text, needles) in [
        ("[timing]\nread = [\"40us\"]\nraed = 3\n", [":3:", "timing.raed"]),
        ("[host]\nqueue_depth = \"many\"\n", [":2:", "host.queue_depth"]),
        ("[host\n", [":1:", "layer.toml"]),
    ] {
        std::fs::write(&file, text).unwrap();
        run("tiny", &["--config", path]).refused(&[&needles[..], &["layer.toml"]].concat());
    }
    run(path, &[]).refused(&["layer.toml"]);
}

#[test]
fn workloads_that_are_none() {
    let run = |workload: &str| tailcut(&["run", "tiny", "--workload", workload]);
    run("no-such-file.csv").refused(&["`no-such-file.csv`", "no file", "randread"]);
    run("randread,bz=4k").refused(&["`bz`", "`bs`"]);
    run("randread,bs=4q").refused(&["`bs=4q`"]);
    run("randread,offset=10g").refused(&["offset", "host capacity"]);
    run("/").refused(&["/"]);
    tailcut(&["run", "tiny", "--rate-scale", "2", "--workload", "randread"])
        .refused(&["--rate-scale", "`randread` is a job"]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.fio");
    std::fs::write(&file, "[a]\nrw=randread\n\nbs=4k\niodepht=3\n").unwrap();
    run(file.to_str().unwrap()).refused(&["bad.fio:5", "`iodepht`", "`iodepth`"]);
}

/// Compress bytes with `gzip`, if it is installed.
fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut child =
        Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    child.stdin.take()?.write_all(bytes).ok()?;
    Some(child.wait_with_output().ok()?.stdout)
}

/// One 32-byte vscsi record: a read of a page at a time in us.
fn vscsi(serial: u32, time_us: u64) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(serial.to_le_bytes());
    record.extend(4096u32.to_le_bytes());
    record.extend(1u32.to_le_bytes());
    record.extend(0x28u16.to_le_bytes());
    record.extend(256u16.to_le_bytes());
    record.extend((u64::from(serial) * 8).to_le_bytes());
    record.extend(time_us.to_le_bytes());
    record
}

/// An MSR trace with `line` as its third line.
fn msr(line: &str) -> Vec<u8> {
    let good =
        |i: u64| format!("{},prxy,0,Write,{},4096,1000\n", 128_166_372_000_000_000 + i * 10_000, i * 4096);
    format!("{}{}{line}\n{}{}", good(1), good(2), good(4), good(5)).into_bytes()
}

#[test]
fn traces_that_cannot_be_read() {
    let records: Vec<u8> = (0..100).flat_map(|i| vscsi(i, 1_000_000 + u64::from(i) * 500)).collect();
    let mut cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("empty", Vec::new(), &["empty"]),
        ("cut.vscsi", records[..records.len() - 7].to_vec(), &["byte 3168", "ends inside a record"]),
        (
            "garbage",
            (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect(),
            &["byte 0", "known"],
        ),
        ("negative.csv", msr("128166372000030000,prxy,0,Write,-4096,4096,1000"), &["line 3", "negative"]),
        ("text.csv", msr("128166372000030000,prxy,0,Write,12x,4096,1000"), &["line 3", "12x", "number"]),
        (
            "overflow.csv",
            msr("128166372000030000,prxy,0,Write,99999999999999999999,4096,1000"),
            &["line 3", "too large"],
        ),
        ("zero.csv", msr("128166372000030000,prxy,0,Write,4096,0,1000"), &["line 3", "size is 0"]),
        (
            "back.csv",
            msr("128166371900000000,prxy,0,Write,4096,4096,1000"),
            &["line 3", "jumps back", "--sort-window"],
        ),
        ("op.csv", msr("128166372000030000,prxy,0,Wipe,4096,4096,1000"), &["line 3", "Wipe"]),
    ];
    let zipped = gzip(&msr("128166372000030000,prxy,0,Write,4096,4096,1000").repeat(50));
    match zipped {
        Some(zipped) => {
            cases.push(("cut.gz", zipped[..zipped.len() - 12].to_vec(), &["gzip", "truncated"]));
            cases.push(("tail.gz", [&zipped[..], b"tail"].concat(), &["trailing garbage", "gzip"]));
        }
        None => println!("skipped: a truncated gzip stream, since there is no gzip here"),
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    for (name, bytes, needles) in cases {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap();
        let needles = [needles, &[name]].concat();
        tailcut(&["run", "tiny", "--workload", path, "--out", out.to_str().unwrap()]).refused(&needles);
        assert!(!out.exists(), "{name}: a folder was left behind");
        tailcut(&["trace", "info", path]).refused(&needles);
        let compact = dir.path().join("compact");
        tailcut(&["trace", "convert", path, compact.to_str().unwrap()]).refused(&needles);
        assert!(!compact.exists(), "{name}: half a trace was left behind");
    }
}

#[test]
fn options_of_traces_out_of_bounds() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.csv");
    std::fs::write(&file, msr("128166372000030000,prxy,0,Write,4096,4096,1000")).unwrap();
    let file = file.to_str().unwrap();
    for (option, value, needles) in [
        ("--rate-scale", "0", ["--rate-scale", "above 0"]),
        ("--size-scale", "nan", ["--size-scale", "above 0"]),
        ("--loop", "0", ["--loop", "from 1"]),
        ("--limit", "0", ["--limit", "from 1"]),
        ("--time-unit", "min", ["--time-unit", "100ns"]),
        ("--closed-loop", "0", ["--closed-loop", "from 1"]),
        ("--format", "tape", ["format", "vscsi"]),
    ] {
        tailcut(&["run", "tiny", "--workload", file, option, value]).refused(&needles);
    }
    tailcut(&["trace", "cut", file, "new"]).refused(&["--from", "--limit"]);
    tailcut(&["trace", "convert", file, file]).refused(&[file, "--force"]);
}

#[test]
fn folders_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let below = file.join("run");
    run("tiny", &["--out", below.to_str().unwrap()]).refused(&[below.to_str().unwrap(), "cannot write"]);
    run("tiny", &["--force"]).refused(&["--out"]);
    // A failed run leaves nothing that looks like a run.
    let out = dir.path().join("out");
    run("tiny", &["--out", out.to_str().unwrap(), "--set", "geometry.blocks=1"])
        .refused(&["no spare blocks left"]);
    assert_eq!(files(&out), [""; 0]);
}

#[test]
fn snapshots_that_do_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("aged.snap");
    let path = file.to_str().unwrap();
    run("tiny", &["--snapshot", path]).ok();
    let good = std::fs::read(&file).unwrap();
    assert!(run("tiny", &["--snapshot", path]).ok().contains("from a snapshot"));
    run("tiny", &["--snapshot", path, "--seed", "2"]).refused(&["aged.snap", "another drive, seed"]);
    run("tiny", &["--snapshot", path, "--set", "geometry.blocks=120"])
        .refused(&["aged.snap", "another drive"]);
    run("tiny", &["--snapshot", path, "--runs", "2"]).refused(&["--snapshot", "--runs"]);
    run("tiny", &["--snapshot", path, "--precondition", "none"]).refused(&["--snapshot", "steady"]);
    let spoil = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        std::fs::write(&file, bytes).unwrap();
        run("tiny", &["--snapshot", path])
    };
    spoil(&|b| b[8] ^= 0xff).refused(&["aged.snap", "version"]);
    spoil(&|b| b.truncate(b.len() / 2)).refused(&["aged.snap", "damaged"]);
    spoil(&|b| {
        let last = b.len() - 30;
        b[last] ^= 1;
    })
    .refused(&["aged.snap", "damaged", "checksum"]);
    spoil(&|b| b.clear()).refused(&["aged.snap", "not a Tailcut snapshot"]);
    assert!(Path::new(path).exists(), "the user's file is the user's");
}
