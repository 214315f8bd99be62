//! Accesses to the memory of a rank.

use super::book::book;
use super::call::MpiCall;
use super::library::second_is_fortran;
use super::process::forget;
use super::words::{ArgumentWord, count, int, type_bytes};
use core::ffi::c_int;

fn moved(call: MpiCall, bytes: u64, rank: ArgumentWord, window: ArgumentWord) {
    book().window(window).add(call, int(rank), bytes);
}

functions! {
    second second_is_fortran();
    MPI_Put PMPI_Put (from elements kind rank start to_elements to_kind window)
        moved(MpiCall::Put, count(elements) * type_bytes(kind), rank, window);
    MPI_Rput PMPI_Rput (from elements kind rank start to_elements to_kind window request)
        moved(MpiCall::Put, count(elements) * type_bytes(kind), rank, window);
    MPI_Get PMPI_Get (to elements kind rank start from_elements from_kind window)
        moved(MpiCall::Get, count(elements) * type_bytes(kind), rank, window);
    MPI_Rget PMPI_Rget (to elements kind rank start from_elements from_kind window request)
        moved(MpiCall::Get, count(elements) * type_bytes(kind), rank, window);
    MPI_Accumulate PMPI_Accumulate (from elements kind rank start to_elements to_kind op window)
        moved(MpiCall::Accumulate, count(elements) * type_bytes(kind), rank, window);
    MPI_Raccumulate PMPI_Raccumulate
        (from elements kind rank start to_elements to_kind op window request)
        moved(MpiCall::Accumulate, count(elements) * type_bytes(kind), rank, window);
    MPI_Get_accumulate PMPI_Get_accumulate
        (from elements kind result result_elements result_kind rank start to_elements to_kind
            op window)
        moved(MpiCall::Accumulate, count(elements) * type_bytes(kind), rank, window);
    MPI_Fetch_and_op PMPI_Fetch_and_op (from result kind rank start op window)
        moved(MpiCall::Accumulate, type_bytes(kind), rank, window);
    MPI_Compare_and_swap PMPI_Compare_and_swap (from compare result kind rank start window)
        moved(MpiCall::Accumulate, type_bytes(kind), rank, window);
}

functions! {
    second true;
    MPI_Win_free PMPI_Win_free (window) forget(window);
}
