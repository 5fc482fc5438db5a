//! The models of the array, each with the scheme that acts on it: erases by pulses, and senses of pages with raw bit
//! errors. They belong to no die and know no time; the flash plans its operations with them.

pub mod eraser;
pub mod senses;
