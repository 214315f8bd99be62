//! Counts collective calls, as the bytes that each rank must send.
//!
//! An MPI library chooses an algorithm for each call, and may send through other ranks. These
//! counts do not depend on that choice:
//!
//! | call | each rank sends |
//! |---|---|
//! | broadcast, scatter | as root, each other rank its part |
//! | gather, reduce | its part to the root |
//! | allgather, alltoall, reduce-scatter | each other rank its part |
//! | allreduce | a share of 2/p of the vector to each other of p ranks: the least possible |
//! | scan, exscan | the vector to the next rank |

use super::book::{Communicator, book};
use super::call::MpiCall;
use super::library::{library, second_is_fortran};
use super::words::{ArgumentWord, count, count_at, handle_at, int, type_bytes};
use core::ffi::c_int;

fn within(comm: ArgumentWord, note: impl FnOnce(&mut Communicator)) {
    let mut book = book();
    let communicator = book.communicator(comm);
    if communicator.is_inter {
        book.miss("collective between two groups");
    } else {
        note(communicator);
    }
}

fn to_root(call: MpiCall, root: ArgumentWord, comm: ArgumentWord, bytes: u64) {
    within(comm, |communicator| {
        if communicator.own as c_int != int(root) {
            communicator.add(call, int(root), bytes);
        }
    });
}

fn from_root(call: MpiCall, root: ArgumentWord, comm: ArgumentWord, bytes: impl Fn(usize) -> u64) {
    within(comm, |communicator| {
        if communicator.own as c_int == int(root) {
            communicator.add_all(call, bytes);
        }
    });
}

fn to_all(call: MpiCall, comm: ArgumentWord, bytes: impl Fn(usize) -> u64) {
    within(comm, |communicator| communicator.add_all(call, bytes));
}

fn reduce_to_all(comm: ArgumentWord, bytes: u64) {
    within(comm, |communicator| {
        let share = (2 * bytes).div_ceil(communicator.size().max(1) as u64);
        communicator.add_all(MpiCall::Allreduce, |_| share);
    });
}

fn to_next(call: MpiCall, comm: ArgumentWord, bytes: u64) {
    within(comm, |communicator| communicator.add(call, communicator.own as c_int + 1, bytes));
}

fn bytes(elements: ArgumentWord, kind: ArgumentWord) -> u64 {
    count(elements) * type_bytes(kind)
}

fn part(counts: ArgumentWord, kind: ArgumentWord) -> impl Fn(usize) -> u64 {
    let size = type_bytes(kind);
    // SAFETY: the program's list has a count for each rank of the communicator.
    move |rank| size * unsafe { count_at(counts, rank) }
}

fn typed_part(counts: ArgumentWord, kinds: ArgumentWord) -> impl Fn(usize) -> u64 {
    // SAFETY: the program's lists have a count and a datatype for each rank of the communicator.
    move |rank| unsafe { count_at(counts, rank) * type_bytes(handle_at(library(), kinds, rank)) }
}

fn is_in_place(buffer: ArgumentWord) -> bool {
    buffer == library().in_place()
}

/// The second pair if the data are in the receive buffer.
fn sent(
    buffer: ArgumentWord,
    given: (ArgumentWord, ArgumentWord),
    in_place: (ArgumentWord, ArgumentWord),
) -> (ArgumentWord, ArgumentWord) {
    if is_in_place(buffer) { in_place } else { given }
}

fn gathered(
    buffer: ArgumentWord,
    given: (ArgumentWord, ArgumentWord),
    counts: ArgumentWord,
    kind: ArgumentWord,
    comm: ArgumentWord,
) {
    within(comm, |communicator| {
        let own = communicator.own;
        let bytes =
            if is_in_place(buffer) { part(counts, kind)(own) } else { bytes(given.0, given.1) };
        communicator.add_all(MpiCall::Allgather, |_| bytes);
    });
}

macro_rules! collectives {
    ($($name:ident $real:ident, $now:ident $now_real:ident ($($argument:ident)*) $note:expr;)*) => {
        functions! {
            second second_is_fortran();
            $(
                $name $real ($($argument)*) $note;
                $now $now_real ($($argument)* request) $note;
            )*
        }
    };
}

collectives! {
    MPI_Bcast PMPI_Bcast, MPI_Ibcast PMPI_Ibcast (buffer elements kind root comm) {
        let bytes = bytes(elements, kind);
        from_root(MpiCall::Bcast, root, comm, |_| bytes)
    };
    MPI_Reduce PMPI_Reduce, MPI_Ireduce PMPI_Ireduce (from to elements kind op root comm)
        to_root(MpiCall::Reduce, root, comm, bytes(elements, kind));
    MPI_Allreduce PMPI_Allreduce, MPI_Iallreduce PMPI_Iallreduce (from to elements kind op comm)
        reduce_to_all(comm, bytes(elements, kind));
    MPI_Gather PMPI_Gather, MPI_Igather PMPI_Igather
        (from elements kind to to_elements to_kind root comm)
        to_root(
            MpiCall::Gather, root, comm,
            if is_in_place(from) { 0 } else { bytes(elements, kind) },
        );
    MPI_Gatherv PMPI_Gatherv, MPI_Igatherv PMPI_Igatherv
        (from elements kind to to_counts to_starts to_kind root comm)
        to_root(
            MpiCall::Gather, root, comm,
            if is_in_place(from) { 0 } else { bytes(elements, kind) },
        );
    MPI_Scatter PMPI_Scatter, MPI_Iscatter PMPI_Iscatter
        (from elements kind to to_elements to_kind root comm)
        from_root(MpiCall::Scatter, root, comm, |_| bytes(elements, kind));
    MPI_Scatterv PMPI_Scatterv, MPI_Iscatterv PMPI_Iscatterv
        (from counts starts kind to to_elements to_kind root comm)
        from_root(MpiCall::Scatter, root, comm, |rank| part(counts, kind)(rank));
    MPI_Allgather PMPI_Allgather, MPI_Iallgather PMPI_Iallgather
        (from elements kind to to_elements to_kind comm) {
        let (elements, kind) = sent(from, (elements, kind), (to_elements, to_kind));
        let bytes = bytes(elements, kind);
        to_all(MpiCall::Allgather, comm, |_| bytes)
    };
    MPI_Allgatherv PMPI_Allgatherv, MPI_Iallgatherv PMPI_Iallgatherv
        (from elements kind to counts starts to_kind comm)
        gathered(from, (elements, kind), counts, to_kind, comm);
    MPI_Alltoall PMPI_Alltoall, MPI_Ialltoall PMPI_Ialltoall
        (from elements kind to to_elements to_kind comm) {
        let (elements, kind) = sent(from, (elements, kind), (to_elements, to_kind));
        let bytes = bytes(elements, kind);
        to_all(MpiCall::Alltoall, comm, |_| bytes)
    };
    MPI_Alltoallv PMPI_Alltoallv, MPI_Ialltoallv PMPI_Ialltoallv
        (from counts starts kind to to_counts to_starts to_kind comm) {
        let (counts, kind) = sent(from, (counts, kind), (to_counts, to_kind));
        to_all(MpiCall::Alltoall, comm, part(counts, kind))
    };
    MPI_Alltoallw PMPI_Alltoallw, MPI_Ialltoallw PMPI_Ialltoallw
        (from counts starts kinds to to_counts to_starts to_kinds comm) {
        let (counts, kinds) = sent(from, (counts, kinds), (to_counts, to_kinds));
        to_all(MpiCall::Alltoall, comm, typed_part(counts, kinds))
    };
    MPI_Reduce_scatter PMPI_Reduce_scatter, MPI_Ireduce_scatter PMPI_Ireduce_scatter
        (from to counts kind op comm)
        to_all(MpiCall::ReduceScatter, comm, part(counts, kind));
    MPI_Reduce_scatter_block PMPI_Reduce_scatter_block,
    MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block (from to elements kind op comm) {
        let bytes = bytes(elements, kind);
        to_all(MpiCall::ReduceScatter, comm, |_| bytes)
    };
    MPI_Scan PMPI_Scan, MPI_Iscan PMPI_Iscan (from to elements kind op comm)
        to_next(MpiCall::Scan, comm, bytes(elements, kind));
    MPI_Exscan PMPI_Exscan, MPI_Iexscan PMPI_Iexscan (from to elements kind op comm)
        to_next(MpiCall::Exscan, comm, bytes(elements, kind));
    MPI_Neighbor_allgather PMPI_Neighbor_allgather,
    MPI_Ineighbor_allgather PMPI_Ineighbor_allgather
        (from elements kind to to_elements to_kind comm)
        book().miss("MPI_Neighbor_allgather");
    MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv,
    MPI_Ineighbor_allgatherv PMPI_Ineighbor_allgatherv
        (from elements kind to counts starts to_kind comm)
        book().miss("MPI_Neighbor_allgatherv");
    MPI_Neighbor_alltoall PMPI_Neighbor_alltoall,
    MPI_Ineighbor_alltoall PMPI_Ineighbor_alltoall (from elements kind to to_elements to_kind comm)
        book().miss("MPI_Neighbor_alltoall");
    MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv,
    MPI_Ineighbor_alltoallv PMPI_Ineighbor_alltoallv
        (from counts starts kind to to_counts to_starts to_kind comm)
        book().miss("MPI_Neighbor_alltoallv");
    MPI_Neighbor_alltoallw PMPI_Neighbor_alltoallw,
    MPI_Ineighbor_alltoallw PMPI_Ineighbor_alltoallw
        (from counts starts kinds to to_counts to_starts to_kinds comm)
        book().miss("MPI_Neighbor_alltoallw");
}
