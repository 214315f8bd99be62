//! Whether a program needs a loader, which opens libraries before the program does anything
//! (ld.so(8)).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// `PT_INTERP` of elf(5): the segment that names the loader.
const NAMES_LOADER: u32 = 3;

/// The length of the file's header, and of one segment's, in bytes: both as in `Elf64_Ehdr` and
/// `Elf64_Phdr`.
const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;

/// Whether a file is a 64-bit ELF program of this computer's byte order that names no loader.
///
/// # Errors
/// The file cannot be read.
pub fn is_static(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut header = [0; HEADER_BYTES];
    if file.read_exact(&mut header).is_err() || !header.starts_with(b"\x7fELF\x02") {
        return Ok(false);
    }
    // e_phoff, e_phentsize and e_phnum of `Elf64_Ehdr` (elf(5)).
    let segments_at = header[32..40].try_into().map_or(u64::MAX, u64::from_ne_bytes);
    let size = half(&header, 54);
    let count = half(&header, 56);
    if usize::from(size) != SEGMENT_BYTES || file.seek(SeekFrom::Start(segments_at)).is_err() {
        return Ok(false);
    }
    let mut segment = [0; SEGMENT_BYTES];
    for _ in 0..count {
        if file.read_exact(&mut segment).is_err() || segment[..4] == NAMES_LOADER.to_ne_bytes() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The 16-bit number at this offset of an ELF header.
pub(crate) fn half(header: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([header[at], header[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    /// A header with a table of segments behind it.
    fn program(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[..5].copy_from_slice(b"\x7fELF\x02");
        bytes[32..40].copy_from_slice(&(HEADER_BYTES as u64).to_ne_bytes());
        bytes[54..56].copy_from_slice(&(SEGMENT_BYTES as u16).to_ne_bytes());
        bytes[56..58].copy_from_slice(&(kinds.len() as u16).to_ne_bytes());
        kinds.iter().for_each(|kind| {
            bytes.extend_from_slice(&kind.to_ne_bytes());
            bytes.resize(bytes.len() + SEGMENT_BYTES - 4, 0);
        });
        bytes
    }

    #[test]
    fn a_program_is_static_where_no_segment_names_a_loader() {
        let judged = |bytes: &[u8]| is_static(file(bytes).path()).unwrap();
        assert!(judged(&program(&[1, 1, 6])));
        assert!(!judged(&program(&[1, NAMES_LOADER])));
        let cut = program(&[1, 1]);
        assert!(
            !judged(&cut[..cut.len() - 1])
                && !judged(b"#!/bin/sh\n")
                && !judged(b"")
                && !judged(&cut[..60])
        );
        assert!(
            !is_static(&std::env::current_exe().unwrap()).unwrap(),
            "tests are linked to the C library"
        );
        assert!(is_static(Path::new("/no/such")).is_err());
    }
}
