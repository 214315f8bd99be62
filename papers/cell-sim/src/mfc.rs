//! An SPE's memory flow controller (MFC): a queue of commands, which it cuts into lines.

use crate::channels::{Ea, Element, TransferOrder};
use crate::event::{CellBeEvent, EventOutbox};
use crate::memory::LINE_BYTES;
use crate::parameters::CellBeTiming;
use crate::transaction::MappedRegister;
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

mod programs;

/// Tags of commands: 32 of the SPU, and then 32 of the PPE's proxy commands.
const TAGS: usize = 64;
/// The first tag of proxy commands.
pub const PROXY_TAGS: u8 = 32;
/// Entries of the queue of proxy commands (Cell Broadband Engine Architecture).
const PROXY_ENTRIES: usize = 8;

/// The work of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MfcOperation {
    Get,
    Put,
    Message {
        register: MappedRegister,
        to: u16,
        value: u32,
    },
    /// Nothing: later commands of all tags wait until the earlier ones are complete.
    Barrier,
}

/// A command as the SPU writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MfcCommand {
    pub work: MfcOperation,
    pub local: u32,
    /// The whole of a transfer, or a list's first element.
    pub first: Element,
    pub tag: u8,
    pub order: TransferOrder,
}

/// A line that a command needs from the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRequest {
    pub work: MfcOperation,
    /// The entry of its command.
    pub entry: u8,
    pub local: u32,
    pub ea: Ea,
    pub size: u32,
}

/// Why an SPU that waited for its MFC can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The queue has room for its command.
    Room,
    /// The commands of its tags are complete.
    Tags,
    /// A list in this entry needs an acknowledgement to go on.
    Stalled(u8),
}

/// The thing that the SPU waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpuWait {
    Nothing,
    Room,
    Tags(u32),
}

/// The next step of an MFC.
enum Choice {
    /// Cut a line off the command in this entry.
    Cut(u8),
    /// Wait until this time.
    Later(u64),
    /// Wait until a line is complete or a command comes.
    Nothing,
}

/// A command in the queue.
#[derive(Clone, Debug)]
struct Entry {
    work: MfcOperation,
    tag: u8,
    order: TransferOrder,
    local: u32,
    ea: Ea,
    /// Bytes of the present element that have not been requested.
    left: u32,
    /// Further elements, the next one last.
    elements: Vec<Element>,
    /// Whether each element begins at a quadword of the local store, and a small one where it lies
    /// in its quadword of memory, as in a program's list. Otherwise elements follow each other.
    is_aligned: bool,
    /// Whether further elements are read after an acknowledgement.
    is_open: bool,
    /// Lines that have been requested and are not complete.
    outstanding: u32,
    /// The earliest time of the next line request.
    from: u64,
}

/// The memory flow controller of one SPE.
#[derive(Clone, Debug)]
pub struct Mfc {
    spe: u16,
    /// Core cycles from a command's enqueueing to its first line.
    start: u64,
    line_gap: u64,
    list_element: u64,
    most_lines: u32,
    entries: Vec<Entry>,
    /// Filled entries, oldest first.
    age: Vec<u8>,
    free: Vec<u8>,
    lines: u32,
    commands_of_tag: [u16; TAGS],
    /// Tags with commands in the queue, one bit each.
    pending_tags: u64,
    /// Entries that proxy commands hold.
    proxies: usize,
    waits: SpuWait,
    /// The time of the next line request; `u64::MAX` if it must wait for a message.
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
        // The PPE's eight entries (proxy queue) are beside those of the SPU, and neither takes from
        // the other.
        let entries = timing.mfc_queue as usize + PROXY_ENTRIES;
        let mut mfc = Mfc {
            spe,
            // The SPU writes the command over its channels before the MFC begins with it.
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

    /// Empties the queue and the counts.
    pub fn reset(&mut self) {
        self.age.clear();
        self.free.clear();
        // Entries are taken from the end, the lowest one first.
        self.free.extend((0..self.entries.len() as u8).rev());
        (self.lines, self.commands_of_tag, self.pending_tags, self.proxies) = (0, [0; TAGS], 0, 0);
        (self.waits, self.next_issue) = (SpuWait::Nothing, u64::MAX);
        (self.commands, self.full) = (0, 0);
    }

    /// Commands enqueued so far.
    pub fn commands(&self) -> u64 {
        self.commands
    }

    /// Times that the SPU found the queue full.
    pub fn full(&self) -> u64 {
        self.full
    }

    /// Whether the queue has room for a command. If not, the SPU waits and is
    /// [woken](Self::complete_line).
    pub fn finds_room(&mut self) -> bool {
        let has_room = self.room() > 0;
        if !has_room {
            self.full += 1;
            self.waits = SpuWait::Room;
        }
        has_room
    }

    /// Commands of the SPU that the queue has room for.
    pub fn room(&self) -> usize {
        self.free.len() - self.proxy_room()
    }

    /// Proxy commands that their queue has room for.
    pub fn proxy_room(&self) -> usize {
        PROXY_ENTRIES - self.proxies
    }

    /// Tags with commands that are not complete, one bit each.
    pub fn pending_tags(&self) -> u64 {
        self.pending_tags
    }

    /// Whether all commands of these tags are complete. If not, the SPU waits and is
    /// [woken](Self::complete_line).
    pub fn finds_complete(&mut self, tags: u32) -> bool {
        let are_complete = self.pending_tags & u64::from(tags) == 0;
        if !are_complete {
            self.waits = SpuWait::Tags(tags);
        }
        are_complete
    }

    /// Takes a command; the caller has found [room](Self::finds_room) for it. `rest` holds a list's
    /// further elements. Returns the command's entry.
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
        // The last element first, so that the next one is taken from the end.
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

    /// Cuts the next line off the oldest command that may continue, if there is one now. After the
    /// line's request is on the bus, the caller calls [`issue_next`](Self::issue_next).
    pub fn issue(&mut self, out: &mut EventOutbox) -> Option<LineRequest> {
        let now = out.now();
        // An earlier message has replaced this one.
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

    /// Issues the next line as soon as the bus takes one.
    pub fn issue_next(&mut self, out: &mut EventOutbox) {
        self.issue_at(out.now() + self.line_gap, out);
    }

    /// Issues a line now, if there is one to issue.
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
            // Nothing behind a barrier begins. It is never the oldest command itself
            // (`pass_barrier`).
            if command.work == MfcOperation::Barrier {
                break;
            }
            if command.left == 0 || self.is_held_back(at) {
                continue;
            }
            // Commands begin in order, so that later commands need no check.
            return if command.from > now {
                Choice::Later(command.from)
            } else {
                Choice::Cut(*entry)
            };
        }
        Choice::Nothing
    }

    /// Whether earlier commands of its tag keep this command from beginning: because of its own
    /// fence or barrier, or because of a barrier among them.
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
        // A bus transfer never crosses a line, so an unaligned command begins with a part of one.
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
            // Fetching the element overlaps with issuing the line: the longer of the two counts.
            command.from = now + self.line_gap.max(self.list_element);
        }
        self.lines += 1;
        request
    }

    /// Notes that a line of a command is complete. Returns a reason if the SPU can continue.
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
        // The command may have been the last one before a barrier.
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
