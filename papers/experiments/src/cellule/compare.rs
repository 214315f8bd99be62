//! Compares the times of a program with persistent workers and with new threads.

use crate::cellule::calls::Calls;
use crate::cellule::kernel::KernelShare;
use crate::cellule::problem::{ParallelProblem, TaskStride};
use crate::cellule::spread::SampleSummary;
use crate::cellule::{CelluleError, CelluleWorkload, WorkerSeats};
use seatmap_os::usage::ResourceUsage;
use serde::Serialize;
use std::time::{Duration, Instant};

const TURN: Duration = Duration::from_millis(20);
const MOST_RUNS: usize = 50;

/// The times of a program with persistent workers, and with threads made for it in two ways.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkersComparison {
    /// The program, as on the command line.
    pub workload: String,
    /// The number of workers.
    pub workers: usize,
    /// The number of tasks in an iteration.
    pub tasks: u32,
    /// Times with persistent workers: load a program, start it on each worker, send it the number
    /// of repetitions, read the answer, wait.
    pub runtime: SampleSummary,
    /// Times with a new thread for each worker, as libspe2 does it on Linux.
    pub thread_per_worker: SampleSummary,
    /// Times with a new thread for each task.
    pub thread_per_task: SampleSummary,
    /// The gain of persistent workers, from medians: (threads - workers) / threads, in per cent.
    pub gain_percent: RuntimeGain,
    /// The kernel's share of the CPU time in these runs.
    pub kernel: ByWay<KernelShare>,
}

/// A value for each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByWay<T> {
    /// The value with persistent workers.
    pub runtime: T,
    /// The value with a thread for each worker.
    pub thread_per_worker: T,
    /// The value with a thread for each task.
    pub thread_per_task: T,
}

/// The runtime's gain over each way of threads, in per cent of its time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuntimeGain {
    /// The gain over a thread for each worker.
    pub thread_per_worker: f64,
    /// The gain over a thread for each task.
    pub thread_per_task: f64,
}

#[derive(Default)]
struct Turns {
    times_ns: Vec<Vec<f64>>,
    used: ResourceUsage,
}

impl Turns {
    fn push(&mut self, (times_ns, used): (Vec<f64>, ResourceUsage)) {
        self.times_ns.push(times_ns);
        self.used += used;
    }

    fn spread(&self) -> Result<SampleSummary, CelluleError> {
        SampleSummary::of(&self.times_ns).ok_or(CelluleError::Workers { workers: 0, cpus: 0 })
    }

    fn kernel(&self) -> KernelShare {
        KernelShare::of(self.used, self.times_ns.iter().map(Vec::len).sum())
    }
}

/// Runs a workload each way, by turns, and checks the result of each turn.
///
/// # Errors
/// A CPU is not usable, or a result is wrong.
pub fn compare(
    workload: CelluleWorkload,
    seats: &WorkerSeats,
    turns: u32,
) -> Result<WorkersComparison, CelluleError> {
    let problem = workload.problem();
    let problem = &*problem;
    let iterations = workload.iterations();
    let timed = seats.control(|| {
        let mut timed = ByWay::<Turns>::default();
        for _ in 0..turns.max(1) {
            timed.runtime.push(by_runtime(seats, problem, iterations)?);
            let mut threads = seats.threads(seats.for_programs())?;
            timed
                .thread_per_worker
                .push(turn(problem, || by_worker(&mut threads, problem, iterations))?);
            timed
                .thread_per_task
                .push(turn(problem, || by_task(&mut threads, problem, iterations))?);
        }
        Ok(timed)
    })?;
    let runtime = timed.runtime.spread()?;
    let thread_per_worker = timed.thread_per_worker.spread()?;
    let thread_per_task = timed.thread_per_task.spread()?;
    let gain_percent = RuntimeGain {
        thread_per_worker: (thread_per_worker.median_ns - runtime.median_ns)
            / thread_per_worker.median_ns
            * 100.0,
        thread_per_task: (thread_per_task.median_ns - runtime.median_ns)
            / thread_per_task.median_ns
            * 100.0,
    };
    let workload = workload.to_string();
    let workers = seats.workers.len();
    let tasks = problem.tasks();
    let kernel = ByWay {
        runtime: timed.runtime.kernel(),
        thread_per_worker: timed.thread_per_worker.kernel(),
        thread_per_task: timed.thread_per_task.kernel(),
    };
    Ok(WorkersComparison {
        workload,
        workers,
        tasks,
        runtime,
        thread_per_worker,
        thread_per_task,
        gain_percent,
        kernel,
    })
}

/// The runtime exists only for this turn: its idle workers must not spin next to the threads of the
/// next.
fn by_runtime(
    seats: &WorkerSeats,
    problem: &dyn ParallelProblem,
    iterations: u32,
) -> Result<(Vec<f64>, ResourceUsage), CelluleError> {
    let runtime = seats.runtime(seats.for_programs())?;
    let mut contexts = seats
        .workers
        .iter()
        .map(|_| Ok(runtime.context()?))
        .collect::<Result<Vec<_>, CelluleError>>()?;
    turn(problem, || by_worker(&mut contexts, problem, iterations))
}

fn turn(
    problem: &dyn ParallelProblem,
    mut run: impl FnMut() -> Result<(), CelluleError>,
) -> Result<(Vec<f64>, ResourceUsage), CelluleError> {
    // So that the result can only come from this run.
    problem.clear();
    run()?;
    problem.check()?;
    let before = ResourceUsage::of_process();
    let began = Instant::now();
    let mut times_ns = Vec::new();
    while times_ns.is_empty() || (times_ns.len() < MOST_RUNS && began.elapsed() < TURN) {
        let began = Instant::now();
        run()?;
        times_ns.push(began.elapsed().as_secs_f64() * 1e9);
    }
    Ok((times_ns, ResourceUsage::of_process().since(before)))
}

fn by_worker<C: Calls>(
    contexts: &mut [C],
    problem: &dyn ParallelProblem,
    iterations: u32,
) -> Result<(), CelluleError> {
    let step = contexts.len() as u32;
    for (first, context) in (0..).zip(&mut *contexts) {
        context.load(problem.program());
        context.start(TaskStride { first, step }.argument())?;
    }
    // All are started before the first message, for which their programs wait.
    contexts.iter_mut().try_for_each(|context| context.write(iterations))?;
    ended(contexts)
}

fn by_task<C: Calls>(
    contexts: &mut [C],
    problem: &dyn ParallelProblem,
    iterations: u32,
) -> Result<(), CelluleError> {
    contexts.iter_mut().for_each(|context| context.load(problem.program()));
    let step = problem.tasks();
    let tasks: Vec<u32> = (0..iterations).flat_map(|_| 0..step).collect();
    for tasks in tasks.chunks(contexts.len()) {
        let at_once = &mut contexts[..tasks.len()];
        for (first, context) in tasks.iter().zip(&mut *at_once) {
            context.start(TaskStride { first: *first, step }.argument())?;
        }
        at_once.iter_mut().try_for_each(|context| context.write(1))?;
        ended(at_once)?;
    }
    Ok(())
}

fn ended<C: Calls>(contexts: &mut [C]) -> Result<(), CelluleError> {
    for context in &mut *contexts {
        context.read()?;
    }
    for context in contexts {
        match context.wait()? {
            0 => {}
            code => return Err(CelluleError::Stopped(code)),
        }
    }
    Ok(())
}
