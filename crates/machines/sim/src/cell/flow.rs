//! How a line gets from its command to its end.
//!
//! command -> snoop -> (memory) -> ring -> (link to the other chip -> its ring) -> written

use crate::cell::line::{Line, Node, Purpose, Register};
use crate::cell::mfc::{Piece, Task, Wish};
use crate::cell::world::{Event, MAILBOX, Seat, World};
use seatmap_port::channels::Ea;

impl World {
    /// An MFC asks for its next line.
    pub fn issue(&mut self, spe: u16) {
        let now = self.now();
        let mfc = &mut self.spes[spe as usize].mfc;
        if mfc.look_at != now {
            return;
        }
        mfc.look_at = u64::MAX;
        match mfc.wish(now, &self.timing) {
            Wish::Nothing => {}
            Wish::Later(time) => self.issue_at(spe, time),
            Wish::Line(piece) => {
                let line = self.line(spe, piece);
                let at = self.lines.add(line);
                self.command(at);
                self.issue_at(spe, now + self.timing.line_gap);
            }
        }
    }

    /// Has an MFC looked at then, unless it is sooner.
    pub fn issue_at(&mut self, spe: u16, time: u64) {
        let mfc = &mut self.spes[spe as usize].mfc;
        if time < mfc.look_at {
            mfc.look_at = time;
            self.wheel.at(time, Event::Issue(spe));
        }
    }

    fn line(&self, spe: u16, piece: Piece) -> Line {
        let own = self.spes[spe as usize].node;
        let (purpose, other, to, value) = match piece.task {
            Task::Get => (Purpose::Get, self.node_of(piece.ea), 0, 0),
            Task::Put => (Purpose::Put, self.node_of(piece.ea), 0, 0),
            Task::Message { register, to, value } => (Purpose::Message(register), self.node_of_task(to), to, value),
        };
        let (source, target) = if purpose == Purpose::Get { (other, own) } else { (own, other) };
        Line {
            purpose,
            spe,
            slot: piece.slot,
            source,
            target,
            size: piece.size,
            ea: piece.ea,
            local: piece.local,
            to,
            value,
        }
    }

    pub fn node_of(&self, ea: Ea) -> Node {
        match ea {
            Ea::Memory { module, .. } => self.chips[module as usize].memory,
            Ea::Local { rank, .. } => self.node_of_task(rank),
        }
    }

    fn node_of_task(&self, task: u16) -> Node {
        match self.tasks[task as usize].seat {
            Seat::Spe(spe) => self.spes[spe as usize].node,
            Seat::Ppe(chip) => self.chips[chip as usize].bif,
        }
    }

    /// Sends a line's command: to its own chip's network, or to both chips' where memory or the other chip is meant.
    pub fn command(&mut self, at: u32) {
        let now = self.now();
        let line = self.lines.get(at);
        let other = if line.purpose == Purpose::Get { line.source } else { line.target };
        let own = self.spes[line.spe as usize].node.chip;
        let is_global = self.chips.len() > 1 && (other.chip != own || matches!(line.ea, Ea::Memory { .. }));
        let start = self.command_slot(own, is_global).max(now);
        let mut phase = self.timing.snoop;
        if is_global {
            // The command and the reflected command cross, then the snoops' and the combined response.
            phase += 2 * self.timing.bif_latency;
            for way in 0..2 {
                self.occupy_bif(way, 2 * self.timing.bif_packet);
            }
        }
        let response = self.after_same_line(&line, start, phase);
        self.counters.commands += 1;
        self.counters.command_wait_cycles += start - now;
        self.wheel.at(response, Event::Snooped(at));
    }

    fn command_slot(&mut self, chip: u8, is_global: bool) -> u64 {
        let now = self.now();
        let gap = self.timing.command_gap;
        let mut start = self.chips[chip as usize].command_free.max(now);
        if is_global {
            start = self.chips.iter().map(|chip| chip.command_free).max().unwrap_or(0).max(start);
            self.chips.iter_mut().for_each(|chip| chip.command_free = start + gap);
        } else {
            self.chips[chip as usize].command_free = start + gap;
        }
        start
    }

    /// When a command gets its response. One to a line whose earlier command has had none yet is refused and sent again
    /// until that has: the address concentrators compare addresses (the PMU's PAAM events).
    fn after_same_line(&mut self, line: &Line, start: u64, phase: u64) -> u64 {
        let store = match line.ea {
            // Registers of one SPE are lines of their own.
            Ea::Local { rank, .. } if matches!(line.purpose, Purpose::Message(_)) => 0x2_0000 + u64::from(rank),
            Ea::Local { rank, .. } => 0x1_0000 + u64::from(rank),
            Ea::Memory { module, .. } => u64::from(module),
        };
        let key = store << 32 | u64::from(line.ea.offset() / super::memory::LINE_BYTES);
        // Fibonacci hashing (Knuth, volume 3, section 6.4).
        let at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % self.recent.len();
        let (known, free) = self.recent[at];
        let begin = if known == key { start.max(free) } else { start };
        self.counters.same_line_commands += u64::from(begin > start);
        self.counters.same_line_wait_cycles += begin - start;
        self.recent[at] = (key, begin + phase);
        begin + phase
    }

    pub fn snooped(&mut self, at: u32) {
        let now = self.now();
        let line = self.lines.get(at);
        match line.purpose {
            Purpose::Commit => self.commit(at),
            Purpose::Get | Purpose::Reserve => {
                let source = if line.purpose == Purpose::Reserve { self.ordered(at) } else { line.source };
                let chip = source.chip as usize;
                if source != self.chips[chip].memory {
                    return self.ready(at);
                }
                if self.chips[chip].mic.has_room(now, &self.timing) {
                    let there = self.chips[chip].mic.read(now, &self.timing);
                    self.wheel.at(there, Event::Ready(at));
                } else {
                    self.wheel.at(now + self.timing.mic_retry, Event::Repeat(at));
                }
            }
            Purpose::Put | Purpose::Message(_) => self.ready(at),
        }
    }

    /// Data is where its next way on a ring begins.
    pub fn ready(&mut self, at: u32) {
        let line = self.lines.get(at);
        self.enter(at, line.source, line.target);
    }

    fn enter(&mut self, at: u32, from: Node, target: Node) {
        let now = self.now();
        let chip = from.chip as usize;
        let to = if target.chip == from.chip { target } else { self.chips[chip].bif };
        if to == from {
            // Nothing between: the target is the link's own place.
            self.wheel.at(now, Event::Arrived(at));
        } else if self.chips[chip].rings.request(now, at, from.place as usize, to.place as usize) {
            self.look_at(from.chip, now);
        }
    }

    pub fn arrived(&mut self, at: u32) {
        let line = self.lines.get(at);
        let has_crossed = line.source.chip == line.target.chip;
        if has_crossed {
            return self.at_target(at, &line);
        }
        let way = line.source.chip as usize % 2;
        let leaves = self.occupy_bif(way, u64::from(line.size) + self.timing.bif_packet);
        self.wheel.at(leaves + self.timing.bif_latency, Event::Crossed(at));
    }

    /// Takes so many bytes of one direction between the chips; when they have left.
    fn occupy_bif(&mut self, way: usize, bytes: u64) -> u64 {
        let time = self.timing.bif(bytes);
        self.bif_free[way] = self.bif_free[way].max(self.now()) + time;
        self.counters.bif_bytes[way] += bytes;
        self.counters.bif_busy_cycles[way] += time;
        self.bif_free[way]
    }

    pub fn crossed(&mut self, at: u32) {
        let line = self.lines.get(at);
        let entry = self.chips[line.target.chip as usize].bif;
        self.lines.set_source(at, entry);
        self.enter(at, entry, line.target);
    }

    fn at_target(&mut self, at: u32, line: &Line) {
        let now = self.now();
        let chip = line.target.chip as usize;
        match line.purpose {
            Purpose::Put if line.target == self.chips[chip].memory => {
                let done = self.chips[chip].mic.write(now, &self.timing);
                self.wheel.at(done, Event::Ended(at));
            }
            Purpose::Message(register) => {
                let is_far = self.spes[line.spe as usize].node.chip != line.target.chip;
                let signal = self.timing.signal + if is_far { self.timing.signal_far } else { 0 };
                let extra = if register == Register::Mailbox { 0 } else { signal };
                self.wheel.at(now + self.timing.register + extra, Event::Ended(at));
            }
            _ => self.ended(at),
        }
    }

    /// A line is there: its bytes are written, and its command knows.
    pub fn ended(&mut self, at: u32) {
        let line = self.lines.remove(at);
        let own = Ea::Local { rank: self.spes[line.spe as usize].task, offset: line.local };
        match line.purpose {
            Purpose::Get => self.memory.copy(line.ea, own, line.size),
            Purpose::Put => {
                self.memory.copy(own, line.ea, line.size);
                self.break_reservations(line.ea);
            }
            Purpose::Message(register) => {
                let register = if let Register::Signal(register) = register { register } else { MAILBOX };
                self.told(line.to, register, line.value);
            }
            Purpose::Reserve => return self.reserved(line.spe),
            Purpose::Commit => return,
        }
        self.command_moved_on(line.spe, line.slot);
    }

    fn command_moved_on(&mut self, spe: u16, slot: u8) {
        let now = self.now();
        let one = &mut self.spes[spe as usize];
        let task = one.task;
        if one.mfc.ended(slot).is_some() {
            self.transfer_ended(spe, task);
        }
        self.issue_at(spe, now);
    }
}
