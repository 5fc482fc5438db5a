//! How each option of fio is handled here.

/// How an option is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handling {
    /// The option affects the I/O and is applied.
    Honoured,
    /// The option concerns only the real fio; a warning gives the reason.
    Ignored(&'static str),
    /// The option would affect the I/O and is not modelled.
    Unsupported(&'static str),
}

use Handling::{Honoured, Ignored, Unsupported};

const NO_FILES: &str = "the simulated drive has no files or devices to name";
const NO_ENGINE: &str = "commands reach the drive through the simulated host queue";
const NO_DATA: &str = "the content of data is not simulated";
const NO_HOST: &str = "the host's processors and processes are not simulated";
const NO_OUTPUT: &str = "the output is Tailcut's own";
const NO_BATCH: &str = "commands are submitted one at a time";
const NO_VERIFY: &str = "the content of data is not simulated, so nothing can be verified";
const NO_FEEDBACK: &str = "the issue pattern may not depend on measured latency";
const NO_ZONES: &str = "zoned drives and zone stepping are not modelled; use offset and size";

/// Every known option and how it is handled.
pub(super) const OPTIONS: &[(&str, Handling)] = &[
    ("rw", Honoured),
    ("bs", Honoured),
    ("bsrange", Honoured),
    ("bssplit", Honoured),
    ("bs_unaligned", Honoured),
    ("blockalign", Honoured),
    ("rwmixread", Honoured),
    ("rwmixwrite", Honoured),
    ("iodepth", Honoured),
    ("numjobs", Honoured),
    ("size", Honoured),
    ("io_size", Honoured),
    ("offset", Honoured),
    ("offset_increment", Honoured),
    ("random_distribution", Honoured),
    ("hot_sets", Honoured),
    ("percentage_random", Honoured),
    ("norandommap", Honoured),
    ("rate", Honoured),
    ("rate_iops", Honoured),
    ("rate_process", Honoured),
    ("io_submit_mode", Honoured),
    ("thinktime", Honoured),
    ("thinktime_blocks", Honoured),
    ("number_ios", Honoured),
    ("runtime", Honoured),
    ("time_based", Honoured),
    ("ramp_time", Honoured),
    ("startdelay", Honoured),
    ("loops", Honoured),
    ("randseed", Honoured),
    ("randrepeat", Honoured),
    ("fsync", Honoured),
    ("fdatasync", Honoured),
    ("end_fsync", Honoured),
    ("kb_base", Honoured),
    ("name", Honoured),
    ("stonewall", Honoured),
    ("filename", Ignored(NO_FILES)),
    ("directory", Ignored(NO_FILES)),
    ("filename_format", Ignored(NO_FILES)),
    ("filesize", Ignored("size and offset decide the region on the drive")),
    ("nrfiles", Ignored(NO_FILES)),
    ("openfiles", Ignored(NO_FILES)),
    ("file_service_type", Ignored(NO_FILES)),
    ("fallocate", Ignored(NO_FILES)),
    ("create_serialize", Ignored(NO_FILES)),
    ("create_on_open", Ignored(NO_FILES)),
    ("create_fsync", Ignored(NO_FILES)),
    ("create_only", Ignored(NO_FILES)),
    ("file_append", Ignored(NO_FILES)),
    ("fsync_on_close", Ignored(NO_FILES)),
    ("overwrite", Ignored(NO_FILES)),
    ("unlink", Ignored(NO_FILES)),
    ("unique_filename", Ignored(NO_FILES)),
    ("allow_file_create", Ignored(NO_FILES)),
    ("allow_mounted_write", Ignored(NO_FILES)),
    ("lockfile", Ignored(NO_FILES)),
    ("pre_read", Ignored(NO_FILES)),
    ("ioengine", Ignored("iodepth always applies, also with the synchronous engines of fio")),
    ("direct", Ignored("there is no page cache: all I/O is direct")),
    ("buffered", Ignored("there is no page cache: all I/O is direct")),
    ("atomic", Ignored(NO_ENGINE)),
    ("invalidate", Ignored("there is no page cache: all I/O is direct")),
    ("fadvise_hint", Ignored("there is no page cache: all I/O is direct")),
    ("hipri", Ignored(NO_ENGINE)),
    ("hipri_percentage", Ignored(NO_ENGINE)),
    ("fixedbufs", Ignored(NO_ENGINE)),
    ("registerfiles", Ignored(NO_ENGINE)),
    ("sqthread_poll", Ignored(NO_ENGINE)),
    ("sqthread_poll_cpu", Ignored(NO_ENGINE)),
    ("nonvectored", Ignored(NO_ENGINE)),
    ("userspace_reap", Ignored(NO_ENGINE)),
    ("nowait", Ignored(NO_ENGINE)),
    ("iodepth_batch", Ignored(NO_BATCH)),
    ("iodepth_batch_submit", Ignored(NO_BATCH)),
    ("iodepth_batch_complete", Ignored(NO_BATCH)),
    ("iodepth_batch_complete_min", Ignored(NO_BATCH)),
    ("iodepth_batch_complete_max", Ignored(NO_BATCH)),
    ("iodepth_low", Ignored(NO_BATCH)),
    ("serialize_overlap", Ignored(NO_ENGINE)),
    ("mem", Ignored(NO_HOST)),
    ("iomem", Ignored(NO_HOST)),
    ("iomem_align", Ignored(NO_HOST)),
    ("lockmem", Ignored(NO_HOST)),
    ("thread", Ignored(NO_HOST)),
    ("nice", Ignored(NO_HOST)),
    ("prio", Ignored(NO_HOST)),
    ("prioclass", Ignored(NO_HOST)),
    ("cpus_allowed", Ignored(NO_HOST)),
    ("cpus_allowed_policy", Ignored(NO_HOST)),
    ("cpumask", Ignored(NO_HOST)),
    ("numa_cpu_nodes", Ignored(NO_HOST)),
    ("numa_mem_policy", Ignored(NO_HOST)),
    ("uid", Ignored(NO_HOST)),
    ("gid", Ignored(NO_HOST)),
    ("cgroup", Ignored(NO_HOST)),
    ("cgroup_weight", Ignored(NO_HOST)),
    ("thinktime_spin", Ignored(NO_HOST)),
    ("clocksource", Ignored(NO_HOST)),
    ("clock_cpu", Ignored(NO_HOST)),
    ("gtod_cpu", Ignored(NO_HOST)),
    ("gtod_reduce", Ignored(NO_OUTPUT)),
    ("exec_prerun", Ignored("no program is started")),
    ("exec_postrun", Ignored("no program is started")),
    ("ioscheduler", Ignored(NO_HOST)),
    ("buffer_pattern", Ignored(NO_DATA)),
    ("buffer_compress_percentage", Ignored(NO_DATA)),
    ("buffer_compress_chunk", Ignored(NO_DATA)),
    ("dedupe_percentage", Ignored(NO_DATA)),
    ("zero_buffers", Ignored(NO_DATA)),
    ("refill_buffers", Ignored(NO_DATA)),
    ("scramble_buffers", Ignored(NO_DATA)),
    ("group_reporting", Ignored("every clone is reported separately")),
    ("new_group", Ignored(NO_OUTPUT)),
    ("stats", Ignored(NO_OUTPUT)),
    ("description", Ignored(NO_OUTPUT)),
    ("lat_percentiles", Ignored(NO_OUTPUT)),
    ("clat_percentiles", Ignored(NO_OUTPUT)),
    ("slat_percentiles", Ignored(NO_OUTPUT)),
    ("percentile_list", Ignored(NO_OUTPUT)),
    ("significant_figures", Ignored(NO_OUTPUT)),
    ("disable_lat", Ignored(NO_OUTPUT)),
    ("disable_clat", Ignored(NO_OUTPUT)),
    ("disable_slat", Ignored(NO_OUTPUT)),
    ("disable_bw_measurement", Ignored(NO_OUTPUT)),
    ("unified_rw_reporting", Ignored(NO_OUTPUT)),
    ("write_bw_log", Ignored(NO_OUTPUT)),
    ("write_lat_log", Ignored(NO_OUTPUT)),
    ("write_hist_log", Ignored(NO_OUTPUT)),
    ("write_iops_log", Ignored(NO_OUTPUT)),
    ("write_iolog", Ignored(NO_OUTPUT)),
    ("log_avg_msec", Ignored(NO_OUTPUT)),
    ("log_hist_msec", Ignored(NO_OUTPUT)),
    ("log_max_value", Ignored(NO_OUTPUT)),
    ("log_offset", Ignored(NO_OUTPUT)),
    ("log_compression", Ignored(NO_OUTPUT)),
    ("log_unix_epoch", Ignored(NO_OUTPUT)),
    ("per_job_logs", Ignored(NO_OUTPUT)),
    ("bwavgtime", Ignored(NO_OUTPUT)),
    ("iopsavgtime", Ignored(NO_OUTPUT)),
    ("unit_base", Ignored(NO_OUTPUT)),
    ("allrandrepeat", Ignored("a run always repeats exactly; its seed decides")),
    ("use_os_rand", Ignored("a run always repeats exactly; its seed decides")),
    ("random_generator", Ignored("the generator is Tailcut's own")),
    ("softrandommap", Ignored("the random map takes no memory here")),
    ("rate_min", Ignored("it only aborts a slow run")),
    ("rate_iops_min", Ignored("it only aborts a slow run")),
    ("ratemin", Ignored("it only aborts a slow run")),
    ("rate_cycle", Ignored("the rate is exact at every request")),
    ("ratecycle", Ignored("the rate is exact at every request")),
    ("rate_ignore_thinktime", Ignored("a rate's schedule is absolute")),
    ("rwmixcycle", Ignored("the direction of every request is drawn independently")),
    ("continue_on_error", Ignored("no I/O can lie outside the drive")),
    ("ignore_error", Ignored("no I/O can lie outside the drive")),
    ("error_dump", Ignored("no I/O can lie outside the drive")),
    ("profile", Unsupported("write the job itself; Aerospike's act is the inline job `act:N`")),
    ("wait_for", Unsupported("order the jobs and use stonewall, which waits for all before it")),
    ("exitall", Unsupported("jobs end by themselves; give each a runtime")),
    ("exitall_on_error", Ignored("no I/O can lie outside the drive")),
    ("exit_what", Unsupported("jobs end by themselves; give each a runtime")),
    ("flow", Unsupported("use rate_iops to set the shares of jobs")),
    ("flow_id", Unsupported("use rate_iops to set the shares of jobs")),
    ("flow_watermark", Unsupported("use rate_iops to set the shares of jobs")),
    ("latency_target", Unsupported(NO_FEEDBACK)),
    ("latency_window", Unsupported(NO_FEEDBACK)),
    ("latency_percentile", Unsupported(NO_FEEDBACK)),
    ("latency_run", Unsupported(NO_FEEDBACK)),
    ("max_latency", Unsupported(NO_FEEDBACK)),
    ("steadystate", Unsupported("give a runtime; ageing has its own steady-state test")),
    ("ss", Unsupported("give a runtime; ageing has its own steady-state test")),
    ("zonemode", Unsupported(NO_ZONES)),
    ("zonesize", Unsupported(NO_ZONES)),
    ("zonerange", Unsupported(NO_ZONES)),
    ("zoneskip", Unsupported(NO_ZONES)),
    ("zonecapacity", Unsupported(NO_ZONES)),
    ("offset_align", Unsupported("write the aligned offset in bytes")),
    ("bs_is_seq_rand", Unsupported("use two jobs")),
    ("rw_sequencer", Unsupported("runs of requests per random offset are not modelled")),
    ("thinktime_iotime", Unsupported("use thinktime_blocks")),
    ("thinktime_blocks_type", Unsupported("the pause always follows a completion")),
    ("sync", Unsupported("use fsync=1 for durable writes")),
    ("sync_file_range", Unsupported("use fsync")),
    ("write_barrier", Unsupported("use fsync")),
    ("fill_device", Unsupported("use size=100%")),
    ("fill_fs", Unsupported("use size=100%")),
    ("read_iolog", Unsupported("give the trace itself as the workload")),
    ("replay_no_stall", Unsupported("give the trace itself as the workload")),
    ("verify", Unsupported(NO_VERIFY)),
    ("do_verify", Unsupported(NO_VERIFY)),
    ("verify_backlog", Unsupported(NO_VERIFY)),
    ("verify_only", Unsupported(NO_VERIFY)),
    ("trim_percentage", Unsupported("use a second job with rw=randtrim")),
    ("experimental_verify", Unsupported(NO_VERIFY)),
];

const ALIASES: &[(&str, &str)] = &[
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("ba", "blockalign"),
    ("io_limit", "io_size"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
];

/// The canonical name of an option.
pub(super) fn canonical(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

/// How an option is handled; `key` is its canonical name.
pub(super) fn handling(key: &str) -> Option<Handling> {
    OPTIONS.iter().find(|(name, _)| *name == key).map(|(_, handling)| *handling)
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
    OPTIONS
        .iter()
        .map(|(name, _)| *name)
        .chain(ALIASES.iter().map(|(alias, _)| *alias))
        .map(|name| (strsim::damerau_levenshtein(word, name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .map(|(_, name)| name)
}
