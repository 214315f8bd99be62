//! Runs the same work several times in parallel.

use std::thread::{Builder, ScopedJoinHandle};

/// Calls `work` with the numbers below `count`, the first here. `None` if a thread panicked or
/// could not start (`ulimit -u`).
pub fn beside<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<Option<T>> {
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<Option<ScopedJoinHandle<'_, T>>> = (1..count)
            .map(|at| Builder::new().spawn_scoped(scope, move || work(at)).ok())
            .collect();
        let first = Some(work(0));
        let ended = others.into_iter().map(|other| other?.join().ok());
        std::iter::once(first).chain(ended).collect()
    })
}

/// The best of searches side by side, each with its own seed; of equals the first.
pub fn side_by_side<T: Send>(
    threads: usize,
    seed: u64,
    search: impl Fn(u64) -> T + Sync,
    is_better: impl Fn(&T, &T) -> bool,
) -> T {
    let found = beside(threads, |at| search(seed.wrapping_add(at as u64))).into_iter().flatten();
    let best = found.reduce(|best, next| if is_better(&next, &best) { next } else { best });
    best.expect("this thread always searches")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_results_keep_order() {
        assert_eq!(beside(3, |at| at * 10), [Some(0), Some(10), Some(20)]);
    }

    #[test]
    fn zero_threads_still_run_on_caller() {
        assert_eq!(beside(0, |at| at), [Some(0)]);
    }

    #[test]
    fn panic_in_one_worker_keeps_other_results() {
        assert_eq!(
            beside(3, |at| if at == 1 { panic!("on purpose") } else { at }),
            [Some(0), None, Some(2)]
        );
    }
}
