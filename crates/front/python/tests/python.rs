//! The Python package by its own tests, in Python: `checks.py` has the package, `pages.py` runs the
//! guide's page and the notebook.
//!
//! They need a Python from 3.9 on: `python3`, or the one that `SEATMAP_PYTHON` names, such as that
//! of `make python` with NumPy, SciPy and NetworkX. Checks that need more are skipped, and say so.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether this interpreter is new enough for the module.
const IS_NEW_ENOUGH: &str = "import sys; sys.exit(sys.version_info < (3, 9))";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// The module that cargo has built before this test.
fn module() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("lib_seatmap.so")
}

/// The interpreter, where there is one.
fn python() -> Option<String> {
    let name = std::env::var("SEATMAP_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if seatmap_needs::program(&name, &["-c", IS_NEW_ENOUGH]) {
        return Some(name);
    }
    seatmap_needs::skipped!("{name} is not a Python from 3.9 on");
    None
}

/// A folder with the package as a wheel has it.
fn installed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("seatmap");
    std::fs::create_dir(&package).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/seatmap");
    for file in std::fs::read_dir(sources).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, package.join(path.file_name().unwrap())).unwrap();
        }
    }
    std::fs::copy(module(), package.join("_seatmap.abi3.so")).unwrap();
    folder
}

/// Runs a file of this folder. Its lines on skipped checks are shown past the harness.
fn run(file: &str, arguments: &[PathBuf]) {
    let Some(python) = python() else { return };
    let package = installed();
    let state = tempfile::tempdir().unwrap();
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file))
        .args(arguments)
        .current_dir(state.path())
        .env("PYTHONPATH", package.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // Measurements of tests are not remembered of this computer.
        .env("XDG_STATE_HOME", state.path())
        .env("SEATMAP_RUN", state.path().join("run"))
        .output()
        .unwrap();
    let [printed, told] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    told.lines()
        .filter_map(|line| line.strip_prefix("skipped: "))
        .for_each(|line| seatmap_needs::skipped!("{line}"));
    assert!(output.status.success(), "{file}\n{printed}\n{told}");
}

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
