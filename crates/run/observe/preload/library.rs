//! Open MPI's handles are pointers; MPICH's are 32-bit numbers.

use super::system::{DEFAULT, LOADED, NEXT, dlopen, dlsym};
use super::words::{ArgumentWord, MpiHandle};
use core::ffi::{CStr, c_int};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicPtr, AtomicUsize};

/// `MPI_COMM_WORLD` of MPICH's binary interface, shared by Intel MPI and others.
const MPICH_WORLD: usize = 0x4400_0000;

/// The status of a call that the MPI library lacks. `MPI_ERR_OTHER` is 15 or 16, and never success.
const MISSING: c_int = 16;

/// Open MPI, Debian's MPICH, and MPICH. Python loads one only for its module, so the program's
/// libraries lack it.
const FILES: [&CStr; 3] = [c"libmpi.so.40", c"libmpich.so.12", c"libmpi.so.12"];

const MOST_WORDS: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    Open(usize),
    Mpich,
}

pub fn library() -> Library {
    /// `MPI_COMM_WORLD`'s address, 1 for MPICH, 0 before it is known.
    static WORLD: AtomicUsize = AtomicUsize::new(0);
    if WORLD.load(Relaxed) == 0 {
        // A C program may contain the variable (a copy relocation), so all objects are searched.
        WORLD.store((symbol(DEFAULT, c"ompi_mpi_comm_world") as usize).max(1), Relaxed);
    }
    match WORLD.load(Relaxed) {
        1 => Library::Mpich,
        world => Library::Open(world),
    }
}

/// Open MPI's Fortran functions do. MPICH's call the first names, and its MPI-IO calls the second.
pub fn second_is_fortran() -> bool {
    library() != Library::Mpich
}

impl Library {
    pub fn world(self) -> MpiHandle {
        match self {
            Library::Open(world) => MpiHandle(world),
            Library::Mpich => MpiHandle(MPICH_WORLD),
        }
    }

    pub fn handle(self, word: ArgumentWord) -> MpiHandle {
        match self {
            Library::Open(_) => MpiHandle(word),
            Library::Mpich => MpiHandle(word & 0xffff_ffff),
        }
    }

    pub fn handle_bytes(self) -> usize {
        match self {
            Library::Open(_) => 8,
            Library::Mpich => 4,
        }
    }

    /// `MPI_IN_PLACE`: `(void *) 1` in Open MPI, `(void *) -1` in MPICH.
    pub fn in_place(self) -> ArgumentWord {
        match self {
            Library::Open(_) => 1,
            Library::Mpich => usize::MAX,
        }
    }
}

/// Looks up a symbol from `from` (dlsym(3)), then in the library's file.
fn symbol(from: *mut u8, name: &CStr) -> *mut u8 {
    // SAFETY: the name is a C string.
    let found = unsafe { dlsym(from, name.as_ptr()) };
    let objects = FILES.iter().map(|file| {
        // SAFETY: the file is a C string; nothing is loaded.
        unsafe { dlopen(file.as_ptr(), LOADED) }
    });
    let loaded = objects.filter(|object| !object.is_null());
    // SAFETY: the object is loaded, and stays loaded because it is in use.
    let within = loaded.map(|object| unsafe { dlsym(object, name.as_ptr()) });
    core::iter::once(found).chain(within).find(|found| !found.is_null()).unwrap_or(null_mut())
}

#[rustfmt::skip]
type AnyFunction =
    extern "C" fn(
        ArgumentWord, ArgumentWord, ArgumentWord, ArgumentWord, ArgumentWord, ArgumentWord,
        ArgumentWord, ArgumentWord, ArgumentWord, ArgumentWord, ArgumentWord, ArgumentWord
    ) -> c_int;

pub struct MpiFunction {
    name: &'static str,
    found: AtomicPtr<u8>,
}

impl MpiFunction {
    /// The name begins with `PMPI_` and ends with a zero byte.
    pub const fn new(name: &'static str) -> Self {
        MpiFunction { name, found: AtomicPtr::new(null_mut()) }
    }

    fn address(&self) -> *mut u8 {
        let found = self.found.load(Relaxed);
        if !found.is_null() {
            return found;
        }
        let name = CStr::from_bytes_with_nul(self.name.as_bytes()).unwrap_or_default();
        // Skips this library's functions of the same names.
        let found = symbol(NEXT, name);
        self.found.store(found, Relaxed);
        found
    }

    /// Calls it with these words, as in registers and on the stack. Functions ignore further words,
    /// and their callers remove them, by the conventions of x86-64 and of 64-bit Arm.
    ///
    /// # Safety
    /// The words are arguments of this function.
    pub unsafe fn call<const COUNT: usize>(&self, words: [ArgumentWord; COUNT]) -> c_int {
        const { assert!(COUNT <= MOST_WORDS) };
        let mut all = [0; MOST_WORDS];
        all[..COUNT].copy_from_slice(&words);
        // SAFETY: as above.
        unsafe { self.call_with(all) }
    }

    // One copy, for all functions.
    #[inline(never)]
    unsafe fn call_with(&self, words: [ArgumentWord; MOST_WORDS]) -> c_int {
        let address = self.address();
        if address.is_null() {
            return MISSING;
        }
        let [a, b, c, d, e, f, g, h, i, j, k, l] = words;
        // SAFETY: pointers, handles and integers pass in the same registers, as words.
        let function: AnyFunction = unsafe { transmute(address) };
        function(a, b, c, d, e, f, g, h, i, j, k, l)
    }
}

macro_rules! real {
    ($name:ident) => {{
        static REAL: super::library::MpiFunction =
            super::library::MpiFunction::new(concat!(stringify!($name), "\0"));
        &REAL
    }};
}

/// Defines MPI functions under both names, which record something first. C programs call the first;
/// the second records only if it is Fortran's.
macro_rules! functions {
    (second $is_fortran:expr; $($name:ident $real:ident ($($argument:ident)*) $note:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: ArgumentWord),*) -> c_int {
                $note;
                // SAFETY: the arguments are the caller's.
                unsafe { real!($real).call([$($argument),*]) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $real($($argument: ArgumentWord),*) -> c_int {
                // SAFETY: the arguments are the caller's.
                unsafe {
                    if $is_fortran {
                        $name($($argument),*)
                    } else {
                        real!($real).call([$($argument),*])
                    }
                }
            }
        )*
    };
}

/// Like `functions`, but records afterwards, with the status from the MPI library.
macro_rules! functions_then {
    ($($name:ident $real:ident ($($argument:ident)*) $status:ident $note:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: ArgumentWord),*) -> c_int {
                // SAFETY: the arguments are the caller's.
                let $status = unsafe { real!($real).call([$($argument),*]) };
                $note;
                $status
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $real($($argument: ArgumentWord),*) -> c_int {
                // SAFETY: the arguments are the caller's.
                unsafe { $name($($argument),*) }
            }
        )*
    };
}
