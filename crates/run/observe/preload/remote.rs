//! Accesses to the memory of a rank.

use super::book::book;
use super::call::Call;
use super::library::second_is_fortran;
use super::process::forget;
use super::words::{Word, count, int, type_bytes};
use core::ffi::c_int;

fn moved(call: Call, bytes: u64, rank: Word, window: Word) {
    book().window(window).add(call, int(rank), bytes);
}

functions! {
    second second_is_fortran();
    MPI_Put PMPI_Put (from elements kind rank start to_elements to_kind window)
        moved(Call::Put, count(elements) * type_bytes(kind), rank, window);
    MPI_Rput PMPI_Rput (from elements kind rank start to_elements to_kind window request)
        moved(Call::Put, count(elements) * type_bytes(kind), rank, window);
    MPI_Get PMPI_Get (to elements kind rank start from_elements from_kind window)
        moved(Call::Get, count(elements) * type_bytes(kind), rank, window);
    MPI_Rget PMPI_Rget (to elements kind rank start from_elements from_kind window request)
        moved(Call::Get, count(elements) * type_bytes(kind), rank, window);
    MPI_Accumulate PMPI_Accumulate (from elements kind rank start to_elements to_kind op window)
        moved(Call::Accumulate, count(elements) * type_bytes(kind), rank, window);
    MPI_Raccumulate PMPI_Raccumulate (from elements kind rank start to_elements to_kind op window request)
        moved(Call::Accumulate, count(elements) * type_bytes(kind), rank, window);
    MPI_Get_accumulate PMPI_Get_accumulate (from elements kind result result_elements result_kind rank start to_elements to_kind op window)
        moved(Call::Accumulate, count(elements) * type_bytes(kind), rank, window);
    MPI_Fetch_and_op PMPI_Fetch_and_op (from result kind rank start op window)
        moved(Call::Accumulate, type_bytes(kind), rank, window);
    MPI_Compare_and_swap PMPI_Compare_and_swap (from compare result kind rank start window)
        moved(Call::Accumulate, type_bytes(kind), rank, window);
}

functions! {
    second true;
    MPI_Win_free PMPI_Win_free (window) forget(window);
}
