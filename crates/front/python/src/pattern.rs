//! Patterns: generators, files, and edges from Python.

use crate::call::beside_python;
use crate::failure::PythonFailure;
use pyo3::prelude::*;
use seatmap_console::{pattern_input, view};
use seatmap_data::document::with_causes;
use seatmap_data::pattern::generate::GENERATORS;
use seatmap_data::pattern::{Edge, Pattern, import};
use seatmap_report::pattern;
use std::sync::Arc;

/// The traffic from each task to the others.
#[pyclass(frozen, name = "Pattern", module = "seatmap._seatmap")]
pub struct PyPattern(pub Arc<Pattern>);

#[pymethods]
impl PyPattern {
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn tasks(&self) -> usize {
        self.0.tasks
    }

    /// The names of the tasks; empty if they have none.
    #[getter]
    fn task_names(&self) -> Vec<String> {
        self.0.names.clone()
    }

    /// Sender, receiver and bytes of each edge.
    fn edges(&self) -> Vec<(usize, usize, f64)> {
        self.0.edges.iter().map(|edge| (edge.from, edge.to, edge.bytes)).collect()
    }

    /// The pattern as `seatmap-pattern/1`.
    fn json(&self) -> String {
        self.0.to_json()
    }

    /// The picture of `seatmap pattern show`.
    fn text(&self) -> String {
        pattern::drawn(&self.0, view::width()).text(None)
    }

    /// The page of `seatmap pattern show --html`.
    fn page(&self) -> String {
        pattern::page(&self.0).html()
    }
}

impl PyPattern {
    pub fn of(pattern: Pattern) -> Self {
        PyPattern(Arc::new(pattern))
    }
}

/// A pattern from a generator's text, such as `stencil2d:8x8`, or a file.
#[pyfunction]
pub fn open_pattern(py: Python<'_>, text: &str) -> PyResult<PyPattern> {
    beside_python(py, || {
        if text == "-" {
            return Err(PythonFailure::Input(
                "stdin belongs to the program; name a file".to_owned(),
            ));
        }
        Ok(PyPattern::of(pattern_input::pattern(text)?))
    })
}

/// Reads the text of a pattern in any supported format.
#[pyfunction]
pub fn read_pattern(py: Python<'_>, name: &str, text: &str) -> PyResult<PyPattern> {
    beside_python(py, || {
        let read = import::read(text.as_bytes(), name, None);
        let read =
            read.map_err(|error| PythonFailure::Input(format!("{name}: {}", with_causes(&error))));
        Ok(PyPattern::of(read?.pattern))
    })
}

/// A pattern of edges: sender, receiver, bytes. Repeated pairs are added up.
#[pyfunction]
pub fn pattern_of_edges(
    name: String,
    tasks: usize,
    edges: Vec<(usize, usize, f64)>,
    names: Vec<String>,
) -> PyResult<PyPattern> {
    let edges = edges.into_iter().map(|(from, to, bytes)| Edge { from, to, bytes, messages: 1.0 });
    let mut pattern = Pattern::gathered(name, tasks, edges);
    pattern.names = names;
    pattern.check().map_err(PythonFailure::input)?;
    Ok(PyPattern::of(pattern))
}

/// The syntax and description of each generator.
#[pyfunction]
pub fn generators() -> Vec<(&'static str, &'static str)> {
    GENERATORS.to_vec()
}
