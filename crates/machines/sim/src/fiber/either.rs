//! Fibers of both kinds in one program: the environment variable `SEATMAP_TASKS` decides.

use super::{FiberStep, coroutine, thread};
use std::io;
use std::sync::LazyLock;

static ARE_THREADS: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("SEATMAP_TASKS").is_some_and(|it| it == "threads"));

pub enum Yielder<S> {
    Coroutine(*const coroutine::Yielder<S>),
    Thread(*const thread::ThreadYielder<S>),
}

impl<S> Yielder<S> {
    pub fn suspend(&self, says: S) -> u64 {
        match self {
            // SAFETY: `Fiber::new` makes it of a reference that lives as long as the task.
            Yielder::Coroutine(yielder) => unsafe { &**yielder }.suspend(says),
            // SAFETY: as above.
            Yielder::Thread(yielder) => unsafe { &**yielder }.suspend(says),
        }
    }
}

pub enum Stack {
    Coroutine(coroutine::Stack),
    Thread(thread::Stack),
}

impl Stack {
    pub fn new() -> io::Result<Self> {
        if *ARE_THREADS {
            thread::Stack::new().map(Stack::Thread)
        } else {
            coroutine::Stack::new().map(Stack::Coroutine)
        }
    }
}

pub enum Fiber<S> {
    Coroutine(coroutine::Fiber<S>),
    Thread(thread::ThreadFiber<S>),
}

impl<S> Fiber<S> {
    /// # Safety
    /// Everything that the task borrows must outlive the fiber.
    pub unsafe fn new(stack: Stack, task: impl FnOnce(&Yielder<S>)) -> Self {
        match stack {
            Stack::Coroutine(stack) => {
                // SAFETY: the caller's promise.
                Fiber::Coroutine(unsafe {
                    coroutine::Fiber::new(stack, |yielder| task(&Yielder::Coroutine(yielder)))
                })
            }
            Stack::Thread(stack) => {
                // SAFETY: the caller's promise.
                Fiber::Thread(unsafe {
                    thread::ThreadFiber::new(stack, |yielder| task(&Yielder::Thread(yielder)))
                })
            }
        }
    }

    pub fn resume(&mut self, answer: u64) -> FiberStep<S> {
        match self {
            Fiber::Coroutine(fiber) => fiber.resume(answer),
            Fiber::Thread(fiber) => fiber.resume(answer),
        }
    }

    /// The fiber's stack, if the task has ended.
    pub fn into_stack(self) -> Option<Stack> {
        match self {
            Fiber::Coroutine(fiber) => fiber.into_stack().map(Stack::Coroutine),
            Fiber::Thread(fiber) => fiber.into_stack().map(Stack::Thread),
        }
    }
}
