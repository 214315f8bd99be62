//! The begin and the end of MPI, and of communicators.

use super::book::{ask, book};
use super::library::{Function, library};
use super::words::{Word, handle_at};
use super::write;
use crate::threads::cpu_ns;
use std::ffi::c_int;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

/// When MPI was initialised, in nanoseconds of `CLOCK_REALTIME`, which all computers of a job
/// share.
static BEGAN_NS: AtomicI64 = AtomicI64::new(0);

/// The CPU time of this process when MPI was initialised, in nanoseconds.
static BEGAN_CPU_NS: AtomicI64 = AtomicI64::new(0);

/// When MPI was initialised, in nanoseconds since 1970.
pub fn began_ns() -> i64 {
    BEGAN_NS.load(Relaxed)
}

/// The CPU time of this process since MPI was initialised, in nanoseconds: starting a short job
/// takes more of it than the job.
pub fn used_ns() -> i64 {
    cpu_ns(libc::CLOCK_PROCESS_CPUTIME_ID) - BEGAN_CPU_NS.load(Relaxed)
}

/// This rank in `MPI_COMM_WORLD`, and the number of ranks.
pub fn rank_and_size() -> (c_int, c_int) {
    static RANK: Function = Function::new(c"PMPI_Comm_rank");
    static SIZE: Function = Function::new(c"PMPI_Comm_size");
    let world = library().world().0;
    (ask(&RANK, world), ask(&SIZE, world))
}

fn began() {
    BEGAN_NS.store(cpu_ns(libc::CLOCK_REALTIME), Relaxed);
    BEGAN_CPU_NS.store(cpu_ns(libc::CLOCK_PROCESS_CPUTIME_ID), Relaxed);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Init(count: Word, arguments: Word) -> c_int {
    static REAL: Function = Function::new(c"PMPI_Init");
    // SAFETY: the arguments are the caller's.
    let status = unsafe { REAL.call2(count, arguments) };
    began();
    status
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Init_thread(
    count: Word,
    arguments: Word,
    wished: Word,
    provided: Word,
) -> c_int {
    static REAL: Function = Function::new(c"PMPI_Init_thread");
    // SAFETY: the arguments are the caller's.
    let status = unsafe { REAL.call4(count, arguments, wished, provided) };
    began();
    status
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Finalize() -> c_int {
    static REAL: Function = Function::new(c"PMPI_Finalize");
    write::write();
    // SAFETY: the function has no arguments.
    unsafe { REAL.call0() }
}

macro_rules! ends {
    ($($name:ident $real:literal)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(communicator: Word) -> c_int {
                static REAL: Function = Function::new($real);
                // SAFETY: the caller's address is that of a communicator.
                let handle = unsafe { handle_at(library(), communicator, 0) };
                book().forget(handle);
                // SAFETY: the arguments are the caller's.
                unsafe { REAL.call1(communicator) }
            }
        )*
    };
}

ends! {
    MPI_Comm_free c"PMPI_Comm_free"
    MPI_Comm_disconnect c"PMPI_Comm_disconnect"
}
