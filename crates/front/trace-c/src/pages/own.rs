//! The files whose variables the thread that samples uses: they, and memory after them, are left
//! alone.
//!
//! A file is known by what it holds, as it may have any name: this library's function, and one of
//! the C library.

use crate::maps::{self, Mapping};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The numbers of the files; 0 for one that was not found.
static FILES: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// The dynamic linker, of which no function is known, and the C library, whose functions a program
/// that is linked to fixed addresses may replace by its own entries.
const NAMES: [&[u8]; 4] = [b"ld-linux", b"ld-musl", b"libc.so", b"libc-"];

/// Finds the files, before the first question.
pub fn find() {
    let here = find as fn() as usize;
    let in_c_library = libc::ioctl as *const () as usize;
    maps::each(|mapping| {
        for (file, address) in FILES.iter().zip([here, in_c_library]) {
            if (mapping.from..mapping.to).contains(&address) {
                file.store(mapping.inode, Release);
            }
        }
    });
}

/// Whether the thread that samples uses variables of this file.
pub fn is_own(mapping: &Mapping) -> bool {
    let name = mapping.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let is_named = NAMES.iter().any(|own| name.starts_with(own));
    let is_known = FILES.iter().any(|file| file.load(Acquire) == mapping.inode);
    mapping.inode != 0 && (is_named || is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_file_and_the_c_library_are_known_by_what_they_hold() {
        find();
        let own = std::env::current_exe().unwrap();
        let [mut program, mut libraries] = [false, false];
        maps::each(|mapping| {
            let path = std::str::from_utf8(mapping.path).unwrap_or_default();
            program |= own.to_str() == Some(path) && is_own(mapping);
            libraries |= path.contains("libc.so") && is_own(mapping);
            assert!(!is_own(mapping) || mapping.inode != 0);
        });
        assert!(program && libraries);
    }
}
