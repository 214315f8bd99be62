//! The dynamic section of an image: what is to be linked when it is loaded.

use crate::elf::{self, Bytes, Segment, Symbol};
use crate::error::SpeError;
use std::ffi::{CStr, CString};

/// Relocations of x86-64 (its psABI): an address with an addend, a symbol's address twice, the
/// image's own address.
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

/// The dynamic section: numbers of kinds, and values.
#[derive(Debug)]
pub struct Dynamic {
    entries: Vec<(u64, usize)>,
}

/// A word that a relocation sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it lies in the image.
    pub at: usize,
    /// Its value, or what is added to the image's address.
    pub value: u64,
    /// Whether it is an address in the image, which follows the image to its place.
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
        let bytes = Bytes(memory);
        Ok(Dynamic {
            entries: (0..section.memory_bytes / 16)
                .map_while(|number| pair(&bytes, section, number))
                .take_while(|pair| pair.0 != 0)
                .collect(),
        })
    }

    /// Where the functions' addresses lie that run before `main`, and how many there are.
    #[must_use]
    pub fn constructors(&self) -> Option<(usize, usize)> {
        Some((self.value(INIT_ARRAY)?, self.value(INIT_ARRAY_SIZE)? / 8))
    }

    /// The value of a symbol that the image defines.
    #[must_use]
    pub fn find(&self, memory: &[u8], name: &[u8]) -> Option<usize> {
        let count = Bytes(memory).word(self.value(HASH)?.checked_add(4)?)?;
        let mut symbols = (0..count as usize).filter_map(|number| self.symbol(memory, number));
        symbols.find(|symbol| symbol.name == name)?.address
    }

    /// Opens the shared libraries that the program names, such as the mathematical one. They stay
    /// open.
    ///
    /// # Errors
    /// [`SpeError::Image`] for one that cannot be opened.
    pub fn open_libraries(&self, memory: &[u8]) -> Result<(), SpeError> {
        let names = self.value(NAMES).ok_or_else(|| broken("its table of names"))?;
        for (_, offset) in self.entries.iter().filter(|entry| entry.0 == NEEDED) {
            let name = names.checked_add(*offset).and_then(|at| Bytes(memory).text(at));
            let name = name
                .and_then(|name| CString::new(name).ok())
                .ok_or_else(|| broken("a library's name"))?;
            // SAFETY: the name ends with a zero. The library's own constructors run, as the
            // program's author wants.
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

    /// The words that the relocations set, each of which lies in the image.
    ///
    /// # Errors
    /// [`SpeError::Image`] for a type that is not known, and for a symbol that nothing defines.
    pub fn words(&self, memory: &[u8]) -> Result<Vec<Word>, SpeError> {
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

    fn word(&self, memory: &[u8], at: usize) -> Result<Word, SpeError> {
        let relocation =
            elf::relocation(Bytes(memory), at).ok_or_else(|| broken("a relocation"))?;
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
        Ok(Word { at: relocation.address, value, moves })
    }

    fn value(&self, kind: u64) -> Option<usize> {
        self.entries.iter().find(|entry| entry.0 == kind).map(|entry| entry.1)
    }

    fn symbol<'a>(&self, memory: &'a [u8], number: usize) -> Option<Symbol<'a>> {
        elf::symbol(Bytes(memory), self.value(SYMBOLS)?, self.value(NAMES)?, number)
    }
}

fn pair(bytes: &Bytes, section: &Segment, number: usize) -> Option<(u64, usize)> {
    Some((
        bytes.double(section.address + 16 * number)?,
        bytes.size(section.address + 16 * number + 8)?,
    ))
}

/// An error in words about a part of an image.
#[must_use]
pub fn broken(what: &str) -> SpeError {
    SpeError::Image(format!("{what} is missing or broken"))
}

/// The address of a symbol, and whether it lies in the image; else it lies in the process or its
/// libraries.
fn resolve(symbol: &Symbol) -> Result<(u64, bool), SpeError> {
    if let Some(address) = symbol.address {
        return Ok((address as u64, true));
    }
    let name = CString::new(symbol.name).map_err(|_| broken("a symbol's name"))?;
    let found = in_process(&name);
    if found == 0 && !symbol.is_weak {
        Err(SpeError::Image(format!("nothing defines '{}', which it uses", name.to_string_lossy())))
    } else {
        Ok((found, false))
    }
}

fn in_process(name: &CStr) -> u64 {
    // SAFETY: the name ends with a zero.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as u64 }
}
