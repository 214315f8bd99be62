//! Parses ELF files of SPU programs: position-independent, 64 bits, little-endian.

/// The program header type of a loaded part.
pub const LOAD: u32 = 1;
/// The dynamic section.
pub const DYNAMIC: u32 = 2;
/// Thread-local storage.
pub const TLS: u32 = 7;
/// A symbol's size in its table.
pub const SYMBOL_BYTES: usize = 24;
/// The longest accepted name. C++ templates make names of a few thousand letters; a hostile file
/// uses one as long as the file a million times.
const LONGEST_NAME: usize = 4096;
const HEADER_BYTES: usize = 56;

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// [`LOAD`], [`DYNAMIC`] or another type.
    pub kind: u32,
    /// Whether it is executable.
    pub executes: bool,
    /// Its offset in the file.
    pub offset: usize,
    /// Its address in memory.
    pub address: usize,
    /// Bytes in the file.
    pub file_bytes: usize,
    /// Bytes in memory; those beyond the file's are zero.
    pub memory_bytes: usize,
}

/// A symbol of the dynamic table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its address in the image, if defined there.
    pub address: Option<usize>,
    /// Whether it may stay undefined.
    pub is_weak: bool,
}

/// A relocation with an addend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Its address.
    pub address: usize,
    /// Its type.
    pub kind: u32,
    /// The symbol's number.
    pub symbol: usize,
    /// The addend.
    pub addend: i64,
}

/// Reads little-endian numbers at any offset of a file; `None` after its end.
#[derive(Clone, Copy, Debug)]
pub struct ElfBytes<'a>(pub &'a [u8]);

impl<'a> ElfBytes<'a> {
    /// Two bytes.
    pub fn half(self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.array(at)?))
    }

    /// Four bytes.
    pub fn word(self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.array(at)?))
    }

    /// Eight bytes.
    pub fn double(self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.array(at)?))
    }

    /// Eight bytes as a size or address.
    pub fn size(self, at: usize) -> Option<usize> {
        self.double(at)?.try_into().ok()
    }

    /// A zero-terminated string of up to 4,096 bytes.
    pub fn text(self, at: usize) -> Option<&'a [u8]> {
        let rest = self.0.get(at..)?;
        let end = rest.iter().take(LONGEST_NAME + 1).position(|byte| *byte == 0)?;
        Some(&rest[..end])
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }
}

/// The program headers of a shared object for x86-64.
///
/// # Errors
/// A message why it is not one.
pub fn segments(file: &[u8]) -> Result<Vec<Segment>, String> {
    let bytes = ElfBytes(file);
    if file.get(..6) != Some(&[0x7f, b'E', b'L', b'F', 2, 1]) {
        return Err("not a little-endian ELF file of 64 bits".into());
    }
    if (bytes.half(16), bytes.half(18)) != (Some(3), Some(62)) {
        return Err("not a position-independent image for x86-64 (seatmap-cellcc makes one)".into());
    }
    table(bytes).ok_or_else(|| "its program headers are cut off".into())
}

fn table(bytes: ElfBytes) -> Option<Vec<Segment>> {
    let table = bytes.size(32)?;
    let entry = usize::from(bytes.half(54)?);
    let count = usize::from(bytes.half(56)?);
    (0..count)
        .map(|number| segment(bytes, table.checked_add(number * entry)?))
        .collect::<Option<Vec<_>>>()
}

fn segment(file: ElfBytes, at: usize) -> Option<Segment> {
    let bytes = ElfBytes(file.0.get(at..at.checked_add(HEADER_BYTES)?)?);
    let offset = bytes.size(8)?;
    let file_bytes = bytes.size(32)?;
    let segment = Segment {
        kind: bytes.word(0)?,
        executes: bytes.word(4)? & 1 != 0,
        offset,
        address: bytes.size(16)?,
        file_bytes,
        memory_bytes: bytes.size(40)?,
    };
    let in_file = offset.checked_add(file_bytes)? <= file.0.len();
    let in_memory = segment.kind != LOAD || segment.memory_bytes >= file_bytes;
    (in_file && in_memory && segment.address.checked_add(segment.memory_bytes).is_some())
        .then_some(segment)
}

/// Reads a symbol from a table in loaded memory.
pub fn symbol<'a>(
    memory: ElfBytes<'a>,
    table: usize,
    names: usize,
    number: usize,
) -> Option<Symbol<'a>> {
    let at = table.checked_add(number.checked_mul(SYMBOL_BYTES)?)?;
    memory.0.get(at..at.checked_add(SYMBOL_BYTES)?)?;
    let name = memory.text(names.checked_add(usize::try_from(memory.word(at)?).ok()?)?)?;
    let is_weak = memory.0.get(at + 4)? >> 4 == 2;
    let is_defined = memory.half(at + 6)? != 0;
    let address = memory.size(at + 8)?;
    Some(Symbol { name, address: is_defined.then_some(address), is_weak })
}

/// Reads a relocation from a table in loaded memory.
pub fn relocation(memory: ElfBytes, at: usize) -> Option<Relocation> {
    let info = memory.double(at.checked_add(8)?)?;
    Some(Relocation {
        address: memory.size(at)?,
        kind: u32::try_from(info & 0xffff_ffff).ok()?,
        symbol: usize::try_from(info >> 32).ok()?,
        addend: i64::from_le_bytes(memory.double(at.checked_add(16)?)?.to_le_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlong_text_is_refused() {
        let mut bytes = vec![b'x'; LONGEST_NAME + 2];
        assert_eq!(ElfBytes(&bytes).text(0), None);
        bytes[LONGEST_NAME + 1] = 0;
        assert_eq!(ElfBytes(&bytes).text(0), None);
        assert_eq!(ElfBytes(&bytes).text(1).map(<[u8]>::len), Some(LONGEST_NAME));
        assert_eq!(ElfBytes(&bytes).text(LONGEST_NAME + 2), None);
    }

    #[test]
    fn other_files_are_refused_with_reason() {
        assert!(segments(b"").unwrap_err().contains("not a little-endian ELF file"));
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        assert!(segments(&file).unwrap_err().contains("position-independent"));
        (file[16], file[18]) = (3, 62);
        assert_eq!(segments(&file), Ok(Vec::new()));
        (file[32], file[54], file[56]) = (64, 56, 1);
        assert!(segments(&file).unwrap_err().contains("cut off"));
        file[32..40].fill(0xff);
        assert!(segments(&file).unwrap_err().contains("cut off"));
    }
}
