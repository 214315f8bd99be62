//! Threads for divisible work, up to the system's limit.
//!
//! Rayon's global pool panics at a thread limit (`ulimit -u`, `pids.max`); this pool uses fewer
//! threads, or none.
//!
//! Each process creates its own pool, because a fork(2) child, such as a worker of Python's
//! `multiprocessing`, would wait forever for its parent's.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

struct OwnPool {
    process: u32,
    pool: Option<ThreadPool>,
}

/// Atomic, because a thread that the child lacks could hold a lock.
static LATEST: AtomicPtr<OwnPool> = AtomicPtr::new(ptr::null_mut());

/// This process's pool, created on first use; `None` if no thread can start.
pub fn get() -> Option<&'static ThreadPool> {
    let process = std::process::id();
    let latest = LATEST.load(Ordering::Acquire);
    // SAFETY: it is null, or was leaked below and is never freed once stored.
    if let Some(own) = unsafe { latest.as_ref() }.filter(|own| own.process == process) {
        return own.pool.as_ref();
    }
    let size = std::thread::available_parallelism().map_or(1, usize::from);
    let made = Box::into_raw(Box::new(OwnPool { process, pool: largest(size) }));
    match LATEST.compare_exchange(latest, made, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: it was leaked above, and is never freed once stored.
        Ok(_) => unsafe { &*made }.pool.as_ref(),
        Err(first) => {
            // SAFETY: no other thread has seen `made`. Another thread of this process stored its
            // pool first (a child starts with one thread), and that pool is never freed.
            unsafe {
                drop(Box::from_raw(made));
                (*first).pool.as_ref()
            }
        }
    }
}

/// A pool of this size, or half, and so on.
fn largest(size: usize) -> Option<ThreadPool> {
    let sizes = std::iter::successors(Some(size), |size| Some(size / 2).filter(|half| *half > 0));
    sizes.map(|size| ThreadPoolBuilder::new().num_threads(size).build()).find_map(Result::ok)
}

/// Maps items to results, in order. `init` creates a thread's state.
///
/// # Errors
/// The first error; items not yet started are skipped.
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
    fn results_keep_order_and_first_error_wins() {
        let double = |_: &mut (), item: &u32| if *item < 100 { Ok(item * 2) } else { Err(*item) };
        assert_eq!(try_map(&[1, 2, 3], || (), double), Ok(vec![2, 4, 6]));
        assert_eq!(try_map(&[1, 100, 3], || (), double), Err(100));
    }

    fn address_of_own() -> usize {
        get().map_or(0, |pool| ptr::from_ref::<ThreadPool>(pool) as usize)
    }

    #[test]
    fn threads_of_a_process_share_one_pool() {
        let own = get().map(|pool| pool.current_num_threads());
        let pools = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(address_of_own)).collect();
            let found = threads.into_iter().map(|thread| thread.join().unwrap());
            found.collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!((pools.len(), own.is_some()), (1, true));
    }

    #[test]
    fn pool_has_the_requested_size() {
        for size in 1..4 {
            assert_eq!(largest(size).unwrap().current_num_threads(), size);
        }
    }
}
