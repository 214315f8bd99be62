//! The Python package by its own tests, in Python: `checks.py` has the package, `pages.py` runs the
//! guide's page and the notebook.
//!
//! They need a Python from 3.9 on: `python3`, or the one that `SEATMAP_PYTHON` names, such as that
//! of `make python` with NumPy, SciPy and NetworkX. Checks that need more are skipped, and say so.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod package;

use package::{module, repository, run};

#[test]
fn the_package_is_what_it_says() {
    run("checks.py", &[]);
}

#[test]
fn the_page_and_the_notebook_run() {
    let root = repository();
    run("pages.py", &[root.join("docs/src/python.md"), root.join("examples/machine.ipynb")]);
}

/// A module that loads a libpython works in one Python alone, and in none that has its own inside.
#[test]
fn the_module_belongs_to_no_one_python() {
    let bytes = std::fs::read(module()).unwrap();
    let needs = b"libpython";
    assert!(!bytes.windows(needs.len()).any(|part| part == needs));
    let exports = b"PyInit__seatmap";
    assert!(bytes.windows(exports.len()).any(|part| part == exports), "it is not the module");
}
