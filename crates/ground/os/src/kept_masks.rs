//! Masks set by this process, and set again by one of its threads when an offline CPU returns.
//!
//! For long-lived processes: a Python program, a daemon, a benchmark. Does nothing if the kernel
//! keeps offline CPUs ([`affinity::forgets_offline`]).

use crate::owed::{OwedMasks, PAUSE, RunningKernel};
use crate::{CpuSet, Tid, affinity, task};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

struct KeptMasks {
    owed: OwedMasks,
    is_watched: bool,
}

static KEPT: Mutex<KeptMasks> = Mutex::new(KeptMasks { owed: OwedMasks::new(), is_watched: false });

fn kept() -> MutexGuard<'static, KeptMasks> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets a thread's mask, now and when offline CPUs return. Replaces an earlier record.
///
/// # Errors
/// The kernel's: `ESRCH` if the thread has exited.
pub fn give(tid: Tid, cpus: &CpuSet) -> io::Result<()> {
    cpus.give(tid)?;
    note(tid, cpus);
    Ok(())
}

/// Like [`affinity::bind`], now and when offline CPUs return.
///
/// # Errors
/// As [`give`].
pub fn bind(tid: Tid, cpus: &CpuSet) -> io::Result<Option<CpuSet>> {
    let narrower = affinity::bind(tid, cpus)?;
    note(tid, cpus);
    Ok(narrower)
}

/// The mask that restores a thread's present one, including CPUs removed by the kernel, which
/// [`affinity::to_put_back`] lacks.
///
/// # Errors
/// As [`give`].
pub fn to_put_back(tid: Tid) -> io::Result<CpuSet> {
    match kept().owed.of(&RunningKernel, task::real_tid(tid)) {
        Some(whole) => Ok(whole),
        None => affinity::to_put_back(tid),
    }
}

fn note(tid: Tid, cpus: &CpuSet) {
    let mut kept = kept();
    kept.owed.note(&RunningKernel, task::real_tid(tid), cpus);
    if !kept.owed.is_empty() && !kept.is_watched {
        // If this fails, the masks stay as the kernel has changed them.
        let watch = thread::Builder::new().name("seatmap-masks".into()).spawn(watch);
        kept.is_watched = watch.is_ok();
    }
}

fn watch() {
    loop {
        thread::sleep(PAUSE);
        let mut kept = kept();
        kept.owed.look(&mut RunningKernel);
        if kept.owed.is_empty() {
            kept.is_watched = false;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owed::MaskKernel;

    #[test]
    fn mask_survives_a_forgetful_kernel() {
        let seated = thread::scope(|scope| {
            let seated = scope.spawn(|| {
                let whole = affinity::to_put_back(0).unwrap();
                let seat = CpuSet::single(CpuSet::of_thread(0).unwrap().first().unwrap());
                give(0, &seat).unwrap();
                let had = CpuSet::of_thread(0).unwrap();
                assert_eq!(to_put_back(0).unwrap(), seat);
                assert_eq!(bind(0, &whole).unwrap(), None);
                assert_eq!(to_put_back(0).unwrap(), whole);
                (had, seat)
            });
            seated.join().unwrap()
        });
        assert_eq!(seated.0, seated.1);
        let forgets = !RunningKernel.forgotten_cpus().is_empty();
        assert!(forgets || kept().owed.is_empty());
        assert!(give(Tid::MAX, &CpuSet::single(0)).is_err());
    }
}
