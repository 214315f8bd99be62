//! The engine of all models: tasks as fibers, and the loop in which machine and tasks alternate.

use crate::error::SimError;
use crate::fiber::{self, FiberStep, Stack};
use seatmap_data::statistics::words::counted;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The default limit of events of a run: minutes of work.
pub const MOST_EVENTS: u64 = 20_000_000_000;
const MOST_NAMED: usize = 16;

/// A task's message to the engine.
pub enum TaskMessage<C> {
    /// A call.
    Call(C),
    /// The machine refuses what the task asks for, which ends the run.
    Refused(TaskRefusal),
}

/// Why a machine refuses a task's request. A task may also panic with it, which ends the run with
/// [`SimError::Refused`].
#[derive(Debug)]
pub struct TaskRefusal(pub Box<dyn Error + Send + Sync>);

impl fmt::Display for TaskRefusal {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A task's connection to the engine: the task suspends with a message and resumes with the answer.
pub type TaskYielder<C> = fiber::Yielder<TaskMessage<C>>;

/// Whether this build supports `SEATMAP_TASKS=threads`, which makes tasks threads.
pub const fn has_threads() -> bool {
    cfg!(feature = "threads")
}

/// A machine in virtual time, as the engine sees it.
pub trait SimulatedMachine {
    /// A call of a task.
    type Call;

    /// Runs the machine until a task's turn. Returns the time and the task; `None` if no event is
    /// left.
    fn next_task(&mut self) -> Option<(u64, u16)>;

    /// The result of a task's call, for its next turn.
    fn answer(&self, task: u16) -> u64;

    /// Takes a task's call; the task has its turn when the call is done.
    fn call(&mut self, task: u16, call: Self::Call);

    /// The time, in core cycles.
    fn now(&self) -> u64;

    /// Events until now.
    fn events(&self) -> u64;

    /// A description of a task's current call; `None` without a call.
    fn doing(&self, task: u16) -> Option<String>;
}

/// The stacks on which tasks run, kept from run to run.
pub struct TaskStacks {
    stacks: Vec<Stack>,
    /// Limit of events of a run.
    pub most_events: u64,
}

type Fiber<C> = fiber::Fiber<TaskMessage<C>>;

impl Default for TaskStacks {
    fn default() -> Self {
        TaskStacks { stacks: Vec::new(), most_events: MOST_EVENTS }
    }
}

impl TaskStacks {
    /// Runs this many tasks to their ends. `clock` is separate from the machine so that tasks read
    /// the time at no cost.
    ///
    /// # Errors
    /// [`SimError`]: a task failed, or the tasks wait for ever.
    pub fn play<M: SimulatedMachine, T>(
        &mut self,
        machine: &RefCell<M>,
        clock: &Cell<u64>,
        cycles_per_ns: f64,
        tasks: usize,
        body: impl Fn(usize, &TaskYielder<M::Call>) -> T,
    ) -> Result<Vec<T>, SimError> {
        let outputs: Vec<Cell<Option<T>>> = (0..tasks).map(|_| Cell::new(None)).collect();
        let mut fibers: Vec<Fiber<M::Call>> = Vec::with_capacity(tasks);
        for (rank, output) in outputs.iter().enumerate() {
            // Reused, because a ranking starts eight tasks a million times.
            let stack = self.stacks.pop().map_or_else(Stack::new, Ok);
            let stack = stack
                .map_err(|error| SimError::Seat(format!("no stack for task {rank}: {error}")))?;
            let body = &body;
            // SAFETY: everything that the task borrows (its body, and with it machine and clock;
            // its output) outlives `fibers`, which this function drops before any of it: no fiber
            // leaves here.
            fibers.push(unsafe {
                Fiber::new(stack, move |yielder| output.set(Some(body(rank, yielder))))
            });
        }
        let most_events = self.most_events;
        let ended =
            Turns { machine, clock, cycles_per_ns, fibers: &mut fibers, most_events }.take();
        // Unfinished fibers are unwound on their stacks, so only finished ones return them.
        self.stacks.extend(fibers.into_iter().filter_map(Fiber::into_stack));
        ended?;
        Ok(outputs.into_iter().filter_map(Cell::into_inner).collect())
    }
}

struct Turns<'a, M: SimulatedMachine> {
    machine: &'a RefCell<M>,
    clock: &'a Cell<u64>,
    cycles_per_ns: f64,
    fibers: &'a mut [Fiber<M::Call>],
    most_events: u64,
}

impl<M: SimulatedMachine> Turns<'_, M> {
    fn take(&mut self) -> Result<(), SimError> {
        let mut left = self.fibers.len();
        while left > 0 {
            let (task, answer) = self.next_task()?;
            left -= usize::from(self.resume(task, answer)?);
        }
        Ok(())
    }

    fn next_task(&mut self) -> Result<(u16, u64), SimError> {
        let mut machine = self.machine.borrow_mut();
        let Some((time, task)) = machine.next_task() else {
            let waiting = self.doing(&machine);
            return Err(SimError::Deadlock { at_ns: self.at_ns(&machine), waiting });
        };
        // On a machine that polls, a program can wait forever for a value.
        if machine.events() > self.most_events {
            let doing = self.doing(&machine);
            let events = machine.events();
            return Err(SimError::Endless { events, at_ns: self.at_ns(&machine), doing });
        }
        self.clock.set(time);
        Ok((task, machine.answer(task)))
    }

    fn resume(&mut self, task: u16, answer: u64) -> Result<bool, SimError> {
        let fiber = &mut self.fibers[task as usize];
        // A task's panic is a result of its run, and does not end other runs.
        let said = catch_unwind(AssertUnwindSafe(|| fiber.resume(answer)));
        match said {
            Ok(FiberStep::Ended) => Ok(true),
            Ok(FiberStep::Said(TaskMessage::Call(call))) => {
                self.machine.borrow_mut().call(task, call);
                Ok(false)
            }
            Ok(FiberStep::Said(TaskMessage::Refused(refusal))) => {
                Err(SimError::Refused { task: task.into(), refusal })
            }
            Err(panic) => Err(failed(task.into(), panic)),
        }
    }

    fn at_ns(&self, machine: &M) -> f64 {
        machine.now() as f64 / self.cycles_per_ns
    }

    #[cold]
    fn doing(&self, machine: &M) -> Vec<String> {
        (0..self.fibers.len() as u16)
            .filter_map(|task| Some(format!("task {task} {}", machine.doing(task)?)))
            .take(MOST_NAMED)
            .collect()
    }
}

fn failed(task: usize, panic: Box<dyn Any + Send>) -> SimError {
    match panic.downcast::<TaskRefusal>() {
        Ok(refusal) => SimError::Refused { task, refusal: *refusal },
        Err(panic) => SimError::Panicked { task, message: message(&*panic) },
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no message".to_owned())
}

/// Checks that each task has a seat.
pub fn one_seat_each(seats: &[u32], tasks: usize) -> Result<(), SimError> {
    if seats.len() == tasks {
        return Ok(());
    }
    let [tasks, seats] = [counted(tasks, "task"), counted(seats.len(), "seat")];
    Err(SimError::Seat(format!("{tasks}, but {seats}")))
}

/// The start time of each task, random below `skew`, because a creator does not start its tasks at
/// once. With seed 0, all start at 0.
pub fn starts(tasks: usize, skew: u64, seed: u64) -> impl Iterator<Item = (u64, u16)> {
    let mut state = seed;
    (0..tasks as u16).map(move |task| {
        state = mixed(state);
        (if skew == 0 || seed == 0 { 0 } else { state % skew }, task)
    })
}

/// A step of SplitMix64 (Steele, Lea & Flood 2014).
pub fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
