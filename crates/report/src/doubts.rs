//! Rows of the tables that do not say what they seem to say: percentiles of survivors, runs that do not show the
//! steady state of the drive, and schemes that changed nothing.

use crate::summary::Scheme;
use crate::tables::plural;
use crate::text::{cut, grouped, percent};
use tailcut_units::HostOp;

/// The write amplification of a run that differs by more than this factor from the aged drive's is not steady.
const FAR: f64 = 1.5;

/// Why a row of the tables is not to be taken as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// The scheme, by its place.
    pub scheme: usize,
    /// The table that it is about; `None` stands for all.
    pub of: Option<HostOp>,
    /// The reason, with the name of the scheme.
    pub text: String,
}

/// The doubts about the rows of schemes, in their order.
pub fn doubts(schemes: &[Scheme]) -> Vec<Doubt> {
    let mut all = Vec::new();
    for (i, scheme) in schemes.iter().enumerate() {
        let name = cut(&scheme.name, 24);
        for op in HostOp::ALL {
            let text = survivors(scheme, op).map(|why| format!("{name}: {why}"));
            all.extend(text.map(|text| Doubt { scheme: i, of: Some(op), text }));
        }
        let twin =
            schemes[..i].iter().find(|other| other.digest == scheme.digest && !scheme.digest.is_empty());
        let said = [unsteady(scheme), twin.map(|twin| same(scheme, &cut(&twin.name, 24)))];
        all.extend(said.into_iter().flatten().map(|why| Doubt {
            scheme: i,
            of: None,
            text: format!("{name}: {why}"),
        }));
    }
    all
}

/// The doubts about a row alone. `twin` is the name of a row before it with the same result.
pub fn reasons(scheme: &Scheme, twin: Option<&str>) -> Vec<String> {
    let survivors = HostOp::ALL.into_iter().filter_map(|op| survivors(scheme, op));
    survivors.chain(unsteady(scheme)).chain(twin.map(|twin| same(scheme, twin))).collect()
}

/// Requests without success are in no percentile.
fn survivors(scheme: &Scheme, op: HostOp) -> Option<String> {
    let failed = scheme.failures(op);
    let all = failed + scheme.side(op).total_ios;
    (failed > 0).then(|| {
        let what = plural(op);
        format!(
            "{} of its {what} ({}) ended without success; means and percentiles are those of the others",
            grouped(failed),
            percent(failed as f64, all as f64)
        )
    })
}

/// A run on an aged drive that does not show what ageing has shown.
pub(crate) fn unsteady(scheme: &Scheme) -> Option<String> {
    let past = scheme.precondition.as_ref().filter(|p| matches!(p.kind.as_str(), "steady" | "scattered"))?;
    if scheme.write.total_ios == 0 {
        return None;
    }
    // A collection that has not ended counts by what it has moved.
    let moved = scheme.programs.get("gc").is_some_and(|&units| units > 0);
    if !moved && scheme.gc.as_ref().is_some_and(|gc| gc.collections == 0) {
        return Some(
            "nothing was collected in this run: it is too short, or writes too little, to show the steady state"
                .to_string(),
        );
    }
    let (now, aged) = (scheme.waf?, past.waf?);
    (now > aged * FAR || now < aged / FAR).then(|| {
        format!(
            "its write amplification is {now:.2} in this run and was {aged:.2} when the drive was aged: the run is too \
             short, or writes in another way, to show the steady state"
        )
    })
}

/// A scheme whose requests completed exactly as those of another.
fn same(scheme: &Scheme, twin: &str) -> String {
    let why = match scheme.erases {
        Some(0) => "nothing was erased in this run",
        _ => "it changed nothing in this run",
    };
    format!("same result as {twin}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered::Ordered;
    use crate::summary::{Gc, OpSummary, Precondition};

    fn by(pairs: &[(&str, u64)]) -> Ordered<u64> {
        pairs.iter().map(|&(name, n)| (name.to_string(), n)).collect()
    }

    /// A scheme on an aged drive.
    fn scheme(name: &str, waf: f64, collections: u64) -> Scheme {
        Scheme {
            name: name.into(),
            digest: name.into(),
            waf: Some(waf),
            read: OpSummary { total_ios: 650, ..OpSummary::default() },
            precondition: Some(Precondition {
                kind: "steady".into(),
                waf: Some(3.0),
                ..Precondition::default()
            }),
            write: OpSummary { total_ios: 100, ..OpSummary::default() },
            gc: Some(Gc { collections, ..Gc::default() }),
            erases: Some(collections),
            ..Scheme::default()
        }
    }

    fn said(schemes: &[Scheme]) -> Vec<String> {
        doubts(schemes).into_iter().map(|d| d.text).collect()
    }

    #[test]
    fn a_sound_run_has_none() {
        assert_eq!(said(&[scheme("a", 3.2, 5), scheme("b", 2.5, 5)]), [""; 0]);
        // A run that writes nothing, and a drive that was not aged.
        let reads = Scheme { write: OpSummary::default(), ..scheme("a", 1.0, 0) };
        let fresh = Scheme { precondition: None, ..scheme("b", 1.0, 0) };
        assert_eq!(said(&[reads, fresh]), [""; 0]);
    }

    #[test]
    fn survivors_are_marked_in_their_table() {
        let failed = [("read".to_string(), by(&[("media_error", 350)]))].into_iter().collect();
        let all = doubts(&[scheme("b", 3.0, 1), Scheme { failed, ..scheme("a", 3.0, 1) }]);
        assert_eq!((all.len(), all[0].scheme, all[0].of), (1, 1, Some(HostOp::Read)));
        assert!(all[0].text.starts_with("a: 350 of its reads (35.0 %) ended without success"), "{all:?}");
    }

    #[test]
    fn short_runs_and_equal_results_are_named() {
        let short = said(&[scheme("a", 1.4, 7), scheme("b", 1.0, 0)]);
        assert!(
            short[0].starts_with("a: its write amplification is 1.40 in this run and was 3.00"),
            "{short:?}"
        );
        assert!(short[1].starts_with("b: nothing was collected in this run"), "{short:?}");
        // The first collection goes on.
        let programs = [("gc".to_string(), 500)].into_iter().collect();
        assert_eq!(said(&[Scheme { programs, ..scheme("c", 3.0, 0) }]), [""; 0]);
        let twin = Scheme { digest: "a".into(), ..scheme("t-es", 3.0, 1) };
        let same = said(&[scheme("a", 3.0, 1), twin.clone(), Scheme { erases: Some(0), ..twin }]);
        assert_eq!(same[0], "t-es: same result as a: it changed nothing in this run");
        assert_eq!(same[1], "t-es: same result as a: nothing was erased in this run");
    }
}
