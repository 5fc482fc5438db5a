//! Why a configuration is refused, and the checks that keys of several sections share.

use tailcut_units::Span;

/// A configuration that cannot be built, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ConfigProblem {
    /// The key (or family) at fault.
    pub key: String,
    /// What is wrong and what is allowed.
    pub problem: String,
}

/// Return the error that names a key and says what is wrong with it.
pub(crate) fn refuse<T>(key: &str, problem: impl Into<String>) -> Result<T, ConfigProblem> {
    Err(ConfigProblem { key: key.to_string(), problem: problem.into() })
}

/// Return a function that makes the error of the key `policy.{family}` from a policy's text.
pub(crate) fn of_policy(family: &str) -> impl Fn(String) -> ConfigProblem {
    let key = format!("policy.{family}");
    move |problem| ConfigProblem { key: key.clone(), problem }
}

/// Check that a count is at least 1 and at most `most`.
pub(crate) fn check_count(key: &str, count: u32, most: u32) -> Result<(), ConfigProblem> {
    if count == 0 || count > most {
        return refuse(key, format!("{count} is out of range: 1 to {most}"));
    }
    Ok(())
}

/// Check that a time is at most 1000 s.
pub(crate) fn check_time(key: &str, Span(ns): Span) -> Result<(), ConfigProblem> {
    const MOST: u64 = 1_000_000_000_000;
    if ns > MOST {
        return refuse(key, format!("{ns} ns; no single time may exceed 1000s"));
    }
    Ok(())
}

/// Check that a rate is at least 1 kB/s.
pub(crate) fn check_rate(key: &str, rate: u64) -> Result<(), ConfigProblem> {
    if rate < 1_000 {
        return refuse(key, "at least 1kB/s");
    }
    Ok(())
}
