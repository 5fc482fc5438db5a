//! Raw speed of the run loop, without preconditioning.
use tailcut_core::device::Device;
use tailcut_sim::host::Host;
use tailcut_units::*;
use tailcut_workload::*;
struct R {
    s: Stream,
    left: u64,
    units: u64,
    writes: u64,
    depth: u32,
}
impl Source for R {
    type Error = std::convert::Infallible;
    fn jobs(&self) -> Vec<JobInfo> {
        vec![JobInfo { name: "r".into(), depth: self.depth, open_loop: false, runtime: None, ramp: Span(0) }]
    }
    fn next(&mut self, _: usize) -> Result<Option<Issue>, Self::Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let op =
            if self.writes > 0 && self.s.below(100) < self.writes { HostOp::Write } else { HostOp::Read };
        Ok(Some(Issue {
            earliest: SimTime(0),
            think: Span(0),
            command: Command { op, offset: self.s.below(self.units) * 4096, bytes: 4096 },
        }))
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let big = a[1] == "big";
    let writes: u64 = a[2].parse().unwrap();
    let depth: u32 = a[3].parse().unwrap();
    let n: u64 = a[4].parse().unwrap();
    let mut c = tailcut_testkit::cross_check_drive();
    if big {
        c.geometry.channels = 8;
        c.geometry.chips_per_channel = 4;
        c.geometry.dies_per_chip = 2;
        c.geometry.planes = 2;
        c.geometry.blocks = 2048;
        c.ftl.mapping_unit = 4096;
        c.ftl.over_provisioning = Some(0.07);
        c.ftl.extent = tailcut_core::ftl::config::ExtentKind::Superblock;
        c.ftl.write_planes = 2;
    }
    let mut d = Device::new(&c, 1, ()).unwrap();
    let units = (d.host_bytes() as f64 * 0.7) as u64 / 4096;
    d.fill(units * 4096);
    let mut h = Host::new(R { s: Stream::new(1, "x", 0), left: n, units, writes, depth }).unwrap();
    let t = std::time::Instant::now();
    let mut rec = tailcut_stats::Recorder::new(&["r".into()], Default::default());
    h.run(&mut d, SimTime::NEVER, &mut |f| {
        rec.record(&tailcut_stats::Sample {
            index: f.index,
            job: 0,
            op: f.command.op,
            offset: f.command.offset,
            bytes: f.command.bytes,
            arrived: f.arrived,
            completed: f.completed,
            status: f.status,
            ledger: f.ledger,
        })
    })
    .unwrap();
    let e = t.elapsed().as_secs_f64();
    let m = rec.finish(h.now(), |_| {});
    println!("{:.2} M/s  mean {:?} {:?}", n as f64 / e / 1e6, m.read.population.mean(), d.counters());
}
