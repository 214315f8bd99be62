//! Messages between components, delivered at their times.

use crate::transaction::MappedRegister;
use seatmap_data::invariant;
use seatmap_sim::moment::at_cycle;
use seatmap_sim::wheel::Wheel;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellBeEvent {
    /// To a task: its call has ended.
    Resume(u16),
    /// To a task: retry the call.
    Retry(u16),
    /// To an SPE's MFC: issue the next line.
    IssueLine(u16),
    /// To the command network: send a transaction's command, or send it again.
    Command(u32),
    /// To the command network: take the next commands in turn.
    CommandTurn,
    /// To a transaction's source: the combined response has arrived.
    Response(u32),
    /// To a memory channel, numbered over all chips: serve the next line.
    MemoryTurn(u16),
    /// To a data arbiter: a transaction's data is at its source.
    DataReady(u32),
    /// To a chip's data arbiter: start transfers.
    Arbitrate(u8),
    /// To a transfer's target on the ring: the last byte has arrived.
    LeftRing(u32),
    /// To the other chip: a transaction's data has crossed the link.
    CrossedLink(u32),
    /// To the requester: a transaction is complete.
    Delivered(u32),
    /// To a mapped register of the SPE of task `to`: a store by the PPE.
    RegisterWrite { to: u16, register: MappedRegister, value: u32 },
    /// To an SPE's atomic unit: its cache has finished its half of an atomic.
    AtomicHalf(u16),
    /// To a program's task: its wait has timed out.
    Timer { task: u16, number: u32 },
}

#[derive(Clone, Debug, Default)]
pub struct EventOutbox {
    wheel: Wheel<CellBeEvent>,
}

impl EventOutbox {
    /// The time in core cycles: that of the last delivered message.
    #[inline]
    pub fn now(&self) -> u64 {
        self.wheel.now()
    }

    /// Schedules a message. Messages of one cycle arrive in their order of sending.
    #[inline]
    pub fn send(&mut self, time: u64, event: CellBeEvent) {
        invariant!(
            time >= self.now(),
            at_cycle("the event queue", self.now()),
            "{event:?} is sent into the past, to {time}"
        );
        self.wheel.at(time, event);
    }

    #[inline]
    pub fn deliver(&mut self) -> Option<(u64, CellBeEvent)> {
        self.wheel.pop()
    }

    pub fn sent(&self) -> u64 {
        self.wheel.scheduled()
    }

    pub fn clear(&mut self) {
        self.wheel.clear();
    }
}

#[cfg(test)]
impl EventOutbox {
    pub fn drain(&mut self) -> Vec<(u64, CellBeEvent)> {
        std::iter::from_fn(|| self.deliver()).collect()
    }

    /// Moves the clock to a time before all pending messages.
    pub fn advance(&mut self, time: u64) {
        self.send(time, CellBeEvent::Resume(u16::MAX));
        assert_eq!(self.deliver(), Some((time, CellBeEvent::Resume(u16::MAX))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_fit_in_eight_bytes() {
        assert!(size_of::<CellBeEvent>() <= 8, "the event queue copies them");
    }

    #[test]
    #[should_panic(
        expected = "the event queue at core cycle 5: Arbitrate(0) is sent into the past, to 4"
    )]
    fn event_in_the_past_panics() {
        let mut out = EventOutbox::default();
        out.advance(5);
        out.send(4, CellBeEvent::Arbitrate(0));
    }
}
