//! Why a configuration is refused, and the checks that keys of several sections share.

use std::fmt;
use tailcut_units::Span;

/// A configuration that cannot be built, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The key (or family) at fault.
    pub key: String,
    /// What is wrong and what is allowed.
    pub problem: String,
    /// The problems of further keys that were found with it.
    pub others: Vec<ConfigProblem>,
}

impl ConfigProblem {
    /// The problem of one key.
    pub fn new(key: &str, problem: impl Into<String>) -> ConfigProblem {
        ConfigProblem { key: key.to_string(), problem: problem.into(), others: Vec::new() }
    }

    /// All problems, this one first.
    pub fn all(&self) -> impl Iterator<Item = &ConfigProblem> {
        std::iter::once(self).chain(&self.others)
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.problem)?;
        self.others.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

impl std::error::Error for ConfigProblem {}

/// The problems that several checks find.
#[derive(Debug, Default)]
pub(crate) struct Found(Option<ConfigProblem>);

impl Found {
    /// What a check has found. A key that has a problem gets no other.
    pub fn add(&mut self, checked: Result<(), ConfigProblem>) {
        let Err(mut problem) = checked else { return };
        let others = std::mem::take(&mut problem.others);
        for problem in std::iter::once(problem).chain(others) {
            match &mut self.0 {
                None => self.0 = Some(problem),
                Some(first) if first.all().any(|known| known.key == problem.key) => {}
                Some(first) => first.others.push(problem),
            }
        }
    }

    /// The end of checks that do not need one another.
    ///
    /// # Errors
    /// All that they have found.
    pub fn end(self) -> Result<(), ConfigProblem> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Return the error that names a key and says what is wrong with it.
pub(crate) fn refuse<T>(key: &str, problem: impl Into<String>) -> Result<T, ConfigProblem> {
    Err(ConfigProblem::new(key, problem))
}

/// Return a function that makes the error of the key `policy.{family}` from a policy's text.
pub(crate) fn of_policy(family: &str) -> impl Fn(String) -> ConfigProblem {
    let key = format!("policy.{family}");
    move |problem| ConfigProblem::new(&key, problem)
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
