//! A quiet partition during a block of Python.

use crate::call::beside_python;
use crate::failure::PythonFailure;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use seatmap_cell::{
    CellBackend, CellHost, CellRequest, CpuChoice, GuardedHost, GuardianCommand, Name, NoiseJudge,
    Stay,
};
use seatmap_console::output;
use seatmap_data::document::with_causes;
use seatmap_health::noise::measure_briefly;
use seatmap_os::{CpuList, CpuSet};
use std::ffi::OsString;
use std::sync::Mutex;

/// The options of a cell, as a Python dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct CellOptions {
    name: String,
    cpus: Option<Vec<u32>>,
    count: Option<usize>,
    require: String,
    memory_bytes: u64,
    untested: bool,
    guardian: Vec<OsString>,
}

/// A cell with this process in it.
#[pyclass(frozen, module = "seatmap._seatmap")]
pub struct Cell {
    record: seatmap_cell::CellRecord,
    stay: Mutex<Option<Stay>>,
}

#[pymethods]
impl Cell {
    /// Creates a cell of `cpus`, or of the `count` best CPUs, and moves this process into it.
    #[new]
    fn new(py: Python<'_>, options: CellOptions) -> PyResult<Self> {
        beside_python(py, || {
            let name = options.name.parse::<Name>().map_err(PythonFailure::input)?;
            let host =
                CellHost::here(GuardianCommand(options.guardian)).map_err(PythonFailure::work)?;
            let is_tested = !options.untested;
            output::tell_each(host.take_over()?);
            let cpus = chosen(&host, &name, options.cpus, options.count, is_tested)?;
            let request = CellRequest {
                name,
                cpus,
                require: backend(&options.require)?,
                noise_limit: None,
                lease_s: Some(Stay::LEASE_S),
                memory_bytes: options.memory_bytes,
            };
            let mut judge = |cpus: &CpuList| Ok(measure_briefly(&cpus.0)?.worst_stolen_percent());
            let judge = is_tested.then_some(&mut judge as &mut NoiseJudge<'_>);
            let record = seatmap_cell::create(&host, &request, judge)?;
            let stay = Stay::begin(host, &record)?;
            Ok(Cell { record, stay: Mutex::new(Some(stay)) })
        })
    }

    /// The cell as `seatmap-cell/1`.
    fn json(&self) -> String {
        seatmap_data::document::written(&self.record)
    }

    /// Moves this process out and destroys the cell. A second call does nothing.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let stay = self.stay.lock().map(|mut stay| stay.take());
        let stay = stay.map_err(|_| PyRuntimeError::new_err("an earlier call panicked"))?;
        let Some(stay) = stay else { return Ok(()) };
        beside_python(py, || {
            output::tell_each(stay.end()?);
            Ok(())
        })
    }
}

fn chosen(
    host: &CellHost,
    name: &Name,
    cpus: Option<Vec<u32>>,
    count: Option<usize>,
    is_tested: bool,
) -> Result<CpuSet, PythonFailure> {
    if let Some(cpus) = cpus {
        return Ok(cpus.into_iter().collect());
    }
    let mut choice = CpuChoice::for_new(host, name)?;
    if is_tested {
        // If stolen time cannot be measured, it is ignored.
        let noise = measure_briefly(&choice.free.list().0);
        choice.steal_percent = noise.map(|noise| noise.steal_percent()).unwrap_or_default();
    }
    Ok(choice.best(count, None)?)
}

fn backend(word: &str) -> Result<CellBackend, PythonFailure> {
    let known = CellBackend::ALL.into_iter().find(|backend| backend.word() == word);
    known.ok_or_else(|| {
        let words = CellBackend::ALL.map(CellBackend::word).join(", ");
        PythonFailure::Input(format!("unknown level '{word}'; expected one of: {words}"))
    })
}

/// Runs a cell's guardian: the package's module `_guardian` calls this in its own process.
#[pyfunction]
pub fn serve_guardian(py: Python<'_>, name: &str, guardian: Vec<OsString>) -> PyResult<()> {
    py.detach(|| {
        let name = name.parse::<Name>();
        let name = name.map_err(|error| PythonFailure::Input(with_causes(&error)))?;
        let host = CellHost::here(GuardianCommand(guardian)).map_err(PythonFailure::work)?;
        seatmap_cell::guardian::serve(&host, &name).map_err(PythonFailure::work)
    })?;
    Ok(())
}
