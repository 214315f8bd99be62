//! Calls of all ranks of a communicator, counted by what each rank must send to the others.
//!
//! An MPI library chooses an algorithm for each call, and may send over other ranks. The counts
//! here do not depend on that choice:
//!
//! | call | each rank sends |
//! |---|---|
//! | broadcast, scatter | as root, each other rank its part |
//! | gather, reduce | its part to the root |
//! | allgather, alltoall, reduce-scatter | each other rank its part |
//! | allreduce | a share of 2/p of the vector to each other of p ranks: the least that any algorithm moves |
//! | scan, exscan | the vector to the next rank |

use super::book::{Communicator, book};
use super::call::Call;
use super::library::{Function, library};
use super::words::{Word, count, count_at, handle_at, int, type_bytes};
use std::ffi::c_int;

/// Counts in a communicator, unless it connects two groups.
fn within(comm: Word, note: impl FnOnce(&mut Communicator)) {
    let mut book = book();
    let communicator = book.communicator(comm);
    if communicator.is_inter {
        book.miss("collective between two groups");
    } else {
        note(communicator);
    }
}

/// Each rank sends so many bytes to the root.
fn to_root(call: Call, root: Word, comm: Word, bytes: u64) {
    within(comm, |communicator| {
        if communicator.own as c_int != int(root) {
            communicator.add(call, int(root), bytes);
        }
    });
}

/// The root sends each other rank its part.
fn from_root(call: Call, root: Word, comm: Word, bytes: impl Fn(usize) -> u64) {
    within(comm, |communicator| {
        if communicator.own as c_int == int(root) {
            communicator.add_all(call, bytes);
        }
    });
}

/// Each rank sends each other rank its part.
fn to_all(call: Call, comm: Word, bytes: impl Fn(usize) -> u64) {
    within(comm, |communicator| communicator.add_all(call, bytes));
}

/// Each rank sends each other one the part of a vector that an allreduce moves at least.
fn reduce_to_all(comm: Word, bytes: u64) {
    within(comm, |communicator| {
        let share = (2 * bytes).div_ceil(communicator.size().max(1) as u64);
        communicator.add_all(Call::Allreduce, |_| share);
    });
}

/// Each rank sends the vector to the next one.
fn to_next(call: Call, comm: Word, bytes: u64) {
    within(comm, |communicator| communicator.add(call, communicator.own as c_int + 1, bytes));
}

/// Bytes of so many elements.
fn bytes(elements: Word, kind: Word) -> u64 {
    count(elements) * type_bytes(kind)
}

/// Bytes of the elements for one rank, of a list with a count for each rank.
fn part(counts: Word, kind: Word) -> impl Fn(usize) -> u64 {
    let size = type_bytes(kind);
    // SAFETY: the program's list has a count for each rank of the communicator.
    move |rank| size * unsafe { count_at(counts, rank) }
}

/// Bytes for one rank, of lists with a count and a datatype for each rank.
fn typed_part(counts: Word, kinds: Word) -> impl Fn(usize) -> u64 {
    // SAFETY: the program's lists have a count and a datatype for each rank of the communicator.
    move |rank| unsafe { count_at(counts, rank) * type_bytes(handle_at(library(), kinds, rank)) }
}

fn is_in_place(buffer: Word) -> bool {
    buffer == library().in_place()
}

/// The first pair of arguments, or the second one where the data are in the receive buffer already.
fn sent(buffer: Word, given: (Word, Word), in_place: (Word, Word)) -> (Word, Word) {
    if is_in_place(buffer) { in_place } else { given }
}

/// A rank's own part of an allgather of parts that differ.
fn gathered(buffer: Word, given: (Word, Word), counts: Word, kind: Word, comm: Word) {
    within(comm, |communicator| {
        let own = communicator.own;
        let bytes =
            if is_in_place(buffer) { part(counts, kind)(own) } else { bytes(given.0, given.1) };
        communicator.add_all(Call::Allgather, |_| bytes);
    });
}

macro_rules! collectives {
    ($($name:ident $real:literal $call:ident, $now:ident $now_real:literal $now_call:ident
        ($($argument:ident)*) $note:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: Word),*) -> c_int {
                static REAL: Function = Function::new($real);
                $note;
                // SAFETY: the arguments are the caller's.
                unsafe { REAL.$call($($argument),*) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $now($($argument: Word,)* request: Word) -> c_int {
                static REAL: Function = Function::new($now_real);
                $note;
                // SAFETY: the arguments are the caller's.
                unsafe { REAL.$now_call($($argument,)* request) }
            }
        )*
    };
}

collectives! {
    MPI_Bcast c"PMPI_Bcast" call5, MPI_Ibcast c"PMPI_Ibcast" call6 (buffer elements kind root comm) {
        let bytes = bytes(elements, kind);
        from_root(Call::Bcast, root, comm, |_| bytes)
    };
    MPI_Reduce c"PMPI_Reduce" call7, MPI_Ireduce c"PMPI_Ireduce" call8 (from to elements kind op root comm)
        to_root(Call::Reduce, root, comm, bytes(elements, kind));
    MPI_Allreduce c"PMPI_Allreduce" call6, MPI_Iallreduce c"PMPI_Iallreduce" call7 (from to elements kind op comm)
        reduce_to_all(comm, bytes(elements, kind));
    MPI_Gather c"PMPI_Gather" call8, MPI_Igather c"PMPI_Igather" call9
        (from elements kind to to_elements to_kind root comm)
        to_root(Call::Gather, root, comm, if is_in_place(from) { 0 } else { bytes(elements, kind) });
    MPI_Gatherv c"PMPI_Gatherv" call9, MPI_Igatherv c"PMPI_Igatherv" call10
        (from elements kind to to_counts to_starts to_kind root comm)
        to_root(Call::Gather, root, comm, if is_in_place(from) { 0 } else { bytes(elements, kind) });
    MPI_Scatter c"PMPI_Scatter" call8, MPI_Iscatter c"PMPI_Iscatter" call9
        (from elements kind to to_elements to_kind root comm)
        from_root(Call::Scatter, root, comm, |_| bytes(elements, kind));
    MPI_Scatterv c"PMPI_Scatterv" call9, MPI_Iscatterv c"PMPI_Iscatterv" call10
        (from counts starts kind to to_elements to_kind root comm)
        from_root(Call::Scatter, root, comm, |rank| part(counts, kind)(rank));
    MPI_Allgather c"PMPI_Allgather" call7, MPI_Iallgather c"PMPI_Iallgather" call8
        (from elements kind to to_elements to_kind comm) {
        let (elements, kind) = sent(from, (elements, kind), (to_elements, to_kind));
        let bytes = bytes(elements, kind);
        to_all(Call::Allgather, comm, |_| bytes)
    };
    MPI_Allgatherv c"PMPI_Allgatherv" call8, MPI_Iallgatherv c"PMPI_Iallgatherv" call9
        (from elements kind to counts starts to_kind comm)
        gathered(from, (elements, kind), counts, to_kind, comm);
    MPI_Alltoall c"PMPI_Alltoall" call7, MPI_Ialltoall c"PMPI_Ialltoall" call8
        (from elements kind to to_elements to_kind comm) {
        let (elements, kind) = sent(from, (elements, kind), (to_elements, to_kind));
        let bytes = bytes(elements, kind);
        to_all(Call::Alltoall, comm, |_| bytes)
    };
    MPI_Alltoallv c"PMPI_Alltoallv" call9, MPI_Ialltoallv c"PMPI_Ialltoallv" call10
        (from counts starts kind to to_counts to_starts to_kind comm) {
        let (counts, kind) = sent(from, (counts, kind), (to_counts, to_kind));
        to_all(Call::Alltoall, comm, part(counts, kind))
    };
    MPI_Alltoallw c"PMPI_Alltoallw" call9, MPI_Ialltoallw c"PMPI_Ialltoallw" call10
        (from counts starts kinds to to_counts to_starts to_kinds comm) {
        let (counts, kinds) = sent(from, (counts, kinds), (to_counts, to_kinds));
        to_all(Call::Alltoall, comm, typed_part(counts, kinds))
    };
    MPI_Reduce_scatter c"PMPI_Reduce_scatter" call6, MPI_Ireduce_scatter c"PMPI_Ireduce_scatter" call7
        (from to counts kind op comm)
        to_all(Call::ReduceScatter, comm, part(counts, kind));
    MPI_Reduce_scatter_block c"PMPI_Reduce_scatter_block" call6,
    MPI_Ireduce_scatter_block c"PMPI_Ireduce_scatter_block" call7 (from to elements kind op comm) {
        let bytes = bytes(elements, kind);
        to_all(Call::ReduceScatter, comm, |_| bytes)
    };
    MPI_Scan c"PMPI_Scan" call6, MPI_Iscan c"PMPI_Iscan" call7 (from to elements kind op comm)
        to_next(Call::Scan, comm, bytes(elements, kind));
    MPI_Exscan c"PMPI_Exscan" call6, MPI_Iexscan c"PMPI_Iexscan" call7 (from to elements kind op comm)
        to_next(Call::Exscan, comm, bytes(elements, kind));
    MPI_Neighbor_allgather c"PMPI_Neighbor_allgather" call7,
    MPI_Ineighbor_allgather c"PMPI_Ineighbor_allgather" call8 (from elements kind to to_elements to_kind comm)
        book().miss("MPI_Neighbor_allgather");
    MPI_Neighbor_allgatherv c"PMPI_Neighbor_allgatherv" call8,
    MPI_Ineighbor_allgatherv c"PMPI_Ineighbor_allgatherv" call9 (from elements kind to counts starts to_kind comm)
        book().miss("MPI_Neighbor_allgatherv");
    MPI_Neighbor_alltoall c"PMPI_Neighbor_alltoall" call7,
    MPI_Ineighbor_alltoall c"PMPI_Ineighbor_alltoall" call8 (from elements kind to to_elements to_kind comm)
        book().miss("MPI_Neighbor_alltoall");
    MPI_Neighbor_alltoallv c"PMPI_Neighbor_alltoallv" call9,
    MPI_Ineighbor_alltoallv c"PMPI_Ineighbor_alltoallv" call10
        (from counts starts kind to to_counts to_starts to_kind comm)
        book().miss("MPI_Neighbor_alltoallv");
    MPI_Neighbor_alltoallw c"PMPI_Neighbor_alltoallw" call9,
    MPI_Ineighbor_alltoallw c"PMPI_Ineighbor_alltoallw" call10
        (from counts starts kinds to to_counts to_starts to_kinds comm)
        book().miss("MPI_Neighbor_alltoallw");
}
