//! The exception of the package.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

pyo3::create_exception!(
    tailcut,
    Error,
    PyValueError,
    "What is wrong, and what is allowed: the text that the command line prints."
);

/// The exception of an error.
pub fn failed(why: impl std::fmt::Display) -> PyErr {
    Error::new_err(why.to_string())
}
