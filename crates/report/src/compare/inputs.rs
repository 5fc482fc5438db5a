//! What two runs have in common: model, workload, seed and capacity.

use crate::compare::Side;
use crate::difference::Pairing;
use crate::summary::{Summary, Workload};
use serde::{Deserialize, Serialize};

/// An input that is not the same in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unlike {
    /// Its name.
    pub input: String,
    /// It in A.
    pub a: String,
    /// It in B.
    pub b: String,
}

/// Whether two runs had the same inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// Whether both had the same requests, as far as the summaries tell.
    pub same_requests: bool,
    /// How the two are compared.
    pub pairing: Pairing,
    /// The inputs that differ. The first concern the requests.
    pub unlike: Vec<Unlike>,
    /// Whether the model is the same.
    pub same_model: bool,
}

impl Inputs {
    /// Of two sides.
    pub fn of(a: &Side, b: &Side) -> Inputs {
        let mut unlike = Vec::new();
        let mut check = |input: &str, a: String, b: String| {
            if a != b {
                unlike.push(Unlike { input: input.to_string(), a, b });
            }
        };
        let (of_a, of_b) = (&a.summary, &b.summary);
        for (name, text) in REQUESTS {
            check(name, text(of_a), text(of_b));
        }
        let runs = |side: &Side| side.scheme().runs.unwrap_or(1).to_string();
        let model = |side: &Side| side.summary.model_version.to_string();
        let past =
            |side: &Side| side.scheme().precondition.as_ref().map_or("-".to_string(), |p| p.kind.clone());
        let requests_differ = unlike_count(of_a, of_b);
        check("runs", runs(a), runs(b));
        check("past of the drive", past(a), past(b));
        check("model version", model(a), model(b));
        let same_requests = requests_differ == 0;
        let pairing = if same_requests { Pairing::of(a.scheme(), b.scheme()) } else { Pairing::None };
        Inputs { same_requests, pairing, unlike, same_model: of_a.model_version == of_b.model_version }
    }
}

/// A name, and the text by which two summaries are compared.
type Input = (&'static str, fn(&Summary) -> String);

/// The inputs that make the requests.
const REQUESTS: [Input; 8] = [
    ("workload", |s| s.workload.source.clone()),
    ("seed", |s| s.seed.to_string()),
    ("capacity, bytes", |s| s.host_capacity_bytes.to_string()),
    ("requests", |s| s.workload.requests.to_string()),
    ("mean size, bytes", |s| mean_bytes(&s.workload)),
    ("span of the trace, ns", |s| optional(s.workload.span_ns)),
    ("footprint on the drive, bytes", |s| optional(s.workload.drive_footprint_bytes)),
    ("warm-up, ns", |s| s.workload.warm_up_ns.to_string()),
];

fn unlike_count(a: &Summary, b: &Summary) -> usize {
    REQUESTS.iter().filter(|(_, text)| text(a) != text(b)).count()
}

fn optional(value: Option<u64>) -> String {
    value.map_or("-".to_string(), |value| value.to_string())
}

/// Of the requests that completed: a few that failed change it in a late digit.
fn mean_bytes(workload: &Workload) -> String {
    workload.mean_bytes.map_or("-".to_string(), |bytes| format!("{bytes:.0}"))
}
