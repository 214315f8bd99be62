//! Fibers that are threads; one of them runs at a time.

use super::{FiberStep, STACK_BYTES};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// A thread's stack also holds data of the system.
const THREAD_BYTES: usize = STACK_BYTES + 768 * 1024;

/// The panic of a task whose fiber is dropped.
struct Dropped;

struct Handed<T>(T);

// SAFETY: a side that hands over stops until the other side hands something back, so one thread at
// a time uses the content; and channels order the accesses of both.
unsafe impl<T> Send for Handed<T> {}

impl<T> Handed<T> {
    fn taken(self) -> T {
        self.0
    }
}

type Outcome<S> = Handed<std::thread::Result<FiberStep<S>>>;

pub struct ThreadYielder<S> {
    outcomes: Sender<Outcome<S>>,
    answers: Receiver<u64>,
}

impl<S> ThreadYielder<S> {
    pub fn suspend(&self, says: S) -> u64 {
        // Fails if the engine dropped the fiber.
        let _ = self.outcomes.send(Handed(Ok(FiberStep::Said(says))));
        self.answers.recv().unwrap_or_else(|_| resume_unwind(Box::new(Dropped)))
    }
}

/// An empty stand-in for a stack.
pub struct Stack;

impl Stack {
    pub fn new() -> io::Result<Self> {
        Ok(Stack)
    }
}

pub struct ThreadFiber<S> {
    thread: Option<JoinHandle<()>>,
    answers: Option<Sender<u64>>,
    outcomes: Receiver<Outcome<S>>,
    has_ended: bool,
}

impl<S> ThreadFiber<S> {
    /// # Safety
    /// Everything that the task borrows must outlive the fiber.
    pub unsafe fn new(_: Stack, task: impl FnOnce(&ThreadYielder<S>)) -> Self {
        let (answers, questions) = channel();
        let (says, outcomes) = channel();
        let yielder = ThreadYielder { outcomes: says, answers: questions };
        let body: Box<dyn FnOnce()> = Box::new(move || live(&yielder, task));
        // SAFETY: the caller's promise: the thread has ended when the fiber is dropped.
        let body: Box<dyn FnOnce() + 'static> = unsafe { std::mem::transmute(body) };
        let body = Handed(body);
        let thread = Builder::new().stack_size(THREAD_BYTES).spawn(move || body.taken()()).ok();
        ThreadFiber { thread, answers: Some(answers), outcomes, has_ended: false }
    }

    pub fn resume(&mut self, answer: u64) -> FiberStep<S> {
        let went_on = self.answers.as_ref().is_some_and(|answers| answers.send(answer).is_ok());
        let outcome = self.outcomes.recv().ok().filter(|_| went_on).map(Handed::taken);
        self.has_ended = !matches!(outcome, Some(Ok(FiberStep::Said(_))));
        match outcome {
            Some(Ok(step)) => step,
            Some(Err(panic)) => resume_unwind(panic),
            None => resume_unwind(Box::new("a task has no thread".to_owned())),
        }
    }

    pub fn into_stack(self) -> Option<Stack> {
        self.has_ended.then_some(Stack)
    }
}

impl<S> Drop for ThreadFiber<S> {
    fn drop(&mut self) {
        // Without a sender, the task's receive fails and it unwinds (`Dropped`).
        self.answers = None;
        if let Some(thread) = self.thread.take() {
            // The thread has already reported its panic as an outcome.
            let _ = thread.join();
        }
    }
}

fn live<S>(yielder: &ThreadYielder<S>, task: impl FnOnce(&ThreadYielder<S>)) {
    // If the fiber is dropped before its first turn, the task never runs.
    if yielder.answers.recv().is_ok() {
        let ended = catch_unwind(AssertUnwindSafe(|| task(yielder)));
        let _ = yielder.outcomes.send(Handed(ended.map(|()| FiberStep::Ended)));
    }
}
