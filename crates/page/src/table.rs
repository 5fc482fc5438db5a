//! Tables for spreadsheets (CSV) and papers (LaTeX).

use crate::data::named;
use crate::output::MARK;
use crate::rows::{PERCENTILES, title};
use crate::run::Run;
use tailcut_report::doubts::reasons;
use tailcut_report::summary::Scheme;
use tailcut_report::tables::{overloads, plural};
use tailcut_report::text::{duration, rate};
use tailcut_stats::percentile;
use tailcut_units::HostOp;

/// How tables for spreadsheets begin.
pub const HEADERS: [&str; 2] = ["run,scheme,kind,requests,iops,", "run,scheme,kind,above,requests,"];

/// What a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Rates, latencies and write amplification by scheme and kind of request.
    Results,
    /// Mean time by cause, by scheme, kind of request and percentile.
    Blame,
}

/// All schemes with requests of a kind.
fn sides(runs: &[Run]) -> impl Iterator<Item = (String, &Run, &Scheme, HostOp)> {
    named(runs).flat_map(|(name, run, i)| {
        let scheme = &run.summary.schemes[i];
        let kinds = HostOp::ALL.into_iter().filter(|op| scheme.side(*op).total_ios > 0);
        kinds.map(move |op| (name.clone(), run, scheme, op))
    })
}

/// The table as CSV with a header (RFC 4180). Times are in ns, rates a second. What does not exist is empty.
pub fn csv(runs: &[Run], table: Table) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let mut row = |cells: Vec<String>| {
        out.write_record(&cells).expect("memory takes all, and rows are as long as the first")
    };
    match table {
        Table::Results => {
            let mut head: Vec<String> =
                ["run", "scheme", "kind", "requests", "iops", "bytes_per_second", "waf"]
                    .into_iter()
                    .chain(["min_ns", "mean_ns", "mean_low_ns", "mean_high_ns", "max_ns"])
                    .map(String::from)
                    .collect();
            for p in percentile::LEVELS {
                head.extend(["", "_low", "_high"].map(|end| format!("p{p}{end}_ns")));
            }
            head.push("doubts".to_string());
            row(head);
            sides(runs).for_each(|(_, run, scheme, op)| row(results(run, scheme, op)));
        }
        Table::Blame => {
            let head = [
                "run",
                "scheme",
                "kind",
                "above",
                "requests",
                "threshold_ns",
                "mean_ns",
                "cause",
                "cause_ns",
            ];
            row(head.map(String::from).to_vec());
            for (_, run, scheme, op) in sides(runs) {
                for blame in &scheme.side(op).blame {
                    for (cause, ns) in blame.causes.iter() {
                        let first = [&run.label, &scheme.name, op.name()].map(String::from);
                        let numbers = [blame.above.to_string(), blame.requests.to_string()];
                        let times = [blame.threshold_ns.to_string(), blame.mean_ns.to_string()];
                        let last = [cause.clone(), ns.to_string()];
                        row([&first[..], &numbers, &times, &last].concat());
                    }
                }
            }
        }
    }
    let bytes = out.into_inner().expect("memory takes all");
    String::from_utf8(bytes).expect("the cells are UTF-8")
}

fn results(run: &Run, scheme: &Scheme, op: HostOp) -> Vec<String> {
    let side = scheme.side(op);
    let lat = &side.lat_ns;
    let known = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let mut cells = vec![
        run.label.clone(),
        scheme.name.clone(),
        op.name().to_string(),
        side.total_ios.to_string(),
        side.iops.to_string(),
        side.bw_bytes.to_string(),
        known(scheme.waf),
        lat.min.to_string(),
        lat.mean.to_string(),
        known(lat.mean_ci95.map(|[low, _]| low)),
        known(lat.mean_ci95.map(|[_, high]| high)),
        lat.max.to_string(),
    ];
    for p in percentile::LEVELS {
        let key = percentile::key(p);
        let whole = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
        let interval = lat.ci95.get(&key);
        cells.push(whole(lat.percentile.get(&key).copied()));
        cells.push(whole(interval.map(|of| of[0])));
        cells.push(whole(interval.map(|of| of[1])));
    }
    cells.push(doubts(scheme).join("; "));
    cells
}

/// Why the results of a scheme are not to be taken as they stand.
fn doubts(scheme: &Scheme) -> Vec<String> {
    overloads(std::slice::from_ref(scheme)).chain(reasons(scheme, None)).collect()
}

/// The table as LaTeX for the package `booktabs`.
pub fn latex(runs: &[Run], table: Table) -> String {
    let mut out = format!("% {MARK}: needs \\usepackage{{booktabs}}\n");
    for (name, run, i) in named(runs) {
        for doubt in doubts(&run.summary.schemes[i]) {
            // A comment ends with its line.
            let line = format!("{name}: {doubt}").replace(char::is_control, " ");
            out.push_str(&format!("% ! {line}\n"));
        }
    }
    let marked =
        |name: &str, scheme: &Scheme| escaped(name) + if doubts(scheme).is_empty() { "" } else { "$^{!}$" };
    match table {
        Table::Results => {
            let columns = 5 + PERCENTILES.len();
            out.push_str(&format!("\\begin{{tabular}}{{ll{}}}\n\\toprule\n", "r".repeat(columns - 2)));
            let names: Vec<String> = PERCENTILES.iter().map(|p| format!("p{p}")).collect();
            out.push_str(&format!(
                "Scheme & Requests & IOPS & mean & {} & WAF \\\\\n\\midrule\n",
                names.join(" & ")
            ));
            for (name, _, scheme, op) in sides(runs) {
                let side = scheme.side(op);
                let mut cells =
                    vec![marked(&name, scheme), title(op), rate(side.iops), time(side.lat_ns.mean)];
                for p in PERCENTILES {
                    let ns = side.lat_ns.percentile.get(&percentile::key(p));
                    let thin = if percentile::is_thin(p, side.total_ios) { "$^*$" } else { "" };
                    cells.push(ns.map_or("--".to_string(), |ns| time(*ns as f64) + thin));
                }
                cells.push(scheme.waf.map_or("--".to_string(), |waf| format!("{waf:.2}")));
                out.push_str(&format!("{} \\\\\n", cells.join(" & ")));
            }
        }
        Table::Blame => {
            out.push_str("\\begin{tabular}{llllrr}\n\\toprule\n");
            out.push_str("Scheme & Requests & Beyond & Cause & Mean time & Share \\\\\n\\midrule\n");
            for (name, _, scheme, op) in sides(runs) {
                for blame in scheme.side(op).blame.iter().filter(|blame| blame.above >= 99.0) {
                    let mut causes: Vec<&(String, f64)> = blame.causes.iter().collect();
                    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
                    // What is below a thousandth is nothing to print.
                    for (cause, ns) in causes.into_iter().filter(|(_, ns)| *ns >= blame.mean_ns / 1_000.0) {
                        let share = format!("{:.1}\\,\\%", 100.0 * ns / blame.mean_ns.max(1e-9));
                        let cells = [
                            escaped(&name),
                            plural(op).to_string(),
                            format!("p{}", blame.above),
                            escaped(cause),
                        ];
                        out.push_str(&format!("{} & {} & {share} \\\\\n", cells.join(" & "), time(*ns)));
                    }
                }
            }
        }
    }
    out.push_str("\\bottomrule\n\\end{tabular}\n");
    out
}

/// A duration with a thin space before its unit.
fn time(ns: f64) -> String {
    duration(ns).trim_end().replace("us", "$\\mu$s").replace(' ', "\\,")
}

/// A text without any character that LaTeX reads as a command.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_command_of_latex() {
        let text = escaped("a_b\\c{100%}$x^2$#~<&>");
        assert_eq!(
            text,
            "a\\_b\\textbackslash{}c\\{100\\%\\}\\$x\\textasciicircum{}2\\$\\#\\textasciitilde{}\\textless{}\\&\\textgreater{}"
        );
    }

    #[test]
    fn times_have_a_unit_that_latex_prints() {
        assert_eq!(time(1_234.0), "1.23\\,$\\mu$s");
        assert_eq!(time(5e6), "5.00\\,ms");
    }
}
