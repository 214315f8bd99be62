//! Fibers by switching stacks.

use super::{STACK_BYTES, Step};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::io;

/// A task's way out: it stops with what it says, and goes on with the answer.
pub type Yielder<S> = corosensei::Yielder<u64, S>;

/// Where a task runs. It can be used again.
pub struct Stack(DefaultStack);

impl Stack {
    /// A new one.
    pub fn new() -> io::Result<Self> {
        DefaultStack::new(STACK_BYTES).map(Stack)
    }
}

/// A task that stops and goes on. Dropped on its way, it unwinds.
pub struct Fiber<S>(Coroutine<u64, S, (), DefaultStack>);

impl<S> Fiber<S> {
    /// A task that has not begun.
    ///
    /// # Safety
    /// What the task borrows outlives the fiber.
    pub unsafe fn new(stack: Stack, task: impl FnOnce(&Yielder<S>)) -> Self {
        // SAFETY: the caller's promise.
        Fiber(unsafe { Coroutine::with_stack_unchecked(stack.0, move |yielder: &Yielder<S>, _: u64| task(yielder)) })
    }

    /// Lets it go on with an answer, to its next stop. Its panics come out here.
    #[inline]
    pub fn resume(&mut self, answer: u64) -> Step<S> {
        match self.0.resume(answer) {
            CoroutineResult::Yield(said) => Step::Said(said),
            CoroutineResult::Return(()) => Step::Ended,
        }
    }

    /// Its stack, if it has ended.
    pub fn into_stack(self) -> Option<Stack> {
        self.0.done().then(|| Stack(self.0.into_stack()))
    }
}
