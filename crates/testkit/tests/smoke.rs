use tailcut_core::device::config::DeviceConfig;
use tailcut_testkit::*;
use tailcut_units::{HostOp, Stream};

fn run(c: &DeviceConfig, n: u64, writes: u64) -> Host {
    let mut h = Host::new(c);
    let units = h.device.host_bytes() / 4096;
    let mut s = Stream::new(1, "t", 0);
    let mut at = 0;
    for _ in 0..n {
        while !h.device.has_place() {
            at = h.device.next_deadline().0;
            h.advance(at);
        }
        let op = if s.below(100) < writes { HostOp::Write } else { HostOp::Read };
        h.submit(at, op, s.below(units) * 4096, 4096);
    }
    h.drain();
    assert_eq!(h.done.len() as u64, n);
    h
}

#[test]
fn mixed_small() {
    let h = run(&small_drive(), 200_000, 50);
    eprintln!("{:?}", h.device.counters());
    assert!(h.device.counters().erases > 100);
}
