//! Which figure, and of what.

use super::{blame, ccdf, heat};
use crate::data::named;
use crate::error::PageError;
use crate::run::Run;
use tailcut_report::tables::plural;
use tailcut_units::HostOp;

/// The figures that can be had alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The distribution of the latencies of all schemes.
    Ccdf,
    /// The causes of the slowest requests of all schemes.
    Blame,
    /// The latencies of one scheme over time.
    Heat,
}

/// What a figure shows.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The figure.
    pub figure: Figure,
    /// The kind of requests; without it the first that there is.
    pub op: Option<HostOp>,
    /// The scheme of a figure of one scheme; without it the first.
    pub scheme: Option<String>,
}

impl Choice {
    /// Draw the figure as SVG, 241 pt wide.
    ///
    /// # Errors
    /// The runs have no such requests or no such scheme.
    pub fn svg(&self, runs: &[Run]) -> Result<String, PageError> {
        let has = |op: &HostOp| named(runs).any(|(_, run, i)| run.summary.schemes[i].side(*op).total_ios > 0);
        let op = match self.op {
            Some(op) if has(&op) => op,
            Some(op) => return Err(PageError::Nothing(format!("no {} completed", plural(op)))),
            None => HostOp::ALL
                .into_iter()
                .find(has)
                .ok_or_else(|| PageError::Nothing("no request completed".to_string()))?,
        };
        match self.figure {
            Figure::Ccdf => ccdf::svg(runs, op),
            Figure::Blame => blame::svg(runs, op),
            Figure::Heat => {
                let mut all =
                    named(runs).filter(|(_, run, i)| run.summary.schemes[*i].side(op).total_ios > 0);
                let of = |name: &String| self.scheme.as_ref().is_none_or(|wanted| wanted == name);
                let (_, run, i) = all.find(|(name, ..)| of(name)).ok_or_else(|| {
                    let known: Vec<String> = named(runs).map(|(name, ..)| name).collect();
                    let wanted = self.scheme.clone().unwrap_or_default();
                    let what = plural(op);
                    PageError::Nothing(format!(
                        "no scheme `{wanted}` with {what}; there is {}",
                        known.join(", ")
                    ))
                })?;
                heat::svg(&run.summary.schemes[i], op)
            }
        }
    }
}
