//! Does a job behave as the same job does in fio?

use super::{GIB, is_read, open, take};
use crate::job::JobSet;
use std::collections::HashSet;
use tailcut_units::HostOp;

/// The name and group of each job.
fn groups(text: &str) -> Vec<(String, u32)> {
    let set = JobSet::from_job_file("j.fio", text).unwrap();
    set.open(GIB, 1).unwrap().jobs().into_iter().map(|j| (j.name, j.group)).collect()
}

#[test]
fn a_stonewall_begins_a_group_with_all_clones_and_followers() {
    let of = |names: &[(&str, u32)]| names.iter().map(|(n, g)| (n.to_string(), *g)).collect::<Vec<_>>();
    let text = "[a]\nrw=write\n[b]\nrw=read\n[c]\nstonewall\nnumjobs=2\n[d]\n[e]\nwait_for_previous=1\n[f]\nstonewall=0\n";
    assert_eq!(groups(text), of(&[("a", 0), ("b", 0), ("c.0", 1), ("c.1", 1), ("d", 1), ("e", 2), ("f", 2)]));
    // On the first job `stonewall` has no effect; in [global] it applies to every job.
    assert_eq!(groups("[a]\nstonewall\n[b]\n"), of(&[("a", 0), ("b", 0)]));
    assert_eq!(groups("[global]\nstonewall\n[a]\n[b]\n[c]\n"), of(&[("a", 0), ("b", 1), ("c", 2)]));
    let inline = open("write;read,stonewall,numjobs=2;read", GIB);
    assert_eq!(inline.jobs().iter().map(|j| j.group).collect::<Vec<_>>(), [0, 1, 1, 1]);
    // Ageing and the region cover all jobs.
    assert_eq!(inline.region(), 0..GIB);
}

#[test]
fn a_random_job_covers_every_block_once_and_ends() {
    for text in ["randwrite,bs=4k", "randrw,bs=4k,rwmixread=30", "randtrim,bs=4k", "randread,bs=4k,loops=1"] {
        let issues = take(text, 4096 * 1001, 5000);
        let blocks: HashSet<u64> = issues.iter().map(|i| i.command.offset).collect();
        assert_eq!((issues.len(), blocks.len()), (1001, 1001), "{text}");
    }
    let twice = take("randread,bs=4k,loops=2", 4096 * 100, 5000);
    assert_eq!(twice.len(), 200);
    assert_ne!(twice[..100], twice[100..]);
}

#[test]
fn a_sequential_job_walks_and_wraps() {
    let offsets = |text: &str, most: usize| -> Vec<u64> {
        take(text, 40_960 + 100, most).iter().map(|i| i.command.offset / 4096).collect()
    };
    assert_eq!(offsets("read,bs=4k", 100), (0..10).collect::<Vec<_>>());
    assert_eq!(offsets("write,bs=12k,io_size=60k,offset=4k", 100), [1, 4, 7, 1, 4]);
    // With variable sizes the last request is cut at the end of the region.
    let issues = take("write,bssplit=8k/50:12k/50", GIB, 1_000_000);
    let written = issues.iter().map(|i| u64::from(i.command.bytes)).sum::<u64>();
    assert!(written <= GIB && GIB - written < 8192, "{written}");
    assert!(
        issues.windows(2).all(|w| w[1].command.offset == w[0].command.offset + u64::from(w[0].command.bytes))
    );
}

#[test]
fn reads_and_writes_walk_separately() {
    let issues = take("rw,bs=4k", GIB, 1000);
    for reads in [true, false] {
        let offsets: Vec<u64> =
            issues.iter().filter(|i| is_read(i) == reads).map(|i| i.command.offset).collect();
        assert!(offsets.len() > 400);
        assert!(offsets.iter().enumerate().all(|(i, o)| *o == i as u64 * 4096));
    }
}

#[test]
fn sizes_and_offsets_bound_the_region() {
    let capacity = 1000 * 4096;
    let cases = [
        ("randread,size=70%", 0..700 * 4096),
        ("randread,offset=50%", 500 * 4096..capacity),
        ("randread,offset=400k,size=400k", 409_600..819_200),
        ("randread,offset=50%,size=90%", 500 * 4096..capacity),
        ("randread,numjobs=4,size=10%,offset_increment=10%", 0..400 * 4096),
    ];
    for (text, region) in cases {
        let mut open = open(text, capacity);
        assert_eq!(open.region(), region, "{text}");
        for job in 0..open.jobs().len() {
            while let Some(issue) = open.next(job) {
                let end = issue.command.offset + u64::from(issue.command.bytes);
                assert!(issue.command.offset >= region.start && end <= region.end);
            }
        }
    }
}

#[test]
fn every_request_stays_inside_with_any_size_and_alignment() {
    for text in [
        "randrw,bs=4k,64k,ba=512",
        "randrw,bsrange=512-100k,bs_unaligned",
        "randrw,bssplit=4k/50:1m/50,random_distribution=zipf:1.2",
        "randrw,bs=512,128k,percentage_random=50,random_distribution=normal:40",
        "randrw,bs=4k,8k,random_distribution=zoned:50/1:50/99",
        "rw,bsrange=4k-1m",
    ] {
        let capacity = (10 << 20) + 777;
        for issue in take(&format!("{text},number_ios=20000"), capacity, 20_000) {
            assert!(issue.command.bytes > 0);
            assert!(issue.command.offset + u64::from(issue.command.bytes) <= capacity, "{text}");
        }
    }
}

#[test]
fn counts_end_jobs() {
    assert_eq!(take("randread,number_ios=10", GIB, 100).len(), 10);
    // More than one pass: exact, with a warning about fio.
    let many = open("randread,number_ios=1000", 4096 * 100);
    assert_eq!(many.expected_requests(), Some(1000));
    assert!(many.warnings()[0].to_string().contains("100 requests"));
    assert_eq!(take("randread,number_ios=1000", 4096 * 100, 5000).len(), 1000);
    assert_eq!(take("randread,number_ios=1000,io_size=40k", 4096 * 100, 5000).len(), 10);
    assert_eq!(take("randread,time_based,runtime=1s", 4096, 5000).len(), 5000);
    assert_eq!(open("randread,time_based,runtime=1s", 4096).expected_requests(), None);
}

#[test]
fn flushes_follow_writes() {
    let ops: Vec<HostOp> =
        take("write,fsync=2,number_ios=5,end_fsync=1", GIB, 100).iter().map(|i| i.command.op).collect();
    use HostOp::{Flush as F, Write as W};
    assert_eq!(ops, [W, W, F, W, W, F, W, F]);
}

#[test]
fn synchronous_writes_have_forced_unit_access() {
    for (option, forced) in
        [("sync=1", true), ("sync=dsync", true), ("writefua=1", true), ("sync=none", false)]
    {
        let issues = take(&format!("randrw,{option},number_ios=50"), GIB, 100);
        assert!(
            issues.iter().all(|i| i.command.fua == (forced && i.command.op == HostOp::Write)),
            "{option}"
        );
        assert!(issues.iter().any(|i| i.command.op == HostOp::Write));
    }
}

#[test]
fn clones_have_names_and_streams_of_their_own() {
    let mut open = open("randread,name=db,numjobs=3,norandommap", GIB);
    let names: Vec<String> = open.jobs().into_iter().map(|j| j.name).collect();
    assert_eq!(names, ["db.0", "db.1", "db.2"]);
    let first: Vec<_> = (0..3).map(|job| open.next(job).unwrap().command.offset).collect();
    assert!(first[0] != first[1] && first[1] != first[2]);
}

#[test]
fn a_job_file_has_globals_comments_and_jobs() {
    let text = "; a comment\n[global]\nbs=8k ; trailing\nioengine=libaio\n\n[reader]\nrw=randread\niodepth=4\n\
                [global]\nnumjobs=2\n# another\n[writer]\nrw=write\nbs=128k\nstartdelay=5\n";
    let set = JobSet::from_job_file("a.fio", text).unwrap();
    assert!(set.warnings().is_empty(), "{:?}", set.warnings());
    let mut open = set.open(GIB, 1).unwrap();
    let jobs = open.jobs();
    let names: Vec<&str> = jobs.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["reader", "writer.0", "writer.1"]);
    assert_eq!((jobs[0].depth, jobs[1].depth), (4, 1));
    assert_eq!(open.next(0).unwrap().command.bytes, 8192);
    let write = open.next(1).unwrap();
    assert_eq!((write.command.bytes, write.earliest.0), (131_072, 5_000_000_000));
    assert!(JobSet::looks_like_job_file(text) && !JobSet::looks_like_job_file("randread,bs=4k"));
}

#[test]
fn several_inline_jobs_run_together() {
    let open = open("randread,bs=4k;write,bs=128k,name=log", GIB);
    let names: Vec<String> = open.jobs().into_iter().map(|j| j.name).collect();
    assert_eq!(names, ["job0", "log"]);
}

#[test]
fn variables_of_the_environment_are_filled_in() {
    // Cargo and `tests/run` set this one for tests.
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let text = "[a]\nname=v${CARGO_MANIFEST_DIR}x${CARGO_MANIFEST_DIR}\n";
    let set = JobSet::from_job_file("j.fio", text).unwrap();
    assert_eq!(set.specs()[0].name(), format!("v{folder}x{folder}"));
}

#[test]
fn a_mix_may_have_a_fraction_of_zero() {
    for (text, share) in [("rwmixread=0.0", 0.0), ("rwmixread=25.000", 0.25), ("rwmixwrite=0.", 1.0)] {
        assert_eq!(open(&format!("randrw,{text}"), GIB).read_fraction(), share, "{text}");
    }
}
