//! Messages to one rank.

use super::book::book;
use super::call::Call;
use super::library::Function;
use super::words::{Word, count, int, type_bytes};
use std::ffi::c_int;

/// Counts a message.
pub fn sent(call: Call, elements: Word, kind: Word, to: Word, communicator: Word) {
    let bytes = count(elements) * type_bytes(kind);
    book().communicator(communicator).add(call, int(to), bytes);
}

macro_rules! sends {
    ($($name:ident $real:literal)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(buffer: Word, elements: Word, kind: Word, to: Word, tag: Word, comm: Word) -> c_int {
                static REAL: Function = Function::new($real);
                sent(Call::Send, elements, kind, to, comm);
                // SAFETY: the arguments are the caller's.
                unsafe { REAL.call6(buffer, elements, kind, to, tag, comm) }
            }
        )*
    };
}

macro_rules! sends_with_request {
    ($($name:ident $real:literal)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                buffer: Word, elements: Word, kind: Word, to: Word, tag: Word, comm: Word, request: Word,
            ) -> c_int {
                static REAL: Function = Function::new($real);
                sent(Call::Send, elements, kind, to, comm);
                // SAFETY: the arguments are the caller's.
                unsafe { REAL.call7(buffer, elements, kind, to, tag, comm, request) }
            }
        )*
    };
}

sends! {
    MPI_Send c"PMPI_Send"
    MPI_Bsend c"PMPI_Bsend"
    MPI_Ssend c"PMPI_Ssend"
    MPI_Rsend c"PMPI_Rsend"
}

sends_with_request! {
    MPI_Isend c"PMPI_Isend"
    MPI_Ibsend c"PMPI_Ibsend"
    MPI_Issend c"PMPI_Issend"
    MPI_Irsend c"PMPI_Irsend"
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Sendrecv(
    buffer: Word,
    elements: Word,
    kind: Word,
    to: Word,
    tag: Word,
    into: Word,
    room: Word,
    into_kind: Word,
    from: Word,
    from_tag: Word,
    comm: Word,
    status: Word,
) -> c_int {
    static REAL: Function = Function::new(c"PMPI_Sendrecv");
    sent(Call::Sendrecv, elements, kind, to, comm);
    // SAFETY: the arguments are the caller's.
    unsafe {
        REAL.call12(
            buffer, elements, kind, to, tag, into, room, into_kind, from, from_tag, comm, status,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Sendrecv_replace(
    buffer: Word,
    elements: Word,
    kind: Word,
    to: Word,
    tag: Word,
    from: Word,
    from_tag: Word,
    comm: Word,
    status: Word,
) -> c_int {
    static REAL: Function = Function::new(c"PMPI_Sendrecv_replace");
    sent(Call::Sendrecv, elements, kind, to, comm);
    // SAFETY: the arguments are the caller's.
    unsafe { REAL.call9(buffer, elements, kind, to, tag, from, from_tag, comm, status) }
}
