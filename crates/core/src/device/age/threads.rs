//! Work on several threads: the only place of the core that has any. Each job changes state of its
//! own and draws from random streams of its own, so that neither the number of threads nor their
//! order changes a result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::Builder;

/// The number of threads that the machine runs at once.
pub(super) fn available() -> usize {
    std::thread::available_parallelism().map_or(1, |threads| threads.get())
}

/// What is done with a job. It reports its progress to the function that it gets, and ends with
/// false when that returns false. It also gets tables that its thread uses for one job after the
/// other.
type Work<'a, J, T> = dyn Fn(J, &mut T, &mut dyn FnMut(f64) -> bool) -> bool + Sync + 'a;

/// Do all jobs on some threads; false when `progress` stops them.
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
            // What no other thread can do is for this one.
            match begun {
                Ok(_) => give.send(share).expect("the thread waits for its share"),
                Err(_) => own.extend(share),
            }
        }
        // This thread alone reports progress. All threads have as much to do.
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
