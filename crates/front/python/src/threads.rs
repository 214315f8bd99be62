//! The threads of this process: their masks, and pinning.

use crate::failure::PythonFailure;
use pyo3::prelude::*;
use seatmap_os::{CpuSet, Root, Tid, kept_masks, task};

/// Thread id, name, mask and last CPU of a thread.
type ThreadSeat = (Tid, String, Vec<u32>, Option<u32>);

/// The threads of this process in the order of their ids. Threads that end meanwhile are omitted.
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

#[pyfunction]
pub fn own_tid() -> Tid {
    task::own_tid()
}

/// Sets a thread's affinity to these CPUs, and checks that it has the online ones. It gets offline
/// ones when they return.
#[pyfunction]
pub fn bind_thread(tid: Tid, cpus: Vec<u32>) -> PyResult<()> {
    let wanted: CpuSet = cpus.into_iter().collect();
    if !task::may_be_thread_of(tid, std::process::id() as Tid) {
        return Err(PythonFailure::Input(format!(
            "thread {tid} is not a thread of this process; seatmap.where() lists them"
        ))
        .into());
    }
    match kept_masks::bind(tid, &wanted) {
        Ok(None) => Ok(()),
        Ok(Some(has)) => Err(PythonFailure::Work(format!(
            "thread {tid} got CPUs {has} instead of {wanted}: a control group or cell allows no \
             others"
        ))
        .into()),
        Err(error) => Err(PythonFailure::Work(format!(
            "cannot pin thread {tid} to CPUs {wanted}: {error}; 'seatmap doctor' shows the CPUs \
             available to this process"
        ))
        .into()),
    }
}
