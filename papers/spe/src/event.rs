//! Events: one wait for the mailboxes, ends and transfers of several contexts.

use crate::context::SpeContext;
use crate::mailbox::Mailbox;
use crate::notify::Notify;
use crate::simulated::machine::simulated;
use crate::simulated::ppe::SimulatedContext;
use crate::simulated::request::Driver;
use crate::stuck::{WaitReason, Waiter};
use seatmap_cell_sim::session::WatchedEvents;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The SPU wrote its interrupting mailbox.
pub const OUT_INTR_MBOX: u32 = 0x1;
/// The SPU's inbound mailbox has room.
pub const IN_MBOX: u32 = 0x2;
/// Transfers of the PPE are complete.
pub const TAG_GROUP: u32 = 0x4;
/// The SPU stopped.
pub const STOPPED: u32 = 0x8;
/// All events.
pub const ALL: u32 = 0xf;

/// The registered events of contexts.
#[derive(Debug, Default)]
pub struct EventHandler {
    bell: Arc<Notify>,
    watched: Mutex<Vec<Watched>>,
}

/// The caller's data of an event: the context's address, and a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventTag {
    /// The address.
    pub address: usize,
    /// The value.
    pub data: u64,
}

#[derive(Clone, Debug)]
struct Watched {
    context: Arc<SpeContext>,
    event: u32,
    tag: EventTag,
}

/// An event that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened {
    /// The event's bit.
    pub event: u32,
    /// The caller's data.
    pub tag: EventTag,
}

impl EventHandler {
    /// Registers these events of a context; replaces the data of registered ones.
    pub fn register(&self, context: &Arc<SpeContext>, events: u32, tag: EventTag) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if !watched.iter().any(|one| Arc::ptr_eq(&one.context, context)) {
            context.state().watch(&self.bell);
        }
        watched.retain(|one| !(Arc::ptr_eq(&one.context, context) && one.event & events != 0));
        let bits = (0..4).map(|bit| 1 << bit).filter(|bit| events & bit != 0);
        watched.extend(bits.map(|event| Watched { context: Arc::clone(context), event, tag }));
    }

    /// Removes the registrations of these events.
    pub fn deregister(&self, context: &Arc<SpeContext>, events: u32) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|one| !(Arc::ptr_eq(&one.context, context) && one.event & events != 0));
    }

    /// Waits for up to `most` events; without a timeout, while another thread can cause one.
    pub fn wait(&self, most: usize, timeout: Option<Duration>) -> Vec<Happened> {
        if let Some(driver) = simulated() {
            return self.wait_simulated(driver, most, timeout);
        }
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let look = || Some(self.happened(most)).filter(|found| !found.is_empty());
        let found = match deadline {
            Some(_) => self.bell.wait_until(deadline, look),
            None => self.bell.wait_for_others((Waiter::Thread, WaitReason::Events), look),
        };
        found.unwrap_or_default()
    }

    fn wait_simulated(
        &self,
        driver: &Arc<Driver>,
        most: usize,
        timeout: Option<Duration>,
    ) -> Vec<Happened> {
        let until = timeout.map(|timeout| {
            SimulatedContext::cycle_in(
                driver,
                u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
            )
        });
        loop {
            let is_over = !SimulatedContext::await_events(driver, &self.watched_events(), until);
            let found = self.happened(most);
            // Another thread may have taken the message or the room first.
            if is_over || !found.is_empty() {
                return found;
            }
        }
    }

    fn living(&self) -> MutexGuard<'_, Vec<Watched>> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|one| !one.context.is_closed());
        watched
    }

    fn watched_events(&self) -> Vec<WatchedEvents> {
        let watched = self.living();
        watched
            .iter()
            .filter_map(|one| Some(one.context.simulated()?.watched_events(one.event)))
            .collect()
    }

    /// Reported registrations go behind the others, as in epoll(7), with which libspe2 waits.
    fn happened(&self, most: usize) -> Vec<Happened> {
        let mut watched = self.living();
        let mut room = most;
        let mut reported: Vec<Watched> = Vec::new();
        watched.retain(|one| {
            let is_reported = room > 0 && one.context.happened() & one.event != 0;
            if is_reported {
                room -= 1;
                reported.push(one.clone());
            }
            !is_reported
        });
        let happened = reported.iter().map(|one| Happened { event: one.event, tag: one.tag });
        let happened = happened.collect();
        watched.extend(reported);
        happened
    }
}

impl SpeContext {
    /// The events that have happened, as constants of [`event`](crate::event).
    pub fn happened(&self) -> u32 {
        if let Some(seat) = self.simulated() {
            return seat.happened();
        }
        event_if(self.state().mailboxes().waiting(Mailbox::OutInterrupting) > 0, OUT_INTR_MBOX)
            | event_if(self.state().mailboxes().room(Mailbox::In) > 0, IN_MBOX)
            | event_if(self.proxy_tags() != 0, TAG_GROUP)
            | event_if(self.ends_waiting() > 0, STOPPED)
    }
}

fn event_if(holds: bool, event: u32) -> u32 {
    if holds { event } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextOptions;

    #[test]
    fn only_registered_events_are_found() {
        let context = SpeContext::new(ContextOptions::default()).unwrap();
        let handler = EventHandler::default();
        let tag = EventTag { address: 64, data: 7 };
        handler.register(&context, OUT_INTR_MBOX, tag);
        assert!(handler.wait(8, Some(Duration::ZERO)).is_empty());
        assert!(context.state().put(Mailbox::OutInterrupting, 1).is_some());
        assert_eq!(handler.wait(8, None), [Happened { event: OUT_INTR_MBOX, tag }]);
        handler.deregister(&context, ALL);
        assert!(handler.wait(8, Some(Duration::ZERO)).is_empty());
    }

    #[test]
    fn contexts_with_events_are_reported_in_turn() {
        let handler = EventHandler::default();
        let contexts = [1, 2].map(|data| {
            let context = SpeContext::new(ContextOptions::default()).unwrap();
            handler.register(&context, IN_MBOX, EventTag { address: 0, data });
            context
        });
        let turns = [(); 4].map(|()| handler.wait(1, None)[0].tag.data);
        assert_eq!(turns, [1, 2, 1, 2]);
        drop(contexts);
    }

    #[test]
    fn closed_context_has_no_events() {
        let context = SpeContext::new(ContextOptions::default()).unwrap();
        let handler = EventHandler::default();
        handler.register(&context, ALL, EventTag::default());
        assert_eq!(handler.wait(8, None).len(), 1, "there is room in its mailbox");
        context.close().unwrap();
        assert!(handler.wait(8, Some(Duration::ZERO)).is_empty());
    }
}
