//! Seats the threads of programs that run already.

use crate::allocator::SeatAllocator;
use crate::error::LaunchError;
use crate::hampered::Hampered;
use crate::pinner::Pinner;
use crate::report::Report;
use seatmap_os::task;
use seatmap_os::{Root, Tid, affinity, proc_mount, visibility};

/// The most looks for threads that were created meanwhile; a process that creates threads without
/// end is not waited for.
const LOOKS: usize = 16;

/// Checks that these processes may be seated without `--force`. Process 1 and the kernel's own
/// threads keep the computer alive, and might fail to on one CPU.
///
/// # Errors
/// [`LaunchError::NeedsForce`] for the first that is one of those.
pub fn check(pids: &[Tid]) -> Result<(), LaunchError> {
    match pids.iter().find(|pid| **pid == 1 || task::is_of_kernel(**pid)) {
        Some(&pid) if pid == 1 => {
            Err(LaunchError::NeedsForce { pid, kind: "the one on which all others depend" })
        }
        Some(&pid) => Err(LaunchError::NeedsForce { pid, kind: "a thread of the kernel" }),
        None => Ok(()),
    }
}

/// Seats the threads that these processes have now, process after process and in order of their
/// numbers, and reports. No thread is stopped, and no process of Seatmap stays behind; threads
/// created later inherit their creators' seats.
///
/// # Errors
/// A process does not exist; no thread was seated then. A thread that could not be seated is named
/// in the report.
pub fn seat_running(pids: &[Tid], seating: SeatAllocator) -> Result<Report, LaunchError> {
    proc_mount::check(&Root::new("/"))?;
    for pid in pids {
        if threads(*pid)?.is_empty() {
            return Err(LaunchError::NoSuchProcess(*pid));
        }
    }
    let own =
        affinity::to_put_back(0).map_err(LaunchError::system("read this process's affinity"))?;
    let mut pinner = Pinner::new(seating, own, None);
    for pid in pids {
        for _ in 0..LOOKS {
            let new: Vec<Tid> =
                threads(*pid)?.into_iter().filter(|tid| !pinner.threads.knows(*tid)).collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|tid| pinner.meet(tid, *pid));
        }
    }
    Ok(Report::of(&pinner, pids.first().copied(), Hampered::default()))
}

/// The threads of a process; none where it has ended.
///
/// # Errors
/// [`LaunchError::Unseen`]: they are hidden from this user.
pub(crate) fn threads(pid: Tid) -> Result<Vec<Tid>, LaunchError> {
    task::threads(pid).map_err(|source| {
        let is_hidden = source.kind() == std::io::ErrorKind::PermissionDenied;
        let hidden = is_hidden.then(|| visibility::hidden(&Root::new("/"))).flatten();
        LaunchError::Unseen { pid, why: hidden.unwrap_or_else(|| source.to_string()) }
    })
}
