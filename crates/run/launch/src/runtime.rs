//! The treatment of threads by a program's language, as far as seats depend on it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Programs that ask for the number of CPUs after they have created threads. Java's launcher creates a thread that asks
/// and then sizes the garbage collector and the compilers; Node, Deno and Bun start workers before they run the script,
/// which asks.
const LATE_ASKERS: [&str; 5] = ["java", "node", "nodejs", "deno", "bun"];

/// The section that Go's linker writes into every program (package `debug/buildinfo`).
const OF_GO: &[u8] = b".go.buildinfo\0";

/// The lengths in bytes of a file's header and of a section's, as in `Elf64_Ehdr` and `Elf64_Shdr` of elf(5).
const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;

/// The most bytes of section names that are read.
const MOST_NAMES_BYTES: u64 = 1 << 16;

/// The runtime of a program, by its treatment of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// A thread is a unit of work; the program reads the number of CPUs at its start.
    Ordinary,
    /// The program reads the number of CPUs later than that, and in another thread than the first.
    AsksLate,
    /// Work moves among threads, which read the number of CPUs over and over: Go. A seat for a thread is meaningless
    /// there, and a narrow mask makes the program start fewer threads.
    MovesWork,
}

impl Runtime {
    /// The runtime of a program's file. One that cannot be read is taken for ordinary.
    pub fn of(file: &Path) -> Self {
        if file.file_name().is_some_and(|name| LATE_ASKERS.iter().any(|asker| name == *asker)) {
            return Runtime::AsksLate;
        }
        match has_section(file, OF_GO) {
            Ok(true) => Runtime::MovesWork,
            _ => Runtime::Ordinary,
        }
    }
}

/// Whether a file is a 64-bit ELF program of this computer's byte order with a section of this name.
fn has_section(path: &Path, name: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header)?;
    let half = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    if !header.starts_with(b"\x7fELF\x02") || half(58) != SECTION_BYTES {
        return Ok(false);
    }
    // The names stand in a section of their own, whose number is the header's last field.
    let sections_at = word(&header[40..48]);
    let names_header = sections_at.saturating_add((half(62) * SECTION_BYTES) as u64);
    let mut section = [0; SECTION_BYTES];
    file.seek(SeekFrom::Start(names_header))?;
    file.read_exact(&mut section)?;
    let (names_at, size_bytes) = (word(&section[24..32]), word(&section[32..40]));
    let mut names = Vec::new();
    file.seek(SeekFrom::Start(names_at))?;
    file.take(size_bytes.min(MOST_NAMES_BYTES)).read_to_end(&mut names)?;
    Ok(names.windows(name.len()).any(|window| window == name))
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(u64::MAX, u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn has(bytes: &[u8]) -> bool {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        has_section(file.path(), OF_GO).unwrap_or(false)
    }

    /// A header, a section's header behind it, and names.
    fn program(names: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES + SECTION_BYTES];
        bytes[..5].copy_from_slice(b"\x7fELF\x02");
        bytes[40..48].copy_from_slice(&(HEADER_BYTES as u64).to_ne_bytes());
        bytes[58..60].copy_from_slice(&(SECTION_BYTES as u16).to_ne_bytes());
        bytes[HEADER_BYTES + 24..HEADER_BYTES + 32].copy_from_slice(&128_u64.to_ne_bytes());
        bytes[HEADER_BYTES + 32..HEADER_BYTES + 40].copy_from_slice(&(names.len() as u64).to_ne_bytes());
        bytes.extend_from_slice(names);
        bytes
    }

    #[test]
    fn programs_of_go_are_known_by_a_section() {
        assert!(has(&program(b"\0.text\0.go.buildinfo\0.data\0")));
        assert!(!has(&program(b"\0.text\0.data\0")) && !has(b"#!/bin/sh\n") && !has(b""));
        assert_eq!(Runtime::of(&std::env::current_exe().unwrap()), Runtime::Ordinary);
        assert_eq!(Runtime::of(Path::new("/opt/jdk/bin/java")), Runtime::AsksLate);
        assert_eq!(Runtime::of(Path::new("/no/such")), Runtime::Ordinary);
    }

    proptest! {
        #[test]
        fn no_file_is_too_broken(cut in 0usize..150, at in 0usize..128, byte: u8) {
            let mut bytes = program(b"\0.go.buildinfo\0");
            bytes[at] = byte;
            bytes.truncate(cut);
            has(&bytes);
        }
    }
}
