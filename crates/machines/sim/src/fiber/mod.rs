//! Tasks that stop in the middle and continue later.
//!
//! They are stackful coroutines, so a workload is an ordinary function. With the feature `threads`,
//! `SEATMAP_TASKS=threads` makes each a thread, one of which runs at a time. Threads are far
//! slower, but debuggers, profilers and sanitizers understand them.

mod coroutine;
#[cfg(feature = "threads")]
mod either;
#[cfg(feature = "threads")]
mod thread;

#[cfg(not(feature = "threads"))]
pub use coroutine::{Fiber, Stack, Yielder};
#[cfg(feature = "threads")]
pub use either::{Fiber, Stack, Yielder};

const STACK_BYTES: usize = 256 * 1024;

#[derive(Debug, PartialEq)]
pub enum FiberStep<S> {
    Said(S),
    Ended,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    struct Guard<'a>(&'a Cell<u32>);

    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn fiber_exchanges_answers_and_words() {
        let sum = Cell::new(0);
        let task = |yielder: &Yielder<&'static str>| {
            sum.set(yielder.suspend("first"));
            sum.set(sum.get() + yielder.suspend("second"));
        };
        // SAFETY: `sum` outlives the fiber.
        let mut fiber = unsafe { Fiber::new(Stack::new().unwrap(), task) };
        assert_eq!(
            [fiber.resume(0), fiber.resume(5), fiber.resume(7)],
            [FiberStep::Said("first"), FiberStep::Said("second"), FiberStep::Ended]
        );
        assert!(fiber.into_stack().is_some() && sum.get() == 12);
    }

    #[test]
    fn panic_reaches_the_resuming_caller() {
        // SAFETY: the task borrows nothing.
        let mut fiber = unsafe {
            Fiber::new(Stack::new().unwrap(), |_: &Yielder<()>| std::panic::panic_any(7_u64))
        };
        let panic = catch_unwind(AssertUnwindSafe(|| fiber.resume(0))).unwrap_err();
        assert_eq!(panic.downcast_ref::<u64>(), Some(&7));
        assert!(fiber.into_stack().is_some());
    }

    #[test]
    fn dropped_fiber_unwinds() {
        let dropped = Cell::new(0);
        let task = |yielder: &Yielder<()>| {
            let _guard = Guard(&dropped);
            loop {
                yielder.suspend(());
            }
        };
        // SAFETY: `dropped` outlives the fibers.
        let [mut begun, fresh] =
            [(); 2].map(|()| unsafe { Fiber::new(Stack::new().unwrap(), task) });
        begun.resume(0);
        drop((begun, fresh));
        assert_eq!(dropped.get(), 1, "the one that had begun");
    }

    #[test]
    #[cfg(feature = "threads")]
    fn all_unit_tests_pass_with_threads() {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--skip", "all_unit_tests"]).env("SEATMAP_TASKS", "threads");
        // Hundreds of cases only test parts of a machine, which run no task.
        again.env("PROPTEST_CASES", "8");
        assert!(again.status().unwrap().success());
    }
}
