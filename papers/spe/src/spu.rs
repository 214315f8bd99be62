//! The state of an SPU that only its own program changes.

use crate::atomic::Reservation;
use crate::list::List;
use crate::mailbox::MailboxCounts;
use crate::notify::Polls;
use crate::simulated::spu::SimulatedSpu;
use crate::state::SpeState;
use crate::stop::{Pause, ProgramFault, StopReason};
use crate::time_base;
use corosensei::Yielder;

/// An SPU's channels, unfinished lists, and program's exit.
#[derive(Debug)]
pub struct SpuState {
    /// The state that its SPE shares with others; one context owns both.
    pub spe: *const SpeState,
    /// The program's means to pause; null while it does not run.
    pub yielder: *const Yielder<(), Pause>,
    /// A tag-status update's tags.
    pub tag_mask: u32,
    /// An unread update's status.
    pub tag_status: Option<u32>,
    /// The status of an unread atomic command.
    pub atomic_status: Option<u32>,
    /// The last getllar's reservation.
    pub reservation: Option<Reservation>,
    /// Stalled lists, including those not yet in [`SpuState::stalled`].
    pub lists: Vec<List>,
    /// Unreported tags of stalled lists.
    pub stalled: u32,
    /// The enabled events.
    pub event_mask: u32,
    /// Its polls of empty channels.
    pub polls: Polls,
    /// Unacknowledged events of the SPU itself, for which no other thread waits.
    pub own_events: u32,
    /// The mailbox counts at the last acknowledgement of their events.
    pub acknowledged: MailboxCounts,
    /// The decrementer's last written value, and the tick of that write.
    pub decrementer: (u32, u64),
    /// Whether the decrementer's event was reported since then.
    pub has_decremented: bool,
    /// The next command's parameters: local address, high, low, size, tag.
    pub command: [u32; 5],
    /// The saved return address of interrupts, unused.
    pub saved_return: u32,
    /// The local-store address that a stopped run reports.
    pub stopped_at: u32,
    /// The fault about to stop its program.
    pub fault: Option<ProgramFault>,
    /// Its side of the simulated Cell.
    pub simulated: SimulatedSpu,
}

impl SpuState {
    /// An SPU's initial state.
    pub fn new(spe: *const SpeState) -> Self {
        SpuState {
            spe,
            yielder: std::ptr::null(),
            tag_mask: 0,
            tag_status: None,
            atomic_status: None,
            reservation: None,
            lists: Vec::new(),
            stalled: 0,
            event_mask: 0,
            polls: Polls::default(),
            own_events: 0,
            acknowledged: MailboxCounts::default(),
            decrementer: (0, time_base::host_ticks()),
            has_decremented: true,
            command: [0; 5],
            saved_return: 0,
            stopped_at: 0,
            fault: None,
            simulated: SimulatedSpu::default(),
        }
    }

    /// Its SPE's shared state.
    #[inline]
    pub fn spe(&self) -> &SpeState {
        // SAFETY: one context owns both, and is alive while anything can call this.
        unsafe { &*self.spe }
    }

    /// Stops the program; returns when the context runs again.
    pub fn stop(&mut self, stop: StopReason) {
        // SAFETY: set while the program runs on its coroutine, and only the program calls this.
        if let Some(yielder) = unsafe { self.yielder.as_ref() } {
            yielder.suspend(Pause::Stop(stop));
        }
    }

    /// Stops the program for good.
    pub fn fail(&mut self, stop: StopReason) -> ! {
        loop {
            self.stop(stop.clone());
        }
    }

    /// The decrementer's value, which counts down with the time base through zero.
    pub fn decrementer(&self) -> u32 {
        let elapsed = time_base::host_ticks().wrapping_sub(self.decrementer.1);
        // The counter wraps, as in hardware.
        self.decrementer.0.wrapping_sub(elapsed as u32)
    }

    /// Ticks until the decrementer becomes negative; 0 if it is.
    pub fn until_negative(&self) -> u64 {
        let elapsed = time_base::host_ticks().wrapping_sub(self.decrementer.1);
        (u64::from(self.decrementer.0) + 1).saturating_sub(elapsed)
    }

    /// Tags without an unfinished list.
    #[inline]
    pub fn complete_tags(&self) -> u32 {
        !self.lists.iter().fold(0, |tags, list| tags | 1 << list.tag)
    }
}
