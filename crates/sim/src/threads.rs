//! The same work on several threads.

use std::thread::{Builder, scope};

/// Do `work` on this thread and on up to `threads - 1` others, and wait for all. Each takes what is left to do from what
/// they share. Where no thread can start, fewer do it, and it takes longer.
pub fn on_threads(threads: usize, work: impl Fn() + Sync) {
    scope(|scope| {
        for _ in 1..threads {
            let _ = Builder::new().spawn_scoped(scope, &work);
        }
        work();
    });
}
