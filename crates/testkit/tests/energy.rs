//! Tests that the energy account matches the times of the operations.

use tailcut_testkit::{Host, small_drive};
use tailcut_units::HostOp;

/// A write and a read of one page cost the energy of one program and one sense.
#[test]
fn a_write_and_a_read_cost_their_array_time() {
    let mut c = small_drive();
    c.policy.buffer = toml::Value::String("none".into()).try_into().unwrap();
    c.policy.flush = toml::Value::String("immediate".into()).try_into().unwrap();
    let mut host = Host::new(&c);
    host.submit(0, HostOp::Write, 0, 4096);
    host.drain();
    let (program, none) = host.device.energy_mj();
    // Page 0: 4 pulses of 70 us and 4 verifies of 10 us at 60 mW.
    let expected = 320_000.0 * 60_000.0 * 1e-12;
    assert!((program - expected).abs() < 1e-9, "{program} mJ, {expected} expected");
    assert_eq!(none, 0.0, "nothing was suspended");
    let at = host.device.next_deadline().0.min(1_000_000_000);
    host.submit(at, HostOp::Read, 0, 4096);
    host.drain();
    let (both, _) = host.device.energy_mj();
    // Page 0 senses in 40 us at 50 mW.
    let expected = 40_000.0 * 50_000.0 * 1e-12;
    assert!((both - program - expected).abs() < 1e-9, "{} mJ, {expected} expected", both - program);
}

/// Suspensions add the energy of suspending, resuming and repeating, at the erase's power.
#[test]
fn suspensions_cost_energy_and_wear() {
    let mut c = small_drive();
    c.policy.schedule = toml::Value::String("read-priority".into()).try_into().unwrap();
    c.policy.suspend_erase = toml::Value::String("immediate".into()).try_into().unwrap();
    let mut host = Host::new(&c);
    host.device.fill(host.device.host_bytes());
    let mut s = tailcut_units::Stream::new(3, "energy", 0);
    let units = host.device.host_bytes() / 4096;
    let mut at = 0;
    for i in 0..20_000u64 {
        let op = if i % 3 == 0 { HostOp::Read } else { HostOp::Write };
        at = at.max(i * 40_000);
        while !host.device.has_place() {
            at = at.max(host.device.next_deadline().0);
            host.advance(at);
        }
        host.submit(at, op, s.below(units) * 4096, 4096);
    }
    host.drain();
    let counters = host.device.flash_counters().clone();
    let e = &counters.erase_suspension;
    assert!(e.suspends > 50 && e.repeated_ns > 0 && e.overhead_ns > 0, "{e:?}");
    let (total, extra) = host.device.energy_mj();
    let mj = |ns: u64, uw: f64| ns as f64 * uw * 1e-12;
    let [read, program, erase] = counters.array_ns;
    assert!((extra - mj(e.overhead_ns + e.repeated_ns, 70_000.0)).abs() < 1e-9);
    let nominal = mj(read, 50_000.0) + mj(program, 60_000.0) + mj(erase, 70_000.0);
    assert!((total - extra - nominal).abs() < 1e-6, "{total} {extra} {nominal}");
    let wear = host.device.suspension_wear();
    assert!(wear.mean > 0.0 && f64::from(wear.most) >= wear.mean);
    assert!((wear.rber_most - (1.0 + 0.144 * f64::from(wear.most) / 1000.0)).abs() < 1e-12);
}
