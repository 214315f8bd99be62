//! One experiment of CellStats: its repetitions and its figures.

use super::overlapping::{lengthened, runs};
use super::{CellStatsPrimitive, LatencySpread, PerTask, Rooms, StatsOptions, StatsResult};
use seatmap_cell_sim::channels::{Bed, ChannelProgram};
use seatmap_cell_sim::workload::stats::{
    AtomicsWorkload, BufferLocation, EmptyThreads, LoopTimes, MessageCarrier, MessageExchange,
    Transfers,
};
use seatmap_cell_sim::workload::{CollectiveKind, CollectiveWorkload};
use seatmap_data::port::{ENOUGH_OVERLAP, overlap};
use seatmap_data::statistics::summarise;

const FEWEST: u64 = 32;
/// The largest relative difference at which a run and one twice as long agree.
const STEADY: f64 = 2e-3;
/// Runs longer than this meet many memory refreshes, one every few microseconds, and never repeat
/// exactly, so they may differ more.
const MANY_REFRESHES_NS: f64 = 1e6;
const STEADY_BESIDE_REFRESHES: f64 = 5e-3;

/// The most workers of a collective operation: a signal register has a bit for each, and two for
/// the directions.
pub const MOST_TOGETHER: usize = 30;

/// Batches on a real machine, as many as for measuring core distances.
const BATCHES: u64 = 32;

/// Why an experiment failed.
#[derive(Debug, thiserror::Error)]
pub enum StatsError<E: std::error::Error> {
    /// The machine cannot do it.
    #[error("{0}")]
    Impossible(String),
    /// The workers did not work at the same time, so that the time is not that of concurrent
    /// operations.
    #[error(
        "{what}: other programs used the CPUs, so the workers ran together for only {:.0} % of \
         the time ({:.0} % are needed); try again on a quieter machine",
        100.0 * .overlap, 100.0 * ENOUGH_OVERLAP
    )]
    Apart {
        /// The experiment.
        what: String,
        /// The largest share of several runs, 0 to 1.
        overlap: f64,
    },
    /// The run failed.
    #[error(transparent)]
    Run(E),
}

/// Runs an experiment.
///
/// # Errors
/// [`StatsError`]: more workers, chips or memories than exist; a transfer that the hardware would
/// refuse; on a real machine, workers that never overlapped enough however long they ran.
pub fn measure<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    options: &StatsOptions,
) -> Result<StatsResult, StatsError<B::Error>> {
    check(rooms, options)?;
    // A model has no noise: one longer run shows whether the figure has settled.
    if !rooms.is_deterministic {
        return in_batches(bed, rooms, options);
    }
    let mut iterations = FEWEST.min(options.iterations);
    let mut found = once(bed, rooms, options, options.warm_up.min(iterations / 4), iterations)?;
    while iterations < options.iterations {
        iterations = (2 * iterations).min(options.iterations);
        let longer = once(bed, rooms, options, options.warm_up.min(iterations / 4), iterations)?;
        let is_steady = agree(&found, &longer);
        found = longer;
        if is_steady {
            break;
        }
    }
    Ok(found)
}

fn agree(found: &StatsResult, longer: &StatsResult) -> bool {
    let change = (longer.latency_ns / found.latency_ns - 1.0).abs();
    // A short run may miss the refreshes that a long run meets.
    let is_long = longer.latency_ns * longer.iterations as f64 >= MANY_REFRESHES_NS;
    change < if is_long { STEADY_BESIDE_REFRESHES } else { STEADY }
}

/// Other programs disturb a real machine, so the batch with the median latency is reported, with
/// the spread of the others.
fn in_batches<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    options: &StatsOptions,
) -> Result<StatsResult, StatsError<B::Error>> {
    let count = BATCHES.min(options.iterations);
    let mut batches = Vec::new();
    for batch in 0..count {
        let iterations = options.iterations / count + u64::from(batch < options.iterations % count);
        batches.push(lengthened(options.function.name(), |times| {
            let iterations = iterations.saturating_mul(times);
            once(bed, rooms, options, options.warm_up.min(iterations), iterations)
        })?);
    }
    batches.sort_by(|a, b| a.latency_ns.total_cmp(&b.latency_ns));
    let passes: Vec<Vec<f64>> = batches.iter().map(|batch| vec![batch.latency_ns]).collect();
    let spread = summarise(&passes, 1).map(|summary| LatencySpread {
        batches: summary.n,
        p10_ns: summary.p10,
        mad_ns: summary.mad,
        ci95_low_ns: summary.ci95_low,
        ci95_high_ns: summary.ci95_high,
    });
    let iterations = batches.iter().map(|batch| batch.iterations).sum();
    // The worst batch counts: in it, workers may have had the memory to themselves.
    let overlap = batches.iter().filter_map(|batch| batch.overlap).reduce(f64::min);
    // A real batch, not a mean of the middle two, because its tasks are shown with it.
    let median = batches.swap_remove((batches.len() - 1) / 2);
    Ok(StatsResult { iterations, spread, overlap, ..median })
}

pub fn check<E: std::error::Error>(
    rooms: &Rooms,
    options: &StatsOptions,
) -> Result<(), StatsError<E>> {
    let count = rooms.count();
    let worker = rooms.worker;
    match options {
        StatsOptions { workers: 0, .. } | StatsOptions { iterations: 0, .. } => {
            impossible("nothing to do: -n and -i start at 1".into())
        }
        StatsOptions { chip, .. } if *chip >= rooms.chips.len() => {
            impossible(format!("there is no chip {chip}: this machine has {}", rooms.chips.len()))
        }
        StatsOptions { module, .. } if *module as usize >= rooms.modules => {
            impossible(format!("there is no memory {module}: this machine has {}", rooms.modules))
        }
        StatsOptions { workers, .. } if *workers > count => {
            impossible(format!("{workers} {worker}s requested, but this machine has {count}"))
        }
        StatsOptions { function: CellStatsPrimitive::MkThread, .. }
        | StatsOptions { by_system_call: true, .. }
            if !rooms.has_system =>
        {
            impossible(
                "costs of threads and system calls are known only for models of the Cell".into(),
            )
        }
        StatsOptions { elements: 0, .. } | StatsOptions { elements: 2049.., .. } => {
            impossible("a list has 1 to 2048 elements: the MFC takes no others".into())
        }
        StatsOptions { function, size_bytes, .. }
            if function.atomic().is_some() && !matches!(size_bytes, 4..=128) =>
        {
            impossible("an atomic works on 4 to 128 bytes: a cache line of the PPE at most".into())
        }
        StatsOptions { function, workers, size_bytes, .. } if function.collective().is_some() => {
            check_collective(*workers, *size_bytes)
        }
        _ => Ok(()),
    }
}

fn check_collective<E: std::error::Error>(
    workers: usize,
    size_bytes: u32,
) -> Result<(), StatsError<E>> {
    if !(2..=MOST_TOGETHER).contains(&workers) {
        return impossible(format!("a collective operation needs 2 to {MOST_TOGETHER} workers"));
    }
    // A parent fetches its children's bytes with one command each (Cell Broadband Engine
    // Architecture, MFC commands).
    if !size_bytes.is_multiple_of(16) || !(16..=16384).contains(&size_bytes) {
        return impossible(
            "a collective operation needs a multiple of 16 bytes, up to 16 KiB: one DMA command"
                .into(),
        );
    }
    Ok(())
}

fn impossible<E: std::error::Error>(text: String) -> Result<(), StatsError<E>> {
    Err(StatsError::Impossible(text))
}

pub fn once<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    options: &StatsOptions,
    warm_up: u64,
    iterations: u64,
) -> Result<StatsResult, StatsError<B::Error>> {
    let found = started(bed, rooms, options, warm_up, iterations)?;
    // In a model nothing is late by chance; the overlap only shows how unfair it is.
    Ok(StatsResult { overlap: found.overlap.filter(|_| !rooms.is_deterministic), ..found })
}

fn started<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    options: &StatsOptions,
    warm_up: u64,
    iterations: u64,
) -> Result<StatsResult, StatsError<B::Error>> {
    if let Some(kind) = options.function.collective() {
        return collective(bed, rooms, options, kind, iterations);
    }
    match options.function {
        CellStatsPrimitive::MkThread => {
            let threads = EmptyThreads { warm_up, iterations };
            run(bed, &[controller(rooms)?], &threads, options, 0)
        }
        CellStatsPrimitive::Mailbox | CellStatsPrimitive::Signal => {
            let means = if options.function == CellStatsPrimitive::Mailbox {
                MessageCarrier::Mailbox
            } else {
                MessageCarrier::Signal
            };
            let by_system_call = options.by_system_call;
            let has_controller = !options.between_workers;
            let exchange =
                MessageExchange { means, has_controller, by_system_call, warm_up, iterations };
            run(bed, &talkers(rooms, options)?, &exchange, options, 0)
        }
        function => match function.atomic() {
            Some((operation, operand)) => {
                let seats = workers(rooms, options)?;
                let stride_bytes = options.stride();
                let tasks = seats.len();
                let module = options.module;
                let atomics = AtomicsWorkload {
                    operation,
                    operand,
                    tasks,
                    stride_bytes,
                    module,
                    warm_up,
                    iterations,
                };
                run(bed, &seats, &atomics, options, 0)
            }
            None => transfer(bed, rooms, options, warm_up, iterations),
        },
    }
}

/// A tree needs no warm-up operations: its first operations are like the others.
fn collective<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    options: &StatsOptions,
    kind: CollectiveKind,
    iterations: u64,
) -> Result<StatsResult, StatsError<B::Error>> {
    let seats = rooms.workers(options.chip, options.workers).ok_or_else(|| too_few(rooms))?;
    let tree =
        CollectiveWorkload { kind, tasks: seats.len(), size_bytes: options.size_bytes, iterations };
    run(bed, &seats, &tree, options, 0)
}

fn transfer<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    options: &StatsOptions,
    warm_up: u64,
    iterations: u64,
) -> Result<StatsResult, StatsError<B::Error>> {
    let seats = workers(rooms, options)?;
    let transfers = Transfers {
        is_get: options.function.transfer().unwrap_or(true),
        tasks: seats.len(),
        size_bytes: options.size_bytes,
        elements: options.function.has_list().then_some(options.elements),
        stride_bytes: options.stride(),
        source: if options.between_workers {
            BufferLocation::FirstLocal
        } else {
            BufferLocation::Memory(options.module)
        },
        warm_up,
        iterations,
    };
    run(bed, &seats, &transfers, options, transfers.operation_bytes())
}

fn controller<E: std::error::Error>(rooms: &Rooms) -> Result<u32, StatsError<E>> {
    let why = match rooms.worker {
        "CPU" => "the controller and the worker need a CPU each, but this process may use only one",
        _ => "this machine has no controller (PPE)",
    };
    rooms.controller.ok_or_else(|| StatsError::Impossible(why.into()))
}

/// The controller and a worker of the chip, or the first worker and one of the chip.
fn talkers<E: std::error::Error>(
    rooms: &Rooms,
    options: &StatsOptions,
) -> Result<Vec<u32>, StatsError<E>> {
    if options.between_workers {
        return rooms.workers_beside_the_first(options.chip, 1).ok_or_else(|| too_few(rooms));
    }
    let controller = controller(rooms)?;
    // Two if possible, because the first may be the controller itself.
    let workers = rooms.workers(options.chip, 2).or_else(|| rooms.workers(options.chip, 1));
    // On a host any CPU may be the controller, which then does not work.
    let worker = workers
        .into_iter()
        .flatten()
        .find(|worker| *worker != controller)
        .ok_or_else(|| too_few(rooms))?;
    Ok(vec![controller, worker])
}

fn workers<E: std::error::Error>(
    rooms: &Rooms,
    options: &StatsOptions,
) -> Result<Vec<u32>, StatsError<E>> {
    let seats = if options.between_workers {
        // -n includes the first worker, which owns the local store and needs another worker to
        // serve.
        rooms.workers_beside_the_first(options.chip, options.workers.max(2) - 1)
    } else {
        rooms.workers(options.chip, options.workers)
    };
    seats.ok_or_else(|| too_few(rooms))
}

fn too_few<E: std::error::Error>(rooms: &Rooms) -> StatsError<E> {
    StatsError::Impossible(format!("this machine has fewer {}s", rooms.worker))
}

fn run<B: Bed, P: ChannelProgram<Output = LoopTimes>>(
    bed: &mut B,
    seats: &[u32],
    program: &P,
    options: &StatsOptions,
    bytes: u64,
) -> Result<StatsResult, StatsError<B::Error>> {
    let timed = bed.run(seats, program, 1).map_err(StatsError::Run)?;
    let ns_per_cycle = bed.ns_per_cycle();
    let is_message =
        matches!(options.function, CellStatsPrimitive::Mailbox | CellStatsPrimitive::Signal);
    // Only the side that began a message knows its round trip.
    let counted = seats
        .iter()
        .zip(&timed)
        .filter(|(_, task)| task.operations > 0)
        .take(if is_message { 1 } else { usize::MAX });
    let per_spe: Vec<PerTask> = counted
        .map(|(pu, task)| {
            let latency_ns =
                (task.ended - task.began) as f64 * ns_per_cycle / task.operations as f64;
            // Bytes per nanosecond are GB/s of 10^9 bytes.
            let bandwidth_gbps = (bytes > 0).then(|| bytes as f64 / latency_ns);
            PerTask { pu: *pu, latency_ns, bandwidth_gbps, ticks: task.ticks }
        })
        .collect();
    let iterations = timed.iter().map(|task| task.operations).max().unwrap_or(0);
    // The time until all are done counts, because a machine may serve one before another.
    let all_ns = span(&timed) as f64 * ns_per_cycle / iterations.max(1) as f64;
    Ok(StatsResult {
        function: options.function.name(),
        latency_ns: if is_message {
            per_spe.first().map_or(all_ns, |task| task.latency_ns)
        } else {
            all_ns
        },
        bandwidth_gbps: (bytes > 0).then(|| (bytes * per_spe.len() as u64) as f64 / all_ns),
        iterations,
        per_spe,
        spread: None,
        overlap: Some(overlap(&runs(&timed))),
    })
}

fn span(timed: &[LoopTimes]) -> u64 {
    let began =
        timed.iter().filter(|task| task.operations > 0).map(|task| task.began).min().unwrap_or(0);
    timed.iter().filter(|task| task.operations > 0).map(|task| task.ended).max().unwrap_or(0)
        - began
}
