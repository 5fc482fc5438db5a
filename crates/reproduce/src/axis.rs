//! The axes of sweeps: their values, the runs at them, and the values that are determined from the results.
//!
//! `[[find]] name = "the paper's load", axis = "load"` stands for the value of the axis at
//! which the checks that say `found = "the paper's load"` come nearest to what is published:
//! the one at which the largest miss among them is least. A value that is found is a free
//! parameter, so that of k such checks k - 1 are predictions. With `by = "AERO"` the check of that
//! label alone determines it, and the others are predictions.

use serde::Deserialize;

/// What varies in a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The name that checks, tables and placeholders use.
    pub name: String,
    /// The unit of the values.
    #[serde(default)]
    pub unit: String,
    /// Its values, as texts.
    #[serde(default)]
    pub values: Vec<String>,
    /// Its values, with keys that each sets; in place of `values`.
    #[serde(default)]
    pub point: Vec<Point>,
    /// The values at the quick size; all if empty.
    #[serde(default)]
    pub quick: Vec<String>,
}

/// A value of an axis that sets keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The value.
    pub name: String,
    /// The keys, as `--set` takes them.
    pub set: Vec<String>,
}

/// A value of an axis that is determined from the results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// The name that checks use.
    pub name: String,
    /// The axis.
    pub axis: String,
    /// The label of the one check that determines the value; all checks that use it if missing.
    pub by: Option<String>,
}

/// A run that is repeated.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Its name.
    pub name: String,
    /// Its axes.
    pub axes: Vec<Axis>,
    /// The values of every repetition and the name of its run.
    pub points: Vec<(Vec<String>, String)>,
}

impl Axis {
    /// Its values in order.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(String::as_str).chain(self.point.iter().map(|p| p.name.as_str()))
    }

    /// A value with the axis's name and unit: `load 80 %`.
    pub fn said(&self, value: &str) -> String {
        let space = if self.unit.is_empty() || self.unit == "x" { "" } else { " " };
        format!("{} {value}{space}{}", self.name, self.unit)
    }

    /// Whether the axis makes sense.
    ///
    /// # Errors
    /// The axis, what is wrong, and what is allowed.
    pub(crate) fn check(&self) -> Result<(), String> {
        let wrong = |why: String| Err(format!("axis `{}`: {why}", self.name));
        if self.name.is_empty() || self.name.contains(['{', '}', '*']) {
            return wrong("name: must not be empty and must not contain `{`, `}` or `*`".to_string());
        }
        if self.values.is_empty() == self.point.is_empty() {
            return wrong("give either values or point".to_string());
        }
        let all: Vec<&str> = self.all().collect();
        if let Some(twice) = all.iter().enumerate().find(|(i, v)| all[..*i].contains(v)) {
            return wrong(format!("value `{}` is given twice", twice.1));
        }
        if let Some(other) = self.quick.iter().find(|q| !all.contains(&q.as_str())) {
            return wrong(format!("quick: `{other}` is not one of the values {}", all.join(", ")));
        }
        Ok(())
    }
}

impl Sweep {
    /// The run at the values that `value` returns for each axis.
    pub fn run_at<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
        let wanted: Vec<Option<&str>> = self.axes.iter().map(|a| value(&a.name)).collect();
        let same = |values: &[String]| values.iter().zip(&wanted).all(|(v, w)| Some(v.as_str()) == *w);
        self.points.iter().find(|(values, _)| same(values)).map(|(_, run)| run.clone())
    }
}
