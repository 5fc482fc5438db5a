//! One file per format: its layout, its parser and how it is recognised. `list` names all of them in order; `ascii`
//! has what three of them share.

use super::decode::{Decoder, Setup};

pub(crate) mod alicloud;
pub(crate) mod ascii;
pub(crate) mod blkparse;
pub(crate) mod blktrace;
pub(crate) mod columns;
pub(crate) mod compact;
pub(crate) mod disksim;
pub(crate) mod fiu;
pub(crate) mod heimdall;
pub(crate) mod iolog;
pub(crate) mod list;
pub(crate) mod msr;
pub(crate) mod oracle;
pub(crate) mod spc;
pub(crate) mod ssdsim;
pub(crate) mod systor;
pub(crate) mod tencent;
pub(crate) mod vscsi;

/// How a format is recognised.
pub(crate) enum Looks {
    /// By the first bytes: a magic number, or plausible binary records.
    Bytes(fn(&[u8]) -> bool),
    /// By lines: whether a line has the format's shape.
    Line(fn(&[u8]) -> bool),
}

/// A trace format: its description, how it is recognised and how it is read.
pub struct Format {
    /// The name in options and output.
    pub name: &'static str,
    /// Other names that an option may use.
    pub aliases: &'static [&'static str],
    /// The title, in one line.
    pub title: &'static str,
    /// The layout of a line or record, with units.
    pub layout: &'static str,
    pub(crate) looks: Looks,
    pub(crate) open: fn(&mut Setup<'_>) -> Box<dyn Decoder>,
}
