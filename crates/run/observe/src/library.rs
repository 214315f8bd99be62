//! The file of `libseatmap_trace`, which runs inside observed programs.

use seatmap_os::trusted;
use std::io;
use std::path::{Path, PathBuf};

/// The library's file.
const LIBRARY: &str = "libseatmap_trace.so";

/// The library that was named, or the one beside this program's own file: where it is built, or
/// installed.
///
/// # Errors
/// A sentence: there is none, or others could have changed it.
pub fn find(named: Option<&Path>, program: io::Result<PathBuf>) -> Result<PathBuf, String> {
    if let Some(file) = named {
        return trusted::check_library(file).map_err(|error| {
            if error.is_absent() {
                format!("{}: there is no such file", file.display())
            } else {
                format!("it would run in your program: {error}")
            }
        });
    }
    let program = program.map_err(|error| error.to_string())?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let places = [folder.join(LIBRARY), folder.join("../lib").join(LIBRARY)];
    let place = places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        format!(
            "{LIBRARY} is not installed beside seatmap; 'make install-lib' does that, and \
             --library names another"
        )
    })?;
    trusted::check_library(&place).map_err(|error| format!("it would run in your program: {error}"))
}
