//! Atomics: reserve a line, change it, store it if nobody else did (getllar, putllc).

use crate::cell::line::{Line, Node, Purpose};
use crate::cell::memory::LINE_BYTES;
use crate::cell::request::Request;
use crate::cell::world::{Event, World};
use seatmap_port::channels::{Atomic, Ea};

/// What an SPE's atomic unit is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// Getting the line.
    Reserving,
    /// Storing it.
    Committing,
}

/// An SPE's atomic unit.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtomicUnit {
    pub phase: Phase,
}

/// A line that atomics work on: which caches hold it, which of these holds it alone, and who has it reserved.
#[derive(Clone, Debug)]
pub struct Lock {
    key: (u8, u32),
    holders: u32,
    alone: Option<u16>,
    reserved: u32,
}

impl World {
    /// A task's atomic begins, or begins again.
    pub fn reserve(&mut self, spe: u16, at: Ea) {
        let now = self.now();
        self.spes[spe as usize].atomic.phase = Phase::Reserving;
        let bit = 1 << spe;
        let lock = self.lock(at);
        if lock.holders & bit != 0 {
            lock.reserved |= bit;
            return self.wheel.at(now + self.timing.atomic_half, Event::Half(spe));
        }
        let own = self.spes[spe as usize].node;
        self.send(spe, at, Purpose::Reserve, self.node_of(at), own);
    }

    /// A reservation takes its place in the order of commands: whoever stores later breaks it. Where the line comes from:
    /// the cache that holds it changed, else memory.
    pub fn ordered(&mut self, line: u32) -> Node {
        let Line { spe, ea, .. } = self.lines.get(line);
        let bit = 1 << spe;
        let lock = self.lock(ea);
        let alone = lock.alone.take();
        lock.holders |= bit;
        lock.reserved |= bit;
        let source = alone.map_or(self.node_of(ea), |holder| self.spes[holder as usize].node);
        self.lines.set_source(line, source);
        source
    }

    /// The line is there.
    pub fn reserved(&mut self, spe: u16) {
        if let Some(at) = self.word_of(spe) {
            self.store(spe, at);
        }
    }

    /// Half of an atomic on a line at hand is done.
    pub fn half(&mut self, spe: u16) {
        let Some(at) = self.word_of(spe) else { return };
        match self.spes[spe as usize].atomic.phase {
            Phase::Reserving => self.store(spe, at),
            _ => self.finish(spe, at),
        }
    }

    fn store(&mut self, spe: u16, at: Ea) {
        let now = self.now();
        if self.lock(at).reserved & 1 << spe == 0 {
            // Lost before it came: the store fails at once.
            self.counters.lost_reservations += 1;
            return self.reserve(spe, at);
        }
        self.spes[spe as usize].atomic.phase = Phase::Committing;
        if self.lock(at).alone == Some(spe) {
            return self.wheel.at(now + self.timing.atomic_half, Event::Half(spe));
        }
        let own = self.spes[spe as usize].node;
        self.send(spe, at, Purpose::Commit, own, self.node_of(at));
    }

    /// The others have been asked to give the line up.
    pub fn commit(&mut self, line: u32) {
        let line = self.lines.remove(line);
        if let Some(at) = self.word_of(line.spe) {
            self.finish(line.spe, at);
        }
    }

    /// Stores if the reservation still stands, else begins again.
    fn finish(&mut self, spe: u16, at: Ea) {
        let bit = 1 << spe;
        let lock = self.lock(at);
        if lock.reserved & bit == 0 {
            self.counters.lost_reservations += 1;
            return self.reserve(spe, at);
        }
        let task = self.spes[spe as usize].task;
        let Some(Request::Atomic { operation, value, .. }) = self.tasks[task as usize].request else { return };
        if operation != Atomic::Read {
            *self.lock(at) = Lock { holders: bit, alone: Some(spe), reserved: 0, ..*self.lock(at) };
        }
        let before = self.memory.word(at);
        match operation {
            Atomic::Add => self.memory.set_word(at, before.wrapping_add(value)),
            Atomic::Set => self.memory.set_word(at, value),
            Atomic::Read => {}
        }
        self.spes[spe as usize].atomic.phase = Phase::Idle;
        self.tasks[task as usize].request = None;
        self.wake(task, 0, u64::from(before));
    }

    /// Somebody wrote to a line by other means.
    pub fn break_reservations(&mut self, ea: Ea) {
        if self.locks.is_empty() {
            return;
        }
        let key = key(ea);
        if let Some(lock) = self.locks.iter_mut().find(|lock| lock.key == key) {
            (lock.holders, lock.alone, lock.reserved) = (0, None, 0);
        }
    }

    fn send(&mut self, spe: u16, ea: Ea, purpose: Purpose, source: Node, target: Node) {
        let line = Line { purpose, spe, slot: 0, source, target, size: LINE_BYTES, ea, local: 0, to: 0, value: 0 };
        let at = self.lines.add(line);
        let begins = self.now() + self.timing.dma_start;
        self.wheel.at(begins, Event::Repeat(at));
    }

    fn word_of(&self, spe: u16) -> Option<Ea> {
        let task = self.spes[spe as usize].task;
        match self.tasks.get(task as usize)?.request {
            Some(Request::Atomic { at, .. }) => Some(at),
            _ => None,
        }
    }

    fn lock(&mut self, at: Ea) -> &mut Lock {
        let key = key(at);
        let found = self.locks.iter().position(|lock| lock.key == key).unwrap_or_else(|| {
            self.locks.push(Lock { key, holders: 0, alone: None, reserved: 0 });
            self.locks.len() - 1
        });
        &mut self.locks[found]
    }
}

fn key(ea: Ea) -> (u8, u32) {
    let module = if let Ea::Memory { module, .. } = ea { module } else { u8::MAX };
    (module, ea.offset() / LINE_BYTES)
}
