//! Is `timeline.pftrace` complete, with one track per die and channel, for the window
//! given?

mod common;

use common::{digests, files, summary, tailcut};
use std::path::Path;
use tailcut_report::timeline::Timeline;

const JOB: &str = "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=20000";

/// Run `tiny` with a timeline in `out`; returns the output.
fn run(out: &Path, more: &[&str]) -> String {
    let out = out.to_str().unwrap();
    tailcut(&[&["run", "tiny", "--workload", JOB, "--out", out, "--force"], more].concat()).ok()
}

fn read(out: &Path, name: &str) -> Timeline {
    let bytes = std::fs::read(out.join(name)).unwrap();
    Timeline::read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn a_timeline_has_every_die_and_channel_and_shows_suspensions() {
    let dir = tempfile::tempdir().unwrap();
    let said = run(dir.path(), &["--scheme", "ips", "--timeline"]);
    assert!(said.contains("timeline      ips: ") && said.contains("--timeline=50ms"), "{said}");
    let t = read(dir.path(), "timeline.pftrace");
    let names: Vec<_> = t.tracks.iter().map(|t| t.name.as_str()).collect();
    let expected = [
        "drive (ips)",
        "channel 0",
        "die 0 (channel 0)",
        "die 1 (channel 0)",
        "channel 1",
        "die 2 (channel 1)",
        "die 3 (channel 1)",
    ];
    assert_eq!(names, expected);
    assert!(t.tracks[0].slices.is_empty());
    assert!(t.tracks[1..].iter().all(|t| t.parent.as_deref() == Some("drive (ips)")));
    for track in &t.tracks[1..] {
        let flat: Vec<_> = track.slices.iter().filter(|s| s.depth == 0 && !s.instant).collect();
        assert!(flat.len() > 100, "{} has {} slices", track.name, flat.len());
        assert!(flat.windows(2).all(|w| w[0].end <= w[1].begin), "{}: slices overlap", track.name);
        assert!(flat.iter().all(|s| s.end <= 50_000_000));
        let deepest = track.slices.iter().map(|s| s.depth).max().unwrap();
        assert_eq!(deepest, usize::from(track.name.starts_with("die")), "{}", track.name);
    }
    // A read's slice names its request; an arrow leads to it from the operation that it
    // interrupted.
    let of = |name: &str| t.tracks.iter().flat_map(|t| &t.slices).filter(|s| s.name == name).count();
    assert!(of("user_program (resumed)") > 10 && of("stopping") > 10 && of("holds the die") > 10);
    let keys = |s: &tailcut_report::timeline::Slice| -> Vec<String> {
        s.notes.iter().map(|(key, _)| key.clone()).collect()
    };
    let interrupted = t.arrows.iter().map(|&a| t.ends(a)).filter(|[_, to]| to.name == "user_read");
    let mut arrows = 0;
    for [from, read] in interrupted {
        assert_eq!(keys(read), ["occupant", "request", "die", "page"]);
        assert!(from.begin <= read.begin);
        arrows += 1;
    }
    assert!(arrows > 10, "{arrows}");
}

#[test]
fn a_window_is_what_was_asked_for_and_costs_no_result() {
    let dir = tempfile::tempdir().unwrap();
    let all = ["--scheme", "baseline,rps+t-es", "--json"];
    let said = run(dir.path(), &all);
    assert!(!files(dir.path()).iter().any(|f| f.ends_with(".pftrace")));
    let without = digests(&summary(&said));
    let said = run(dir.path(), &[&all[..], &["--timeline=5ms+2ms"]].concat());
    assert_eq!(digests(&summary(&said)), without);
    for name in ["timeline.baseline.pftrace", "timeline.rps+t-es.pftrace"] {
        let t = read(dir.path(), name);
        let all: Vec<_> = t.tracks.iter().flat_map(|t| &t.slices).collect();
        assert!(all.len() > 100);
        // Operations under way at the edges of the window are cut there.
        assert_eq!(all.iter().map(|s| s.begin).min(), Some(5_000_000), "{name}");
        assert_eq!(all.iter().map(|s| s.end).max(), Some(7_000_000), "{name}");
    }
}

#[test]
fn what_a_timeline_does_not_cover_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let said = run(dir.path(), &["--timeline=3600s"]);
    assert!(said.contains("up to the end of the run"), "{said}");
    assert!(!read(dir.path(), "timeline.pftrace").tracks[1].slices.is_empty());
    let said = run(dir.path(), &["--timeline=3600s+1ms"]);
    assert!(said.contains("0 slices") && said.contains("ended before"), "{said}");
    assert!(read(dir.path(), "timeline.pftrace").tracks.iter().all(|t| t.slices.is_empty()));
}

#[test]
fn planes_that_work_alone_have_tracks_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let set =
        ["--set", "geometry.busy_unit=plane", "--set", "ftl.write_planes=1", "--set", "ftl.extent=block"];
    run(
        dir.path(),
        &[
            &set[..],
            &[
                "--set",
                "ftl.gc.copy_planes=1",
                "--set",
                "ftl.gc.program_planes=1",
                "--set",
                "ftl.gc.erase_planes=1",
                "--timeline",
            ],
        ]
        .concat(),
    );
    let t = read(dir.path(), "timeline.pftrace");
    assert_eq!(t.tracks.len(), 1 + 2 + 8);
    assert_eq!(t.tracks[3].name, "plane 1 of die 0 (channel 0)");
    assert!(t.tracks[1..].iter().all(|t| !t.slices.is_empty()));
}

#[test]
fn bad_use_is_refused() {
    let run = |more: &[&str]| tailcut(&[&["run", "tiny", "--workload", JOB], more].concat());
    run(&["--timeline"]).refused(&["--out"]);
    for (window, needles) in [
        ("soon", ["--timeline", "`soon`"]),
        ("100", ["`100`", "a window is a length such as `100ms`"]),
        ("0ms", ["--timeline", "longer than 0ns"]),
        ("1s+", ["--timeline", "2s+100ms"]),
        ("1s+1s+1s", ["--timeline", "2s+100ms"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        run(&["--out", out.to_str().unwrap(), &format!("--timeline={window}")]).refused(&needles);
        assert!(!out.exists());
    }
}

#[test]
fn a_drive_under_pblk_shows_how_its_limits_change() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let job = "randwrite,bs=64k,iodepth=8,number_ios=3000";
    tailcut(&["run", "tiny-pblk", "--workload", job, "--out", out, "--timeline=400ms"]).ok();
    let t = read(dir.path(), "timeline.pftrace");
    let changes: Vec<_> = t.tracks[0].slices.iter().filter(|s| s.name == "limits change").collect();
    assert!(changes.len() > 4, "{:?}", t.tracks[0].slices);
    let keys: Vec<&str> = changes[0].notes.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["slots for users", "slots for collection", "free chunks"]);
}

#[test]
fn a_drive_with_hot_and_cold_lines_shows_how_their_share_changes() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    // The write amplification grows from the fill on.
    let job = "randwrite,bs=64k,iodepth=8,number_ios=12000";
    let device =
        ["--set", "geometry.channels=8", "--set", "geometry.dies_per_chip=2", "--precondition", "sequential"];
    let args = ["run", "tiny-pblk", "--scheme", "rail-hc", "--workload", job, "--out", out, "--timeline=60s"];
    tailcut(&[&args, &device[..]].concat()).ok();
    let t = read(dir.path(), "timeline.pftrace");
    let changes: Vec<_> = t.tracks[0].slices.iter().filter(|s| s.name == "hot share changes").collect();
    assert!(!changes.is_empty(), "{} slices", t.tracks[0].slices.len());
    let keys: Vec<&str> = changes[0].notes.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["hot LUNs", "cold LUNs"]);
}
