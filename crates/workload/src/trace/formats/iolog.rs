//! fio I/O logs (`write_iolog`), versions 2 and 3.
//!
//! The first line is `fio version 2 iolog` or `fio version 3 iolog`. Version 3: `timestamp
//! filename action [offset length]`, timestamp in microseconds. Version 2: `filename
//! action [offset length]`, without times: requests are at time 0, and each `filename wait
//! milliseconds` moves the time on to so long after the start, as the code of fio has it
//! (its manual speaks of microseconds after the wait before). A unit given is that of the
//! waits. Offsets and lengths are bytes. The actions read,
//! write, trim, sync and datasync (both a flush) become requests; add, open and close are
//! counted as other events. The device is the file's order of first appearance.

use super::{Format, Looks};
use crate::trace::decode::{Ending, LineParser, Lines, Outcome, Parsed};
use crate::trace::fields::{Words, bad_value};
use crate::trace::names::Names;
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, too_large};
use tailcut_units::HostOp;

const LAYOUT: &str = "[timestamp (us, version 3)] filename action [offset (bytes) length (bytes)]";
const MAGIC: [&[u8]; 2] = [b"fio version 2 iolog", b"fio version 3 iolog"];
const ACTIONS: &str = "read, write, trim, sync, datasync, wait (version 2), add, open or close";

pub(crate) static FORMAT: Format = Format {
    name: "fio-iolog",
    aliases: &["iolog", "fio"],
    title: "fio I/O log, versions 2 and 3",
    layout: LAYOUT,
    looks: Looks::Bytes(|sample| MAGIC.iter().any(|m| sample.starts_with(m))),
    open: |setup| {
        let waits = setup.sample.starts_with(MAGIC[0]);
        let unit = setup.unit(if waits { TimeUnit::Ms } else { TimeUnit::Us });
        if waits {
            setup.note = "a `wait` counts from the start of the log, in ms unless --time-unit is given, as in fio's code";
        }
        let files = Names::new("filename", 65_536, "one of at most 65536 different files");
        Box::new(Lines::new(Iolog { unit, version: 0, now: 0, files }))
    },
};

struct Iolog {
    unit: u64,
    version: u8,
    now: u64,
    files: Names,
}

impl Iolog {
    fn wait(&mut self, pause: u64) -> Outcome {
        let pause =
            pause.checked_mul(self.unit).ok_or_else(|| too_large("wait", pause, u64::MAX / self.unit))?;
        // A wait for a time that has passed does not wait.
        self.now = self.now.max(pause);
        Ok(Parsed::Other)
    }
}

impl LineParser for Iolog {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Outcome {
        if self.version == 0 {
            let at = MAGIC.iter().position(|m| *m == line);
            let at = at
                .ok_or_else(|| bad_value("first line", line, "fio version 2 iolog or fio version 3 iolog"))?;
            self.version = at as u8 + 2;
            return Ok(Parsed::Comment);
        }
        let mut words = Words::new(line, LAYOUT);
        if self.version == 3 {
            self.now = words.time("timestamp", self.unit)?;
        }
        let file = words.text("filename")?;
        let action = words.text("action")?;
        let op = match action {
            b"read" => HostOp::Read,
            b"write" => HostOp::Write,
            b"trim" => HostOp::Trim,
            b"sync" | b"datasync" => HostOp::Flush,
            b"add" | b"open" | b"close" => return Ok(Parsed::Other),
            b"wait" if self.version == 2 => {
                let pause = words.number("wait")?;
                return self.wait(pause);
            }
            other => return Err(bad_value("action", other, ACTIONS)),
        };
        let device = self.files.number(file)?;
        let (offset, bytes) = match op {
            HostOp::Flush => (0, 0),
            _ => (words.number("offset")?, words.number("length")?),
        };
        Ok(Parsed::Request(Raw { time: self.now, device, offset, bytes, op }))
    }

    fn ending(&self, line: &[u8]) -> Ending {
        let mut words = Words::new(line, LAYOUT).skip(usize::from(self.version == 3) + 1);
        match words.next() {
            Some(b"read" | b"write" | b"trim") => Ending::Open("length"),
            Some(b"wait") => Ending::Open("wait"),
            _ => Ending::Whole,
        }
    }
}
