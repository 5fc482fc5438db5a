//! Which of all registered events, policy members and causes have occurred in runs.

use super::account::Account;
use std::collections::BTreeSet;
use strum::VariantNames;
use tailcut_core::device::{Closing, OpKind, QueueStep, RequestStep, RingWait, Step, StepEvent, WriteStep};
use tailcut_core::policy::{FAMILIES, PolicyConfig};
use tailcut_units::{Cause, Occupant};

/// Names by kind, such as (`step`, `Granted`) or (`placement`, `static`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    names: BTreeSet<(&'static str, &'static str)>,
    /// By cause: the number of requests that were charged for it.
    charged: Vec<u64>,
}

/// The member of each family in a configuration.
fn members(p: &PolicyConfig) -> [(&'static str, &'static str); FAMILIES.len()] {
    [
        ("schedule", p.schedule.name()),
        ("suspend_erase", p.suspend_erase.name()),
        ("erase_scheme", p.erase_scheme.name()),
        ("suspend_program", p.suspend_program.name()),
        ("read_retry", p.read_retry.name()),
        ("buffer", p.buffer.name()),
        ("flush", p.flush.name()),
        ("placement", p.placement.name()),
        ("redundancy", p.redundancy.name()),
        ("read_path", p.read_path.name()),
        ("gc_victim", p.gc_victim.name()),
        ("gc_schedule", p.gc_schedule.name()),
        ("gc_scope", p.gc_scope.name()),
        ("background", p.background.name()),
        ("wear", p.wear.name()),
        ("write_gate", p.write_gate.name()),
    ]
}

impl Reached {
    /// Note that `name` occurred.
    pub fn note(&mut self, kind: &'static str, name: impl Into<&'static str>) {
        self.names.insert((kind, name.into()));
    }

    /// Note the policies of a drive that ran.
    pub fn policies(&mut self, p: &PolicyConfig) {
        self.names.extend(members(p));
    }

    /// Keep what a drive under pblk has of its own: policies above the flash are those of its configuration, which it does
    /// not ask.
    pub fn keep_flash(&mut self) {
        let asked =
            ["schedule", "suspend_erase", "suspend_program", "erase_scheme", "read_retry", "write_gate"];
        self.names.retain(|(kind, _)| asked.contains(kind) || !FAMILIES.iter().any(|f| f.name == *kind));
    }

    /// Note a step of an operation.
    pub fn step(&mut self, e: &StepEvent) {
        self.note("step", e.step);
        self.note("operation", e.kind);
        self.note("occupant", e.occupant.name());
    }

    /// Note the causes of a request that ended.
    pub fn account(&mut self, account: &Account) {
        self.charged.resize(Cause::COUNT, 0);
        for cause in Cause::all() {
            self.charged[usize::from(cause.0)] += u64::from(account.get(cause) > 0);
        }
    }

    /// Add what occurred in another run.
    pub fn merge(&mut self, other: &Reached) {
        self.names.extend(&other.names);
        self.charged.resize(Cause::COUNT, 0);
        for (mine, more) in self.charged.iter_mut().zip(&other.charged) {
            *mine += more;
        }
    }

    /// Everything registered that did not occur.
    pub fn missing(&self) -> Vec<String> {
        let listed = [
            ("step", Step::VARIANTS),
            ("operation", OpKind::VARIANTS),
            ("turn", QueueStep::VARIANTS),
            ("closing", Closing::VARIANTS),
            ("request", RequestStep::VARIANTS),
            ("write unit", WriteStep::VARIANTS),
            ("ring wait", RingWait::VARIANTS),
        ];
        let mut all: Vec<(&str, &str)> = Vec::new();
        for (kind, names) in listed {
            all.extend(names.iter().map(|name| (kind, *name)));
        }
        all.extend(Occupant::ALL.iter().map(|o| ("occupant", o.name())));
        all.extend(FAMILIES.iter().flat_map(|f| f.members.iter().map(|m| (f.name, m.name))));
        let names = all.iter().filter(|entry| !self.names.contains(entry));
        let charged = |c: &Cause| self.charged.get(usize::from(c.0)).is_some_and(|&n| n > 0);
        let causes = Cause::all().filter(|c| !charged(c)).map(|c| format!("cause {}", c.name()));
        names.map(|(kind, name)| format!("{kind} {name}")).chain(causes).collect()
    }
}
