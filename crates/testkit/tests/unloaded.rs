//! Tests that a command on an idle drive takes exactly the sum of its parts.
//!
//! Every expected latency is computed here from the configuration alone, to the nanosecond,
//! without the model's own arithmetic.

use tailcut_core::device::config::{DeviceConfig, Transfer};
use tailcut_core::ftl::config::ExtentKind;
use tailcut_core::nand::config::BusyKind;
use tailcut_core::policy::*;
use tailcut_testkit::{Host, small_drive};
use tailcut_units::{Cause, Command, HostOp, Span};

/// The parts of a latency, computed from a configuration.
struct Parts<'a>(&'a DeviceConfig);

impl Parts<'_> {
    /// Transfer time of `bytes` at a rate, rounded up once, ns.
    fn moved(bytes: u64, rate: u64) -> u64 {
        (bytes as u128 * 1_000_000_000).div_ceil(rate as u128) as u64
    }

    /// Time from the host to the firmware's decision, and from the drive back to the host, ns.
    fn ends(&self) -> u64 {
        let c = self.0;
        c.host.submit_latency.0 + c.controller.command.0 + c.host.complete_latency.0
    }

    fn link(&self, bytes: u64) -> u64 {
        Self::moved(bytes, self.0.host.link_rate)
    }

    /// Time of command cycles on `planes` planes, the sense of a page of this type, the
    /// transfer of `codewords` codewords out, and the decoding after the last one, ns.
    fn flash_read(&self, planes: u64, page: usize, codewords: u64) -> u64 {
        let c = self.0;
        let out = Self::moved(codewords * c.ecc.codeword, c.channel.rate);
        let decode = c.ecc.decode.0;
        // A decoder faster than the bus adds one decode after the transfer. A slower decoder
        // works without a break from the first codeword on.
        let first = out.div_ceil(codewords);
        let through = (out + decode).max(first + codewords * decode);
        planes * c.channel.command.0 + self.sense(page) + through
    }

    fn sense(&self, page: usize) -> u64 {
        let read = &self.0.timing.read;
        read[page % read.len()].0
    }

    /// Time of command cycles and data in for `planes` planes, and of the program, ns.
    fn flash_program(&self, planes: u64, page: usize) -> u64 {
        let c = self.0;
        let p = &c.timing.program;
        let pulses = p.pulses[page % c.timing.read.len() % p.pulses.len()];
        planes * c.channel.command.0
            + Self::moved(planes * c.geometry.page, c.channel.rate)
            + u64::from(pulses) * (p.pulse.0 + p.verify.0)
    }
}

/// A host on a drive whose first half is filled.
fn filled(config: &DeviceConfig) -> Host {
    let mut host = Host::new(config);
    let half = host.device.host_bytes() / 2;
    host.device.fill(half);
    host
}

/// Run one command on an idle drive, check that its ledger adds up, and return its latency.
fn latency(host: &mut Host, at: u64, op: HostOp, offset: u64, bytes: u32) -> u64 {
    let done = host.one(at, op, offset, bytes);
    assert_eq!(done.ledger.sum(), done.latency);
    let waits = |c: &Cause| c.is_die_wait() || c.is_channel_wait();
    assert!(Cause::all().filter(waits).all(|c| done.ledger.get(c) == 0), "it waited: {:?}", done.ledger);
    done.latency
}

/// Time between two commands, ns; far apart.
const APART: u64 = 100_000_000;

fn write_through(mut c: DeviceConfig) -> DeviceConfig {
    c.policy.buffer = buffer::BufferConfig::None(Default::default());
    c.policy.flush = flush::FlushConfig::Immediate(Default::default());
    c
}

fn mapped(unit: u64) -> DeviceConfig {
    let mut c = small_drive();
    c.ftl.mapping_unit = unit;
    c
}

/// Offset of the first unit on page `page` of the first die of a filled drive. Pages of the
/// address space are striped over the dies, and a row has `planes` pages.
fn on_page(c: &DeviceConfig, page: u64) -> u64 {
    let dies = u64::from(c.geometry.channels * c.geometry.chips_per_channel * c.geometry.dies_per_chip);
    let lanes = if c.ftl.extent == ExtentKind::Block { dies * u64::from(c.geometry.planes) } else { dies };
    let chunk = c.ftl.mapping_unit.max(c.geometry.page);
    let chunks_a_row = u64::from(c.ftl.write_planes) * c.geometry.page / chunk;
    page * chunks_a_row * lanes * chunk
}

#[test]
fn a_read_of_part_of_a_page_senses_by_page_type_and_moves_only_the_codewords_asked_for() {
    for unit in [2048, 4096, 8192, 16384] {
        let c = mapped(unit);
        let p = Parts(&c);
        let mut host = filled(&c);
        let mut at = 0;
        // (first byte within the unit, bytes, codewords of 2 KiB touched)
        let parts = [(0, 512, 1), (1536, 512, 1), (0, 2048, 1), (100, 1, 1)];
        let wider = [(1024, 2048, 2), (2047, 2, 2), (0, 4096, 2), (512, 3584, 2)];
        let parts = parts.iter().chain(wider.iter().filter(|_| unit > 2048));
        for (&(from, bytes, codewords), page) in parts.flat_map(|p| (0..4).map(move |page| (p, page))) {
            at += APART;
            let got = latency(&mut host, at, HostOp::Read, on_page(&c, page) + from, bytes);
            let want = p.ends() + p.flash_read(1, page as usize, codewords) + p.link(u64::from(bytes));
            assert_eq!(got, want, "unit {unit}, {bytes} bytes from {from} of page {page}");
        }
        assert_eq!(host.device.counters().flash_reads as usize, host.done.len());
    }
}

#[test]
fn neighbours_in_a_row_are_one_operation_on_one_or_two_planes() {
    // Units smaller than the page share one sense and one transfer.
    let c = small_drive();
    let p = Parts(&c);
    let mut host = filled(&c);
    let two = latency(&mut host, APART, HostOp::Read, 0, 8192);
    assert_eq!(two, p.ends() + p.flash_read(1, 0, 4) + p.link(8192));
    // A unit of two pages: data on both planes need both commands.
    let c = mapped(16384);
    let p = Parts(&c);
    let mut host = filled(&c);
    let cases =
        [(0, 16384, 2, 8), (6144, 4096, 2, 2), (8192, 8192, 1, 4), (8191, 2, 2, 2), (10_000, 100, 1, 1)];
    for (i, (from, bytes, planes, codewords)) in cases.into_iter().enumerate() {
        let got = latency(&mut host, (i as u64 + 1) * APART, HostOp::Read, from, bytes);
        let want = p.ends() + p.flash_read(planes, 0, codewords) + p.link(u64::from(bytes));
        assert_eq!(got, want, "{bytes} bytes from {from}");
    }
    // With dynamic placement a fill puts consecutive units on the planes of one row.
    let mut c = small_drive();
    c.policy.placement = placement::PlacementConfig::Dynamic(Default::default());
    let p = Parts(&c);
    let mut host = filled(&c);
    let row = latency(&mut host, APART, HostOp::Read, 0, 16384);
    assert_eq!(row, p.ends() + p.flash_read(2, 0, 8) + p.link(16384));
    assert_eq!(host.device.counters().flash_reads, 1);
}

#[test]
fn rows_on_two_channels_go_side_by_side_and_meet_on_the_host_link() {
    let c = small_drive();
    let p = Parts(&c);
    let mut host = filled(&c);
    let got = latency(&mut host, APART, HostOp::Read, 0, 16384);
    // Both halves arrive at the same time; the second transfer to the host waits for the first.
    assert_eq!(got, p.ends() + p.flash_read(1, 0, 4) + 2 * p.link(8192));
    assert_eq!(host.done[0].ledger.get(Cause::HOST_LINK_WAIT), p.link(8192));
    // Parts of different size: the short part is ready first and is transferred before the long
    // one.
    let got = latency(&mut host, 2 * APART, HostOp::Read, 6144, 2048 + 8192);
    assert!(p.flash_read(1, 0, 1) + p.link(2048) < p.flash_read(1, 0, 4));
    assert_eq!(got, p.ends() + p.flash_read(1, 0, 4) + p.link(8192));
}

#[test]
fn a_read_whose_data_are_sent_whole_uses_the_host_link_once() {
    let mut c = small_drive();
    c.host.transfer = Transfer::Whole;
    let p = Parts(&c);
    let mut host = filled(&c);
    let whole = |slowest: u64, bytes: u64| p.ends() + slowest + p.link(bytes);
    // Two halves on two channels arrive at the same time, and no transfer waits for another.
    let got = latency(&mut host, APART, HostOp::Read, 0, 16384);
    assert_eq!(got, whole(p.flash_read(1, 0, 4), 16384));
    assert_eq!(host.done[0].ledger.get(Cause::HOST_LINK), p.link(16384));
    assert_eq!(host.done[0].ledger.get(Cause::HOST_LINK_WAIT), 0);
    // The short part waits for the long one.
    let got = latency(&mut host, 2 * APART, HostOp::Read, 6144, 2048 + 8192);
    assert_eq!(got, whole(p.flash_read(1, 0, 4), 2048 + 8192));
    // A part in the buffer waits for the part on flash. The parts of a read with one operation, or none, are sent as
    // usual.
    latency(&mut host, 3 * APART, HostOp::Write, 0, 4096);
    let got = latency(&mut host, 4 * APART, HostOp::Read, 0, 8192);
    assert_eq!(got, whole(p.flash_read(1, 0, 2), 8192));
    assert_eq!(latency(&mut host, 5 * APART, HostOp::Read, 4096, 4096), whole(p.flash_read(1, 0, 2), 4096));
    assert_eq!(latency(&mut host, 6 * APART, HostOp::Read, 0, 4096), whole(0, 4096));
    // Two reads meet on the link: the second transfer waits for the first.
    for _ in 0..2 {
        host.submit(7 * APART, HostOp::Read, 32768, 16384);
    }
    host.drain();
    let last = host.done.last().expect("they end");
    assert_eq!(last.ledger.get(Cause::HOST_LINK), p.link(16384));
    assert_eq!(last.ledger.sum(), last.latency);
}

#[test]
fn a_decoder_slower_than_the_bus_sets_the_pace() {
    for (decode, queue) in [(0, 1), (1_700, 1), (2_559, 4), (2_561, 4), (9_000, 4), (9_000, 1)] {
        let mut c = small_drive();
        (c.ecc.decode, c.ecc.queue) = (Span(decode), queue);
        let p = Parts(&c);
        let got = latency(&mut filled(&c), APART, HostOp::Read, 0, 8192);
        let out = Parts::moved(2048, c.channel.rate);
        let through = if queue == 1 {
            // One place: a codeword is transferred only after the previous one is decoded.
            4 * (out + decode)
        } else {
            p.flash_read(1, 0, 4) - p.flash_read(1, 0, 1) + out + decode
        };
        let sensed = c.channel.command.0 + p.sense(0);
        let want = if decode == 0 { 4 * out } else { through };
        assert_eq!(got, p.ends() + sensed + want + p.link(8192), "decode {decode} ns, {queue} places");
    }
}

#[test]
fn transfers_round_up_once_over_the_whole_payload() {
    let mut c = small_drive();
    // The time of a codeword or of a sector is not a whole number of nanoseconds.
    c.channel.rate = 350_000_017;
    c.host.link_rate = 700_000_001;
    c.ecc.decode = Span(0);
    let p = Parts(&c);
    let mut host = filled(&c);
    for (i, bytes) in [1u32, 511, 2048, 4096, 8192].into_iter().enumerate() {
        let codewords = u64::from(bytes).div_ceil(2048);
        let want = p.ends()
            + c.channel.command.0
            + p.sense(0)
            + Parts::moved(codewords * 2048, c.channel.rate)
            + Parts::moved(u64::from(bytes), c.host.link_rate);
        assert_eq!(latency(&mut host, (i as u64 + 1) * APART, HostOp::Read, 0, bytes), want, "{bytes} bytes");
    }
}

#[test]
fn the_two_directions_of_the_link_may_have_rates_of_their_own() {
    let mut c = small_drive();
    c.host.write_link_rate = Some(200_000_000);
    let mut host = filled(&c);
    let write = latency(&mut host, APART, HostOp::Write, 0, 4096);
    assert_eq!(write, Parts(&c).ends() + Parts::moved(4096, 200_000_000));
    let read = latency(&mut host, 2 * APART, HostOp::Read, 0, 4096);
    assert_eq!(read, Parts(&c).ends() + Parts(&c).link(4096), "a buffer hit");
}

#[test]
fn what_needs_no_flash_takes_the_controller_and_the_link_only() {
    let c = small_drive();
    let p = Parts(&c);
    let mut host = filled(&c);
    let end = host.device.host_bytes();
    let cases = [
        ("unmapped read", HostOp::Read, end - 4096, 4096, p.ends() + p.link(4096)),
        ("write", HostOp::Write, 0, 4096, p.ends() + p.link(4096)),
        ("buffer hit", HostOp::Read, 0, 4096, p.ends() + p.link(4096)),
        ("buffer hit of a sector", HostOp::Read, 512, 512, p.ends() + p.link(512)),
        ("overwrite in place", HostOp::Write, 0, 512, p.ends() + p.link(512)),
        ("write of a sector", HostOp::Write, 8192, 512, p.ends() + p.link(512)),
        ("hit of that sector", HostOp::Read, 8192, 512, p.ends() + p.link(512)),
        ("trim", HostOp::Trim, 65536, 4096, p.ends()),
        ("read of what was trimmed", HostOp::Read, 65536, 4096, p.ends() + p.link(4096)),
        ("trim of what is held", HostOp::Trim, 0, 4096, p.ends()),
        ("read of that", HostOp::Read, 0, 4096, p.ends() + p.link(4096)),
    ];
    for (i, (name, op, offset, bytes, want)) in cases.into_iter().enumerate() {
        assert_eq!(latency(&mut host, (i as u64 + 1) * APART, op, offset, bytes), want, "{name}");
    }
    let k = host.device.counters();
    assert_eq!((k.flash_reads, k.rows_programmed, k.buffer_hits, k.unmapped_reads), (0, 0, 3, 3));
    // The other sectors of a unit that is partly in the buffer are only on flash.
    let beside = latency(&mut host, APART * 50, HostOp::Read, 8192 + 512, 512);
    assert_eq!(beside, p.ends() + p.flash_read(1, 0, 1) + p.link(512));
}

#[test]
fn a_flush_waits_for_the_program_only_where_a_power_cut_would_lose_data() {
    let mut c = small_drive();
    let mut host = filled(&c);
    latency(&mut host, APART, HostOp::Write, 0, 4096);
    let p = Parts(&c);
    let at = 2 * APART;
    let page = host_page(&c);
    assert_eq!(latency(&mut host, at, HostOp::Flush, 0, 0), p.ends() + p.flash_program(2, page));
    assert_eq!(latency(&mut host, at + APART, HostOp::Flush, 0, 0), p.ends(), "nothing is held any more");
    // A sector of a mapped unit is completed from flash before it is programmed.
    latency(&mut host, at + 2 * APART, HostOp::Write, 1 << 14, 512);
    let rmw = p.flash_read(1, 0, 2) + p.flash_program(2, page);
    assert_eq!(latency(&mut host, at + 3 * APART, HostOp::Flush, 0, 0), p.ends() + rmw);
    c.policy.buffer = buffer::BufferConfig::Lru(buffer::lru::Config {
        capacity: 256 << 10,
        power_loss: buffer::lru::PowerLoss::Capacitor,
        ..Default::default()
    });
    let mut host = filled(&c);
    latency(&mut host, APART, HostOp::Write, 0, 4096);
    assert_eq!(latency(&mut host, at, HostOp::Flush, 0, 0), Parts(&c).ends());
}

#[test]
fn forced_unit_access_waits_for_the_program_only_where_a_power_cut_would_lose_data() {
    let force = |host: &mut Host, at, op| {
        let done = host.one_command(at, Command { fua: true, ..Command::new(op, 0, 4096) });
        assert_eq!(done.ledger.sum(), done.latency);
        done.latency
    };
    let mut c = small_drive();
    let mut host = filled(&c);
    let held = latency(&mut host, APART, HostOp::Write, 8192, 4096);
    latency(&mut host, 2 * APART, HostOp::Flush, 0, 0);
    let programmed = Parts(&c).flash_program(2, host_page(&c));
    assert_eq!(force(&mut host, 3 * APART, HostOp::Write), held + programmed);
    assert_eq!(latency(&mut host, 4 * APART, HostOp::Flush, 0, 0), Parts(&c).ends(), "nothing is held");
    let read = latency(&mut host, 5 * APART, HostOp::Read, 0, 4096);
    assert_eq!(force(&mut host, 6 * APART, HostOp::Read), read, "reads ignore it");
    c.policy.buffer = buffer::BufferConfig::Lru(buffer::lru::Config {
        capacity: 256 << 10,
        power_loss: buffer::lru::PowerLoss::Capacitor,
        ..Default::default()
    });
    let mut host = filled(&c);
    assert_eq!(force(&mut host, APART, HostOp::Write), held);
    let through = write_through(small_drive());
    let mut host = filled(&through);
    let plain = latency(&mut host, APART, HostOp::Write, 0, 4096);
    assert_eq!(force(&mut filled(&through), APART, HostOp::Write), plain);
}

/// The page index of the next host row on the first die of a half-filled drive.
fn host_page(c: &DeviceConfig) -> usize {
    let host = Host::new(c);
    let filled = host.device.host_bytes() / 2 / c.ftl.mapping_unit;
    let chunk = (c.geometry.page / c.ftl.mapping_unit).max(1);
    let dies = u64::from(c.geometry.channels * c.geometry.dies_per_chip);
    let lanes = if c.ftl.extent == ExtentKind::Block { dies * u64::from(c.geometry.planes) } else { dies };
    let (chunks, rest) = (filled / chunk, filled % chunk);
    let first = if chunks % lanes == 0 { rest } else { chunk };
    let units = chunks / lanes * chunk + first;
    let units_a_row = u64::from(c.ftl.write_planes) * c.geometry.page / c.ftl.mapping_unit;
    (units.div_ceil(units_a_row) % u64::from(c.geometry.pages)) as usize
}

#[test]
fn write_through_completes_when_programmed() {
    for unit in [2048, 4096, 8192, 16384] {
        let c = write_through(mapped(unit));
        let p = Parts(&c);
        let mut host = filled(&c);
        let start = host_page(&c);
        // Every write takes the die's next row, so the page types alternate.
        for i in 0..4 {
            let at = (i as u64 + 1) * APART;
            let got = latency(&mut host, at, HostOp::Write, 0, unit as u32);
            let want = p.ends() + p.link(unit) + p.flash_program(2, start + i);
            assert_eq!(got, want, "unit {unit}, write {i}");
        }
        assert_eq!(host.device.counters().rmw_reads, 0);
    }
}

#[test]
fn a_write_smaller_than_its_unit_reads_the_unit_first() {
    for (unit, planes) in [(2048, 1), (4096, 1), (8192, 1), (16384, 2)] {
        let c = write_through(mapped(unit));
        let p = Parts(&c);
        let mut host = filled(&c);
        let start = host_page(&c);
        let codewords = unit / c.ecc.codeword;
        for (i, page) in [0u64, 1].into_iter().enumerate() {
            let at = (i as u64 + 1) * APART;
            let got = latency(&mut host, at, HostOp::Write, on_page(&c, page) + 512, 512);
            let read = p.flash_read(planes, page as usize, codewords);
            let want = p.ends() + p.link(512) + read + p.flash_program(2, start + i);
            assert_eq!(got, want, "unit {unit}, page {page}");
        }
        assert_eq!(host.device.counters().rmw_reads, 2);
        // A unit that was never written needs no read.
        let last = host.device.host_bytes() - unit;
        let mut fresh = Host::new(&c);
        let got = latency(&mut fresh, APART, HostOp::Write, last + 512, 512);
        assert_eq!(got, p.ends() + p.link(512) + p.flash_program(2, 0), "unit {unit}, unmapped");
    }
}

#[test]
fn a_write_over_two_channels_programs_both_at_once() {
    let c = write_through(small_drive());
    let p = Parts(&c);
    let mut host = Host::new(&c);
    let got = latency(&mut host, APART, HostOp::Write, 0, 16384);
    assert_eq!(got, p.ends() + p.link(16384) + p.flash_program(2, 0));
    assert_eq!(host.device.counters().rows_programmed, 2);
}

#[test]
fn planes_that_work_alone_take_the_same_times() {
    let mut c = small_drive();
    c.geometry.busy_unit = BusyKind::Plane;
    c.ftl.extent = ExtentKind::Block;
    c.ftl.write_planes = 1;
    c.ftl.gc.copy_planes = 1;
    c.ftl.gc.program_planes = 1;
    c.ftl.gc.erase_planes = 1;
    let c = write_through(c);
    let p = Parts(&c);
    let mut host = filled(&c);
    for page in 0..4 {
        let got = latency(&mut host, (page + 1) * APART, HostOp::Read, on_page(&c, page), 4096);
        assert_eq!(got, p.ends() + p.flash_read(1, page as usize, 2) + p.link(4096));
    }
    let got = latency(&mut host, 10 * APART, HostOp::Write, 0, 8192);
    assert_eq!(got, p.ends() + p.link(8192) + p.flash_program(1, host_page(&c)));
}

#[test]
fn a_line_goes_round_the_dies() {
    let mut c = small_drive();
    c.ftl.extent = ExtentKind::Line;
    let c = write_through(c);
    let p = Parts(&c);
    let mut host = Host::new(&c);
    for i in 0..8u64 {
        let got = latency(&mut host, (i + 1) * APART, HostOp::Write, i * 16384, 16384);
        assert_eq!(got, p.ends() + p.link(16384) + p.flash_program(2, i as usize / 4), "row {i}");
    }
    for i in 0..8u64 {
        let got = latency(&mut host, (i + 20) * APART, HostOp::Read, i * 16384, 16384);
        assert_eq!(got, p.ends() + p.flash_read(2, i as usize / 4, 8) + p.link(16384), "row {i}");
    }
}
