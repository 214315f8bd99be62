//! Accesses to the memory of a rank.

use super::book::book;
use super::call::Call;
use super::library::{Function, library};
use super::words::{Word, count, handle_at, int, type_bytes};
use std::ffi::c_int;

fn moved(call: Call, bytes: u64, rank: Word, window: Word) {
    book().window(window).add(call, int(rank), bytes);
}

macro_rules! accesses {
    ($($name:ident $real:literal $method:ident $call:ident $rank:ident $window:ident
        ($($argument:ident)*) $bytes:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: Word),*) -> c_int {
                static REAL: Function = Function::new($real);
                moved(Call::$call, $bytes, $rank, $window);
                // SAFETY: the arguments are the caller's.
                unsafe { REAL.$method($($argument),*) }
            }
        )*
    };
}

accesses! {
    MPI_Put c"PMPI_Put" call8 Put rank window (from elements kind rank start to_elements to_kind window)
        count(elements) * type_bytes(kind);
    MPI_Rput c"PMPI_Rput" call9 Put rank window (from elements kind rank start to_elements to_kind window request)
        count(elements) * type_bytes(kind);
    MPI_Get c"PMPI_Get" call8 Get rank window (to elements kind rank start from_elements from_kind window)
        count(elements) * type_bytes(kind);
    MPI_Rget c"PMPI_Rget" call9 Get rank window (to elements kind rank start from_elements from_kind window request)
        count(elements) * type_bytes(kind);
    MPI_Accumulate c"PMPI_Accumulate" call9 Accumulate rank window
        (from elements kind rank start to_elements to_kind op window)
        count(elements) * type_bytes(kind);
    MPI_Raccumulate c"PMPI_Raccumulate" call10 Accumulate rank window
        (from elements kind rank start to_elements to_kind op window request)
        count(elements) * type_bytes(kind);
    MPI_Get_accumulate c"PMPI_Get_accumulate" call12 Accumulate rank window
        (from elements kind result result_elements result_kind rank start to_elements to_kind op window)
        count(elements) * type_bytes(kind);
    MPI_Fetch_and_op c"PMPI_Fetch_and_op" call7 Accumulate rank window (from result kind rank start op window)
        type_bytes(kind);
    MPI_Compare_and_swap c"PMPI_Compare_and_swap" call7 Accumulate rank window (from compare result kind rank start window)
        type_bytes(kind);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Win_free(window: Word) -> c_int {
    static REAL: Function = Function::new(c"PMPI_Win_free");
    // SAFETY: the caller's address is that of a window.
    let handle = unsafe { handle_at(library(), window, 0) };
    book().forget(handle);
    // SAFETY: the arguments are the caller's.
    unsafe { REAL.call1(window) }
}
