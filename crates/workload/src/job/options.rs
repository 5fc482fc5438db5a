//! How each option of fio is handled here.

/// How an option is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handling {
    /// The option affects the I/O and is applied.
    Honoured,
    /// The option changes nothing here. One line names all such options of a description.
    NoEffect,
    /// As [`Handling::NoEffect`] with one of these values; any other would affect the I/O and is
    /// not modelled.
    Only(&'static [&'static str], &'static str),
    /// The option would affect the I/O and is not modelled.
    Unsupported(&'static str),
}

use Handling::{Honoured, NoEffect, Only, Unsupported};

const OFF: &[&str] = &["0", "false", "none"];
const FILES: &str = "a job has one file here; use numjobs or several jobs for several files";
const BATCH: &str = "requests are submitted and reaped one at a time; leave the option out";
const PLACEMENT: &str = "the placement of data by the host is not modelled";
const NO_VERIFY: &str = "the content of data is not simulated, so nothing can be verified";
const NO_FEEDBACK: &str = "the issue pattern may not depend on measured latency";
const NO_ZONES: &str = "zoned drives and zone stepping are not modelled; use offset and size";

/// The options that are applied.
pub(super) const HONOURED: &[&str] = &[
    "rw",
    "rw_sequencer",
    "bs",
    "bsrange",
    "bssplit",
    "bs_unaligned",
    "blockalign",
    "rwmixread",
    "rwmixwrite",
    "iodepth",
    "numjobs",
    "size",
    "filesize",
    "io_size",
    "offset",
    "offset_increment",
    "filename",
    "directory",
    "filename_format",
    "ioengine",
    "random_distribution",
    "hot_sets",
    "percentage_random",
    "norandommap",
    "rate",
    "rate_iops",
    "rate_process",
    "rate_min",
    "rate_iops_min",
    "io_submit_mode",
    "thinktime",
    "thinktime_blocks",
    "number_ios",
    "runtime",
    "time_based",
    "ramp_time",
    "startdelay",
    "loops",
    "randseed",
    "randrepeat",
    "fsync",
    "fdatasync",
    "end_fsync",
    "fsync_on_close",
    "sync",
    "writefua",
    "direct",
    "buffered",
    "kb_base",
    "name",
    "stonewall",
    "new_group",
    "group_reporting",
    "verify",
    "do_verify",
];

/// The options that change nothing here: they concern the host, its files and buffers, the engine, and
/// the output of fio.
pub(super) const NO_EFFECT: &[&str] = &[
    "openfiles",
    "file_service_type",
    "filetype",
    "fallocate",
    "create_serialize",
    "create_on_open",
    "create_fsync",
    "overwrite",
    "unlink",
    "unlink_each_loop",
    "unique_filename",
    "allow_file_create",
    "allow_mounted_write",
    "atomic",
    "invalidate",
    "fadvise_hint",
    "hipri",
    "hipri_percentage",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "nonvectored",
    "userspace_reap",
    "libblkio_driver",
    "libblkio_path",
    "libblkio_pre_connect_props",
    "libblkio_num_entries",
    "libblkio_queue_size",
    "libblkio_pre_start_props",
    "libblkio_vectored",
    "libblkio_wait_mode",
    "libblkio_force_enable_completion_eventfd",
    "xnvme_async",
    "xnvme_sync",
    "xnvme_admin",
    "xnvme_be",
    "xnvme_mem",
    "xnvme_dev_nsid",
    "xnvme_dev_subnqn",
    "no_completion_thread",
    "thp",
    "xnvme_iovec",
    "nowait",
    "uncached",
    "force_async",
    "readfua",
    "libaio_vectored",
    "mem",
    "iomem",
    "iomem_align",
    "hugepage-size",
    "lockmem",
    "thread",
    "nice",
    "prio",
    "prioclass",
    "priohint",
    "cmdprio",
    "cmdprio_class",
    "cmdprio_hint",
    "cmdprio_percentage",
    "cmdprio_split",
    "cmdprio_bssplit",
    "cpus_allowed",
    "cpus_allowed_policy",
    "cpumask",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "uid",
    "gid",
    "cgroup",
    "cgroup_weight",
    "cgroup_nodelete",
    "comm",
    "thinktime_spin",
    "clocksource",
    "clock_cpu",
    "gtod_cpu",
    "gtod_reduce",
    "exec_prerun",
    "exec_postrun",
    "ioscheduler",
    "buffer_pattern",
    "buffer_compress_percentage",
    "buffer_compress_chunk",
    "dedupe_percentage",
    "dedupe_mode",
    "dedupe_working_set_percentage",
    "dedupe_global",
    "zero_buffers",
    "refill_buffers",
    "scramble_buffers",
    "write_hint",
    "stats",
    "description",
    "disk_util",
    "lat_percentiles",
    "clat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "block_error_percentiles",
    "significant_figures",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "unified_rw_reporting",
    "write_bw_log",
    "write_lat_log",
    "write_hist_log",
    "write_iops_log",
    "write_iolog",
    "log_avg_msec",
    "log_hist_msec",
    "log_hist_coarseness",
    "log_max_value",
    "log_offset",
    "log_prio",
    "log_entries",
    "log_issue_time",
    "log_compression",
    "log_compression_cpus",
    "log_store_compressed",
    "log_unix_epoch",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "log_window_value",
    "job_start_clock_id",
    "per_job_logs",
    "bwavgtime",
    "iopsavgtime",
    "unit_base",
    "allrandrepeat",
    "use_os_rand",
    "random_generator",
    "softrandommap",
    "rate_cycle",
    "rwmixcycle",
    "continue_on_error",
    "ignore_error",
    "error_dump",
    "exitall_on_error",
    "recover_zbd_write_error",
    "verify_fatal",
    "verify_dump",
    "verify_pattern",
    "verify_interval",
    "verify_offset",
    "verify_async",
    "verify_backlog_batch",
    "verify_async_cpus",
    "verify_pattern_interval",
    "verify_state_save",
    "verify_header_seed",
    "verify_write_sequence",
    "verify_policy",
    "verifysort",
    "verifysort_nr",
    "max_open_zones",
    "job_max_open_zones",
    "read_beyond_wp",
    "zone_reset_threshold",
    "zone_reset_frequency",
    "ignore_zone_limits",
    "write_zone_remainder",
    "ss_dur",
    "ss_ramp",
    "ss_interval",
    "steadystate_duration",
    "steadystate_ramp_time",
    "steadystate_check_interval",
    "latency_window",
    "latency_percentile",
    "latency_run",
    "flow_sleep",
    "flow_id",
    "flow_watermark",
    "replay_redirect",
    "replay_align",
    "replay_scale",
    "replay_skip",
    "replay_time_scale",
    "read_iolog_chunked",
    "cmd_type",
    "md_per_io_size",
    "pi_act",
    "pi_chk",
    "apptag",
    "apptag_mask",
    "output",
    "output-format",
    "minimal",
    "terse-version",
    "eta",
    "eta-newline",
    "eta-interval",
    "status-interval",
    "readonly",
    "max-jobs",
    "alloc-size",
    "bandwidth-log",
    "append-terse",
    "debug",
];

/// The options that are accepted with some values only.
const ONLY: &[(&str, &[&str], &str)] = &[
    ("nrfiles", &["1"], FILES),
    ("create_only", OFF, "it makes files and moves no data"),
    ("file_append", OFF, "write the offset"),
    ("lockfile", &["none"], "a lock on a file decides which job runs; use stonewall"),
    ("pre_read", OFF, "put a job that reads the region first, and a stonewall"),
    ("serialize_overlap", OFF, "requests do not wait for others on the same blocks"),
    ("iodepth_batch", &["1"], BATCH),
    ("iodepth_batch_complete_min", &["0", "1"], BATCH),
    ("iodepth_batch_complete_max", &["0", "1"], BATCH),
    ("iodepth_low", &[], BATCH),
    ("sg_write_mode", &["write"], "the other commands of SCSI are not modelled"),
    ("write_mode", &["write"], "the other commands of NVMe are not modelled"),
    ("libblkio_write_zeroes_on_trim", OFF, "use rw=write"),
    ("fdp", OFF, PLACEMENT),
    ("dataplacement", &["none"], PLACEMENT),
    ("plid_select", &[], PLACEMENT),
    ("plids", &[], PLACEMENT),
    ("dp_scheme", &[], PLACEMENT),
    ("rate_ignore_thinktime", OFF, "after a pause a job catches up with its rate, as is fio's default"),
    ("thinkcycles", &["0"], "use thinktime"),
    ("thinktime_blocks_type", &["complete", "issue"], "allowed: complete or issue"),
    ("zonemode", &["none"], NO_ZONES),
    ("sync_file_range", &["none"], "use fsync"),
    ("fill_device", OFF, "use size=100%"),
    ("verify_backlog", OFF, NO_VERIFY),
    ("verify_only", OFF, NO_VERIFY),
    ("verify_state_load", OFF, NO_VERIFY),
    ("experimental_verify", OFF, NO_VERIFY),
    ("trim_percentage", OFF, "use a second job with rw=randtrim"),
    ("trim_backlog", OFF, NO_VERIFY),
    ("trim_backlog_batch", OFF, NO_VERIFY),
    ("trim_verify_zero", OFF, NO_VERIFY),
    ("random_sequence_stride", &["0", "1"], "use random_distribution=random"),
    ("sprandom", OFF, "age the drive with `--precondition steady` instead"),
    ("end_syncfs", OFF, "use end_fsync"),
    ("num_range", &["1"], "use rw=randtrim with one range a request"),
    ("bs_is_seq_rand", OFF, "use two jobs"),
    ("exitall", OFF, "jobs end by themselves; give each a runtime"),
    ("max_latency", &["0"], NO_FEEDBACK),
    ("latency_target", &["0"], NO_FEEDBACK),
    ("flow", &["0"], "use rate_iops to set the shares of jobs"),
    ("thinktime_iotime", &["0"], "use thinktime_blocks"),
    ("write_barrier", OFF, "use fsync"),
];

/// The options that are refused.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("profile", "write the job itself; Aerospike's act is the inline job `act:N`"),
    ("wait_for", "order the jobs and use stonewall, which waits for all before it"),
    ("exit_what", "jobs end by themselves; give each a runtime"),
    ("steadystate", "give a runtime; ageing has its own steady-state test"),
    ("zonesize", NO_ZONES),
    ("zonerange", NO_ZONES),
    ("zoneskip", NO_ZONES),
    ("zonecapacity", NO_ZONES),
    ("offset_align", "write the aligned offset in bytes"),
    ("percentage_sequential", "use percentage_random"),
    ("ramp_size", "use ramp_time"),
    ("opendir", FILES),
    ("read_iolog", "give the trace itself as the workload"),
    ("replay_no_stall", "give the trace itself as the workload, with --closed-loop"),
    ("merge_blktrace_file", "give the traces themselves as workloads"),
    ("merge_blktrace_scalars", "give the traces themselves as workloads"),
    ("merge_blktrace_iters", "give the traces themselves as workloads"),
    ("section", "give the job file as the workload, and `--section`"),
    ("client", "run the job here"),
    ("server", "run the job here"),
    ("remote-config", "run the job here"),
];

/// What an I/O engine of fio does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// It returns from a request when the request has ended, so one request is outstanding.
    Synchronous,
    /// It keeps `iodepth` requests outstanding.
    Asynchronous,
    /// It sends nothing to a drive of this host, for this reason.
    Refused(&'static str),
}

const NO_DATA: &str = "this engine moves no data to or from a drive";
const REMOTE: &str = "the data of this engine are not on a drive of this host; name one such as libaio";
const MEMORY: &str = "this engine reaches memory or raw flash, and no drive";

/// The I/O engines, and what they do here.
const ENGINES: &[(Engine, &[&str])] = &[
    (
        Engine::Synchronous,
        &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libcufile", "libhipfile"],
    ),
    (
        Engine::Asynchronous,
        &[
            "libaio",
            "io_uring",
            "io_uring_cmd",
            "posixaio",
            "solarisaio",
            "windowsaio",
            "sg",
            "libblkio",
            "xnvme",
            "libzbc",
        ],
    ),
    (
        Engine::Refused(NO_DATA),
        &[
            "null",
            "cpuio",
            "cpp_null",
            "filecreate",
            "filestat",
            "filedelete",
            "fileoperations",
            "dircreate",
            "dirstat",
            "dirdelete",
            "exec",
            "falloc",
            "ftruncate",
            "e4defrag",
            "net",
            "netsplice",
            "rdma",
            "page_fault",
            "sleep",
        ],
    ),
    (
        Engine::Refused(REMOTE),
        &[
            "rbd",
            "rados",
            "http",
            "gfapi",
            "gfapi_async",
            "libhdfs",
            "nbd",
            "nfs",
            "libiscsi",
            "dfs",
            "ime_psync",
            "ime_psyncv",
            "ime_aio",
        ],
    ),
    (Engine::Refused(MEMORY), &["dev-dax", "libpmem", "pmemblk", "mtd"]),
];

/// The engine of a name.
///
/// # Errors
/// The name is unknown.
pub(super) fn engine(name: &str) -> Result<Engine, String> {
    if name.starts_with("external") || name.starts_with('/') {
        return Ok(Engine::Refused("what an engine of your own does is not known here"));
    }
    let found = ENGINES.iter().find(|(_, names)| names.contains(&name)).map(|(engine, _)| *engine);
    found.ok_or_else(|| "unknown engine".to_string())
}

const ALIASES: &[(&str, &str)] = &[
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("ba", "blockalign"),
    ("io_limit", "io_size"),
    ("threads", "thread"),
    ("timeout", "runtime"),
    ("fileoffset", "offset"),
    ("nr_files", "nrfiles"),
    ("mem_align", "iomem_align"),
    ("ratemin", "rate_min"),
    ("ratecycle", "rate_cycle"),
    ("disable_bw", "disable_bw_measurement"),
    ("fill_fs", "fill_device"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("data_placement", "dataplacement"),
    ("fdp_pli", "plids"),
    ("fdp_pli_select", "plid_select"),
    ("ss", "steadystate"),
    ("wait_for_previous", "stonewall"),
];

/// The canonical name of an option.
pub(super) fn canonical(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

/// How an option is handled; `key` is its canonical name.
pub(super) fn handling(key: &str) -> Option<Handling> {
    if HONOURED.contains(&key) {
        return Some(Honoured);
    }
    if NO_EFFECT.contains(&key) {
        return Some(NoEffect);
    }
    let only = ONLY.iter().find(|(name, ..)| *name == key).map(|(_, values, why)| Only(values, why));
    only.or_else(|| UNSUPPORTED.iter().find(|(name, _)| *name == key).map(|(_, why)| Unsupported(why)))
}

/// All options, by their canonical names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let refused = ONLY.iter().map(|(name, ..)| *name).chain(UNSUPPORTED.iter().map(|(name, _)| *name));
    HONOURED.iter().chain(NO_EFFECT).copied().chain(refused)
}

/// Whether a word is an option or an alias of one.
pub(super) fn is_known(word: &str) -> bool {
    handling(canonical(word)).is_some()
}

/// The known option closest to a word, if it is close enough to be a misspelling.
pub(super) fn nearest(word: &str) -> Option<&'static str> {
    // Computing the distance is quadratic in the word's length; no option is as long as
    // this.
    if word.len() > 40 {
        return None;
    }
    names()
        .chain(ALIASES.iter().map(|(alias, _)| *alias))
        .map(|name| (strsim::damerau_levenshtein(word, name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .map(|(_, name)| name)
}
