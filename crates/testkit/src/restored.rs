//! Uses a drive whose aged state was read from bytes that may be anything.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, SnapshotError};
use tailcut_units::{Command, HostOp, SimTime, Stream};

/// Commands that a restored drive gets, and the most events that they may take: the drive need not be able
/// to serve them if its state was not made by ageing.
const COMMANDS: u64 = 400;
const MOST_EVENTS: u64 = 100_000;

/// Load an aged state with the key 7 into a new drive, and use the drive: writes, reads, TRIMs and the
/// collections that they cause. Returns the extents erased.
///
/// # Errors
/// If the state is refused.
pub fn use_restored(config: &DeviceConfig, bytes: &[u8]) -> Result<u64, SnapshotError> {
    let mut device = Device::new(config, 1, ()).expect("a sound drive");
    device.load_aged(7, &mut &bytes[..])?;
    let unit = config.ftl.mapping_unit;
    let units = device.host_bytes() / unit;
    let mut s = Stream::new(3, "restored", 0);
    let (mut now, mut events) = (SimTime(0), 0);
    let mut step = |device: &mut Device, now: &mut SimTime| {
        let next = device.next_deadline();
        events += 1;
        let goes_on = next != SimTime::NEVER && events < MOST_EVENTS;
        if goes_on {
            *now = next;
            device.advance(next, &mut |_| {});
        }
        goes_on
    };
    let mut sent = 0;
    while sent < COMMANDS {
        if !device.has_place() {
            if !step(&mut device, &mut now) {
                return Ok(device.counters().erases);
            }
            continue;
        }
        let op =
            [HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Read, HostOp::Trim][s.below(5) as usize];
        let command = Command::new(op, s.below(units - 3) * unit, 3 * unit as u32);
        device.submit(now, now, command, 0).expect("a place in the queue");
        sent += 1;
    }
    while device.outstanding() > 0 && step(&mut device, &mut now) {}
    Ok(device.counters().erases)
}
