//! Seatmap for Python: the extension module `seatmap._seatmap`, below the package in `python/`.
//!
//! Each function converts its arguments, calls the library behind a verb, and converts the result.
//! The Python package has the public classes, and uses NumPy, SciPy and NetworkX if they are
//! installed. It starts one process: a cell's guardian, which is the same Python with another
//! module.
//!
//! | module | holds |
//! |---|---|
//! | `call` | work without Python's lock: Ctrl-C ends it, remarks are warnings |
//! | `failure` | errors of the libraries as exceptions, in the words of the command line |
//! | `machine`, `pattern` | the inputs of a placement |
//! | `measure`, `place` | a profile of this host; a plan |
//! | `threads` | the threads of this process, their masks and CPUs |
//! | `check`, `observe` | other processes: the CPUs and the communication of their threads |
//! | `cell` | a quiet partition during a block of Python |
#![deny(missing_docs)]

mod call;
mod cell;
mod check;
mod failure;
mod machine;
mod measure;
mod observe;
mod pattern;
mod place;
mod threads;

use pyo3::prelude::*;

/// Measures machines, places threads, pins and checks them. `seatmap` is the package to import.
#[pymodule]
mod _seatmap {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::cell::{Cell, serve_guardian};
    #[pymodule_export]
    use crate::check::{Judgement, check};
    #[pymodule_export]
    use crate::failure::{InputError, SeatmapError};
    #[pymodule_export]
    use crate::machine::{PyMachine, machine_names, open_machine, read_machine};
    #[pymodule_export]
    use crate::measure::measure;
    #[pymodule_export]
    use crate::observe::observe;
    #[pymodule_export]
    use crate::pattern::{PyPattern, generators, open_pattern, pattern_of_edges, read_pattern};
    #[pymodule_export]
    use crate::place::{Placement, check_plan, export_plan, place, read_plan};
    #[pymodule_export]
    use crate::threads::{bind_thread, own_tid, thread_seats};

    #[pymodule_init]
    fn begin(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // An error about a cell's CPU can then name the cell.
        seatmap_os::holder::learn_cells_from(|| {
            seatmap_cell::standing(&seatmap_os::Root::new("/"))
        });
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
