//! Arguments of MPI functions.

use super::library::Library;
use core::ffi::c_int;

/// A pointer, a handle, or an integer in the lower half.
pub type ArgumentWord = usize;

/// A handle without the undefined half of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MpiHandle(pub usize);

pub fn int(word: ArgumentWord) -> c_int {
    word as c_int
}

/// A count; 0 for a negative one, which MPI refuses.
pub fn count(word: ArgumentWord) -> u64 {
    u64::try_from(int(word)).unwrap_or(0)
}

/// 0 for an unknown datatype.
pub fn type_bytes(kind: ArgumentWord) -> u64 {
    let mut bytes: c_int = 0;
    // SAFETY: the arguments are a datatype and the address of an integer.
    let status = unsafe { real!(PMPI_Type_size).call([kind, &raw mut bytes as ArgumentWord]) };
    if status == 0 { u64::try_from(bytes).unwrap_or(0) } else { 0 }
}

/// A count in the program's list.
///
/// # Safety
/// The list has more than `at` integers.
pub unsafe fn count_at(list: ArgumentWord, at: usize) -> u64 {
    // SAFETY: as above.
    let count = unsafe { (list as *const c_int).add(at).read() };
    u64::try_from(count).unwrap_or(0)
}

/// A handle in the program's list.
///
/// # Safety
/// The list has more than `at` handles.
pub unsafe fn handle_at(library: Library, list: ArgumentWord, at: usize) -> ArgumentWord {
    let address = list + at * library.handle_bytes();
    match library {
        // SAFETY: Open MPI's handles are pointers.
        Library::Open(_) => unsafe { (address as *const usize).read() },
        // SAFETY: MPICH's handles are integers.
        Library::Mpich => unsafe { (address as *const u32).read() as usize },
    }
}
