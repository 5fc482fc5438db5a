//! Reads and programs in the queues of dies and channels.

use super::*;

#[test]
fn one_read() {
    check("one_read", "Command, sense, data out: nothing else.", &drive(), &[], &[(0, Read, 0, UNIT)], 1_000);
}

#[test]
fn two_reads_of_one_die() {
    let script = [(0, Read, 0, UNIT), (10_000, Read, 8, UNIT)];
    check(
        "two_reads_of_one_die",
        "The second waits until the first's data are out.",
        &drive(),
        &[],
        &script,
        1_500,
    );
}

#[test]
fn two_reads_of_one_channel() {
    let script = [(0, Read, 0, UNIT), (5_000, Read, 2, UNIT), (5_000, Read, 1, UNIT)];
    let question = "Senses overlap; data of one channel go out one after the other.";
    check("two_reads_of_one_channel", question, &drive(), &[], &script, 1_000);
}

#[test]
fn a_read_behind_a_program() {
    let script = [(0, Put, 64, UNIT), (50_000, Read, 0, UNIT), (50_000, Read, 2, UNIT)];
    let question = "First come, first served: the read of the same die waits for the program, not the other.";
    check("a_read_behind_a_program", question, &drive(), &[], &script, 5_000);
}

#[test]
fn a_read_overtakes_a_queued_program() {
    let mut c = drive();
    c.policy.schedule = schedule::ScheduleConfig::ReadPriority(Default::default());
    let script = [(0, Put, 64, UNIT), (10_000, Put, 72, UNIT), (50_000, Read, 0, UNIT)];
    let question = "Read priority: the read passes the queued program, not the running one.";
    check("a_read_overtakes_a_queued_program", question, &c, &[], &script, 10_000);
}

#[test]
fn a_read_goes_first_on_the_channel() {
    // While die 0's data are transferred in, die 2's program and then a read of die 2's channel
    // request the channel.
    let mut c = drive();
    c.geometry.dies_per_chip = 3;
    c.policy.schedule = schedule::ScheduleConfig::ReadPriority(Default::default());
    let script = [(0, Put, 96, UNIT), (1_000, Put, 98, UNIT), (2_000, Read, 4, UNIT)];
    let question =
        "Read priority on the channel too: the read's command passes the data of the second program.";
    check("a_read_goes_first_on_the_channel", question, &c, &[], &script, 5_000);
}

#[test]
fn a_multi_plane_write() {
    let mut c = drive();
    c.policy.placement = placement::PlacementConfig::Dynamic(Default::default());
    let script = [(0, Put, 64, 2 * UNIT), (0, Put, 66, UNIT)];
    let question = "Two pages are one program on two planes; a lone page is padded to the same.";
    check("a_multi_plane_write", question, &c, &[], &script, 5_000);
}

#[test]
fn a_read_modify_write() {
    let question = "A write of a sector reads its unit, decodes it, and programs a new row.";
    check("a_read_modify_write", question, &drive(), &[], &[(0, Put, 0, 512)], 5_000);
}

/// Three dies a channel.
fn crowded(order: ChannelOrder) -> DeviceConfig {
    let mut c = drive();
    (c.geometry.dies_per_chip, c.channel.order) = (3, order);
    c
}

#[test]
fn a_command_behind_the_data_of_other_dies() {
    let script = [(0, Read, 0, UNIT), (0, Read, 2, UNIT), (0, Read, 4, UNIT), (0, Read, 6, UNIT)];
    let question = "In order of arrival the second command of die 0 waits for the data of two other dies.";
    let c = crowded(ChannelOrder::Arrival);
    check("a_command_behind_the_data_of_other_dies", question, &c, &[], &script, 1_000);
    let question = "Commands first: the second command of die 0 goes before the data of two other dies.";
    let c = crowded(ChannelOrder::CommandsFirst);
    check("a_command_before_the_data_of_other_dies", question, &c, &[], &script, 1_000);
}

#[test]
fn sensed_data_before_a_command() {
    // While the data of a program are transferred in, a read's command and then the data of another read wait.
    let script = [(0, Read, 0, UNIT), (39_000, Put, 98, UNIT), (39_500, Read, 4, UNIT)];
    let question =
        "Data first: the data that die 0 has sensed pass the command of a read that waits for longer.";
    check("sensed_data_before_a_command", question, &crowded(ChannelOrder::DataFirst), &[], &script, 1_000);
}
