//! ELF files: sections, symbols and file offsets of addresses (elf(5)).

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::named_file;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// `e_ident` of a 64-bit file, followed by this computer's byte order.
const LONG: &[u8] = b"\x7fELF\x02";
const ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };

/// `Elf64_Ehdr`, `Elf64_Phdr`, `Elf64_Shdr` and `Elf64_Sym`.
const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;

/// `PT_LOAD` and `PF_X`: a mapped segment of instructions.
const MAPPED: u32 = 1;
const EXECUTABLE: u32 = 1;

/// `SHT_NOBITS`: no bytes in the file.
const WITHOUT_BYTES: u32 = 8;

/// A limit above the largest programs' sections.
const MOST_BYTES: u64 = 1 << 30;

/// A section.
#[derive(Debug, PartialEq)]
pub struct ElfSection {
    /// Name, such as `.text`.
    pub name: String,
    /// Load address; relative to the base for position-independent files.
    pub address: u64,
    /// Size in memory.
    pub size_bytes: u64,
    /// File offset; `None` without bytes in the file.
    place: Option<u64>,
    /// Section with its symbols' names.
    link: usize,
}

#[derive(Clone, Copy, Debug)]
struct Code {
    place: u64,
    address: u64,
    size_bytes: u64,
}

/// A 64-bit program or library of this computer's byte order.
#[derive(Debug)]
pub struct Elf {
    file: File,
    sections: Vec<ElfSection>,
    code: Vec<Code>,
}

impl Elf {
    /// Reads the headers of a file.
    ///
    /// # Errors
    /// The file cannot be read; `InvalidData` for another kind of file, `UnexpectedEof` for a
    /// truncated one.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = named_file::open(path)?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0)?;
        // e_phnum and e_phentsize, e_shnum and e_shentsize; below e_phoff, e_shoff and e_shstrndx.
        let is_known = header.starts_with(LONG)
            && header[5] == ORDER
            && is_table_of(&header, [56, 54], SEGMENT_BYTES)
            && is_table_of(&header, [60, 58], SECTION_BYTES);
        if !is_known {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let segments = table(&file, word(&header, 32), half(&header, 56), SEGMENT_BYTES)?;
        let sections = table(&file, word(&header, 40), half(&header, 60), SECTION_BYTES)?;
        let code = segments.chunks_exact(SEGMENT_BYTES).filter_map(code_of).collect();
        let mut elf = Elf { file, sections: Vec::new(), code };
        let headers: Vec<(u32, ElfSection)> =
            sections.chunks_exact(SECTION_BYTES).map(section_of).collect();
        let names = headers.get(usize::from(half(&header, 62)));
        let names = names.map_or(Ok(Vec::new()), |(_, section)| elf.bytes(section))?;
        elf.sections = headers
            .into_iter()
            .map(|(name, section)| ElfSection { name: text(&names, name as usize), ..section })
            .collect();
        Ok(elf)
    }

    /// The first section of this name.
    pub fn section(&self, name: &str) -> Option<&ElfSection> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The bytes of a section; empty if the file has none.
    ///
    /// # Errors
    /// The file cannot be read or is truncated; `InvalidData` above 1 GiB.
    pub fn bytes(&self, section: &ElfSection) -> io::Result<Vec<u8>> {
        let Some(place) = section.place else { return Ok(Vec::new()) };
        let end = place.saturating_add(section.size_bytes);
        // No huge allocation for a broken header.
        if end > self.file.metadata()?.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if section.size_bytes > MOST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = vec![0; section.size_bytes as usize];
        self.file.read_exact_at(&mut bytes, place)?;
        Ok(bytes)
    }

    /// A symbol's address; `None` if missing, as in a stripped program.
    ///
    /// # Errors
    /// As for [`Elf::bytes`].
    pub fn symbol(&self, name: &str) -> io::Result<Option<u64>> {
        let Some(section) = self.section(".symtab") else { return Ok(None) };
        let names =
            self.sections.get(section.link).map_or(Ok(Vec::new()), |one| self.bytes(one))?;
        let symbols = self.bytes(section)?;
        // st_name and st_value.
        let found = symbols
            .chunks_exact(SYMBOL_BYTES)
            .find(|symbol| is_text(&names, number(symbol, 0) as usize, name));
        Ok(found.map(|symbol| word(symbol, 8)))
    }

    /// The bytes at a file offset.
    ///
    /// # Errors
    /// The file cannot be read or is truncated.
    pub fn bytes_at<const N: usize>(&self, place: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact_at(&mut bytes, place)?;
        Ok(bytes)
    }

    /// The file offset of an instruction's address; `None` outside the code.
    pub fn place(&self, address: u64) -> Option<u64> {
        self.code.iter().find_map(|code| {
            let distance = address.checked_sub(code.address)?;
            (distance < code.size_bytes).then(|| code.place.checked_add(distance)).flatten()
        })
    }
}

/// By the count and entry size at these header offsets; true if empty.
fn is_table_of(header: &[u8], [count, each]: [usize; 2], each_bytes: usize) -> bool {
    half(header, count) == 0 || usize::from(half(header, each)) == each_bytes
}

fn table(file: &File, place: u64, count: u16, each_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(count) * each_bytes];
    file.read_exact_at(&mut bytes, place)?;
    Ok(bytes)
}

/// A segment header: p_type, p_flags, p_offset, p_vaddr and p_filesz.
fn code_of(header: &[u8]) -> Option<Code> {
    let is_code = number(header, 0) == MAPPED && number(header, 4) & EXECUTABLE != 0;
    is_code.then(|| Code {
        place: word(header, 8),
        address: word(header, 16),
        size_bytes: word(header, 32),
    })
}

/// sh_type, sh_addr, sh_offset, sh_size and sh_link; and the offset of the name.
fn section_of(header: &[u8]) -> (u32, ElfSection) {
    let has_bytes = number(header, 4) != WITHOUT_BYTES;
    let section = ElfSection {
        name: String::new(),
        address: word(header, 16),
        size_bytes: word(header, 32),
        place: has_bytes.then(|| word(header, 24)),
        link: number(header, 40) as usize,
    };
    (number(header, 0), section)
}

fn text(bytes: &[u8], at: usize) -> String {
    let rest = bytes.get(at..).unwrap_or_default();
    let text = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

fn is_text(bytes: &[u8], at: usize, wanted: &str) -> bool {
    let rest = bytes.get(at..).and_then(|rest| rest.strip_prefix(wanted.as_bytes()));
    rest.is_some_and(|rest| rest.first() == Some(&0))
}

/// Beyond the end, the largest value.
fn half(bytes: &[u8], at: usize) -> u16 {
    u16_at(bytes, at).unwrap_or(u16::MAX)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32_at(bytes, at).unwrap_or(u32::MAX)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64_at(bytes, at).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn own() -> Elf {
        Elf::open(&std::env::current_exe().unwrap()).unwrap()
    }

    fn opened(bytes: &[u8]) -> io::Result<Elf> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Elf::open(file.path())
    }

    #[test]
    fn symbol_offset_matches_section_bytes() {
        let elf = own();
        let begin = elf.symbol("main").unwrap().unwrap();
        let text = elf.section(".text").unwrap();
        assert!((text.address..text.address + text.size_bytes).contains(&begin));
        let bytes = elf.bytes(text).unwrap();
        let in_section = &bytes[(begin - text.address) as usize..][..16];
        let in_file = elf.bytes_at::<16>(elf.place(begin).unwrap()).unwrap();
        assert_eq!(in_section, in_file);
        assert_eq!(elf.symbol("no such symbol").unwrap(), None);
        assert_eq!((elf.place(u64::MAX), elf.section(".none")), (None, None));
        assert!(elf.bytes(elf.section(".bss").unwrap()).unwrap().is_empty());
    }

    #[test]
    fn non_elf_files_are_refused() {
        for other in [&b"#!/bin/sh\n"[..], b"", b"\x7fELF\x01", &[0; 200]] {
            assert!(opened(other).is_err(), "{other:?}");
        }
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(opened(&own[..own.len() / 2]).is_err());
    }

    proptest! {
        #[test]
        fn reader_survives_broken_files(
            at in 0usize..HEADER_BYTES,
            byte: u8,
            rest in proptest::collection::vec(any::<u8>(), 0..400)
        ) {
            let mut bytes = vec![0; HEADER_BYTES];
            bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, ORDER]);
            bytes[32] = 64;
            bytes[40] = 64;
            bytes[56] = 1;
            bytes[58] = SECTION_BYTES as u8;
            bytes[60] = 2;
            bytes[at] = byte;
            bytes.extend(rest);
            if let Ok(elf) = opened(&bytes) {
                let _ = elf.symbol("main");
                let _ = elf.place(1);
                elf.sections.iter().for_each(|section| drop(elf.bytes(section)));
            }
        }
    }
}
