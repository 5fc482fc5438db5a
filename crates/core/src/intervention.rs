//! Changes to a running drive other than commands: a fault, or another value of a key.
//!
//! An intervention takes place at a time, after all that the drive does at that time and before any command that is
//! submitted later. It is a part of the input like the commands, so a run with the same interventions gives the same
//! completions. Logs contain its text.

use crate::nand::faults::config::FaultConfig;
use crate::problem::check_rate;
use std::fmt;
use std::str::FromStr;
use tailcut_units::quantity::{format_rate, format_time, parse_rate, parse_time};
use tailcut_units::{SimTime, Span};

/// The key that must be set for faults to be injected.
pub const INJECTED: &str = "faults.injected";
/// The key of the rate at which lost units are written again.
pub(crate) const REBUILD_RATE: &str = "faults.rebuild_rate";
/// The key of the delay after which an erase completes its loop.
pub(crate) const TIMEOUT: &str = "policy.suspend_erase.timeout.after";
/// The keys that may change while a drive runs.
pub const KEYS: [&str; 2] = [REBUILD_RATE, TIMEOUT];

/// One intervention.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervention {
    /// A fault occurs now, as if the configuration contained it at this time.
    Fault(Box<FaultConfig>),
    /// Bytes a second at which lost units are written again; `None`: as fast as the drive can.
    RebuildRate(Option<u64>),
    /// The delay after which an erase completes its loop before it is suspended.
    EraseTimeout(Span),
}

/// The error for a text that is not an intervention, or for an intervention that the drive refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterventionError {
    /// The text is wrong.
    #[error("{0}")]
    Text(String),
    /// The key does not change while a drive runs.
    #[error("{0:?} does not change while the drive runs; these keys do: {all}", all = KEYS.join(", "))]
    Key(String),
    /// The drive does not support it.
    #[error("{0}")]
    Drive(String),
    /// The drive has not been advanced to the time, or is beyond it.
    #[error("out of order: an intervention at {at}, the drive is at {now}, and its next event is at {next}")]
    Order {
        /// The time of the intervention.
        at: SimTime,
        /// The time of the drive.
        now: SimTime,
        /// When something happens next.
        next: SimTime,
    },
}

impl InterventionError {
    /// The error of a drive that was created without support for injected faults.
    pub(crate) fn unprepared() -> InterventionError {
        let text = format!("the drive was made without faults: it needs {INJECTED}=true from the start");
        InterventionError::Drive(text)
    }

    /// The error of a drive without the mechanism that a key would change.
    pub(crate) fn without(key: &str, needs: &str) -> InterventionError {
        InterventionError::Drive(format!("{key}: this drive has no {needs}"))
    }
}

impl Intervention {
    /// The key that it changes, if it is a change of a key.
    pub fn key(&self) -> Option<&'static str> {
        match self {
            Intervention::Fault(_) => None,
            Intervention::RebuildRate(_) => Some(REBUILD_RATE),
            Intervention::EraseTimeout(_) => Some(TIMEOUT),
        }
    }

    /// A fault, as `--fault` writes it.
    ///
    /// # Errors
    /// The text is no fault.
    pub fn fault(text: &str) -> Result<Intervention, InterventionError> {
        let fault: FaultConfig = text.parse().map_err(|e| wrong(&e))?;
        Ok(Intervention::Fault(Box::new(fault)))
    }

    /// `KEY=VALUE` of a key that may change.
    ///
    /// # Errors
    /// Another key, or no value of it.
    pub fn change(text: &str) -> Result<Intervention, InterventionError> {
        let (key, value) = text.split_once('=').map_or((text, ""), |(key, value)| (key.trim(), value.trim()));
        let of_key = |e: &dyn fmt::Display| InterventionError::Text(format!("{key}: {e}"));
        match key {
            REBUILD_RATE if value == "inf" => Ok(Intervention::RebuildRate(None)),
            REBUILD_RATE => {
                let rate = parse_rate(value).map_err(|e| of_key(&e))?;
                check_rate(key, rate).map_err(|e| wrong(&e))?;
                Ok(Intervention::RebuildRate(Some(rate)))
            }
            TIMEOUT => Ok(Intervention::EraseTimeout(parse_time(value).map_err(|e| of_key(&e))?)),
            _ => Err(InterventionError::Key(key.to_string())),
        }
    }
}

fn wrong(e: &dyn fmt::Display) -> InterventionError {
    InterventionError::Text(e.to_string())
}

impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Intervention::Fault(fault) => write!(f, "fault {fault}"),
            Intervention::RebuildRate(None) => write!(f, "set {REBUILD_RATE}=inf"),
            Intervention::RebuildRate(Some(rate)) => write!(f, "set {REBUILD_RATE}={}", format_rate(*rate)),
            Intervention::EraseTimeout(after) => write!(f, "set {TIMEOUT}={}", format_time(*after)),
        }
    }
}

impl FromStr for Intervention {
    type Err = InterventionError;

    fn from_str(text: &str) -> Result<Intervention, InterventionError> {
        match text.split_once(' ') {
            Some(("fault", fault)) => Intervention::fault(fault),
            Some(("set", change)) => Intervention::change(change),
            _ => Err(InterventionError::Text(format!("{text:?}: `fault FAULT` or `set KEY=VALUE`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_and_its_intervention_agree() {
        for text in [
            "fault die=3",
            "fault page=0.1.17.5,reads=4,once",
            "set faults.rebuild_rate=50MB/s",
            "set faults.rebuild_rate=inf",
            "set policy.suspend_erase.timeout.after=4ms",
        ] {
            let parsed: Intervention = text.parse().expect(text);
            assert_eq!(parsed.to_string(), text);
        }
    }

    #[test]
    fn wrong_texts_name_what_is_allowed() {
        for (text, part) in [
            ("die=3", "`fault FAULT` or"),
            ("fault die", "names no fault"),
            ("set ftl.user_capacity=1GiB", "these keys do: faults.rebuild_rate"),
            ("set faults.rebuild_rate=1B/s", "at least 1kB/s"),
            ("set policy.suspend_erase.timeout.after=long", "policy.suspend_erase.timeout.after"),
        ] {
            let error = text.parse::<Intervention>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
