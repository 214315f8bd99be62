//! Threads for work that can be divided, as many as the system grants.
//!
//! Rayon's own pool panics where a limit on threads is reached (`ulimit -u`, `pids.max`). This one
//! takes fewer threads then, and where there is none, the caller does the work alone.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// The program's pool; `None` where no thread can be started. It is made at the first call.
#[must_use]
pub fn get() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    POOL.get_or_init(|| largest(std::thread::available_parallelism().map_or(1, usize::from)))
        .as_ref()
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

    #[test]
    fn there_is_a_pool_of_any_size() {
        for size in 1..4 {
            assert_eq!(largest(size).unwrap().current_num_threads(), size);
        }
    }
}
