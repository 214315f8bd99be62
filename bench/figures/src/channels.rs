//! Mail between two tasks against the core distance of their CPUs, and against the loop that anyone
//! would write for it.

use crate::pair;
use crate::row::Row;
use crate::statistic::median;
use seatmap_cell_sim::workload::stats::{Exchange, Means};
use seatmap_host::arena::Arena;
use seatmap_host::crew::Crew;
use seatmap_host::{HostBed, HostClock};
use seatmap_measure::probe::Probe;
use seatmap_port::channels::Bed;
use std::error::Error;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

/// Turns of each kind.
const TURNS: usize = 60;
/// Round trips before the timed ones, and these.
const WARM_UP: u64 = 200;
const ITERATIONS: u64 = 3200;

/// Medians of a turn, in nanoseconds a round trip.
#[derive(Default)]
struct Figures {
    distance: Vec<f64>,
    plain: Vec<f64>,
    mailbox: Vec<f64>,
    outbox: Vec<f64>,
    signal: Vec<f64>,
}

/// Measures every kind in turn, forwards and backwards, because the second of two may profit from
/// the first.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let mut probe = pair::probe(cpus)?;
    let mut bed = HostBed::new()?;
    let mut crew = Crew::default();
    let mut figures = Figures::default();
    for turn in 0..TURNS {
        let order = if turn % 2 == 0 { [0, 1, 2, 3, 4] } else { [4, 3, 2, 1, 0] };
        for kind in order {
            match kind {
                0 => figures.distance.extend(distance(&mut probe, cpus)?),
                1 => figures.plain.extend(plain(&mut crew, cpus, bed.clock())?),
                2 => figures.mailbox.extend(exchange(&mut bed, cpus, Means::Mailbox, false)?),
                3 => figures.outbox.extend(exchange(&mut bed, cpus, Means::Mailbox, true)?),
                _ => figures.signal.extend(exchange(&mut bed, cpus, Means::Signal, false)?),
            }
        }
    }
    Ok(table(cpus, &figures))
}

fn table([a, b]: [u32; 2], figures: &Figures) -> Vec<Row> {
    vec![
        by_turns(
            a,
            b,
            "mailbox round trip / core distance",
            &figures.mailbox,
            &figures.distance,
            1.15,
        ),
        by_turns(
            a,
            b,
            "mailbox and outbox / core distance",
            &figures.outbox,
            &figures.distance,
            1.15,
        ),
        by_turns(
            a,
            b,
            "signal round trip / core distance",
            &figures.signal,
            &figures.distance,
            1.15,
        ),
        by_turns(a, b, "mailbox program / plain loop", &figures.mailbox, &figures.plain, 1.02),
    ]
}

fn by_turns(a: u32, b: u32, what: &str, ours: &[f64], theirs: &[f64], limit: f64) -> Row {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    let ratio = median(&ratios);
    let got = format!("{ratio:.3} by turns ({:.1} / {:.1} ns)", median(ours), median(theirs));
    Row::held(format!("{what}, {a}-{b}"), got, format!("<= {limit}"), ratio <= limit)
}

fn distance(probe: &mut pair::Ours, cpus: [u32; 2]) -> Result<Option<f64>, Box<dyn Error>> {
    Ok(seatmap_statistics::median(&probe.visit(&pair::visit(cpus))?.remove(0).round_trip_ns))
}

fn exchange(
    bed: &mut HostBed,
    cpus: [u32; 2],
    means: Means,
    has_controller: bool,
) -> Result<Option<f64>, Box<dyn Error>> {
    let program = Exchange {
        means,
        has_controller,
        by_system_call: false,
        warm_up: WARM_UP,
        iterations: ITERATIONS,
    };
    let timed = bed.run(&cpus, &program, 0)?[0];
    Ok(Some((timed.ended - timed.began) as f64 * bed.ns_per_cycle() / ITERATIONS as f64))
}

/// The loop that anyone would write: a place each way on one line, a number beside the value to see
/// that it is new.
fn plain(
    crew: &mut Crew,
    cpus: [u32; 2],
    clock: &HostClock,
) -> Result<Option<f64>, Box<dyn Error>> {
    let arena = Arena::new(64)?;
    let sides = crew.run(&cpus, &|side| match side {
        // Words 16 and 20 are bytes 128 and 160, on one line, which goes there and back once a
        // round trip.
        0 => Some(leads(&arena.words()[16], &arena.words()[20], clock)),
        _ => {
            answers(&arena.words()[20], &arena.words()[16]);
            None
        }
    })?;
    let ticks = sides.into_iter().flatten().next();
    Ok(ticks.map(|ticks| ticks as f64 * clock.ns_per_tick() / ITERATIONS as f64))
}

/// Ticks of the timed round trips.
fn leads(inbox: &AtomicU64, outbox: &AtomicU64, clock: &HostClock) -> u64 {
    lead(inbox, outbox, 1..=WARM_UP);
    let began = clock.stamp().ticks;
    lead(inbox, outbox, WARM_UP + 1..=WARM_UP + ITERATIONS);
    clock.stamp().ticks - began
}

fn lead(inbox: &AtomicU64, outbox: &AtomicU64, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        // The number above tells that the value below it is new: one store carries both.
        outbox.store(number << 32 | number & 0xffff_ffff, Ordering::Release);
        while inbox.load(Ordering::Acquire) >> 32 != number {
            spin_loop();
        }
    }
}

fn answers(inbox: &AtomicU64, outbox: &AtomicU64) {
    for number in 1..=WARM_UP + ITERATIONS {
        let mut found = inbox.load(Ordering::Acquire);
        while found >> 32 != number {
            spin_loop();
            found = inbox.load(Ordering::Acquire);
        }
        outbox.store(number << 32 | found & 0xffff_ffff, Ordering::Release);
    }
}
