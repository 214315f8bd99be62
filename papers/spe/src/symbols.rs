//! The names of a program's functions, for fault reports.

use crate::elf::{self, ElfBytes};
use std::ffi::CStr;

/// A section header's size, and the type of a symbol table (the generic ABI).
const SECTION_BYTES: usize = 64;
const SYMBOL_TABLE: u32 = 2;
const FUNCTION: u8 = 2;

/// An image's functions, by local address. A stripped image has none.
#[derive(Debug, Default)]
pub struct Symbols {
    functions: Vec<(u64, String)>,
}

impl Symbols {
    /// Reads a file's symbol table.
    pub fn read(file: &[u8]) -> Self {
        let mut functions = functions(ElfBytes(file)).unwrap_or_default();
        functions.sort_unstable();
        Symbols { functions }
    }

    /// Describes an address as a function and an offset. Functions outside of the `bytes` from
    /// `base` are in libraries.
    pub fn place(&self, address: u64, base: u64, bytes: u64) -> String {
        let local = address.wrapping_sub(base);
        if local >= bytes {
            return library(address);
        }
        let behind = self.functions.partition_point(|(start, _)| *start <= local);
        match behind.checked_sub(1).and_then(|at| self.functions.get(at)) {
            Some((start, name)) => format!("{name}+{:#x}", local - start),
            None => format!("{local:#x} of the local store"),
        }
    }
}

fn functions(file: ElfBytes) -> Option<Vec<(u64, String)>> {
    let sections = file.size(40)?;
    let count = usize::from(file.half(60)?);
    let table = (0..count)
        .filter_map(|number| section(sections, number))
        .find(|section| file.word(section.saturating_add(4)) == Some(SYMBOL_TABLE))?;
    let names_at = file.word(table.checked_add(40)?)? as usize;
    let names = file.size(section(sections, names_at)?.checked_add(24)?)?;
    let first = file.size(table.checked_add(24)?)?;
    // A damaged header says billions.
    let symbols = file.size(table.checked_add(32)?)?.min(file.0.len()) / elf::SYMBOL_BYTES;
    let found = (0..symbols).filter_map(|number| function(file, first, names, number));
    Some(found.collect())
}

fn section(sections: usize, number: usize) -> Option<usize> {
    sections.checked_add(number.checked_mul(SECTION_BYTES)?)
}

fn function(file: ElfBytes, first: usize, names: usize, number: usize) -> Option<(u64, String)> {
    let at = first.checked_add(number * elf::SYMBOL_BYTES)?;
    let symbol = file.0.get(at..at.checked_add(elf::SYMBOL_BYTES)?)?;
    let is_function = symbol[4] & 15 == FUNCTION;
    let name = names.checked_add(ElfBytes(symbol).word(0)? as usize)?;
    let address = ElfBytes(symbol).double(8)?;
    let name = String::from_utf8_lossy(file.text(name)?).into_owned();
    (is_function && address != 0 && !name.is_empty()).then_some((address, name))
}

fn library(address: u64) -> String {
    // SAFETY: all fields may be zero.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is looked up, and not read.
    let is_known = unsafe { libc::dladdr(address as *const libc::c_void, &raw mut found) } != 0;
    if !is_known || found.dli_sname.is_null() {
        return format!("{address:#x}");
    }
    // SAFETY: a string of the library, which stays loaded.
    let name = unsafe { CStr::from_ptr(found.dli_sname) }.to_string_lossy();
    format!("{name}+{:#x}", address.wrapping_sub(found.dli_saddr as u64))
}
