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
#[derive(Debug)]
pub enum TaskMessage<C> {
    /// A call.
    Call(C),
    /// The machine refuses what the task asks for, which ends the run.
    Refused(TaskRefusal),
}

/// Why a machine refuses a task's request. A task may also panic with it as the payload, which ends
/// the run with [`SimError::Refused`].
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
    /// The limit of events of a run.
    pub most_events: u64,
}

type Fiber<C> = fiber::Fiber<TaskMessage<C>>;

enum Ending {
    Refused(u16, TaskRefusal),
    Panicked(u16, String),
    Stuck,
    Endless,
}

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
        let ended =
            Turns { machine, clock, fibers: &mut fibers, most_events: self.most_events }.take();
        let ended =
            ended.map_err(|ending| explain(ending, &*machine.borrow(), tasks, cycles_per_ns));
        // Unfinished fibers are unwound on their stacks, so only finished ones return them.
        self.stacks.extend(fibers.into_iter().filter_map(Fiber::into_stack));
        ended?;
        Ok(outputs.into_iter().filter_map(Cell::into_inner).collect())
    }
}

struct Turns<'a, M: SimulatedMachine> {
    machine: &'a RefCell<M>,
    clock: &'a Cell<u64>,
    fibers: &'a mut [Fiber<M::Call>],
    most_events: u64,
}

impl<M: SimulatedMachine> Turns<'_, M> {
    fn take(&mut self) -> Result<(), Ending> {
        let mut left = self.fibers.len();
        while left > 0 {
            let (task, answer) = self.next_task()?;
            left -= usize::from(self.resume(task, answer)?);
        }
        Ok(())
    }

    fn next_task(&mut self) -> Result<(u16, u64), Ending> {
        let mut machine = self.machine.borrow_mut();
        let (time, task) = machine.next_task().ok_or(Ending::Stuck)?;
        // On a machine that polls, a program can wait forever for a value.
        if machine.events() > self.most_events {
            return Err(Ending::Endless);
        }
        self.clock.set(time);
        Ok((task, machine.answer(task)))
    }

    fn resume(&mut self, task: u16, answer: u64) -> Result<bool, Ending> {
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
                Err(Ending::Refused(task, refusal))
            }
            Err(panic) => Err(ending_of(task, panic)),
        }
    }
}

fn ending_of(task: u16, panic: Box<dyn Any + Send>) -> Ending {
    match panic.downcast::<TaskRefusal>() {
        Ok(refusal) => Ending::Refused(task, *refusal),
        Err(panic) => Ending::Panicked(task, message(&*panic)),
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no message".to_owned())
}

fn explain(
    ending: Ending,
    machine: &impl SimulatedMachine,
    tasks: usize,
    cycles_per_ns: f64,
) -> SimError {
    let at_ns = machine.now() as f64 / cycles_per_ns;
    match ending {
        Ending::Refused(task, refusal) => SimError::Refused { task: task.into(), refusal },
        Ending::Panicked(task, message) => SimError::Panicked { task: task.into(), message },
        Ending::Stuck => SimError::Deadlock { at_ns, waiting: doing(machine, tasks) },
        Ending::Endless => {
            SimError::Endless { events: machine.events(), at_ns, doing: doing(machine, tasks) }
        }
    }
}

fn doing(machine: &impl SimulatedMachine, tasks: usize) -> Vec<String> {
    (0..tasks as u16)
        .filter_map(|task| machine.doing(task).map(|what| format!("task {task} {what}")))
        .take(MOST_NAMED)
        .collect()
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
