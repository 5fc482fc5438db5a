//! SSDSim and MQSim ASCII traces: five whole numbers per line, separated by blanks.
//!
//! `time device lba sectors op`: lba and sectors in 512 bytes, op 1 = read, 0 = write. By
//! both simulators' manuals the time is in nanoseconds, but some traces under this name
//! are in microseconds. Unless a unit is given, the first 1,000 lines decide, by the
//! first of these rules that applies:
//!
//! - All times have more than six decimals: seconds. Other fractions are refused.
//! - The first time is a date since 2001 in µs or ns: that unit.
//! - Fewer than 16 requests are too few to decide: ns.
//! - All times are whole multiples of 1,000: ns.
//! - Read as ns, each device would get more than 100,000 requests or 8 GB a second: µs.
//! - Else: ns.

use super::{Format, Looks, ascii};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed, Setup, sample_lines};
use crate::trace::fields::{Words, bad_value, number, time};
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, sectors};

const LAYOUT: &str = "time (ns or us), device, lba (512 B), sectors, op (1 = read, 0 = write)";

pub(crate) static FORMAT: Format = Format {
    name: "ssdsim",
    aliases: &["mqsim"],
    title: "SSDSim / MQSim ASCII",
    layout: LAYOUT,
    looks: Looks::Line(|line| {
        let fields: Vec<_> = Words::new(line, LAYOUT).take(6).collect();
        let whole = |f: &&[u8]| f.iter().all(|b| b.is_ascii_digit() || *b == b'-');
        fields.len() == 5 && fields.iter().filter(|f| whole(f)).count() >= 4 && whole(&fields[0])
    }),
    open: |setup| {
        let given = setup.given.is_some();
        let unit = unit(setup);
        Box::new(Lines::new(SsdSim { unit, whole: !given && setup.unit != TimeUnit::S }))
    },
};

/// The least number of requests from which a rate is computed.
const REQUESTS_MIN: u64 = 16;

struct SsdSim {
    unit: u64,
    /// Times are whole numbers: a fraction is of no unit that was guessed.
    whole: bool,
}

impl LineParser for SsdSim {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        let mut fields = Words::new(line, LAYOUT);
        let text = fields.text("time")?;
        if self.whole && text.contains(&b'.') {
            return Err(bad_value(
                "time",
                text,
                "a whole number of ns or us; --time-unit names the unit of others",
            ));
        }
        let time = time("time", text, self.unit)?;
        let device = fields.number32("device")?;
        let offset = sectors("lba", fields.number("lba")?)?;
        let bytes = sectors("sectors", fields.number("sectors")?)?;
        let op = ascii::op(&mut fields)?;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    /// The last field is one character, so it cannot be incomplete.
    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Whole
    }
}

fn unit(setup: &mut Setup<'_>) -> u64 {
    if setup.given.is_some() {
        return setup.unit(TimeUnit::Ns);
    }
    let unit = if ascii::has_seconds(setup.sample) { TimeUnit::S } else { guess(setup.sample) };
    setup.unit(unit);
    setup.unit_from = "detected";
    unit.nanos()
}

fn guess(sample: &[u8]) -> TimeUnit {
    let mut devices: Vec<u64> = Vec::new();
    let (mut first, mut last, mut requests, mut bytes) = (None, 0, 0u64, 0u64);
    let mut coarse = true;
    for line in sample_lines(sample) {
        let mut next = Words::new(line, LAYOUT).map(|f| number("", f).unwrap_or(0));
        let (Some(time), Some(device), Some(_), Some(size)) =
            (next.next(), next.next(), next.next(), next.next())
        else {
            continue;
        };
        first.get_or_insert(time);
        last = time.max(last);
        requests += 1;
        bytes = bytes.saturating_add(size.saturating_mul(512));
        coarse &= time % 1000 == 0;
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    let first = first.unwrap_or(0);
    match first {
        // 2001 to 2049 in microseconds; from 2001 on in nanoseconds.
        1_000_000_000_000_000..2_500_000_000_000_000 => return TimeUnit::Us,
        1_000_000_000_000_000_000.. => return TimeUnit::Ns,
        _ => {}
    }
    let span = last.saturating_sub(first);
    if span == 0 || coarse || requests < REQUESTS_MIN {
        return TimeUnit::Ns;
    }
    // The rate per device and second, if the unit is the nanosecond.
    let scale = 1e9 / (span as f64 * devices.len().max(1) as f64);
    if requests as f64 * scale > 100_000.0 || bytes as f64 * scale > 8e9 {
        TimeUnit::Us
    } else {
        TimeUnit::Ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(step: u64, sectors: u64) -> Vec<u8> {
        let line = |i: u64| format!("{} 0 {} {sectors} 1\n", i * step + i % 3, i * 64);
        (0..200).flat_map(|i| line(i).into_bytes()).collect()
    }

    #[test]
    fn the_unit_is_the_one_a_drive_could_serve() {
        assert_eq!(guess(&lines(2_000, 8)), TimeUnit::Us);
        assert_eq!(guess(&lines(15_000, 1024)), TimeUnit::Us);
        assert_eq!(guess(&lines(2_000_000, 8)), TimeUnit::Ns);
        assert_eq!(guess(b"1600000000000000 0 0 8 1\n"), TimeUnit::Us);
        let coarse: String = (0..20).map(|i| format!("{} 0 0 8 1\n", i * 1000)).collect();
        assert_eq!(guess(coarse.as_bytes()), TimeUnit::Ns);
        assert_eq!(guess(b"0 0 0 8 1\n7 0 0 8 1\n"), TimeUnit::Ns);
    }
}
