//! A host that lets the drive come to rest goes on as if no time had passed.

use tailcut_core::device::Until;
use tailcut_core::drive::Drive;
use tailcut_sim::host::Host;
use tailcut_sim::precondition::{ageing, overwrite};
use tailcut_testkit::small_drive;
use tailcut_units::SimTime;
use tailcut_workload::{TraceReplay, WorkloadSpec};

#[test]
fn a_pause_delays_no_request_and_loses_none() {
    for text in [
        "randrw,bs=4k,rwmixread=50,rate_iops=2000,number_ios=4000",
        "randrw,bs=4k,rwmixread=50,iodepth=8,number_ios=4000,norandommap",
    ] {
        let run = |pauses: bool| {
            let (config, workload) =
                (small_drive(), WorkloadSpec::parse(text, |_| None, &TraceReplay::default()).unwrap());
            let mut device = Drive::new(&config, 1, ()).unwrap();
            let bytes = device.host_bytes();
            device.fill(bytes);
            let unit = config.ftl.mapping_unit;
            let mut writes = ageing(&workload, (bytes, bytes), &config, unit, 2).unwrap();
            let mut host = Host::new(workload.open(bytes, bytes, 1).unwrap()).unwrap();
            let (mut latencies, mut rests) = (Vec::new(), 0);
            loop {
                let steps = if pauses { 2_000 } else { u64::MAX };
                let mut seen = |latency| latencies.push(latency);
                let over = host
                    .run_for(&mut device, SimTime::NEVER, steps, &mut |sample, _| seen(sample.latency_ns()))
                    .unwrap();
                if over {
                    break;
                }
                let since = host.now();
                host.drain(&mut device, &mut |sample, _| seen(sample.latency_ns())).unwrap();
                assert!(device.settle());
                overwrite(&mut device, &mut writes, Until::Erases(20), &mut |_| true).unwrap();
                host.go_on(since, device.now());
                rests += 1;
            }
            device.audit().unwrap();
            assert_eq!(latencies.len(), 4000, "{text}");
            assert_eq!(rests > 3, pauses, "{text}: {rests}");
            latencies.sort_unstable();
            latencies
        };
        let (without, with) = (run(false), run(true));
        if !text.contains("rate_iops") {
            // A rested drive serves a closed loop faster.
            continue;
        }
        for percent in [50, 90, 99] {
            let [a, b] = [&without, &with].map(|all| all[all.len() * percent / 100] as f64);
            assert!((0.7..1.4).contains(&(b / a)), "{text}: p{percent} {a} {b}");
        }
    }
}
