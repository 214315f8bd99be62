//! Threads for work that can be divided, as many as the system grants.
//!
//! Rayon's own pool panics where a limit on threads is reached (`ulimit -u`, `pids.max`). This one
//! takes fewer threads then, and where there is none, the caller does the work alone.
//!
//! A child of fork(2) has the memory of its parent and none of its threads: it would wait for ever
//! for those of the parent's pool. So each process makes a pool of its own. Workers of Python's
//! `multiprocessing` are such children.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A pool, and the process whose threads it has.
struct OwnPool {
    process: u32,
    pool: Option<ThreadPool>,
}

/// The pool that was made last. A lock in its place could be held by a thread that the child lacks.
static LATEST: AtomicPtr<OwnPool> = AtomicPtr::new(ptr::null_mut());

/// This process's pool; `None` where no thread can be started. It is made at the first call.
#[must_use]
pub fn get() -> Option<&'static ThreadPool> {
    let process = std::process::id();
    let latest = LATEST.load(Ordering::Acquire);
    // SAFETY: it is null, or was leaked below and is never freed once it stands there.
    if let Some(own) = unsafe { latest.as_ref() }.filter(|own| own.process == process) {
        return own.pool.as_ref();
    }
    let size = std::thread::available_parallelism().map_or(1, usize::from);
    let made = Box::into_raw(Box::new(OwnPool { process, pool: largest(size) }));
    match LATEST.compare_exchange(latest, made, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: it was leaked above, and is never freed now that others may have it.
        Ok(_) => unsafe { &*made }.pool.as_ref(),
        Err(first) => {
            // SAFETY: nobody else has seen it. Another thread of this process was first, as a child
            // begins with one thread, and its pool is there for good.
            unsafe {
                drop(Box::from_raw(made));
                (*first).pool.as_ref()
            }
        }
    }
}

/// A pool of this size, or of the half of it, and so on.
fn largest(size: usize) -> Option<ThreadPool> {
    let sizes = std::iter::successors(Some(size), |size| Some(size / 2).filter(|half| *half > 0));
    sizes.map(|size| ThreadPoolBuilder::new().num_threads(size).build()).find_map(Result::ok)
}

/// The results of some work on each of these items, in their order. `init` makes what one thread
/// works with.
///
/// # Errors
/// The first error; items that nobody has begun are left then.
pub fn try_map<I: Sync, S, T: Send, E: Send>(
    items: &[I],
    init: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, &I) -> Result<T, E> + Send + Sync,
) -> Result<Vec<T>, E> {
    match get() {
        Some(pool) => pool.install(|| items.par_iter().map_init(init, work).collect()),
        None => {
            let mut state = init();
            items.iter().map(|item| work(&mut state, item)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_error_ends_them() {
        let double = |_: &mut (), item: &u32| if *item < 100 { Ok(item * 2) } else { Err(*item) };
        assert_eq!(try_map(&[1, 2, 3], || (), double), Ok(vec![2, 4, 6]));
        assert_eq!(try_map(&[1, 100, 3], || (), double), Err(100));
    }

    fn address_of_own() -> usize {
        get().map_or(0, |pool| ptr::from_ref::<ThreadPool>(pool) as usize)
    }

    #[test]
    fn threads_of_one_process_share_a_pool() {
        let own = get().map(|pool| pool.current_num_threads());
        let pools = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(address_of_own)).collect();
            let found = threads.into_iter().map(|thread| thread.join().unwrap());
            found.collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!((pools.len(), own.is_some()), (1, true));
    }

    #[test]
    fn there_is_a_pool_of_any_size() {
        for size in 1..4 {
            assert_eq!(largest(size).unwrap().current_num_threads(), size);
        }
    }
}
