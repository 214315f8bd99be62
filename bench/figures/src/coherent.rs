//! The coherent models: events a second on a busy ring, and one pair against its formula.

use crate::row::Row;
use seatmap_port::{Addr, Testbed};
use seatmap_sim::{CoherentBed, CoherentModel, SimError, catalog};
use seatmap_workload::PingPong;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// Number of turns; the median counts.
const TURNS: usize = 7;
/// Pairs of busy threads: half of a Xeon Phi, as in figure 7 of Liu et al. 2015.
const PAIRS: u32 = 60;
/// Round trips between two readings of the clock.
const ROUND_TRIPS: u32 = 4;

/// Pairs of threads on cores far from each other, a line each.
fn run(bed: &mut CoherentBed, pairs: u32, batches: u32) -> Result<Vec<u64>, SimError> {
    // 7 and 240 have no common divisor: no PU comes twice.
    let seats: Vec<u32> = (0..2 * pairs).map(|at| at * 7 % 240).collect();
    // Beyond the gate's line, and every second one, so that no two pairs use neighbours.
    let lines = (0..pairs).map(|at| Addr::line(64 + 2 * at)).collect();
    let traces = bed
        .run(&seats, &PingPong { lines, gate: Addr::line(0), batches, round_trips: ROUND_TRIPS })?;
    Ok(traces[0].stamps.iter().map(|stamp| stamp.ticks).collect())
}

/// Events a second, and whether simulation and formula agree.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let model: Arc<CoherentModel> = catalog::load("xeon-phi-5110p").ok_or("no such model")??;
    let mut bed = CoherentBed::new(Arc::clone(&model));
    let mut rates = Vec::new();
    for _ in 0..TURNS {
        let began = Instant::now();
        run(&mut bed, PAIRS, 50)?;
        rates.push(bed.counters().events as f64 / began.elapsed().as_secs_f64() / 1e6);
    }
    rates.sort_by(f64::total_cmp);
    let rate = rates[TURNS / 2];
    let stamps = run(&mut bed, 1, 4)?;
    // The caches are warm by the last batch.
    let simulated = (stamps[4] - stamps[3]) / u64::from(ROUND_TRIPS);
    let formula = model.round_trip_ticks(0, 7, 64).ok_or("no such pair")?;
    Ok(vec![
        Row::held(
            "coherent ring of 60 cores, 120 busy threads, one core",
            format!("{rate:.1} M events/s"),
            ">= 15 M events/s",
            rate >= 15.0,
        ),
        Row::held(
            "one pair alone, simulated and by formula",
            format!("{simulated} and {formula} cycles"),
            "equal",
            simulated == formula,
        ),
    ])
}
