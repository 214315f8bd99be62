//! Messages to one rank.

use super::book::book;
use super::call::MpiCall;
use super::library::second_is_fortran;
use super::words::{ArgumentWord, count, int, type_bytes};
use core::ffi::c_int;

fn sent(
    call: MpiCall,
    elements: ArgumentWord,
    kind: ArgumentWord,
    to: ArgumentWord,
    communicator: ArgumentWord,
) {
    let bytes = count(elements) * type_bytes(kind);
    book().communicator(communicator).add(call, int(to), bytes);
}

functions! {
    second second_is_fortran();
    MPI_Send PMPI_Send (buffer elements kind to tag comm)
        sent(MpiCall::Send, elements, kind, to, comm);
    MPI_Bsend PMPI_Bsend (buffer elements kind to tag comm)
        sent(MpiCall::Send, elements, kind, to, comm);
    MPI_Ssend PMPI_Ssend (buffer elements kind to tag comm)
        sent(MpiCall::Send, elements, kind, to, comm);
    MPI_Rsend PMPI_Rsend (buffer elements kind to tag comm)
        sent(MpiCall::Send, elements, kind, to, comm);
    MPI_Isend PMPI_Isend (buffer elements kind to tag comm request)
        sent(MpiCall::Send, elements, kind, to, comm);
    MPI_Ibsend PMPI_Ibsend (buffer elements kind to tag comm request)
        sent(MpiCall::Send, elements, kind, to, comm);
    MPI_Issend PMPI_Issend (buffer elements kind to tag comm request)
        sent(MpiCall::Send, elements, kind, to, comm);
    MPI_Irsend PMPI_Irsend (buffer elements kind to tag comm request)
        sent(MpiCall::Send, elements, kind, to, comm);
    MPI_Sendrecv PMPI_Sendrecv
        (buffer elements kind to tag into room into_kind from from_tag comm status)
        sent(MpiCall::Sendrecv, elements, kind, to, comm);
    MPI_Sendrecv_replace PMPI_Sendrecv_replace
        (buffer elements kind to tag from from_tag comm status)
        sent(MpiCall::Sendrecv, elements, kind, to, comm);
}
