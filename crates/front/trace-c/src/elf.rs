//! The variable at an address, from the symbol table of the program's own file.
//!
//! `dladdr` knows only exported symbols. The format is that of `elf(5)`, 64 bits, in the
//! processor's byte order.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

const SECTIONS_AT: usize = 0x28;
const SECTION_SIZE_AT: usize = 0x3a;
const TYPE_AT: usize = 0x10;
const EXECUTABLE: u16 = 2;
const SYMBOLS: u32 = 2;
const EXPORTED_SYMBOLS: u32 = 11;
const SYMBOL_BYTES: usize = 24;
const OBJECT: u8 = 1;

pub struct ElfImage {
    bytes: &'static [u8],
}

pub struct VariableOffset<'a> {
    pub name: &'a [u8],
    pub offset: usize,
}

impl ElfImage {
    pub fn open(path: &CStr) -> Option<Self> {
        // SAFETY: the path is a C string; the mapping is private, read-only and as long as the
        // file.
        unsafe {
            let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            let mut status = MaybeUninit::<libc::stat>::zeroed();
            let known = file >= 0 && libc::fstat(file, status.as_mut_ptr()) == 0;
            let length =
                if known { usize::try_from(status.assume_init().st_size).unwrap_or(0) } else { 0 };
            let address =
                libc::mmap(null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file, 0);
            libc::close(file);
            (address != libc::MAP_FAILED).then(|| ElfImage {
                bytes: std::slice::from_raw_parts(address.cast::<u8>(), length),
            })
        }
    }

    pub fn variable(&self, address: usize, base: usize) -> Option<VariableOffset<'_>> {
        let at =
            if self.u16(TYPE_AT)? == EXECUTABLE { address } else { address.wrapping_sub(base) };
        self.in_section(SYMBOLS, at).or_else(|| self.in_section(EXPORTED_SYMBOLS, at))
    }

    fn in_section(&self, kind: u32, at: usize) -> Option<VariableOffset<'_>> {
        let count = self.u16(SECTION_SIZE_AT + 2)?;
        let header = (0..count).find_map(|section| {
            let header = self.section(usize::from(section))?;
            (self.u32(header + 4)? == kind).then_some(header)
        })?;
        let start = self.u64(header + 0x18)?;
        // A damaged size may exceed the file.
        let bytes = self.u64(header + 0x20)?.min(self.bytes.len());
        let names = self.u64(self.section(self.u32(header + 0x28)? as usize)? + 0x18)?;
        (0..bytes / SYMBOL_BYTES)
            .find_map(|symbol| self.symbol(start.checked_add(symbol * SYMBOL_BYTES)?, names, at))
    }

    fn section(&self, number: usize) -> Option<usize> {
        let size = usize::from(self.u16(SECTION_SIZE_AT)?);
        let at = self.u64(SECTIONS_AT)?.checked_add(number.checked_mul(size)?)?;
        // Callers add to it.
        (at < self.bytes.len()).then_some(at)
    }

    fn symbol(&self, entry: usize, names: usize, at: usize) -> Option<VariableOffset<'_>> {
        let offset = at.checked_sub(self.u64(entry.checked_add(8)?)?)?;
        let is_variable = self.bytes.get(entry + 4)? & 0xf == OBJECT;
        if !is_variable || offset >= self.u64(entry + 16)? {
            return None;
        }
        let name = self.bytes.get(names.checked_add(self.u32(entry)? as usize)?..)?;
        let end = name.iter().position(|byte| *byte == 0)?;
        Some(VariableOffset { name: &name[..end], offset })
    }

    fn part<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.part(at).map(u16::from_ne_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.part(at).map(u32::from_ne_bytes)
    }

    fn u64(&self, at: usize) -> Option<usize> {
        self.part(at).map(usize::from_ne_bytes)
    }
}

impl Drop for ElfImage {
    fn drop(&mut self) {
        // SAFETY: `open` mapped these bytes, and symbols borrow the value.
        unsafe { libc::munmap(self.bytes.as_ptr().cast_mut().cast(), self.bytes.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[unsafe(no_mangle)]
    static SEATMAP_TRACE_TEST_VARIABLE: [std::sync::atomic::AtomicU8; 64] =
        [const { std::sync::atomic::AtomicU8::new(0) }; 64];

    #[test]
    fn static_variable_is_found_by_address() {
        let address = SEATMAP_TRACE_TEST_VARIABLE.as_ptr() as usize + 5;
        let region = crate::maps::region(address).unwrap();
        let elf = ElfImage::open(region.file().unwrap()).unwrap();
        let symbol = elf.variable(address, region.base).unwrap();
        assert_eq!((symbol.name, symbol.offset), (b"SEATMAP_TRACE_TEST_VARIABLE".as_slice(), 5));
    }

    #[test]
    fn non_elf_files_have_no_variables() {
        assert!(ElfImage::open(c"/proc/self/status").is_none());
        let garbage = ElfImage { bytes: [].as_slice() };
        assert!(garbage.variable(1, 0).is_none());
        std::mem::forget(garbage);
    }

    #[test]
    fn damaged_files_have_no_variables() {
        // One section: a symbol table, whose header is at the end of the file.
        let mut bytes = vec![0_u8; 128];
        bytes[SECTION_SIZE_AT..][..4].copy_from_slice(&[64, 0, 1, 0]);
        bytes[64 + 4..][..4].copy_from_slice(&SYMBOLS.to_ne_bytes());
        let mut far = bytes.clone();
        bytes[SECTIONS_AT] = 64;
        far[SECTIONS_AT..][..8].copy_from_slice(&(usize::MAX - 1).to_ne_bytes());
        let mut long = bytes.clone();
        long[64 + 0x20..][..8].fill(0xff);
        for damaged in [bytes, far, long] {
            let elf = ElfImage { bytes: damaged.leak() };
            assert!(elf.variable(1, 0).is_none());
            std::mem::forget(elf);
        }
    }
}
