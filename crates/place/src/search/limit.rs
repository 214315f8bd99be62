//! When a search ends.

use std::time::{Duration, Instant};

/// When a search ends: by the clock for people, by count where the same input must give the same answer.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The moment at which to stop.
    pub deadline: Option<Instant>,
    /// Kicks after which to stop.
    pub kicks: u64,
    /// A cost that is good enough to stop at.
    pub enough: f64,
}

impl Limit {
    /// So much time from now.
    #[must_use]
    pub fn seconds(seconds: f64) -> Self {
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Limit { deadline: Instant::now().checked_add(time), kicks: u64::MAX, enough: f64::NEG_INFINITY }
    }

    /// So many kicks.
    #[must_use]
    pub fn kicks(kicks: u64) -> Self {
        Limit { deadline: None, kicks, enough: f64::NEG_INFINITY }
    }

    /// The same, and no longer than until this cost is reached.
    #[must_use]
    pub fn until(self, cost: f64) -> Self {
        Limit { enough: cost, ..self }
    }

    /// Whether a search that has found this cost should end.
    #[must_use]
    pub fn ends_at(&self, cost: f64) -> bool {
        cost <= self.enough || self.is_over()
    }

    /// Whether time is up.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.kicks == 0 || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The first `1/parts` of what is left, taken off it.
    #[must_use]
    pub fn part(&self, parts: u32) -> Self {
        let now = Instant::now();
        let slice = |deadline: Instant| now + deadline.saturating_duration_since(now) / parts.max(1);
        let kicks = if self.kicks == u64::MAX { u64::MAX } else { self.kicks / u64::from(parts.max(1)) };
        Limit { deadline: self.deadline.map(slice), kicks, enough: self.enough }
    }
}
