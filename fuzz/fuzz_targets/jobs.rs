#![no_main]
//! fio job files and inline jobs: parsed, opened, and commands generated from them.

use tailcut_workload::job::JobSet;

libfuzzer_sys::fuzz_target!(|text: &str| {
    for set in [JobSet::from_job_file("fuzz", text), JobSet::from_inline(text)].into_iter().flatten() {
        if let Ok(mut jobs) = set.open(64 << 20, 1) {
            for job in 0..jobs.jobs().len().min(16) {
                for _ in 0..100 {
                    if jobs.next(job).is_none() {
                        break;
                    }
                }
            }
        }
    }
});
