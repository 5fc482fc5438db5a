//! `tailcut show rain-bound`: Appendix A of FAST'17 for any drive.

use crate::args::RainBoundArgs;
use crate::error::CliError;
use crate::terminal::{print, print_json};
use serde::Serialize;
use std::fmt::Write;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::policy::redundancy::RedundancyConfig;
use tailcut_report::text::wrapped;
use tailcut_sim::rotation_bound::{self as bound, PlaneLoad, RotationBound};
use tailcut_units::quantity::{human_bytes, human_rate, human_time};

/// The steps of the calculation, with their inputs.
#[derive(Serialize)]
struct Bound {
    planes: u32,
    plane_bytes: u64,
    user_write_ns: u64,
    copyback_ns: u64,
    erase_ns: u64,
    /// Absent at the full write rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    drive_writes_per_day: Option<f64>,
    day_ns: u64,
    load: PlaneLoad,
    bound: RotationBound,
    /// The stripe width of the scheme, if it has stripes.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    most_written_bytes_per_s: f64,
    /// For the stripe width of the scheme, or else for the widest stripe that the bound and the channels allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_buffer_bytes: Option<f64>,
}

/// Compute the bound and print it.
pub fn rain_bound(args: &RainBoundArgs) -> Result<(), CliError> {
    let resolved = args.layers.resolve(&args.device, &args.scheme)?;
    let bound = work_out(&resolved.config, args);
    if args.json {
        return print_json(&bound);
    }
    print(&wrapped(&text(&bound, args, &resolved.config), 41))
}

fn work_out(c: &DeviceConfig, args: &RainBoundArgs) -> Bound {
    let plane_bytes = bound::plane_bytes(c);
    let write_bytes_per_s = match args.dwpd {
        Some(n) => bound::at_drive_writes(plane_bytes, n, args.day),
        None => bound::full_speed(c),
    };
    let load = PlaneLoad {
        page_bytes: c.geometry.page,
        block_pages: c.geometry.pages,
        write_bytes_per_s,
        valid: args.valid,
        copyback_s: bound::copyback(c).0 as f64 / 1e9,
        erase_s: if args.erase { bound::erase(c).0 as f64 / 1e9 } else { 0.0 },
    };
    let result = load.bound();
    let width = match &c.policy.redundancy {
        RedundancyConfig::Rain(rain) => Some(rain.width),
        RedundancyConfig::None(_) => None,
    };
    let most_written = bound::most_written(c);
    let buffered_for = width.or(result.widest.map(|n| n.min(c.geometry.channels)));
    Bound {
        planes: bound::planes(c),
        plane_bytes,
        user_write_ns: bound::user_write(c).0,
        copyback_ns: bound::copyback(c).0,
        erase_ns: bound::erase(c).0,
        drive_writes_per_day: args.dwpd,
        day_ns: args.day.0,
        load,
        bound: result,
        width,
        most_written_bytes_per_s: most_written,
        least_buffer_bytes: buffered_for.map(|n| bound::least_buffer(most_written, n)),
    }
}

fn text(b: &Bound, args: &RainBoundArgs, c: &DeviceConfig) -> String {
    let time = |ns: u64| human_time(tailcut_units::Span(ns));
    let bytes = |n: f64| human_bytes(n as u64);
    let rate = |n: f64| human_rate(n as u64);
    let mut out = String::new();
    let mut line = |name: &str, value: String, how: String| {
        let _ = writeln!(out, "{name:<26}{value:>12}   {how}");
    };
    line("page and register", human_bytes(b.load.page_bytes), String::new());
    line("plane", human_bytes(b.plane_bytes), format!("of {}", b.planes));
    line("user write", time(b.user_write_ns), "transfer + program".into());
    line("copyback", time(b.copyback_ns), "read + program".into());
    let counted = if args.erase { "counted" } else { "not counted, as in the paper (--erase)" };
    line("erase", time(b.erase_ns), counted.into());
    line("valid when collected", format!("{} %", round(100.0 * b.load.valid)), "--valid".into());
    let how = match b.drive_writes_per_day {
        Some(n) => format!("plane x {} / {}, --dwpd and --day", round(n), time(b.day_ns)),
        None => "full speed: register / user write".to_string(),
    };
    line("written to a plane", rate(b.load.write_bytes_per_s), how);
    line("pages written", format!("{}/s", round(b.bound.pages_per_s)), "written / page".into());
    line("pages moved", format!("{}/s", round(b.bound.copybacks_per_s)), "pages written x valid".into());
    if args.erase {
        let how = format!("pages written / {} pages of a block", b.load.block_pages);
        line("erases", format!("{}/s", round(b.bound.erases_per_s)), how);
    }
    let ms = b.bound.collection_s_per_s * 1e3;
    let how = if args.erase { "pages moved x copyback + erases x erase" } else { "pages moved x copyback" };
    line("collection", format!("{} ms/s", round(ms)), how.into());
    line("stripe width N below", round(b.bound.width_below), "1 / collection".into());
    let largest = |n: Option<u32>| n.map_or("none".to_string(), |n| n.to_string());
    let holds = |below: f64| match b.width {
        Some(n) if f64::from(n) < below => format!("the scheme's {n}: rotation always holds"),
        Some(n) => format!("the scheme's {n}: rotation does not always hold"),
        None => "largest for which rotation always holds".to_string(),
    };
    line("largest N", largest(b.bound.widest), holds(b.bound.width_below));
    let lasting = b.bound.lasting_width_below;
    line("in the long run below", round(lasting), "x (1 - valid): moved pages are collected again".into());
    line("largest N", largest(b.bound.lasting_widest), holds(lasting));
    line(
        "written to the drive",
        rate(b.most_written_bytes_per_s),
        format!("at most: planes, {} channels, host link", c.geometry.channels),
    );
    let least = b.least_buffer_bytes.map_or("none".to_string(), bytes);
    let of = match b.width {
        Some(n) => format!("1/{n} of that: capacitor-backed, N of the scheme"),
        None => "1/N of that: capacitor-backed, N at most the channels".to_string(),
    };
    line("smallest buffer", least, of);
    out
}

/// Format with three significant digits.
fn round(v: f64) -> String {
    if !v.is_finite() {
        return "unbounded".to_string();
    }
    let decimals = if v >= 100.0 || v == v.trunc() {
        0
    } else if v >= 10.0 {
        1
    } else {
        2
    };
    format!("{v:.decimals$}")
}
