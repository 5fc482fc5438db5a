//! Work on several threads; the core uses threads only here. Each job changes only its own state and has its own random
//! streams, so the number of threads and their order do not change a result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::Builder;

/// The number of threads that the machine runs at once.
pub(super) fn available() -> usize {
    std::thread::available_parallelism().map_or(1, |threads| threads.get())
}

/// The work on one job. It reports its progress to the given function, and ends with false when that function returns
/// false. It also gets tables that its thread reuses for each job.
type Work<'a, J, T> = dyn Fn(J, &mut T, &mut dyn FnMut(f64) -> bool) -> bool + Sync + 'a;

/// Do all jobs on `threads` threads. Returns false if `progress` stops them.
pub(super) fn on_threads<J: Send, T: Default>(
    threads: usize,
    jobs: Vec<J>,
    progress: &mut dyn FnMut(f64) -> bool,
    work: &Work<'_, J, T>,
) -> bool {
    let threads = threads.clamp(1, jobs.len().max(1));
    let stop = AtomicBool::new(false);
    let mut shares: Vec<Vec<J>> = (0..threads).map(|_| Vec::new()).collect();
    for (i, job) in jobs.into_iter().enumerate() {
        shares[i % threads].push(job);
    }
    std::thread::scope(|scope| {
        let stop = &stop;
        let mut own = shares.pop().unwrap_or_default();
        for share in shares {
            let (give, take) = channel::<Vec<J>>();
            let begun = Builder::new().spawn_scoped(scope, move || {
                let mut tables = T::default();
                let go = &mut |_| !stop.load(Ordering::Relaxed);
                let share = take.recv().unwrap_or_default();
                share.into_iter().all(|job| work(job, &mut tables, go))
            });
            // Jobs for which no thread could be started are done by this one.
            match begun {
                Ok(_) => give.send(share).expect("the thread waits for its share"),
                Err(_) => own.extend(share),
            }
        }
        // Only this thread reports progress, because all threads have the same amount of work.
        let (mut tables, count) = (T::default(), own.len() as f64);
        for (i, job) in own.into_iter().enumerate() {
            let mut go = |part: f64| progress((i as f64 + part) / count);
            if !work(job, &mut tables, &mut go) {
                stop.store(true, Ordering::Relaxed);
                break;
            }
        }
    });
    !stop.load(Ordering::Relaxed)
}
