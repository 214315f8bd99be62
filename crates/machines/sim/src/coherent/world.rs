//! The simulated machine: dispatches events and messages, and runs the tasks.

use crate::coherent::buffers::Buffers;
use crate::coherent::cores::Core;
use crate::coherent::directory::Directory;
use crate::coherent::layout::CoherentLayout;
use crate::coherent::memory::SharedMemory;
use crate::coherent::message::Message;
use crate::coherent::outbox::{CoherentEvent, Notice, Outbox};
use crate::coherent::request::LineCall;
use crate::engine::{self, SimulatedMachine};
use crate::moment::at_tick;
use seatmap_data::invariant::broken;
use std::fmt::Display;
use std::sync::Arc;

pub enum LineHomes {
    Directory(Directory),
    Buffers(Buffers),
}

#[derive(Clone, Copy)]
struct Seat {
    core: u16,
    thread: u16,
}

/// A machine in virtual time, which owns the components and the time.
pub struct CoherentMachine {
    pub layout: Arc<CoherentLayout>,
    pub outbox: Outbox,
    pub homes: LineHomes,
    pub cores: Vec<Core>,
    memory: SharedMemory,
    seats: Vec<Seat>,
}

impl CoherentMachine {
    pub fn new(layout: Arc<CoherentLayout>) -> Self {
        let homes = if layout.is_uncached {
            LineHomes::Buffers(Buffers::new(Arc::clone(&layout)))
        } else {
            LineHomes::Directory(Directory::new(Arc::clone(&layout)))
        };
        CoherentMachine {
            outbox: Outbox::new(Arc::clone(&layout)),
            homes,
            cores: (0..layout.caches() as u16)
                .map(|id| Core::new(Arc::clone(&layout), id))
                .collect(),
            memory: SharedMemory::default(),
            seats: Vec::new(),
            layout,
        }
    }

    /// Resets the machine, with tasks on these cold caches. Memory keeps its contents, and grows to
    /// this many lines.
    pub fn reset(&mut self, caches: &[u16], lines: u32, seed: u64) {
        self.memory.grow(lines);
        match &mut self.homes {
            LineHomes::Directory(directory) => directory.reset(lines as usize),
            LineHomes::Buffers(buffers) => buffers.reset(lines as usize),
        }
        self.cores.iter_mut().for_each(Core::reset);
        self.seats.clear();
        for (task, core) in caches.iter().enumerate() {
            let thread = self.cores[*core as usize].seat(task as u16, lines as usize);
            self.seats.push(Seat { core: *core, thread });
        }
        self.outbox.reset();
        for (start, task) in engine::starts(caches.len(), self.layout.timing.start_skew, seed) {
            self.outbox.schedule(CoherentEvent::Resume(task), start);
        }
    }

    pub fn clear_memory(&mut self) {
        self.memory.clear();
    }

    /// Dispatches an event. Returns the task that continues because of it.
    #[inline]
    fn dispatch(&mut self, event: CoherentEvent) -> Option<u16> {
        match event {
            CoherentEvent::Resume(task) => return Some(task),
            CoherentEvent::Copied(task, run) => return self.has_copied(task, run).then_some(task),
            CoherentEvent::Hop(packet) => {
                if !self.outbox.hop(packet) {
                    return None;
                }
                self.receive(packet);
            }
            CoherentEvent::Look(task) => {
                let Seat { core, thread } = self.seats[task as usize];
                self.cores[core as usize].look(thread, &mut self.memory, &mut self.outbox);
            }
            CoherentEvent::Answer(core, snoop) => {
                self.cores[core as usize].answer(snoop, &mut self.memory, &mut self.outbox);
            }
            CoherentEvent::LookedUp(packet) => self.looked_up(packet),
            CoherentEvent::MemoryRead(line) => self.memory_read(line),
        }
        self.deliver();
        None
    }

    fn looked_up(&mut self, packet: u32) {
        match &mut self.homes {
            LineHomes::Directory(directory) => directory.looked_up(packet, &mut self.outbox),
            LineHomes::Buffers(buffers) => {
                buffers.looked_up(packet, &mut self.memory, &mut self.outbox)
            }
        }
    }

    fn memory_read(&mut self, line: u32) {
        match &mut self.homes {
            LineHomes::Directory(directory) => directory.memory_read(line, &mut self.outbox),
            LineHomes::Buffers(_) => self.misdirected(&format_args!("memory read line {line}")),
        }
    }

    #[cold]
    fn misdirected(&self, what: &dyn Display) {
        broken(
            at_tick("world", self.outbox.now()),
            format_args!("{what}: message buffers have no use for it"),
        )
    }

    fn has_copied(&mut self, task: u16, run: u16) -> bool {
        let Seat { core, thread } = self.seats[task as usize];
        self.cores[core as usize].has_copied(thread, run, &mut self.memory, self.outbox.now())
    }

    #[inline]
    fn copies_on(&mut self, task: u16) -> bool {
        let Seat { core, thread } = self.seats[task as usize];
        let copies =
            self.cores[core as usize].copies_on(thread, &mut self.memory, &mut self.outbox);
        self.deliver();
        copies
    }

    /// Delivers a component's actions for other components in order: all immediate consequences of
    /// one message come before the next message.
    #[inline]
    fn deliver(&mut self) {
        if self.outbox.has_more() {
            self.deliver_all();
        }
    }

    fn deliver_all(&mut self) {
        // Notices first, because a message delivered below relies on them.
        while let Some(notice) = self.outbox.notices.pop() {
            self.notify(notice);
        }
        let own = self.outbox.begin_pending();
        for at in own.clone() {
            if let Some(packet) = self.outbox.carry_out(at) {
                // A message sent by a handler that arrives at once comes before the rest.
                self.receive(packet);
                self.deliver();
            }
        }
        self.outbox.end_pending(own);
    }

    fn notify(&mut self, notice: Notice) {
        let now = self.outbox.now();
        match (notice, &mut self.homes) {
            (Notice::Coming { cache, thread }, _) => {
                self.cores[cache as usize].cache.expect(thread, now)
            }
            (Notice::Gone { cache, line }, LineHomes::Directory(directory)) => {
                directory.gone(cache, line, now)
            }
            (Notice::Gone { .. }, LineHomes::Buffers(_)) => {
                self.misdirected(&format_args!("{notice:?}"))
            }
        }
    }

    fn receive(&mut self, packet: u32) {
        let out = &mut self.outbox;
        let &Message { kind, cache, .. } = out.message(packet);
        match &mut self.homes {
            _ if !kind.is_to_home() => {
                self.cores[cache as usize].handle(packet, &mut self.memory, out)
            }
            LineHomes::Directory(directory) => directory.handle(packet, out),
            LineHomes::Buffers(buffers) => buffers.handle(packet, out),
        }
    }

    /// Stops the run unless every message was received and every request answered.
    pub fn assert_idle(&self) {
        let now = self.outbox.now();
        self.outbox.assert_idle();
        match &self.homes {
            LineHomes::Directory(directory) => directory.assert_idle(now),
            LineHomes::Buffers(buffers) => buffers.assert_idle(now),
        }
        self.cores.iter().for_each(|core| core.assert_idle(now));
    }
}

impl SimulatedMachine for CoherentMachine {
    type Call = LineCall;

    fn next_task(&mut self) -> Option<(u64, u16)> {
        loop {
            let (time, event) = self.outbox.next_event()?;
            if let Some(task) = self.dispatch(event)
                && !self.copies_on(task)
            {
                return Some((time, task));
            }
        }
    }

    #[inline]
    fn answer(&self, task: u16) -> u64 {
        let Seat { core, thread } = self.seats[task as usize];
        self.cores[core as usize].threads[thread as usize].answer
    }

    #[inline]
    fn call(&mut self, task: u16, request: LineCall) {
        let Seat { core, thread } = self.seats[task as usize];
        self.cores[core as usize].call(thread, request, &mut self.memory, &mut self.outbox);
        self.deliver();
    }

    fn now(&self) -> u64 {
        self.outbox.now()
    }

    fn events(&self) -> u64 {
        self.outbox.events()
    }

    fn doing(&self, task: u16) -> Option<String> {
        let Seat { core, thread } = self.seats[task as usize];
        self.cores[core as usize].threads[thread as usize]
            .request
            .map(|request| request.to_string())
    }
}

#[cfg(test)]
mod tests;
