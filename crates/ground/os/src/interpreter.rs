//! The file that a program needs to be started: the interpreter of a script (execve(2)), the loader
//! of an ELF program (ld.so(8)). Where either is missing, the kernel answers `ENOENT` and no more.

use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The bytes of a script in which the kernel looks for its interpreter (`BINPRM_BUF_SIZE` of
/// `include/uapi/linux/binfmts.h`).
const SCRIPT_BYTES: usize = 256;

/// The bytes of a program in which the table of its segments and the loader's name are looked for;
/// linkers put both into the first page.
const PROGRAM_BYTES: u64 = 64 << 10;

/// `PT_INTERP` of elf(5): the segment that names the loader.
const NAMES_LOADER: u64 = 3;

/// The error of the kernel, with the file that is missing if it is another than the program.
#[must_use]
pub fn explained(program: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    match named(program).filter(|interpreter| !interpreter.exists()) {
        Some(missing) => io::Error::new(
            io::ErrorKind::NotFound,
            format!("it needs {}, which is not there", missing.display()),
        ),
        None => error,
    }
}

/// The interpreter or loader that a file names.
fn named(program: &Path) -> Option<PathBuf> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(program).ok()?.take(PROGRAM_BYTES).read_to_end(&mut bytes).ok()?;
    let name = if bytes.starts_with(b"#!") { of_script(&bytes) } else { of_program(&bytes) };
    name.filter(|name| !name.is_empty()).map(|name| PathBuf::from(OsStr::from_bytes(name)))
}

fn of_script(bytes: &[u8]) -> Option<&[u8]> {
    let line = bytes[2..bytes.len().min(SCRIPT_BYTES)].split(|byte| *byte == b'\n').next()?;
    line.split(|byte| b" \t".contains(byte)).find(|word| !word.is_empty())
}

/// The name in the segment `PT_INTERP`, of 32 or 64 bits and this computer's byte order.
fn of_program(bytes: &[u8]) -> Option<&[u8]> {
    let is_long = match bytes.get(..5)? {
        b"\x7fELF\x02" => true,
        b"\x7fELF\x01" => false,
        _ => return None,
    };
    // e_phoff, e_phentsize and e_phnum; p_offset and p_filesz of a segment (elf(5)).
    let [table, entry, count] =
        if is_long { [32..40, 54..56, 56..58] } else { [28..32, 42..44, 44..46] };
    let [offset, length] = if is_long { [8..16, 32..40] } else { [4..8, 16..20] };
    let table = number(bytes, table)?;
    let entry = number(bytes, entry)?;
    (0..number(bytes, count)?).find_map(|at| {
        let segment = bytes.get(usize::try_from(table.checked_add(at * entry)?).ok()?..)?;
        if number(segment, 0..4)? != NAMES_LOADER {
            return None;
        }
        let begin = usize::try_from(number(segment, offset.clone())?).ok()?;
        let end = begin.checked_add(usize::try_from(number(segment, length.clone())?).ok()?)?;
        bytes.get(begin..end)?.split(|byte| *byte == 0).next()
    })
}

/// The unsigned number in these bytes.
fn number(bytes: &[u8], at: Range<usize>) -> Option<u64> {
    let own = bytes.get(at)?;
    let mut wide = [0; 8];
    if cfg!(target_endian = "little") {
        wide[..own.len()].copy_from_slice(own);
    } else {
        wide[8 - own.len()..].copy_from_slice(own);
    }
    Some(u64::from_ne_bytes(wide))
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
    fn a_script_needs_its_interpreter() {
        assert_eq!(told(b"#! /no/such -x\n"), "it needs /no/such, which is not there");
        for well in [&b"#!/bin/sh\n"[..], b"#!\n", b"#!", b"", b"\x7fELF"] {
            assert_eq!(told(well), "No such file or directory (os error 2)");
        }
    }

    #[test]
    fn a_program_needs_its_loader() {
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
            assert_eq!(told(&bytes), "it needs /no/such/loader, which is not there");
            // Cut off anywhere, it makes nothing panic.
            (0..bytes.len()).for_each(|length| drop(told(&bytes[..length])));
        }
    }

    #[test]
    fn another_error_stays() {
        let error = explained(Path::new("/bin/sh"), io::Error::from_raw_os_error(libc::EACCES));
        assert_eq!(error.raw_os_error(), Some(libc::EACCES));
    }
}
