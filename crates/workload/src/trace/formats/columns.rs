//! Any text of columns, described by the user.
//!
//! [`Columns`] says which column, counted from 1, holds which field, and in which unit. A first line
//! whose time is no number is a header.

use super::{Format, Looks};
use crate::trace::decode::{Decoder, Ending, LineParser, Lines, Outcome, Parsed, Setup};
use crate::trace::error::{Reason, TraceError, bad};
use crate::trace::fields::{bad_value, number, number32, time, trim};
use crate::trace::names::Names;
use crate::trace::options::TimeUnit;
use crate::trace::record::{Raw, too_large};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tailcut_units::HostOp;

const LAYOUT: &str = "the columns that --columns names";

/// The format of a trace whose columns the user describes. It is never detected.
pub(crate) static FORMAT: Format = Format {
    name: "columns",
    aliases: &[],
    title: "Any text of columns, by --columns",
    layout: LAYOUT,
    looks: Looks::Line(|_| false),
    open: |_| unreachable!("the reader opens it with its columns"),
};

/// The columns of a text, counted from 1, with their units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Columns {
    time: (usize, TimeUnit),
    op: Operation,
    offset: (usize, Size),
    size: (usize, Size),
    /// The column, and whether it holds names instead of numbers.
    volume: Option<(usize, bool)>,
    delimiter: Delimiter,
}

/// What separates columns: a character, or `None` for runs of blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(Option<char>);

impl FromStr for Delimiter {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Delimiter, TraceError> {
        let known =
            |entry: &&(&str, Option<char>)| entry.0 == text || entry.1.is_some_and(|c| text == c.to_string());
        let named = DELIMITERS.iter().find(known).map(|(_, delimiter)| *delimiter);
        let blank = matches!(text, " " | "blank").then_some(None);
        named.or(blank).map(Delimiter).ok_or_else(|| {
            bad("delimiter", text, "comma, semicolon, tab, pipe, colon or blanks, or one of these characters")
        })
    }
}

/// How an operation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// All requests are the same.
    Always(HostOp),
    /// Words or letters such as `R`, `write` or `discard`.
    Words(usize),
    /// 1 is a read and 0 a write.
    OneReads(usize),
    /// 0 is a read and 1 a write.
    ZeroReads(usize),
}

/// The unit of an address or a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Bytes,
    Sectors,
    Pages,
}

impl Size {
    const ALL: [(&'static str, Size, u64); 3] =
        [("bytes", Size::Bytes, 1), ("sectors", Size::Sectors, 512), ("pages", Size::Pages, 4096)];

    fn entry(self) -> (&'static str, Size, u64) {
        Size::ALL.into_iter().find(|(_, unit, _)| *unit == self).unwrap_or(Size::ALL[0])
    }
}

const DELIMITERS: [(&str, Option<char>); 6] = [
    ("comma", Some(',')),
    ("semicolon", Some(';')),
    ("tab", Some('\t')),
    ("pipe", Some('|')),
    ("colon", Some(':')),
    ("blanks", None),
];

const ALLOWED: &str = "time=N:UNIT (ns, 100ns, us, ms or s), offset=N[:bytes|sectors|pages], size=N[:bytes|sectors|pages], \
                       op=N (words), op=N:read1, op=N:read0, op=read or op=write, and if wanted volume=N[:name] and \
                       delimiter=comma, semicolon, tab, pipe, colon or blanks; columns count from 1";

impl FromStr for Columns {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Columns, TraceError> {
        let (mut at, mut op, mut offset, mut size, mut volume) = (None, None, None, None, None);
        let mut delimiter = Delimiter(Some(','));
        for piece in text.split([',', '\n']).map(str::trim).filter(|p| !p.is_empty() && !p.starts_with('#')) {
            let fail = || bad("columns", piece, ALLOWED);
            let (key, value) = piece.split_once('=').ok_or_else(fail)?;
            let (column, unit) = value.trim().split_once(':').unwrap_or((value.trim(), ""));
            let column = || column.parse().ok().filter(|n| (1..=1000).contains(n)).ok_or_else(fail);
            let length = || match unit {
                "" => Ok(Size::Bytes),
                _ => Size::ALL
                    .iter()
                    .find(|(name, ..)| *name == unit)
                    .map(|(_, unit, _)| *unit)
                    .ok_or_else(fail),
            };
            let again = match key.trim() {
                "time" => at.replace((column()?, unit.parse().map_err(|_| fail())?)).is_some(),
                "offset" => offset.replace((column()?, length()?)).is_some(),
                "size" => size.replace((column()?, length()?)).is_some(),
                "op" => op
                    .replace(match (value.trim(), unit) {
                        ("read", _) => Operation::Always(HostOp::Read),
                        ("write", _) => Operation::Always(HostOp::Write),
                        (_, "") => Operation::Words(column()?),
                        (_, "read1") => Operation::OneReads(column()?),
                        (_, "read0") => Operation::ZeroReads(column()?),
                        _ => return Err(fail()),
                    })
                    .is_some(),
                "volume" if matches!(unit, "" | "name") => {
                    volume.replace((column()?, unit == "name")).is_some()
                }
                "delimiter" => {
                    delimiter = value.trim().parse().map_err(|_| fail())?;
                    false
                }
                _ => return Err(fail()),
            };
            if again {
                return Err(bad("columns", piece, "each field once"));
            }
        }
        let missing = |what| bad("columns", text, what);
        Ok(Columns {
            time: at.ok_or_else(|| missing("a description with time=N:UNIT"))?,
            op: op.ok_or_else(|| {
                missing("a description with op=N, op=N:read1, op=N:read0, op=read or op=write")
            })?,
            offset: offset.ok_or_else(|| missing("a description with offset=N[:UNIT]"))?,
            size: size.ok_or_else(|| missing("a description with size=N[:UNIT]"))?,
            volume,
            delimiter,
        })
    }
}

impl Columns {
    /// The same columns with another delimiter.
    pub fn delimited(self, delimiter: Delimiter) -> Columns {
        Columns { delimiter, ..self }
    }

    pub(crate) fn open(&self, setup: &mut Setup<'_>) -> Box<dyn Decoder> {
        let unit = setup.unit(self.time.1);
        let volumes = Names::new("volume", 65_536, "one of at most 65536 different names");
        Box::new(Lines::new(Parser { columns: self.clone(), unit, volumes }))
    }

    /// The numbers of the columns: time, operation, offset, size and volume; 0 for none.
    fn numbers(&self) -> [usize; 5] {
        let op = match self.op {
            Operation::Always(_) => 0,
            Operation::Words(n) | Operation::OneReads(n) | Operation::ZeroReads(n) => n,
        };
        [self.time.0, op, self.offset.0, self.size.0, self.volume.map_or(0, |v| v.0)]
    }
}

impl fmt::Display for Columns {
    /// The text from which the columns can be read again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "time={}:{},", self.time.0, self.time.1.name())?;
        match self.op {
            Operation::Always(HostOp::Read) => write!(f, "op=read")?,
            Operation::Always(_) => write!(f, "op=write")?,
            Operation::Words(n) => write!(f, "op={n}")?,
            Operation::OneReads(n) => write!(f, "op={n}:read1")?,
            Operation::ZeroReads(n) => write!(f, "op={n}:read0")?,
        }
        write!(f, ",offset={}:{}", self.offset.0, self.offset.1.entry().0)?;
        write!(f, ",size={}:{}", self.size.0, self.size.1.entry().0)?;
        if let Some((n, named)) = self.volume {
            write!(f, ",volume={n}{}", if named { ":name" } else { "" })?;
        }
        let name = DELIMITERS.iter().find(|(_, c)| *c == self.delimiter.0).map_or("comma", |(name, _)| *name);
        write!(f, ",delimiter={name}")
    }
}

impl TryFrom<String> for Columns {
    type Error = TraceError;
    fn try_from(text: String) -> Result<Columns, TraceError> {
        text.parse()
    }
}

impl From<Columns> for String {
    fn from(columns: Columns) -> String {
        columns.to_string()
    }
}

struct Parser {
    columns: Columns,
    unit: u64,
    volumes: Names,
}

/// A field without blanks and quotation marks around it.
fn bare(field: &[u8]) -> &[u8] {
    let field = trim(field);
    field.strip_prefix(b"\"").and_then(|f| f.strip_suffix(b"\"")).unwrap_or(field)
}

/// The fields of the columns with these numbers; empty where a line has no such column.
fn pick<'a>(line: &'a [u8], delimiter: Option<char>, numbers: &[usize; 5]) -> [&'a [u8]; 5] {
    let mut found = [&[][..]; 5];
    let mut take = |n: usize, field: &'a [u8]| {
        found.iter_mut().zip(numbers).filter(|(_, number)| **number == n).for_each(|(f, _)| *f = bare(field));
    };
    match delimiter {
        Some(delimiter) => {
            line.split(|b| *b == delimiter as u8).zip(1..).for_each(|(field, n)| take(n, field))
        }
        None => line
            .split(|b| matches!(b, b' ' | b'\t'))
            .filter(|f| !f.is_empty())
            .zip(1..)
            .for_each(|(field, n)| take(n, field)),
    }
    found
}

/// An operation by its word or first letter.
fn by_word(field: &[u8]) -> Option<HostOp> {
    let word = field.to_ascii_lowercase();
    Some(match &word[..] {
        b"r" | b"rd" | b"read" | b"rs" | b"randread" => HostOp::Read,
        b"w" | b"wr" | b"write" | b"ws" | b"randwrite" => HostOp::Write,
        b"d" | b"t" | b"trim" | b"discard" | b"unmap" => HostOp::Trim,
        b"f" | b"flush" | b"sync" | b"fsync" => HostOp::Flush,
        _ => return None,
    })
}

impl LineParser for Parser {
    fn is_header(&self, line: &[u8]) -> bool {
        let [at, ..] = pick(line, self.columns.delimiter.0, &self.columns.numbers());
        !at.is_empty() && time("time", at, 1).is_err()
    }

    fn parse(&mut self, line: &[u8]) -> Outcome {
        let numbers = self.columns.numbers();
        let [at, op, offset, size, volume] = pick(line, self.columns.delimiter.0, &numbers);
        let there = |field: &[u8], name| match field {
            [] => Err(Box::new(Reason::Missing { name, layout: LAYOUT })),
            _ => Ok(()),
        };
        there(at, "time")?;
        let time = time("time", at, self.unit)?;
        let op = match self.columns.op {
            Operation::Always(op) => op,
            Operation::Words(_) => {
                there(op, "op")?;
                let allowed =
                    "a word such as R, write, trim or flush; for numbers give op=N:read1 or op=N:read0";
                by_word(op).ok_or_else(|| bad_value("op", op, allowed))?
            }
            Operation::OneReads(_) | Operation::ZeroReads(_) => {
                there(op, "op")?;
                let one = match op {
                    b"1" => true,
                    b"0" => false,
                    _ => return Err(bad_value("op", op, "0 or 1")),
                };
                let reads = one == matches!(self.columns.op, Operation::OneReads(_));
                if reads { HostOp::Read } else { HostOp::Write }
            }
        };
        let device = match self.columns.volume {
            None => 0,
            Some((_, named)) => {
                there(volume, "volume")?;
                if named { self.volumes.number(volume)? } else { number32("volume", volume)? }
            }
        };
        if op == HostOp::Flush {
            return Ok(Parsed::Request(Raw { time, device, offset: 0, bytes: 0, op }));
        }
        let length = |name, field, unit: Size| {
            there(field, name)?;
            let (count, scale) = (number(name, field)?, unit.entry().2);
            count.checked_mul(scale).ok_or_else(|| too_large(name, count, u64::MAX / scale))
        };
        let offset = length("offset", offset, self.columns.offset.1)?;
        let bytes = length("size", size, self.columns.size.1)?;
        Ok(Parsed::Request(Raw { time, device, offset, bytes, op }))
    }

    fn ending(&self, _: &[u8]) -> Ending {
        Ending::Open("the last column")
    }
}
