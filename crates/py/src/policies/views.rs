//! What a policy sees: the views of the core, with the same names. Times are ns.

use crate::error::failed;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::sync::OnceLock;
use tailcut_core::policy::gc_victim::VictimView as Victims;
use tailcut_core::policy::read_path::BlockedView as Blocked;
use tailcut_core::policy::schedule::QueueView as Queues;
use tailcut_units::{Occupant, Occupants};

/// An extent that can be collected.
#[pyclass(frozen, get_all, module = "tailcut")]
pub struct Candidate {
    /// Its place in the lane.
    pub index: u32,
    /// The mapping units that its collection does not win: the valid ones and those in holes.
    pub valid: u32,
    /// Mapping units in holes.
    pub holes: u32,
    /// Valid units: those that its collection moves.
    pub moves: u32,
    /// The serial number that it got when it was closed.
    pub closed: u64,
}

#[pymethods]
impl Candidate {
    fn __repr__(&self) -> String {
        let Candidate { index, valid, holes, moves, closed } = self;
        format!("Candidate(index={index}, valid={valid}, holes={holes}, moves={moves}, closed={closed})")
    }
}

/// The extents of one lane.
#[pyclass(frozen, module = "tailcut")]
pub struct VictimView {
    valid: Vec<u32>,
    holes: Vec<u32>,
    closed: Vec<u64>,
    now: u64,
    choice: u64,
    units_per_extent: u32,
    most_valid: u32,
    /// Made when they are asked for: `candidates`, `valid`, `holes` and `closed`.
    made: [OnceLock<Py<PyTuple>>; 4],
}

impl VictimView {
    /// A copy of a view of the core.
    pub fn of(view: &Victims<'_>) -> VictimView {
        VictimView {
            valid: view.valid.to_vec(),
            holes: view.holes.to_vec(),
            closed: view.closed.to_vec(),
            now: view.now,
            choice: view.choice,
            units_per_extent: view.units_per_extent,
            most_valid: view.most_valid,
            made: Default::default(),
        }
    }

    fn view(&self) -> Victims<'_> {
        Victims {
            valid: &self.valid,
            holes: &self.holes,
            closed: &self.closed,
            now: self.now,
            choice: self.choice,
            units_per_extent: self.units_per_extent,
            most_valid: self.most_valid,
        }
    }

    /// Whether an extent can be collected.
    pub fn has(&self, index: usize) -> bool {
        self.valid.get(index).is_some_and(|&valid| valid <= self.most_valid)
    }

    fn candidate(&self, index: usize) -> Candidate {
        Candidate {
            index: index as u32,
            valid: self.valid[index],
            holes: self.holes.get(index).copied().unwrap_or(0),
            moves: self.view().moves(index),
            closed: self.closed[index],
        }
    }

    fn made<'py>(
        &self,
        py: Python<'py>,
        which: usize,
        make: impl FnOnce() -> PyResult<Bound<'py, PyTuple>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let place = &self.made[which];
        if let Some(made) = place.get() {
            return Ok(made.bind(py).clone());
        }
        let made = make()?;
        let _ = place.set(made.clone().unbind());
        Ok(made)
    }
}

#[pymethods]
impl VictimView {
    /// The extents that can be collected, in the order of their index; at least one.
    #[getter]
    fn candidates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.made(py, 0, || {
            let all = (0..self.valid.len()).filter(|&i| self.has(i));
            let all: Vec<Py<Candidate>> =
                all.map(|i| Py::new(py, self.candidate(i))).collect::<PyResult<_>>()?;
            PyTuple::new(py, all)
        })
    }

    /// By extent: the mapping units that its collection does not win; 2**31 or more if it cannot be collected.
    #[getter]
    fn valid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.made(py, 1, || PyTuple::new(py, &self.valid))
    }

    /// By extent: mapping units in holes; empty if no extent can have any.
    #[getter]
    fn holes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.made(py, 2, || PyTuple::new(py, &self.holes))
    }

    /// By extent: the serial number that it got when it was closed.
    #[getter]
    fn closed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.made(py, 3, || PyTuple::new(py, &self.closed))
    }

    /// The serial number that the next closed extent gets.
    #[getter]
    fn now(&self) -> u64 {
        self.now
    }

    /// The serial number of this choice.
    #[getter]
    fn choice(&self) -> u64 {
        self.choice
    }

    /// Mapping units in an extent.
    #[getter]
    fn units_per_extent(&self) -> u32 {
        self.units_per_extent
    }

    /// The largest ``valid`` with which the collection of an extent gains a row.
    #[getter]
    fn most_valid(&self) -> u32 {
        self.most_valid
    }

    /// Valid units of an extent that can be collected.
    fn moves(&self, index: usize) -> PyResult<u32> {
        if self.has(index) {
            return Ok(self.view().moves(index));
        }
        Err(failed(format!("extent {index} cannot be collected: take one of view.candidates")))
    }

    /// The index of the extent whose collection wins most, the lowest among equals.
    fn wins_most(&self) -> Option<u32> {
        self.view().wins_most()
    }
}

/// The queues of one die.
#[pyclass(frozen, module = "tailcut")]
pub struct QueueView {
    waiting: Occupants,
    urgent: bool,
    arrived: [u64; Occupant::COUNT],
}

/// The kind of work of this name.
pub fn occupant(name: &str) -> PyResult<Occupant> {
    Occupant::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let known = Occupant::ALL.map(Occupant::name).join(", ");
        failed(format!("`{name}` is no kind of work: {known}"))
    })
}

/// The names of kinds of work.
pub fn names(kinds: Occupants) -> String {
    kinds.iter().map(Occupant::name).collect::<Vec<_>>().join(", ")
}

impl QueueView {
    /// A copy of a view of the core.
    pub fn of(view: &Queues<'_>) -> QueueView {
        QueueView { waiting: view.waiting, urgent: view.urgent, arrived: *view.arrived }
    }
}

#[pymethods]
impl QueueView {
    /// The kinds of work that wait and may be served now; at least two.
    #[getter]
    fn waiting<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let waiting: Vec<_> = self.waiting.iter().map(|kind| PyString::intern(py, kind.name())).collect();
        PyTuple::new(py, waiting)
    }

    /// Whether a lane on this die is short of space.
    #[getter]
    fn urgent(&self) -> bool {
        self.urgent
    }

    /// By kind of work that waits: the arrival number of the head of its queue; smaller if it arrived earlier.
    #[getter]
    fn arrived<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for kind in self.waiting.iter() {
            dict.set_item(PyString::intern(py, kind.name()), self.arrived[kind as usize])?;
        }
        Ok(dict)
    }

    /// The kind of work, of these or of all, that waits and whose head arrived first.
    #[pyo3(signature = (among=None))]
    fn earliest<'py>(&self, py: Python<'py>, among: Option<Vec<String>>) -> PyResult<Bound<'py, PyString>> {
        let among = match among {
            Some(names) => names.iter().map(|name| occupant(name)).collect::<PyResult<Occupants>>()?,
            None => Occupants::ALL,
        };
        let first = (among & self.waiting).iter().min_by_key(|&kind| self.arrived[kind as usize]);
        let first = first
            .ok_or_else(|| failed(format!("none of {} waits: {} do", names(among), names(self.waiting))))?;
        Ok(PyString::intern(py, first.name()))
    }
}

/// One read of a unit whose plane is kept busy by a collection. Times are ns.
#[pyclass(frozen, get_all, module = "tailcut")]
pub struct BlockedView {
    /// Time until the plane is free again.
    pub left: u64,
    /// The same by the end predicted when the collection began; 0 once that has passed.
    pub left_as_begun: u64,
    /// Whether the collection has no further page to read.
    pub last_step: bool,
    /// Time until the operation under way in the plane ends; 0 if there is none.
    pub step_left: u64,
    /// Time until no plane of the other members of the stripe collects; 0 if none does.
    pub others_left: u64,
    /// Time until all planes of the extra reads are free, by the ends predicted when their collections began.
    pub extra_left_as_begun: u64,
    /// Number of extra reads.
    pub extra: u32,
    /// Number of extra reads whose channel is busy.
    pub busy_channels: u32,
    /// Time for command, sense and transfer of one unit.
    pub read: u64,
    /// Whether the lanes of a group collect one at a time.
    pub rotates: bool,
}

impl BlockedView {
    /// A copy of a view of the core.
    pub fn of(view: &Blocked) -> BlockedView {
        BlockedView {
            left: view.left.0,
            left_as_begun: view.left_as_begun.0,
            last_step: view.last_step,
            step_left: view.step_left.0,
            others_left: view.others_left.0,
            extra_left_as_begun: view.extra_left_as_begun.0,
            extra: view.extra,
            busy_channels: view.busy_channels,
            read: view.read.0,
            rotates: view.rotates,
        }
    }
}
