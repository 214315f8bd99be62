//! Trials: the random order of their arms, and the confidence of several claims.

use crate::statistics::random::Xoshiro;

/// The random orders of a trial's rounds; the same seed gives the same orders.
#[derive(Clone, Debug)]
pub struct Schedule(Xoshiro);

impl Schedule {
    /// The orders from a seed.
    pub fn new(seed: u64) -> Self {
        Schedule(Xoshiro::new(seed))
    }

    /// The arms of the next round, by number, each once.
    pub fn order(&mut self, arms: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..arms).collect();
        self.0.shuffle(&mut order);
        order
    }
}

/// The confidence of each of several claims that share the error allowed for one (Bonferroni), so
/// all together have the given one.
pub fn each(confidence: f64, claims: usize) -> f64 {
    1.0 - (1.0 - confidence) / claims.max(1) as f64
}
