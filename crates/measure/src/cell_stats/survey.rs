//! The whole characterisation: the tables and figures of the paper's evaluation, and its recommendations' figures.

use super::many::measure_many;
use super::{Function, Options, Rooms, StatsError, measure};
use rayon::prelude::*;
use seatmap_port::channels::Bed;
use seatmap_workload::{BarrierBySignal, Collective, Kind, Way};
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Sizes of transfers on the figures' axes, in bytes.
const SIZES: [u32; 12] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/// Elements of the lists that move 16 KiB.
const LISTS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/// Workers beyond which a machine that repeats itself is asked for what one operation more takes, and not for a mean over
/// so many that the start does not count.
const MANY: usize = 16;
/// Barriers and collectives timed.
const TOGETHER: u64 = 64;

/// Everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survey {
    /// Single figures.
    pub rows: Vec<Row>,
    /// Curves.
    pub figures: Vec<Figure>,
}

/// One figure of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What.
    pub what: String,
    /// Its time.
    pub latency_ns: f64,
}

/// One figure of the paper: latency and bandwidth against size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// What is on its horizontal axis.
    pub across: &'static str,
    /// Its curves.
    pub series: Vec<Series>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What it is of.
    pub name: String,
    /// Its points.
    pub points: Vec<Point>,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Bytes, elements or workers.
    pub at: u64,
    /// Of one operation.
    pub latency_ns: f64,
    /// Of all workers together; null where nothing but a word moves.
    pub bandwidth_gbps: Option<f64>,
}

/// Measures everything, on machines that `bed` makes: several side by side where they repeat themselves exactly. `told`
/// hears how many of how many steps are done.
///
/// # Errors
/// As [`measure`].
pub fn survey<B: Bed>(
    bed: impl Fn() -> Result<B, B::Error> + Sync,
    rooms: &Rooms,
    iterations: u64,
    told: impl Fn(usize, usize) + Sync,
) -> Result<Survey, StatsError<B::Error>> {
    let plans = figures(rooms, iterations);
    let steps: Vec<(u64, Options)> = plans.iter().flat_map(|plan| &plan.series).flat_map(|s| s.1.clone()).collect();
    let done = AtomicUsize::new(0);
    let one = |bed: &mut Result<B, B::Error>, (at, options): &(u64, Options)| {
        let bed = bed.as_mut().map_err(|error| StatsError::Impossible(error.to_string()))?;
        let has_many = rooms.is_deterministic && rooms.count() > MANY;
        let outcome = if has_many { measure_many(bed, rooms, options)? } else { measure(bed, rooms, options)? };
        told(1 + done.fetch_add(1, Relaxed), steps.len());
        Ok(Point { at: *at, latency_ns: outcome.latency_ns, bandwidth_gbps: outcome.bandwidth_gbps })
    };
    let points: Result<Vec<Point>, _> = match rooms.is_deterministic {
        true => steps.par_iter().map_init(&bed, one).collect(),
        false => {
            let mut bed = bed();
            steps.iter().map(|step| one(&mut bed, step)).collect()
        }
    };
    let mut points = points?.into_iter();
    let mut curve = |(name, steps): (String, Vec<(u64, Options)>)| {
        let points = points.by_ref().take(steps.len()).collect();
        Series { name, points }
    };
    let figures = plans.into_iter().map(|plan| Figure {
        title: plan.title,
        across: plan.across,
        series: plan.series.into_iter().map(&mut curve).collect(),
    });
    Ok(Survey { figures: figures.collect(), rows: rows(&mut bed().map_err(StatsError::Run)?, rooms, iterations)? })
}

/// Thread creation, tables 1 and 2, and the collectives of section 5.2.
fn rows<B: Bed>(bed: &mut B, rooms: &Rooms, iterations: u64) -> Result<Vec<Row>, StatsError<B::Error>> {
    let mut rows = Vec::new();
    let mut add = |what: String, options: Options, bed: &mut B| -> Result<(), StatsError<B::Error>> {
        let latency_ns = measure(bed, rooms, &options)?.latency_ns;
        rows.push(Row { what, latency_ns });
        Ok(())
    };
    let of = |function| Options { iterations, ..Options::new(function) };
    if rooms.controller.is_some() && rooms.has_system {
        add("thread create, run, join".into(), of(Function::MkThread), bed)?;
    }
    for (name, function) in [("mailbox", Function::Mailbox), ("signal", Function::Signal)] {
        for chip in 0..rooms.chips.len() {
            let options = Options { chip, ..of(function) };
            let where_ = if chip == 0 { "the same chip".to_owned() } else { format!("chip {chip}") };
            if rooms.controller.is_some() {
                add(format!("{name}, controller to {} on {where_}", rooms.worker), options, bed)?;
                if rooms.has_system {
                    let called = Options { by_system_call: true, ..options };
                    add(format!("{name}, the same by a system call"), called, bed)?;
                }
            }
            if rooms.count() > 1 && rooms.chips[chip].len() > usize::from(chip == 0) {
                let options = Options { between_workers: true, workers: 2, ..options };
                add(format!("{name}, {0} to {0} on {where_}", rooms.worker), options, bed)?;
            }
        }
    }
    rows.extend(together(bed, rooms)?);
    Ok(rows)
}

fn together<B: Bed>(bed: &mut B, rooms: &Rooms) -> Result<Vec<Row>, StatsError<B::Error>> {
    let (tasks, first_chip) = (rooms.count().min(30), rooms.chips[0].len());
    let Some(seats) = rooms.workers(0, tasks).filter(|_| tasks > 1) else { return Ok(Vec::new()) };
    let ns_per_cycle = bed.ns_per_cycle();
    let ns = |timed: &[seatmap_workload::stats::Timed]| {
        let longest = timed.iter().map(|task| task.ended - task.began).max().unwrap_or(0);
        longest as f64 * ns_per_cycle / TOGETHER as f64
    };
    let mut rows = Vec::new();
    for is_blocking in [true, false] {
        for (name, way) in [("one root", Way::Naive), ("tree", Way::Tree), ("a root a chip", Way::TwoRoots)] {
            let barrier = BarrierBySignal { way, tasks, first_chip, is_blocking, iterations: TOGETHER };
            let timed = bed.run(&seats, &barrier, 1).map_err(StatsError::Run)?;
            let how = if is_blocking { ", each signal awaited" } else { "" };
            rows.push(Row { what: format!("barrier of {tasks}, {name}{how}"), latency_ns: ns(&timed) });
        }
    }
    for (name, kind) in [("broadcast", Kind::Broadcast), ("reduce", Kind::Reduce)] {
        let program = Collective { kind, tasks, size_bytes: 1024, iterations: TOGETHER };
        let timed = bed.run(&seats, &program, 1).map_err(StatsError::Run)?;
        rows.push(Row { what: format!("{name} of 1 KiB among {tasks}, tree"), latency_ns: ns(&timed) });
    }
    Ok(rows)
}

/// A figure to be measured: each curve's name, and for each of its points the experiment.
struct Plan {
    title: String,
    across: &'static str,
    series: Vec<(String, Vec<(u64, Options)>)>,
}

/// Figures 4 to 12.
fn figures(rooms: &Rooms, iterations: u64) -> Vec<Plan> {
    let counts = counts(rooms);
    let by_size = |options: Options, count: usize| {
        let point = |size: &u32| (u64::from(*size), Options { size_bytes: *size, workers: count, ..options });
        (called(count, rooms), SIZES.iter().map(point).collect::<Vec<_>>())
    };
    let of = |function| Options { iterations, ..Options::new(function) };
    let mut plans = Vec::new();
    for (is_private, sort) in [(false, "shared"), (true, "private")] {
        for (name, function) in [("GETs", Function::DmaGet), ("PUTs", Function::DmaPut)] {
            for module in 0..rooms.modules {
                let options = Options { is_private, module: module as u8, ..of(function) };
                plans.push(Plan {
                    title: format!("{name} on {sort} buffers of memory {module}"),
                    across: "bytes",
                    series: counts.iter().map(|count| by_size(options, *count)).collect(),
                });
            }
        }
    }
    for (name, function) in [("GETs", Function::DmaGet), ("PUTs", Function::DmaPut)] {
        for chip in 0..rooms.chips.len() {
            let options = Options { between_workers: true, chip, ..of(function) };
            let beside = counts.iter().filter(|count| **count > 1 && **count <= rooms.chips[chip].len());
            plans.push(Plan {
                title: format!("{name} on the first local store, from chip {chip}"),
                across: "bytes",
                series: beside.map(|count| by_size(options, *count)).collect(),
            });
        }
    }
    plans.extend(lists(rooms, &counts, iterations));
    plans.push(atomics(rooms, &counts, iterations));
    plans
}

fn lists(rooms: &Rooms, counts: &[usize], iterations: u64) -> Vec<Plan> {
    let plan = |name: &str, function, module: usize| {
        let point = |count: usize| {
            move |elements: &usize| {
                let size_bytes = 16384 / *elements as u32;
                let base = Options { module: module as u8, elements: *elements, iterations, ..Options::new(function) };
                (*elements as u64, Options { size_bytes, workers: count, ..base })
            }
        };
        let curve = |count: &usize| (called(*count, rooms), LISTS.iter().map(point(*count)).collect());
        Plan {
            title: format!("Lists of {name}, 16 KiB in all, memory {module}"),
            across: "elements",
            series: counts.iter().map(curve).collect(),
        }
    };
    (0..rooms.modules)
        .flat_map(|module| [plan("GETs", Function::DmaListGet, module), plan("PUTs", Function::DmaListPut, module)])
        .collect()
}

fn atomics(rooms: &Rooms, counts: &[usize], iterations: u64) -> Plan {
    let curve = |is_private: bool, chip: usize, module: usize| {
        let base = Options { is_private, chip, module: module as u8, iterations, ..Options::new(Function::FetchAdd) };
        let points =
            counts.iter().map(|count| (*count as u64, Options { workers: *count, stride_bytes: Some(128), ..base }));
        let sort = if is_private { "private" } else { "shared" };
        (format!("{sort}, chip {chip}, memory {module}"), points.collect())
    };
    let shared = (0..rooms.chips.len()).flat_map(|chip| (0..rooms.modules).map(move |module| (false, chip, module)));
    let all = shared.chain([(true, 0, 0)]);
    Plan {
        title: "Atomic fetch and add".to_owned(),
        across: "workers",
        series: all.map(|(is_private, chip, module)| curve(is_private, chip, module)).collect(),
    }
}

/// 1, 2, 4 and so on, and all.
fn counts(rooms: &Rooms) -> Vec<usize> {
    let all = rooms.count();
    let mut counts: Vec<usize> = (0..).map(|power| 1 << power).take_while(|count| *count < all).collect();
    counts.push(all);
    counts
}

fn called(count: usize, rooms: &Rooms) -> String {
    if count == 1 { format!("1 {}", rooms.worker) } else { format!("{count} {}s", rooms.worker) }
}
