//! Compares the figures of `seatmap-papers stats` for two CPUs at work at once with those of
//! hand-written loops.

mod kernel;
mod loops;

use crate::pair;
use crate::row::Row;
use crate::statistic::{median, quantile};
use kernel::Means;
use loops::Operation;
use seatmap_experiments::cell_stats::{Function, Rooms, StatsOptions, measure};
use seatmap_host::HostBed;
use seatmap_host::primitives::{
    Atomics, Batches, Descriptors, Futex, Kind, Primitive, ReadModifyWrite, Room,
};
use seatmap_machine::{Level, Topology};
use seatmap_port::channels::Bed;
use std::error::Error;

/// Turns of each kind, ours and theirs.
const TURNS: usize = 12;
/// Runs of the lengths that `stats` takes: of user space, and through the kernel.
const QUICK: Batches = Batches { warmup: 8, batches: 60, operations: 500 };
const SLOW: Batches = Batches { warmup: 1, batches: 5, operations: 100 };
/// Operations of a turn of a program over channels.
const ITERATIONS: u64 = 32_000;
/// How far a median ratio may be from 1: two loops of the same instructions on a shared machine.
const BAND: std::ops::RangeInclusive<f64> = 0.85..=1.15;

/// The pinned threads on which our own primitives run, kept from one row to the next.
struct Machine {
    cpus: [u32; 2],
    room: Room,
    bed: HostBed,
    rooms: Rooms,
}

type Ours = Box<dyn Fn(&mut Machine) -> Result<f64, Box<dyn Error>>>;
type Theirs = Box<dyn Fn([u32; 2]) -> Result<f64, Box<dyn Error>>>;

/// One figure of `stats`, in nanoseconds, and the loop it is held against.
struct Case {
    what: String,
    ours: Ours,
    theirs: Theirs,
}

/// Every concurrent primitive.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let bed = HostBed::new()?;
    let rooms = Rooms::of_computer(&Topology::unknown(cpus), &cpus, Level::Package, bed.modules());
    // A computer that tells no packages is one chip here, as both CPUs are all that is needed.
    let rooms = rooms.unwrap_or_else(|| Rooms {
        chips: vec![cpus.to_vec()],
        controller: Some(cpus[0]),
        modules: 1,
        worker: "CPU",
        is_deterministic: false,
        has_system: false,
    });
    let mut machine = Machine { cpus, room: Room::new(), bed, rooms };
    let cases = atomics().into_iter().chain(channels()).chain(through_the_kernel());
    cases.map(|case| case.row(&mut machine)).collect()
}

impl Case {
    fn new(
        what: impl Into<String>,
        ours: impl Fn(&mut Machine) -> Result<f64, Box<dyn Error>> + 'static,
        theirs: impl Fn([u32; 2]) -> Result<f64, Box<dyn Error>> + 'static,
    ) -> Self {
        Case { what: what.into(), ours: Box::new(ours), theirs: Box::new(theirs) }
    }

    /// Turn by turn, in the order ABBA: the second may profit from the first.
    fn row(&self, machine: &mut Machine) -> Result<Row, Box<dyn Error>> {
        eprintln!("bench: concurrent {}", self.what);
        let mut ours = Vec::new();
        let mut theirs = Vec::new();
        for turn in 0..TURNS {
            // By turns, so that neither is always the first to run on a warm or a cool machine.
            if turn % 2 == 0 {
                ours.push((self.ours)(machine)?);
                theirs.push((self.theirs)(machine.cpus)?);
            } else {
                theirs.push((self.theirs)(machine.cpus)?);
                ours.push((self.ours)(machine)?);
            }
        }
        let ratios: Vec<f64> =
            ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
        let ratio = quantile(&ratios, 0.5);
        let low = quantile(&ratios, 0.25);
        let high = quantile(&ratios, 0.75);
        let got = format!(
            "{ratio:.3} by turns, middle half {low:.3}-{high:.3} ({:.1} / {:.1} ns)",
            median(&ours),
            median(&theirs)
        );
        let what = format!("concurrent {}, ours / plain loop", self.what);
        Ok(Row::held(what, got, format!("{}-{}", BAND.start(), BAND.end()), BAND.contains(&ratio)))
    }
}

/// The slower of two threads, an operation.
fn slower(both: [f64; 2]) -> f64 {
    both[0].max(both[1])
}

/// Rows of the table of primitives, where the first CPU is reported, and functions of CellStats,
/// where the last to end counts.
fn atomics() -> Vec<Case> {
    let mut cases = Vec::new();
    for shared in [true, false] {
        for (operation, plain) in [
            (ReadModifyWrite::FetchAdd, Operation::FetchAdd),
            (ReadModifyWrite::Swap, Operation::Swap),
            (ReadModifyWrite::CompareExchange, Operation::CompareExchange),
        ] {
            let primitive = Atomics { operation, shared };
            cases.push(Case::new(
                primitive.name(),
                move |machine| first_ns(machine, &primitive, QUICK),
                move |cpus| Ok(loops::atomics(cpus, plain, shared)?[0]),
            ));
        }
        for (function, plain) in
            [(Function::FetchAdd, Operation::FetchAdd), (Function::FetchSet, Operation::Swap)]
        {
            cases.push(Case::new(
                named(function, !shared),
                move |machine| {
                    of_function(machine, StatsOptions { is_private: !shared, ..of(function) })
                },
                move |cpus| Ok(slower(loops::halves(cpus, plain, shared)?)),
            ));
        }
    }
    cases
}

/// Copies and messages.
fn channels() -> Vec<Case> {
    let mut cases = Vec::new();
    for (function, is_get) in [(Function::DmaGet, true), (Function::DmaPut, false)] {
        for is_private in [false, true] {
            for size_bytes in [128, 16384] {
                let options = StatsOptions {
                    size_bytes,
                    is_private,
                    // A transfer takes longer than an atomic or a message: fewer of them make a
                    // turn of similar length.
                    iterations: ITERATIONS / 16,
                    ..of(function)
                };
                cases.push(Case::new(
                    format!("{} {size_bytes} B", named(function, is_private)),
                    move |machine| of_function(machine, options),
                    move |cpus| {
                        Ok(slower(loops::copies(
                            cpus,
                            size_bytes as usize / 8,
                            is_get,
                            !is_private,
                        )?))
                    },
                ));
            }
        }
    }
    for function in [Function::Mailbox, Function::Signal] {
        let options = StatsOptions { between_workers: true, ..of(function) };
        cases.push(Case::new(
            function.name(),
            move |machine| of_function(machine, options),
            |cpus| Ok(loops::messages(cpus)?[0]),
        ));
    }
    cases
}

fn through_the_kernel() -> Vec<Case> {
    let futex = Case::new(
        "futex",
        |machine| first_ns(machine, &Futex, SLOW),
        |cpus| kernel::round_trip_ns(cpus, Means::Futex),
    );
    let means = [
        (Kind::EventFd, Means::EventFd),
        (Kind::Pipe, Means::Pipe),
        (Kind::UnixSocket, Means::UnixSocket),
    ];
    let descriptors = means.map(|(kind, means)| {
        Case::new(
            Descriptors(kind).name(),
            move |machine| first_ns(machine, &Descriptors(kind), SLOW),
            move |cpus| kernel::round_trip_ns(cpus, means),
        )
    });
    std::iter::once(futex).chain(descriptors).collect()
}

fn of(function: Function) -> StatsOptions {
    StatsOptions { workers: 2, iterations: ITERATIONS, ..StatsOptions::new(function) }
}

fn named(function: Function, is_private: bool) -> String {
    format!("-f {} {}", function.name(), if is_private { "-N 2" } else { "-n 2" })
}

/// The median batch of the first CPU.
fn first_ns(
    machine: &mut Machine,
    primitive: &impl Primitive,
    plan: Batches,
) -> Result<f64, Box<dyn Error>> {
    let samples = primitive.run(&mut machine.room, &machine.cpus, plan)?;
    samples
        .by_task_ns
        .first()
        .and_then(|task| seatmap_statistics::median(task))
        .ok_or_else(|| "it gave no batches".into())
}

fn of_function(machine: &mut Machine, options: StatsOptions) -> Result<f64, Box<dyn Error>> {
    Ok(measure(&mut machine.bed, &machine.rooms, &options)?.latency_ns)
}
