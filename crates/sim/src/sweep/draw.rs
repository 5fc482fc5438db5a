//! The points of a design: the values of its axes.

use crate::sweep::design::{Axis, Design, MOST};
use tailcut_units::Stream;

/// A range from which a random design draws: `10%..30%`, or `log:1000..100000` by the logarithm.
struct Range {
    from: f64,
    to: f64,
    /// The unit behind both ends.
    unit: String,
    whole: bool,
    log: bool,
}

/// The values of all axes at every point. A product has the last axis varying fastest. A random design draws each axis
/// on its own: one of its values, or a number from its range; the seed and the axis decide.
///
/// # Errors
/// Too many points; a range that cannot be drawn from.
pub fn points(design: &Design) -> Result<Vec<Vec<String>>, String> {
    let count = design.points();
    if count > MOST {
        return Err(format!(
            "the sweep has {count} points; at most {MOST} are allowed (`--random N` draws N of them)"
        ));
    }
    let Some(random) = design.random else {
        for axis in &design.axis {
            if let Some(range) = axis.values.iter().find(|v| is_range(v)) {
                return Err(format!(
                    "axis `{}`: `{range}` is a range, from which only --random draws",
                    axis.key
                ));
            }
        }
        return Ok(product(design.axis.iter().map(|axis| &axis.values)));
    };
    let ranges: Result<Vec<Option<Range>>, String> = design.axis.iter().map(range).collect();
    let ranges = ranges?;
    let mut streams: Vec<Stream> =
        (0..design.axis.len()).map(|i| Stream::new(design.seed, "sweep", i as u64)).collect();
    let one = |_| {
        let axes = design.axis.iter().zip(&ranges).zip(&mut streams);
        axes.map(|((axis, range), stream)| match range {
            Some(range) => range.at(stream.unit()),
            None => axis.values[stream.below(axis.values.len() as u64) as usize].clone(),
        })
        .collect()
    };
    Ok((0..random).map(one).collect())
}

/// Every combination of one value of each axis; the last axis varies fastest.
pub fn product<'a>(axes: impl IntoIterator<Item = &'a Vec<String>>) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for values in axes {
        let longer = |point: &Vec<String>| -> Vec<Vec<String>> {
            values.iter().map(|value| [&point[..], std::slice::from_ref(value)].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn is_range(value: &str) -> bool {
    value.contains("..") && parse(value).is_ok()
}

/// The range of an axis, if its only value is one.
fn range(axis: &Axis) -> Result<Option<Range>, String> {
    match &axis.values[..] {
        [value] if value.contains("..") => {
            parse(value).map(Some).map_err(|why| format!("axis `{}`: {why}", axis.key))
        }
        _ => Ok(None),
    }
}

fn parse(text: &str) -> Result<Range, String> {
    let wrong = |why: &str| format!("`{text}`: {why}; a range is such as `10%..30%` or `log:1000..100000`");
    let (log, ends) = text.strip_prefix("log:").map_or((false, text), |ends| (true, ends));
    let (from, to) = ends.split_once("..").ok_or_else(|| wrong("there is no `..`"))?;
    let split = |end: &str| {
        let digits = end.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(end.len());
        let number = end[..digits].parse::<f64>().ok().filter(|n| n.is_finite());
        number.map(|n| (n, end[digits..].trim().to_string(), !end[..digits].contains('.')))
    };
    let (from, to) = split(from.trim()).zip(split(to.trim())).ok_or_else(|| wrong("an end is no number"))?;
    if from.1 != to.1 {
        return Err(wrong("the ends have different units"));
    }
    if from.0 >= to.0 || log && from.0 <= 0.0 {
        return Err(wrong("the second end must be larger, and with `log:` both above 0"));
    }
    Ok(Range { from: from.0, to: to.0, whole: from.2 && to.2 && from.1.is_empty(), unit: from.1, log })
}

impl Range {
    /// The value at this share of the range: a whole number if both ends are and there is no unit, else with four digits.
    fn at(&self, share: f64) -> String {
        // Both ends of a range of whole numbers are as likely as the others.
        let to = if self.whole { self.to + 1.0 } else { self.to };
        let value = match self.log {
            true => libm::exp(libm::log(self.from) + share * libm::log(to / self.from)),
            false => self.from + share * (to - self.from),
        };
        if self.whole {
            return format!("{}", value.floor().min(self.to));
        }
        let digits = (3.0 - libm::log10(value.abs().max(1e-9)).floor()).clamp(0.0, 9.0) as usize;
        format!("{value:.digits$}{}", self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(axes: &[(&str, &str)], random: Option<u32>) -> Design {
        let axis = |&(key, values): &(&str, &str)| Axis::parse(&format!("{key}={values}")).unwrap();
        Design { device: "tiny".into(), random, axis: axes.iter().map(axis).collect(), ..Design::default() }
    }

    #[test]
    fn a_product_has_every_combination_and_the_last_axis_varies_fastest() {
        let all = points(&design(&[("scheme", "a,b"), ("x.y", "1,2,3")], None)).unwrap();
        let said: Vec<String> = all.iter().map(|p| p.join("")).collect();
        assert_eq!(said, ["a1", "a2", "a3", "b1", "b2", "b3"]);
        let many = (0..400).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        let error = points(&design(&[("a.b", &many), ("c.d", &many)], None)).unwrap_err();
        assert!(error.contains("160000 points; at most 100000"), "{error}");
        let error = points(&design(&[("a.b", "1..3")], None)).unwrap_err();
        assert!(error.contains("only --random"), "{error}");
    }

    #[test]
    fn random_points_are_drawn_from_values_and_ranges() {
        let axes = [("scheme", "a,b"), ("o.p", "10%..30%"), ("n.o", "3..5"), ("r.s", "log:1..10000")];
        let all = points(&design(&axes, Some(600))).unwrap();
        assert_eq!(all, points(&design(&axes, Some(600))).unwrap());
        assert_eq!(all.len(), 600);
        let share = |axis: usize, value: &str| all.iter().filter(|p| p[axis] == value).count();
        assert!((250..350).contains(&share(0, "a")));
        for value in ["3", "4", "5"] {
            assert!((150..250).contains(&share(2, value)), "{value}: {}", share(2, value));
        }
        let number = |text: &String| text.trim_end_matches('%').parse::<f64>().unwrap();
        assert!(all.iter().all(|p| p[1].ends_with('%') && (10.0..=30.0).contains(&number(&p[1]))));
        let small = all.iter().filter(|p| number(&p[3]) < 100.0).count();
        assert!((250..350).contains(&small), "half of the range by its logarithm: {small}");
        for (range, why) in
            [("5..3", "larger"), ("1ms..2us", "units"), ("log:0..3", "above 0"), ("a..b", "no number")]
        {
            let error = points(&design(&[("a.b", range)], Some(1))).unwrap_err();
            assert!(error.contains(why) && error.contains("axis `a.b`"), "{error}");
        }
    }
}
