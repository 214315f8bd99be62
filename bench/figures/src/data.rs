//! Published measurements, if they are there.

use seatmap_machine::{Profile, import};

/// A published matrix.
pub fn matrix(name: &str) -> Option<Profile> {
    let path = seatmap_needs::published(&format!("core-to-core/{name}.csv"))?;
    import::read(&std::fs::read(path).ok()?, name, None).ok()
}
