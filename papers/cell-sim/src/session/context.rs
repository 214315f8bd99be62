//! The state of an SPE's channels. It belongs to the program and moves with it from SPE to SPE.

use super::call::{Outbound, ProgramCommand, TagCondition};
use crate::channels::{Ea, SignalNumber};
use crate::mailbox::{INBOUND_ENTRIES, InboundMailbox, OutboundMailbox};
use crate::memory::LINE_BYTES;

const ENTRIES: usize = 64;

/// Events that an SPU can wait for (Cell Broadband Engine Architecture).
pub mod spu_event {
    #![expect(missing_docs, reason = "the architecture's own names")]
    pub const TAG_STATUS: u32 = 0x1;
    pub const LIST_STALL: u32 = 0x2;
    pub const IN_MBOX: u32 = 0x10;
    pub const DECREMENTER: u32 = 0x20;
    pub const OUT_INTR_MBOX: u32 = 0x40;
    pub const OUT_MBOX: u32 = 0x80;
    pub const SIGNAL_2: u32 = 0x100;
    pub const SIGNAL_1: u32 = 0x200;
    pub const LOCK_LINE: u32 = 0x400;
    pub const MULTISOURCE_SYNC: u32 = 0x1000;
}

/// Events of a context that a PPE thread can wait for (libspe2's numbers).
pub mod ppe_event {
    #![expect(missing_docs, reason = "the interface's own names")]
    pub const OUT_INTR_MBOX: u32 = 0x1;
    pub const IN_MBOX: u32 = 0x2;
    pub const TAG_GROUP: u32 = 0x4;
    pub const STOPPED: u32 = 0x8;
}

/// Offsets of the readable registers: the outbound mailbox, and the status of all mailboxes.
pub const REGISTER_OFFSETS: [u32; 2] = [0x4004, 0x4014];

#[derive(Clone, Copy, Debug)]
pub struct ReservedLine {
    pub at: Ea,
    pub line: [u64; LINE_BYTES as usize / 8],
}

#[derive(Clone, Copy, Debug)]
pub struct SpinningProgram {
    /// Arrivals in the store when the program began to spin.
    pub seen: u64,
    /// Arrivals at which it looks again.
    pub until: u64,
    pub number: u64,
}

#[derive(Clone, Debug)]
pub struct ChannelState {
    pub number: u32,
    pub inbound: InboundMailbox,
    pub outbound: OutboundMailbox,
    pub interrupting: OutboundMailbox,
    pub signals: [Option<u32>; 2],
    pub gathers: [bool; 2],
    pub events: u32,
    pub event_mask: u32,
    pub tag_mask: u32,
    pub tag_update: Option<(TagCondition, u32)>,
    /// The unread status of the last met update.
    pub tag_status: Option<u32>,
    pub atomic_status: Option<u32>,
    pub atomic: Option<ProgramCommand>,
    pub reserved: Option<ReservedLine>,
    /// Tags of stalled lists, not yet reported.
    pub stalled: u32,
    /// Entries of stalled lists, not yet acknowledged.
    pub stalled_entries: Vec<u8>,
    /// The last value written to the decrementer, and the write's tick.
    pub decrementer: (u32, u64),
    /// Whether its event was reported since the last write.
    pub has_decremented: bool,
    /// Counts waits for the decrementer, to recognise timers of earlier waits.
    pub timer: u32,
    /// Unread tags of proxy commands.
    pub proxy_tags: u32,
    pub commands: [Option<ProgramCommand>; ENTRIES],
    pub traced: [Option<u64>; ENTRIES],
    /// The first command whose address could not be read or written.
    pub fault: Option<ProgramCommand>,
    pub proxy_fault: Option<ProgramCommand>,
    /// The preferred SPE, and the preferred chip if that SPE is taken.
    pub wish: (Option<u16>, Option<u8>),
    pub seat: Option<u16>,
    pub runner: Option<u16>,
    /// Arrivals of bytes in its local store.
    pub arrivals: u64,
    pub spinning: Option<SpinningProgram>,
    /// Arrivals after which a spinning program last looked again.
    pub patience: u64,
    /// Unread ends of its program.
    pub ends: u32,
}

impl ChannelState {
    pub fn new(
        number: u32,
        gathers: [bool; 2],
        wish: (Option<u16>, Option<u8>),
        tick: u64,
    ) -> Self {
        ChannelState {
            number,
            inbound: InboundMailbox::default(),
            outbound: OutboundMailbox::default(),
            interrupting: OutboundMailbox::default(),
            signals: [None; 2],
            gathers,
            events: 0,
            event_mask: 0,
            tag_mask: 0,
            tag_update: None,
            tag_status: None,
            atomic_status: None,
            atomic: None,
            reserved: None,
            stalled: 0,
            stalled_entries: Vec::new(),
            decrementer: (0, tick),
            // The decrementer gives no event before the program writes it.
            has_decremented: true,
            timer: 0,
            proxy_tags: 0,
            commands: [None; ENTRIES],
            traced: [None; ENTRIES],
            fault: None,
            proxy_fault: None,
            wish,
            seat: None,
            runner: None,
            arrivals: 0,
            spinning: None,
            patience: 0,
            ends: 0,
        }
    }

    /// Clears one run's state: that of the MFC channels.
    pub fn renew(&mut self, tick: u64) {
        (self.event_mask, self.tag_mask, self.tag_update, self.tag_status) = (0, 0, None, None);
        (self.atomic_status, self.reserved, self.stalled) = (None, None, 0);
        (self.decrementer, self.has_decremented, self.fault) = ((0, tick), true, None);
    }

    pub fn mailbox(&self, which: Outbound) -> &OutboundMailbox {
        match which {
            Outbound::Plain => &self.outbound,
            Outbound::Interrupting => &self.interrupting,
        }
    }

    pub fn mailbox_mut(&mut self, which: Outbound) -> &mut OutboundMailbox {
        match which {
            Outbound::Plain => &mut self.outbound,
            Outbound::Interrupting => &mut self.interrupting,
        }
    }

    pub fn signal(&mut self, register: SignalNumber, value: u32) {
        let at = index(register);
        let before = self.signals[at].filter(|_| self.gathers[at]).unwrap_or(0);
        self.signals[at] = Some(before | value);
    }

    pub fn take_signal(&mut self, register: SignalNumber) -> Option<u32> {
        self.signals[index(register)].take()
    }

    /// Reads a register at one of [`REGISTER_OFFSETS`]; reading the outbound mailbox removes its
    /// message.
    pub fn register(&mut self, offset: u32) -> u32 {
        match offset {
            0x4004 => self.outbound.read().unwrap_or(0),
            _ => self.mailbox_status(),
        }
    }

    pub fn mailbox_status(&self) -> u32 {
        let room = (INBOUND_ENTRIES - self.inbound.filled()) as u32;
        waiting(&self.interrupting) << 16 | room << 8 | waiting(&self.outbound)
    }

    /// The decrementer: counts down with the time base, through zero.
    pub fn decrementer(&self, tick: u64) -> u32 {
        self.decrementer.0.wrapping_sub(tick.wrapping_sub(self.decrementer.1) as u32)
    }

    /// The tick at which the decrementer becomes negative.
    pub fn negative_at(&self) -> u64 {
        self.decrementer.1 + u64::from(self.decrementer.0) + 1
    }

    /// Completes a pending tag-status update if its condition holds, with the mask of complete
    /// tags. Returns whether it did.
    pub fn meet_update(&mut self, pending: u32) -> bool {
        let Some((condition, mask)) = self.tag_update else { return false };
        let complete = mask & !pending;
        let is_met = match condition {
            TagCondition::Immediate => true,
            TagCondition::Any => complete != 0 || mask == 0,
            TagCondition::All => complete == mask,
        };
        if is_met {
            (self.tag_update, self.tag_status) = (None, Some(complete));
        }
        is_met
    }
}

fn waiting(mailbox: &OutboundMailbox) -> u32 {
    u32::from(!mailbox.has_room())
}

pub fn index(register: SignalNumber) -> usize {
    match register {
        SignalNumber::One => 0,
        SignalNumber::Two => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> ChannelState {
        ChannelState::new(0, [false, true], (None, None), 100)
    }

    #[test]
    fn signals_replace_or_gather_and_accept_zero() {
        let mut context = context();
        for register in [SignalNumber::One, SignalNumber::Two] {
            context.signal(register, 1);
            context.signal(register, 4);
        }
        assert_eq!(
            (context.take_signal(SignalNumber::One), context.take_signal(SignalNumber::Two)),
            (Some(4), Some(5))
        );
        context.signal(SignalNumber::One, 0);
        assert_eq!(
            (context.take_signal(SignalNumber::One), context.take_signal(SignalNumber::One)),
            (Some(0), None)
        );
    }

    #[test]
    fn decrementer_continues_below_zero() {
        let mut context = context();
        context.decrementer = (5, 100);
        assert_eq!((context.decrementer(103), context.negative_at()), (2, 106));
        assert_eq!(context.decrementer(106) as i32, -1);
    }

    #[test]
    fn tag_update_waits_for_any_or_all() {
        let mut context = context();
        let mut met = |condition, mask, pending| {
            context.tag_update = Some((condition, mask));
            let is_met = context.meet_update(pending);
            (is_met, context.tag_status.take())
        };
        assert_eq!(met(TagCondition::All, 6, 4), (false, None));
        assert_eq!(met(TagCondition::All, 6, 8), (true, Some(6)));
        assert_eq!(met(TagCondition::Any, 6, 4), (true, Some(2)));
        assert_eq!(met(TagCondition::Any, 6, 7), (false, None));
        assert_eq!(met(TagCondition::Immediate, 6, 7), (true, Some(0)));
    }
}
