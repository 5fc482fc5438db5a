//! The macro with which audits report a broken law.

/// Return an error with the given text unless the law holds.
macro_rules! law {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(format!($($text)+));
        }
    };
}
