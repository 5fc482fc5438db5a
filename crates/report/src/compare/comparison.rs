//! The result of a comparison.

use crate::compare::Side;
use crate::compare::inputs::Inputs;
use crate::compare::limit::{Limit, LimitResult};
use crate::difference::{Difference, signed};
use crate::doubts::unsteady;
use crate::figure::Quantity;
use crate::ordered::Ordered;
use crate::summary::{BlameSummary, ConfigValue, Scheme};
use crate::tables::plural;
use serde::{Deserialize, Serialize};
use tailcut_stats::percentile::{BLAME_LEVELS, LEVELS};
use tailcut_units::HostOp;

/// What is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The summary's file.
    pub file: String,
    /// The device.
    pub device: String,
    /// The scheme.
    pub scheme: String,
    /// The digest of its first run.
    pub digest: String,
    /// The number of runs.
    pub runs: u32,
    /// Version of the model.
    pub model_version: u32,
    /// Version of the program.
    pub tailcut: String,
}

/// The time of one cause in the requests above a percentile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The cause.
    pub cause: String,
    /// Mean ns in A; 0 if it does not occur.
    pub a_ns: f64,
    /// Mean ns in B.
    pub b_ns: f64,
}

/// The causes of the requests above a percentile in both, the largest difference first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Causes {
    /// The kind of requests: `read`.
    pub op: String,
    /// The percentile; 0 stands for all requests.
    pub above: f64,
    /// The causes that occur in one of the two.
    pub causes: Vec<Moved>,
}

/// A configuration key whose values differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// The key.
    pub key: String,
    /// The value in A with its layer and source; absent if A has no such key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<ConfigValue>,
    /// The value in B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<ConfigValue>,
}

/// Two schemes beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The first, to which differences relate.
    pub a: Compared,
    /// The second.
    pub b: Compared,
    /// Whether both had the same inputs.
    pub inputs: Inputs,
    /// What a reader must know before the figures.
    pub notes: Vec<String>,
    /// The figures that both have.
    pub figures: Vec<Difference>,
    /// What the requests waited for, at the percentiles that both have.
    pub blame: Vec<Causes>,
    /// The configuration keys that differ; `None` if one of the two summaries has no configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Vec<Key>>,
    /// The limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitResult>,
}

/// Compares two sides, and judges the limits.
pub fn compare(a: &Side, b: &Side, limits: &[Limit]) -> Comparison {
    let inputs = Inputs::of(a, b);
    let (of_a, of_b) = (a.scheme(), b.scheme());
    let notes = notes(a, b, &inputs);
    let figures = Quantity::all(&LEVELS)
        .into_iter()
        .filter_map(|quantity| Difference::new(quantity, of_a, of_b, inputs.pairing))
        .collect();
    let mut comparison = Comparison {
        a: compared(a),
        b: compared(b),
        inputs,
        notes,
        figures,
        blame: blame(of_a, of_b),
        config: config(&of_a.config, &of_b.config),
        limits: Vec::new(),
    };
    comparison.limits = limits.iter().map(|limit| limit.judge(a, b, &comparison)).collect();
    comparison
}

fn compared(side: &Side) -> Compared {
    let scheme = side.scheme();
    Compared {
        file: side.path.display().to_string(),
        device: side.summary.device.clone(),
        scheme: scheme.name.clone(),
        digest: scheme.digest.clone(),
        runs: scheme.runs.unwrap_or(1),
        model_version: side.summary.model_version,
        tailcut: side.summary.tailcut.clone(),
    }
}

fn notes(a: &Side, b: &Side, inputs: &Inputs) -> Vec<String> {
    let (of_a, of_b) = (a.scheme(), b.scheme());
    let mut notes = Vec::new();
    if of_a.digest == of_b.digest && inputs.same_model {
        notes.push(format!("both have the same digest, {}: nothing differs between them", of_a.digest));
    }
    for (name, side) in [("A", a), ("B", b)] {
        let scheme = side.scheme();
        if side.summary.partial {
            notes.push(format!("{name} was interrupted: it has a part of its requests"));
        }
        if scheme.load.is_some_and(|load| !load.keeps_up) {
            notes.push(format!(
                "{name} does not keep up with the arrivals: its latencies measure the backlog, and their intervals are too \
                 narrow"
            ));
        }
        notes.extend(unsteady(scheme).map(|why| format!("{name}: {why}")));
        for op in HostOp::ALL {
            let failed = scheme.failures(op);
            if failed > 0 {
                let many = plural(op);
                notes.push(format!(
                    "{failed} {many} of {name} ended without success and have no latency: the figures are those of the others"
                ));
            }
        }
    }
    notes.extend(fills(a, b));
    for op in HostOp::ALL {
        let [in_a, in_b] = [of_a, of_b].map(|scheme| scheme.side(op).total_ios);
        if (in_a == 0) != (in_b == 0) {
            let many = plural(op);
            notes.push(format!("A has {in_a} {many} and B {in_b}: {many} are not compared"));
        }
    }
    notes
}

/// Two drives that were filled to different shares before a trace: the fuller one collects more.
fn fills(a: &Side, b: &Side) -> Option<String> {
    let traces = [a, b].iter().all(|side| !side.summary.workload.records.is_empty());
    let fill = |side: &Side| side.scheme().config.get("age.fill")?.value.as_str().map(String::from);
    let (in_a, in_b) = fill(a).zip(fill(b)).filter(|(in_a, in_b)| traces && in_a != in_b)?;
    Some(format!(
        "A fills {in_a} of its drive before the trace and B {in_b} (age.fill): run both with the same `--set age.fill=`"
    ))
}

/// The causes at each level that both have.
fn blame(a: &Scheme, b: &Scheme) -> Vec<Causes> {
    let mut all = Vec::new();
    for op in HostOp::ALL {
        for above in BLAME_LEVELS {
            let of = |scheme: &Scheme| scheme.side(op).blame.iter().find(|b| b.above == above).cloned();
            if let Some((in_a, in_b)) = of(a).zip(of(b)) {
                all.push(Causes { op: op.name().to_string(), above, causes: moved(&in_a, &in_b) });
            }
        }
    }
    all
}

fn moved(a: &BlameSummary, b: &BlameSummary) -> Vec<Moved> {
    let ns = |of: &BlameSummary, cause: &str| of.causes.get(cause).copied().unwrap_or(0.0);
    let new = b.causes.iter().filter(|(cause, _)| a.causes.get(cause).is_none());
    let mut moved: Vec<Moved> = a
        .causes
        .iter()
        .chain(new)
        .map(|(cause, _)| Moved { cause: cause.clone(), a_ns: ns(a, cause), b_ns: ns(b, cause) })
        .collect();
    moved.sort_by(|x, y| (y.b_ns - y.a_ns).abs().total_cmp(&(x.b_ns - x.a_ns).abs()));
    moved
}

/// The keys whose values differ, in the order of A and then of B.
fn config(a: &Ordered<ConfigValue>, b: &Ordered<ConfigValue>) -> Option<Vec<Key>> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let new = b.iter().filter(|(key, _)| a.get(key).is_none());
    let both = a.iter().chain(new).map(|(key, _)| Key {
        key: key.clone(),
        a: a.get(key).cloned(),
        b: b.get(key).cloned(),
    });
    let value = |of: &Option<ConfigValue>| of.as_ref().map(|c| c.value.clone());
    Some(both.filter(|key| value(&key.a) != value(&key.b)).collect())
}

impl Difference {
    /// In one line: `read.p99.9 -56.1 % (-56.9 % to -55.2 %): faster`.
    pub fn line(&self) -> String {
        let by = self.difference.map_or("-".to_string(), signed);
        let within =
            self.ci95.map_or(String::new(), |[low, high]| format!(" ({} to {})", signed(low), signed(high)));
        format!("{} {by}{within}: {}", self.figure, self.verdict.name())
    }
}
