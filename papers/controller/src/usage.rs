//! The recent CPU time of each user, with exponential decay.
//!
//! After Kay & Lauder 1988 ("A fair share scheduler"): usage decays with a half-life, so recent use
//! counts most, and no account exceeds what can be used in about 1.4 half-lives.

use std::collections::BTreeMap;

/// The half-life of usage, in ms.
pub const HALF_LIFE_MS: f64 = 600_000.0;

const NOTHING: f64 = 1e-3;

/// Each user's recent usage, in CPU-ms.
#[derive(Clone, Debug, PartialEq)]
pub struct UserUsage {
    at_ms: u64,
    of: BTreeMap<u32, f64>,
}

impl UserUsage {
    /// Creates an empty account.
    pub fn since(now_ms: u64) -> Self {
        UserUsage { at_ms: now_ms, of: BTreeMap::new() }
    }

    /// Restores an account of some time, in CPU-ms.
    pub fn at(at_ms: u64, of: BTreeMap<u32, f64>) -> Self {
        UserUsage { at_ms, of }
    }

    /// The last update's time, in ms.
    pub fn at_ms(&self) -> u64 {
        self.at_ms
    }

    /// The recent usage of all users, in CPU-ms.
    pub fn of_all(&self) -> &BTreeMap<u32, f64> {
        &self.of
    }

    /// Advances time, during which each user held this number of CPUs. Does nothing if the clock
    /// goes back.
    pub fn pass(&mut self, now_ms: u64, cpus: &BTreeMap<u32, usize>) {
        let passed = now_ms.saturating_sub(self.at_ms) as f64;
        self.at_ms = self.at_ms.max(now_ms);
        let kept = (-passed / HALF_LIFE_MS).exp2();
        self.of.values_mut().for_each(|usage| *usage *= kept);
        // The integral of one CPU's usage with decay.
        let one = HALF_LIFE_MS / std::f64::consts::LN_2 * (1.0 - kept);
        cpus.iter()
            .for_each(|(uid, count)| *self.of.entry(*uid).or_insert(0.0) += *count as f64 * one);
        self.of.retain(|_, usage| *usage > NOTHING);
    }

    /// A user's recent usage, in CPU-ms.
    pub fn of(&self, uid: u32) -> f64 {
        self.of.get(&uid).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_saturates_and_halves() {
        let mut usage = UserUsage::since(0);
        usage.pass(1000, &[(7, 2)].into());
        assert!((usage.of(7) - 2000.0).abs() < 2.0, "{}", usage.of(7));
        usage.pass(1000 + HALF_LIFE_MS as u64, &BTreeMap::new());
        assert!((usage.of(7) - 1000.0).abs() < 1.0, "{}", usage.of(7));
        usage.pass(100 * HALF_LIFE_MS as u64, &[(8, 1)].into());
        assert!((usage.of(8) - HALF_LIFE_MS / std::f64::consts::LN_2).abs() < 1.0);
        assert_eq!(usage.of(7), 0.0);
    }

    #[test]
    fn small_steps_equal_one_large_step() {
        let mut once = UserUsage::since(0);
        let mut often = UserUsage::since(0);
        once.pass(100_000, &[(1, 3)].into());
        (1..=1000).for_each(|step| often.pass(step * 100, &[(1, 3)].into()));
        assert!((once.of(1) - often.of(1)).abs() < 1e-3);
    }
}
