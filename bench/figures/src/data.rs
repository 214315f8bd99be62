//! Published measurements beside the repository, where they are.

use seatmap_machine::{Profile, import};
use std::path::PathBuf;

/// The folder of public data: `SEATMAP_DATA`, else `../shared/data` beside the repository.
fn folder() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data");
    std::env::var_os("SEATMAP_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from)
}

/// A file of it; `None`, and a word on stderr, where it is absent.
pub fn file(name: &str) -> Option<PathBuf> {
    let path = folder().join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("bench: skipped {name}: not there; SEATMAP_DATA names the folder");
    None
}

/// A published matrix.
pub fn matrix(name: &str) -> Option<Profile> {
    let path = file(&format!("core-to-core/{name}.csv"))?;
    import::read(&std::fs::read(path).ok()?, name, None).ok()
}
