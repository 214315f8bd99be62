//! Runs the Python package's own tests: `checks.py` for the package, `pages.py` for the guide's
//! page and the notebook.
//!
//! They require Python 3.9 or later: `python3`, or the one in `SEATMAP_PYTHON`, such as `make
//! python`'s with NumPy, SciPy and NetworkX.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod package;

use package::{module, repository, run};

#[test]
fn package_checks_pass() {
    run("checks.py", &[]);
}

#[test]
fn the_page_and_the_notebook_run() {
    let root = repository();
    run("pages.py", &[root.join("docs/src/python.md"), root.join("examples/machine.ipynb")]);
}

/// A module linked with libpython works with one Python only, and not with a statically linked one.
#[test]
fn module_does_not_link_libpython() {
    let bytes = std::fs::read(module()).unwrap();
    let needs = b"libpython";
    assert!(!bytes.windows(needs.len()).any(|part| part == needs));
    let exports = b"PyInit__seatmap";
    assert!(bytes.windows(exports.len()).any(|part| part == exports), "it is not the module");
}
