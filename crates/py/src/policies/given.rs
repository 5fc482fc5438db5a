//! The functions that a run is given: they are put into its configurations, and their answers are checked.

use super::calls::{Calls, Cost, Count};
use super::views::{BlockedView, Candidate, QueueView, VictimView, names, occupant};
use crate::error::failed;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::sync::Arc;
use std::time::Duration;
use tailcut_core::config::DeviceConfig;
use tailcut_core::policy::gc_victim::{GcVictimConfig, VictimRule, external as victim};
use tailcut_core::policy::outside::Door;
use tailcut_core::policy::read_path::{ReadPathConfig, external as read_path};
use tailcut_core::policy::schedule::{ScheduleConfig, external as schedule};
use tailcut_units::{Occupant, Occupants};
use tailcut_workload::Interrupt;

/// A policy as `python/tailcut/_policies.py` gives it: its family, its name, and what makes the function and its fixed
/// answers for a drive.
pub type Policy = (String, String, Py<PyAny>);

/// The names of the families, as Python has them.
const FAMILIES: [&str; 3] = ["victim", "schedule", "read_path"];

/// What the drives of a run share of one policy.
struct Function {
    name: String,
    make: Py<PyAny>,
    count: Count,
    calls: Arc<Calls>,
}

/// The policies of a run.
#[derive(Default)]
pub struct Given {
    /// By family.
    functions: [Option<Arc<Function>>; FAMILIES.len()],
    calls: Arc<Calls>,
}

/// The fixed answers of a schedule: what goes first on the channel; what may interrupt each kind of work; the other two.
type Fixed = (Vec<String>, Vec<(String, Vec<String>)>, bool, bool);

impl Given {
    /// These policies.
    pub fn new(policies: Vec<Policy>) -> PyResult<Given> {
        let mut given = Given::default();
        for (family, name, make) in policies {
            let place = FAMILIES.iter().position(|known| *known == family);
            let place = place.ok_or_else(|| {
                failed(format!("policies `{family}`: it must be one of {}", FAMILIES.join(", ")))
            })?;
            let calls = Arc::clone(&given.calls);
            let function = Function { name, make, count: Count::default(), calls };
            given.functions[place] = Some(Arc::new(function));
        }
        Ok(given)
    }

    /// The calls.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Whether a function of Python shapes aged drives. Nothing names what it does, so that they are not kept.
    pub fn age(&self) -> bool {
        self.functions[0].is_some()
    }

    /// Put the functions into a configuration that names them. An error stops the run.
    pub fn install(&self, config: &mut DeviceConfig, interrupt: &Interrupt) {
        self.calls.stop_by(interrupt);
        let [victims, schedules, read_paths] = self.functions.each_ref().map(Option::as_ref);
        let policy = &mut config.policy;
        if let (GcVictimConfig::External(c), Some(f)) = (&mut policy.gc_victim, victims) {
            let f = Arc::clone(f);
            c.door = Some(Door::new(Box::new(move || victim(&f))));
        }
        if let (ScheduleConfig::External(c), Some(f)) = (&mut policy.schedule, schedules) {
            let f = Arc::clone(f);
            c.door = Some(Door::new(Box::new(move || schedule(&f))));
        }
        if let (ReadPathConfig::External(c), Some(f)) = (&mut policy.read_path, read_paths) {
            let f = Arc::clone(f);
            c.door = Some(Door::new(Box::new(move || read_path(&f))));
        }
    }

    /// What the policies have cost in a run that has taken this long.
    pub fn costs(&self, run: Duration) -> Vec<Cost> {
        let families = FAMILIES.into_iter().zip(&self.functions);
        families.filter_map(|(family, f)| f.as_ref().map(|f| f.count.cost(family, &f.name, run))).collect()
    }
}

impl Function {
    /// Make the function and its fixed answers for a drive.
    fn made<T>(&self, read: impl FnOnce(Python<'_>, Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, String> {
        Python::attach(|py| {
            self.make.bind(py).call0().and_then(|made| read(py, made)).map_err(|e| {
                let said = e.to_string();
                self.calls.fail(e);
                said
            })
        })
    }

    /// The error of an answer.
    fn wrong(&self, answer: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
        let given = answer.repr().map_or_else(|_| "an object".to_string(), |text| text.to_string());
        failed(format!("policy `{}` has answered {given}: {allowed}", self.name))
    }
}

fn victim(f: &Arc<Function>) -> Result<victim::Asked, String> {
    let (function, rule) = f.made(|_, made| {
        let (function, rule): (Py<PyAny>, Bound<'_, PyAny>) = made.extract()?;
        let rule = match (rule.extract::<String>().as_deref(), rule.extract::<u32>()) {
            (Ok("fewest"), _) => VictimRule::FewestOfAll,
            (Ok("age"), _) => VictimRule::Age,
            (_, Ok(d @ 1..)) if !rule.is_instance_of::<PyBool>() => VictimRule::FewestOf(d),
            _ => {
                return Err(failed(format!(
                    "policy `{}`: its rule is {rule}; it must be 'fewest', 'age', or how many extents are drawn",
                    f.name
                )));
            }
        };
        Ok((function, rule))
    })?;
    let f = Arc::clone(f);
    let pick = move |view: &tailcut_core::policy::gc_victim::VictimView<'_>| {
        let asked = f.calls.ask(&f.count, |py| {
            let seen = Py::new(py, VictimView::of(view))?;
            let answer = function.bind(py).call1((&seen,))?;
            let index = match answer.cast::<Candidate>() {
                Ok(candidate) => Some(candidate.get().index),
                Err(_) if answer.is_instance_of::<PyBool>() => None,
                Err(_) => answer.extract::<u32>().ok(),
            };
            let allowed = "it must be one of view.candidates, or its index";
            index.filter(|&index| seen.get().has(index as usize)).ok_or_else(|| f.wrong(&answer, allowed))
        });
        // Of a run that stops any victim will do.
        asked.or_else(|| view.wins_most())
    };
    Ok(victim::Asked { pick: Box::new(pick), rule })
}

fn schedule(f: &Arc<Function>) -> Result<schedule::Asked, String> {
    let (function, fixed) = f.made(|_, made| {
        let (function, fixed): (Py<PyAny>, Fixed) = made.extract()?;
        let set = |kinds: &[String]| kinds.iter().map(|name| occupant(name)).collect::<PyResult<Occupants>>();
        let mut interrupters = [Occupants::NONE; Occupant::COUNT];
        for (holder, by) in &fixed.1 {
            let (holder, by) = (occupant(holder)?, set(by)?);
            let never = !(by & !Occupants::HOST).is_empty() || Occupants::READS.has(holder);
            if never && !by.is_empty() {
                return Err(failed(format!(
                    "policy `{}`: interrupters of {} are {}; only {} may interrupt, and never a read",
                    f.name,
                    holder.name(),
                    names(by),
                    names(Occupants::HOST)
                )));
            }
            interrupters[holder as usize] = by;
        }
        Ok((function, (set(&fixed.0)?, interrupters, fixed.2, fixed.3)))
    })?;
    let (first_on_channel, interrupters, reads_close_channel, collections_hold_programs) = fixed;
    let f = Arc::clone(f);
    let next = move |view: &tailcut_core::policy::schedule::QueueView<'_>| {
        let asked = f.calls.ask(&f.count, |py| {
            let answer = function.bind(py).call1((QueueView::of(view),))?;
            let kind = answer.extract::<String>().ok().and_then(|name| occupant(&name).ok());
            let allowed = format!("it must be one of view.waiting: {}", names(view.waiting));
            let kind =
                kind.filter(|&kind| view.waiting.has(kind)).ok_or_else(|| f.wrong(&answer, &allowed))?;
            let before = view.waiting & interrupters[kind as usize];
            if !before.is_empty() {
                let allowed = format!("{} may interrupt it, and must go before it", names(before));
                return Err(f.wrong(&answer, &allowed));
            }
            Ok(kind)
        });
        asked.unwrap_or_else(|| {
            // Of a run that stops: what may interrupt another goes before it.
            let late = |kind: &Occupant| view.waiting.meets(interrupters[*kind as usize]);
            let first = view.waiting.iter().min_by_key(|kind| (late(kind), view.arrived[*kind as usize]));
            first.expect("something waits")
        })
    };
    Ok(schedule::Asked {
        next: Box::new(next),
        first_on_channel,
        interrupters,
        reads_close_channel,
        collections_hold_programs,
    })
}

fn read_path(f: &Arc<Function>) -> Result<read_path::Asked, String> {
    let function =
        f.made(|_, made| made.extract::<(Py<PyAny>, Option<bool>)>().map(|(function, _)| function))?;
    let f = Arc::clone(f);
    let rebuild = move |view: &tailcut_core::policy::read_path::BlockedView| {
        let asked = f.calls.ask(&f.count, |py| {
            let answer = function.bind(py).call1((BlockedView::of(view),))?;
            let said = answer.cast::<PyBool>().map(|said| said.is_true());
            said.map_err(|_| {
                f.wrong(&answer, "it must be True to read the rest of the stripe, or False to wait")
            })
        });
        asked.unwrap_or(false)
    };
    Ok(read_path::Asked { rebuild: Box::new(rebuild) })
}
