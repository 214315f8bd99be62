//! Runs a program in a cell. The program learns of its cell, and leaves no data for the next
//! program.

use crate::allocator::SeatAllocator;
use crate::cell_watch::CellWatch;
use crate::error::LaunchError;
use crate::executable::Executable;
use crate::launch::LaunchOptions;
use crate::report::Report;
use crate::{Ending, launch};
use seatmap_cell::aside::step_aside;
use seatmap_cell::memory::CellMemory;
use seatmap_cell::{CellHost, CellRecord, census, memory};
use seatmap_os::{Root, group};

impl Executable {
    /// Puts it into the cell's group, if any, with variables for the cell's name and memory.
    pub fn in_cell(self, root: &Root, cell: &CellRecord) -> Self {
        let mut program = self.with_variable(census::VARIABLE, cell.name.to_string());
        if let Some(group) = &cell.group {
            program.group = Some(root.path(&group::members_file(root, group)));
        }
        match &cell.memory {
            Some(CellMemory { path: Some(path), size_bytes, .. }) => program
                .with_variable(memory::VARIABLE, path)
                .with_variable(memory::BYTES_VARIABLE, size_bytes.to_string()),
            _ => program,
        }
    }
}

/// Like [`launch::run`], in a cell. The cell's memory is emptied before and after, so that no
/// program finds another one's data. `listen` is called just before the program begins, its result
/// just after the end.
///
/// # Errors
/// [`LaunchError`]; [`LaunchError::CellMemory`] before the program has begun, or after its end.
pub fn run_in_cell<N, L: FnOnce() -> N>(
    host: &CellHost,
    cell: &CellRecord,
    program: &Executable,
    seats: SeatAllocator,
    listen: impl FnOnce() -> L,
) -> Result<(Ending, Report, N), LaunchError> {
    scrub(cell)?;
    // The launcher waits on other CPUs; this process ends with the program.
    let _elsewhere = step_aside(&host.root, &cell.set());
    let end_listening = listen();
    // The kernel balances no load in a cell: threads without a seat get all its CPUs, and masks are
    // not widened.
    let options = LaunchOptions {
        home: Some(cell.set()),
        cell: Some(CellWatch::begin(host, cell)),
        ..LaunchOptions::default()
    };
    let (ending, report) = launch::run(program, seats, options)?;
    let noise = end_listening();
    if report.cell_end.is_none() {
        scrub(cell)?;
    }
    Ok((ending, report, noise))
}

fn scrub(cell: &CellRecord) -> Result<(), LaunchError> {
    cell.memory.as_ref().map_or(Ok(()), memory::scrub).map_err(LaunchError::CellMemory)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::ffi::OsString;

    pub fn cell() -> CellRecord {
        let text = r#"{"format": "seatmap-cell/1", "name": "quiet", "cpus": [2, 3], "backend": "affinity",
            "degraded": [], "noise_before": null, "noise_after": null, "state": "ready", "group": null,
            "irqs_left": [], "kernel_threads_left": 0, "threads_left": 0, "expires_s": null,
            "memory": {"size_bytes": 2097152, "is_huge": false, "nodes": "0", "path": "/proc/1/fd/9"}}"#;
        serde_json::from_str(text).unwrap()
    }

    fn shell() -> Executable {
        Executable::find(&[OsString::from("/bin/sh")]).unwrap()
    }

    #[test]
    fn program_in_cell_gets_cell_variables() {
        let program = shell().in_cell(&Root::new("/"), &cell());
        let own = shell()
            .with_variable("SEATMAP_CELL", "quiet")
            .with_variable("SEATMAP_CELL_MEMORY", "/proc/1/fd/9")
            .with_variable("SEATMAP_CELL_MEMORY_BYTES", "2097152");
        assert_eq!(program, own);
        let grouped = CellRecord { group: Some("/sys/fs/cgroup/quiet".to_owned()), ..cell() };
        assert!(shell().in_cell(&Root::new("/"), &grouped).group.is_some());
    }
}
