//! The package as installed from a wheel, and Python programs that use it.

use std::path::{Path, PathBuf};
use std::process::Command;

const IS_NEW_ENOUGH: &str = "import sys; sys.exit(sys.version_info < (3, 9))";

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

pub fn module() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("lib_seatmap.so")
}

fn python() -> Option<String> {
    let name = std::env::var("SEATMAP_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if seatmap_needs::program(&name, &["-c", IS_NEW_ENOUGH]) {
        return Some(name);
    }
    seatmap_needs::skipped!("{name} is not a Python from 3.9 on");
    None
}

/// The package as installed from a wheel, in a temporary folder.
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

/// Runs a file of the tests' folder. Its lines about skipped checks bypass the test harness.
pub fn run(file: &str, arguments: &[PathBuf]) {
    let Some(python) = python() else { return };
    let package = installed();
    let state = tempfile::tempdir().unwrap();
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file))
        .args(arguments)
        .current_dir(state.path())
        .env("PYTHONPATH", package.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // Keeps the tests' measurements out of the user's state.
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
