//! The memory flow controller (MFC) of an SPE: a queue that cuts commands into lines.

use crate::channels::{Ea, Element, TransferOrder};
use crate::event::{CellBeEvent, EventOutbox};
use crate::memory::LINE_BYTES;
use crate::parameters::CellBeTiming;
use crate::transaction::MappedRegister;
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

mod programs;

/// Tags of commands: 32 of the SPU, then 32 of the PPE's proxy commands.
const TAGS: usize = 64;
pub const PROXY_TAGS: u8 = 32;
/// Entries of the queue of proxy commands (Cell Broadband Engine Architecture).
const PROXY_ENTRIES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MfcOperation {
    Get,
    Put,
    Message {
        register: MappedRegister,
        to: u16,
        value: u32,
    },
    /// No transfer: keeps later commands of all tags waiting until the earlier ones are complete.
    Barrier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MfcCommand {
    pub work: MfcOperation,
    pub local: u32,
    pub first: Element,
    pub tag: u8,
    pub order: TransferOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRequest {
    pub work: MfcOperation,
    pub entry: u8,
    pub local: u32,
    pub ea: Ea,
    pub size: u32,
}

/// Why an SPU that waited for its MFC can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    Room,
    Tags,
    /// The list in this entry stalled and needs an acknowledgement.
    Stalled(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpuWait {
    Nothing,
    Room,
    Tags(u32),
}

enum Choice {
    Cut(u8),
    Later(u64),
    Nothing,
}

#[derive(Clone, Debug)]
struct Entry {
    work: MfcOperation,
    tag: u8,
    order: TransferOrder,
    local: u32,
    ea: Ea,
    /// Unrequested bytes of the current element.
    left: u32,
    elements: Vec<Element>,
    /// Whether each element starts at a quadword of the local store, with a small element's offset
    /// within it, as in a program's list. Otherwise elements follow each other.
    is_aligned: bool,
    is_open: bool,
    outstanding: u32,
    from: u64,
}

#[derive(Clone, Debug)]
pub struct Mfc {
    spe: u16,
    /// Core cycles from enqueuing a command to its first line.
    start: u64,
    line_gap: u64,
    list_element: u64,
    most_lines: u32,
    entries: Vec<Entry>,
    age: Vec<u8>,
    free: Vec<u8>,
    lines: u32,
    commands_of_tag: [u16; TAGS],
    /// Tags with queued commands, one bit each.
    pending_tags: u64,
    proxies: usize,
    waits: SpuWait,
    /// When the next line is due; `u64::MAX` if a message must come first.
    next_issue: u64,
    commands: u64,
    full: u64,
}

impl Mfc {
    pub fn new(spe: u16, timing: &CellBeTiming) -> Self {
        let empty = Entry {
            work: MfcOperation::Get,
            tag: 0,
            order: TransferOrder::Free,
            local: 0,
            ea: Ea::Memory { module: 0, offset: 0 },
            left: 0,
            elements: Vec::new(),
            is_aligned: false,
            is_open: false,
            outstanding: 0,
            from: 0,
        };
        // The PPE's proxy queue of eight entries is separate from the SPU's queue.
        let entries = timing.mfc_queue as usize + PROXY_ENTRIES;
        let mut mfc = Mfc {
            spe,
            // The SPU writes the command through its channels before the MFC starts it.
            start: timing.channel + timing.dma_start,
            line_gap: timing.line_gap,
            list_element: timing.list_element,
            most_lines: timing.lines_in_flight as u32,
            entries: vec![empty; entries],
            age: Vec::with_capacity(entries),
            free: Vec::with_capacity(entries),
            lines: 0,
            commands_of_tag: [0; TAGS],
            pending_tags: 0,
            proxies: 0,
            waits: SpuWait::Nothing,
            next_issue: u64::MAX,
            commands: 0,
            full: 0,
        };
        mfc.reset();
        mfc
    }

    pub fn reset(&mut self) {
        self.age.clear();
        self.free.clear();
        // Entries are taken from the end: the lowest number first.
        self.free.extend((0..self.entries.len() as u8).rev());
        (self.lines, self.commands_of_tag, self.pending_tags, self.proxies) = (0, [0; TAGS], 0, 0);
        (self.waits, self.next_issue) = (SpuWait::Nothing, u64::MAX);
        (self.commands, self.full) = (0, 0);
    }

    pub fn commands(&self) -> u64 {
        self.commands
    }

    pub fn full(&self) -> u64 {
        self.full
    }

    /// If there is no room, the SPU waits and is [woken](Self::complete_line).
    pub fn finds_room(&mut self) -> bool {
        let has_room = self.room() > 0;
        if !has_room {
            self.full += 1;
            self.waits = SpuWait::Room;
        }
        has_room
    }

    pub fn room(&self) -> usize {
        self.free.len() - self.proxy_room()
    }

    pub fn proxy_room(&self) -> usize {
        PROXY_ENTRIES - self.proxies
    }

    /// Tags with incomplete commands, one bit each.
    pub fn pending_tags(&self) -> u64 {
        self.pending_tags
    }

    /// If a command of these tags is incomplete, the SPU waits and is [woken](Self::complete_line).
    pub fn finds_complete(&mut self, tags: u32) -> bool {
        let are_complete = self.pending_tags & u64::from(tags) == 0;
        if !are_complete {
            self.waits = SpuWait::Tags(tags);
        }
        are_complete
    }

    /// Enqueues a command; the caller has checked that there is [room](Self::finds_room). `rest`
    /// holds a list's further elements. Returns the entry.
    pub fn enqueue(&mut self, command: MfcCommand, rest: &[Element], out: &mut EventOutbox) -> u8 {
        let MfcCommand { work, local, first, tag, order } = command;
        let now = out.now();
        invariant!(
            usize::from(tag) < TAGS && first.size > 0,
            at_cycle(self.name(), now),
            "it cannot take {command:?}"
        );
        let entry = self.take_entry(now, &command);
        self.age.push(entry);
        self.proxies += usize::from(tag >= PROXY_TAGS);
        self.commands_of_tag[tag as usize] += 1;
        self.pending_tags |= 1 << tag;
        self.commands += 1;
        let queued = &mut self.entries[entry as usize];
        queued.elements.clear();
        // In reverse order, so that the next element is popped from the end.
        queued.elements.extend(rest.iter().rev());
        (queued.work, queued.tag, queued.order) = (work, tag, order);
        (queued.local, queued.ea, queued.left) = (local, first.ea, first.size);
        (queued.outstanding, queued.from) = (0, now + self.start);
        (queued.is_aligned, queued.is_open) = (false, false);
        self.issue_at(now + self.start, out);
        entry
    }

    fn take_entry(&mut self, now: u64, command: &MfcCommand) -> u8 {
        let room = if command.tag >= PROXY_TAGS { self.proxy_room() } else { self.room() };
        match self.free.pop() {
            Some(entry) if room > 0 => entry,
            _ => {
                broken(at_cycle(self.name(), now), format_args!("no entry is free for {command:?}"))
            }
        }
    }

    /// Cuts the next line off the oldest command that may continue now. When the request is on the
    /// bus, the caller calls [`issue_next`](Self::issue_next).
    pub fn issue(&mut self, out: &mut EventOutbox) -> Option<LineRequest> {
        let now = out.now();
        // A later message with an earlier time replaced this one.
        if self.next_issue != now {
            return None;
        }
        self.next_issue = u64::MAX;
        match self.choose(now) {
            Choice::Cut(entry) => Some(self.cut(entry, now)),
            Choice::Later(time) => {
                self.issue_at(time, out);
                None
            }
            Choice::Nothing => None,
        }
    }

    pub fn issue_next(&mut self, out: &mut EventOutbox) {
        self.issue_at(out.now() + self.line_gap, out);
    }

    pub fn issue_now(&mut self, out: &mut EventOutbox) {
        self.issue_at(out.now(), out);
    }

    fn issue_at(&mut self, time: u64, out: &mut EventOutbox) {
        if time < self.next_issue {
            self.next_issue = time;
            out.send(time, CellBeEvent::IssueLine(self.spe));
        }
    }

    fn choose(&self, now: u64) -> Choice {
        if self.lines >= self.most_lines {
            return Choice::Nothing;
        }
        for (at, entry) in self.age.iter().enumerate() {
            let command = &self.entries[*entry as usize];
            // No command behind a barrier starts. A barrier is never the oldest command
            // (`pass_barrier`).
            if command.work == MfcOperation::Barrier {
                break;
            }
            if command.left == 0 || self.is_held_back(at) {
                continue;
            }
            // Commands start in order, so later commands need no check.
            return if command.from > now {
                Choice::Later(command.from)
            } else {
                Choice::Cut(*entry)
            };
        }
        Choice::Nothing
    }

    /// Whether earlier commands of the same tag delay this one: it has a fence or barrier, or one
    /// of them has a barrier.
    fn is_held_back(&self, at: usize) -> bool {
        let command = &self.entries[self.age[at] as usize];
        let is_ordered = command.order != TransferOrder::Free;
        let mut earlier = self.age[..at].iter().map(|entry| &self.entries[*entry as usize]);
        earlier.any(|other| {
            other.tag == command.tag && (is_ordered || other.order == TransferOrder::Barrier)
        })
    }

    fn cut(&mut self, entry: u8, now: u64) -> LineRequest {
        let command = &mut self.entries[entry as usize];
        // A bus transfer never crosses a line, so an unaligned command starts with part of a line.
        let size = command.left.min(LINE_BYTES - command.ea.offset() % LINE_BYTES);
        let request =
            LineRequest { work: command.work, entry, local: command.local, ea: command.ea, size };
        command.local += size;
        command.ea = command.ea.further(size);
        command.left -= size;
        command.outstanding += 1;
        command.from = now + self.line_gap;
        if command.left == 0
            && let Some(next) = command.elements.pop()
        {
            command.begin(next);
            // Fetching the element overlaps with issuing the line, so the longer time counts.
            command.from = now + self.line_gap.max(self.list_element);
        }
        self.lines += 1;
        request
    }

    /// Completes a line of a command. Returns a reason if the SPU can continue.
    pub fn complete_line(&mut self, now: u64, entry: u8) -> Option<Wake> {
        let command = &mut self.entries[entry as usize];
        let is_due = self.lines > 0 && command.outstanding > 0;
        invariant!(
            is_due,
            at_cycle(self.name(), now),
            "a line of entry {entry} ends that was not under way"
        );
        self.lines -= 1;
        command.outstanding -= 1;
        if command.outstanding > 0 || command.left > 0 {
            return None;
        }
        // A list with a stall bit keeps its entry until the program acknowledges the stall.
        if command.is_open {
            return Some(Wake::Stalled(entry));
        }
        self.complete_command(now, entry);
        self.wake()
    }

    fn complete_command(&mut self, now: u64, entry: u8) {
        let before = self.age.len();
        self.age.retain(|other| *other != entry);
        self.free.push(entry);
        let tag = self.entries[entry as usize].tag as usize;
        let counts = self.commands_of_tag[tag];
        let is_whole =
            self.age.len() + 1 == before && self.age.len() + self.free.len() == self.entries.len();
        invariant!(
            is_whole && counts > 0,
            at_cycle(self.name(), now),
            "the command of entry {entry}, tag {tag}, was not queued"
        );
        self.commands_of_tag[tag] -= 1;
        self.proxies -= usize::from(tag >= usize::from(PROXY_TAGS));
        if counts == 1 {
            self.pending_tags &= !(1 << tag);
        }
        self.pass_barrier(now);
    }

    fn wake(&mut self) -> Option<Wake> {
        let wake = match self.waits {
            SpuWait::Room => Wake::Room,
            SpuWait::Tags(tags) if self.pending_tags & u64::from(tags) == 0 => Wake::Tags,
            _ => return None,
        };
        self.waits = SpuWait::Nothing;
        Some(wake)
    }

    fn name(&self) -> String {
        format!("the MFC of SPE {}", self.spe)
    }
}

#[cfg(test)]
mod tests;
