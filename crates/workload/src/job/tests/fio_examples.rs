//! What becomes of fio's own example job files. The files are read from the folder that
//! `TAILCUT_FIO_EXAMPLES` names, `examples` of fio's repository; without it the test is skipped.

use crate::job::JobSet;
use std::collections::BTreeMap;
use std::path::Path;

const TIB: u64 = 1 << 40;

/// What becomes of a file.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    /// It runs with this many jobs, clones included.
    Runs(usize),
    /// It is refused; the message has this text.
    Refused(&'static str),
}

use Outcome::{Refused, Runs};

const TABLE: &[(&str, Outcome)] = &[
    ("1mbs_clients.fio", Runs(32)),
    ("aio-read.fio", Runs(4)),
    ("atomic-verify.fio", Refused("option `verify`: the job would read its writes back")),
    ("backwards-read.fio", Runs(1)),
    ("basic-verify.fio", Refused("option `verify`: the job would read its writes back")),
    ("butterfly.fio", Refused("option `flow=2` is not supported")),
    ("cmdprio-bssplit.fio", Runs(4)),
    ("cmdprio-percentage.fio", Runs(1)),
    ("cpp_null.fio", Refused("`ioengine=cpp_null` is refused")),
    ("cpuio.fio", Refused("`ioengine=cpuio` is refused")),
    ("cross-stripe-verify.fio", Refused("option `verify_backlog=1` is not supported")),
    ("dedupe-global.fio", Runs(2)),
    ("dev-dax.fio", Refused("`ioengine=dev-dax` is refused")),
    ("dfs.fio", Refused("`ioengine=dfs` is refused")),
    ("dircreate-ioengine.fio", Refused("`ioengine=dircreate` is refused")),
    ("dirdelete-ioengine.fio", Refused("`ioengine=dirdelete` is refused")),
    ("dirstat-ioengine.fio", Refused("`ioengine=dirstat` is refused")),
    ("disk-zone-profile.fio", Refused("option `zonemode=strided` is not supported")),
    ("e4defrag.fio", Refused("`ioengine=e4defrag` is refused")),
    ("e4defrag2.fio", Refused("`ioengine=e4defrag` is refused")),
    ("enospc-pressure.fio", Refused("option `exitall=1` is not supported")),
    ("example_latency_steadystate.fio", Refused("option `steadystate` is not supported")),
    ("exec.fio", Refused("`ioengine=exec` is refused")),
    ("exitwhat.fio", Refused("option `exitall=1` is not supported")),
    ("falloc.fio", Refused("`ioengine=falloc` is refused")),
    ("filecreate-ioengine.fio", Refused("`ioengine=filecreate` is refused")),
    ("filedelete-ioengine.fio", Refused("`ioengine=filedelete` is refused")),
    ("filestat-ioengine.fio", Refused("`ioengine=filestat` is refused")),
    ("fio-rand-RW.fio", Runs(4)),
    ("fio-rand-read.fio", Runs(1)),
    ("fio-rand-write.fio", Runs(4)),
    ("fio-seq-RW.fio", Runs(4)),
    ("fio-seq-read.fio", Runs(1)),
    ("fio-seq-write.fio", Runs(1)),
    ("fixed-rate-submission.fio", Runs(1)),
    ("flow.fio", Refused("option `flow=1` is not supported")),
    ("fsx.fio", Runs(1)),
    ("ftruncate.fio", Refused("`ioengine=ftruncate` is refused")),
    ("gfapi.fio", Refused("`ioengine=gfapi` is refused")),
    ("gpudirect-rdmaio-client.fio", Refused("`ioengine=rdma` is refused")),
    ("gpudirect-rdmaio-server.fio", Refused("`ioengine=rdma` is refused")),
    ("http-s3-crypto.fio", Refused("`ioengine=http` is refused")),
    ("http-s3-storage-class.fio", Refused("`ioengine=http` is refused")),
    ("http-s3.fio", Refused("`ioengine=http` is refused")),
    ("http-swift.fio", Refused("`ioengine=http` is refused")),
    ("http-webdav.fio", Refused("`ioengine=http` is refused")),
    ("ime.fio", Refused("`ioengine=ime_psync` is refused")),
    ("iometer-file-access-server.fio", Runs(1)),
    ("jesd219.fio", Runs(4)),
    ("latency-profile.fio", Refused("option `latency_target=500000` is not supported")),
    ("libblkio-io_uring.fio", Runs(4)),
    ("libblkio-virtio-blk-vfio-pci.fio", Runs(4)),
    ("libcufile-cufile.fio", Refused("unknown option `gpu_dev_ids`")),
    ("libcufile-posix.fio", Refused("unknown option `gpu_dev_ids`")),
    ("libhdfs.fio", Refused("`ioengine=libhdfs` is refused")),
    ("libhipfile-hipfile.fio", Refused("unknown option `gpu_dev_ids`")),
    ("libhipfile-posix.fio", Refused("unknown option `gpu_dev_ids`")),
    ("libiscsi.fio", Refused("`ioengine=libiscsi` is refused")),
    ("libpmem.fio", Refused("`ioengine=libpmem` is refused")),
    ("libzbc-rand-write.fio", Refused("option `zonemode=zbd` is not supported")),
    ("libzbc-seq-read.fio", Refused("option `zonemode=zbd` is not supported")),
    ("mtd.fio", Refused("`ioengine=mtd` is refused")),
    ("nbd.fio", Refused("`ioengine=nbd` is refused")),
    ("netio.fio", Refused("`ioengine=net` is refused")),
    ("netio_multicast.fio", Refused("`ioengine=net` is refused")),
    ("netio_vsock.fio", Refused("`ioengine=net` is refused")),
    ("netio_vsock_receiver.fio", Refused("`ioengine=net` is refused")),
    ("netio_vsock_sender.fio", Refused("`ioengine=net` is refused")),
    ("nfs.fio", Refused("`ioengine=nfs` is refused")),
    ("null.fio", Refused("`ioengine=null` is refused")),
    ("numa.fio", Runs(2)),
    ("page_fault.fio", Refused("`ioengine=page_fault` is refused")),
    ("poisson-rate-submission.fio", Runs(1)),
    ("rados.fio", Refused("`ioengine=rados` is refused")),
    ("rand-zones.fio", Runs(1)),
    ("rbd.fio", Refused("`ioengine=rbd` is refused")),
    ("rdmaio-client.fio", Refused("`ioengine=rdma` is refused")),
    ("rdmaio-server.fio", Refused("`ioengine=rdma` is refused")),
    ("sequence-distribution.fio", Refused("`ioengine=null` is refused")),
    ("sg_verify-fail.fio", Refused("option `sg_write_mode=verify_bytchk_01` is not supported")),
    ("sg_verify.fio", Refused("option `sg_write_mode=verify_bytchk_00` is not supported")),
    ("sg_write_same_ndob.fio", Refused("option `sg_write_mode=write_same_ndob` is not supported")),
    ("sprandom.fio", Refused("option `sprandom=1` is not supported")),
    ("ssd-steadystate.fio", Runs(5)),
    ("ssd-test.fio", Runs(4)),
    ("steadystate.fio", Refused("option `ss` is not supported")),
    ("surface-scan.fio", Refused("option `fill_device=1` is not supported")),
    ("tiobench-example.fio", Runs(16)),
    ("uring-cmd-bsg.fio", Refused("trim-then-write pairs are not modelled;")),
    ("uring-cmd-fdp.fio", Refused("option `fdp=1` is not supported")),
    ("uring-cmd-ng.fio", Runs(3)),
    ("uring-cmd-pi-ext.fio", Runs(2)),
    ("uring-cmd-pi-sb.fio", Runs(2)),
    ("uring-cmd-trim-multi-range.fio", Refused("option `num_range=8` is not supported")),
    (
        "uring-cmd-write-mode.fio",
        Refused("option `write_mode=write/40:zeroes/30:uncor/20:verify/10` is not supported"),
    ),
    ("uring-cmd-zoned-append.fio", Refused("option `zonemode=zbd` is not supported")),
    ("uring-cmd-zoned.fio", Refused("option `zonemode=zbd` is not supported")),
    ("waitfor.fio", Refused("option `wait_for` is not supported")),
    ("xnvme-compare.fio", Runs(2)),
    ("xnvme-fdp.fio", Refused("option `fdp=1` is not supported")),
    ("xnvme-pi.fio", Runs(2)),
    ("xnvme-zoned.fio", Refused("option `zonemode=zbd` is not supported")),
    ("zbd-rand-write-trim-gc.fio", Refused("option `zonemode=zbd` is not supported")),
    ("zbd-rand-write-zone-reset-gc.fio", Refused("option `zonemode=zbd` is not supported")),
    ("zbd-rand-write.fio", Refused("option `zonemode=zbd` is not supported")),
    ("zbd-seq-read.fio", Refused("option `zonemode=zbd` is not supported")),
    ("zipf.fio", Refused("`ioengine=null` is refused")),
];

/// The values of the variables that the examples leave to the environment.
fn filled_in(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, after) = behind.split_once('}').expect("a variable ends");
        out.push_str(before);
        out.push_str(match name {
            "FIO_RW" => "randread",
            "FIO_BS" => "4k",
            "FIO_DIR" => "/mnt",
            _ => "1",
        });
        rest = after;
    }
    out + rest
}

/// The outcome of each file, by name: the number of jobs, or the message.
fn outcomes(folder: &Path) -> BTreeMap<String, Result<usize, String>> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let jobs = files.filter(|path| path.extension().is_some_and(|e| e == "fio"));
    jobs.map(|path| {
        let text = filled_in(&std::fs::read_to_string(&path).unwrap());
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let set = JobSet::from_job_file(&name, &text);
        let opened = set.and_then(|set| set.open(TIB, 1)).map(|open| open.jobs().len());
        (name, opened.map_err(|e| e.to_string()))
    })
    .collect()
}

#[test]
fn every_example_of_fio_runs_or_is_refused_for_a_reason() {
    let Some(folder) = std::env::var_os("TAILCUT_FIO_EXAMPLES") else {
        println!("skipped: TAILCUT_FIO_EXAMPLES is not set");
        return;
    };
    let mut outcomes = outcomes(Path::new(&folder));
    for (name, expected) in TABLE {
        let Some(outcome) = outcomes.remove(*name) else { panic!("{name} is not in the folder") };
        let fits = match (&outcome, expected) {
            (Ok(jobs), Runs(expected)) => jobs == expected,
            (Err(message), Refused(part)) => message.contains(part),
            _ => false,
        };
        assert!(fits, "{name}: {outcome:?}, not {expected:?}");
    }
    assert!(outcomes.is_empty(), "without a row: {outcomes:?}");
}
