//! Runs programs on a Cell model.

use crate::cell::CellModel;
use crate::cell::counters::Counters;
use crate::cell::port::{CellPort, Said};
use crate::cell::world::{Event, Seat, TaskState, World};
use crate::error::SimError;
use crate::trace::Trace;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use seatmap_port::channels::{Bed, DmaError, Program};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Bytes of a task's stack.
const STACK_BYTES: usize = 256 * 1024;
/// Events after which a run is given up, if nothing else is said: minutes of work.
const MOST_EVENTS: u64 = 20_000_000_000;

/// A Cell machine that runs programs, one after the other. PUs 0 to n - 1 are its SPEs, chip after chip; PU n is the first
/// chip's PPE, and n + 1 the second's.
pub struct CellBed {
    model: Arc<CellModel>,
    world: RefCell<World>,
    stacks: Vec<DefaultStack>,
    /// Events after which a run is given up.
    pub most_events: u64,
    /// Whether the next run is traced.
    pub traces: bool,
    counters: Counters,
    trace: Option<Trace>,
}

type Fiber = Coroutine<u64, Said, (), DefaultStack>;

impl CellBed {
    /// A machine as the model says.
    #[must_use]
    pub fn new(model: Arc<CellModel>) -> Self {
        CellBed {
            world: RefCell::new(World::new(&model)),
            model,
            stacks: Vec::new(),
            most_events: MOST_EVENTS,
            traces: false,
            counters: Counters::default(),
            trace: None,
        }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Arc<CellModel> {
        &self.model
    }

    /// What the last run counted.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The trace of the last run, if it was traced.
    #[must_use]
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    fn seats(&self, seats: &[u32], tasks: usize) -> Result<Vec<Seat>, SimError> {
        let spes = self.model.ppe();
        if seats.len() != tasks {
            return Err(SimError::Seat(format!("{tasks} tasks, and seats for {}", seats.len())));
        }
        let seat = |pu: &u32| match *pu {
            pu if pu < spes => Ok(Seat::Spe(pu as u16)),
            pu if pu < spes + self.model.chips as u32 => Ok(Seat::Ppe((pu - spes) as u8)),
            pu => Err(SimError::Seat(format!(
                "{} has SPEs 0 to {} and, as PU {spes}, its PPE; there is no PU {pu}",
                self.model.name,
                spes - 1
            ))),
        };
        let mut taken = std::collections::HashSet::new();
        if let Some(twice) = seats.iter().find(|pu| **pu < spes && !taken.insert(**pu)) {
            return Err(SimError::Seat(format!("two tasks on SPE {twice}, which runs one")));
        }
        seats.iter().map(seat).collect()
    }

    fn drive<P: Program>(&mut self, seats: &[Seat], program: &P, seed: u64) -> Result<Vec<P::Output>, SimError> {
        let (world, now) = (&self.world, Cell::new(0));
        let outputs: Vec<Cell<Option<P::Output>>> = seats.iter().map(|_| Cell::new(None)).collect();
        let cycles_per_tick = self.model.figures.decrementer_ns.value * self.model.frequency_ghz;
        let body = |rank: usize| {
            let (output, now, seat) = (&outputs[rank], &now, seats[rank]);
            move |yielder: &corosensei::Yielder<u64, Said>, _: u64| {
                let port = CellPort { world, now, yielder, rank: rank as u16, seat, cycles_per_tick };
                output.set(Some(program.task(&port, rank)));
            }
        };
        let mut fibers: Vec<Fiber> = Vec::with_capacity(seats.len());
        for rank in 0..seats.len() {
            let stack = self.stacks.pop().map_or_else(|| DefaultStack::new(STACK_BYTES), Ok);
            let stack = stack.map_err(|error| SimError::Seat(format!("no stack for task {rank}: {error}")))?;
            // SAFETY: what the body borrows (world, clock, outputs, program) outlives `fibers`, which this function drops
            // before any of it: no fiber leaves here.
            fibers.push(unsafe { Coroutine::with_stack_unchecked(stack, body(rank)) });
        }
        begin(&mut world.borrow_mut(), seed);
        let ended = Engine { world, now: &now, fibers: &mut fibers, most_events: self.most_events }.run();
        let ended = ended.map_err(|ending| self.explain(ending));
        // Only finished ones give their stacks back; the others are unwound where they are.
        self.stacks.extend(fibers.into_iter().filter(Fiber::done).map(Fiber::into_stack));
        ended?;
        Ok(outputs.into_iter().filter_map(Cell::into_inner).collect())
    }

    fn explain(&self, ending: Ending) -> SimError {
        let world = self.world.borrow();
        let at_ns = world.now() as f64 / self.model.frequency_ghz;
        match ending {
            Ending::Refused(task, error) => SimError::Refused { task, error },
            Ending::Panicked(task, message) => SimError::Panicked { task, message },
            Ending::Stuck => SimError::Deadlock { at_ns, waiting: doing(&world) },
            Ending::Endless => SimError::Endless { events: world.wheel.scheduled(), at_ns, doing: doing(&world) },
        }
    }
}

/// Why the engine stopped early.
enum Ending {
    Refused(usize, DmaError),
    Panicked(usize, String),
    Stuck,
    Endless,
}

/// Tasks start as their creator gets to them: each somewhat later or earlier, by chance.
fn begin(world: &mut World, seed: u64) {
    let mut state = seed;
    for task in 0..world.tasks.len() as u16 {
        state = mixed(state);
        let skew = world.timing.start_skew;
        let start = if skew == 0 || seed == 0 { 0 } else { state % skew };
        world.wheel.at(start, Event::Resume(task));
    }
}

/// A step of SplitMix64 (Steele, Lea & Flood 2014).
fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Who does or waits for what.
fn doing(world: &World) -> Vec<String> {
    let one = |(task, state): (usize, &TaskState)| state.request.map(|request| format!("task {task} {request}"));
    world.tasks.iter().enumerate().filter_map(one).take(16).collect()
}

struct Engine<'a> {
    world: &'a RefCell<World>,
    now: &'a Cell<u64>,
    fibers: &'a mut [Fiber],
    most_events: u64,
}

impl Engine<'_> {
    /// Until every task is done.
    fn run(&mut self) -> Result<(), Ending> {
        let mut left = self.fibers.len();
        while left > 0 {
            let task = self.next_task()?;
            left -= usize::from(self.resume(task as usize)?);
        }
        Ok(())
    }

    /// Lets the machine go on until it is a task's turn.
    fn next_task(&mut self) -> Result<u16, Ending> {
        let mut world = self.world.borrow_mut();
        loop {
            match world.wheel.pop() {
                Some((time, Event::Resume(task))) => {
                    self.now.set(time);
                    world.went_on(task);
                    if world.wheel.scheduled() > self.most_events {
                        return Err(Ending::Endless);
                    }
                    return Ok(task);
                }
                Some((_, event)) => world.happen(event),
                None => return Err(Ending::Stuck),
            }
        }
    }

    /// Lets a task go on to its next call. Whether it is done.
    fn resume(&mut self, task: usize) -> Result<bool, Ending> {
        let answer = self.world.borrow().tasks[task].answer;
        let fiber = &mut self.fibers[task];
        let said = catch_unwind(AssertUnwindSafe(|| fiber.resume(answer)));
        match said {
            Ok(CoroutineResult::Return(())) => Ok(true),
            Ok(CoroutineResult::Yield(Said::Call(request))) => {
                self.world.borrow_mut().call(task as u16, request);
                Ok(false)
            }
            Ok(CoroutineResult::Yield(Said::Refused(error))) => Err(Ending::Refused(task, error)),
            Err(panic) => Err(Ending::Panicked(task, message(&*panic))),
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no message".to_owned())
}

impl Bed for CellBed {
    type Error = SimError;

    fn run<P: Program>(&mut self, seats: &[u32], program: &P, seed: u64) -> Result<Vec<P::Output>, SimError> {
        let shape = program.shape();
        let seats = self.seats(seats, shape.tasks)?;
        let mut world = self.world.borrow_mut();
        world.reset(&shape, &seats);
        world.trace = self.traces.then(|| Trace::new(1000.0 * self.model.frequency_ghz));
        drop(world);
        let outputs = self.drive(&seats, program, seed);
        let world = self.world.get_mut();
        self.counters = Counters { cycles: world.now(), ..world.count(&self.model) };
        self.trace = world.trace.take();
        outputs
    }

    fn ns_per_tick(&self) -> f64 {
        self.model.figures.decrementer_ns.value
    }

    fn ns_per_cycle(&self) -> f64 {
        1.0 / self.model.frequency_ghz
    }

    fn modules(&self) -> usize {
        self.model.chips
    }
}
