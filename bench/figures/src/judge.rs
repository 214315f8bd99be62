//! How long `seatmap bench` takes to judge a long session: the statistics alone, of readings made
//! up.

use crate::row::Row;
use seatmap_statistics::random::Xoshiro;
use seatmap_tune::verdict::{comparisons, floor};
use std::error::Error;
use std::time::Instant;

/// Blocks of a session of short commands, such as `seatmap bench --runs 1000 -- true`.
const BLOCKS: usize = 1000;

/// The most seconds that their judgement may take.
const LIMIT_S: f64 = 2.0;

/// Seconds for the judgement of two commands in so many blocks.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let mut random = Xoshiro::new(1);
    // The first command runs twice in each block.
    let blocks: Vec<Vec<f64>> = (0..BLOCKS)
        .map(|_| {
            [1.0, 1.0, 1.01].map(|base| base * (1.0 + 1e-5 * random.below(10_000) as f64)).to_vec()
        })
        .collect();
    let began = Instant::now();
    let itself = floor(&blocks, 1).ok_or("a session of many blocks has a floor")?;
    let compared = comparisons(&blocks, 0.95, None, Some(&itself));
    let seconds = began.elapsed().as_secs_f64();
    let what = format!("judging {BLOCKS} blocks of 'seatmap bench' ({} compared)", compared.len());
    let got = format!("{seconds:.2} s, differences above {:.2} % shown", itself.floor_percent);
    Ok(vec![Row::held(what, got, format!("< {LIMIT_S} s"), seconds < LIMIT_S)])
}
