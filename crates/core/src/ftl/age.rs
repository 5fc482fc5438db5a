//! Functional ageing.
