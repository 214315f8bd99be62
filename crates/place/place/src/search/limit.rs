//! When a search ends.

use std::time::{Duration, Instant};

/// The end of a search: by the clock for people, by count where the same input must give the same
/// answer.
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
    /// A limit of this much time from now.
    #[must_use]
    pub fn seconds(seconds: f64) -> Self {
        // A negative number or one beyond what a duration holds: no deadline, rather than a panic.
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Limit {
            deadline: Instant::now().checked_add(time),
            kicks: u64::MAX,
            enough: f64::NEG_INFINITY,
        }
    }

    /// A limit of this many kicks.
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
        self.kicks == 0 || self.is_late()
    }

    /// Whether the deadline has passed, however many kicks are left.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Takes the first `1/parts` of the rest off it.
    #[must_use]
    pub fn part(&self, parts: u32) -> Self {
        let now = Instant::now();
        // `u64::MAX` stands for "by the clock", and a part of it must too.
        let kicks =
            if self.kicks == u64::MAX { u64::MAX } else { self.kicks / u64::from(parts.max(1)) };
        Limit {
            deadline: self
                .deadline
                .map(|deadline| now + deadline.saturating_duration_since(now) / parts.max(1)),
            kicks,
            enough: self.enough,
        }
    }
}

/// How long a search may take, said before it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchTime {
    /// Seconds by the clock.
    Seconds(f64),
    /// Kicks, for the same answer everywhere.
    Kicks(u64),
}

impl SearchTime {
    /// The limit of a search that begins now.
    #[must_use]
    pub fn limit(self) -> Limit {
        match self {
            SearchTime::Seconds(seconds) => Limit::seconds(seconds),
            SearchTime::Kicks(kicks) => Limit::kicks(kicks),
        }
    }

    /// Its seconds, where it is said by the clock.
    #[must_use]
    pub fn seconds(self) -> Option<f64> {
        match self {
            SearchTime::Seconds(seconds) => Some(seconds),
            SearchTime::Kicks(_) => None,
        }
    }

    /// The limit of a search that begins now and has a part of it.
    #[must_use]
    pub fn part(self, parts: u32) -> Limit {
        match self {
            SearchTime::Seconds(seconds) => Limit::seconds(seconds / f64::from(parts)),
            SearchTime::Kicks(kicks) => Limit::kicks(kicks / u64::from(parts)),
        }
    }

    /// The limit of a search that begins now and leaves such a part to another one. Kicks are
    /// counted for each search alone, so that the answer does not depend on the other one.
    #[must_use]
    pub fn without_part(self, parts: u32) -> Limit {
        match self {
            SearchTime::Seconds(seconds) => {
                Limit::seconds(seconds * f64::from(parts - 1) / f64::from(parts))
            }
            SearchTime::Kicks(kicks) => Limit::kicks(kicks),
        }
    }
}

/// Work between two looks at the clock, in cells of a table: about 10 microseconds.
const WORK_BETWEEN_LOOKS: usize = 1 << 16;

/// Looks at a deadline now and then: a look takes as long as a small step.
#[derive(Debug)]
pub struct Watch {
    limit: Limit,
    steps_a_look: usize,
    steps: usize,
    is_late: bool,
}

impl Watch {
    /// Watches steps that each touch this many cells.
    #[must_use]
    pub fn new(limit: &Limit, cells_a_step: usize) -> Self {
        let steps_a_look = (WORK_BETWEEN_LOOKS / cells_a_step.max(1)).max(1);
        Watch { limit: *limit, steps_a_look, steps: 0, is_late: false }
    }

    /// Counts a step. Whether time is up, by the latest look.
    pub fn is_late(&mut self) -> bool {
        if self.steps.is_multiple_of(self.steps_a_look) {
            self.is_late = self.is_late || self.limit.is_late();
        }
        self.steps += 1;
        self.is_late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_looks_at_the_first_step_and_stays_late() {
        let mut late = Watch::new(&Limit::seconds(0.0), 1 << 10);
        assert!((0..200).all(|_| late.is_late()));
        let mut counted = Watch::new(&Limit::kicks(0), 1);
        assert!(!counted.is_late(), "kicks are not time");
        assert!(Limit::kicks(0).is_over() && !Limit::kicks(0).is_late());
    }
}
