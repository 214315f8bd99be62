//! Requests that send each time they are started.

use super::book::book;
use super::call::MpiCall;
use super::library::library;
use super::system::Locked;
use super::words::{ArgumentWord, MpiHandle, count, handle_at, int, type_bytes};
use alloc::vec::Vec;
use core::ffi::c_int;

struct Prepared {
    request: MpiHandle,
    communicator: usize,
    to: c_int,
    bytes: u64,
}

static PREPARED: Locked<Vec<Prepared>> = Locked::new(Vec::new());

/// Replaces an older message with the same handle.
fn prepare(
    status: c_int,
    request: ArgumentWord,
    [elements, kind, to, communicator]: [ArgumentWord; 4],
) {
    if status != 0 {
        return;
    }
    let request = fresh(request);
    let bytes = count(elements) * type_bytes(kind);
    let communicator = book().place(communicator);
    let mut prepared = PREPARED.lock();
    prepared.push(Prepared { request, communicator, to: int(to), bytes });
}

/// Forgets the handle's older message.
fn fresh(request: ArgumentWord) -> MpiHandle {
    // SAFETY: the MPI library has just written a handle there.
    let request = library().handle(unsafe { handle_at(library(), request, 0) });
    let mut prepared = PREPARED.lock();
    prepared.retain(|known| known.request != request);
    request
}

fn started(requests: ArgumentWord, times: usize) {
    let prepared = PREPARED.lock();
    for at in 0..times {
        // SAFETY: the caller's list has this many handles.
        let request = library().handle(unsafe { handle_at(library(), requests, at) });
        if let Some(known) = prepared.iter().find(|known| known.request == request) {
            book().communicators[known.communicator].add(MpiCall::Start, known.to, known.bytes);
        }
    }
}

functions_then! {
    MPI_Send_init PMPI_Send_init (buffer elements kind to tag comm request)
        status prepare(status, request, [elements, kind, to, comm]);
    MPI_Bsend_init PMPI_Bsend_init (buffer elements kind to tag comm request)
        status prepare(status, request, [elements, kind, to, comm]);
    MPI_Ssend_init PMPI_Ssend_init (buffer elements kind to tag comm request)
        status prepare(status, request, [elements, kind, to, comm]);
    MPI_Rsend_init PMPI_Rsend_init (buffer elements kind to tag comm request)
        status prepare(status, request, [elements, kind, to, comm]);
    // Receiving requests also count, because their handle may have sent before.
    MPI_Recv_init PMPI_Recv_init (buffer elements kind from tag comm request)
        status if status == 0 { fresh(request); };
}

functions! {
    second true;
    MPI_Start PMPI_Start (request) started(request, 1);
    MPI_Startall PMPI_Startall (times requests)
        started(requests, usize::try_from(int(times)).unwrap_or(0));
}
