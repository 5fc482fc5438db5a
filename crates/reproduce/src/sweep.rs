//! Sweeps: a run that is repeated along one or more axes ([`crate::axis`]).
//!
//! ```toml
//! [[run]]
//! name = "slc"
//! device = "wuhe-slc"
//! schemes = ["rps", "ips"]
//! workload = "randrw,bs=4k,rate_iops={load*292},{load*975},{size}"
//! full = "number_ios=300000"
//! quick = "number_ios=20000"
//!
//! [[run.axis]]
//! name = "load"
//! unit = "%"
//! values = ["10", "20", "30"]   # each in place of `{load}`; `{load*292}` is 292 times it
//! quick = ["20"]                # the values of the quick size; all if not given
//!
//! [[run.axis]]
//! name = "erase width"
//! point = [{ name = "1", set = ["ftl.extent=block"] }, { name = "8", set = [] }]
//! ```
//!
//! The value of an axis is filled in wherever `{name}` stands in `workload`, `full`,
//! `quick`, the sets, the faults, and a trace's `rate_scale` and `size_scale`; a `point` sets keys. Every
//! combination of values becomes a run of its own. A table of the sweep has a row for each,
//! and a check names one: `at = { load = "20", "erase width" = "8" }`.

use crate::axis::{Axis, Sweep};
use crate::file::{Experiment, Run};
use tailcut_sim::sweep::draw::product;

/// The largest number of runs in a sweep; more are a mistake.
const MOST: usize = 512;

/// Replaces every swept run by one run for each point.
///
/// # Errors
/// The axis, what is wrong, and what is allowed.
pub(crate) fn expand(e: &mut Experiment) -> Result<(), String> {
    let mut runs = Vec::new();
    for run in std::mem::take(&mut e.run) {
        let name = run.name.clone();
        runs.extend(repeat(run, &mut e.sweeps).map_err(|why| format!("run `{name}`: {why}"))?);
    }
    e.run = runs;
    Ok(())
}

/// One run for each combination of values, the last axis varying fastest; the run itself if it
/// has no axes.
fn repeat(mut run: Run, sweeps: &mut Vec<Sweep>) -> Result<Vec<Run>, String> {
    let axes = std::mem::take(&mut run.axis);
    if axes.is_empty() {
        return Ok(vec![run]);
    }
    for (i, axis) in axes.iter().enumerate() {
        axis.check()?;
        if axes[..i].iter().any(|other| other.name == axis.name) {
            return Err(format!("axis `{}` is given twice", axis.name));
        }
    }
    let values: Vec<Vec<String>> = axes.iter().map(|axis| axis.all().map(str::to_string).collect()).collect();
    let runs = values.iter().fold(1, |all: usize, values| all.saturating_mul(values.len()));
    if runs > MOST {
        return Err(format!("axis: the sweep has {runs} runs; at most {MOST} are allowed"));
    }
    let mut sweep = Sweep { name: run.name.clone(), axes, points: Vec::new() };
    let mut out = Vec::new();
    for values in product(&values) {
        let mut one = run.clone();
        for (axis, value) in sweep.axes.iter().zip(&values) {
            put(&mut one, axis, value)?;
        }
        let said: Vec<String> = sweep.axes.iter().zip(&values).map(|(a, v)| a.said(v)).collect();
        one.name = format!("{} ({})", run.name, said.join(", "));
        sweep.points.push((values, one.name.clone()));
        out.push(one);
    }
    sweeps.push(sweep);
    Ok(out)
}

/// Puts a value of an axis into a run.
fn put(run: &mut Run, axis: &Axis, value: &str) -> Result<(), String> {
    let mut filled = false;
    for text in run.texts() {
        let new = fill(text, &axis.name, value).map_err(|why| format!("axis `{}`: {why}", axis.name))?;
        filled |= new != *text;
        *text = new;
    }
    if let Some(point) = axis.point.iter().find(|p| p.name == value) {
        run.set.extend(point.set.iter().cloned());
        filled |= axis.point.iter().any(|p| !p.set.is_empty());
    }
    if !filled {
        return Err(format!(
            "axis `{}`: `{{{0}}}` occurs nowhere and no point sets a key, so the axis changes nothing",
            axis.name
        ));
    }
    if !axis.quick.is_empty() && !axis.quick.iter().any(|q| q == value) {
        run.full_only = true;
    }
    Ok(())
}

/// The text with `{axis}` replaced by the value, and `{axis*292}` by 292 times the value.
fn fill(text: &str, axis: &str, value: &str) -> Result<String, String> {
    let mut out = text.replace(&format!("{{{axis}}}"), value);
    let open = format!("{{{axis}*");
    while let Some(from) = out.find(&open) {
        let factor = out[from + open.len()..].split('}').next().unwrap_or_default().to_string();
        let number = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"));
        let product = (number(value)? * number(factor.trim())? * 1e6).round() / 1e6;
        let end = from + open.len() + factor.len();
        if !out[end..].starts_with('}') {
            return Err(format!("`{open}` is not closed"));
        }
        out.replace_range(from..=end, &product.to_string());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::parse;

    const HEAD: &str = "id = \"a/b\"\ntitle = \"t\"\nsource = \"s\"\nshows = \"s\"\n[time]\nquick = \"1 s\"\nfull = \"1 s\"\n";

    fn file(run: &str) -> Result<Experiment, String> {
        parse("x", &format!("{HEAD}{run}")).map_err(|e| e.to_string())
    }

    const TWO: &str = "
[[run]]
name = \"r\"
device = \"tiny\"
schemes = [\"fifo\"]
workload = \"randread,rate_iops={load*50},{size}\"
full = \"number_ios={load}\"
quick = \"number_ios=1\"
[[run.axis]]
name = \"load\"
unit = \"%\"
values = [\"10\", \"20\"]
quick = [\"20\"]
[[run.axis]]
name = \"width\"
point = [{ name = \"1\", set = [\"ftl.extent=block\"] }, { name = \"2\", set = [] }]
";

    #[test]
    fn a_sweep_is_a_run_for_every_combination() {
        let e = file(TWO).expect("sound");
        let names: Vec<&str> = e.run.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "r (load 10 %, width 1)",
                "r (load 10 %, width 2)",
                "r (load 20 %, width 1)",
                "r (load 20 %, width 2)"
            ]
        );
        let [a, _, c, d] = &e.run[..] else { panic!() };
        assert_eq!(a.workload.as_deref(), Some("randread,rate_iops=500,{size}"));
        assert_eq!((a.full.as_deref(), a.has_quick()), (Some("number_ios=10"), false));
        assert_eq!((&c.set, c.has_quick()), (&vec!["ftl.extent=block".to_string()], true));
        assert!(d.set.is_empty() && d.axis.is_empty());
        let at = |axis: &str| if axis == "load" { Some("20") } else { Some("1") };
        assert_eq!(e.sweeps[0].run_at(at).as_deref(), Some("r (load 20 %, width 1)"));
        assert_eq!(e.sweeps[0].run_at(|_| None), None);
    }

    #[test]
    fn an_axis_that_makes_no_sense_is_refused() {
        let wrong = [
            (TWO.replace("\"20\"]\nquick", "\"10\"]\nquick"), "`10` is given twice"),
            (TWO.replace("quick = [\"20\"]", "quick = [\"30\"]"), "quick: `30` is not one of the values"),
            (TWO.replace("{load*50}", "{load*x}"), "`x` is not a number"),
            (TWO.replace("{load*50}", "{laod}"), "`{laod}`"),
            (TWO.replace("{load*50},{size}", "{size}{load*2"), "is not closed"),
            (TWO.replace("values = [\"10\", \"20\"]", ""), "give either values or point"),
            (TWO.replace("{load*50}", "50").replace("={load}", "=1"), "occurs nowhere"),
            (TWO.replace("name = \"width\"", "name = \"load\""), "axis `load` is given twice"),
        ];
        for (text, needle) in wrong {
            let error = file(&text).expect_err(needle);
            assert!(error.contains(needle) && error.contains("run `r"), "{needle}: {error}");
        }
    }
}
