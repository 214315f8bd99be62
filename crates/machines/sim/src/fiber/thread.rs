//! Fibers that are threads, of which one runs at a time.

use super::{STACK_BYTES, Step};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// A thread's stack also holds what the system puts there.
const THREAD_BYTES: usize = STACK_BYTES + 768 * 1024;

/// How a task unwinds that nobody wants to go on.
struct Dropped;

/// Carries something to the one thread that runs next.
struct Handed<T>(T);

// SAFETY: whoever hands over stops until it is handed something back, so that one thread at a time uses what is in it; and
// channels order what both do.
unsafe impl<T> Send for Handed<T> {}

impl<T> Handed<T> {
    fn taken(self) -> T {
        self.0
    }
}

/// What a task hands to the engine: how far it came, or its panic.
type Outcome<S> = Handed<std::thread::Result<Step<S>>>;

/// A task's way out: it stops with what it says, and goes on with the answer.
pub struct Yielder<S> {
    outcomes: Sender<Outcome<S>>,
    answers: Receiver<u64>,
}

impl<S> Yielder<S> {
    /// Stops until somebody resumes the task.
    pub fn suspend(&self, says: S) -> u64 {
        // Nobody listens where the fiber is dropped, and then nobody answers either.
        let _ = self.outcomes.send(Handed(Ok(Step::Said(says))));
        self.answers.recv().unwrap_or_else(|_| resume_unwind(Box::new(Dropped)))
    }
}

/// Where a task runs: its thread has a stack of its own.
pub struct Stack;

impl Stack {
    /// A new one.
    pub fn new() -> io::Result<Self> {
        Ok(Stack)
    }
}

/// A task that stops and goes on. Dropped on its way, it unwinds.
pub struct Fiber<S> {
    /// `None` where the thread could not be made.
    thread: Option<JoinHandle<()>>,
    answers: Option<Sender<u64>>,
    outcomes: Receiver<Outcome<S>>,
    has_ended: bool,
}

impl<S> Fiber<S> {
    /// A task that has not begun.
    ///
    /// # Safety
    /// What the task borrows outlives the fiber.
    pub unsafe fn new(_: Stack, task: impl FnOnce(&Yielder<S>)) -> Self {
        let ((answers, questions), (says, outcomes)) = (channel(), channel());
        let yielder = Yielder { outcomes: says, answers: questions };
        let body: Box<dyn FnOnce()> = Box::new(move || live(&yielder, task));
        // SAFETY: the caller's promise: the thread has ended when the fiber is dropped.
        let body: Box<dyn FnOnce() + 'static> = unsafe { std::mem::transmute(body) };
        let body = Handed(body);
        let thread = Builder::new().stack_size(THREAD_BYTES).spawn(move || body.taken()()).ok();
        Fiber { thread, answers: Some(answers), outcomes, has_ended: false }
    }

    /// Lets it go on with an answer, to its next stop. Its panics come out here.
    pub fn resume(&mut self, answer: u64) -> Step<S> {
        let went_on = self.answers.as_ref().is_some_and(|answers| answers.send(answer).is_ok());
        let outcome = self.outcomes.recv().ok().filter(|_| went_on).map(Handed::taken);
        self.has_ended = !matches!(outcome, Some(Ok(Step::Said(_))));
        match outcome {
            Some(Ok(step)) => step,
            Some(Err(panic)) => resume_unwind(panic),
            None => resume_unwind(Box::new("a task has no thread".to_owned())),
        }
    }

    /// Its stack, if it has ended.
    pub fn into_stack(self) -> Option<Stack> {
        self.has_ended.then_some(Stack)
    }
}

impl<S> Drop for Fiber<S> {
    fn drop(&mut self) {
        self.answers = None;
        if let Some(thread) = self.thread.take() {
            // Its panics are in its outcomes.
            let _ = thread.join();
        }
    }
}

/// The life of a task's thread.
fn live<S>(yielder: &Yielder<S>, task: impl FnOnce(&Yielder<S>)) {
    if yielder.answers.recv().is_ok() {
        let ended = catch_unwind(AssertUnwindSafe(|| task(yielder)));
        let _ = yielder.outcomes.send(Handed(ended.map(|()| Step::Ended)));
    }
}
