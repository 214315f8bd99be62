//! `libseatmap_trace` and the programs of its own tests.

use std::path::PathBuf;

/// The folder in which cargo built the library before the tests. `None` if only this package was
/// built.
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

pub fn source(name: &str) -> String {
    format!("{}/../trace-c/tests/programs/{name}", env!("CARGO_MANIFEST_DIR"))
}
