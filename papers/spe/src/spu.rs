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

/// An SPU's channels that hold something, its unfinished lists and its way out of the program.
#[derive(Debug)]
pub struct SpuState {
    /// The state that its SPE shares with others. It outlives this state: one context owns both.
    pub spe: *const SpeState,
    /// How its program gives the thread back; null while it does not run.
    pub yielder: *const Yielder<(), Pause>,
    /// Tags that a tag-status update looks at.
    pub tag_mask: u32,
    /// Whether an update was asked for and not read: its status.
    pub tag_status: Option<u32>,
    /// The status of the last atomic command that was not read.
    pub atomic_status: Option<u32>,
    /// The reservation of the last getllar.
    pub reservation: Option<Reservation>,
    /// Lists that wait for their acknowledgement, with the tags in [`SpuState::stalled`] that were
    /// not yet reported.
    pub lists: Vec<List>,
    /// Tags of lists that stalled and were not reported.
    pub stalled: u32,
    /// Events that the program wants to know of.
    pub event_mask: u32,
    /// Its polls of empty channels.
    pub polls: Polls,
    /// Events of the SPU's own making that were not acknowledged: nobody else waits for them.
    pub own_events: u32,
    /// The count of what had happened in the mailboxes when the program last acknowledged their
    /// events.
    pub acknowledged: MailboxCounts,
    /// The value that the program gave the decrementer, and the tick when it did.
    pub decrementer: (u32, u64),
    /// Whether the decrementer's event was reported since it was set.
    pub has_decremented: bool,
    /// The parameters of a command that is being put together: local address, high, low, size, tag.
    pub command: [u32; 5],
    /// The saved return address of interrupts, which nothing uses.
    pub saved_return: u32,
    /// The local-store address that a stopped run reports.
    pub stopped_at: u32,
    /// The fault at which its program is about to stop.
    pub fault: Option<ProgramFault>,
    /// Its side of the simulated Cell.
    pub simulated: SimulatedSpu,
}

impl SpuState {
    /// The state of an SPU that has done nothing yet.
    #[must_use]
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

    /// The state that its SPE shares with others.
    #[must_use]
    #[inline]
    pub fn spe(&self) -> &SpeState {
        // SAFETY: one context owns both, and is alive while anything can ask.
        unsafe { &*self.spe }
    }

    /// Stops the program, and returns if the context is run again.
    pub fn stop(&mut self, stop: StopReason) {
        // SAFETY: set while the program runs on its coroutine, and only the program comes here.
        if let Some(yielder) = unsafe { self.yielder.as_ref() } {
            yielder.suspend(Pause::Stop(stop));
        }
    }

    /// Stops the program for good: nothing resumes it.
    pub fn fail(&mut self, stop: StopReason) -> ! {
        loop {
            self.stop(stop.clone());
        }
    }

    /// The decrementer's value: it counts down with the time base, through zero.
    #[must_use]
    pub fn decrementer(&self) -> u32 {
        let elapsed = time_base::host_ticks().wrapping_sub(self.decrementer.1);
        // The counter wraps, as the hardware's does.
        self.decrementer.0.wrapping_sub(elapsed as u32)
    }

    /// Ticks until the decrementer becomes negative; none where it has.
    #[must_use]
    pub fn until_negative(&self) -> u64 {
        let elapsed = time_base::host_ticks().wrapping_sub(self.decrementer.1);
        (u64::from(self.decrementer.0) + 1).saturating_sub(elapsed)
    }

    /// Tags without an unfinished list.
    #[must_use]
    #[inline]
    pub fn complete_tags(&self) -> u32 {
        !self.lists.iter().fold(0, |tags, list| tags | 1 << list.tag)
    }
}
