//! A borrowed worker, from outside.

use crate::desk::{Done, WorkerCommand};
use crate::pool::{WorkerHandle, WorkerPool};
use crate::{WorkerError, WorkerProgram};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A worker that belongs to the program that borrowed it until the context is dropped: its store
/// was scrubbed before, and is scrubbed again then.
pub struct BorrowedWorker {
    pool: Arc<WorkerPool>,
    seat: Option<WorkerHandle>,
    /// Boxed, so that the worker is handed a thin pointer to it; never changed while an order with
    /// it is open.
    program: Option<Box<Arc<dyn WorkerProgram>>>,
    running: Option<u32>,
}

impl BorrowedWorker {
    pub(crate) fn new(pool: Arc<WorkerPool>, mut seat: WorkerHandle) -> Self {
        seat.clean();
        BorrowedWorker { pool, seat: Some(seat), program: None, running: None }
    }

    fn seated(&self) -> &WorkerHandle {
        // It is taken in `drop` alone.
        self.seat
            .as_ref()
            .unwrap_or_else(|| unreachable!("a context has a seat until it is dropped"))
    }

    fn seat(&mut self) -> &mut WorkerHandle {
        self.seat
            .as_mut()
            .unwrap_or_else(|| unreachable!("a context has a seat until it is dropped"))
    }

    /// The number of the worker in its runtime.
    #[must_use]
    pub fn worker(&self) -> usize {
        self.seated().worker
    }

    /// Loads a program, in place of any other. A run that goes on keeps its own, and is waited for
    /// as [`BorrowedWorker::wait`] does.
    pub fn load(&mut self, program: Arc<dyn WorkerProgram>) {
        let _ = self.wait();
        self.program = Some(Box::new(program));
    }

    /// Starts the program.
    ///
    /// # Errors
    /// No program is loaded, it is running already, or the worker is gone.
    pub fn start(&mut self, argument: u64) -> Result<(), WorkerError> {
        if self.running.is_some() {
            return Err(WorkerError::Running);
        }
        if let Some(loss) = self.seated().desk.partners.loss() {
            return Err(loss.clone().into());
        }
        let program: *mut Arc<dyn WorkerProgram> =
            self.program.as_deref_mut().ok_or(WorkerError::NoProgram)?;
        self.running = Some(self.seat().order(WorkerCommand::Run, program, argument));
        Ok(())
    }

    /// Waits for the program to end, and returns its stop code. A program that waits for another
    /// message than those that were sent before, or for room for its own, ends: nobody sends or
    /// reads meanwhile.
    ///
    /// # Errors
    /// Nothing was started, the program panicked or waited in vain, or its worker is gone.
    pub fn wait(&mut self) -> Result<u32, WorkerError> {
        let number = self.running.take().ok_or(WorkerError::NotStarted)?;
        let WorkerHandle { desk, mailboxes, .. } = self.seat();
        let done = desk.wait_abandoning(number, || mailboxes.ring());
        if let Some(loss) = desk.partners.loss() {
            return Err(loss.clone().into());
        }
        match done {
            Done::Stop(code) => Ok(code),
            Done::Panicked | Done::Lost => Err(desk.panic_error(desk.panic_words())),
        }
    }

    /// Starts the program and waits for it.
    ///
    /// # Errors
    /// The errors of [`BorrowedWorker::start`] and [`BorrowedWorker::wait`].
    pub fn run(&mut self, argument: u64) -> Result<u32, WorkerError> {
        self.start(argument)?;
        self.wait()
    }

    /// Writes the worker's inbound mailbox; waits while it is full.
    ///
    /// # Errors
    /// It is full, and no program runs that could read it, or the worker is gone.
    pub fn mailbox_write(&mut self, value: u32) -> Result<(), WorkerError> {
        let running = self.running;
        let WorkerHandle { desk, mailboxes, .. } = self.seat();
        if mailboxes.write(value, || desk.why_silent(running).is_some()) {
            Ok(())
        } else {
            Err(desk.why_silent(running).unwrap_or(WorkerError::NotStarted))
        }
    }

    /// Writes the inbound mailbox if there is room, and says whether there was.
    pub fn mailbox_try_write(&mut self, value: u32) -> bool {
        self.seat().mailboxes.try_write(value)
    }

    /// Reads the worker's outbound mailbox; waits while it is empty.
    ///
    /// # Errors
    /// It is empty, and no program runs that could write it, or the worker is gone.
    pub fn mailbox_read(&mut self) -> Result<u32, WorkerError> {
        let running = self.running;
        let WorkerHandle { desk, mailboxes, .. } = self.seat();
        let read = mailboxes.read(|| desk.why_silent(running).is_some());
        read.ok_or_else(|| desk.why_silent(running).unwrap_or(WorkerError::NotStarted))
    }

    /// Reads the outbound mailbox; `None` while it is empty.
    pub fn mailbox_try_read(&mut self) -> Option<u32> {
        self.seat().mailboxes.try_read()
    }

    /// Free entries of the inbound mailbox.
    #[must_use]
    pub fn mailbox_room(&self) -> u32 {
        self.seated().mailboxes.room()
    }

    /// Messages that wait in the outbound mailbox.
    #[must_use]
    pub fn mailbox_waiting(&self) -> u32 {
        self.seated().mailboxes.waiting()
    }

    /// Writes a signal register of the worker, 0 or 1, and says whether there is such a register.
    pub fn signal(&mut self, register: usize, value: u32) -> bool {
        self.seat().desk.signals.get(register).map(|signal| signal.write(value)).is_some()
    }

    /// The address of the worker's local store; it is valid as long as the context. The caller and
    /// the program must agree on all accesses while the program runs.
    #[must_use]
    pub fn store_address(&self) -> *mut u8 {
        self.seated().desk.store.load(Ordering::Relaxed)
    }

    /// Bytes of the local store.
    #[must_use]
    pub fn store_bytes(&self) -> usize {
        self.seated().desk.options.store_bytes
    }

    /// Whether a message waits in the outbound mailbox.
    ///
    /// # Errors
    /// None waits, and the program has ended or its worker is gone, so that none will come.
    pub fn mailbox_poll(&self) -> Result<bool, WorkerError> {
        let seat = self.seated();
        if seat.mailboxes.waiting() > 0 {
            return Ok(true);
        }
        match seat.desk.why_silent(self.running) {
            // It may have written before it ended.
            Some(why) if seat.mailboxes.waiting() == 0 => Err(why),
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    /// Whether the program has ended; [`BorrowedWorker::wait`] then returns at once. False where
    /// nothing was started.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.running.is_some_and(|number| self.seated().desk.is_done(number).is_some())
    }

    /// Gives the core back: the idle worker sleeps, under any policy, until the next start.
    ///
    /// # Errors
    /// The program is running.
    pub fn give_back(&mut self) -> Result<(), WorkerError> {
        if self.running.is_some() {
            return Err(WorkerError::Running);
        }
        self.seat().order(WorkerCommand::Sleep, std::ptr::null_mut(), 0);
        Ok(())
    }
}

impl Drop for BorrowedWorker {
    /// Waits for a program that still runs, scrubs the store and returns the worker. A program that
    /// waits for a message ends, since nobody will send it.
    fn drop(&mut self) {
        self.seated().desk.abandon(true);
        self.seated().mailboxes.ring();
        let _ = self.wait();
        if let Some(mut seat) = self.seat.take() {
            seat.desk.abandon(false);
            seat.clean();
            self.pool.back(seat);
        }
    }
}
