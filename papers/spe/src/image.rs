//! A program for SPUs: an ELF image, checked, relocated and copied into a local store.

use crate::dynamic::{Dynamic, broken};
use crate::elf::{self, ElfBytes, Segment};
use crate::error::SpeError;
use crate::store::{MOST_KIB, SpeStore};
use crate::symbols::Symbols;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, OnceLock};

/// The least stack of a program.
pub const LEAST_STACK_BYTES: usize = 16 << 10;
/// The symbol of the block that links a program with the core.
const LINK: &[u8] = b"__seatmap_spu";
/// The words that the loader fills in: table, state, store's address and size, heap's start,
/// constructors and their number.
const LINK_WORDS: usize = 7;
/// The symbol whose value is the intended store's size, if it is not the Cell's.
const STORE_BYTES: &[u8] = b"__seatmap_ls_bytes";
const COUNTS: &[u8] = b"__seatmap_counts";

/// A checked image of a program.
#[derive(Debug)]
pub struct Image {
    file: Vec<u8>,
    segments: Vec<Segment>,
    linked: OnceLock<Linked>,
    symbols: OnceLock<Arc<Symbols>>,
}

#[derive(Debug)]
struct Linked {
    memory: Vec<u8>,
    /// Words that are addresses in the store.
    addresses: Vec<(usize, u64)>,
    block: usize,
    start: usize,
    constructors: Option<(usize, usize)>,
    executes: (usize, usize),
    counts: bool,
}

/// A program in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedProgram {
    /// Its first instruction's address.
    pub start: usize,
    /// Its data's end in the store, where its heap starts.
    pub end: usize,
    /// Whether it counts its work in a register.
    pub counts: bool,
}

impl Image {
    /// Reads a program from an executable file.
    ///
    /// # Errors
    /// [`SpeError::File`], [`SpeError::Image`].
    pub fn open(name: &str) -> Result<Self, SpeError> {
        let file =
            executable(name).map_err(|source| SpeError::File { name: name.to_owned(), source })?;
        Image::new(file)
    }

    /// A program in memory.
    ///
    /// # Errors
    /// [`SpeError::Image`].
    pub fn new(file: Vec<u8>) -> Result<Self, SpeError> {
        let segments = elf::segments(&file).map_err(SpeError::Image)?;
        if segments.iter().any(|segment| segment.kind == elf::TLS) {
            return Err(SpeError::Image(
                "it has thread-local variables, but an SPU has no threads".into(),
            ));
        }
        if !segments.iter().any(|segment| segment.kind == elf::LOAD) {
            return Err(SpeError::Image("it has nothing to load".into()));
        }
        let image = Image { file, segments, linked: OnceLock::new(), symbols: OnceLock::new() };
        // Parts with more bytes than the memory overlap. A hostile file has thousands, each as long
        // as the file; copying them would take hours.
        let bytes = image
            .loads()
            .fold(0_usize, |bytes, segment| bytes.saturating_add(segment.memory_bytes));
        if bytes > image.end() {
            return Err(SpeError::Image("its parts overlap".into()));
        }
        Ok(image)
    }

    /// A program embedded in another one. The file ends after its section headers.
    ///
    /// # Safety
    /// `start` points to a complete ELF file in memory that does not change.
    ///
    /// # Errors
    /// [`SpeError::Image`].
    pub unsafe fn embedded(start: *const u8) -> Result<Self, SpeError> {
        // SAFETY: the caller guarantees a file, which has a header of 64 bytes.
        let header = ElfBytes(unsafe { std::slice::from_raw_parts(start, 64) });
        elf::segments(&[&header.0[..54], &[0; 10]].concat()).map_err(SpeError::Image)?;
        let bytes = end_of_headers(&header)
            .ok_or_else(|| SpeError::Image("its section headers are missing".into()))?;
        // SAFETY: the file is that long.
        Image::new(unsafe { std::slice::from_raw_parts(start, bytes) }.to_vec())
    }

    /// Whether the same file is at an address.
    ///
    /// # Safety
    /// As for [`Image::embedded`].
    pub unsafe fn lies_at(&self, start: *const u8) -> bool {
        // SAFETY: each file has a header of 64 bytes. If it is this file's, there are as many bytes
        // as this file has.
        unsafe {
            let same =
                |bytes: usize| std::slice::from_raw_parts(start, bytes) == &self.file[..bytes];
            same(64) && same(self.file.len())
        }
    }

    /// The file's bytes.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// Its functions' names.
    pub fn symbols(&self) -> Arc<Symbols> {
        Arc::clone(self.symbols.get_or_init(|| Arc::new(Symbols::read(&self.file))))
    }

    /// Copies the program into a store, relocated and linked. The rest of the store keeps its
    /// contents.
    ///
    /// # Errors
    /// [`SpeError::TooLarge`], [`SpeError::Image`], [`SpeError::Store`].
    pub fn load(&self, store: &SpeStore, link: [u64; 2]) -> Result<LoadedProgram, SpeError> {
        let needed_bytes = self.end().saturating_add(LEAST_STACK_BYTES);
        if needed_bytes > store.bytes() {
            return Err(SpeError::TooLarge { needed_bytes, store_bytes: store.bytes() });
        }
        let linked = match self.linked.get() {
            Some(linked) => linked,
            None => {
                let linked = self.link()?;
                self.linked.get_or_init(|| linked)
            }
        };
        linked.place(store, link)?;
        Ok(LoadedProgram {
            start: store.base() as usize + linked.start,
            end: linked.memory.len(),
            counts: linked.counts,
        })
    }

    /// Its intended store's size, if it is not the Cell's.
    pub fn asked_bytes(&self) -> Option<usize> {
        let end = Some(self.end()).filter(|end| *end <= MOST_KIB << 10)?;
        let memory = self.memory(end);
        Dynamic::read(&self.segments, &memory).ok()?.find(&memory, STORE_BYTES)
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

    fn link(&self) -> Result<Linked, SpeError> {
        let mut memory = self.memory(self.end().next_multiple_of(128));
        let dynamic = Dynamic::read(&self.segments, &memory)?;
        dynamic.open_libraries(&memory)?;
        let words = dynamic.words(&memory)?;
        for word in words.iter().filter(|word| !word.moves) {
            write(&mut memory, word.at, word.value);
        }
        let block = dynamic.find(&memory, LINK);
        let block = block.ok_or_else(|| {
            SpeError::Image("it has no SPU runtime; seatmap-cellcc adds it".into())
        })?;
        let fits = block.checked_add(8 * LINK_WORDS).is_some_and(|end| end <= memory.len());
        let start = ElfBytes(&self.file).size(24).filter(|start| *start < memory.len());
        Ok(Linked {
            addresses: words
                .iter()
                .filter_map(|word| word.moves.then_some((word.at, word.value)))
                .collect(),
            block: fits.then_some(block).ok_or_else(|| broken("its link block"))?,
            start: start.ok_or_else(|| broken("its start"))?,
            constructors: dynamic.constructors(),
            executes: self.executes(),
            counts: dynamic.find(&memory, COUNTS).is_some(),
            memory,
        })
    }

    fn executes(&self) -> (usize, usize) {
        let text = self.loads().filter(|segment| segment.executes);
        let range = text.map(|segment| (segment.address, segment.address + segment.memory_bytes));
        range.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0))
    }
}

/// The file must be executable, as libspe2 requires.
fn executable(name: &str) -> io::Result<Vec<u8>> {
    if std::fs::metadata(name)?.permissions().mode() & 0o111 == 0 {
        return Err(io::Error::from_raw_os_error(libc::EACCES));
    }
    std::fs::read(name)
}

fn end_of_headers(header: &ElfBytes) -> Option<usize> {
    let entries = usize::from(header.half(58)?) * usize::from(header.half(60)?);
    header.size(40)?.checked_add(entries).filter(|end| (64..1 << 32).contains(end))
}

impl Linked {
    fn place(&self, store: &SpeStore, link: [u64; 2]) -> Result<(), SpeError> {
        store.open()?;
        // SAFETY: the image was checked to fit, and no program runs there now.
        let memory =
            unsafe { std::slice::from_raw_parts_mut(store.effective(), self.memory.len()) };
        memory.copy_from_slice(&self.memory);
        let base = store.base() as u64;
        for (at, local) in &self.addresses {
            write(memory, *at, base.wrapping_add(*local));
        }
        let (at, count) = self
            .constructors
            .map_or((0, 0), |(at, count)| (base.wrapping_add(at as u64), count as u64));
        let sizes = [store.bytes() as u64, self.memory.len() as u64];
        let all: [u64; LINK_WORDS] = [link[0], link[1], base, sizes[0], sizes[1], at, count];
        for (number, word) in all.iter().enumerate() {
            write(memory, self.block + 8 * number, *word);
        }
        store.execute(self.executes.0, self.executes.1)
    }
}

fn write(memory: &mut [u8], at: usize, value: u64) {
    if let Some(place) = memory.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *place = value.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(addresses: [u8; 2]) -> Result<Image, SpeError> {
        let mut file = vec![0; 64 + 2 * 56];
        file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        (file[16], file[18]) = (3, 62);
        (file[32], file[54], file[56]) = (64, 56, 2);
        for (number, address) in addresses.into_iter().enumerate() {
            let header = &mut file[64 + 56 * number..][..56];
            header[0] = elf::LOAD as u8;
            header[16] = address;
            (header[32], header[40]) = (64, 64);
        }
        Image::new(file)
    }

    #[test]
    fn overlapping_parts_are_refused() {
        assert_eq!(image([0, 64]).unwrap().end(), 128);
        let refused = image([0, 63]).unwrap_err().to_string();
        assert_eq!(refused, "not an SPU program: its parts overlap");
    }
}
