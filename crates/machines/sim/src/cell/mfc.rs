//! An SPE's memory flow controller: its queue of commands, cut into lines.

use crate::cell::line::Register;
use crate::cell::memory::LINE_BYTES;
use crate::cell::timing::Timing;
use seatmap_port::channels::{Ea, Element, Order};

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Get,
    Put,
    Message { register: Register, to: u16, value: u32 },
}

/// A command as an MFC is given it.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    pub task: Task,
    pub local: u32,
    /// The whole of a transfer, or a list's first element.
    pub first: Element,
    pub tag: u8,
    pub order: Order,
    /// When its first line may be asked for.
    pub from: u64,
}

/// A command in the queue.
#[derive(Clone, Debug)]
struct Command {
    task: Task,
    tag: u8,
    order: Order,
    local: u32,
    ea: Ea,
    /// Bytes of the present element that have not been asked for.
    left: u32,
    /// Further elements, the next one last.
    elements: Vec<Element>,
    /// Lines that have been asked for and are not there.
    outstanding: u32,
    /// When the next line may be asked for.
    from: u64,
}

/// A line to ask for.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub task: Task,
    pub slot: u8,
    pub local: u32,
    pub ea: Ea,
    pub size: u32,
}

/// What an MFC wants next.
#[derive(Clone, Copy, Debug)]
pub enum Wish {
    /// To ask for this line.
    Line(Piece),
    /// To be asked again then.
    Later(u64),
    /// Nothing until something ends.
    Nothing,
}

/// The controller's state.
#[derive(Clone, Debug)]
pub struct Mfc {
    slots: Vec<Command>,
    /// Filled slots, oldest first.
    age: Vec<u8>,
    free: Vec<u8>,
    in_flight: u32,
    commands_of_tag: [u16; 32],
    /// When it is to be looked at next; `u64::MAX` for not.
    pub look_at: u64,
}

impl Mfc {
    pub fn new(timing: &Timing) -> Self {
        let empty = Command {
            task: Task::Get,
            tag: 0,
            order: Order::Free,
            local: 0,
            ea: Ea::Memory { module: 0, offset: 0 },
            left: 0,
            elements: Vec::new(),
            outstanding: 0,
            from: 0,
        };
        let mut mfc = Mfc {
            slots: vec![empty; timing.mfc_queue],
            age: Vec::with_capacity(timing.mfc_queue),
            free: Vec::with_capacity(timing.mfc_queue),
            in_flight: 0,
            commands_of_tag: [0; 32],
            look_at: u64::MAX,
        };
        mfc.clear();
        mfc
    }

    pub fn clear(&mut self) {
        self.age.clear();
        self.free = (0..self.slots.len() as u8).rev().collect();
        (self.in_flight, self.commands_of_tag, self.look_at) = (0, [0; 32], u64::MAX);
    }

    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Whether commands of these tags are in the queue.
    pub fn holds(&self, tags: u32) -> bool {
        (0..32).any(|tag| tags >> tag & 1 == 1 && self.commands_of_tag[tag] > 0)
    }

    /// Takes a command; there must be room. `rest` are a list's further elements.
    pub fn enqueue(&mut self, given: Given, rest: &[Element]) {
        let Some(slot) = self.free.pop() else { return };
        let Given { task, local, first, tag, order, from } = given;
        self.age.push(slot);
        self.commands_of_tag[tag as usize % 32] += 1;
        let command = &mut self.slots[slot as usize];
        command.elements.clear();
        command.elements.extend(rest.iter().rev());
        (command.task, command.tag, command.order) = (task, tag % 32, order);
        (command.local, command.ea, command.left) = (local, first.ea, first.size);
        (command.outstanding, command.from) = (0, from);
    }

    /// The next line, of the oldest command that may go on.
    pub fn wish(&mut self, now: u64, timing: &Timing) -> Wish {
        if self.in_flight >= timing.lines_in_flight {
            return Wish::Nothing;
        }
        let mut later = u64::MAX;
        for at in 0..self.age.len() {
            let slot = self.age[at];
            let command = &self.slots[slot as usize];
            if command.left == 0 || self.is_held_back(at) {
                continue;
            }
            if command.from > now {
                // Commands begin in order, so that later ones need not be asked.
                later = later.min(command.from);
                break;
            }
            return Wish::Line(self.cut(slot, now, timing));
        }
        if later == u64::MAX { Wish::Nothing } else { Wish::Later(later) }
    }

    /// Whether earlier commands of its tag forbid this one to begin.
    fn is_held_back(&self, at: usize) -> bool {
        let command = &self.slots[self.age[at] as usize];
        let waits = command.order != Order::Free;
        let mut earlier = self.age[..at].iter().map(|slot| &self.slots[*slot as usize]);
        earlier.any(|other| other.tag == command.tag && (waits || other.order == Order::Barrier))
    }

    fn cut(&mut self, slot: u8, now: u64, timing: &Timing) -> Piece {
        let command = &mut self.slots[slot as usize];
        let size = command.left.min(LINE_BYTES - command.ea.offset() % LINE_BYTES);
        let piece = Piece { task: command.task, slot, local: command.local, ea: command.ea, size };
        command.local += size;
        command.ea = command.ea.further(size);
        command.left -= size;
        command.outstanding += 1;
        command.from = now + timing.line_gap;
        if command.left == 0
            && let Some(next) = command.elements.pop()
        {
            (command.ea, command.left) = (next.ea, next.size);
            command.from = now + timing.line_gap.max(timing.list_element);
        }
        self.in_flight += 1;
        piece
    }

    /// A line is there. The tag of its command, if that was its last.
    pub fn ended(&mut self, slot: u8) -> Option<u8> {
        self.in_flight -= 1;
        let command = &mut self.slots[slot as usize];
        command.outstanding -= 1;
        if command.outstanding > 0 || command.left > 0 {
            return None;
        }
        self.age.retain(|other| *other != slot);
        self.free.push(slot);
        let tag = self.slots[slot as usize].tag;
        self.commands_of_tag[tag as usize] -= 1;
        Some(tag)
    }
}
