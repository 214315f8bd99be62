//! The channels of an SPU: numbered reads and writes of mailboxes, signals, events and commands.

use crate::mailbox::Mailbox;
use crate::spu::SpuState;
use crate::state::SpeState;
use crate::stop::StopReason;
use crate::stuck::WaitReason;
use crate::{command, time_base};
pub use seatmap_cell_sim::session::spu_event;
use std::time::{Duration, Instant};

/// The channels' numbers (Cell Broadband Engine Architecture).
pub mod number {
    #![expect(missing_docs, reason = "the architecture's own names")]
    pub const EVENT_STATUS: u32 = 0;
    pub const EVENT_MASK: u32 = 1;
    pub const EVENT_ACK: u32 = 2;
    pub const SIGNAL_1: u32 = 3;
    pub const SIGNAL_2: u32 = 4;
    pub const DECREMENTER_WRITE: u32 = 7;
    pub const DECREMENTER_READ: u32 = 8;
    pub const MULTISOURCE_SYNC: u32 = 9;
    pub const EVENT_MASK_READ: u32 = 11;
    pub const TAG_MASK_READ: u32 = 12;
    pub const MACHINE_STATUS: u32 = 13;
    pub const SRR0_WRITE: u32 = 14;
    pub const SRR0_READ: u32 = 15;
    pub const COMMAND_FIRST: u32 = 16;
    pub const COMMAND: u32 = 21;
    pub const TAG_MASK: u32 = 22;
    pub const TAG_UPDATE: u32 = 23;
    pub const TAG_STATUS: u32 = 24;
    pub const STALL_STATUS: u32 = 25;
    pub const STALL_ACK: u32 = 26;
    pub const ATOMIC_STATUS: u32 = 27;
    pub const OUT_MBOX: u32 = 28;
    pub const IN_MBOX: u32 = 29;
    pub const OUT_INTR_MBOX: u32 = 30;
}

/// Lost reservations ring no bell.
const LOOK_EVERY: Duration = Duration::from_micros(50);

/// Reads a channel, and waits as in hardware.
pub fn read(spu: &mut SpuState, channel: u32) -> u32 {
    let spe = spu.spe;
    // SAFETY: it outlives the SPU's own state.
    let spe = unsafe { &*spe };
    match channel {
        number::IN_MBOX => {
            let what = "a message, but no other thread is left to send one";
            or_alone(spu, spe.read_inbound(), what)
        }
        number::SIGNAL_1 | number::SIGNAL_2 => {
            let signal = spe.read_signal((channel - number::SIGNAL_1) as usize);
            or_alone(spu, signal, "a signal, but no other thread is left to send one")
        }
        number::TAG_STATUS => {
            take_or_block(spu, |spu| spu.tag_status.take(), "a tag status without a request")
        }
        number::ATOMIC_STATUS => {
            take_or_block(spu, |spu| spu.atomic_status.take(), "an atomic status without a command")
        }
        number::STALL_STATUS => take_or_block(spu, stalled, "a stalled list, but none is stalled"),
        number::EVENT_STATUS => wait_for_event(spu, spe),
        number::EVENT_MASK_READ => spu.event_mask,
        number::TAG_MASK_READ => spu.tag_mask,
        number::DECREMENTER_READ => spu.decrementer(),
        number::MACHINE_STATUS => 0,
        number::SRR0_READ => spu.saved_return,
        _ => spu.fail(StopReason::InvalidChannel(channel)),
    }
}

/// Writes a channel, and waits as in hardware.
pub fn write(spu: &mut SpuState, channel: u32, value: u32) {
    let spe = spu.spe;
    // SAFETY: it outlives the SPU's own state.
    let spe = unsafe { &*spe };
    match channel {
        number::OUT_MBOX => put(spu, spe, Mailbox::Out, value),
        number::OUT_INTR_MBOX => put(spu, spe, Mailbox::OutInterrupting, value),
        number::EVENT_MASK => spu.event_mask = value,
        number::EVENT_ACK => {
            acknowledge(spu, spe, value);
        }
        number::DECREMENTER_WRITE => {
            (spu.decrementer, spu.has_decremented) = ((value, time_base::host_ticks()), false)
        }
        number::MULTISOURCE_SYNC => spu.own_events |= spu_event::MULTISOURCE_SYNC,
        number::SRR0_WRITE => spu.saved_return = value,
        number::COMMAND_FIRST..number::COMMAND => {
            spu.command[(channel - number::COMMAND_FIRST) as usize] = value
        }
        number::COMMAND => {
            let [local, high, low, bytes, tag] = spu.command;
            command::command(spu, local, u64::from(high) << 32 | u64::from(low), bytes, tag, value);
        }
        number::TAG_MASK => spu.tag_mask = value,
        number::TAG_UPDATE => update_tags(spu, value),
        number::STALL_ACK => command::acknowledge_stall(spu, value),
        _ => spu.fail(StopReason::InvalidChannel(channel)),
    }
}

/// How often a channel can be accessed without a wait.
pub fn count(spu: &mut SpuState, channel: u32) -> u32 {
    let spe = spu.spe;
    // SAFETY: it outlives the SPU's own state.
    let spe = unsafe { &*spe };
    match channel {
        number::IN_MBOX => spu.polls.polled(spe.mailboxes().waiting(Mailbox::In)),
        number::OUT_MBOX => spu.polls.polled(spe.mailboxes().room(Mailbox::Out)),
        number::OUT_INTR_MBOX => spu.polls.polled(spe.mailboxes().room(Mailbox::OutInterrupting)),
        number::SIGNAL_1 => spu.polls.polled(u32::from(spe.signal(0).waits())),
        number::SIGNAL_2 => spu.polls.polled(u32::from(spe.signal(1).waits())),
        number::TAG_STATUS => u32::from(spu.tag_status.is_some()),
        number::ATOMIC_STATUS => u32::from(spu.atomic_status.is_some()),
        number::STALL_STATUS => u32::from(spu.stalled != 0),
        number::EVENT_STATUS => u32::from(pending(spu, spe) != 0),
        number::COMMAND => command::QUEUE_ENTRIES,
        31.. => spu.fail(StopReason::InvalidChannel(channel)),
        _ => 1,
    }
}

fn stalled(spu: &mut SpuState) -> Option<u32> {
    let tags = std::mem::take(&mut spu.stalled);
    (tags != 0).then_some(tags)
}

/// Takes a value that only the SPU itself can produce, without which its program waits forever and
/// is stopped.
fn take_or_block(
    spu: &mut SpuState,
    take: impl Fn(&mut SpuState) -> Option<u32>,
    what: &'static str,
) -> u32 {
    match take(spu) {
        Some(value) => value,
        None => spu.fail(StopReason::Deadlock(what)),
    }
}

/// Stops the program if no other thread could end its wait.
#[inline]
fn or_alone<T>(spu: &mut SpuState, given: Option<T>, what: &'static str) -> T {
    given.unwrap_or_else(|| spu.fail(StopReason::Deadlock(what)))
}

#[inline]
fn put(spu: &mut SpuState, spe: &SpeState, mailbox: Mailbox, value: u32) {
    let put = spe.put(mailbox, value);
    or_alone(spu, put, "room in a mailbox, but no other thread is left to read it");
}

/// Requests a tag status: 0 at once, 1 if any, 2 if all tags of the mask are complete.
fn update_tags(spu: &mut SpuState, condition: u32) {
    let complete = spu.complete_tags() & spu.tag_mask;
    let is_met = match condition {
        1 => complete != 0 || spu.tag_mask == 0,
        2 => complete == spu.tag_mask,
        _ => true,
    };
    // Acknowledging the stalled list can still fulfil the condition.
    spu.tag_status = is_met.then_some(complete);
    if is_met {
        spu.own_events |= spu_event::TAG_STATUS;
    }
}

fn pending(spu: &mut SpuState, spe: &SpeState) -> u32 {
    if !spu.has_decremented
        && spu.event_mask & spu_event::DECREMENTER != 0
        && spu.until_negative() == 0
    {
        spu.has_decremented = true;
        spu.own_events |= spu_event::DECREMENTER;
    }
    if spu.event_mask & spu_event::LOCK_LINE != 0
        && spu.reservation.take_if(|line| line.is_lost()).is_some()
    {
        spu.own_events |= spu_event::LOCK_LINE;
    }
    (spe.events() | spu.own_events | mailbox_events(spu, spe)) & spu.event_mask
}

fn mailbox_events(spu: &SpuState, spe: &SpeState) -> u32 {
    let now = spe.mailboxes().counts();
    let known = spu.acknowledged;
    event_if(now.sent != known.sent, spu_event::IN_MBOX)
        | event_if(now.out != known.out, spu_event::OUT_MBOX)
        | event_if(now.out_interrupting != known.out_interrupting, spu_event::OUT_INTR_MBOX)
}

fn event_if(happened: bool, event: u32) -> u32 {
    if happened { event } else { 0 }
}

fn acknowledge(spu: &mut SpuState, spe: &SpeState, events: u32) {
    spu.own_events &= !events;
    spe.acknowledge(events);
    let now = spe.mailboxes().counts();
    for (event, known, now) in [
        (spu_event::IN_MBOX, &mut spu.acknowledged.sent, now.sent),
        (spu_event::OUT_MBOX, &mut spu.acknowledged.out, now.out),
        (spu_event::OUT_INTR_MBOX, &mut spu.acknowledged.out_interrupting, now.out_interrupting),
    ] {
        if events & event != 0 {
            *known = now;
        }
    }
}

fn wait_for_event(spu: &mut SpuState, spe: &SpeState) -> u32 {
    loop {
        let deadline = next_look(spu);
        let look = || Some(pending(spu, spe)).filter(|events| *events != 0);
        let events = match deadline {
            Some(_) => spe.notify().wait_until(deadline, look),
            None => {
                let events = spe.wait(WaitReason::Event, look);
                Some(or_alone(spu, events, "an event, but no other thread is left to cause one"))
            }
        };
        if let Some(events) = events {
            return events;
        }
    }
}

fn next_look(spu: &SpuState) -> Option<Instant> {
    let timer = (!spu.has_decremented && spu.event_mask & spu_event::DECREMENTER != 0).then(|| {
        let left_ns = u128::from(spu.until_negative()) * 1_000_000_000
            / u128::from(time_base::TICKS_PER_SECOND)
            + 1;
        Duration::from_nanos(u64::try_from(left_ns).unwrap_or(u64::MAX))
    });
    let line = (spu.reservation.is_some() && spu.event_mask & spu_event::LOCK_LINE != 0)
        .then_some(LOOK_EVERY);
    timer.into_iter().chain(line).min().map(|wait| Instant::now() + wait)
}
