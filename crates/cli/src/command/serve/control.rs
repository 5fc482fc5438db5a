//! Answers the requests to the control socket.

use super::monitor::Monitor;
use crate::args::serve::ServeArgs;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use tailcut_core::intervention::{Intervention, InterventionError};
use tailcut_live::{Answer, Asked, IntervenedError, Method, Server};
use tailcut_units::HostOp;
use tailcut_workload::log::MEASURE;

/// The live page.
const PAGE: &str = include_str!("page.html");
/// The paths with their methods.
const PATHS: [(Method, &str); 8] = [
    (Method::Get, "/"),
    (Method::Get, "/summary.json"),
    (Method::Get, "/live.json"),
    (Method::Get, "/metrics"),
    (Method::Post, "/fault"),
    (Method::Post, "/measure"),
    (Method::Post, "/set"),
    (Method::Post, "/stop"),
];

pub fn answer(asked: Asked, args: &ServeArgs, monitor: &Monitor, server: &mut Server, stopped: &AtomicBool) {
    let answer = match (asked.method, asked.path.as_str()) {
        (Method::Get, "/") => Answer::ok("text/html; charset=utf-8", PAGE),
        (Method::Get, "/summary.json") => {
            Answer::ok("application/json", monitor.summary(args, server).to_json())
        }
        (Method::Get, "/live.json") => Answer::ok("application/json", live_json(monitor, server)),
        (Method::Get, "/metrics") => Answer::ok("text/plain; version=0.0.4", metrics(args, monitor, server)),
        (Method::Post, "/fault") => intervene(server, Intervention::fault(&asked.body)),
        (Method::Post, "/measure") => {
            let now = server.measure(MEASURE);
            monitor.measure_from(now);
            done(now.0, MEASURE)
        }
        (Method::Post, "/set") => set(server, &asked.body),
        (Method::Post, "/stop") => {
            stopped.store(true, Ordering::Relaxed);
            return asked.answer_last(Answer::ok("text/plain; charset=utf-8", "stops\n"));
        }
        (_, path) => not_found(path),
    };
    asked.answer(answer);
}

fn not_found(path: &str) -> Answer {
    let named = |method: Method| {
        let of = PATHS.iter().filter(|(by, _)| *by == method).map(|(_, path)| *path);
        of.collect::<Vec<_>>().join(", ")
    };
    match PATHS.iter().find(|(_, known)| *known == path) {
        Some((Method::Get, _)) => Answer::failed(405, &format!("{path} is asked by GET")),
        Some((Method::Post, _)) => Answer::failed(405, &format!("{path} is asked by POST")),
        None => Answer::failed(
            404,
            &format!("there are GET {}; and POST {}", named(Method::Get), named(Method::Post)),
        ),
    }
}

/// Change the value of a key, or the speed of the model's time.
fn set(server: &mut Server, text: &str) -> Answer {
    let Some(speed) = text.strip_prefix("speed=") else {
        return match Intervention::change(text) {
            Err(e @ InterventionError::Key(_)) => Answer::failed(400, &format!("{e}, speed")),
            what => intervene(server, what),
        };
    };
    match crate::args::speed(speed) {
        Ok(speed) => done(server.change_speed(speed).0, &format!("speed {speed}")),
        Err(e) => Answer::failed(400, &format!("speed: {e}")),
    }
}

fn intervene(server: &mut Server, what: Result<Intervention, InterventionError>) -> Answer {
    let tried = what.map_err(IntervenedError::from).and_then(|what| Ok((server.intervene(&what)?, what)));
    let (status, error) = match tried {
        Ok((at, what)) => return done(at.0, &what.to_string()),
        Err(e @ IntervenedError::Refused(InterventionError::Text(_) | InterventionError::Key(_))) => (400, e),
        Err(e @ IntervenedError::Refused(_)) => (409, e),
        Err(e @ IntervenedError::Store(_)) => (500, e),
    };
    Answer::failed(status, &error.to_string())
}

fn done(at_ns: u64, what: &str) -> Answer {
    Answer::ok("application/json", serde_json::json!({ "at_ns": at_ns, "done": what }).to_string())
}

/// The figures that the summary does not have: the clients, and the lateness of answers in ns.
fn live_json(monitor: &Monitor, server: &Server) -> String {
    let (served, late) = (server.served(), server.lateness());
    let at = |percent| late.percentile(percent);
    serde_json::json!({
        "connections": served.connections,
        "broken_connections": served.broken,
        "requests": served.requests,
        "failed_requests": served.failed,
        "outstanding": server.engine().outstanding(),
        "seconds": server.seconds(),
        "speed": server.speed(),
        "done": monitor.done().iter().map(|(at, what)| serde_json::json!({ "at_ns": at.0, "done": what })).collect::<Vec<_>>(),
        "lateness_ns": {
            "p50": at(50.0), "p99": at(99.0), "p99.9": at(99.9), "max": late.max(),
            "histogram": late.histogram().iter().map(|(le, count)| serde_json::json!({ "le": le, "count": count })).collect::<Vec<_>>(),
        },
    })
    .to_string()
}

/// A percentile as a fraction, for a label.
fn share(percent: f64) -> String {
    let share = format!("{:.8}", percent / 100.0);
    share.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The metrics, in the text format of Prometheus.
fn metrics(args: &ServeArgs, monitor: &Monitor, server: &Server) -> String {
    let summary = monitor.summary(args, server);
    let scheme = &summary.schemes[0];
    let mut out = String::new();
    let mut family = |name: &str, kind: &str, help: &str, values: Vec<(String, f64)>| {
        let _ = writeln!(out, "# HELP tailcut_{name} {help}\n# TYPE tailcut_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(out, "tailcut_{name}{labels} {value}");
        }
    };
    let ops = || HostOp::ALL.into_iter().map(|op| (op.name(), scheme.side(op)));
    let by_op = |value: &dyn Fn(&tailcut_report::summary::OpSummary) -> f64| {
        ops().map(|(op, side)| (format!("{{op=\"{op}\"}}"), value(side))).collect::<Vec<_>>()
    };
    family(
        "requests_total",
        "counter",
        "Commands that the drive has completed.",
        by_op(&|s| s.total_ios as f64),
    );
    let mut latency = Vec::new();
    for (op, side) in ops().filter(|(_, side)| side.total_ios > 0) {
        for (percent, ns) in side.lat_ns.percentile.iter() {
            let share = share(percent.parse().unwrap_or(0.0));
            latency.push((format!("{{op=\"{op}\",quantile=\"{share}\"}}"), *ns as f64 / 1e9));
        }
    }
    family(
        "latency_seconds",
        "gauge",
        "Latency of the drive's commands since the start, by quantile.",
        latency,
    );
    let programs =
        scheme.programs.iter().map(|(class, n)| (format!("{{class=\"{class}\"}}"), *n as f64)).collect();
    family("programmed_units_total", "counter", "Mapping units programmed.", programs);
    let plain = |value: f64| vec![(String::new(), value)];
    family("erased_blocks_total", "counter", "Blocks erased.", plain(scheme.erases.unwrap_or(0) as f64));
    let levels = server.engine().drive().gauges();
    family("free_extents", "gauge", "Extents that are free.", plain(levels.free_extents as f64));
    family("buffer_fill", "gauge", "Filled share of the write buffer.", plain(levels.buffer_fill));
    family("outstanding", "gauge", "Requests under way.", plain(server.engine().outstanding() as f64));
    let mut blame = Vec::new();
    for (op, level) in ops().flat_map(|(op, side)| side.blame.iter().map(move |level| (op, level))) {
        let above = share(level.above);
        for (cause, ns) in level.causes.iter() {
            let labels = format!("{{op=\"{op}\",above=\"{above}\",cause=\"{cause}\"}}");
            blame.push((labels, ns / 1e9));
        }
    }
    family(
        "blame_seconds",
        "gauge",
        "Mean time by cause of the commands whose latency is above a quantile; 0 stands for all commands.",
        blame,
    );
    let late = server.lateness();
    let bucket = |le: &str, count: u64| (format!("_bucket{{le=\"{le}\"}}"), count as f64);
    let mut histogram: Vec<(String, f64)> =
        late.histogram().iter().map(|(ns, count)| bucket(&(*ns as f64 / 1e9).to_string(), *count)).collect();
    histogram.push(bucket("+Inf", late.completions()));
    histogram.push(("_sum".to_string(), late.mean() * late.completions() as f64 / 1e9));
    histogram.push(("_count".to_string(), late.completions() as f64));
    family("lateness_seconds", "histogram", "How late answers were by the clock.", histogram);
    out
}
