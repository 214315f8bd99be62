//! The same calls, answered by a thread that is made for each run.

use crate::desk::Desk;
use crate::mailbox::{End, INBOUND, OUTBOUND, mailboxes};
use crate::program::caught;
use crate::{Inside, Polling, Program, Store, WorkerError, WorkerOptions};
use seatmap_os::affinity;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// A context as Linux implements it on the Cell processor: a start creates a thread and seats it, a wait joins it,
/// and a mailbox is a futex. Programs that run on a [`Context`](crate::Context) run here unchanged, so that the two
/// can be compared.
pub struct ThreadContext {
    cpu: u32,
    /// The program's view of the worker; it is in the thread while one runs.
    inside: Option<Inside>,
    running: Option<JoinHandle<Ran>>,
    mailboxes: End,
    program: Option<Arc<dyn Program>>,
}

/// The result of a thread: the view that it was lent, and how its program ended.
type Ran = (Inside, Result<u32, WorkerError>);

impl ThreadContext {
    /// A context whose threads sit on this CPU, with a store of its own, touched and zero.
    ///
    /// # Errors
    /// The store cannot be mapped.
    pub fn new(cpu: u32, options: WorkerOptions) -> Result<Self, WorkerError> {
        let options = WorkerOptions { polling: Polling::Sleep, ..options };
        let store_error = |source| WorkerError::Store { bytes: options.store_bytes, source };
        let mut store = Store::new(options.store_bytes).map_err(store_error)?;
        store.scrub();
        let (outside, within) = mailboxes([INBOUND, OUTBOUND], options.polling);
        let desk = Arc::new(Desk::new(options, store.address()));
        let inside = Some(Inside { store, mailboxes: within, desk });
        Ok(ThreadContext { cpu, inside, running: None, mailboxes: outside, program: None })
    }

    /// Loads a program, in place of any other; a run that goes on is waited for.
    pub fn load(&mut self, program: Arc<dyn Program>) {
        let _ = self.wait();
        self.program = Some(program);
    }

    /// Makes a thread that runs the program.
    ///
    /// # Errors
    /// No program is loaded, it is running already, or no thread can be created.
    pub fn start(&mut self, argument: u64) -> Result<(), WorkerError> {
        if self.running.is_some() {
            return Err(WorkerError::Running);
        }
        let program = Arc::clone(self.program.as_ref().ok_or(WorkerError::NoProgram)?);
        let (cpu, inside) = (self.cpu, self.inside.take().ok_or(WorkerError::NotStarted)?);
        let body = move || run(cpu, inside, &*program, argument);
        self.running = Some(Builder::new().spawn(body).map_err(|source| WorkerError::Seat { cpu, source })?);
        Ok(())
    }

    /// Joins the thread, and returns the program's stop code.
    ///
    /// # Errors
    /// Nothing was started, the thread could not sit on its CPU, or the program panicked.
    pub fn wait(&mut self) -> Result<u32, WorkerError> {
        let thread = self.running.take().ok_or(WorkerError::NotStarted)?;
        let (inside, ran) = thread.join().map_err(|_| WorkerError::Panicked("outside the program".to_owned()))?;
        self.inside = Some(inside);
        ran
    }

    /// Makes a thread, runs the program, and joins it.
    ///
    /// # Errors
    /// The errors of [`ThreadContext::start`] and [`ThreadContext::wait`].
    pub fn run(&mut self, argument: u64) -> Result<u32, WorkerError> {
        self.start(argument)?;
        self.wait()
    }

    /// Writes the inbound mailbox; waits while it is full.
    pub fn mailbox_write(&mut self, value: u32) {
        self.mailboxes.write(value);
    }

    /// Reads the outbound mailbox; waits while it is empty.
    pub fn mailbox_read(&mut self) -> u32 {
        self.mailboxes.read()
    }

    /// Messages that wait in the outbound mailbox.
    #[must_use]
    pub fn mailbox_waiting(&self) -> u32 {
        self.mailboxes.waiting()
    }
}

fn run(cpu: u32, mut inside: Inside, program: &dyn Program, argument: u64) -> Ran {
    if let Err(source) = affinity::pin(&[cpu]) {
        return (inside, Err(WorkerError::Seat { cpu, source }));
    }
    let ran = caught(program, &mut inside, argument).map_err(WorkerError::Panicked);
    (inside, ran)
}

impl Drop for ThreadContext {
    /// Waits for a thread that still runs.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}
