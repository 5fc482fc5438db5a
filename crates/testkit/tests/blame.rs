//! Tests the ledger of every request of real traces: each cause in the drive's ledger must
//! equal the value calculated from the observer's events. (The swarm does the same with random
//! commands.)

use std::path::Path;
use tailcut_core::device::Device;
use tailcut_testkit::replay::{Reached, Replay};
use tailcut_testkit::{swarm, traces};
use tailcut_units::{Command, HostOp, Ledger, SimTime};
use tailcut_workload::trace::{Record, TraceFile, TraceOptions, TraceReader};

/// The largest number of requests of each trace, and the number of drives each trace is run on.
const REQUESTS: usize = 1_500;
const DRIVES: u64 = 6;

fn records(path: &Path) -> Vec<Record> {
    let file = TraceFile::from(path);
    let mut reader = TraceReader::open(&file, &TraceOptions::default()).expect("a real trace opens");
    let next = || reader.next_record().expect("a real trace is well-formed");
    std::iter::from_fn(next).take(REQUESTS).collect()
}

/// Replay records on a random drive, `faster` times as fast, and check every ledger.
fn replay(records: &[Record], seed: u64, faster: u64) -> Result<Reached, String> {
    let config = swarm::draw(seed).config;
    let onlooker = Replay::new(&config, seed)?;
    let mut device = Device::new(&config, seed, onlooker).map_err(|e| e.to_string())?;
    let capacity = device.host_bytes();
    device.fill(swarm::whole_stripes(device.shape(), capacity));
    let mut now = 0;
    let pass = |device: &mut Device<Replay>, until: u64| {
        let mut ended: Vec<(u64, Ledger)> = Vec::new();
        device.advance(SimTime(until), &mut |c| ended.push((c.index, *c.ledger)));
        ended.iter().try_for_each(|(index, ledger)| device.observer_mut().ended(*index, ledger))
    };
    for r in records {
        let wanted = r.time / faster;
        let most = config.host.max_transfer.min(capacity);
        let bytes = if r.op == HostOp::Flush { 0 } else { u64::from(r.bytes).min(most) };
        let offset = r.offset % (capacity - bytes + 1);
        now = now.max(wanted);
        pass(&mut device, now)?;
        while !device.has_place() {
            now = device.next_deadline().0;
            pass(&mut device, now)?;
        }
        let command = Command::new(r.op, offset, bytes as u32);
        device.submit(SimTime(now), SimTime(wanted), command, 0).map_err(|e| e.to_string())?;
    }
    while device.outstanding() > 0 {
        now = device.next_deadline().0;
        pass(&mut device, now)?;
    }
    Ok(device.into_observer().reached)
}

#[test]
fn every_wait_of_real_traces_is_laid_to_its_cause() {
    let Some(folder) = traces() else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("it can be read").flatten().collect();
    files.retain(|f| f.path().extension().is_some_and(|e| e == "gz"));
    files.sort_by_key(|f| f.file_name());
    assert!(files.len() > 3, "a folder of real traces holds traces");
    let mut reached = Reached::default();
    for (i, file) in files.iter().enumerate() {
        let records = records(&file.path());
        for drive in 0..DRIVES {
            let (seed, faster) = (i as u64 * DRIVES + drive, [1, 10, 1_000][drive as usize % 3]);
            let ran = replay(&records, seed, faster);
            let ran = ran.unwrap_or_else(|e| panic!("{:?} on drive {seed}: {e}", file.file_name()));
            reached.merge(&ran);
        }
    }
    let waits = reached.missing().into_iter().filter(|m| m.starts_with("cause die_wait")).count();
    assert!(waits < 4, "not reached: {:?}", reached.missing());
}
