//! Compares our ping-pong with a simple hand-written loop.

use crate::plain::HandWrittenLoop;
use crate::row::FigureRow;
use crate::statistic::{in_turns, median, ratios, spread};
use seatmap_data::machine::Topology;
use seatmap_machines::host::crew::Crew;
use seatmap_machines::host::{HostClock, HostTestbed};
use seatmap_measure::probe::{PairAt, Probe, Visit};
use seatmap_measure::testbed_probe::{TestbedProbe, candidate};
use seatmap_os::affinity;
use std::error::Error;
use std::sync::atomic::AtomicU64;

const TURNS: usize = 600;
const BATCHES: u32 = 16;
const ROUND_TRIPS: u32 = 50;

pub fn cpus() -> Result<Option<[u32; 2]>, Box<dyn Error>> {
    let allowed = affinity::current()?;
    if allowed.len() < 2 {
        eprintln!(
            "bench: skipped: two CPUs are needed, and this process may use {}",
            allowed.len()
        );
    }
    Ok(allowed.first_chunk().copied())
}

pub type Ours = TestbedProbe<HostTestbed>;

fn word(probe: &Ours) -> &AtomicU64 {
    &probe.testbed().words()[candidate(0).0 as usize]
}

pub fn probe(cpus: [u32; 2]) -> Result<Ours, Box<dyn Error>> {
    let topology = Topology::unknown(cpus);
    let testbed = HostTestbed::new(cpus.to_vec(), Ours::shared_lines(1, &topology, &cpus))?;
    Ok(Ours::new(testbed, &topology, 1)?)
}

pub fn visit([a, b]: [u32; 2]) -> Visit {
    Visit { pairs: vec![PairAt { a, b, line: 0 }], batches: BATCHES, round_trips: ROUND_TRIPS }
}

/// The ratio of both kinds by turn, with its spread.
pub fn rows() -> Result<Vec<FigureRow>, Box<dyn Error>> {
    let Some(cpus) = cpus()? else { return Ok(Vec::new()) };
    let mut probe = probe(cpus)?;
    let clock = HostClock::calibrated();
    let mut crew = Crew::default();
    let plain = HandWrittenLoop::default();
    let [ours, theirs] = in_turns(TURNS, |kind| {
        let round_trips_ns = match kind {
            0 => our_turn(&mut probe, cpus)?,
            _ => their_turn(&mut crew, &plain, cpus, word(&probe), &clock)?,
        };
        Ok::<_, Box<dyn Error>>(median(&round_trips_ns))
    })?;
    // A change of the clock rate between turns affects both parts.
    let ratios = ratios(&ours, &theirs);
    let ratio = median(&ratios);
    let got = format!("{} ({:.1} / {:.1} ns)", spread(&ratios, ""), median(&ours), median(&theirs));
    let what = format!("round trip {}-{}, ours / plain loop", cpus[0], cpus[1]);
    Ok(vec![FigureRow::held(what, got, "0.95-1.05", (0.95..=1.05).contains(&ratio))])
}

fn our_turn(probe: &mut Ours, cpus: [u32; 2]) -> Result<Vec<f64>, Box<dyn Error>> {
    Ok(probe.visit(&visit(cpus))?.remove(0).round_trip_ns)
}

fn their_turn(
    crew: &mut Crew,
    plain: &HandWrittenLoop,
    cpus: [u32; 2],
    word: &AtomicU64,
    clock: &HostClock,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut sides =
        crew.run(&cpus, &|side| plain.side(word, side as u64, BATCHES, ROUND_TRIPS, clock))?;
    // Side 1 moves second in each round trip, and waits for side 0's first store.
    Ok(sides.remove(1))
}
