//! The extension module of the Python package `tailcut`: what the command line does, for Python.
//!
//! [`run`] runs schemes and [`sweep`] many points; [`spec`] is what they are asked for, as JSON, which the package
//! makes of its arguments. [`results`] has the figures of a run and its tables, [`tables`] makes these as Parquet, and
//! [`sink`] collects requests. [`follow`] runs the work beside Python: without its lock, with progress, and until
//! Ctrl-C. [`policies`] are policies in Python. [`show`] has presets, keys and configurations.

pub mod error;
pub mod follow;
pub mod policies;
pub mod results;
pub mod run;
pub mod show;
pub mod sink;
pub mod spec;
pub mod sweep;
pub mod tables;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailcut_units::{ArrayAct, Occupant};

/// The extension module of the package `tailcut`.
#[pymodule]
fn _tailcut(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("Error", m.py().get_type::<error::Error>())?;
    m.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    m.add("MODEL_VERSION", tailcut_sim::MODEL_VERSION)?;
    let occupants = PyDict::new(m.py());
    for kind in Occupant::ALL {
        let act = match kind.act() {
            ArrayAct::Read => "read",
            ArrayAct::Program => "program",
            ArrayAct::Erase => "erase",
        };
        occupants.set_item(kind.name(), act)?;
    }
    m.add("OCCUPANTS", occupants)?;
    m.add_class::<policies::views::Candidate>()?;
    m.add_class::<policies::views::VictimView>()?;
    m.add_class::<policies::views::QueueView>()?;
    m.add_class::<policies::views::BlockedView>()?;
    m.add_class::<results::Run>()?;
    m.add_class::<sweep::RemoteSweep>()?;
    m.add_function(wrap_pyfunction!(run::run, m)?)?;
    m.add_function(wrap_pyfunction!(run::write_trace, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::sweep, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::run_point, m)?)?;
    m.add_function(wrap_pyfunction!(show::config, m)?)?;
    m.add_function(wrap_pyfunction!(show::devices, m)?)?;
    m.add_function(wrap_pyfunction!(show::schemes, m)?)?;
    m.add_function(wrap_pyfunction!(show::workloads, m)?)?;
    m.add_function(wrap_pyfunction!(show::keys, m)?)?;
    Ok(())
}
