//! Judges the checks of an experiment from the results of its runs.

use crate::file::{Band, Check, CheckKind, Experiment};
use crate::measure::Measure;
use crate::results::{Outcome, Results, Verdict};
use crate::unit::{Kind, Short, Unit, unit_of};

/// Judges checks of an experiment.
pub fn judge(e: &Experiment, checks: &[Check], results: &Results) -> Vec<Outcome> {
    checks.iter().map(|c| outcome(e, c, results)).collect()
}

fn outcome(e: &Experiment, c: &Check, results: &Results) -> Outcome {
    let band = e.band(c);
    let kind = e.kind(c);
    let found = c.found.as_ref().and_then(|name| results.found.iter().find(|f| f.name == *name));
    let at = found.and_then(|f| Some((f.axis.as_str(), f.value.as_deref()?)));
    let unit = unit(c);
    let taken = match (&c.found, at) {
        (Some(name), None) => Err(format!(
            "find `{name}` has no result: at each value of its axis, some check has no measured value"
        )),
        _ => value(e, c, at, results),
    };
    let runs = e.about(c, at);
    let verdict = match (excused(e, c, kind, &runs, results), &taken, band) {
        (Some(why), ..) => Verdict::NotComparable(why),
        (None, ..) if results.quick && !c.quick => Verdict::FullSizeOnly,
        (None, Err(why), _) => Verdict::NotComparable(why.clone()),
        (None, Ok(v), Some(band)) if holds(band, c.published, *v) => Verdict::InBand,
        (None, Ok(_), _) => Verdict::OutOfBand,
    };
    let mut label = c.label.clone();
    for (axis, value) in c.at.iter().map(|(a, v)| (a.as_str(), v.as_str())).chain(at) {
        let said = e.axis(axis).map(|a| a.said(value));
        label.push_str(&format!(", {}", said.unwrap_or_default()));
    }
    let source = c.source.as_ref().or(e.defaults.source.as_ref()).cloned().unwrap_or_default();
    let value = taken.ok();
    Outcome {
        label,
        kind,
        run: runs.join(", "),
        scheme: e.scheme(c).unwrap_or_default().to_string(),
        measure: c.measure.clone(),
        published: match (c.published, &c.says) {
            (Some(v), None) => unit.show(v),
            (Some(v), Some(says)) => format!("{} ({says})", unit.show(v)),
            (None, says) => says.clone().unwrap_or_default(),
        },
        source,
        trust: c.trust.or(e.defaults.trust).map_or(String::new(), |t| t.to_string()),
        band: band.map_or(String::new(), |b| band_text(b, &unit)),
        because: band.and_then(|b| b.because.clone()).unwrap_or_default(),
        measured: value.map_or("-".to_string(), |v| unit.show(v)),
        value,
        fitted: e.fitted(c).map(String::from),
        used: band.zip(value).and_then(|(b, v)| used(b, c.published, v)),
        verdict,
        note: c.note.clone(),
    }
}

/// Why a check cannot be judged whatever its value; `None` if it can be judged.
fn excused(e: &Experiment, c: &Check, kind: CheckKind, runs: &[String], results: &Results) -> Option<String> {
    if let Some(why) = &c.not_comparable {
        return Some(why.clone());
    }
    let about: Vec<_> = e.run.iter().filter(|r| runs.contains(&r.name)).collect();
    let stand_in = about
        .iter()
        .find_map(|r| r.stand_in.as_ref())
        .filter(|_| matches!(kind, CheckKind::Value | CheckKind::Calibrated));
    if let Some(why) = stand_in {
        return Some(format!("stand-in for the paper's workload: {why}"));
    }
    about.iter().find_map(|run| results.lacks(run))
}

/// The unit in which a check is judged.
fn unit(c: &Check) -> Unit {
    let ratio = c.relative_to.as_ref().is_some_and(|to| !to.difference);
    match Measure::parse(&c.measure) {
        Ok(m) if !ratio => unit_of(&c.unit, m.kind()),
        _ => unit_of(&c.unit, Kind::Ratio),
    }
    .expect("validated when read")
}

/// The measured value in the check's unit: of one run, or the mean over several runs.
pub(crate) fn value(
    e: &Experiment,
    c: &Check,
    found: Option<(&str, &str)>,
    results: &Results,
) -> Result<f64, String> {
    let measure = Measure::parse(&c.measure)?;
    let scheme = e.scheme(c).unwrap_or_default();
    let runs = e.about(c, found);
    if runs.len() != c.named().count() {
        return Err("the sweep has no run at these axis values".to_string());
    }
    let mut sum = 0.0;
    for run in &runs {
        let mut one = results.value(run, scheme, &measure)?;
        if let Some(to) = &c.relative_to {
            let other = to.measure.as_ref().map_or(Ok(measure.clone()), |m| Measure::parse(m))?;
            let at = match &to.run {
                Some(name) => e
                    .point(name, c, found)
                    .ok_or_else(|| format!("`{name}` has no run at these axis values"))?,
                None => run.clone(),
            };
            let run = &at;
            let by = results.value(run, to.scheme.as_deref().unwrap_or(scheme), &other)?;
            if to.difference {
                one -= by;
            } else if by == 0.0 {
                return Err("the value to divide by is zero".to_string());
            } else {
                one /= by;
            }
        }
        sum += one;
    }
    Ok(unit(c).take(sum / runs.len() as f64))
}

fn holds(band: &Band, published: Option<f64>, measured: f64) -> bool {
    if let (Some(percent), Some(published)) = (band.relative, published) {
        // 1e-9 allows for the rounding of the division.
        return (measured - published).abs() <= published.abs() * (percent + 1e-9) / 100.0;
    }
    if let Some([from, to]) = band.range {
        return (from..=to).contains(&measured);
    }
    band.at_most.is_none_or(|most| measured <= most) && band.at_least.is_none_or(|least| measured >= least)
}

/// How much of the band a value uses: by its distance from the middle, or, with one limit, by its share of the
/// limit. `None` for a limit of zero.
fn used(band: &Band, published: Option<f64>, measured: f64) -> Option<f64> {
    let of = |value: f64, whole: f64| (whole != 0.0).then(|| (value / whole).max(0.0));
    match (band.relative, band.range.or(band.at_least.zip(band.at_most).map(|(a, b)| [a, b]))) {
        (Some(percent), _) => of((measured - published?).abs(), published?.abs() * percent / 100.0),
        (None, Some([from, to])) => of((2.0 * measured - from - to).abs(), to - from),
        (None, None) => {
            let limit = band.at_most.or(band.at_least).filter(|limit| *limit != 0.0)?;
            // A value below a lower limit, or above an upper one, has a share above one.
            if band.at_most.is_some() == (limit > 0.0) { of(measured, limit) } else { of(limit, measured) }
        }
    }
}

fn band_text(band: &Band, unit: &Unit) -> String {
    let mut parts = Vec::new();
    if let Some(percent) = band.relative {
        parts.push(format!("± {} %", Short(percent)));
    }
    if let Some([from, to]) = band.range {
        parts.push(format!("{} to {}", Short(from), unit.show(to)));
    }
    if let Some(least) = band.at_least {
        parts.push(format!("at least {}", unit.show(least)));
    }
    if let Some(most) = band.at_most {
        parts.push(format!("at most {}", unit.show(most)));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(text: &str) -> Band {
        toml::from_str(text).expect("a band")
    }

    #[test]
    fn bands_are_closed_intervals() {
        let relative = band("relative = 13");
        assert!(holds(&relative, Some(100.0), 113.0) && holds(&relative, Some(100.0), 87.0));
        assert!(!holds(&relative, Some(100.0), 113.1));
        assert!(holds(&relative, Some(-40.0), -44.0) && !holds(&relative, Some(-40.0), -50.0));
        let range = band("range = [4, 6]");
        assert!(holds(&range, None, 4.0) && !holds(&range, None, 6.1));
        let both = band("at_least = 1\nat_most = 2");
        assert!(holds(&both, None, 1.5) && !holds(&both, None, 0.5) && !holds(&both, None, 2.5));
        assert_eq!(used(&relative, Some(100.0), 87.0), Some(1.0));
        assert_eq!(used(&range, None, 5.0), Some(0.0));
        assert_eq!(used(&range, None, 6.5), Some(1.5));
        assert_eq!(used(&both, None, 2.0), Some(1.0));
        let one = |text: &str, value: f64| used(&band(text), None, value);
        assert_eq!((one("at_most = 8", 4.0), one("at_most = 8", 16.0)), (Some(0.5), Some(2.0)));
        assert_eq!((one("at_least = 8", 16.0), one("at_least = 8", 4.0)), (Some(0.5), Some(2.0)));
        assert_eq!((one("at_most = -30", -60.0), one("at_most = -30", -15.0)), (Some(0.5), Some(2.0)));
        assert_eq!(one("at_most = 0", -5.0), None);
        let us = Unit::of("us", Kind::Time).expect("a unit");
        assert_eq!(band_text(&both, &us), "at least 1 us, at most 2 us");
        assert_eq!(band_text(&range, &us), "4 to 6 us");
    }
}
