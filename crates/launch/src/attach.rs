//! Seats the threads of programs that run already.

use crate::error::LaunchError;
use crate::hampered::Hampered;
use crate::mask::{Mask, Tid};
use crate::report::Report;
use crate::seating::Seating;
use crate::task;
use crate::usher::Usher;

/// Looks for threads that were created meanwhile, at most; one that creates threads without end is not waited for.
const LOOKS: usize = 16;

/// Seats the threads that these processes have now, process after process and in order of their numbers, and reports.
/// Nothing is stopped, and nothing stays behind; threads created later inherit their creators' seats.
///
/// # Errors
/// A process that is not there; no thread was seated then. That a thread could not be seated is in the report.
pub fn seat_running(pids: &[Tid], seating: Seating) -> Result<Report, LaunchError> {
    if let Some(pid) = pids.iter().find(|pid| task::threads(**pid).is_empty()) {
        return Err(LaunchError::NoSuchProcess(*pid));
    }
    let own = Mask::of(0).map_err(LaunchError::system("read this process's affinity"))?;
    let mut usher = Usher::new(seating, own);
    for pid in pids {
        for _ in 0..LOOKS {
            let new: Vec<Tid> =
                task::threads(*pid).into_iter().filter(|tid| usher.roll.living(*tid).is_none()).collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|tid| usher.meet(tid, *pid));
        }
    }
    Ok(Report::of(&usher, pids.first().copied(), Hampered::default()))
}
