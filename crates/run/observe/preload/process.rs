//! Start and end of MPI and communicators.

use super::book::{ask, book};
use super::library::library;
use super::system::{PROCESS_CPU_TIME, REALTIME, clock_ns};
use super::words::{ArgumentWord, handle_at};
use super::write;
use core::ffi::c_int;
use core::sync::atomic::AtomicI64;
use core::sync::atomic::Ordering::Relaxed;

/// In nanoseconds of `CLOCK_REALTIME`, which all computers of a job share.
static BEGAN_NS: AtomicI64 = AtomicI64::new(0);

static BEGAN_CPU_NS: AtomicI64 = AtomicI64::new(0);

pub fn began_ns() -> i64 {
    BEGAN_NS.load(Relaxed)
}

/// In nanoseconds, since MPI began: starting a short job takes longer than the job.
pub fn used_ns() -> i64 {
    clock_ns(PROCESS_CPU_TIME) - BEGAN_CPU_NS.load(Relaxed)
}

pub fn rank_and_size() -> (c_int, c_int) {
    let world = library().world().0;
    (ask(real!(PMPI_Comm_rank), world), ask(real!(PMPI_Comm_size), world))
}

fn began() {
    BEGAN_NS.store(clock_ns(REALTIME), Relaxed);
    BEGAN_CPU_NS.store(clock_ns(PROCESS_CPU_TIME), Relaxed);
}

pub fn forget(address: ArgumentWord) {
    // SAFETY: the caller's address is that of a handle.
    let handle = unsafe { handle_at(library(), address, 0) };
    book().forget(handle);
}

functions_then! {
    MPI_Init PMPI_Init (count arguments) status began();
    MPI_Init_thread PMPI_Init_thread (count arguments wished provided) status began();
}

functions! {
    second true;
    MPI_Finalize PMPI_Finalize () write::write();
    MPI_Comm_free PMPI_Comm_free (communicator) forget(communicator);
    MPI_Comm_disconnect PMPI_Comm_disconnect (communicator) forget(communicator);
}
