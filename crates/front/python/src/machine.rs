//! Machines: this host, the bundled ones, and files.

use crate::call::beside_python;
use crate::failure::PythonFailure;
use pyo3::prelude::*;
use seatmap_console::input;
use seatmap_data::machine::{CoreDistance, Profile};
use seatmap_machines::catalog::Machine;
use seatmap_machines::catalog::listing::MachineList;
use seatmap_report::html;
use seatmap_report::terminal::{self, DrawOptions};
use std::sync::Arc;

/// A machine and its profile, from `machine()` or `measure()`.
#[pyclass(frozen, name = "Machine", module = "seatmap._seatmap")]
pub struct PyMachine {
    pub machine: Machine,
    pub profile: Arc<Profile>,
}

#[pymethods]
impl PyMachine {
    /// Its kind in words: this computer, a model, a profile.
    #[getter]
    fn kind(&self) -> &'static str {
        self.machine.kind()
    }

    /// The OS indices of the CPUs with core distances, in the order of the matrix; empty if nothing
    /// was measured.
    #[getter]
    fn cpus(&self) -> Vec<u32> {
        self.profile.core_distance.as_ref().map(|distance| distance.pus.clone()).unwrap_or_default()
    }

    /// The rows of a matrix of core distances, in nanoseconds: `median`, `p10`, `mad`, `ci95_low`
    /// or `ci95_high`. Unknown distances are NaN; `None` if the matrix is unknown.
    fn distances_ns(&self, which: &str) -> PyResult<Option<Vec<Vec<f64>>>> {
        let matrix = match (&self.profile.core_distance, which) {
            (None, _) => None,
            (Some(distance), "median") => Some(&distance.median_ns),
            (Some(CoreDistance { p10_ns, .. }), "p10") => p10_ns.as_ref(),
            (Some(CoreDistance { mad_ns, .. }), "mad") => mad_ns.as_ref(),
            (Some(CoreDistance { ci95_low_ns, .. }), "ci95_low") => ci95_low_ns.as_ref(),
            (Some(CoreDistance { ci95_high_ns, .. }), "ci95_high") => ci95_high_ns.as_ref(),
            (Some(_), other) => {
                return Err(PythonFailure::Input(format!(
                    "unknown matrix '{other}'; expected one of: median, p10, mad, ci95_low, \
                     ci95_high"
                ))
                .into());
            }
        };
        Ok(matrix.map(|matrix| (0..matrix.n()).map(|row| matrix.row(row).to_vec()).collect()))
    }

    /// The profile as `seatmap-profile/1`.
    fn json(&self) -> String {
        self.profile.to_json()
    }

    /// The table of `seatmap show`.
    fn text(&self, width: usize) -> String {
        let options = DrawOptions { width, ..DrawOptions::default() };
        terminal::page(&self.profile, &options, None).text(None)
    }

    /// The page of `seatmap show --html`.
    fn page(&self) -> String {
        let words = input::words_of(&self.machine, &self.profile.topology);
        html::page(&self.profile, self.machine.model(), &[], &words)
    }
}

impl PyMachine {
    /// A machine with its current profile.
    pub fn of(machine: Machine) -> Result<Self, PythonFailure> {
        let profile = Arc::new(input::profile_of(&machine)?);
        Ok(PyMachine { machine, profile })
    }
}

/// The machine of this name: `host`, a bundled one, or a file.
#[pyfunction]
pub fn open_machine(py: Python<'_>, name: &str) -> PyResult<PyMachine> {
    beside_python(py, || {
        if name == "-" {
            return Err(PythonFailure::Input(
                "stdin belongs to the program; name a file".to_owned(),
            ));
        }
        PyMachine::of(input::machine(name)?)
    })
}

/// Reads the text of a machine's file, with the file's name.
#[pyfunction]
pub fn read_machine(py: Python<'_>, name: &str, text: &str) -> PyResult<PyMachine> {
    beside_python(py, || PyMachine::of(input::machine_in(name, text.as_bytes())?))
}

/// The names of the bundled machines.
#[pyfunction]
pub fn machine_names() -> PyResult<Vec<String>> {
    let list = MachineList::bundled().map_err(PythonFailure::work)?;
    Ok(list.machines.iter().map(|entry| entry.machine.to_owned()).collect())
}
