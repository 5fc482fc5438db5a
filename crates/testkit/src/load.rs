//! Load on a device without the simulator's host: closed loops and given arrivals.

use tailcut_core::device::{Completion, Device, Observer};
use tailcut_units::{Command, SimTime};

/// Keep `depth` commands outstanding from time `start` until `count` have ended. `next` returns
/// the command of each serial number; `seen` is called at every end. Returns the time of the
/// last end, ns.
pub fn closed_loop<O: Observer>(
    device: &mut Device<O>,
    start: u64,
    depth: u32,
    count: u64,
    next: &mut impl FnMut(u64) -> Command,
    seen: &mut impl FnMut(&Completion<'_>),
) -> u64 {
    let (mut issued, mut ended, mut at) = (0, 0, start);
    loop {
        device.advance(SimTime(at), &mut |c| {
            ended += 1;
            seen(c);
        });
        if issued < count && issued - ended < u64::from(depth) {
            device
                .submit(SimTime(at), SimTime(at), next(issued), 0)
                .expect("the device queue holds the depth");
            issued += 1;
        } else if ended == count {
            return at;
        } else {
            let due = device.next_deadline();
            assert_ne!(due, SimTime::NEVER, "the drive stopped: {}", device.describe_waiting());
            at = due.0;
        }
    }
}

/// Submit each command at its time and run until all have ended. Times must not decrease. The
/// device queue must have a place for every command outstanding.
pub fn arrivals<O: Observer>(
    device: &mut Device<O>,
    commands: impl Iterator<Item = (u64, Command)>,
    seen: &mut impl FnMut(&Completion<'_>),
) {
    for (at, command) in commands {
        device.advance(SimTime(at), seen);
        device.submit(SimTime(at), SimTime(at), command, 0).expect("a place in the device queue");
    }
    while device.next_deadline() != SimTime::NEVER {
        device.advance(device.next_deadline(), seen);
    }
    assert_eq!(device.outstanding(), 0, "every command ends");
}
