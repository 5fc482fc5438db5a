//! The part of a run that a timeline covers.

use std::fmt;
use std::str::FromStr;
use tailcut_units::quantity::{format_time, parse_time};
use tailcut_units::{SimTime, Span};

/// An interval of virtual time, counted from the start of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The start.
    pub start: Span,
    /// The length, more than 0.
    pub length: Span,
}

impl Default for Window {
    /// The first 50 ms: this holds a few slow erases, and gives 10 to 20 MB at a million
    /// requests a second.
    fn default() -> Window {
        Window { start: Span::ZERO, length: Span(50_000_000) }
    }
}

impl Window {
    /// The start and end of the window in the time of a run whose measurement starts at
    /// `measured`.
    pub fn after(&self, measured: SimTime) -> (SimTime, SimTime) {
        let from = measured.0.saturating_add(self.start.0);
        (SimTime(from), SimTime(from.saturating_add(self.length.0)))
    }
}

impl FromStr for Window {
    type Err = String;

    /// Parse a length (`100ms`), or a start and a length (`2s+100ms`).
    fn from_str(text: &str) -> Result<Window, String> {
        let (start, length) = match text.split_once('+') {
            Some((start, length)) => (Some(start), length),
            None => (None, text),
        };
        let time = |text: &str| {
            parse_time(text).map_err(|e| {
                format!(
                    "{e}; a window is a length such as `100ms`, or a start and a length such as `2s+100ms`"
                )
            })
        };
        let start = start.map_or(Ok(Span::ZERO), time)?;
        match time(length)? {
            Span::ZERO => Err("a window must be longer than 0ns".to_string()),
            length => Ok(Window { start, length }),
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start {
            Span::ZERO => write!(f, "{}", format_time(self.length)),
            start => write!(f, "{}+{}", format_time(start), format_time(self.length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_length_with_or_without_a_start() {
        let of = |text: &str| text.parse::<Window>();
        assert_eq!(of("100ms"), Ok(Window { start: Span(0), length: Span(100_000_000) }));
        assert_eq!(of("2s+1.5us"), Ok(Window { start: Span(2_000_000_000), length: Span(1500) }));
        for text in ["50ms", "2s+100ms"] {
            assert_eq!(of(text).unwrap().to_string(), text);
        }
        assert_eq!(Window::default().to_string(), "50ms");
        for text in ["", "100", "+", "1s+", "+1s", "0ms", "1s+0ns", "1s-2s", "1s+2s+3s", "5q", "-1s"] {
            assert!(of(text).is_err(), "{text}");
        }
        let huge = Window { start: Span(u64::MAX), length: Span(5) };
        assert_eq!(huge.after(SimTime(7)), (SimTime::NEVER, SimTime::NEVER));
    }
}
