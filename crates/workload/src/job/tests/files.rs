//! Do jobs access the bytes that they access in fio: files of their own, shared files, steps and runs?

use super::{GIB, open, take};
use crate::job::JobSet;
use std::collections::{HashMap, HashSet};

const MIB: u64 = 1 << 20;

/// The regions of all clones of a job file.
fn regions(text: &str) -> Vec<(u64, u64)> {
    let set = JobSet::from_job_file("j.fio", text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let open = set.open(GIB, 1).unwrap_or_else(|e| panic!("{text}: {e}"));
    open.clones.iter().map(|c| (c.region.start / MIB, c.region.end / MIB)).collect()
}

fn refused(text: &str) -> String {
    let set = JobSet::from_job_file("j.fio", text).unwrap_or_else(|e| panic!("{text}: {e}"));
    set.open(GIB, 1).unwrap_err().to_string()
}

#[test]
fn every_job_and_clone_has_a_file_of_its_own_unless_one_is_named() {
    let cases: &[(&str, &[(u64, u64)])] = &[
        ("[w]\nsize=16m\nnumjobs=4\ndirectory=/mnt\n", &[(0, 16), (16, 32), (32, 48), (48, 64)]),
        ("[global]\nsize=16m\n[a]\n[b]\n", &[(0, 16), (16, 32)]),
        ("[global]\nsize=16m\nfilename=f\n[a]\n[b]\nnumjobs=2\n", &[(0, 16), (0, 16), (0, 16)]),
        // The longest job of a shared file decides its length.
        (
            "[a]\nfilename=f\nsize=16m\n[b]\nfilename=f\nsize=8m\noffset=24m\n[c]\nsize=1m\n",
            &[(0, 16), (24, 32), (32, 33)],
        ),
        ("[a]\nfilename=f\nsize=1m\ndirectory=x\n[b]\nfilename=f\nsize=1m\ndirectory=y\n", &[(0, 1), (1, 2)]),
        ("[a]\nnumjobs=2\nsize=1m\nfilename_format=$jobname.$filenum\n", &[(0, 1), (0, 1)]),
        ("[a]\nfilename=/dev/nvme0n1\nsize=16m\nnumjobs=2\n", &[(0, 16), (0, 16)]),
        ("[a]\nsize=50%\nnumjobs=2\n", &[(0, 512), (0, 512)]),
        ("[a]\n[b]\n", &[(0, 1024), (0, 1024)]),
        ("[a]\nsize=16m\noffset=32m\n[b]\nsize=16m\n", &[(32, 48), (0, 16)]),
        // The length of a file without `size`, and shares of it.
        ("[a]\nfilesize=64m\nfilename=f\n", &[(0, 64)]),
        ("[a]\nfilesize=64m\n[b]\nfilesize=64m\nsize=50%\noffset=25%\nfilename=b\n", &[(0, 64), (80, 112)]),
        ("[a]\nfilesize=4m\nsize=16m\n", &[(0, 4)]),
    ];
    for (text, expected) in cases {
        assert_eq!(regions(text), *expected, "{text}");
    }
    let many = refused("[a]\nsize=512m\nnumjobs=3\n");
    assert!(
        many.contains("the 3 files of the jobs take 1610612736 bytes") && many.contains("`filename`"),
        "{many}"
    );
    let unknown = refused("[a]\nfilename=a\n[b]\nfilename=b\n");
    assert!(unknown.contains("the length of this file is not known"), "{unknown}");
    let devices = refused("[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n");
    assert!(devices.contains("/dev/sda and /dev/sdb") && devices.contains("j.fio:3"), "{devices}");
}

#[test]
fn files_hold_what_their_jobs_write() {
    let blocks = |text: &str| {
        let set = JobSet::from_job_file("j.fio", text).unwrap();
        let mut open = set.open(GIB, 1).unwrap();
        let jobs = open.jobs().len();
        let issues = (0..jobs).flat_map(|job| std::iter::from_fn(|| open.next(job)).collect::<Vec<_>>());
        issues.map(|i| i.command.offset / 4096).collect::<HashSet<u64>>().len()
    };
    assert_eq!(blocks("[global]\nbs=4k\nsize=16m\nrw=write\ndirectory=/mnt\n[w]\nnumjobs=4\n"), 16_384);
    assert_eq!(blocks("[global]\nbs=4k\nsize=16m\nrw=write\n[a]\n[b]\n"), 8_192);
    let file = "[j]\nrw=randread\nbs=4k\nfilesize=64m\nfilename=/mnt/f\nnumber_ios=20000\nio_size=1g\n";
    let mut open = JobSet::from_job_file("j.fio", file).unwrap().open(GIB, 1).unwrap();
    let offsets: Vec<u64> = std::iter::from_fn(|| open.next(0)).map(|i| i.command.offset).collect();
    assert_eq!(offsets.len(), 20_000);
    assert!(offsets.iter().all(|o| *o < 64 * MIB));
}

/// The offsets of a job in blocks of 4 KiB, over a region of ten blocks.
fn blocks(text: &str, most: usize) -> Vec<u64> {
    take(text, 40_960, most).iter().map(|i| i.command.offset / 4096).collect()
}

#[test]
fn a_sequential_job_skips_bytes_forwards_and_backwards() {
    assert_eq!(blocks("rw=read:4k,bs=4k", 12), [0, 2, 4, 6, 8, 0, 2, 4, 6, 8]);
    // Backwards from the end, as in fio: the skip counts from the end of each request.
    assert_eq!(blocks("rw=read:-8k,bs=4k", 12), [8, 7, 6, 5, 4, 3, 2, 1, 0, 8]);
    assert_eq!(blocks("rw=write:-64k,bs=4k,number_ios=3", 12), [0, 0, 0]);
}

#[test]
fn a_random_job_runs_on_from_each_random_offset() {
    let issues = take("rw=randread:8,bs=4k,norandommap,number_ios=8000", GIB, 8000);
    let offsets: Vec<u64> = issues.iter().map(|i| i.command.offset / 4096).collect();
    let jumps = offsets.windows(2).filter(|w| w[1] != w[0] + 1).count();
    assert!(jumps >= 998, "{jumps}");
    for run in offsets.chunks(8).filter(|run| run[0] + 8 < GIB / 4096) {
        assert!(run.windows(2).all(|w| w[1] == w[0] + 1), "{run:?}");
    }
    let same = take("rw=randread:4,rw_sequencer=identical,bs=4k,number_ios=400", GIB, 400);
    assert!(same.chunks(4).all(|run| run.iter().all(|i| i.command.offset == run[0].command.offset)));
    let distinct: HashSet<u64> = same.iter().map(|i| i.command.offset).collect();
    assert!(distinct.len() > 95, "{}", distinct.len());
}

#[test]
fn blank_zones_take_the_rest() {
    let text = "randread,bs=4k,size=64m,norandommap,random_distribution=zoned:50/5:30/15:20/,number_ios=100000,io_size=1g";
    let offsets: Vec<u64> = take(text, GIB, 100_000).iter().map(|i| i.command.offset).collect();
    let share = |from: u64, to: u64| {
        let bytes = 64 * MIB;
        let inside = offsets.iter().filter(|o| (bytes * from / 100..bytes * to / 100).contains(*o));
        inside.count() as f64 / offsets.len() as f64
    };
    // Five standard deviations of a share of a half over 100,000 draws are 0.8 %.
    for (from, to, expected) in [(0, 5, 0.5), (5, 20, 0.3), (20, 100, 0.2)] {
        assert!((share(from, to) - expected).abs() < 0.009, "{from} to {to}: {}", share(from, to));
    }
}

#[test]
fn a_centre_holds_the_most_accessed_block() {
    for (centre, block) in [("0", 0), ("0.25", 64), ("1", 255)] {
        for name in ["zipf:1.3", "pareto:0.1"] {
            let text = format!("randread,bs=4k,random_distribution={name}:{centre},number_ios=20000");
            let mut counts: HashMap<u64, u64> = HashMap::new();
            for issue in take(&text, MIB, 20_000) {
                *counts.entry(issue.command.offset / 4096).or_default() += 1;
            }
            let most = counts.iter().max_by_key(|(_, n)| **n).unwrap();
            assert_eq!(*most.0, block, "{text}");
        }
    }
}

#[test]
fn synchronous_engines_keep_one_request() {
    let depth = |text: &str| open(text, GIB).jobs()[0].depth;
    assert_eq!(depth("randread,ioengine=psync,iodepth=32"), 1);
    assert_eq!(depth("randread,ioengine=libaio,iodepth=32"), 32);
    assert_eq!(depth("randread,iodepth=32"), 32);
    assert_eq!(depth("randread,ioengine=psync,iodepth=32,rate_iops=9,io_submit_mode=offload"), 32);
    assert_eq!(depth("randread,ioengine=psync,rate_iops=9,rate_process=poisson"), 1);
}

#[test]
fn rows_follow_group_reporting() {
    let rows = |text: &str| {
        let set = JobSet::from_job_file("j.fio", text).unwrap();
        set.open(GIB, 1).unwrap().jobs().iter().map(|j| j.row).collect::<Vec<u32>>()
    };
    assert_eq!(rows("[a]\nnumjobs=2\n[b]\n"), [0, 1, 2]);
    assert_eq!(
        rows("[global]\ngroup_reporting\n[a]\nnumjobs=2\n[b]\n[c]\nstonewall\n[d]\n"),
        [0, 0, 0, 1, 1]
    );
    assert_eq!(
        rows("[global]\ngroup_reporting=1\n[a]\nnumjobs=3\n[b]\nnew_group\nnumjobs=2\n"),
        [0, 0, 0, 1, 1]
    );
    assert_eq!(rows("[a]\nnumjobs=2\ngroup_reporting\n[b]\n"), [0, 0, 1]);
}

#[test]
fn a_command_line_of_fio_is_read() {
    let text = "fio --bs=8k --direct=1 --name=a --rw=randread --iodepth 4 --size=1m \\\n --name 'the log' --rw=write --size=2m --output-format=json";
    let set = JobSet::from_inline(text).unwrap();
    assert_eq!(set.warnings().len(), 1);
    assert!(
        set.warnings()[0].to_string().ends_with("no effect here: direct, output-format"),
        "{:?}",
        set.warnings()
    );
    let mut open = set.open(GIB, 1).unwrap();
    let jobs = open.jobs();
    assert_eq!((jobs[0].name.as_str(), jobs[0].depth, jobs[1].name.as_str()), ("a", 4, "the log"));
    assert_eq!(open.next(0).unwrap().command.bytes, 8192);
    assert_eq!(open.next(1).unwrap().command.offset, MIB);
    assert_eq!(JobSet::from_inline("--name=x --rw=randwrite").unwrap().specs().len(), 1);
}

#[test]
fn sections_are_chosen_by_name() {
    let text = "[global]\nbs=8k\n[read-1]\nrw=read\n[read-2]\nrw=read\n[write]\nrw=write\n";
    let names = |only: &[&str]| -> Result<Vec<String>, String> {
        let only: Vec<String> = only.iter().map(ToString::to_string).collect();
        let set = JobSet::from_job_file_sections("j.fio", text, &only).map_err(|e| e.to_string())?;
        Ok(set.specs().iter().map(|s| s.name().to_string()).collect())
    };
    assert_eq!(names(&["write"]).unwrap(), ["write"]);
    assert_eq!(names(&["read-*"]).unwrap(), ["read-1", "read-2"]);
    assert_eq!(names(&["*-2", "wr?te"]).unwrap(), ["read-2", "write"]);
    let wrong = names(&["trim"]).unwrap_err();
    assert!(wrong.contains("no section `trim`; there are: read-1, read-2, write"), "{wrong}");
}
