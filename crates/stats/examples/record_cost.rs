//! Measures the cost of recording one request:
//! `cargo run --release -p tailcut-stats --example record_cost`.
//!
//! Prints ns per call for a steady mix (of one job and of four), for an overloaded drive (each
//! request slower than all before), for a constant latency, with a fine series of 1,000 requests
//! per interval, and for the digest.

use std::hint::black_box;
use std::time::Instant;
use tailcut_stats::{Digest, Recorder, RecorderOptions, Sample};
use tailcut_units::{Cause, HostOp, Ledger, Occupant, SimTime, Span, Status, Stream};

const REQUESTS: u64 = 20_000_000;
const PREPARED: usize = 4096;

/// Ledgers like those of a busy drive, with six to nine causes each.
fn ledgers(latency: impl Fn(&mut Stream) -> u64) -> Vec<Ledger> {
    let mut stream = Stream::new(1, "record cost", 0);
    let own = [Cause::HOST_LATENCY, Cause::CONTROLLER, Cause::HOST_LINK, Cause::COMMAND, Cause::TRANSFER];
    let waits = [
        Cause::die_wait(Occupant::UserProgram),
        Cause::die_wait(Occupant::Erase),
        Cause::channel_wait(Occupant::UserRead),
    ];
    let one = |stream: &mut Stream| {
        let mut ledger = Ledger::new();
        own.iter().for_each(|&cause| ledger.charge(cause, 500));
        for &cause in &waits {
            if stream.below(2) == 0 {
                ledger.charge(cause, stream.below(1_000));
            }
        }
        ledger.charge(Cause::ARRAY, latency(stream));
        ledger
    };
    (0..PREPARED).map(|_| one(&mut stream)).collect()
}

fn measure(name: &str, ledgers: &mut [Ledger], jobs: usize, grow: u64, fine: Option<Span>) {
    let names: Vec<String> = (0..jobs).map(|j| format!("job{j}")).collect();
    let mut recorder = Recorder::new(&names, RecorderOptions { fine, ..Default::default() });
    let sums: Vec<u64> = ledgers.iter().map(Ledger::sum).collect();
    let begin = Instant::now();
    for index in 0..REQUESTS {
        let which = index as usize % PREPARED;
        if grow > 0 {
            ledgers[which].charge(Cause::HOST_QUEUE, grow * PREPARED as u64);
        }
        let ns =
            sums[which] + if grow > 0 { grow * PREPARED as u64 * (index / PREPARED as u64 + 1) } else { 0 };
        recorder.record(black_box(&Sample {
            index,
            job: (which % jobs) as u16,
            op: if which % 10 < 7 { HostOp::Read } else { HostOp::Write },
            offset: index * 4096,
            bytes: 4096,
            arrived: SimTime(index * 1_000),
            completed: SimTime(index * 1_000 + ns),
            status: Status::Ok,
            ledger: &ledgers[which],
        }));
    }
    let ns = begin.elapsed().as_nanos() as f64 / REQUESTS as f64;
    let finishing = Instant::now();
    let measured = recorder.finish(SimTime(u64::MAX / 2), |_| ());
    println!(
        "{name:<12} {ns:6.1} ns a request, finish {:.1} ms, p99.9 {} ns",
        finishing.elapsed().as_secs_f64() * 1e3,
        measured.side(HostOp::Read).population.percentile(99.9)
    );
}

fn main() {
    let tail = |s: &mut Stream| (-80_000.0 * libm::log(1.0 - s.unit())) as u64;
    measure("steady", &mut ledgers(tail), 1, 0, None);
    measure("four jobs", &mut ledgers(tail), 4, 0, None);
    measure("overloaded", &mut ledgers(tail), 1, 3, None);
    measure("constant", &mut ledgers(|_| 3_000), 1, 0, None);
    measure("fine 1 ms", &mut ledgers(tail), 1, 0, Some(Span(1_000_000)));
    let mut digest = Digest::new();
    let begin = Instant::now();
    for index in 0..REQUESTS * 10 {
        digest.push(black_box(index), black_box(index * 777), Status::Ok);
    }
    let ns = begin.elapsed().as_nanos() as f64 / (REQUESTS * 10) as f64;
    println!("digest       {ns:6.2} ns a request, {digest}");
}
