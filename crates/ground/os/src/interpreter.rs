//! The file that a program needs to start: a script's interpreter (execve(2)) or an ELF program's
//! loader (ld.so(8)). If it is missing, the kernel reports only `ENOENT`.

use crate::named_file;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The kernel looks for the interpreter in this many bytes (`BINPRM_BUF_SIZE` of
/// `include/uapi/linux/binfmts.h`).
const SCRIPT_BYTES: usize = 256;

/// `e_ident` of 64-bit and 32-bit programs (elf(5)).
const LONG_ELF: &[u8] = b"\x7fELF\x02";
const SHORT_ELF: &[u8] = b"\x7fELF\x01";

/// Sizes of `Elf64_Phdr` and `Elf32_Phdr`.
const LONG_SEGMENT_BYTES: u64 = 56;
const SHORT_SEGMENT_BYTES: u64 = 32;

/// `PT_INTERP` of elf(5).
const NAMES_LOADER: u64 = 3;

/// `PATH_MAX` of limits.h.
const LONGEST_NAME_BYTES: u64 = 4096;

/// Adds the name of a missing interpreter or loader to the kernel's error.
pub fn explained(program: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    match named(program).filter(|interpreter| !interpreter.exists()) {
        Some(missing) => io::Error::new(
            io::ErrorKind::NotFound,
            format!("it needs {}, which does not exist", missing.display()),
        ),
        None => error,
    }
}

/// Whether a file is a 64-bit ELF program of this computer's byte order without a loader, which
/// would open libraries first.
///
/// # Errors
/// The file cannot be opened.
pub fn is_static(path: &Path) -> io::Result<bool> {
    let file = named_file::open(path)?;
    let is_long = bytes(&file, 0, LONG_ELF.len()).is_ok_and(|first| first == LONG_ELF);
    Ok(is_long && matches!(of_program(&file), Ok(None)))
}

fn named(program: &Path) -> Option<PathBuf> {
    let file = named_file::open(program).ok()?;
    let name = of_script(&file).or_else(|| of_program(&file).ok()?)?;
    (!name.is_empty()).then(|| PathBuf::from(OsString::from_vec(name)))
}

fn of_script(file: &File) -> Option<Vec<u8>> {
    let mut begin = [0; SCRIPT_BYTES];
    let length = file.read_at(&mut begin, 0).ok()?;
    let line = begin[..length].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    line.split(|byte| b" \t".contains(byte)).find(|word| !word.is_empty()).map(<[u8]>::to_vec)
}

/// The `PT_INTERP` name of a 32-bit or 64-bit program of this computer's byte order.
///
/// # Errors
/// It is another kind of file, or truncated.
fn of_program(file: &File) -> io::Result<Option<Vec<u8>>> {
    let is_long = match &bytes(file, 0, LONG_ELF.len())?[..] {
        LONG_ELF => true,
        SHORT_ELF => false,
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    // e_phoff, e_phentsize and e_phnum; p_offset and p_filesz of a segment (elf(5)).
    let [table, entry, count] =
        if is_long { [32..40, 54..56, 56..58] } else { [28..32, 42..44, 44..46] };
    let [offset, length] = if is_long { [8..16, 32..40] } else { [4..8, 16..20] };
    let entry_bytes = if is_long { LONG_SEGMENT_BYTES } else { SHORT_SEGMENT_BYTES };
    let table = number(file, 0, table)?;
    if number(file, 0, entry)? != entry_bytes {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let count = number(file, 0, count)?;
    // A truncated file is not a static program.
    let _ = bytes(file, table.saturating_add(count * entry_bytes).saturating_sub(1), 1)?;
    for at in 0..count {
        let segment = table.saturating_add(at * entry_bytes);
        if number(file, segment, 0..4)? == NAMES_LOADER {
            let begin = number(file, segment, offset)?;
            let length = number(file, segment, length)?.min(LONGEST_NAME_BYTES);
            let mut name = bytes(file, begin, length as usize)?;
            name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn bytes(file: &File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

fn number(file: &File, place: u64, at: Range<u64>) -> io::Result<u64> {
    let own = bytes(file, place.saturating_add(at.start), (at.end - at.start) as usize)?;
    let mut wide = [0; 8];
    if cfg!(target_endian = "little") {
        wide[..own.len()].copy_from_slice(&own);
    } else {
        wide[8 - own.len()..].copy_from_slice(&own);
    }
    Ok(u64::from_ne_bytes(wide))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, bytes).unwrap();
        explained(&program, io::Error::from_raw_os_error(libc::ENOENT)).to_string()
    }

    #[test]
    fn missing_script_interpreter_is_named() {
        assert_eq!(told(b"#! /no/such -x\n"), "it needs /no/such, which does not exist");
        for well in [&b"#!/bin/sh\n"[..], b"#!\n", b"#!", b"", b"\x7fELF"] {
            assert_eq!(told(well), "No such file or directory (os error 2)");
        }
    }

    #[test]
    fn missing_program_loader_is_named() {
        for (is_long, header, segment) in [(true, 64, 56), (false, 52, 32)] {
            let mut bytes = vec![0; header + segment];
            bytes[..5].copy_from_slice(if is_long { b"\x7fELF\x02" } else { b"\x7fELF\x01" });
            let mut put = |at: usize, value: u64, length: usize| {
                let value = value.to_ne_bytes();
                let from = if cfg!(target_endian = "little") { 0 } else { 8 - length };
                bytes[at..at + length].copy_from_slice(&value[from..from + length]);
            };
            let name = b"/no/such/loader\0";
            let word = if is_long { 8 } else { 4 };
            put(if is_long { 32 } else { 28 }, header as u64, word);
            put(if is_long { 54 } else { 42 }, segment as u64, 2);
            put(if is_long { 56 } else { 44 }, 1, 2);
            put(header, NAMES_LOADER, 4);
            put(header + word, (header + segment) as u64, word);
            put(header + 4 * word, name.len() as u64, word);
            bytes.extend(name);
            assert_eq!(told(&bytes), "it needs /no/such/loader, which does not exist");
            (0..bytes.len()).for_each(|length| drop(told(&bytes[..length])));
        }
    }

    fn is_static_file(bytes: &[u8]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, bytes).unwrap();
        is_static(&program).unwrap()
    }

    fn with_segments(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..5].copy_from_slice(LONG_ELF);
        bytes[32..40].copy_from_slice(&64_u64.to_ne_bytes());
        bytes[54..56].copy_from_slice(&(LONG_SEGMENT_BYTES as u16).to_ne_bytes());
        bytes[56..58].copy_from_slice(&(kinds.len() as u16).to_ne_bytes());
        for kind in kinds {
            bytes.extend_from_slice(&kind.to_ne_bytes());
            bytes.resize(bytes.len() + LONG_SEGMENT_BYTES as usize - 4, 0);
        }
        bytes
    }

    #[test]
    fn program_without_loader_segment_is_static() {
        assert!(is_static_file(&with_segments(&[1, 1, 6])));
        assert!(!is_static_file(&with_segments(&[1, NAMES_LOADER as u32])));
        let cut = with_segments(&[1, 1]);
        for other in [&cut[..cut.len() - 1], &cut[..60], b"#!/bin/sh\n", b"", b"\x7fELF\x01"] {
            assert!(!is_static_file(other));
        }
        let own = std::env::current_exe().unwrap();
        assert!(!is_static(&own).unwrap(), "tests are linked to the C library");
        assert!(is_static(Path::new("/no/such")).is_err());
    }

    #[test]
    fn other_errors_are_unchanged() {
        let error = explained(Path::new("/bin/sh"), io::Error::from_raw_os_error(libc::EACCES));
        assert_eq!(error.raw_os_error(), Some(libc::EACCES));
    }
}
