//! Fibers that switch stacks.

use super::{FiberStep, STACK_BYTES};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::io;

/// A task's connection to the engine: the task stops with a message and continues with the answer.
pub type Yielder<S> = corosensei::Yielder<u64, S>;

/// The stack of a task, which can be reused.
pub struct Stack(DefaultStack);

impl Stack {
    pub fn new() -> io::Result<Self> {
        DefaultStack::new(STACK_BYTES).map(Stack)
    }
}

/// A task that stops and continues. If it is dropped before its end, it unwinds.
pub struct Fiber<S>(Coroutine<u64, S, (), DefaultStack>);

impl<S> Fiber<S> {
    /// A task that has not begun.
    ///
    /// # Safety
    /// Everything that the task borrows must outlive the fiber.
    pub unsafe fn new(stack: Stack, task: impl FnOnce(&Yielder<S>)) -> Self {
        // SAFETY: the caller's promise.
        Fiber(unsafe {
            Coroutine::with_stack_unchecked(stack.0, move |yielder: &Yielder<S>, _: u64| {
                task(yielder)
            })
        })
    }

    /// Lets the task continue with an answer, to its next stop. A panic of the task continues here.
    #[inline]
    pub fn resume(&mut self, answer: u64) -> FiberStep<S> {
        match self.0.resume(answer) {
            CoroutineResult::Yield(said) => FiberStep::Said(said),
            CoroutineResult::Return(()) => FiberStep::Ended,
        }
    }

    /// The fiber's stack, if the task has ended.
    pub fn into_stack(self) -> Option<Stack> {
        self.0.done().then(|| Stack(self.0.into_stack()))
    }
}
