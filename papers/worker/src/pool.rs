//! The workers that are not borrowed, and a worker's thread.

use crate::desk::{Done, SEATED, WorkerCommand, WorkerControl};
use crate::mailbox::{INBOUND, MailboxEnd, OUTBOUND, mailboxes};
use crate::program::caught;
use crate::{WorkerError, WorkerOptions, WorkerProgram, WorkerStore, WorkerView};
use seatmap_os::affinity;
use seatmap_os::partners::Loss;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The controlling side of one worker, owned by a context or the runtime.
pub struct WorkerHandle {
    pub worker: usize,
    pub desk: Arc<WorkerControl>,
    pub mailboxes: MailboxEnd,
    pub thread: JoinHandle<std::io::Result<()>>,
    /// The last order's number.
    pub number: u32,
    /// Whether the worker's last order was to sleep.
    pub is_asleep: bool,
}

impl WorkerHandle {
    /// Gives an order and returns its number.
    pub fn order(
        &mut self,
        order: WorkerCommand,
        program: *mut Arc<dyn WorkerProgram>,
        argument: u64,
    ) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.desk.put(self.number, order, program, argument, self.is_asleep);
        self.is_asleep = order == WorkerCommand::Sleep;
        self.number
    }

    /// Scrubs the store, and empties mailboxes and signals. If the worker is gone, the next start
    /// reports that.
    pub fn clean(&mut self) {
        let number = self.order(WorkerCommand::Scrub, std::ptr::null_mut(), 0);
        self.desk.wait(number);
        while self.mailboxes.try_read().is_some() {}
        for signal in &self.desk.signals {
            let _ = signal.try_read();
        }
    }
}

pub struct WorkerPool {
    pub free: Mutex<Vec<WorkerHandle>>,
    pub workers: usize,
}

impl WorkerPool {
    pub fn hire(&self, worker: usize, cpu: u32, options: WorkerOptions) -> Result<(), WorkerError> {
        let store = WorkerStore::new(options.store_bytes)
            .map_err(|source| WorkerError::Store { bytes: options.store_bytes, source })?;
        let desk = Arc::new(WorkerControl::new(cpu, options, store.address()));
        let (outside, inside) = mailboxes([INBOUND, OUTBOUND], options.polling);
        let to_worker = Arc::clone(&desk);
        let refused = |source| WorkerError::Seat { cpu, source };
        let thread = std::thread::Builder::new()
            .name(format!("worker-cpu{cpu}"))
            .spawn(move || work(cpu, to_worker, store, inside))
            .map_err(refused)?;
        if desk.wait(SEATED) != Done::Stop(0) {
            let ended = thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread died")));
            return ended.map_err(refused);
        }
        self.seats().push(WorkerHandle {
            worker,
            desk,
            mailboxes: outside,
            thread,
            number: SEATED,
            is_asleep: false,
        });
        Ok(())
    }

    pub fn seats(&self) -> std::sync::MutexGuard<'_, Vec<WorkerHandle>> {
        // The list is consistent between any two statements.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn back(&self, seat: WorkerHandle) {
        self.seats().push(seat);
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        // Workers of leaked contexts wait on, because their programs' data may still be in use.
        for mut seat in self.seats().drain(..) {
            seat.order(WorkerCommand::Quit, std::ptr::null_mut(), 0);
            let _ = seat.thread.join();
        }
    }
}

/// A worker's thread; returns an error if it could not be pinned.
fn work(
    cpu: u32,
    desk: Arc<WorkerControl>,
    mut store: WorkerStore,
    mailboxes: MailboxEnd,
) -> io::Result<()> {
    if let Err(error) = affinity::pin(&[cpu]) {
        desk.finish(SEATED, Done::Panicked);
        return Err(error);
    }
    // The kernel places the pages here, near this CPU.
    store.scrub();
    desk.finish(SEATED, Done::Stop(0));
    let mut inside = WorkerView { store, mailboxes, desk: Arc::clone(&desk) };
    let mut last = SEATED;
    let mut asleep = false;
    // However this thread ends, the threads that wait for it stop waiting.
    let _leaves = Leaves(&desk);
    loop {
        let Some((number, order, program, argument)) = desk.take(last, asleep) else {
            inside.mailboxes.ring();
            return Ok(());
        };
        last = number;
        asleep = order == WorkerCommand::Sleep;
        match order {
            WorkerCommand::Run => {
                // SAFETY: a context passes a pointer to its own program, and does not change or
                // drop that before the order is done; leaked contexts leak it.
                let program = unsafe { &*program };
                desk.finish(number, ended(&desk, caught(&**program, &mut inside, argument)));
                // Wakes a reader at the mailbox, which then learns that no message comes.
                inside.mailboxes.ring();
            }
            WorkerCommand::Scrub => {
                while inside.mailboxes.try_read().is_some() {}
                inside.store.scrub();
                desk.finish(number, Done::Stop(0));
            }
            WorkerCommand::Sleep => {}
            WorkerCommand::Quit => return Ok(()),
        }
    }
}

struct Leaves<'a>(&'a WorkerControl);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.lose(Loss::Ended { cpu: self.0.cpu });
    }
}

/// A run's outcome; stores a panic's text.
pub fn ended(desk: &WorkerControl, ran: Result<u32, String>) -> Done {
    match ran {
        Ok(code) => Done::Stop(code),
        Err(words) => {
            *desk.words.lock().unwrap_or_else(PoisonError::into_inner) = words;
            Done::Panicked
        }
    }
}
