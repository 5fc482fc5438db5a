//! The list of all formats, in the order in which they are tried.

use super::{
    Format, alicloud, blkparse, blktrace, compact, disksim, fiu, heimdall, iolog, msr, oracle, spc, ssdsim,
    systor, tencent, vscsi,
};

/// Every format: the list used by detection, `--format` and the documentation. If two
/// formats claim the same lines, the earlier wins, which is the more specific one.
pub static FORMATS: &[&Format] = &[
    &compact::FORMAT,
    &iolog::FORMAT,
    &blktrace::FORMAT,
    &blkparse::FORMAT,
    &msr::FORMAT,
    &systor::FORMAT,
    &alicloud::FORMAT,
    &spc::FORMAT,
    &tencent::FORMAT,
    &fiu::FORMAT,
    &heimdall::FORMAT,
    &disksim::FORMAT,
    &ssdsim::FORMAT,
    &vscsi::FORMAT,
    &oracle::FORMAT,
];
