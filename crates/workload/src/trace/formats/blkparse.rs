//! Text output of blkparse (Linux blktrace).
//!
//! `major,minor cpu sequence time pid event rwbs sector + sectors [process]`: time in seconds
//! with a fraction, sectors of 512 bytes. The D events (issued to the driver) are replayed.
//! If the first 1,000 lines hold Q events (queued) and no D events, the Q events are
//! replayed. All other events are counted and skipped, as is the summary at the end. If far
//! more requests were queued than issued, a warning says that the file is not complete. In
//! rwbs, D means a discard, R a read, W a write and F alone a flush. A request with a flush before
//! it (`FWS`) is two: a FLUSH and the request, both at its time. Forced unit access is counted and
//! left out. The device is major × 2^20 + minor.

use super::{Format, Looks, fiu::linux_device};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed, sample_lines};
use crate::trace::error::Reason;
use crate::trace::fields::{Words, bad_value, number};
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, sectors};
use tailcut_units::HostOp;

/// Requests that may be outstanding when tracing stops. The warning needs this many more
/// queued requests than twice the issued ones, since a request to a volume is queued both at
/// the volume and at its disk.
const QUEUED_MIN: u64 = 16;

const LAYOUT: &str = "major,minor cpu sequence time (s) pid event rwbs sector + sectors [process]";

pub(crate) static FORMAT: Format = Format {
    name: "blkparse",
    aliases: &["blktrace-text"],
    title: "blkparse text (Linux blktrace)",
    layout: LAYOUT,
    looks: Looks::Line(|line| event(line).is_some()),
    open: |setup| {
        let unit = setup.unit(TimeUnit::S);
        let seen = |kind: &[u8]| sample_lines(setup.sample).filter_map(event).any(|e| e == kind);
        let (queued, issued) = (seen(b"Q"), seen(b"D"));
        let wanted = if queued && !issued { b'Q' } else { b'D' };
        setup.note = if wanted == b'Q' { "Q events (no D events found)" } else { "D events" };
        Box::new(Lines::new(Blkparse {
            unit,
            wanted,
            summary: false,
            events: Events::default(),
            named: false,
        }))
    },
};

struct Blkparse {
    unit: u64,
    wanted: u8,
    summary: bool,
    events: Events,
    /// Whether a request was followed by its process.
    named: bool,
}

/// Counts of events, to tell whether the file is complete.
#[derive(Clone, Copy, Default)]
struct Events {
    queued: u64,
    /// Requests that were queued and then merged into another request.
    merged: u64,
    issued: u64,
    completed: u64,
    /// Requests with a flush before them, and those replayed without their force unit access.
    preflushes: u64,
    forced: u64,
}

/// The event of a line, if the line has the shape of an event.
fn event(line: &[u8]) -> Option<&[u8]> {
    let mut words = Words::new(line, LAYOUT);
    let device = words.next()?;
    let comma = device.iter().position(|&b| b == b',')?;
    let digits = |w: &[u8]| !w.is_empty() && w.iter().all(u8::is_ascii_digit);
    if !digits(&device[..comma]) || !digits(&device[comma + 1..]) {
        return None;
    }
    words.nth(3)?;
    let event = words.next()?;
    (event.len() <= 2 && event[0].is_ascii_alphabetic()).then_some(event)
}

/// What a request does, by its letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rwbs {
    /// `None` for a command that moves no data: one of zones, or without a kind (`N`).
    op: Option<HostOp>,
    /// A flush comes before the request.
    preflush: bool,
    /// The request is on the flash when it ends (force unit access).
    fua: bool,
}

/// Parse the letters of a request as the kernel writes them: `F` for a flush before it, the kind (`R`
/// read, `W` write, `D` discard, `DE` secure erase, `N` none, `Z` and a letter for zones), then
/// modifiers (`F` force unit access, `A` read-ahead, `S` synchronous, `M` metadata, `B` barrier, `U`
/// atomic). `F` without a kind is a flush.
fn rwbs(text: &[u8]) -> Result<Rwbs, Box<Reason>> {
    let wrong = || {
        bad_value(
            "rwbs",
            text,
            "[F] and R, W, D, DE, N, ZA, ZR, ZRA, ZO, ZC or ZF, with the modifiers F A S M B U",
        )
    };
    let (preflush, rest) = match text {
        [b'F', b'R' | b'W' | b'D' | b'N' | b'Z', ..] => (true, &text[1..]),
        _ => (false, text),
    };
    let (op, modifiers) = match rest {
        [b'R', rest @ ..] => (Some(HostOp::Read), rest),
        [b'W', rest @ ..] => (Some(HostOp::Write), rest),
        [b'D', b'E', rest @ ..] | [b'D', rest @ ..] => (Some(HostOp::Trim), rest),
        [b'F', rest @ ..] => (Some(HostOp::Flush), rest),
        [b'Z', b'R', b'A', rest @ ..] | [b'Z', b'A' | b'R' | b'O' | b'C' | b'F', rest @ ..] => (None, rest),
        [b'N', rest @ ..] => (preflush.then_some(HostOp::Flush), rest),
        _ => return Err(wrong()),
    };
    if modifiers.iter().any(|m| !b"FASMBU".contains(m)) {
        return Err(wrong());
    }
    let preflush = preflush && op != Some(HostOp::Flush);
    Ok(Rwbs { op, preflush, fua: modifiers.contains(&b'F') })
}

/// What becomes of requests with a flush before them and of forced unit access.
pub(super) fn special(preflushes: u64, forced: u64) -> [Option<String>; 2] {
    [
        (preflushes > 0).then(|| {
            format!(
                "{preflushes} requests had a flush before them (preflush): a FLUSH is issued with each, and the request does \
                 not wait for it"
            )
        }),
        (forced > 0).then(|| {
            format!(
                "{forced} requests had forced unit access (FUA): such a write completes when its data are durable"
            )
        }),
    ]
}

impl LineParser for Blkparse {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        self.summary |= line.starts_with(b"CPU") || line.starts_with(b"Total");
        if self.summary {
            return Ok(Parsed::Comment);
        }
        let mut words = Words::new(line, LAYOUT);
        let device = words.text("major,minor")?;
        words.number("cpu")?;
        words.number("sequence")?;
        let time = words.text("time")?;
        words.text("pid")?;
        let event = words.text("event")?;
        match event {
            b"Q" => self.events.queued += 1,
            b"M" | b"F" => self.events.merged += 1,
            b"D" => self.events.issued += 1,
            b"C" => self.events.completed += 1,
            _ => {}
        }
        if *event != [self.wanted] {
            return Ok(Parsed::Other);
        }
        let comma = device.iter().position(|&b| b == b',');
        let comma = comma.ok_or_else(|| bad_value("device", device, "major,minor"))?;
        let device =
            linux_device(number("major", &device[..comma])?, number("minor", &device[comma + 1..])?)?;
        let time = crate::trace::fields::time("time", time, self.unit)?;
        let Rwbs { op, preflush, fua } = rwbs(words.text("rwbs")?)?;
        let flush = Parsed::Request(Raw { time, device, offset: 0, bytes: 0, op: HostOp::Flush });
        let Some(op) = op else { return Ok(Parsed::Other) };
        if op == HostOp::Flush {
            return Ok(flush);
        }
        let start = words.text("sector")?;
        // "[process]" instead of a sector: a command that moves no data.
        if start.first() == Some(&b'[') {
            return Ok(if preflush { flush } else { Parsed::Other });
        }
        let offset = sectors("sector", number("sector", start)?)?;
        match words.text("+")? {
            b"+" => {}
            other => return Err(bad_value("separator", other, "+")),
        }
        let bytes = sectors("sectors", words.number("sectors")?)?;
        self.named |= words.next().is_some();
        // "FWS 0 + 0" is a flush that the driver saw as an empty write.
        if bytes == 0 && preflush {
            return Ok(flush);
        }
        self.events.preflushes += u64::from(preflush);
        self.events.forced += u64::from(fua);
        let raw = Raw { time, device, offset, bytes, op };
        Ok(Parsed::Special { raw, preflush, fua })
    }

    /// An event ends with `[process]` or, after a completion, with `[error]`; an unplug ends
    /// with a count after the process. Some converters leave out the process everywhere.
    fn ending(&self, line: &[u8]) -> Ending {
        if self.summary || line.last() == Some(&b']') {
            return Ending::Whole;
        }
        let named = line.contains(&b'[');
        match event(line) {
            Some(b"U") if named => Ending::Open("count"),
            _ if !named && !self.named => Ending::Open("sectors"),
            _ => Ending::Cut(Reason::Missing { name: "]", layout: LAYOUT }),
        }
    }

    fn warning(&self) -> Option<String> {
        let Events { queued, merged, issued, completed, preflushes, forced } = self.events;
        if completed > 0 && queued == 0 && issued == 0 {
            return Some(format!(
                "it has {completed} completions (C) only; the requests are in D (issued) or Q (queued) events, which blktrace \
                 records by default (no `-a complete`)"
            ));
        }
        let [flushed, plain] = special(preflushes, forced);
        let waiting = queued.saturating_sub(merged);
        let lost = (self.wanted == b'D' && waiting > issued.saturating_mul(2).saturating_add(QUEUED_MIN))
            .then(|| {
                format!(
                    "of {waiting} requests that were queued (Q less merged) only {issued} were issued (D): \
                 the file is truncated, or events were lost; requests that were not issued are not replayed"
                )
            });
        let all: Vec<String> = [flushed, plain, lost].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_parsed_by_their_place() {
        let of = |text: &str| rwbs(text.as_bytes()).map(|r| (r.op, r.preflush, r.fua)).ok();
        use HostOp::{Flush, Read, Trim, Write};
        for (text, op, preflush, fua) in [
            ("R", Some(Read), false, false),
            ("RA", Some(Read), false, false),
            ("WSM", Some(Write), false, false),
            ("WFS", Some(Write), false, true),
            ("FWFS", Some(Write), true, true),
            ("FWS", Some(Write), true, false),
            ("D", Some(Trim), false, false),
            ("DE", Some(Trim), false, false),
            ("DS", Some(Trim), false, false),
            ("F", Some(Flush), false, false),
            ("FN", Some(Flush), false, false),
            ("FFS", Some(Flush), false, true),
            ("N", None, false, false),
            ("ZA", None, false, false),
            ("ZR", None, false, false),
            ("ZRA", None, false, false),
            ("ZFS", None, false, false),
        ] {
            assert_eq!(of(text), Some((op, preflush, fua)), "{text}");
        }
        for text in ["", "Z", "ZX", "X", "RX", "SW"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
