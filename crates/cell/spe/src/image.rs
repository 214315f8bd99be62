//! A program for SPUs: an ELF image, checked, relocated and copied into a local store.

use crate::elf::{self, Bytes, Segment, Symbol};
use crate::error::SpeError;
use crate::hooks::LINK_WORDS;
use crate::store::{MOST_KIB, Store};
use std::ffi::{CStr, CString};

/// The least stack that a program gets.
pub const LEAST_STACK_BYTES: usize = 16 << 10;
/// The block of words through which a program and the core find each other, in the image.
const LINK: &[u8] = b"__seatmap_spu";
/// The symbol whose value is the size of the store that the program was built for, if that is not the Cell's.
const STORE_BYTES: &[u8] = b"__seatmap_ls_bytes";
/// The symbol of an image that counts its work.
const COUNTS: &[u8] = b"__seatmap_counts";
/// Relocations of x86-64 (its psABI): an address with an addend, a symbol's address twice, the image's own address.
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

/// An image that was found to be a program.
#[derive(Clone, Debug)]
pub struct Image {
    file: Vec<u8>,
    segments: Vec<Segment>,
}

/// A program in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The address of its first instruction.
    pub start: usize,
    /// The end of its data in the store: its heap begins there.
    pub end: usize,
    /// Whether it counts its work in a register.
    pub counts: bool,
}

impl Image {
    /// Reads a program from a file.
    ///
    /// # Errors
    /// [`SpeError::File`], [`SpeError::Image`].
    pub fn open(name: &str) -> Result<Self, SpeError> {
        let file = std::fs::read(name).map_err(|source| SpeError::File { name: name.to_owned(), source })?;
        Image::new(file)
    }

    /// A program that is in memory.
    ///
    /// # Errors
    /// [`SpeError::Image`].
    pub fn new(file: Vec<u8>) -> Result<Self, SpeError> {
        let segments = elf::segments(&file).map_err(SpeError::Image)?;
        if segments.iter().any(|segment| segment.kind == elf::TLS) {
            return Err(SpeError::Image("it has thread-local variables, and an SPU has no threads".into()));
        }
        if !segments.iter().any(|segment| segment.kind == elf::LOAD) {
            return Err(SpeError::Image("nothing in it is to be loaded".into()));
        }
        Ok(Image { file, segments })
    }

    /// A program that is embedded in another one: the file ends behind its section headers.
    ///
    /// # Safety
    /// `start` leads to a whole ELF file in memory that nobody changes.
    ///
    /// # Errors
    /// [`SpeError::Image`].
    pub unsafe fn embedded(start: *const u8) -> Result<Self, SpeError> {
        // SAFETY: the caller says that a file is there; each has a header of 64 bytes.
        let header = Bytes(unsafe { std::slice::from_raw_parts(start, 64) });
        let headers = || {
            let entries = usize::from(header.half(58)?) * usize::from(header.half(60)?);
            header.size(40)?.checked_add(entries).filter(|end| (64..1 << 32).contains(end))
        };
        elf::segments(&[&header.0[..54], &[0; 10]].concat()).map_err(SpeError::Image)?;
        let bytes = headers().ok_or_else(|| SpeError::Image("its section headers are missing".into()))?;
        // SAFETY: the file is that long.
        Image::new(unsafe { std::slice::from_raw_parts(start, bytes) }.to_vec())
    }

    /// The file's bytes.
    #[must_use]
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// Copies the program into a store, relocated to its place there, and tells it where to find the core.
    ///
    /// # Errors
    /// [`SpeError::TooLarge`], [`SpeError::Image`], [`SpeError::Store`].
    pub fn load(&self, store: &Store, link: [u64; 2]) -> Result<Loaded, SpeError> {
        let needed_bytes = self.end().saturating_add(LEAST_STACK_BYTES);
        if needed_bytes > store.bytes() {
            return Err(SpeError::TooLarge { needed_bytes, store_bytes: store.bytes() });
        }
        let end = self.end().next_multiple_of(128);
        let mut memory = self.memory(end);
        let base = store.base() as u64;
        let dynamic = self.dynamic(&memory)?;
        dynamic.open_libraries(&memory)?;
        dynamic.relocate(&mut memory, base)?;
        dynamic.link(&mut memory, base, [link[0], link[1], store.bytes() as u64, end as u64])?;
        let start = Bytes(&self.file).size(24).filter(|start| *start < end).ok_or_else(|| broken("its start"))?;
        self.place(store, &memory)?;
        let counts = dynamic.find(&memory, COUNTS).is_some();
        Ok(Loaded { start: store.base() as usize + start, end, counts })
    }

    /// The store that the program was built for, in bytes, if that is not the Cell's.
    #[must_use]
    pub fn asked_bytes(&self) -> Option<usize> {
        let end = Some(self.end()).filter(|end| *end <= MOST_KIB << 10)?;
        let memory = self.memory(end);
        self.dynamic(&memory).ok()?.find(&memory, STORE_BYTES)
    }

    fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.kind == elf::LOAD)
    }

    fn end(&self) -> usize {
        self.loads().map(|segment| segment.address + segment.memory_bytes).max().unwrap_or(0)
    }

    fn memory(&self, bytes: usize) -> Vec<u8> {
        let mut memory = vec![0; bytes];
        for segment in self.loads() {
            let file = &self.file[segment.offset..segment.offset + segment.file_bytes];
            memory[segment.address..segment.address + segment.file_bytes].copy_from_slice(file);
        }
        memory
    }

    fn dynamic(&self, memory: &[u8]) -> Result<Dynamic, SpeError> {
        let section = self.segments.iter().find(|segment| segment.kind == elf::DYNAMIC);
        let section = section.filter(|section| section.address + section.memory_bytes <= memory.len());
        let section = section.ok_or_else(|| broken("its dynamic section"))?;
        let bytes = Bytes(memory);
        let pair = |number: usize| {
            Some((bytes.double(section.address + 16 * number)?, bytes.size(section.address + 16 * number + 8)?))
        };
        Ok(Dynamic { entries: (0..section.memory_bytes / 16).map_while(pair).take_while(|pair| pair.0 != 0).collect() })
    }

    fn place(&self, store: &Store, memory: &[u8]) -> Result<(), SpeError> {
        store.execute(0, 0)?;
        store.clear();
        // SAFETY: the image was checked to fit; no program runs in the store meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(memory.as_ptr(), store.effective(), memory.len()) };
        let text = self.loads().filter(|segment| segment.executes);
        let range = text.map(|segment| (segment.address, segment.address + segment.memory_bytes));
        let (start, end) = range.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0));
        store.execute(start, end)
    }
}

fn broken(what: &str) -> SpeError {
    SpeError::Image(format!("{what} is missing or broken"))
}

/// The dynamic section: numbers of kinds, and values.
struct Dynamic {
    entries: Vec<(u64, usize)>,
}

impl Dynamic {
    fn value(&self, kind: u64) -> Option<usize> {
        self.entries.iter().find(|entry| entry.0 == kind).map(|entry| entry.1)
    }

    fn symbol<'a>(&self, memory: &'a [u8], number: usize) -> Option<Symbol<'a>> {
        elf::symbol(Bytes(memory), self.value(SYMBOLS)?, self.value(NAMES)?, number)
    }

    /// The value of a symbol that the image defines.
    fn find(&self, memory: &[u8], name: &[u8]) -> Option<usize> {
        let count = Bytes(memory).word(self.value(HASH)?.checked_add(4)?)?;
        let mut symbols = (0..count as usize).filter_map(|number| self.symbol(memory, number));
        symbols.find(|symbol| symbol.name == name)?.address
    }

    /// Opens the shared libraries that the program names, such as the mathematical one.
    fn open_libraries(&self, memory: &[u8]) -> Result<(), SpeError> {
        let names = self.value(NAMES).ok_or_else(|| broken("its table of names"))?;
        for (_, offset) in self.entries.iter().filter(|entry| entry.0 == NEEDED) {
            let name = names.checked_add(*offset).and_then(|at| Bytes(memory).text(at));
            let name = name.and_then(|name| CString::new(name).ok()).ok_or_else(|| broken("a library's name"))?;
            // SAFETY: the name ends with a zero. The library's own constructors run, as the program's author wants.
            if unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }.is_null() {
                return Err(SpeError::Image(format!("it needs {}, which cannot be opened", name.to_string_lossy())));
            }
        }
        Ok(())
    }

    fn relocate(&self, memory: &mut [u8], base: u64) -> Result<(), SpeError> {
        for (table, bytes) in [(RELA, RELA_SIZE), (PLT_REL, PLT_REL_SIZE)] {
            let (table, bytes) = (self.value(table).unwrap_or(0), self.value(bytes).unwrap_or(0));
            for number in 0..bytes / 24 {
                let value = self.relocated(memory, base, table.saturating_add(24 * number))?;
                write(memory, value.0, value.1).ok_or_else(|| broken("a relocation"))?;
            }
        }
        Ok(())
    }

    /// Where a relocation writes, and what.
    fn relocated(&self, memory: &[u8], base: u64, at: usize) -> Result<(usize, u64), SpeError> {
        let relocation = elf::relocation(Bytes(memory), at).ok_or_else(|| broken("a relocation"))?;
        let value = match relocation.kind {
            RELATIVE => base.wrapping_add_signed(relocation.addend),
            ADDRESS_64 | GLOB_DAT | JUMP_SLOT => {
                let symbol = self.symbol(memory, relocation.symbol).ok_or_else(|| broken("a symbol"))?;
                resolve(&symbol, base)?.wrapping_add_signed(if relocation.kind == ADDRESS_64 {
                    relocation.addend
                } else {
                    0
                })
            }
            kind => return Err(SpeError::Image(format!("it has a relocation of the unknown type {kind}"))),
        };
        Ok((relocation.address, value))
    }

    /// Fills the program's link block: the core's two words, the store's size, the heap's start, the constructors.
    fn link(&self, memory: &mut [u8], base: u64, words: [u64; 4]) -> Result<(), SpeError> {
        let block = self
            .find(memory, LINK)
            .ok_or_else(|| SpeError::Image("it has no SPU runtime; seatmap-cellcc adds it".into()))?;
        let constructors = self.value(INIT_ARRAY).map_or(0, |at| base.wrapping_add(at as u64));
        let count = self.value(INIT_ARRAY_SIZE).unwrap_or(0) as u64 / 8;
        let all: [u64; LINK_WORDS] = [words[0], words[1], base, words[2], words[3], constructors, count];
        let written = all.iter().enumerate().map(|(at, word)| write(memory, block.checked_add(8 * at)?, *word));
        written.collect::<Option<()>>().ok_or_else(|| broken("its link block"))
    }
}

/// The address of a symbol: in the image, or in the process and its libraries.
fn resolve(symbol: &Symbol, base: u64) -> Result<u64, SpeError> {
    if let Some(address) = symbol.address {
        return Ok(base.wrapping_add(address as u64));
    }
    let name = CString::new(symbol.name).map_err(|_| broken("a symbol's name"))?;
    let found = in_process(&name);
    match found == 0 && !symbol.is_weak {
        true => Err(SpeError::Image(format!("nothing defines '{}', which it uses", name.to_string_lossy()))),
        false => Ok(found),
    }
}

fn in_process(name: &CStr) -> u64 {
    // SAFETY: the name ends with a zero.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as u64 }
}

fn write(memory: &mut [u8], at: usize, value: u64) -> Option<()> {
    memory.get_mut(at..at.checked_add(8)?)?.copy_from_slice(&value.to_le_bytes());
    Some(())
}
