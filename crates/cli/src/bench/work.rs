//! Runs the benchmarks.

use super::Line;
use crate::error::CliError;
use crate::progress::Stop;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use tailcut_config::resolve;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::drive::Drive;
use tailcut_sim::cache::Locks;
use tailcut_sim::host::Host;
use tailcut_sim::machine::{Stopwatch, page_faults, rss_bytes};
use tailcut_sim::measure::{MeasureOptions, measure_workload};
use tailcut_sim::precondition::Past;
use tailcut_sim::{PastKind, Preconditioned, Snapshots};
use tailcut_workload::{TraceReplay, Workload, WorkloadSpec};

const SEED: u64 = 1;
/// The key under which the benchmark saves and loads its snapshot.
const KEY: u64 = 1;

/// Full size, or tiny for tests.
#[derive(Clone, Copy)]
pub struct Scale {
    pub tiny: bool,
}

/// The job of the read benchmarks, and its number of reads on an aged drive.
pub const READS: &str = "randread,bs=4k,iodepth=32";
const READ: u64 = 3_000_000;

/// A drive, and the share of its host capacity that is used.
#[derive(Clone, Copy)]
pub struct Target {
    pub device: &'static str,
    /// Percent of the host capacity.
    pub share: u32,
    pub form: Form,
}

/// A variant of a drive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The drive of the preset.
    OfPreset,
    /// Under `rif`, with data that are six hours old. Nearly all pages can be decoded after the first sense, as
    /// without errors.
    HoursOld,
    /// The preset without errors: a codeword takes one iteration in the decoder.
    NoErrors,
    /// With a sixteenth of the lines of the device, under a controller that maps pages.
    Page,
    /// As [`Form::Page`], but under pblk.
    Pblk,
    /// As [`Form::Page`], but under RAIL on pblk.
    Rail,
}

impl Target {
    fn config(self, scale: Scale) -> Result<DeviceConfig, CliError> {
        let [schemes, sets]: [&[&str]; 2] = match self.form {
            Form::HoursOld => [&["rif"], &["age.retention=6h", "age.retention_from=6h"]],
            Form::OfPreset | Form::NoErrors => [&[], &[]],
            Form::Page => [&[], &["geometry.blocks=67"]],
            Form::Pblk => [&["pblk"], &["geometry.blocks=67"]],
            Form::Rail => [&["rail"], &["geometry.blocks=67"]],
        };
        let none: [&str; 0] = [];
        let config = match (scale.tiny, self.form) {
            (false, _) => resolve(self.device, schemes, &none, sets),
            (true, Form::OfPreset | Form::Page) => resolve("tiny", &none, &none, &none),
            (true, Form::Pblk | Form::Rail) => resolve("tiny-pblk", schemes, &none, &none),
            (true, _) => resolve(self.device, schemes, &none, &[sets, &["geometry.blocks=64"]].concat()),
        }?
        .config;
        Ok(if self.form == Form::NoErrors { config.without_errors() } else { config })
    }
}

impl Target {
    /// A job on the used share of the drive.
    fn workload(self, scale: Scale, job: &str, requests: u64) -> Result<WorkloadSpec, CliError> {
        let requests = if scale.tiny { requests / 1000 } else { requests };
        // Offsets are drawn independently, as in the simulators with which the speed is compared.
        let text = format!("{job},size={}%,norandommap,number_ios={requests}", self.share);
        Ok(WorkloadSpec::parse(&text, |_| None, &TraceReplay::default())?)
    }
}

/// A target and a job on it.
struct Case {
    config: DeviceConfig,
    workload: WorkloadSpec,
    capacity: u64,
    filled: u64,
    /// Resident memory in bytes before the drive was made.
    rss: Option<u64>,
    /// Page faults while a drive was made.
    page_faults: Option<u64>,
}

impl Case {
    fn new(scale: Scale, target: Target, job: &str, requests: u64) -> Result<Case, CliError> {
        let config = target.config(scale)?;
        let workload = target.workload(scale, job, requests)?;
        let rss = rss_bytes();
        let before = page_faults();
        let device = Drive::new(&config, SEED, ()).map_err(|e| CliError::Input(e.to_string()))?;
        let page_faults = page_faults().zip(before).map(|(now, before)| now - before);
        let capacity = device.host_bytes();
        let filled = workload.open(capacity, 0, SEED)?.region().end;
        Ok(Case { config, workload, capacity, filled, rss, page_faults })
    }

    fn aged(&self) -> Result<(Drive, Preconditioned), CliError> {
        let writes = self.workload.open(self.capacity, self.filled, SEED)?.writes();
        let past = Past {
            kind: if writes { PastKind::Steady } else { PastKind::Sequential },
            filled: self.filled,
            capacity: self.capacity,
            workload: &self.workload,
            identity: "",
            snapshots: &Snapshots::Off,
            locks: &Locks::default(),
            task: 0,
            watch: &Stop,
        };
        past.give(&self.config, SEED).map_err(|e| CliError::Failed(e.to_string()))
    }

    /// Run the job on the drive.
    fn run(&self, name: &str, device: &mut Drive) -> Result<Line, CliError> {
        let fail = |e: &dyn std::fmt::Display| CliError::Failed(format!("{name}: {e}"));
        let workload = self.workload.open(self.capacity, self.filled, SEED)?;
        let mut host: Host<Workload> = Host::new(workload).map_err(|e| fail(&e))?;
        let before = device.events();
        let options = MeasureOptions::default();
        let o = measure_workload(&mut host, device, options, None, &Stop).map_err(|e| fail(&e))?;
        let events = (device.events() - before) as f64;
        let (requests, seconds) = (o.issued as f64, o.cpu_seconds.max(1e-9));
        let c = &o.counters;
        let programs = c.programs();
        let units = (self.capacity / self.config.ftl.mapping_unit) as f64;
        let taken = rss_bytes().zip(self.rss).map(|(now, before)| now.saturating_sub(before));
        Ok(Line {
            name: name.to_string(),
            requests: Some(o.issued),
            requests_per_cpu_second: Some(requests / seconds),
            events_per_cpu_second: Some(events / seconds),
            ns_per_request: Some(seconds * 1e9 / requests.max(1.0)),
            ns_per_event: Some(seconds * 1e9 / events.max(1.0)),
            cpu_seconds: o.cpu_seconds,
            wall_seconds: o.wall_seconds,
            bytes_per_mapping_unit: taken.map(|bytes| bytes as f64 / units),
            pool_bytes: Some(device.pool_bytes() as u64),
            page_faults: self.page_faults,
            waf: (c.programs_user > 0).then(|| programs as f64 / c.programs_user as f64),
            digest: o.digest.to_string(),
            ..Line::default()
        })
    }
}

/// Run requests on a drive that is aged as the job needs it.
pub fn requests(
    name: &str,
    scale: Scale,
    target: Target,
    job: &str,
    requests: u64,
) -> Result<Line, CliError> {
    let case = Case::new(scale, target, job, requests)?;
    let (mut device, _) = case.aged()?;
    case.run(name, &mut device)
}

/// The benchmarks of one aged drive.
pub struct Names<'a> {
    pub age: &'a str,
    pub run: &'a str,
    /// Restoring the aged state, if it is wanted.
    pub restore: Option<&'a str>,
    /// Reads of the aged drive, if they are wanted.
    pub read: Option<&'a str>,
}

/// Age a drive, restore its aged state, run requests on it and read it: several benchmarks.
pub fn aged(
    scale: Scale,
    target: Target,
    job: &str,
    requests: u64,
    names: &Names<'_>,
) -> Result<Vec<Line>, CliError> {
    let case = Case::new(scale, target, job, requests)?;
    let clock = Stopwatch::new();
    let (mut device, past) = case.aged()?;
    let report = past.report.clone().unwrap_or_default();
    let mut lines = vec![Line {
        name: names.age.to_string(),
        programs_per_cpu_second: Some(report.programs as f64 / past.cpu_seconds.max(1e-9)),
        cpu_seconds: past.cpu_seconds,
        wall_seconds: clock.wall_seconds(),
        waf: Some(report.waf),
        ..Line::default()
    }];
    if let Some(restore) = names.restore {
        let io = |e: std::io::Error| CliError::Failed(format!("{restore}: {e}"));
        let fail = |e: tailcut_core::device::SnapshotError| CliError::Failed(format!("{restore}: {e}"));
        let mut file = tempfile::tempfile().map_err(io)?;
        let mut out = BufWriter::with_capacity(1 << 20, &mut file);
        device.save_aged(KEY, &report, &mut out).map_err(fail)?;
        out.flush().map_err(io)?;
        drop(out);
        // Two drives of this size at a time would make the machine's memory the bottleneck.
        drop(device);
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        let clock = Stopwatch::new();
        device = Drive::new(&case.config, SEED, ()).map_err(|e| CliError::Failed(e.to_string()))?;
        device.load_aged(KEY, &mut BufReader::with_capacity(1 << 16, &mut file)).map_err(fail)?;
        let digest = checksum(&mut file).map_err(io)?;
        lines[0].digest.clone_from(&digest);
        lines.push(Line {
            name: restore.to_string(),
            cpu_seconds: clock.cpu_seconds(),
            wall_seconds: clock.wall_seconds(),
            digest,
            ..Line::default()
        });
    } else {
        let mut last = Last::default();
        device.save_aged(KEY, &report, &mut last).map_err(|e| CliError::Failed(e.to_string()))?;
        lines[0].digest = format!("{:016x}", u64::from_le_bytes(last.0));
    }
    lines.push(case.run(names.run, &mut device)?);
    if let Some(read) = names.read {
        let workload = target.workload(scale, READS, READ)?;
        // A run begins at time zero. Only one drive of this size is in memory at a time.
        drop(device);
        let (mut device, _) = case.aged()?;
        lines.push(Case { workload, ..case }.run(read, &mut device)?);
    }
    Ok(lines)
}

/// The checksum at the end of a snapshot.
fn checksum(file: &mut File) -> std::io::Result<String> {
    let mut bytes = [0; 8];
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut bytes)?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

/// Stores the last eight bytes of a stream.
#[derive(Default)]
struct Last([u8; 8]);

impl Write for Last {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let new = &bytes[bytes.len().saturating_sub(8)..];
        self.0.rotate_left(new.len());
        self.0[8 - new.len()..].copy_from_slice(new);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_without_errors_keeps_its_decoder() {
        let of = |form| {
            let target = Target { device: "rif-2t", share: 70, form };
            target.config(Scale { tiny: true }).unwrap_or_else(|_| panic!("rif-2t is sound"))
        };
        let (with, without) = (of(Form::HoursOld), of(Form::NoErrors));
        let errors = with.errors.expect("it has errors");
        assert!(
            without.errors.is_none() && without.ecc.decode.0 == errors.iteration.0 / 4,
            "four codewords share it"
        );
        assert_eq!(with.age.retention, with.age.retention_from);
    }
}
