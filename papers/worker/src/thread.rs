//! The same calls, with a thread for each run.

use crate::desk::{SEATED, WorkerControl};
use crate::mailbox::{INBOUND, MailboxEnd, OUTBOUND, mailboxes};
use crate::pool::ended;
use crate::program::caught;
use crate::{Polling, WorkerError, WorkerOptions, WorkerProgram, WorkerStore, WorkerView};
use seatmap_os::affinity;
use seatmap_os::partners::Loss;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// A context as Linux implements it on the Cell processor: a start creates and pins a thread, a
/// wait joins it, and a mailbox is a futex. The programs of a
/// [`BorrowedWorker`](crate::BorrowedWorker) run here unchanged, for comparison.
pub struct ThreadContext {
    cpu: u32,
    /// The program's view of the worker, in the thread during a run.
    inside: Option<WorkerView>,
    running: Option<JoinHandle<Ran>>,
    desk: Arc<WorkerControl>,
    number: u32,
    mailboxes: MailboxEnd,
    program: Option<Arc<dyn WorkerProgram>>,
}

type Ran = (WorkerView, Result<u32, WorkerError>);

impl ThreadContext {
    /// A context with threads on this CPU, and with its own zeroed store.
    ///
    /// # Errors
    /// The store cannot be mapped.
    pub fn new(cpu: u32, options: WorkerOptions) -> Result<Self, WorkerError> {
        let options = WorkerOptions { polling: Polling::Sleep, ..options };
        let mut store = WorkerStore::new(options.store_bytes)
            .map_err(|source| WorkerError::Store { bytes: options.store_bytes, source })?;
        store.scrub();
        let (outside, within) = mailboxes([INBOUND, OUTBOUND], options.polling);
        let desk = Arc::new(WorkerControl::new(cpu, options, store.address()));
        let inside = Some(WorkerView { store, mailboxes: within, desk: Arc::clone(&desk) });
        Ok(ThreadContext {
            cpu,
            inside,
            running: None,
            desk,
            number: SEATED,
            mailboxes: outside,
            program: None,
        })
    }

    /// Loads a program, after waiting for a running one.
    pub fn load(&mut self, program: Arc<dyn WorkerProgram>) {
        let _ = self.wait();
        self.program = Some(program);
    }

    /// Starts the program on a new thread.
    ///
    /// # Errors
    /// No program is loaded, it already runs, or the thread cannot be created.
    pub fn start(&mut self, argument: u64) -> Result<(), WorkerError> {
        self.start_by(Builder::new(), argument)
    }

    fn start_by(&mut self, builder: Builder, argument: u64) -> Result<(), WorkerError> {
        if self.running.is_some() {
            return Err(WorkerError::Running);
        }
        let program = Arc::clone(self.program.as_ref().ok_or(WorkerError::NoProgram)?);
        let cpu = self.cpu;
        let inside = self.inside.take().ok_or(WorkerError::NotStarted)?;
        let number = self.number.wrapping_add(1);
        // If a thread cannot be created, its closure is dropped; the view is kept for the next
        // start.
        let view = Arc::new(Mutex::new(Some(inside)));
        let lent = Arc::clone(&view);
        let created = builder.spawn(move || {
            let inside = taken(&lent).unwrap_or_else(|| unreachable!("it is taken only here"));
            run(number, inside, &*program, argument)
        });
        match created {
            Ok(thread) => {
                self.number = number;
                self.running = Some(thread);
                Ok(())
            }
            Err(source) => {
                self.inside = taken(&view);
                Err(WorkerError::Seat { cpu, source })
            }
        }
    }

    /// Joins the thread, and returns the program's stop code.
    ///
    /// # Errors
    /// Nothing was started, the thread could not be pinned, or the program panicked.
    pub fn wait(&mut self) -> Result<u32, WorkerError> {
        let thread = self.running.take().ok_or(WorkerError::NotStarted)?;
        // This thread sends and reads nothing meanwhile, so a program that waits for it is ended.
        self.desk.abandon(true);
        self.mailboxes.ring();
        let joined = thread.join();
        self.desk.abandon(false);
        let (inside, ran) =
            joined.map_err(|_| WorkerError::Panicked("outside the program".to_owned()))?;
        self.inside = Some(inside);
        ran
    }

    /// Starts the program and waits for it.
    ///
    /// # Errors
    /// The errors of [`ThreadContext::start`] and [`ThreadContext::wait`].
    pub fn run(&mut self, argument: u64) -> Result<u32, WorkerError> {
        self.start(argument)?;
        self.wait()
    }

    /// Writes the inbound mailbox; waits while it is full.
    ///
    /// # Errors
    /// It is full, and no running program could read it.
    pub fn mailbox_write(&mut self, value: u32) -> Result<(), WorkerError> {
        let number = self.run_number();
        let ThreadContext { desk, mailboxes, .. } = self;
        if mailboxes.write(value, || desk.why_silent(number).is_some()) {
            Ok(())
        } else {
            Err(desk.why_silent(number).unwrap_or(WorkerError::NotStarted))
        }
    }

    /// Reads the outbound mailbox; waits while it is empty.
    ///
    /// # Errors
    /// It is empty, and no running program could write it.
    pub fn mailbox_read(&mut self) -> Result<u32, WorkerError> {
        let number = self.run_number();
        let ThreadContext { desk, mailboxes, .. } = self;
        let read = mailboxes.read(|| desk.why_silent(number).is_some());
        read.ok_or_else(|| desk.why_silent(number).unwrap_or(WorkerError::NotStarted))
    }

    /// Whether there is a message in the outbound mailbox.
    ///
    /// # Errors
    /// There is none, and the program has ended, so none can come.
    pub fn mailbox_poll(&self) -> Result<bool, WorkerError> {
        if self.mailboxes.waiting() > 0 {
            return Ok(true);
        }
        match self.desk.why_silent(self.run_number()) {
            // The program may have written before it ended.
            Some(why) if self.mailboxes.waiting() == 0 => Err(why),
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    fn run_number(&self) -> Option<u32> {
        self.running.as_ref().map(|_| self.number)
    }

    /// Messages in the outbound mailbox.
    pub fn mailbox_waiting(&self) -> u32 {
        self.mailboxes.waiting()
    }
}

fn taken(view: &Mutex<Option<WorkerView>>) -> Option<WorkerView> {
    view.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs a program on a new thread, whose end wakes the threads that wait for its messages.
fn run(number: u32, mut inside: WorkerView, program: &dyn WorkerProgram, argument: u64) -> Ran {
    let desk = Arc::clone(&inside.desk);
    let cpu = desk.cpu;
    let ran = match affinity::pin(&[cpu]) {
        Ok(()) => caught(program, &mut inside, argument),
        Err(source) => {
            desk.lose(Loss::unseated(cpu, &source));
            inside.mailboxes.ring();
            return (inside, Err(WorkerError::Seat { cpu, source }));
        }
    };
    desk.finish(number, ended(&desk, ran.clone()));
    inside.mailboxes.ring();
    let lost = desk.partners.loss().cloned().map(WorkerError::Lost);
    (inside, lost.map_or_else(|| ran.map_err(|words| desk.panic_error(words)), Err))
}

impl Drop for ThreadContext {
    /// Waits for a running thread. A program that waits for a message is ended, because none will
    /// come.
    fn drop(&mut self) {
        self.desk.abandon(true);
        self.mailboxes.ring();
        let _ = self.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_thread_creation_leaves_context_usable() {
        let cpu = affinity::current().unwrap()[0];
        let mut context = ThreadContext::new(cpu, WorkerOptions::default()).unwrap();
        context.load(Arc::new(|inside: &mut WorkerView, argument: u64| {
            inside.mailbox_write(argument as u32 + 1);
            7
        }));
        // A stack for which no address space has room.
        let builder = Builder::new().stack_size(isize::MAX as usize / 2);
        let error = context.start_by(builder, 1).unwrap_err();
        assert!(matches!(error, WorkerError::Seat { .. }), "{error}");
        assert!(matches!(context.wait(), Err(WorkerError::NotStarted)));
        assert_eq!(context.run(1).unwrap(), 7);
        assert_eq!(context.mailbox_read().unwrap(), 2);
    }
}
