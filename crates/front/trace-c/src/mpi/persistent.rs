//! Requests that send each time they are started.

use super::book::book;
use super::call::Call;
use super::library::{Function, library};
use super::words::{Handle, Word, count, handle_at, int, type_bytes};
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// A message that a request sends at each start.
struct Prepared {
    request: Handle,
    /// The place of its communicator in the book.
    communicator: usize,
    to: c_int,
    bytes: u64,
}

static PREPARED: Mutex<Vec<Prepared>> = Mutex::new(Vec::new());

/// Keeps the message of a new request. A handle that was used before is replaced.
fn prepare(request: Word, elements: Word, kind: Word, to: Word, communicator: Word) {
    let request = fresh(request);
    let bytes = count(elements) * type_bytes(kind);
    let communicator = book().place(communicator);
    let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
    prepared.push(Prepared { request, communicator, to: int(to), bytes });
}

/// The handle of a new request, whose earlier message is forgotten.
fn fresh(request: Word) -> Handle {
    // SAFETY: the MPI library has just written a handle there.
    let request = library().handle(unsafe { handle_at(library(), request, 0) });
    let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
    prepared.retain(|known| known.request != request);
    request
}

/// Counts the messages of requests that are started.
fn started(requests: Word, times: usize) {
    let prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
    for at in 0..times {
        // SAFETY: the caller's list has so many handles.
        let request = library().handle(unsafe { handle_at(library(), requests, at) });
        if let Some(known) = prepared.iter().find(|known| known.request == request) {
            book().communicators[known.communicator].add(Call::Start, known.to, known.bytes);
        }
    }
}

macro_rules! preparations {
    ($($name:ident $real:literal)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                buffer: Word, elements: Word, kind: Word, to: Word, tag: Word, comm: Word, request: Word,
            ) -> c_int {
                static REAL: Function = Function::new($real);
                // SAFETY: the arguments are the caller's.
                let status = unsafe { REAL.call7(buffer, elements, kind, to, tag, comm, request) };
                if status == 0 {
                    prepare(request, elements, kind, to, comm);
                }
                status
            }
        )*
    };
}

preparations! {
    MPI_Send_init c"PMPI_Send_init"
    MPI_Bsend_init c"PMPI_Bsend_init"
    MPI_Ssend_init c"PMPI_Ssend_init"
    MPI_Rsend_init c"PMPI_Rsend_init"
}

/// Requests that receive are known too: their handle may be one that sent before.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Recv_init(
    buffer: Word,
    elements: Word,
    kind: Word,
    from: Word,
    tag: Word,
    comm: Word,
    request: Word,
) -> c_int {
    static REAL: Function = Function::new(c"PMPI_Recv_init");
    // SAFETY: the arguments are the caller's.
    let status = unsafe { REAL.call7(buffer, elements, kind, from, tag, comm, request) };
    if status == 0 {
        fresh(request);
    }
    status
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Start(request: Word) -> c_int {
    static REAL: Function = Function::new(c"PMPI_Start");
    started(request, 1);
    // SAFETY: the arguments are the caller's.
    unsafe { REAL.call1(request) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Startall(times: Word, requests: Word) -> c_int {
    static REAL: Function = Function::new(c"PMPI_Startall");
    started(requests, usize::try_from(int(times)).unwrap_or(0));
    // SAFETY: the arguments are the caller's.
    unsafe { REAL.call2(times, requests) }
}
