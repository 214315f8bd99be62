//! The cost of each call: table 1 and figure 6.

use crate::cellule::calls::Calls;
use crate::cellule::memory::{Floats, floats};
use crate::cellule::spread::SampleSummary;
use crate::cellule::{CelluleError, WorkerSeats};
use seatmap_machines::host::HostClock;
use seatmap_worker::{WorkerProgram, WorkerView};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Numbers of the block in the paper's example: 16 KiB.
const NUMBERS: usize = 4096;
const ROUNDS: usize = 40;

/// The calls, in the table's order and by its names. The last two are missing in the table; the
/// paper's text mentions them.
pub const CALLS: [(TimedCall, &str, &str); 9] = [
    (TimedCall::CtxRun, "CtxRun", "an empty program run, from the call to its return"),
    (TimedCall::ThrCreate, "ThrCreate", "a program started"),
    (TimedCall::ThrJoin, "ThrJoin", "waiting for a program that has ended"),
    (TimedCall::PgmLoad, "PgmLoad", "a program loaded"),
    (
        TimedCall::MapPS,
        "MapPS",
        "registers mapped: mailboxes are always memory, so there is no such call",
    ),
    (TimedCall::MBoxWr, "MBoxWr", "a message to a waiting worker"),
    (TimedCall::MBoxRd, "MBoxRd", "reading an available message"),
    (
        TimedCall::Acquire,
        "Acquire",
        "a context made: a worker borrowed and scrubbed, or memory mapped, locked and touched",
    ),
    (
        TimedCall::Release,
        "Release",
        "a context destroyed: a worker scrubbed and returned, or memory unmapped",
    ),
];

/// A call that the paper times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TimedCall {
    /// `spe_context_run`.
    CtxRun,
    /// `pthread_create`.
    ThrCreate,
    /// `pthread_join`.
    ThrJoin,
    /// `spe_program_load`.
    PgmLoad,
    /// `spe_ps_area_get`.
    MapPS,
    /// `spe_in_mbox_write`.
    MBoxWr,
    /// `spe_out_mbox_read`.
    MBoxRd,
    /// `spe_context_create`.
    Acquire,
    /// `spe_context_destroy`.
    Release,
}

/// A call by each way, for all workers one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallComparison {
    /// The cost with the runtime.
    pub runtime: SampleSummary,
    /// The cost with threads.
    pub threads: SampleSummary,
}

/// The costs with this many workers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerCosts {
    /// The number of workers.
    pub workers: usize,
    /// The clock's smallest step: shorter calls cannot be distinguished.
    pub clock_step_ns: f64,
    /// The cost of each measured call.
    pub calls: BTreeMap<TimedCall, CallComparison>,
}

type Round = BTreeMap<TimedCall, f64>;

/// Measures each call by each way, by turns, while the paper's example runs: a worker fetches 16
/// KiB, adds one to each number, and writes them back. The numbers are checked at the end.
///
/// # Errors
/// A CPU is not usable, or numbers are wrong.
pub fn costs(seats: &WorkerSeats, turns: u32) -> Result<WorkerCosts, CelluleError> {
    let bench = CallCosts::new(seats.workers.len());
    let mut runtime = Vec::new();
    let mut threads = Vec::new();
    seats.control(|| {
        for _ in 0..turns.max(1) {
            // It exists only for this turn: idle workers must not spin next to the threads.
            let workers = seats.runtime(seats.for_calls())?;
            runtime.push(bench.turn(|| {
                (0..workers.workers())
                    .map(|_| Ok(workers.context()?))
                    .collect::<Result<Vec<_>, _>>()
            })?);
            drop(workers);
            threads.push(bench.turn(|| seats.threads(seats.for_calls()))?);
        }
        Ok(())
    })?;
    // Both ways count up the same numbers.
    bench.check(2 * turns.max(1) as usize * ROUNDS)?;
    let mut calls = BTreeMap::new();
    for (call, _, _) in CALLS {
        if let (Some(runtime), Some(threads)) =
            (spread_of_call(call, &runtime), spread_of_call(call, &threads))
        {
            calls.insert(call, CallComparison { runtime, threads });
        }
    }
    Ok(WorkerCosts { workers: seats.workers.len(), clock_step_ns: bench.clock.step_ns(), calls })
}

fn spread_of_call(call: TimedCall, turns: &[Vec<Round>]) -> Option<SampleSummary> {
    SampleSummary::of(
        &turns
            .iter()
            .map(|rounds| rounds.iter().filter_map(|round| round.get(&call).copied()).collect())
            .collect::<Vec<Vec<f64>>>(),
    )
}

struct CallCosts {
    clock: HostClock,
    blocks: Vec<Arc<Floats>>,
    example: Vec<Arc<dyn WorkerProgram>>,
    empty: Arc<dyn WorkerProgram>,
}

impl CallCosts {
    fn new(workers: usize) -> Self {
        let blocks: Vec<Arc<Floats>> =
            (0..workers).map(|_| Arc::new(Floats::zeros(NUMBERS))).collect();
        let example = blocks.iter().map(|block| example(Arc::clone(block))).collect();
        CallCosts {
            clock: HostClock::calibrated(),
            blocks,
            example,
            empty: Arc::new(|_: &mut WorkerView, _: u64| 0),
        }
    }

    fn turn<C: Calls>(
        &self,
        made: impl Fn() -> Result<Vec<C>, CelluleError>,
    ) -> Result<Vec<Round>, CelluleError> {
        (0..ROUNDS).map(|_| self.round(&made)).collect()
    }

    fn round<C: Calls>(
        &self,
        made: &impl Fn() -> Result<Vec<C>, CelluleError>,
    ) -> Result<Round, CelluleError> {
        let mut round = Round::new();
        let mut contexts = self.timed(&mut round, TimedCall::Acquire, made)?;
        self.timed(&mut round, TimedCall::PgmLoad, || {
            contexts
                .iter_mut()
                .zip(&self.example)
                .for_each(|(context, program)| context.load(Arc::clone(program)));
        });
        self.timed(&mut round, TimedCall::ThrCreate, || {
            contexts.iter_mut().try_for_each(|context| context.start(0))
        })?;
        // The program waits for this message, so the start before it is timed without its work.
        self.timed(&mut round, TimedCall::MBoxWr, || {
            contexts.iter_mut().try_for_each(|context| context.write(1))
        })?;
        for context in &contexts {
            while !context.has_mail()? {
                // The worker may be on the same CPU.
                std::thread::yield_now();
            }
        }
        self.timed(&mut round, TimedCall::MBoxRd, || {
            contexts.iter_mut().try_for_each(|context| context.read().map(drop))
        })?;
        self.timed(&mut round, TimedCall::ThrJoin, || waited(&mut contexts))?;
        // Loaded before the clock starts: only the run of an empty program is `CtxRun`.
        contexts.iter_mut().for_each(|context| context.load(Arc::clone(&self.empty)));
        self.timed(&mut round, TimedCall::CtxRun, || {
            contexts.iter_mut().try_for_each(|context| context.start(0))?;
            waited(&mut contexts)
        })?;
        self.timed(&mut round, TimedCall::Release, || drop(contexts));
        Ok(round)
    }

    fn timed<T>(&self, round: &mut Round, call: TimedCall, work: impl FnOnce() -> T) -> T {
        let began = self.clock.stamp().ticks;
        let result = work();
        let took = self.clock.stamp().ticks.saturating_sub(began);
        round.insert(call, took as f64 * self.clock.ns_per_tick());
        result
    }

    fn check(&self, rounds: usize) -> Result<(), CelluleError> {
        let expected = rounds as f32;
        for values in self.blocks.iter().map(|block| block.values()) {
            if let Some(at) = values.iter().position(|value| *value != expected) {
                return Err(CelluleError::Wrong {
                    what: "the example",
                    at,
                    got: values[at],
                    expected,
                });
            }
        }
        Ok(())
    }
}

fn example(block: Arc<Floats>) -> Arc<dyn WorkerProgram> {
    Arc::new(move |inside: &mut WorkerView, _: u64| {
        let step = inside.mailbox_read() as f32;
        let is_here = block.get(inside, 0, 0, NUMBERS);
        floats(inside.store()).iter_mut().take(NUMBERS).for_each(|number| *number += step);
        let is_back = block.put(inside, 0, 0, NUMBERS);
        inside.mailbox_write(0);
        u32::from(!(is_here && is_back))
    })
}

fn waited<C: Calls>(contexts: &mut [C]) -> Result<(), CelluleError> {
    for context in contexts {
        match context.wait()? {
            0 => {}
            code => return Err(CelluleError::Stopped(code)),
        }
    }
    Ok(())
}
