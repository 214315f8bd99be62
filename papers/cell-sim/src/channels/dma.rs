//! The rules for bulk transfers. They are those of the Cell's MFC, and apply on every machine.

use super::Ea;

/// The largest transfer (Cell Broadband Engine Architecture, MFC commands).
pub const LARGEST_BYTES: u32 = 16 * 1024;
/// The most elements in a list.
pub const LONGEST_LIST: usize = 2048;
/// Tags, from 0.
pub const TAGS: u8 = 32;

/// The transfers of its tag that a transfer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransferOrder {
    /// None.
    #[default]
    Free,
    /// Earlier ones (`getf`, `putf`).
    Fence,
    /// Earlier ones, and later ones wait for it (`getb`, `putb`).
    Barrier,
}

/// An element of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The other address of the transfer.
    pub ea: Ea,
    /// Bytes.
    pub size: u32,
}

/// A transfer that the hardware rejects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DmaError {
    /// The size is not 1, 2, 4, 8 or a multiple of 16 bytes.
    // Plural: the MFC takes one.
    #[error(
        "a transfer of {0} bytes: the MFC takes 1, 2, 4, 8 or a multiple of 16 and raises an \
         alignment exception"
    )]
    Size(u32),
    /// The transfer is too large.
    // Plural: the MFC takes one.
    #[error(
        "a transfer of {0} bytes: the MFC takes 16384 at most and raises an alignment exception"
    )]
    Large(u32),
    /// The addresses are not aligned as the size requires.
    #[error(
        // Plural: a single byte has no alignment to break.
        "a transfer between local store {local:#x} and {offset:#x}, {size} bytes: both must be \
         multiples of {alignment} and, below 16 bytes, agree in their last four bits; the MFC \
         raises an alignment exception"
    )]
    Alignment {
        /// The transfer's bytes.
        size: u32,
        /// The local store address.
        local: u32,
        /// The other address.
        offset: u32,
        /// Both must be multiples of this.
        alignment: u32,
    },
    /// A tag beyond 31.
    #[error("tag {0}: tags are 0 to 31; the MFC raises an invalid-tag exception")]
    Tag(u8),
    /// A list without elements, or with too many.
    // Plural: the MFC takes one.
    #[error("a list of {0} elements: the MFC takes 1 to 2048")]
    List(usize),
    /// The transfer ends beyond the local store or the memory.
    // Plural: a memory has many.
    #[error(
        "{what} ends at {end:#x}, beyond its {size:#x} bytes; the MFC raises a storage exception"
    )]
    Beyond {
        /// The kind of memory.
        what: &'static str,
        /// The transfer's end.
        end: u64,
        /// The memory's size.
        size: u64,
    },
    /// A task that does not exist.
    #[error(
        "the local store of task {rank} of {tasks}: nothing answers at that address, and the MFC \
         raises a storage exception"
    )]
    Rank {
        /// The task.
        rank: usize,
        /// Tasks.
        tasks: usize,
    },
    /// A module that does not exist.
    #[error(
        "memory module {module} of {modules}: nothing answers at that address, and the MFC raises \
         a storage exception"
    )]
    Module {
        /// The module.
        module: usize,
        /// Modules.
        modules: usize,
    },
    /// The atomic's address is not an aligned word of memory.
    #[error("an atomic at {0}: the atomic unit works on aligned words of main memory")]
    Atomic(Ea),
    /// The task has no MFC.
    #[error("task {0} is on the PPE, which has no MFC")]
    NoMfc(usize),
    /// The task has no mailbox and no signal register.
    #[error("task {0} is on the PPE, which has no mailbox and no signal register")]
    NoRegisters(usize),
}

/// Checks size, alignment and tag of a transfer.
///
/// # Errors
/// [`DmaError`], as the hardware would report it.
pub fn check(local: u32, ea: Ea, size: u32, tag: u8) -> Result<(), DmaError> {
    let offset = ea.offset();
    match size {
        _ if tag >= TAGS => Err(DmaError::Tag(tag)),
        _ if size > LARGEST_BYTES => Err(DmaError::Large(size)),
        // Below 16 bytes, the alignment is the size.
        1 | 2 | 4 | 8 => aligned(local, offset, size, size),
        16.. if size.is_multiple_of(16) => aligned(local, offset, size, 16),
        _ => Err(DmaError::Size(size)),
    }
}

/// Below 16 bytes, both addresses must also agree in their last four bits.
fn aligned(local: u32, offset: u32, size: u32, alignment: u32) -> Result<(), DmaError> {
    let agree = alignment == 16 || local % 16 == offset % 16;
    if local.is_multiple_of(alignment) && offset.is_multiple_of(alignment) && agree {
        Ok(())
    } else {
        Err(DmaError::Alignment { size, local, offset, alignment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Ea = Ea::Memory { module: 0, offset: 0 };

    #[test]
    fn valid_transfers_are_accepted() {
        for size in [1, 2, 4, 8, 16, 32, 48, 16384] {
            assert_eq!(check(64, MEMORY, size, 31), Ok(()), "{size}");
        }
        assert_eq!(check(20, MEMORY.further(4), 4, 0), Ok(()));
    }

    #[test]
    fn invalid_transfers_name_hardware_exception() {
        let refusal = |local, ea, size, tag| check(local, ea, size, tag).unwrap_err().to_string();
        insta::assert_snapshot!(refusal(0, MEMORY, 24, 0), @"a transfer of 24 bytes: the MFC takes 1, 2, 4, 8 or a multiple of 16 and raises an alignment exception");
        insta::assert_snapshot!(refusal(0, MEMORY, 0, 0), @"a transfer of 0 bytes: the MFC takes 1, 2, 4, 8 or a multiple of 16 and raises an alignment exception");
        insta::assert_snapshot!(refusal(0, MEMORY, 16400, 0), @"a transfer of 16400 bytes: the MFC takes 16384 at most and raises an alignment exception");
        insta::assert_snapshot!(refusal(0, MEMORY, 16, 32), @"tag 32: tags are 0 to 31; the MFC raises an invalid-tag exception");
        insta::assert_snapshot!(refusal(8, MEMORY, 16, 0), @"a transfer between local store 0x8 and 0x0, 16 bytes: both must be multiples of 16 and, below 16 bytes, agree in their last four bits; the MFC raises an alignment exception");
        assert!(check(4, MEMORY, 4, 0).is_err(), "the last four bits differ");
    }
}
