//! The values that each byte may have when the host reads it.
//!
//! For every byte of the address space the oracle keeps the possible sources: writes, TRIMs or
//! the state before them. A command under way may or may not have taken effect. A command that
//! has ended stays a possible source until another one has certainly overwritten it. A read may
//! return, for each byte, any value that was possible while the read was under way. Bytes are
//! not stored: the bytes of a write are computed from its number.

use std::collections::BTreeMap;
use std::ops::Range;
use tailcut_core::address::Lpn;
use tailcut_core::medium::filled_bytes;
use tailcut_units::random::mix;
use tailcut_units::{Command, HostOp};

/// The source of a byte's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Zeros,
    Filled,
    /// The write with this number.
    Written(u64),
}

#[derive(Clone, Copy, Debug)]
struct Value {
    source: Source,
    /// The number of the command.
    index: u64,
    /// The numbers of the oracle's events at which the command was submitted and ended.
    begun: u64,
    ended: u64,
}

impl Value {
    fn is_write(&self) -> bool {
        matches!(self.source, Source::Written(_))
    }

    /// Whether this value was certainly overwritten by `by`, a command that has ended. `in_order`:
    /// writes take effect in the order of their numbers.
    fn is_under(&self, by: &Value, in_order: bool) -> bool {
        self.ended < by.begun || in_order && self.is_write() && by.is_write() && self.index < by.index
    }
}

#[derive(Clone, Debug)]
struct Stretch {
    end: u64,
    values: Vec<Value>,
}

struct Read {
    parts: Vec<(Range<u64>, Vec<Source>)>,
    /// Changes submitted since the read was submitted.
    later: Vec<(Range<u64>, Source)>,
}

/// The bytes of one drive.
pub struct Bytes {
    stretches: BTreeMap<u64, Stretch>,
    reads: BTreeMap<u64, Read>,
    unit_bytes: u64,
    events: u64,
    /// A TRIM may leave the data in its range unchanged.
    pub trims_may_be_kept: bool,
    /// A write may pass another that is under way, because there are separate write queues.
    pub writes_may_pass: bool,
}

/// Fill `out` with the bytes that write `index` writes from `offset` on.
pub fn written(index: u64, offset: u64, out: &mut [u8]) {
    let key = mix(index).to_le_bytes();
    for (at, byte) in (offset..).zip(out) {
        *byte = key[(at % 8) as usize] ^ ((at >> 3) as u8) ^ ((at >> 11) as u8).wrapping_mul(31);
    }
}

impl Bytes {
    /// The oracle of a new drive whose first `filled` bytes were filled, in whole mapping
    /// units.
    pub fn new(host_bytes: u64, unit_bytes: u64, filled: u64) -> Bytes {
        let value = |source| Value { source, index: 0, begun: 0, ended: 0 };
        let filled = filled / unit_bytes * unit_bytes;
        let mut stretches = BTreeMap::new();
        if filled > 0 {
            stretches.insert(0, Stretch { end: filled, values: vec![value(Source::Filled)] });
        }
        if filled < host_bytes {
            stretches.insert(filled, Stretch { end: host_bytes, values: vec![value(Source::Zeros)] });
        }
        Bytes {
            stretches,
            reads: BTreeMap::new(),
            unit_bytes,
            events: 1,
            trims_may_be_kept: false,
            writes_may_pass: false,
        }
    }

    fn host_bytes(&self) -> u64 {
        self.stretches.last_key_value().map_or(0, |(_, s)| s.end)
    }

    /// The bytes that a command reads or changes.
    fn range(&self, c: &Command) -> Range<u64> {
        let end = c.offset.saturating_add(u64::from(c.bytes));
        if c.op == HostOp::Flush || end > self.host_bytes() {
            return 0..0;
        }
        if c.op == HostOp::Trim {
            let start = c.offset.next_multiple_of(self.unit_bytes);
            return start..(end / self.unit_bytes * self.unit_bytes).max(start);
        }
        c.offset..end
    }

    /// Split the stretch that contains `at`, so that a stretch begins there.
    fn split(&mut self, at: u64) {
        if let Some((_, stretch)) = self.stretches.range_mut(..at).next_back()
            && stretch.end > at
        {
            let tail = stretch.clone();
            stretch.end = at;
            self.stretches.insert(at, tail);
        }
    }

    /// Note that a command is submitted as number `index`; return the data of a write.
    pub fn submit(&mut self, index: u64, command: &Command) -> Vec<u8> {
        self.events += 1;
        let range = self.range(command);
        let mut data = Vec::new();
        let source = match command.op {
            HostOp::Flush => return data,
            HostOp::Read => {
                self.split(range.start);
                self.split(range.end);
                let within = self.stretches.range(range);
                let sources = |s: &Stretch| s.values.iter().map(|v| v.source).collect();
                let parts = within.map(|(&start, s)| (start..s.end, sources(s))).collect();
                self.reads.insert(index, Read { parts, later: Vec::new() });
                return data;
            }
            HostOp::Trim => Source::Zeros,
            HostOp::Write => {
                if !range.is_empty() {
                    data.resize(command.bytes as usize, 0);
                    written(index, command.offset, &mut data);
                }
                Source::Written(index)
            }
        };
        self.split(range.start);
        self.split(range.end);
        let value = Value { source, index, begun: self.events, ended: u64::MAX };
        for (_, s) in self.stretches.range_mut(range.clone()) {
            s.values.push(value);
        }
        for read in self.reads.values_mut() {
            read.later.push((range.clone(), source));
        }
        data
    }

    /// Note that a command ended without success. A write or TRIM may have taken effect in part.
    pub fn failed(&mut self, index: u64) {
        self.events += 1;
        self.reads.remove(&index);
    }

    /// Note that a command ended, and check the `data` of a read.
    pub fn ended(&mut self, index: u64, command: &Command, data: &[u8]) -> Result<(), String> {
        self.events += 1;
        let range = self.range(command);
        match command.op {
            HostOp::Flush => {}
            HostOp::Read => {
                let read = self.reads.remove(&index).ok_or("a read ended that was not submitted")?;
                let len = range.end - range.start;
                if data.len() as u64 != len {
                    return Err(format!("read {index} of {len} bytes returned {}", data.len()));
                }
                read.check(range.start, self.unit_bytes, data)
                    .map_err(|e| format!("read {index} ({command:?}) {e}"))?;
            }
            HostOp::Write | HostOp::Trim => {
                for (_, s) in self.stretches.range_mut(range) {
                    // If the value is missing, a command that overwrote it has already ended.
                    let Some(own) = s.values.iter_mut().find(|v| v.index == index && v.begun > 0) else {
                        continue;
                    };
                    own.ended = self.events;
                    if self.trims_may_be_kept && command.op == HostOp::Trim {
                        continue;
                    }
                    let own = *own;
                    let in_order = !self.writes_may_pass;
                    s.values.retain(|v| v.index == own.index && v.begun > 0 || !v.is_under(&own, in_order));
                }
            }
        }
        Ok(())
    }
}

/// The bytes of a source in `range`.
fn bytes_of(source: Source, range: Range<u64>, unit_bytes: u64) -> Vec<u8> {
    let mut out = vec![0; (range.end - range.start) as usize];
    match source {
        Source::Zeros => {}
        Source::Written(index) => written(index, range.start, &mut out),
        Source::Filled => {
            let mut at = range.start;
            while at < range.end {
                let end = range.end.min((at / unit_bytes + 1) * unit_bytes);
                let part = &mut out[(at - range.start) as usize..(end - range.start) as usize];
                filled_bytes(Lpn((at / unit_bytes) as u32), (at % unit_bytes) as usize, part);
                at = end;
            }
        }
    }
    out
}

impl Read {
    fn check(&self, first: u64, unit_bytes: u64, data: &[u8]) -> Result<(), String> {
        for (range, sources) in &self.parts {
            let got = &data[(range.start - first) as usize..(range.end - first) as usize];
            let mut open: Vec<u64> = range.clone().collect();
            let all = sources.iter().map(|&s| (range.clone(), s));
            for (of, source) in all.chain(self.later.iter().cloned()) {
                let both = of.start.max(range.start)..of.end.min(range.end);
                if both.is_empty() || open.is_empty() {
                    continue;
                }
                let should = bytes_of(source, both.clone(), unit_bytes);
                if both == *range && should == got {
                    open.clear();
                }
                let is = |at: &u64| got[(at - range.start) as usize] == should[(at - both.start) as usize];
                open.retain(|at| !(both.contains(at) && is(at)));
            }
            if let Some(&at) = open.first() {
                let many = open.len();
                let is =
                    &got[(at - range.start) as usize..][..8.min(got.len() - (at - range.start) as usize)];
                return Err(format!(
                    "has {many} wrong bytes from {at} on ({is:x?}); {range:?} may be {sources:?} or {:?}",
                    self.later
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(op: HostOp, offset: u64, bytes: u32) -> Command {
        Command::new(op, offset, bytes)
    }

    #[test]
    fn a_read_sees_what_ended_before_it_or_was_under_way() {
        let mut b = Bytes::new(8192, 1024, 2048);
        let write = command(HostOp::Write, 100, 3000);
        let read = command(HostOp::Read, 0, 4096);
        let mut old = bytes_of(Source::Filled, 0..2048, 1024);
        old.resize(4096, 0);
        let mut new = old.clone();
        new[100..3100].copy_from_slice(&bytes_of(Source::Written(0), 100..3100, 1024));
        let see = |b: &mut Bytes, index, data: &[u8]| {
            b.submit(index, &read);
            b.ended(index, &read, data)
        };
        b.submit(0, &write);
        see(&mut b, 1, &old).unwrap();
        see(&mut b, 2, &new).unwrap();
        b.submit(3, &read);
        b.ended(0, &write, &[]).unwrap();
        b.ended(3, &read, &old).unwrap();
        see(&mut b, 4, &old).unwrap_err();
        see(&mut b, 5, &new).unwrap();
        let trim = command(HostOp::Trim, 1, 3000);
        b.submit(6, &trim);
        see(&mut b, 7, &new).unwrap();
        b.ended(6, &trim, &[]).unwrap();
        see(&mut b, 8, &new).unwrap_err();
        new[1024..2048].fill(0);
        see(&mut b, 9, &new).unwrap();
    }

    #[test]
    fn writes_take_effect_in_order_whatever_ends_first() {
        let mut b = Bytes::new(1024, 512, 0);
        let write = command(HostOp::Write, 0, 512);
        let read = command(HostOp::Read, 0, 512);
        b.submit(0, &write);
        b.submit(1, &write);
        b.ended(1, &write, &[]).unwrap();
        b.ended(0, &write, &[]).unwrap();
        b.submit(2, &read);
        b.ended(2, &read, &bytes_of(Source::Written(0), 0..512, 512)).unwrap_err();
        b.submit(3, &read);
        b.ended(3, &read, &bytes_of(Source::Written(1), 0..512, 512)).unwrap();
    }

    #[test]
    fn either_of_two_writes_may_be_last_if_they_may_pass_each_other() {
        let mut b = Bytes::new(1024, 512, 0);
        b.writes_may_pass = true;
        let write = command(HostOp::Write, 0, 512);
        let read = command(HostOp::Read, 0, 512);
        b.submit(0, &write);
        b.submit(1, &write);
        b.ended(1, &write, &[]).unwrap();
        b.ended(0, &write, &[]).unwrap();
        for index in [0, 1] {
            b.submit(2 + index, &read);
            b.ended(2 + index, &read, &bytes_of(Source::Written(index), 0..512, 512)).unwrap();
        }
        // A write that was submitted after both had ended is on top of both.
        b.submit(4, &write);
        b.ended(4, &write, &[]).unwrap();
        b.submit(5, &read);
        b.ended(5, &read, &bytes_of(Source::Written(1), 0..512, 512)).unwrap_err();
    }
}
