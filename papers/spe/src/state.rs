//! The state that an SPE's program shares with other threads.

use crate::mailbox::{Mailbox, Mailboxes};
use crate::notify::Notify;
use crate::signal::SpuSignal;
use crate::store::SpeStore;
use crate::stuck::{WaitReason, Waiter};
use crate::transfer::{LocalStoreTransfer, TransferFault, TransferRule};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// An SPE's local store, mailboxes, signal registers and events, with their waiters.
#[derive(Debug)]
pub struct SpeState {
    number: u32,
    caller: AtomicU64,
    store: SpeStore,
    mailboxes: Mailboxes,
    signals: [SpuSignal; 2],
    events: AtomicU32,
    notify: Notify,
    watchers: Mutex<Vec<Weak<Notify>>>,
    is_watched: AtomicBool,
}

impl SpeState {
    /// A new SPE. A gathering signal register keeps all bits until it is read.
    pub fn new(
        number: u32,
        store: SpeStore,
        mailboxes: Mailboxes,
        signals_gather: [bool; 2],
    ) -> Self {
        SpeState {
            number,
            caller: AtomicU64::new(0),
            store,
            mailboxes,
            signals: signals_gather.map(SpuSignal::new),
            events: AtomicU32::new(0),
            notify: Notify::default(),
            watchers: Mutex::default(),
            is_watched: AtomicBool::new(false),
        }
    }

    /// Its number, in order of creation.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The fault of one of its transfers.
    pub fn fault(&self, transfer: LocalStoreTransfer, rule: TransferRule) -> TransferFault {
        TransferFault { context: self.number, transfer, rule }
    }

    /// Its local store.
    #[inline]
    pub fn store(&self) -> &SpeStore {
        &self.store
    }

    /// Its mailboxes.
    #[inline]
    pub fn mailboxes(&self) -> &Mailboxes {
        &self.mailboxes
    }

    /// A signal register, 0 or 1.
    pub fn signal(&self, register: usize) -> &SpuSignal {
        &self.signals[register & 1]
    }

    /// The condition to wait for changes.
    #[inline]
    pub fn notify(&self) -> &Notify {
        &self.notify
    }

    /// On the SPU: waits until `look` finds something; `None` if no other thread of this process
    /// could change anything.
    #[inline]
    pub fn wait<T>(&self, wait: WaitReason, look: impl FnMut() -> Option<T>) -> Option<T> {
        let caller = self.caller.load(Ordering::Relaxed);
        let waiter = Waiter::Program { context: self.number, caller };
        self.notify.wait_for_others((waiter, wait), look)
    }

    /// Records the thread that runs the program.
    pub fn set_caller(&self, thread: u64) {
        self.caller.store(thread, Ordering::Relaxed);
    }

    /// On the SPU: waits for a message; `None` as [`SpeState::wait`]. In Linux's style it sleeps in
    /// the kernel without end.
    #[inline]
    pub fn read_inbound(&self) -> Option<u32> {
        let taken = self.mailboxes.take_from_kernel();
        let taken = taken.or_else(|| self.wait(WaitReason::Message, || self.mailboxes.take()))?;
        if taken.was_full {
            self.changed();
        }
        Some(taken.value)
    }

    /// On the SPU: waits for a signal; `None` as [`SpeState::wait`].
    pub fn read_signal(&self, register: usize) -> Option<u32> {
        self.wait(WaitReason::Signal(register & 1), || self.signal(register).try_read())
    }

    /// On the SPU: waits for room and writes a mailbox; `None` as [`SpeState::wait`].
    #[inline]
    pub fn put(&self, mailbox: Mailbox, value: u32) -> Option<()> {
        let wait = match mailbox {
            Mailbox::OutInterrupting => WaitReason::InterruptingRoom,
            _ => WaitReason::OutboundRoom,
        };
        self.wait(wait, || self.mailboxes.put(mailbox, value).then_some(()))?;
        self.changed();
        Some(())
    }

    /// Events not yet acknowledged by the SPU.
    pub fn events(&self) -> u32 {
        self.events.load(Ordering::Acquire)
    }

    /// Raises an event, after the change that causes it.
    pub fn raise(&self, event: u32) {
        self.events.fetch_or(event, Ordering::AcqRel);
        self.changed();
    }

    /// Clears events.
    pub fn acknowledge(&self, events: u32) {
        self.events.fetch_and(!events, Ordering::AcqRel);
    }

    /// Wakes all waiters of this context after a change.
    #[inline]
    pub fn changed(&self) {
        self.notify.ring();
        if self.is_watched.load(Ordering::Acquire) {
            let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            watchers.retain(|watcher| {
                watcher.upgrade().is_some_and(|watcher| {
                    watcher.ring();
                    true
                })
            });
        }
    }

    /// Also wakes `watcher` on each change.
    pub fn watch(&self, watcher: &Arc<Notify>) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(watcher));
        self.is_watched.store(true, Ordering::Release);
    }
}
