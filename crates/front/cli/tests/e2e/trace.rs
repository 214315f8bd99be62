//! `libseatmap_trace` and the programs of its own tests.

use crate::common::Place;
use crate::run::programs::installed;
use std::path::PathBuf;
use std::process::Command;

/// The folder in which cargo builds the library before the tests, as the library's own tests need
/// it there; `None`, with a message, where this package alone was built.
pub fn folder() -> Option<PathBuf> {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let is_there = folder.join("libseatmap_trace.so").is_file();
    if !is_there {
        seatmap_needs::skipped!(
            "libseatmap_trace is not built: the tests of the whole workspace build it"
        );
    }
    is_there.then_some(folder)
}

/// The shared library's path.
pub fn library() -> Option<String> {
    Some(folder()?.join("libseatmap_trace.so").display().to_string())
}

/// A source of the library's own tests.
pub fn source(name: &str) -> String {
    format!("{}/../trace-c/tests/programs/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Compiles a program of the library's own tests into a place, under the name of its source.
pub fn compile(place: &Place, name: &str) {
    let program = place.path(name);
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-pthread", "-o"]).arg(program).arg(source(&format!("{name}.c")));
    assert!(gcc.status().unwrap().success());
}

/// A place with a program whose pages can be sampled, and the library; `None`, with a message,
/// where there is no compiler or the kernel does not allow it.
pub fn sampled(name: &str) -> Option<(Place, String)> {
    let place = Place::new();
    let library = library()?;
    if !installed("gcc") {
        seatmap_needs::skipped!("no gcc");
        return None;
    }
    let probe = place.run(&["observe", "--method", "pages", "--library", &library, "--", "true"]);
    if !probe.status.success() {
        seatmap_needs::skipped!("{}", String::from_utf8_lossy(&probe.stderr));
        return None;
    }
    compile(&place, name);
    Some((place, library))
}
