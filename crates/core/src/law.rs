//! How audits say which law is broken.

/// Leave with an error that says which law is broken.
macro_rules! law {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(format!($($text)+));
        }
    };
}
