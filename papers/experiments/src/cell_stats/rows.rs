//! The single figures of the whole characterisation.

use super::experiment::MOST_TOGETHER;
use super::overlapping::{Overlapping, lengthened, runs};
use super::survey::told_apart;
use super::{CellStatsPrimitive, CellStatsSurvey, Rooms, StatsError, StatsOptions, measure};
use seatmap_cell_sim::channels::{Bed, ChannelProgram};
use seatmap_cell_sim::workload::stats::LoopTimes;
use seatmap_cell_sim::workload::{
    BarrierBySignal, BarrierMethod, CollectiveKind, CollectiveWorkload,
};
use seatmap_data::port::overlap;

const TOGETHER: u64 = 64;

pub fn rows<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    iterations: u64,
) -> Result<CellStatsSurvey, StatsError<B::Error>> {
    let mut found = CellStatsSurvey::default();
    let mut add =
        |what: String, options: StatsOptions, bed: &mut B| -> Result<(), StatsError<B::Error>> {
            found.take(
                what,
                told_apart(measure(bed, rooms, &options).map(|outcome| outcome.latency_ns))?,
            );
            Ok(())
        };
    if rooms.controller.is_some() && rooms.has_system {
        add(
            "thread create, run, join".into(),
            StatsOptions { iterations, ..StatsOptions::new(CellStatsPrimitive::MkThread) },
            bed,
        )?;
    }
    for (name, function) in
        [("mailbox", CellStatsPrimitive::Mailbox), ("signal", CellStatsPrimitive::Signal)]
    {
        for chip in 0..rooms.chips.len() {
            let options = StatsOptions { chip, iterations, ..StatsOptions::new(function) };
            let where_ =
                if chip == 0 { "the same chip".to_owned() } else { format!("chip {chip}") };
            if rooms.controller.is_some() {
                add(format!("{name}, controller to {} on {where_}", rooms.worker), options, bed)?;
                if rooms.has_system {
                    let called = StatsOptions { by_system_call: true, ..options };
                    add(format!("{name}, the same by a system call"), called, bed)?;
                }
            }
            // The pair includes the first chip's first worker, so that chip needs another.
            if rooms.count() > 1 && rooms.chips[chip].len() > usize::from(chip == 0) {
                let options = StatsOptions { between_workers: true, workers: 2, ..options };
                add(format!("{name}, {0} to {0} on {where_}", rooms.worker), options, bed)?;
            }
        }
    }
    together(bed, rooms, &mut found)?;
    Ok(found)
}

fn together<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    found: &mut CellStatsSurvey,
) -> Result<(), StatsError<B::Error>> {
    let tasks = rooms.count().min(MOST_TOGETHER);
    let first_chip = rooms.chips[0].len();
    let Some(seats) = rooms.workers(0, tasks).filter(|_| tasks > 1) else { return Ok(()) };
    for is_blocking in [true, false] {
        for (name, way) in [
            ("one root", BarrierMethod::Naive),
            ("tree", BarrierMethod::Tree),
            ("a root a chip", BarrierMethod::TwoRoots),
        ] {
            let how = if is_blocking { ", each signal awaited" } else { "" };
            let what = format!("barrier of {tasks}, {name}{how}");
            found.take(
                what.clone(),
                told_apart(of_all(bed, rooms, &seats, &what, |iterations| BarrierBySignal {
                    way,
                    tasks,
                    first_chip,
                    is_blocking,
                    iterations,
                }))?,
            );
        }
    }
    for (name, kind) in
        [("broadcast", CollectiveKind::Broadcast), ("reduce", CollectiveKind::Reduce)]
    {
        let what = format!("{name} of 1 KiB among {tasks}, tree");
        found.take(
            what.clone(),
            told_apart(of_all(bed, rooms, &seats, &what, |iterations| CollectiveWorkload {
                kind,
                tasks,
                size_bytes: 1024,
                iterations,
            }))?,
        );
    }
    Ok(())
}

struct Together {
    timed: Vec<LoopTimes>,
    overlap: Option<f64>,
}

impl Overlapping for Together {
    fn overlap(&self) -> Option<f64> {
        self.overlap
    }
}

fn of_all<B: Bed, P: ChannelProgram<Output = LoopTimes>>(
    bed: &mut B,
    rooms: &Rooms,
    seats: &[u32],
    what: &str,
    program: impl Fn(u64) -> P,
) -> Result<f64, StatsError<B::Error>> {
    let found = lengthened(what, |times| {
        let timed = bed.run(seats, &program(TOGETHER * times), 1).map_err(StatsError::Run)?;
        let overlap = (!rooms.is_deterministic).then(|| overlap(&runs(&timed)));
        Ok(Together { timed, overlap })
    })?;
    let longest = found.timed.iter().map(|task| task.ended - task.began).max().unwrap_or(0);
    let operations = found.timed.iter().map(|task| task.operations).max().unwrap_or(0).max(1);
    Ok(longest as f64 * bed.ns_per_cycle() / operations as f64)
}
