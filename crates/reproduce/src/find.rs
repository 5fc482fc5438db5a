//! Finds the value of an axis at which a set of checks is nearest to the published values.

use crate::check::value;
use crate::file::{Band, Check, Experiment};
use crate::results::{Found, Results};

/// The results of every find of an experiment.
pub fn found(e: &Experiment, results: &Results) -> Vec<Found> {
    e.find
        .iter()
        .map(|f| {
            let decides = |c: &&Check| {
                c.found.as_ref() == Some(&f.name) && f.by.as_ref().is_none_or(|label| *label == c.label)
            };
            let checks: Vec<&Check> = e.check.iter().filter(decides).collect();
            let axis = e.axis(&f.axis);
            let values = axis.iter().flat_map(|a| a.all());
            let misses: Vec<(String, Option<f64>)> =
                values.map(|v| (v.to_string(), largest(e, &checks, (&f.axis, v), results))).collect();
            // `min_by` returns the first of equal values.
            let best = misses
                .iter()
                .filter_map(|(v, miss)| miss.map(|miss| (v, miss)))
                .min_by(|a, b| a.1.total_cmp(&b.1));
            let value = best.map(|(v, _)| v.clone());
            let said = value.as_ref().and_then(|v| axis.map(|a| a.said(v))).unwrap_or_default();
            Found { name: f.name.clone(), axis: f.axis.clone(), value, said, checks: checks.len(), misses }
        })
        .collect()
}

fn largest(e: &Experiment, checks: &[&Check], at: (&str, &str), results: &Results) -> Option<f64> {
    let mut most = 0.0f64;
    for check in checks {
        let taken = value(e, check, Some(at), results).ok()?;
        most = most.max(miss(check.published, e.band(check)?, taken));
    }
    Some(most)
}

/// The distance of a value from the published value, relative to it. Without a published value,
/// the distance from the nearest limit, relative to the limit.
fn miss(published: Option<f64>, band: &Band, value: f64) -> f64 {
    let by = |of: f64, distance: f64| if distance <= 0.0 { 0.0 } else { distance / of.abs() };
    if let Some(published) = published {
        return by(published, (value - published).abs());
    }
    let [from, to] = band
        .range
        .unwrap_or([band.at_least.unwrap_or(f64::NEG_INFINITY), band.at_most.unwrap_or(f64::INFINITY)]);
    by(from, from - value).max(by(to, value - to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_a_part_of_what_is_published() {
        let band = |text: &str| -> Band { toml::from_str(text).expect("a band") };
        assert_eq!(miss(Some(-50.0), &band("relative = 25"), -40.0), 0.2);
        assert_eq!(miss(None, &band("at_most = 4"), 5.0), 0.25);
        assert_eq!(miss(None, &band("at_most = 4"), -5.0), 0.0);
        assert_eq!(miss(None, &band("range = [2, 4]"), 1.0), 0.5);
        assert_eq!(miss(None, &band("at_least = 0"), -1.0), f64::INFINITY);
    }
}
