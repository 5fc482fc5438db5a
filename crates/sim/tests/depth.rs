//! Do places of the device queue get lost if a job's queue is deeper than the device's?

use tailcut_core::drive::Drive;
use tailcut_sim::host::Host;
use tailcut_sim::measure::{MeasureOptions, measure};
use tailcut_testkit::small_drive;
use tailcut_units::{Command, HostOp, SimTime, Span, Stream};
use tailcut_workload::{Issue, JobInfo, Source};

/// Random reads at a given depth.
struct Reads {
    left: u32,
    depth: u32,
    units: u64,
    stream: Stream,
}

impl Source for Reads {
    type Error = std::convert::Infallible;

    fn jobs(&self) -> Vec<JobInfo> {
        let name = "reads".to_string();
        vec![JobInfo {
            name,
            depth: self.depth,
            open_loop: false,
            runtime: None,
            ramp: Span(0),
            group: 0,
            row: 0,
            asked: [None; 3],
            start: Span(0),
        }]
    }

    fn next(&mut self, _: usize) -> Result<Option<Issue>, Self::Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let offset = self.stream.below(self.units) * 4096;
        let command = Command::new(HostOp::Read, offset, 4096);
        Ok(Some(Issue { earliest: SimTime(0), think: Span(0), command }))
    }
}

/// The time that 20,000 reads take.
fn runtime(depth: u32, fetch: u64) -> u64 {
    let mut config = small_drive();
    config.host.submit_latency = Span(fetch);
    config.controller.command = Span(0);
    config.host.link_rate = u64::MAX;
    let mut device = Drive::new(&config, 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    let reads = Reads { left: 20_000, depth, units: bytes / 4096, stream: Stream::new(1, "depth", 0) };
    let mut host = Host::new(reads).unwrap();
    assert!(host.run(&mut device, SimTime::NEVER, &mut |_, _| {}).unwrap());
    host.now().0
}

/// Without a fetch time, several commands complete, wait and are submitted at the same
/// time.
#[test]
fn a_drive_that_fetches_at_once_keeps_all_its_places() {
    let at_once = runtime(256, 0) as f64;
    let one_ns = runtime(256, 1) as f64;
    assert!((at_once / one_ns - 1.0).abs() < 0.01, "{at_once} against {one_ns}");
    // A host queue deeper than the device's does not change the drive's throughput.
    let same_depth = runtime(32, 0) as f64;
    assert!((at_once / same_depth - 1.0).abs() < 0.01, "{at_once} against {same_depth}");
}

/// More reads at their own arrival times than the host queue holds.
struct Flood(u32);

impl Source for Flood {
    type Error = std::convert::Infallible;

    fn jobs(&self) -> Vec<JobInfo> {
        vec![JobInfo {
            name: "flood".into(),
            depth: 1,
            open_loop: true,
            runtime: None,
            ramp: Span(0),
            group: 0,
            row: 0,
            asked: [None; 3],
            start: Span(0),
        }]
    }

    fn next(&mut self, _: usize) -> Result<Option<Issue>, Self::Error> {
        if self.0 == 0 {
            return Ok(None);
        }
        self.0 -= 1;
        let command = Command::new(HostOp::Read, u64::from(self.0 % 1_000) * 4096, 4096);
        Ok(Some(Issue { earliest: SimTime(0), think: Span(0), command }))
    }
}

#[test]
fn a_flood_beyond_what_the_host_holds_is_measured_to_its_end() {
    let mut device = Drive::new(&small_drive(), 1, ()).unwrap();
    device.fill(device.host_bytes());
    let mut host = Host::new(Flood(80_000)).unwrap();
    let outcome = measure(&mut host, &mut device, MeasureOptions::default(), None, &()).unwrap();
    assert_eq!(outcome.measured.side(HostOp::Read).population.count(), 80_000);
}
