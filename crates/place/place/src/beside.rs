//! The same work several times side by side, on as many threads as the system grants.

use std::thread::{Builder, ScopedJoinHandle};

/// Does the work `count` times, told apart by a number, and returns the results in that order. The
/// first is done on this thread. `None` stands where a thread could not be started, as under a
/// limit on a user's threads (`ulimit -u`), and where one panicked, which would be a defect: the
/// other results are still good.
pub(crate) fn beside<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<Option<T>> {
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<Option<ScopedJoinHandle<'_, T>>> = (1..count)
            .map(|at| Builder::new().spawn_scoped(scope, move || work(at)).ok())
            .collect();
        // The others are started before this thread begins its own part.
        let first = Some(work(0));
        let ended = others.into_iter().map(|other| other?.join().ok());
        std::iter::once(first).chain(ended).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        assert_eq!(beside(3, |at| at * 10), [Some(0), Some(10), Some(20)]);
    }

    #[test]
    fn this_thread_works_whatever_is_asked() {
        assert_eq!(beside(0, |at| at), [Some(0)]);
    }

    #[test]
    fn a_panic_elsewhere_leaves_the_rest() {
        assert_eq!(
            beside(3, |at| if at == 1 { panic!("on purpose") } else { at }),
            [Some(0), None, Some(2)]
        );
    }
}
