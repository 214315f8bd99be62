//! An SPE as seen by programs on the PPE.

use crate::channel::spu_event;
use crate::error::SpeError;
use crate::faults;
use crate::hooks::HOST;
use crate::image::Image;
use crate::mailbox::{Mailbox, Mailboxes};
use crate::messages::MailboxWait;
pub use crate::options::ContextOptions;
use crate::pool;
use crate::problem::{self, ProblemStateArea, RegisterAccess};
use crate::proxy::{self, Proxy};
use crate::run::SpuRun;
use crate::simulated::channels::SIMULATED;
use crate::simulated::ppe::SimulatedContext;
use crate::simulated::series::outbound;
use crate::simulated::{SpeMachine, machine};
use crate::state::SpeState;
use crate::stop::{Arguments, EntryPoint, Pause, Resumable, RunStop, StopReason, Turned};
use crate::store::SpeStore;
use crate::stuck;
use crate::style::SpeStyle;
use crate::transfer::{LocalStoreTransfer, TransferRule};
use seatmap_cell_sim::session::{CellBeSession, MailboxCount, ProgramTurn, TagCondition};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

const FREE: u8 = 0;
const HELD: u8 = 1;
const CLOSED: u8 = 2;

/// A synergistic processing element.
#[derive(Debug)]
pub struct SpeContext {
    state: SpeState,
    options: ContextOptions,
    seat: usize,
    area: ProblemStateArea,
    /// [`FREE`], [`HELD`] or [`CLOSED`]. One word, so that a run cannot start in a closed context,
    /// and a running context cannot be closed.
    hold: AtomicU8,
    runner: UnsafeCell<SpuRun>,
    ends: Mutex<VecDeque<RunStop>>,
    proxy: Proxy,
    proxy_tags: AtomicU32,
    simulated: Option<SimulatedContext>,
}

// SAFETY: all parts except `runner` are safe to share. Only the thread that set `hold` to `HELD`
// touches `runner`.
unsafe impl Sync for SpeContext {}
// SAFETY: as above; the coroutine in `runner` runs C code that does not depend on its thread.
unsafe impl Send for SpeContext {}

impl SpeContext {
    /// Creates an SPE with an empty local store.
    ///
    /// # Errors
    /// [`SpeError::Store`], [`SpeError::Argument`].
    pub fn new(options: ContextOptions) -> Result<Arc<Self>, SpeError> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let machine = machine()?;
        faults::prepare();
        let store = SpeStore::new()?;
        let area = ProblemStateArea::new().map_err(SpeError::Store)?;
        let mailboxes = Mailboxes::new(SpeStyle::chosen()?).map_err(SpeError::Store)?;
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let number = u32::try_from(next % (1 << 31)).unwrap_or_default();
        let simulated = match machine {
            SpeMachine::Host => pool::seats().map(|_| None)?,
            SpeMachine::Simulated(driver) => {
                Some(SimulatedContext::new(driver, number, options, &store, area.start()))
            }
        };
        let context = Arc::new_cyclic(|own: &Weak<SpeContext>| SpeContext {
            state: SpeState::new(number, store, mailboxes, options.signals_gather),
            options,
            seat: options.seat.unwrap_or(next),
            area,
            hold: AtomicU8::new(FREE),
            // SAFETY: the place is in the allocation, and is not read.
            runner: UnsafeCell::new(SpuRun::new(unsafe { &raw const (*own.as_ptr()).state })),
            ends: Mutex::default(),
            proxy: Proxy::default(),
            proxy_tags: AtomicU32::new(0),
            simulated,
        });
        context.area.announce(&context);
        Ok(context)
    }

    /// Its number, from 0, in order of creation.
    pub fn number(&self) -> u32 {
        self.state.number()
    }

    /// Its local store.
    #[inline]
    pub fn store(&self) -> &SpeStore {
        self.state.store()
    }

    /// The state that its program shares with others.
    #[inline]
    pub fn state(&self) -> &SpeState {
        &self.state
    }

    /// The options of its creation.
    pub fn options(&self) -> ContextOptions {
        self.options
    }

    /// Its pinned thread's number.
    pub fn seat(&self) -> usize {
        self.seat
    }

    /// Its counterpart on the simulated Cell, if used.
    #[inline]
    pub fn simulated(&self) -> Option<&SimulatedContext> {
        self.simulated.as_ref()
    }

    /// Its registers' addresses.
    pub fn area(&self) -> &ProblemStateArea {
        &self.area
    }

    /// Messages of the SPU in one of its mailboxes.
    #[inline]
    pub fn messages(&self, mailbox: Mailbox) -> usize {
        match &self.simulated {
            Some(seat) => seat.count(MailboxCount::Waiting(outbound(mailbox))),
            None => self.state.mailboxes().waiting(mailbox) as usize,
        }
    }

    /// Free places in the mailbox to the SPU.
    pub fn room(&self) -> usize {
        match &self.simulated {
            Some(seat) => seat.count(MailboxCount::InboundRoom),
            None => self.state.mailboxes().room(Mailbox::In) as usize,
        }
    }

    /// Writes a message to the SPU. Returns false if there is no room.
    #[inline]
    pub fn try_send(&self, value: u32) -> bool {
        if self.simulated.is_some() {
            return self.send_all(&[value], MailboxWait::Never) == 1;
        }
        let fits = self.state.mailboxes().send(value);
        if fits {
            self.state.changed();
        }
        fits
    }

    /// Receives a message from one of the SPU's mailboxes.
    #[inline]
    pub fn try_receive(&self, mailbox: Mailbox) -> Option<u32> {
        if self.simulated.is_some() {
            let mut value = [0];
            let count = self.receive_all(mailbox, &mut value, MailboxWait::Never);
            return (count == 1).then_some(value[0]);
        }
        let value = self.state.mailboxes().receive(mailbox)?;
        self.state.changed();
        Some(value)
    }

    /// Writes a signal register, 0 or 1.
    pub fn send_signal(&self, register: usize, value: u32) {
        if let Some(seat) = &self.simulated {
            return seat.signal(register & 1, value);
        }
        self.state.signal(register).write(value);
        self.state.raise([spu_event::SIGNAL_1, spu_event::SIGNAL_2][register & 1]);
    }

    /// Performs a transfer for the PPE.
    ///
    /// # Errors
    /// [`SpeError::Transfer`].
    pub fn proxy(&self, transfer: LocalStoreTransfer) -> Result<(), SpeError> {
        if let Some(seat) = &self.simulated {
            self.refuse(transfer)?;
            seat.proxy(transfer);
            return Ok(());
        }
        transfer.perform(&self.state)?;
        self.proxy_tags.fetch_or(1 << (transfer.tag & 31), Ordering::AcqRel);
        self.state.changed();
        Ok(())
    }

    /// Checks the rules that do not depend on memory.
    fn refuse(&self, transfer: LocalStoreTransfer) -> Result<(), SpeError> {
        let bytes = usize::try_from(transfer.bytes).unwrap_or(usize::MAX);
        let checked = transfer.check().and_then(|()| {
            self.store().at(transfer.local, bytes).map(|_| ()).ok_or(TransferRule::Local)
        });
        checked.map_err(|rule| self.state.fault(transfer, rule).into())
    }

    /// Uncollected tags of complete PPE transfers.
    pub fn proxy_tags(&self) -> u32 {
        self.proxy_tags.load(Ordering::Acquire)
    }

    /// Collects complete tags: those in the mask, or all if it is 0.
    ///
    /// # Errors
    /// [`SpeError::Transfer`].
    pub fn await_proxies(&self, mask: u32, condition: TagCondition) -> Result<u32, SpeError> {
        if let Some(seat) = &self.simulated {
            return seat.await_proxies(self.number(), mask, condition);
        }
        // Each transfer was complete when its command returned.
        let mask = if mask == 0 { self.proxy_tags() } else { mask };
        self.proxy_tags.fetch_and(!mask, Ordering::AcqRel);
        Ok(mask)
    }

    /// Loads a program, which starts at the next run.
    ///
    /// # Errors
    /// [`SpeError::Running`], [`SpeError::Closed`], and those of [`Image::load`].
    pub fn load(&self, image: &Image) -> Result<(), SpeError> {
        let hooks = if self.simulated.is_some() { &SIMULATED } else { &HOST };
        // SAFETY: held, and borrowed only for this call.
        self.hold(|runner| unsafe { &mut *runner }.load(self.store(), hooks, image))?;
        if let Some(seat) = &self.simulated {
            seat.renew();
        }
        Ok(())
    }

    /// Takes the oldest recorded end of a run.
    pub fn ended(&self) -> Option<RunStop> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = ends.pop_front();
        self.tell_ends(ends.len());
        ended
    }

    fn tell_ends(&self, waiting: usize) {
        if let Some(seat) = &self.simulated {
            seat.set_ends(waiting);
        }
    }

    /// Recorded ends.
    pub fn ends_waiting(&self) -> usize {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Records a run's end, if the context's options say so.
    pub fn keep_end(&self, ended: RunStop) {
        if self.options.keeps_ends {
            let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            ends.push_back(ended);
            self.tell_ends(ends.len());
            drop(ends);
            self.state.changed();
        }
    }

    /// Whether a run is in progress.
    pub fn is_running(&self) -> bool {
        self.hold.load(Ordering::Acquire) == HELD
    }

    /// Calls `work` with the locked runner.
    ///
    /// # Errors
    /// [`SpeError::Running`], [`SpeError::Closed`], and those of the work.
    pub fn hold<T>(
        &self,
        work: impl FnOnce(*mut SpuRun) -> Result<T, SpeError>,
    ) -> Result<T, SpeError> {
        self.leave_free(HELD)?;
        let done = work(self.runner.get());
        self.hold.store(FREE, Ordering::Release);
        done
    }

    fn leave_free(&self, next: u8) -> Result<(), SpeError> {
        match self.hold.compare_exchange(FREE, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            Err(CLOSED) => Err(SpeError::Closed(self.number())),
            Err(_) => Err(SpeError::Running(self.number())),
        }
    }

    /// Runs the program on a pinned thread until it stops. `arguments` are those of its `main`.
    ///
    /// # Errors
    /// [`SpeError::Running`], [`SpeError::Closed`], [`SpeError::NoProgram`], [`SpeError::Thread`].
    pub fn run(
        self: &Arc<Self>,
        entry: EntryPoint,
        arguments: impl Into<Arguments>,
    ) -> Result<RunStop, SpeError> {
        let arguments = arguments.into();
        self.state.set_caller(stuck::own_thread());
        self.hold(|runner| {
            // SAFETY: held, and borrowed only for this call.
            let is_fresh = unsafe { &mut *runner }.prepare(&self.state, entry, arguments)?;
            let stop = match self.simulated() {
                Some(seat) => seat.run(Arc::<Self>::clone(self), is_fresh),
                None => pool::resume(self.seat, Arc::<Self>::clone(self))?,
            };
            // SAFETY: as above; the pool's thread has released it.
            Ok(RunStop { stop, at: unsafe { &*runner }.stopped_at() })
        })
    }

    /// Whether it has been closed.
    pub fn is_closed(&self) -> bool {
        self.hold.load(Ordering::Acquire) == CLOSED
    }

    /// Closes the context: it then has no events, and cannot load or run a program.
    ///
    /// # Errors
    /// [`SpeError::Running`], [`SpeError::Closed`] if it was closed before.
    pub fn close(&self) -> Result<(), SpeError> {
        self.leave_free(CLOSED)
    }

    /// Ends a closed context on its machine, after its transfers.
    pub fn finish(&self) {
        self.state.changed();
        if let Some(seat) = &self.simulated {
            seat.destroy();
        }
    }
}

impl Resumable for SpeContext {
    unsafe fn resume(&self) -> StopReason {
        // SAFETY: the caller's promise.
        match unsafe { &mut *self.runner.get() }.resume() {
            Pause::Stop(stop) => stop,
            Pause::Call(_) => StopReason::Defect,
        }
    }

    unsafe fn resume_simulated(&self, session: *mut CellBeSession, turn: ProgramTurn) -> Turned {
        // SAFETY: the caller's promise.
        unsafe { (*self.runner.get()).resume_simulated(self.store(), session, turn) }
    }
}

impl RegisterAccess for SpeContext {
    fn write_register(&self, offset: usize, value: u32) -> bool {
        match offset {
            problem::SIGNAL_1 => self.send_signal(0, value),
            problem::SIGNAL_2 => self.send_signal(1, value),
            // On a simulated Cell, a store to a full mailbox is lost.
            problem::IN_MBOX if self.simulated.is_some() => _ = self.try_send(value),
            problem::IN_MBOX => {
                self.state.mailboxes().overwrite(value);
                self.state.changed();
            }
            // A transfer is complete when its command returns or its tag is collected.
            problem::MULTISOURCE_SYNC => {}
            proxy::COMMAND => {
                let transfer = self.proxy.transfer(value);
                self.proxy.note(transfer.is_some_and(|transfer| self.proxy(transfer).is_ok()));
            }
            _ => return self.proxy.write(offset, value),
        }
        true
    }

    fn read_register(&self, offset: usize) -> Option<u32> {
        match offset {
            problem::OUT_MBOX => Some(self.try_receive(Mailbox::Out).unwrap_or(0)),
            problem::MBOX_STATUS if self.simulated.is_some() => self
                .simulated()
                .and_then(|seat| u32::try_from(seat.count(MailboxCount::Status)).ok()),
            problem::MBOX_STATUS => {
                let out = self.messages(Mailbox::Out);
                let interrupting = self.messages(Mailbox::OutInterrupting);
                let status = interrupting << 16 | self.room() << 8 | out;
                u32::try_from(status).ok()
            }
            proxy::COMMAND => Some(self.proxy.status()),
            proxy::QUEUE => Some(proxy::EMPTY_QUEUE),
            proxy::TAG_STATUS => {
                self.await_proxies(self.proxy.query_mask(), TagCondition::All).ok()
            }
            problem::STATUS => Some(u32::from(self.is_running())),
            problem::MULTISOURCE_SYNC => Some(0),
            // Reading a signal register leaves its value.
            problem::SIGNAL_1 => Some(self.state.signal(0).value()),
            problem::SIGNAL_2 => Some(self.state.signal(1).value()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_context_cannot_close_and_closed_cannot_run() {
        let context = SpeContext::new(ContextOptions::default()).unwrap();
        let held = context.hold(|_| {
            assert!(context.is_running());
            let closed = context.close();
            assert!(matches!(closed, Err(SpeError::Running(_))), "{closed:?}");
            Ok(())
        });
        held.unwrap();
        assert!(!context.is_running() && !context.is_closed());
        context.close().unwrap();
        assert!(context.is_closed() && !context.is_running());
        let ran = context.run(EntryPoint::Start, [0; 3]);
        assert!(matches!(ran, Err(SpeError::Closed(_))), "{ran:?}");
        assert!(matches!(context.close(), Err(SpeError::Closed(_))));
    }
}
