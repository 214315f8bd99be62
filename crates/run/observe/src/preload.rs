//! The library that MPI ranks preload.

use crate::ObserveError;
use seatmap_os::mounts;
use seatmap_os::scratch::Scratch;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const VARIABLE: &str = "LD_PRELOAD";

/// It works with every C library.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload.so"));

/// Writes the library into a private folder, and returns its path.
///
/// # Errors
/// [`ObserveError::NoLibrary`]: the loader could not load it from there. [`ObserveError::System`]:
/// it could not be written.
pub fn write(folder: &Path) -> Result<PathBuf, ObserveError> {
    let file = folder.join("libseatmap_mpi.so");
    let why = if file.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        "LD_PRELOAD allows no blank or colon in the path"
    } else if mounts::forbids_programs(folder) {
        "the file system is mounted with noexec"
    } else {
        std::fs::write(&file, LIBRARY).map_err(ObserveError::System)?;
        return Ok(file);
    };
    Err(ObserveError::NoLibrary(format!(
        "cannot load the library that counts messages from '{}': {why}; set TMPDIR to another \
         folder",
        folder.display()
    )))
}

/// The file disappears with the returned folder.
pub(crate) fn load_into(command: &mut Command) -> Result<Scratch, ObserveError> {
    let folder = Scratch::new("preload").map_err(ObserveError::System)?;
    let library = write(folder.path())?;
    command.env(VARIABLE, value(&library, std::env::var_os(VARIABLE)));
    Ok(folder)
}

/// This library comes after the user's.
fn value(library: &Path, before: Option<OsString>) -> OsString {
    let mut value = before.filter(|before| !before.is_empty()).unwrap_or_default();
    if !value.is_empty() {
        value.push(":");
    }
    value.push(library);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::elf::Elf;

    /// The entries that name a library (`DT_NEEDED` of elf(5)).
    const NEEDED: u64 = 1;

    #[test]
    fn preload_library_has_no_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let elf = Elf::open(&write(folder.path()).unwrap()).unwrap();
        let dynamic = elf.bytes(elf.section(".dynamic").unwrap()).unwrap();
        let words: Vec<u64> = dynamic
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        assert!(words.len() > 2 && words.chunks(2).all(|entry| entry[0] != NEEDED), "{words:?}");
    }

    #[test]
    fn unusable_library_path_is_rejected_with_hint() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["with blank", "with:colon"] {
            let place = folder.path().join(name);
            std::fs::create_dir(&place).unwrap();
            let said = write(&place).unwrap_err().to_string();
            assert!(said.contains(name) && said.contains("set TMPDIR"), "{said}");
        }
    }

    #[test]
    fn user_preload_libraries_come_first() {
        let own = Path::new("/o.so");
        assert_eq!(value(own, None), "/o.so");
        assert_eq!(value(own, Some("".into())), "/o.so");
        assert_eq!(value(own, Some("/a.so:/b.so".into())), "/a.so:/b.so:/o.so");
    }
}
