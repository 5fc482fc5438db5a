//! Speed of ageing and of snapshots.
use tailcut_core::device::Device;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let share: f64 = a[1].parse().unwrap();
    let c = tailcut_config::resolve::<&str, &str, &str>("mqsim-default", &[], &[], &[]).unwrap().config;
    let mut d = Device::new(&c, 1, ()).unwrap();
    let bytes = (d.host_bytes() as f64 * share) as u64;
    let t = std::time::Instant::now();
    d.fill(bytes);
    println!("fill {:.2}s", t.elapsed().as_secs_f64());
    let t = std::time::Instant::now();
    let r = d.age_uniform(0..bytes, 4096, &mut |_| true);
    let e = t.elapsed().as_secs_f64();
    println!("age {e:.2}s {r:?} {:.1} M programs/s", r.programs as f64 / e / 1e6);
    let t = std::time::Instant::now();
    let mut f = std::fs::File::create("/tmp/snap.bin").unwrap();
    d.save_aged(1, &r, &mut f).unwrap();
    println!("save {:.2}s", t.elapsed().as_secs_f64());
    drop(d);
    let t = std::time::Instant::now();
    let mut d = Device::new(&c, 1, ()).unwrap();
    let r = d.load_aged(1, &mut std::fs::File::open("/tmp/snap.bin").unwrap()).unwrap();
    println!("load {:.2}s {r:?}", t.elapsed().as_secs_f64());
    println!("{}", std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmHWM")).unwrap());
    struct R { s: tailcut_units::Stream, left: u64, units: u64 }
    use tailcut_units::*; use tailcut_workload::*;
    impl Source for R {
        type Error = std::convert::Infallible;
        fn jobs(&self) -> Vec<JobInfo> { vec![JobInfo { name: "r".into(), depth: 16, open_loop: false, runtime: None, ramp: Span(0) }] }
        fn next(&mut self, _: usize) -> Result<Option<Issue>, Self::Error> {
            if self.left == 0 { return Ok(None) }
            self.left -= 1;
            let op = if self.s.below(100) < 30 { HostOp::Write } else { HostOp::Read };
            Ok(Some(Issue { earliest: SimTime(0), think: Span(0), command: Command { op, offset: self.s.below(self.units) * 4096, bytes: 4096 } }))
        }
    }
    let n = 5_000_000;
    let mut h = tailcut_sim::host::Host::new(R { s: Stream::new(1, "x", 0), left: n, units: bytes / 4096 }).unwrap();
    let t = std::time::Instant::now();
    let mut rec = tailcut_stats::Recorder::new(&["r".into()], Default::default());
    h.run(&mut d, SimTime::NEVER, &mut |f| rec.record(&tailcut_stats::Sample { index: f.index, job: 0, op: f.command.op, offset: f.command.offset, bytes: f.command.bytes, arrived: f.arrived, completed: f.completed, status: f.status, ledger: f.ledger })).unwrap();
    let e = t.elapsed().as_secs_f64();
    let m = rec.finish(h.now(), |_| {});
    let k = d.counters();
    println!("{:.2} M/s  mean {:?} waf {:.2} {:?}", n as f64 / e / 1e6, m.read.population.mean(), (k.programs_user + k.programs_gc + k.programs_pad) as f64 / k.programs_user as f64, k);
    println!("{}", std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmHWM")).unwrap());
}
