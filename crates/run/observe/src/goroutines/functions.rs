//! Go's linker writes a table of all functions into each program; the runtime needs it and `strip`
//! keeps it (`runtime/symtab.go` and `debug/gosym/pclntab.go` of Go's sources).

use seatmap_os::bpf::LoadError;
use seatmap_os::elf::Elf;
use seatmap_os::{u32_at, u64_at};
use std::io;
use std::path::Path;

/// In programs at a fixed address, and in relocatable ones.
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];

/// The table's first number since Go 1.18 and since Go 1.20. Earlier, programs on ARM passed
/// arguments on the stack.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];

/// Offsets in the header: address length, number of functions, address of the first one, offsets of
/// names and functions.
const ADDRESS_BYTES: usize = 7;
const COUNT: usize = 8;
const FIRST: usize = 24;
const NAMES: usize = 32;
const FUNCTIONS: usize = 64;

/// The first function's address in the section `.go.module` (`moduledata` of Go 1.26, which leaves
/// 0 in the table's header).
const FIRST_IN_MODULE: usize = 176;

const FIRST_SYMBOL: &str = "runtime.text";

/// An x86 function's first instruction, a check of the stack, and both forms of the jump after it.
/// The kernel emulates a jump, but executes other instructions out of line, with a second stop
/// (`arch/x86/kernel/uprobes.c`), which doubles the cost.
const LOOK: [u8; 4] = [0x49, 0x3b, 0x66, 0x10];
const JUMPS: [&[u8]; 2] = [&[0x76], &[0x0f, 0x86]];

#[derive(Debug, thiserror::Error)]
pub enum FunctionsError {
    #[error("cannot read its file")]
    File(#[from] io::Error),
    #[error(
        "its table of functions was not found: it was built with Go before 1.18, with a newer Go \
         than this Seatmap knows, or with another linker"
    )]
    OtherTable,
    #[error("it does not contain the start of its code; build it without -s")]
    NoFirst,
    /// The function is missing from the table, or outside the code.
    #[error("it has no function {0}")]
    Missing(&'static str),
    #[error(transparent)]
    Kernel(#[from] LoadError),
}

/// A file offset for each function, with arguments still in registers.
///
/// # Errors
/// [`FunctionsError`].
pub fn places<const N: usize>(
    file: &Path,
    names: [&'static str; N],
) -> Result<[u64; N], FunctionsError> {
    let elf = Elf::open(file)?;
    let section = SECTIONS.iter().find_map(|name| elf.section(name));
    let table = elf.bytes(section.ok_or(FunctionsError::OtherTable)?)?;
    let table = Table::parse(&table).ok_or(FunctionsError::OtherTable)?;
    let first = first(&elf, &table)?;
    let mut places = [0; N];
    for (at, name) in places.iter_mut().zip(names) {
        let address = table.function(name).and_then(|far| first.checked_add(far.into()));
        let begin = address.and_then(|address| elf.place(address));
        *at = stop(&elf, begin.ok_or(FunctionsError::Missing(name))?)?;
    }
    Ok(places)
}

fn stop(elf: &Elf, begin: u64) -> Result<u64, FunctionsError> {
    let bytes: [u8; 6] = elf.bytes_at(begin)?;
    let behind = bytes.strip_prefix(&LOOK);
    let is_jump = behind.is_some_and(|rest| JUMPS.iter().any(|jump| rest.starts_with(jump)));
    let is_quick = cfg!(target_arch = "x86_64") && is_jump;
    Ok(if is_quick { begin + LOOK.len() as u64 } else { begin })
}

/// An event at a wrong address would break the program, so one outside the code is rejected.
fn first(elf: &Elf, table: &Table) -> Result<u64, FunctionsError> {
    let found = match table.first {
        0 => elf.symbol(FIRST_SYMBOL)?.or_else(|| {
            let module = elf.bytes(elf.section(".go.module")?).ok()?;
            u64_at(&module, FIRST_IN_MODULE)
        }),
        first => Some(first),
    };
    let code = elf.section(".text").ok_or(FunctionsError::NoFirst)?;
    let end = code.address.saturating_add(code.size_bytes);
    found.filter(|first| (code.address..end).contains(first)).ok_or(FunctionsError::NoFirst)
}

struct Table<'a> {
    /// The first function's address; 0 if elsewhere.
    first: u64,
    names: &'a [u8],
    /// Each function's distance from the first one and its record's offset; then the records.
    functions: &'a [u8],
    count: usize,
}

impl<'a> Table<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let is_known = MAGICS.contains(&u32_at(bytes, 0)?) && *bytes.get(ADDRESS_BYTES)? == 8;
        let count = usize::try_from(u64_at(bytes, COUNT)?).ok()?;
        let first = u64_at(bytes, FIRST)?;
        let part = |at| bytes.get(usize::try_from(u64_at(bytes, at)?).ok()?..);
        let [names, functions] = [part(NAMES)?, part(FUNCTIONS)?];
        // A broken count would make the search endless.
        let fits = count.checked_mul(8).is_some_and(|length| length <= functions.len());
        (is_known && fits).then_some(Table { first, names, functions, count })
    }

    fn function(&self, name: &str) -> Option<u32> {
        (0..self.count).find_map(|nth| {
            let record = u32_at(self.functions, 8 * nth + 4)? as usize;
            // A record begins with the distance again, and the offset of the name.
            let at = u32_at(self.functions, record.checked_add(4)?)? as usize;
            let rest = self.names.get(at..)?.strip_prefix(name.as_bytes())?;
            (rest.first() == Some(&0)).then(|| u32_at(self.functions, 8 * nth)).flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table() -> Vec<u8> {
        let words = [0_u64, 2, 0, 0x40_1000, 72, 0, 0, 0, 104];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes[..4].copy_from_slice(&MAGICS[1].to_ne_bytes());
        bytes[ADDRESS_BYTES] = 8;
        bytes.extend(b"main.main\0runtime.ready\0\0\0\0\0\0\0\0\0");
        let functions = [0_u32, 16, 16, 24, 0, 0, 16, 10];
        bytes.extend(functions.iter().flat_map(|number| number.to_ne_bytes()));
        bytes
    }

    #[test]
    fn function_table_gives_offsets_by_name() {
        let bytes = table();
        let table = Table::parse(&bytes).unwrap();
        assert_eq!((table.first, table.function("main.main")), (0x40_1000, Some(0)));
        assert_eq!(table.function("runtime.ready"), Some(16));
        assert_eq!((table.function("runtime.read"), table.function("ready")), (None, None));
        let mut old = bytes.clone();
        old[..4].copy_from_slice(&0xffff_fffa_u32.to_ne_bytes());
        assert!(Table::parse(&old).is_none());
    }

    #[test]
    fn non_go_program_has_no_function_table() {
        let own = std::env::current_exe().unwrap();
        assert!(matches!(places(&own, ["runtime.ready"]), Err(FunctionsError::OtherTable)));
    }

    proptest! {
        #[test]
        fn damaged_function_table_never_panics(at in 0usize..136, byte: u8, length in 0usize..137) {
            let mut bytes = table();
            bytes[at] = byte;
            bytes.truncate(length);
            if let Some(table) = Table::parse(&bytes) {
                table.function("runtime.ready");
            }
        }
    }
}
