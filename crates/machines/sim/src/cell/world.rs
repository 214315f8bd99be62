//! The machine's state, and what each event does to it.

use crate::cell::CellModel;
use crate::cell::atomic::AtomicUnit;
use crate::cell::counters::{ChipCounters, Counters};
use crate::cell::line::{Lines, Node};
use crate::cell::memory::Memory;
use crate::cell::messages::Registers;
use crate::cell::mfc::Mfc;
use crate::cell::mic::Mic;
use crate::cell::request::Request;
use crate::cell::ring::{Grant, Rings};
use crate::cell::timing::Timing;
use crate::trace::Trace;
use crate::wheel::Wheel;
use seatmap_port::channels::Shape;

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task goes on.
    Resume(u16),
    /// A task's request is tried again.
    Again(u16),
    /// An MFC is looked at.
    Issue(u16),
    /// A line's command gets its combined response.
    Snooped(u32),
    /// A line's command is sent again.
    Repeat(u32),
    /// A line's data waits for the rings where it is.
    Ready(u32),
    /// A chip's arbiter looks.
    Look(u8),
    /// A line's data left the rings.
    Arrived(u32),
    /// It left the link between the chips.
    Crossed(u32),
    /// It is written, or a register holds it.
    Ended(u32),
    /// A message of the PPE's reaches its register.
    Told { to: u16, register: u8, value: u32 },
    /// Half of an atomic is done.
    Half(u16),
}

/// A register number in [`Event::Told`] that means the mailbox.
pub const MAILBOX: u8 = u8::MAX;

/// One SPE, and who sits on it.
#[derive(Clone, Debug)]
pub struct Spe {
    pub node: Node,
    pub task: u16,
    pub mfc: Mfc,
    pub registers: Registers,
    pub atomic: AtomicUnit,
}

/// Who a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    Spe(u16),
    Ppe(u8),
}

/// One task: where it sits, what it asked for last, and what it is told when it goes on.
#[derive(Clone, Debug)]
pub struct TaskState {
    pub seat: Seat,
    pub request: Option<Request>,
    pub answer: u64,
    /// For those that come in steps.
    pub step: u8,
    /// When its last call began, and its name, where there is a trace.
    pub called: Option<(&'static str, u64)>,
}

/// A chip.
#[derive(Clone, Debug)]
pub struct Chip {
    pub rings: Rings,
    pub mic: Mic,
    /// When its command network is free.
    pub command_free: u64,
    pub memory: Node,
    pub bif: Node,
}

/// Lines to which commands went lately: the key, and when the last had its response.
const RECENT: usize = 1024;

/// Everything.
#[derive(Clone, Debug)]
pub struct World {
    pub timing: Timing,
    pub wheel: Wheel<Event>,
    pub memory: Memory,
    pub spes: Vec<Spe>,
    pub chips: Vec<Chip>,
    pub tasks: Vec<TaskState>,
    pub lines: Lines,
    pub locks: Vec<crate::cell::atomic::Lock>,
    /// When each direction between the chips is free.
    pub bif_free: [u64; 2],
    pub recent: Vec<(u64, u64)>,
    pub counters: Counters,
    pub signals_or: bool,
    pub trace: Option<Trace>,
    granted: Vec<Grant>,
}

impl World {
    pub fn new(model: &CellModel) -> Self {
        let timing = Timing::new(model);
        let place = |name: &str| model.ring.iter().position(|element| element == name).unwrap_or(0) as u8;
        let chip = |chip: u8| Chip {
            rings: Rings::new(place("MIC") as usize),
            mic: Mic::default(),
            command_free: 0,
            memory: Node { chip, place: place("MIC") },
            bif: Node { chip, place: place("BIF") },
        };
        let spe = |chip: u8, number: u8| Spe {
            node: Node { chip, place: place(&format!("SPE{number}")) },
            task: u16::MAX,
            mfc: Mfc::new(&timing),
            registers: Registers::default(),
            atomic: AtomicUnit::default(),
        };
        let chips = 0..model.chips as u8;
        World {
            spes: chips
                .clone()
                .flat_map(|chip| model.spes.iter().map(move |number| (chip, *number)))
                .map(|(c, n)| spe(c, n))
                .collect(),
            chips: chips.map(chip).collect(),
            wheel: Wheel::default(),
            memory: Memory::default(),
            tasks: Vec::new(),
            lines: Lines::default(),
            locks: Vec::new(),
            bif_free: [0; 2],
            recent: vec![(u64::MAX, 0); RECENT],
            counters: Counters::default(),
            signals_or: false,
            trace: None,
            granted: Vec::with_capacity(16),
            timing,
        }
    }

    /// Back to the beginning, with tasks on these seats.
    pub fn reset(&mut self, shape: &Shape, seats: &[Seat]) {
        self.wheel.clear();
        self.memory.reset(shape, self.chips.len());
        self.signals_or = shape.signals_or;
        self.tasks = seats
            .iter()
            .map(|seat| TaskState { seat: *seat, request: None, answer: 0, step: 0, called: None })
            .collect();
        for spe in &mut self.spes {
            spe.task = u16::MAX;
            spe.mfc.clear();
            spe.registers = Registers::default();
            spe.atomic = AtomicUnit::default();
        }
        for (task, seat) in seats.iter().enumerate() {
            if let Seat::Spe(spe) = seat {
                self.spes[*spe as usize].task = task as u16;
            }
        }
        for chip in &mut self.chips {
            chip.rings.clear();
            chip.mic = Mic::default();
            chip.command_free = 0;
        }
        self.lines.clear();
        self.locks.clear();
        self.bif_free = [0; 2];
        self.recent.fill((u64::MAX, 0));
        self.counters = Counters::default();
    }

    #[inline]
    pub fn now(&self) -> u64 {
        self.wheel.now()
    }

    /// A task goes on after so many cycles, and is told this.
    #[inline]
    pub fn wake(&mut self, task: u16, cycles: u64, answer: u64) {
        self.tasks[task as usize].answer = answer;
        let at = self.now() + cycles;
        self.wheel.at(at, Event::Resume(task));
    }

    /// A task goes on: its call has ended.
    pub fn went_on(&mut self, task: u16) {
        let now = self.now();
        if let (Some(trace), Some((name, began))) = (&mut self.trace, self.tasks[task as usize].called.take()) {
            trace.call(task, name, began, now);
        }
    }

    /// Everything but a task's going on.
    pub fn happen(&mut self, event: Event) {
        match event {
            Event::Resume(_) => {}
            Event::Again(task) => self.again(task),
            Event::Issue(spe) => self.issue(spe),
            Event::Snooped(line) => self.snooped(line),
            Event::Repeat(line) => self.command(line),
            Event::Ready(line) => self.ready(line),
            Event::Look(chip) => self.look(chip),
            Event::Arrived(line) => self.arrived(line),
            Event::Crossed(line) => self.crossed(line),
            Event::Ended(line) => self.ended(line),
            Event::Told { to, register, value } => self.told(to, register, value),
            Event::Half(spe) => self.half(spe),
        }
    }

    fn look(&mut self, chip: u8) {
        let now = self.now();
        let rings = &mut self.chips[chip as usize].rings;
        if rings.next_look != now {
            return;
        }
        rings.arbitrate(now, &self.timing, &mut self.granted);
        let next = rings.next_look;
        while let Some(grant) = self.granted.pop() {
            self.wheel.at(grant.arrives, Event::Arrived(grant.line));
            if let Some(trace) = &mut self.trace {
                let line = self.lines.get(grant.line);
                trace.ring(chip, grant.ring, now, grant.arrives, &line);
            }
        }
        if next != u64::MAX {
            self.wheel.at(next, Event::Look(chip));
        }
    }

    /// Tells a chip's arbiter to look at this time, if it would look later.
    pub fn look_at(&mut self, chip: u8, time: u64) {
        let time = time.next_multiple_of(self.timing.bus);
        let rings = &mut self.chips[chip as usize].rings;
        if time < rings.next_look {
            rings.next_look = time;
            self.wheel.at(time, Event::Look(chip));
        }
    }

    /// The counts so far.
    pub fn count(&self, model: &CellModel) -> Counters {
        let chips =
            self.chips.iter().map(|chip| ChipCounters::new(&chip.rings.counters, &chip.mic.counters, &model.ring));
        Counters { events: self.wheel.scheduled(), chips: chips.collect(), ..self.counters.clone() }
    }
}
