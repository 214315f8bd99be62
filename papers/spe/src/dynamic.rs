//! The dynamic section of an image, for linking at load time.

use crate::elf::{self, ElfBytes, Segment, Symbol};
use crate::error::SpeError;
use std::collections::HashMap;
use std::ffi::{CStr, CString};

/// Relocations of x86-64 (its psABI): a symbol with an addend, a symbol (twice), and the image's
/// own address.
const ADDRESS_64: u32 = 1;
const GLOB_DAT: u32 = 6;
const JUMP_SLOT: u32 = 7;
const RELATIVE: u32 = 8;
/// Entries of the dynamic section (the generic ABI).
const NEEDED: u64 = 1;
const PLT_REL_SIZE: u64 = 2;
const HASH: u64 = 4;
const NAMES: u64 = 5;
const SYMBOLS: u64 = 6;
const RELA: u64 = 7;
const RELA_SIZE: u64 = 8;
const PLT_REL: u64 = 23;
const INIT_ARRAY: u64 = 25;
const INIT_ARRAY_SIZE: u64 = 27;

/// The dynamic section.
#[derive(Debug)]
pub struct Dynamic {
    /// Each kind's first value. A map, because each symbol needs two, and a hostile section fills
    /// the image with entries.
    values: HashMap<u64, usize>,
    needed: Vec<usize>,
}

/// A word set by a relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocatedWord {
    /// Its place in the image.
    pub at: usize,
    /// Its value, or the offset from the image's address.
    pub value: u64,
    /// Whether it is an address in the image, which needs relocation.
    pub moves: bool,
}

impl Dynamic {
    /// Reads the section.
    ///
    /// # Errors
    /// [`SpeError::Image`] without one.
    pub fn read(segments: &[Segment], memory: &[u8]) -> Result<Self, SpeError> {
        let section = segments.iter().find(|segment| segment.kind == elf::DYNAMIC);
        let section =
            section.filter(|section| section.address + section.memory_bytes <= memory.len());
        let section = section.ok_or_else(|| broken("its dynamic section"))?;
        let bytes = ElfBytes(memory);
        let entries = (0..section.memory_bytes / 16)
            .map_while(|number| pair(&bytes, section, number))
            .take_while(|pair| pair.0 != 0);
        let mut dynamic = Dynamic { values: HashMap::new(), needed: Vec::new() };
        for (kind, value) in entries {
            if kind == NEEDED {
                dynamic.needed.push(value);
            } else {
                dynamic.values.entry(kind).or_insert(value);
            }
        }
        Ok(dynamic)
    }

    /// Address and number of the functions that run before `main`.
    pub fn constructors(&self) -> Option<(usize, usize)> {
        Some((self.value(INIT_ARRAY)?, self.value(INIT_ARRAY_SIZE)? / 8))
    }

    /// The value of a symbol defined by the image.
    pub fn find(&self, memory: &[u8], name: &[u8]) -> Option<usize> {
        // The hash chains are not used: a program looks up three names, and damaged chains are
        // endless.
        let mut symbols =
            (0..self.symbols(memory)?).filter_map(|number| self.symbol(memory, number));
        symbols.find(|symbol| symbol.name == name)?.address
    }

    /// Symbols in the hash table, limited by the memory: a damaged table may claim billions.
    fn symbols(&self, memory: &[u8]) -> Option<usize> {
        let count = ElfBytes(memory).word(self.value(HASH)?.checked_add(4)?)? as usize;
        Some(count.min(memory.len().saturating_sub(self.value(SYMBOLS)?) / elf::SYMBOL_BYTES))
    }

    /// Opens the needed shared libraries for good, for example libm.
    ///
    /// # Errors
    /// [`SpeError::Image`] if one cannot be opened.
    pub fn open_libraries(&self, memory: &[u8]) -> Result<(), SpeError> {
        let names = self.value(NAMES).ok_or_else(|| broken("its table of names"))?;
        for offset in &self.needed {
            let name = names.checked_add(*offset).and_then(|at| ElfBytes(memory).text(at));
            let name = name
                .and_then(|name| CString::new(name).ok())
                .ok_or_else(|| broken("a library's name"))?;
            // SAFETY: the name ends with a zero. The library's constructors run, as the program's
            // author intends.
            if unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }.is_null()
            {
                return Err(SpeError::Image(format!(
                    "it needs {}, which cannot be opened",
                    name.to_string_lossy()
                )));
            }
        }
        Ok(())
    }

    /// The words set by relocations, all of them in the image.
    ///
    /// # Errors
    /// [`SpeError::Image`] for an unknown type or an undefined symbol.
    pub fn words(&self, memory: &[u8]) -> Result<Vec<RelocatedWord>, SpeError> {
        let tables =
            [(RELA, RELA_SIZE), (PLT_REL, PLT_REL_SIZE)].into_iter().flat_map(|(table, bytes)| {
                let table = self.value(table).unwrap_or(0);
                let bytes = self.value(bytes).unwrap_or(0);
                (0..bytes / 24).map(move |number| table.saturating_add(24 * number))
            });
        tables
            .map(|at| {
                self.word(memory, at).and_then(|word| {
                    let ends = word.at.checked_add(8).is_some_and(|end| end <= memory.len());
                    ends.then_some(word).ok_or_else(|| broken("a relocation"))
                })
            })
            .collect()
    }

    fn word(&self, memory: &[u8], at: usize) -> Result<RelocatedWord, SpeError> {
        let relocation =
            elf::relocation(ElfBytes(memory), at).ok_or_else(|| broken("a relocation"))?;
        let addend = relocation.addend.cast_unsigned();
        let (value, moves) = match relocation.kind {
            RELATIVE => (addend, true),
            ADDRESS_64 | GLOB_DAT | JUMP_SLOT => {
                let symbol =
                    self.symbol(memory, relocation.symbol).ok_or_else(|| broken("a symbol"))?;
                let (value, moves) = resolve(&symbol)?;
                (value.wrapping_add(if relocation.kind == ADDRESS_64 { addend } else { 0 }), moves)
            }
            kind => {
                return Err(SpeError::Image(format!(
                    "it has a relocation of the unknown type {kind}"
                )));
            }
        };
        Ok(RelocatedWord { at: relocation.address, value, moves })
    }

    fn value(&self, kind: u64) -> Option<usize> {
        self.values.get(&kind).copied()
    }

    fn symbol<'a>(&self, memory: &'a [u8], number: usize) -> Option<Symbol<'a>> {
        elf::symbol(ElfBytes(memory), self.value(SYMBOLS)?, self.value(NAMES)?, number)
    }
}

fn pair(bytes: &ElfBytes, section: &Segment, number: usize) -> Option<(u64, usize)> {
    Some((
        bytes.double(section.address + 16 * number)?,
        bytes.size(section.address + 16 * number + 8)?,
    ))
}

/// The error of a missing or damaged part of an image.
pub fn broken(what: &str) -> SpeError {
    SpeError::Image(format!("{what} is missing or broken"))
}

fn resolve(symbol: &Symbol) -> Result<(u64, bool), SpeError> {
    if let Some(address) = symbol.address {
        return Ok((address as u64, true));
    }
    let name = CString::new(symbol.name).map_err(|_| broken("a symbol's name"))?;
    let found = in_process(&name);
    if found == 0 && !symbol.is_weak {
        Err(SpeError::Image(format!(
            "it uses '{}', but nothing defines it",
            name.to_string_lossy()
        )))
    } else {
        Ok((found, false))
    }
}

fn in_process(name: &CStr) -> u64 {
    // SAFETY: the name ends with a zero.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 4096;

    fn image(entries: &[(u64, u64)]) -> (Vec<Segment>, Vec<u8>) {
        let mut memory = vec![0; BYTES];
        let places = [(SYMBOLS, 1024), (NAMES, 2048)];
        for (at, (kind, value)) in entries.iter().chain(&places).enumerate() {
            memory[16 * at..][..8].copy_from_slice(&kind.to_le_bytes());
            memory[16 * at + 8..][..8].copy_from_slice(&value.to_le_bytes());
        }
        let section = Segment {
            kind: elf::DYNAMIC,
            executes: false,
            offset: 0,
            address: 0,
            file_bytes: 512,
            memory_bytes: 512,
        };
        (vec![section], memory)
    }

    #[test]
    fn hostile_hash_table_is_limited_by_memory() {
        let (segments, mut memory) = image(&[(HASH, 512)]);
        memory[512..520].fill(0xff);
        let dynamic = Dynamic::read(&segments, &memory).unwrap();
        assert_eq!(dynamic.symbols(&memory), Some((BYTES - 1024) / elf::SYMBOL_BYTES));
        assert_eq!(dynamic.find(&memory, b"main"), None);
    }

    #[test]
    fn tables_beyond_memory_are_empty_or_invalid() {
        for entries in [
            vec![],
            vec![(HASH, u64::MAX - 3)],
            vec![(HASH, BYTES as u64 - 4)],
            vec![(SYMBOLS, u64::MAX), (HASH, 512)],
        ] {
            let (segments, mut memory) = image(&entries);
            memory[512..520].fill(0xff);
            let dynamic = Dynamic::read(&segments, &memory).unwrap();
            assert_eq!(dynamic.find(&memory, b"main"), None, "{entries:?}");
        }
        let (segments, memory) = image(&[(RELA, 512), (RELA_SIZE, u64::MAX)]);
        let dynamic = Dynamic::read(&segments, &memory).unwrap();
        assert!(dynamic.words(&memory).is_err());
    }

    #[test]
    fn first_of_duplicate_entries_is_used() {
        let (segments, memory) = image(&[(HASH, 512), (HASH, 600), (NEEDED, 1), (NEEDED, 2)]);
        let dynamic = Dynamic::read(&segments, &memory).unwrap();
        assert_eq!((dynamic.value(HASH), &dynamic.needed[..]), (Some(512), &[1, 2][..]));
    }
}
