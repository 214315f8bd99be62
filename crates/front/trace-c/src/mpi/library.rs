//! The MPI library of this process. Open MPI's handles are pointers and MPICH's are numbers of 32
//! bits.

use super::words::{Handle, Word};
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

/// `MPI_COMM_WORLD` of MPICH's binary interface, which Intel MPI and others share.
const MPICH_WORLD: usize = 0x4400_0000;

/// The status that a call returns if the MPI library lacks it: `MPI_ERR_OTHER`, 15 or 16, is not
/// success in any.
pub const MISSING: c_int = 16;

/// Which library it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Open MPI, whose handles are pointers; this is that of `MPI_COMM_WORLD`.
    Open(usize),
    /// MPICH and those with its binary interface.
    Mpich,
}

/// The library, found out once.
pub fn library() -> Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    *LIBRARY.get_or_init(|| match symbol(c"ompi_mpi_comm_world") {
        world if world.is_null() => Library::Mpich,
        world => Library::Open(world as usize),
    })
}

impl Library {
    /// `MPI_COMM_WORLD`.
    pub fn world(self) -> Handle {
        match self {
            Library::Open(world) => Handle(world),
            Library::Mpich => Handle(MPICH_WORLD),
        }
    }

    /// A handle as it came in a register; the upper half of MPICH's is undefined.
    pub fn handle(self, word: Word) -> Handle {
        match self {
            Library::Open(_) => Handle(word),
            Library::Mpich => Handle(word & 0xffff_ffff),
        }
    }

    /// Bytes of a handle in an array.
    pub fn handle_bytes(self) -> usize {
        match self {
            Library::Open(_) => 8,
            Library::Mpich => 4,
        }
    }

    /// `MPI_IN_PLACE`, as an address: `(void *) 1` in Open MPI, `(void *) -1` in MPICH.
    pub fn in_place(self) -> Word {
        match self {
            Library::Open(_) => 1,
            Library::Mpich => usize::MAX,
        }
    }
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// A function of the MPI library, looked up at its first use.
pub struct Function {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Function {
    /// The function of this name, which begins with `PMPI_`.
    pub const fn new(name: &'static CStr) -> Self {
        Function { name, found: AtomicPtr::new(null_mut()) }
    }

    fn address(&self) -> *mut c_void {
        let found = self.found.load(Relaxed);
        if !found.is_null() {
            return found;
        }
        let found = symbol(self.name);
        self.found.store(found, Relaxed);
        found
    }
}

macro_rules! callable {
    ($($method:ident $($argument:ident)*;)*) => {
        impl Function {
            $(
                /// Calls it with so many words, as registers and the stack have them.
                ///
                /// # Safety
                /// The words are arguments of this function.
                #[allow(clippy::too_many_arguments, reason = "functions of MPI have up to twelve")]
                pub unsafe fn $method(&self, $($argument: Word),*) -> c_int {
                    let address = self.address();
                    if address.is_null() {
                        return MISSING;
                    }
                    // SAFETY: pointers, handles and integers pass in the same registers, as words.
                    let function: extern "C" fn($(callable!(@word $argument)),*) -> c_int = unsafe { transmute(address) };
                    function($($argument),*)
                }
            )*
        }
    };
    (@word $argument:ident) => { Word };
}

callable! {
    call0;
    call1 a;
    call2 a b;
    call3 a b c;
    call4 a b c d;
    call5 a b c d e;
    call6 a b c d e f;
    call7 a b c d e f g;
    call8 a b c d e f g h;
    call9 a b c d e f g h i;
    call10 a b c d e f g h i j;
    call12 a b c d e f g h i j k l;
}
