//! The threads of this process: their masks, and seats for them.

use crate::failure::PythonFailure;
use pyo3::prelude::*;
use seatmap_os::{CpuSet, Root, Tid, kept_masks, task};

/// Number, name, mask and last CPU of a thread.
type ThreadSeat = (Tid, String, Vec<u32>, Option<u32>);

/// The threads of this process, in the order of their numbers. Threads that end meanwhile are left
/// out.
#[pyfunction]
pub fn thread_seats() -> PyResult<Vec<ThreadSeat>> {
    let threads = task::of_process(&Root::new("/"), std::process::id() as Tid);
    let threads = threads.map_err(PythonFailure::work)?;
    let seated = threads.into_iter().filter_map(|thread| {
        let mask = CpuSet::of_thread(thread.tid).ok()?;
        Some((thread.tid, thread.name, mask.iter().collect(), thread.cpu))
    });
    Ok(seated.collect())
}

/// The number of the calling thread.
#[pyfunction]
pub fn own_tid() -> Tid {
    task::own_tid()
}

/// Gives a thread of this process exactly these CPUs, and checks that it has those of them that are
/// online. It gets the others when they come.
#[pyfunction]
pub fn bind_thread(tid: Tid, cpus: Vec<u32>) -> PyResult<()> {
    let wanted: CpuSet = cpus.into_iter().collect();
    if !task::may_be_thread_of(tid, std::process::id() as Tid) {
        return Err(PythonFailure::Input(format!(
            "thread {tid} is not one of this process; seatmap.where() lists those"
        ))
        .into());
    }
    match kept_masks::bind(tid, &wanted) {
        Ok(None) => Ok(()),
        Ok(Some(has)) => Err(PythonFailure::Work(format!(
            "thread {tid} was to have CPUs {wanted}, and the kernel gave it {has}: a control group \
             or cell allows no more"
        ))
        .into()),
        Err(error) => Err(PythonFailure::Work(format!(
            "thread {tid} cannot have CPUs {wanted}: {error}; 'seatmap doctor' says which CPUs \
             this process may use"
        ))
        .into()),
    }
}
