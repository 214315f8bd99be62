//! The calls of the PPE's threads on a context of the simulated Cell.

use crate::error::SpeError;
use crate::mailbox::Mailbox;
use crate::messages::MailboxWait;
use crate::options::ContextOptions;
use crate::simulated::call::failed;
use crate::simulated::desk;
use crate::simulated::layout;
use crate::simulated::request::Driver;
use crate::simulated::series::{MOST_LOOKS, MessageSeries};
use crate::stop::{Resumable, StopReason};
use crate::store::SpeStore;
use crate::transfer::{LocalStoreTransfer, TransferDirection};
use seatmap_cell_sim::channels::{SignalNumber, TransferOrder};
use seatmap_cell_sim::session::{
    CellBeSession, CommandKind, LocalStore, MailboxCount, NewContext, ProgramCommand, SessionCall,
    TagCondition, WatchedEvents,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A context as a task of the session.
#[derive(Debug)]
pub struct SimulatedContext {
    driver: Arc<Driver>,
    task: u16,
    by_kernel: bool,
    looks: AtomicU32,
}

impl SimulatedContext {
    /// Adds a context to the session.
    pub fn new(
        driver: &Arc<Driver>,
        number: u32,
        options: ContextOptions,
        store: &SpeStore,
        registers: *mut u8,
    ) -> Self {
        let base = store.base() as usize;
        let effective = store.effective() as usize;
        let bytes = store.bytes();
        let gathers = options.signals_gather;
        let registers = registers as u64;
        let seat = options.seat.map(|place| CellBeSession::chain_seat(driver.model(), place));
        let chip = layout::chip();
        let task = desk::now(driver, move |session| {
            let store = LocalStore {
                base: base as *mut u8,
                effective: effective as *mut u8,
                bytes: bytes as u32,
            };
            u64::from(session.add_context(NewContext {
                number,
                store,
                registers,
                gathers,
                seat,
                chip,
            }))
        }) as u16;
        SimulatedContext {
            driver: Arc::clone(driver),
            task,
            by_kernel: !options.maps_registers,
            looks: AtomicU32::new(0),
        }
    }

    fn call(&self, call: SessionCall) -> u64 {
        desk::call(&self.driver, call)
    }

    fn now(&self, work: impl FnOnce(&mut CellBeSession, u16) -> u64 + Send + 'static) -> u64 {
        let task = self.task;
        desk::now(&self.driver, move |session| work(session, task))
    }

    /// Runs the program until it stops.
    pub fn run(&self, program: Arc<dyn Resumable>, is_fresh: bool) -> StopReason {
        desk::run(&self.driver, self.task, program, is_fresh)
    }

    /// Records that another program was loaded.
    pub fn renew(&self) {
        self.now(|session, task| {
            session.renew(task);
            0
        });
    }

    /// Ends the context after its transfers.
    pub fn destroy(&self) {
        self.call(SessionCall::Destroy(self.task));
    }

    /// Sends messages to the SPU. Returns their number.
    pub fn send(&self, values: &[u32], wait: MailboxWait) -> usize {
        let mut series = MessageSeries::new(self.task, Mailbox::In, wait, values.len());
        series.values = values.to_vec();
        self.exchange(series).map_or(0, |series| series.done)
    }

    /// Receives messages from the SPU. Returns their number.
    pub fn receive(&self, mailbox: Mailbox, values: &mut [u32], wait: MailboxWait) -> usize {
        let series = MessageSeries::new(self.task, mailbox, wait, values.len());
        let Some(series) = self.exchange(series) else { return 0 };
        for (place, value) in values.iter_mut().zip(&series.values) {
            *place = *value;
        }
        series.done
    }

    fn exchange(&self, mut series: MessageSeries) -> Option<MessageSeries> {
        series.by_kernel = self.by_kernel;
        series.looks = self.looks_in_a_row(series.unmoved());
        let series = desk::exchange(&self.driver, series)?;
        self.looks.store(series.looks, Ordering::Relaxed);
        Some(series)
    }

    /// Reads a count.
    pub fn count(&self, what: MailboxCount) -> usize {
        let looks = self.looks_in_a_row((self.task, None));
        let count = self.call(SessionCall::Count { of: self.task, what, looks });
        let next = if count == 0 { (2 * looks).min(MOST_LOOKS) } else { 1 };
        self.looks.store(next, Ordering::Relaxed);
        count as usize
    }

    /// Looks for the next message, which double while a thread repeats a vain look.
    fn looks_in_a_row(&self, message: (u16, Option<u32>)) -> u32 {
        if desk::looks_again(message) { self.looks.load(Ordering::Relaxed) } else { 1 }
    }

    /// Writes a signal register, 0 or 1.
    pub fn signal(&self, register: usize, value: u32) {
        let register = if register == 0 { SignalNumber::One } else { SignalNumber::Two };
        self.call(SessionCall::Signal {
            to: self.task,
            register,
            value,
            by_kernel: self.by_kernel,
        });
    }

    /// Passes a proxy command to the transfer unit.
    pub fn proxy(&self, transfer: LocalStoreTransfer) {
        let LocalStoreTransfer { command, direction, local, effective, bytes, tag } = transfer;
        let order = match command.as_bytes().last() {
            Some(b'b') => TransferOrder::Barrier,
            Some(b'f') => TransferOrder::Fence,
            _ => TransferOrder::Free,
        };
        let kind = match direction {
            TransferDirection::Get => CommandKind::Get(order),
            TransferDirection::Put => CommandKind::Put(order),
        };
        self.call(SessionCall::Proxy(
            self.task,
            ProgramCommand { name: command, kind, local, effective, bytes, tag: tag as u8 },
        ));
    }

    /// Waits for proxy commands. Returns the complete tags.
    ///
    /// # Errors
    /// [`SpeError::Transfer`]: the address of one was inaccessible.
    pub fn await_proxies(
        &self,
        number: u32,
        mask: u32,
        condition: TagCondition,
    ) -> Result<u32, SpeError> {
        let complete = self.call(SessionCall::AwaitProxies { of: self.task, mask, condition });
        let (report, reports) = std::sync::mpsc::channel();
        self.now(move |session, task| {
            _ = report.send(session.take_proxy_fault(task));
            0
        });
        match reports.recv().ok().flatten() {
            Some(command) => Err(failed(number, command).into()),
            None => Ok(complete as u32),
        }
    }

    /// Sets the program's recorded ends.
    pub fn set_ends(&self, ends: usize) {
        self.now(move |session, task| {
            session.set_ends(task, ends as u32);
            0
        });
    }

    /// Events that have happened, as numbered in [`event`](crate::event).
    pub fn happened(&self) -> u32 {
        self.now(|session, task| u64::from(session.happened(task))) as u32
    }

    /// The machine's core cycle after this time in nanoseconds.
    pub fn cycle_in(driver: &Arc<Driver>, ns: u64) -> u64 {
        desk::now(driver, move |session| session.now().saturating_add(session.cycle_at(ns)))
    }

    /// Waits until one of these events or a core cycle. Returns whether there was an event.
    pub fn await_events(
        driver: &Arc<Driver>,
        watched_events: &[WatchedEvents],
        until: Option<u64>,
    ) -> bool {
        let call = SessionCall::AwaitEvents {
            watched_events: watched_events.as_ptr(),
            count: watched_events.len(),
            until,
        };
        desk::call(driver, call) != 0
    }

    /// This context's part of a wait for events.
    pub fn watched_events(&self, events: u32) -> WatchedEvents {
        WatchedEvents { context: self.task, events }
    }
}
