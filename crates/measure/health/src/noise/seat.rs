//! Pins a meter's thread, and checks afterwards that it stayed.

use super::error::Error;
use seatmap_os::affinity;
use seatmap_os::cpus::Cpus;
use seatmap_os::holder::Holder;
use seatmap_os::sched;
use seatmap_os::{CpuList, CpuSet};
use std::path::PathBuf;

/// The process's own affinity mask never contains an isolated CPU, but a thread can still be pinned
/// there.
pub fn take(cpu: u32, enter: &[PathBuf]) -> Result<(), Error> {
    for path in enter {
        // 0 means the writing thread.
        std::fs::write(path, "0").map_err(|source| Error::Enter {
            cpu,
            path: path.clone(),
            source,
        })?;
    }
    affinity::pin(&[cpu]).map_err(|source| refused(cpu, source))
}

/// Divides CPUs, by trial, into those that a meter can use and errors.
pub fn reachable(cpus: &[u32]) -> (Vec<u32>, Vec<Error>) {
    let tried: Vec<Result<u32, Error>> = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || {
            cpus.iter().map(|cpu| take(*cpu, &[]).map(|()| *cpu)).collect()
        });
        match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => cpus
                .iter()
                .map(|cpu| Err(Error::Seat { cpu: *cpu, source: copy(&error) }))
                .collect(),
        }
    });
    let (open, closed): (Vec<_>, Vec<_>) = tried.into_iter().partition(Result::is_ok);
    (open.into_iter().flatten().collect(), closed.into_iter().filter_map(Result::err).collect())
}

fn copy(error: &std::io::Error) -> std::io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error)
}

pub fn check(cpu: u32) -> Result<(), Error> {
    let found = affinity::current().map_err(|source| Error::Seat { cpu, source })?;
    if found == [cpu] {
        Ok(())
    } else {
        Err(Error::Moved { cpu, found: CpuList(found).to_string() })
    }
}

/// `None` if the kernel does not count it.
pub fn moves() -> Option<u64> {
    sched::migrations(&std::fs::read("/proc/thread-self/sched").ok()?)
}

pub fn check_since(cpu: u32, moves_before: Option<u64>) -> Result<(), Error> {
    check(cpu)?;
    let has_moved = moves_before.zip(moves()).is_some_and(|(before, now)| now > before);
    if has_moved { Err(Error::MovedAndBack { cpu }) } else { Ok(()) }
}

/// Finds the reason behind the kernel's "invalid argument".
fn refused(cpu: u32, source: std::io::Error) -> Error {
    let Ok(cpus) = Cpus::read() else { return Error::Seat { cpu, source } };
    let open = Cpus { allowed: Vec::new(), ..cpus };
    match open.check(&[cpu]) {
        Err(seatmap_os::CpuError::Forbidden { .. }) | Ok(()) => outside(cpu, source),
        Err(error) => Error::Cpu(error),
    }
}

fn outside(cpu: u32, source: std::io::Error) -> Error {
    match std::fs::read_to_string("/proc/thread-self/cpuset") {
        Ok(cpuset) if source.raw_os_error() == Some(libc::EINVAL) => {
            let holder = Holder::of(&CpuSet::single(cpu));
            Error::Cpuset { cpu, cpuset: cpuset.trim().to_owned(), holder }
        }
        _ => Error::Seat { cpu, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn meter_is_pinned_and_a_move_is_noticed() {
        let cpus = affinity::current().unwrap();
        aside(|| {
            take(cpus[0], &[]).unwrap();
            check(cpus[0]).unwrap();
            assert!(
                matches!(check(cpus[0] + 1), Err(Error::Moved { found, .. }) if found == cpus[0].to_string())
            );
        });
    }

    #[test]
    fn move_and_return_of_the_meter_is_noticed() {
        let cpus = affinity::current().unwrap();
        let Some(other) = cpus.get(1) else { return seatmap_needs::skipped!("there is one CPU") };
        aside(|| {
            take(cpus[0], &[]).unwrap();
            let Some(before) = moves() else {
                return seatmap_needs::skipped!("the kernel counts no changes of CPU");
            };
            check_since(cpus[0], Some(before)).unwrap();
            affinity::pin(&[*other]).unwrap();
            affinity::pin(&cpus[..1]).unwrap();
            assert!(matches!(check_since(cpus[0], Some(before)), Err(Error::MovedAndBack { .. })));
        });
    }

    #[test]
    fn impossible_pinning_error_says_why() {
        let told = aside(|| take(500_000, &[])).unwrap_err();
        assert!(
            matches!(told, Error::Cpu(seatmap_os::CpuError::Absent { cpu: 500_000, .. })),
            "{told}"
        );
        // Below a file there are no files.
        let nowhere = PathBuf::from("/proc/version/tasks");
        let told = aside(|| take(0, &[nowhere])).unwrap_err().to_string();
        assert_eq!(told, "cannot move the meter of CPU 0 into /proc/version/tasks");
    }

    #[test]
    fn reachable_and_unreachable_cpus_are_separated() {
        let cpus = affinity::current().unwrap();
        let (open, closed) = reachable(&[cpus[0], 500_000]);
        assert_eq!((open, closed.len()), (vec![cpus[0]], 1));
    }

    #[test]
    fn narrow_mask_does_not_confine_the_meter() {
        let cpus = affinity::current().unwrap();
        let Some((first, others)) = cpus.split_first() else { return };
        let Some(last) = others.last() else {
            return seatmap_needs::skipped!("one CPU has no narrower mask");
        };
        match aside(|| affinity::pin(&[*first]).map(|()| aside(|| take(*last, &[]))).unwrap()) {
            Err(error @ Error::Cpuset { .. }) => seatmap_needs::skipped!("{error}"),
            seat => seat.unwrap(),
        }
    }
}
