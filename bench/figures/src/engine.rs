//! The simulator: events a second, alone and on two cores, and how that grows.

use crate::row::Row;
use rayon::prelude::*;
use seatmap_cell_sim::workload::stats::{Source, Transfers};
use seatmap_cell_sim::{CellBed, catalog};
use seatmap_port::channels::Bed;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// Number of turns; the median counts.
const TURNS: usize = 7;

/// Eight SPEs of one chip, each getting 16 KiB from the memory again and again.
fn busy(iterations: u64) -> Transfers {
    Transfers {
        is_get: true,
        tasks: 8,
        size_bytes: 16384,
        elements: None,
        stride_bytes: Some(16384),
        source: Source::Memory(0),
        warm_up: 0,
        iterations,
    }
}

/// Events a second on one core, their growth, and two cores against one.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let model = catalog::load("cell-qs20").ok_or("no such model")??;
    let seats: Vec<u32> = (0..8).collect();
    let mut rates = Vec::new();
    let mut growth = Vec::new();
    let mut gains = Vec::new();
    for _ in 0..TURNS {
        let (short_s, short) = timed_run(&model, &seats, 100)?;
        let (long_s, long) = timed_run(&model, &seats, 800)?;
        rates.push(long as f64 / long_s / 1e6);
        // The time of an event in a long run over that in a short one.
        growth.push((long_s / long as f64) / (short_s / short as f64));
        let began = Instant::now();
        (0..4).try_for_each(|_| timed_run(&model, &seats, 200).map(drop))?;
        let alone_s = began.elapsed().as_secs_f64();
        let began = Instant::now();
        (0..4).into_par_iter().try_for_each(|_| timed_run(&model, &seats, 200).map(drop))?;
        gains.push(alone_s / began.elapsed().as_secs_f64());
    }
    let rate = sorted_median(&mut rates);
    let growth = sorted_median(&mut growth);
    let gain = sorted_median(&mut gains);
    Ok(vec![
        Row::held(
            "simulator, eight busy SPEs, one core",
            format!("{rate:.1} M events/s"),
            ">= 25 M events/s",
            rate >= 25.0,
        ),
        Row::held(
            "the same, time an event, 8 times as long a run over a short one",
            format!("{growth:.3}"),
            "<= 1.10",
            growth <= 1.1,
        ),
        Row::held(
            "simulator, four runs on two cores over one",
            format!("{gain:.2}"),
            ">= 1.8",
            gain >= 1.8,
        ),
    ])
}

fn timed_run(
    model: &Arc<seatmap_cell_sim::CellModel>,
    seats: &[u32],
    iterations: u64,
) -> Result<(f64, u64), seatmap_sim::SimError> {
    let mut bed = CellBed::new(Arc::clone(model));
    let began = Instant::now();
    bed.run(seats, &busy(iterations), 1)?;
    Ok((began.elapsed().as_secs_f64(), bed.counters().events))
}

fn sorted_median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
