//! Option prices by the formula of Black & Scholes (1973).

use crate::cellule::CelluleError;
use crate::cellule::memory::{Floats, floats};
use crate::cellule::problem::{ParallelProblem, program};
use seatmap_worker::{WorkerProgram, WorkerView};
use std::sync::Arc;

/// Options of a block: four numbers of each fill 64 KiB.
const OPTIONS: usize = 4096;
/// Numbers of an option: price of the share, strike price, years, volatility.
const INPUTS: usize = 4;
const RATE: f32 = 0.02;
/// The largest error of single against double precision: prices are up to 30, and seven digits
/// remain.
const TOLERANCE: f32 = 2e-4;

/// European calls in blocks of 64 KiB. A task is a block.
pub struct BlackScholes(Arc<Data>);

struct Data {
    blocks: u32,
    inputs: Floats,
    prices: Floats,
    expected: Vec<f32>,
}

impl BlackScholes {
    /// This many blocks, and their prices by plain code.
    pub fn new(blocks: u32) -> Self {
        let count = blocks as usize * OPTIONS;
        let mut random = fastrand::Rng::with_seed(u64::from(blocks));
        let ranges = [(5.0, 30.0), (1.0, 100.0), (0.25, 10.0), (0.1, 0.6)];
        let mut inputs = Vec::with_capacity(count * INPUTS);
        for _ in 0..blocks {
            // Structure of arrays: all prices of a block, then all strikes, and so on, as vectors
            // need them.
            for (low, high) in ranges {
                inputs.extend((0..OPTIONS).map(|_| low + (high - low) * random.f32()));
            }
        }
        let expected = inputs.chunks_exact(INPUTS * OPTIONS).flat_map(plain).collect();
        let inputs = Floats::new(inputs);
        let prices = Floats::zeros(count);
        BlackScholes(Arc::new(Data { blocks, inputs, prices, expected }))
    }
}

fn plain(block: &[f32]) -> Vec<f32> {
    (0..OPTIONS)
        .map(|at| {
            let [share, strike, years, volatility] =
                [0, 1, 2, 3].map(|input| f64::from(block[input * OPTIONS + at]));
            let rate = f64::from(RATE);
            let deviation = volatility * years.sqrt();
            let d1 = ((share / strike).ln() + (rate + volatility * volatility / 2.0) * years)
                / deviation;
            (share * exact_normal(d1)
                - strike * (-rate * years).exp() * exact_normal(d1 - deviation)) as f32
        })
        .collect()
}

fn exact_normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

fn call([share, strike, years, volatility]: [f32; INPUTS]) -> f32 {
    let deviation = volatility * years.sqrt();
    let d1 = ((share / strike).ln() + (RATE + volatility * volatility * 0.5) * years) / deviation;
    share * normal(d1) - strike * (-RATE * years).exp() * normal(d1 - deviation)
}

/// The cumulative normal distribution, to 7.5e-8 (Abramowitz & Stegun 1964, 26.2.17).
fn normal(x: f32) -> f32 {
    const B: [f32; 5] = [0.319_381_53, -0.356_563_78, 1.781_477_9, -1.821_255_9, 1.330_274_4];
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let sum = B.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    let tail = (-x * x * 0.5).exp()
        * sum
        * (0.5 * std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2);
    if x < 0.0 { tail } else { 1.0 - tail }
}

impl Data {
    fn compute(&self, inside: &mut WorkerView, task: usize) -> bool {
        const BLOCK: usize = INPUTS * OPTIONS;
        if !self.inputs.get(inside, 0, task * BLOCK, BLOCK) {
            return false;
        }
        let Some((inputs, rest)) = floats(inside.store()).split_at_mut_checked(BLOCK) else {
            return false;
        };
        let Some(prices) = rest.get_mut(..OPTIONS) else { return false };
        for (at, price) in prices.iter_mut().enumerate() {
            *price = call([0, 1, 2, 3].map(|input| inputs[input * OPTIONS + at]));
        }
        self.prices.put(inside, BLOCK * size_of::<f32>(), task * OPTIONS, OPTIONS)
    }
}

impl ParallelProblem for BlackScholes {
    fn program(&self) -> Arc<dyn WorkerProgram> {
        let data = Arc::clone(&self.0);
        program(self.tasks(), move |inside, task| data.compute(inside, task as usize))
    }

    fn tasks(&self) -> u32 {
        self.0.blocks
    }

    fn clear(&self) {
        self.0.prices.clear();
    }

    fn check(&self) -> Result<(), CelluleError> {
        let got = self.0.prices.values();
        match got.iter().zip(&self.0.expected).position(|(got, expected)| {
            // NaN fails this comparison too.
            (got - expected).abs().partial_cmp(&TOLERANCE) != Some(std::cmp::Ordering::Less)
        }) {
            None => Ok(()),
            Some(at) => Err(CelluleError::Wrong {
                what: "black-scholes",
                at,
                got: got[at],
                expected: self.0.expected[at],
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_match_the_formula() {
        assert!((call([42.0, 40.0, 0.5, 0.2]) - 3.694_565).abs() < 1e-5);
        assert!(
            (normal(0.0) - 0.5).abs() < 1e-6
                && (normal(1.0) - 0.841_344_7).abs() < 1e-6
                && normal(-9.0) < 1e-6
        );
    }

    #[test]
    fn missing_price_is_an_error() {
        assert!(matches!(BlackScholes::new(1).check(), Err(CelluleError::Wrong { .. })));
    }
}
