//! A borrowed worker, from outside.

use crate::desk::{Done, WorkerCommand};
use crate::pool::{WorkerHandle, WorkerPool};
use crate::{WorkerError, WorkerProgram};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A borrowed worker. Its store is scrubbed before and after.
pub struct BorrowedWorker {
    pool: Arc<WorkerPool>,
    seat: Option<WorkerHandle>,
    /// Boxed, so that the worker gets a thin pointer; unchanged during an order.
    program: Option<Box<Arc<dyn WorkerProgram>>>,
    running: Option<u32>,
}

impl BorrowedWorker {
    pub(crate) fn new(pool: Arc<WorkerPool>, mut seat: WorkerHandle) -> Self {
        seat.clean();
        BorrowedWorker { pool, seat: Some(seat), program: None, running: None }
    }

    fn seated(&self) -> &WorkerHandle {
        // Only `drop` takes it.
        self.seat
            .as_ref()
            .unwrap_or_else(|| unreachable!("a context has a seat until it is dropped"))
    }

    fn seat(&mut self) -> &mut WorkerHandle {
        self.seat
            .as_mut()
            .unwrap_or_else(|| unreachable!("a context has a seat until it is dropped"))
    }

    /// The worker's number in its runtime.
    pub fn worker(&self) -> usize {
        self.seated().worker
    }

    /// Loads a program, after waiting for a running one as [`BorrowedWorker::wait`] does.
    pub fn load(&mut self, program: Arc<dyn WorkerProgram>) {
        let _ = self.wait();
        self.program = Some(Box::new(program));
    }

    /// Starts the program.
    ///
    /// # Errors
    /// No program is loaded, it already runs, or the worker is gone.
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
    /// message, or for room for its own, is ended, because this thread neither sends nor reads
    /// meanwhile.
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
    /// It is full, and no running program could read it, or the worker is gone.
    pub fn mailbox_write(&mut self, value: u32) -> Result<(), WorkerError> {
        let running = self.running;
        let WorkerHandle { desk, mailboxes, .. } = self.seat();
        if mailboxes.write(value, || desk.why_silent(running).is_some()) {
            Ok(())
        } else {
            Err(desk.why_silent(running).unwrap_or(WorkerError::NotStarted))
        }
    }

    /// Writes the inbound mailbox if there is room, and returns whether there was.
    pub fn mailbox_try_write(&mut self, value: u32) -> bool {
        self.seat().mailboxes.try_write(value)
    }

    /// Reads the worker's outbound mailbox; waits while it is empty.
    ///
    /// # Errors
    /// It is empty, and no running program could write it, or the worker is gone.
    pub fn mailbox_read(&mut self) -> Result<u32, WorkerError> {
        let running = self.running;
        let WorkerHandle { desk, mailboxes, .. } = self.seat();
        let read = mailboxes.read(|| desk.why_silent(running).is_some());
        read.ok_or_else(|| desk.why_silent(running).unwrap_or(WorkerError::NotStarted))
    }

    /// Reads the outbound mailbox; `None` if it is empty.
    pub fn mailbox_try_read(&mut self) -> Option<u32> {
        self.seat().mailboxes.try_read()
    }

    /// Free entries of the inbound mailbox.
    pub fn mailbox_room(&self) -> u32 {
        self.seated().mailboxes.room()
    }

    /// Messages in the outbound mailbox.
    pub fn mailbox_waiting(&self) -> u32 {
        self.seated().mailboxes.waiting()
    }

    /// Writes a signal register of the worker, 0 or 1; returns false for another register.
    pub fn signal(&mut self, register: usize, value: u32) -> bool {
        self.seat().desk.signals.get(register).map(|signal| signal.write(value)).is_some()
    }

    /// The address of the worker's local store, valid as long as the context. While the program
    /// runs, caller and program must agree on all accesses.
    pub fn store_address(&self) -> *mut u8 {
        self.seated().desk.store.load(Ordering::Relaxed)
    }

    /// Bytes of the local store.
    pub fn store_bytes(&self) -> usize {
        self.seated().desk.options.store_bytes
    }

    /// Whether there is a message in the outbound mailbox.
    ///
    /// # Errors
    /// There is none, and none can come, because the program has ended or its worker is gone.
    pub fn mailbox_poll(&self) -> Result<bool, WorkerError> {
        let seat = self.seated();
        if seat.mailboxes.waiting() > 0 {
            return Ok(true);
        }
        match seat.desk.why_silent(self.running) {
            // The program may have written before it ended.
            Some(why) if seat.mailboxes.waiting() == 0 => Err(why),
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    /// Whether the program has ended, so that [`BorrowedWorker::wait`] returns at once. False if
    /// nothing was started.
    pub fn has_ended(&self) -> bool {
        self.running.is_some_and(|number| self.seated().desk.is_done(number).is_some())
    }

    /// Frees the core: the worker sleeps, under any policy, until the next start.
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
    /// Waits for a running program, scrubs the store and returns the worker. A program that waits
    /// for a message is ended.
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
