//! Compares the worker runtime with threads: the cost of handing over a program, a message and a
//! clean store.

use crate::pair;
use crate::row::Row;
use crate::statistic::{median, quantile};
use seatmap_experiments::cellule::spread::Spread;
use seatmap_experiments::cellule::{Seats, Workload, compare};
use seatmap_host::HostClock;
use seatmap_host::primitives::{Batches, Primitive, Room, ThreadCreateJoin};
use seatmap_measure::probe::Probe;
use seatmap_os::affinity;
use seatmap_worker::{Context, Inside, Runtime, Store, WorkerError, WorkerOptions};
use std::error::Error;
use std::sync::Arc;

/// Turns of each kind.
const TURNS: usize = 40;
/// Operations of a turn.
const RUNS: u64 = 2000;
const ROUNDS: u64 = 3200;
const SCRUBS: u64 = 50;
const THREADS: u32 = 20;
/// Section 4.1's smallest work.
const SMALL: Workload = Workload::Matrix { size: 128, iterations: 1 };

#[derive(Default)]
struct Figures {
    run: Vec<f64>,
    thread: Vec<f64>,
    mailbox: Vec<f64>,
    distance: Vec<f64>,
    scrub: Vec<f64>,
}

/// Measures the methods in turns, so that a disturbance affects all of them alike.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let clock = HostClock::calibrated();
    let mut store = Store::new(WorkerOptions::default().store_bytes)?;
    store.scrub();
    let mut figures = Figures::default();
    for _ in 0..TURNS {
        // A thread of its own, so that this one keeps its CPUs; the worker must not spin beside the
        // next measurement.
        let [run, mailbox] = std::thread::scope(|scope| {
            scope.spawn(|| with_worker(cpus, &clock).map_err(|error| error.to_string())).join()
        })
        // The thread's panic, and then its own error as text: a boxed error cannot leave it.
        .map_err(|_| "it panicked")??;
        figures.run.push(run);
        figures.mailbox.push(mailbox);
        figures.scrub.push(timed(&clock, SCRUBS, || {
            (0..SCRUBS).for_each(|_| store.scrub());
            Ok(())
        })?);
        let plan = Batches { warmup: 0, batches: 1, operations: THREADS };
        figures
            .thread
            .extend(ThreadCreateJoin.run(&mut Room::new(), &cpus[1..], plan)?.by_task_ns.concat());
        figures.distance.extend(seatmap_statistics::median(
            &pair::probe(cpus)?.visit(&pair::visit(cpus))?.remove(0).round_trip_ns,
        ));
    }
    Ok([table(&figures), small_work(cpus)?].concat())
}

fn with_worker(cpus: [u32; 2], clock: &HostClock) -> Result<[f64; 2], Box<dyn Error>> {
    let runtime = Runtime::new(&cpus[1..], WorkerOptions::default())?;
    affinity::pin(&cpus[..1])?;
    let mut context = runtime.context()?;
    Ok([runs(&mut context, clock)?, mail(&mut context, clock)?])
}

/// Nanoseconds per operation, over this many operations.
fn timed(
    clock: &HostClock,
    operations: u64,
    work: impl FnOnce() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let began = clock.stamp().ticks;
    work()?;
    Ok((clock.stamp().ticks - began) as f64 * clock.ns_per_tick() / operations as f64)
}

/// A program that ends at once.
fn runs(context: &mut Context, clock: &HostClock) -> Result<f64, Box<dyn Error>> {
    context.load(Arc::new(|_: &mut Inside, _: u64| 0));
    // Once before the clock: the worker's thread is awake then, and its code is in the caches.
    context.run(0)?;
    timed(clock, RUNS, || Ok((0..RUNS).try_for_each(|argument| context.run(argument).map(drop))?))
}

fn mail(context: &mut Context, clock: &HostClock) -> Result<f64, Box<dyn Error>> {
    context.load(Arc::new(|inside: &mut Inside, rounds: u64| {
        for _ in 0..rounds {
            let value = inside.mailbox_read();
            inside.mailbox_write(value);
        }
        0
    }));
    // Half of the rounds warm up.
    context.start(2 * ROUNDS)?;
    round_trips(context)?;
    let took = timed(clock, ROUNDS, || Ok(round_trips(context)?))?;
    context.wait()?;
    Ok(took)
}

fn round_trips(context: &mut Context) -> Result<(), WorkerError> {
    for value in 0..ROUNDS as u32 {
        context.mailbox_write(value)?;
        context.mailbox_read()?;
    }
    Ok(())
}

/// A program that is over soon, against a thread made for each task, and for each worker.
fn small_work(cpus: [u32; 2]) -> Result<Vec<Row>, Box<dyn Error>> {
    let found = compare(SMALL, &Seats::new(&cpus, 1)?, TURNS as u32)?;
    let gain = found.gain_percent;
    let by_task = gain_words(&found.runtime, gain.thread_per_task, &found.thread_per_task);
    Ok(vec![
        Row::held(
            "128 x 128 matrix: gain over a thread a task",
            by_task,
            ">= 60 %",
            gain.thread_per_task >= 60.0,
        ),
        Row::info(
            "the same over a thread a worker",
            gain_words(&found.runtime, gain.thread_per_worker, &found.thread_per_worker),
        ),
    ])
}

fn gain_words(runtime: &Spread, gain: f64, threads: &Spread) -> String {
    format!("{gain:.1} %, {:.0} / {:.0} us", runtime.median_ns / 1e3, threads.median_ns / 1e3)
}

fn table(figures: &Figures) -> Vec<Row> {
    let (run_ratio, run) = ratio(&figures.run, &figures.thread);
    let (mail_ratio, mailbox) = ratio(&figures.mailbox, &figures.distance);
    let run_ns = median(&figures.run);
    let scrub_ns = median(&figures.scrub);
    let met = run_ns <= 1000.0 && run_ratio <= 0.02;
    vec![
        Row::held(
            "a program run by a worker / thread created and joined",
            run,
            "<= 0.02, <= 1000 ns",
            met,
        ),
        Row::held(
            "worker's mailboxes, round trip / core distance",
            mailbox,
            "<= 1.15",
            mail_ratio <= 1.15,
        ),
        Row::held(
            "scrub of a 256 KiB store",
            format!("{:.2} us", scrub_ns / 1e3),
            "<= 5 us",
            scrub_ns <= 5e3,
        ),
    ]
}

fn ratio(ours: &[f64], theirs: &[f64]) -> (f64, String) {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    let [low, high] = [0.25, 0.75].map(|share| quantile(&ratios, share));
    (
        median(&ratios),
        format!(
            "{:.4} ({low:.4}-{high:.4}), {:.0} / {:.0} ns",
            median(&ratios),
            median(ours),
            median(theirs)
        ),
    )
}
