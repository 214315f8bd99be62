//! Messages between components, each delivered at its time.

use crate::transaction::MappedRegister;
use seatmap_data::invariant;
use seatmap_sim::moment::at_cycle;
use seatmap_sim::wheel::Wheel;

/// A message to a component. SPEs, tasks, chips and transactions are identified by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellBeEvent {
    /// To a task: its call has ended.
    Resume(u16),
    /// To a task: try your call again.
    Retry(u16),
    /// To an SPE's MFC: issue the next line.
    IssueLine(u16),
    /// To the command network: send a transaction's command, or send it again.
    Command(u32),
    /// To the command network: take the commands whose turn it is.
    CommandTurn,
    /// To a transaction's source: the combined response to its command has arrived.
    Response(u32),
    /// To a memory channel, counted over all chips: serve the next line.
    MemoryTurn(u16),
    /// To a data arbiter: a transaction's data is at its source.
    DataReady(u32),
    /// To a chip's data arbiter: start the transfers that can start.
    Arbitrate(u8),
    /// To a transfer's target on the ring: its last byte has arrived.
    LeftRing(u32),
    /// To the other chip: a transaction's data has crossed the link.
    CrossedLink(u32),
    /// To the requester: a transaction is complete.
    Delivered(u32),
    /// To a mapped register of the SPE of task `to`: the PPE's store.
    RegisterWrite { to: u16, register: MappedRegister, value: u32 },
    /// To an SPE's atomic unit: its cache has done its half of an atomic.
    AtomicHalf(u16),
    /// To a task of a program: the time until which it waits has come.
    Timer { task: u16, number: u32 },
}

/// The queue into which components put their messages, and the clock that they read.
#[derive(Clone, Debug, Default)]
pub struct EventOutbox {
    wheel: Wheel<CellBeEvent>,
}

impl EventOutbox {
    /// The time in core cycles: that of the message delivered last.
    #[inline]
    pub fn now(&self) -> u64 {
        self.wheel.now()
    }

    /// Sends a message that arrives at the given time; messages of one cycle arrive in the order in
    /// which they were sent.
    #[inline]
    pub fn send(&mut self, time: u64, event: CellBeEvent) {
        invariant!(
            time >= self.now(),
            at_cycle("the event queue", self.now()),
            "{event:?} is sent into the past, to {time}"
        );
        self.wheel.at(time, event);
    }

    /// The next message and its time.
    #[inline]
    pub fn deliver(&mut self) -> Option<(u64, CellBeEvent)> {
        self.wheel.pop()
    }

    /// The number of messages sent.
    pub fn sent(&self) -> u64 {
        self.wheel.scheduled()
    }

    /// Drops all messages and starts at time 0.
    pub fn clear(&mut self) {
        self.wheel.clear();
    }
}

#[cfg(test)]
impl EventOutbox {
    /// Every message that is under way, in order.
    pub fn drain(&mut self) -> Vec<(u64, CellBeEvent)> {
        std::iter::from_fn(|| self.deliver()).collect()
    }

    /// Moves the clock to a time before which no message is under way.
    pub fn advance(&mut self, time: u64) {
        self.send(time, CellBeEvent::Resume(u16::MAX));
        assert_eq!(self.deliver(), Some((time, CellBeEvent::Resume(u16::MAX))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_small() {
        assert!(size_of::<CellBeEvent>() <= 8, "the event queue copies them");
    }

    #[test]
    #[should_panic(
        expected = "the event queue at core cycle 5: Arbitrate(0) is sent into the past, to 4"
    )]
    fn nothing_is_sent_into_the_past() {
        let mut out = EventOutbox::default();
        out.advance(5);
        out.send(4, CellBeEvent::Arbitrate(0));
    }
}
