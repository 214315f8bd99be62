//! Limits of searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Ends searches from another thread. All clones are one switch.
#[derive(Clone, Debug, Default)]
pub struct SearchStop(Arc<AtomicBool>);

impl SearchStop {
    /// Ends all searches with this switch.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether searches should end.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The limit of a search: by the clock for people, or by count for reproducible answers.
#[derive(Clone, Debug)]
pub struct SearchLimit {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Kicks after which to stop.
    pub kicks: u64,
    /// A good enough cost.
    pub enough: f64,
    /// Ends the search early, without a useful answer.
    pub stop: Option<SearchStop>,
}

impl SearchLimit {
    /// A limit of this much time from now.
    pub fn seconds(seconds: f64) -> Self {
        // Too large a number means no deadline; NaN and negative numbers mean no time.
        let time = if seconds > 0.0 {
            Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
        } else {
            Duration::ZERO
        };
        SearchLimit { deadline: Instant::now().checked_add(time), ..SearchLimit::kicks(u64::MAX) }
    }

    /// A limit of this many kicks.
    pub fn kicks(kicks: u64) -> Self {
        SearchLimit { deadline: None, kicks, enough: f64::NEG_INFINITY, stop: None }
    }

    /// This limit, which also ends when the switch is used.
    pub fn unless(self, stop: Option<SearchStop>) -> Self {
        SearchLimit { stop, ..self }
    }

    /// This limit, which also ends at this cost.
    pub fn until(&self, cost: f64) -> Self {
        SearchLimit { enough: cost, ..self.clone() }
    }

    /// Whether a search with this cost should end.
    pub fn ends_at(&self, cost: f64) -> bool {
        cost <= self.enough || self.is_over()
    }

    /// Whether kicks or time are used up.
    pub fn is_over(&self) -> bool {
        self.kicks == 0 || self.is_late()
    }

    /// Whether the deadline has passed or the search was stopped.
    pub fn is_late(&self) -> bool {
        let is_stopped = self.stop.as_ref().is_some_and(SearchStop::is_stopped);
        is_stopped || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The first `1/parts` of the remaining time. Kicks are per search, so answers do not depend on
    /// others.
    pub fn time_part(&self, parts: u32) -> Self {
        SearchLimit { kicks: self.kicks, ..self.part(parts) }
    }

    /// The first `1/parts` of the remaining time and kicks.
    pub fn part(&self, parts: u32) -> Self {
        let now = Instant::now();
        let parts = parts.max(1);
        SearchLimit {
            deadline: self
                .deadline
                .map(|deadline| now + deadline.saturating_duration_since(now) / parts),
            // `u64::MAX` means "by the clock".
            kicks: if self.kicks == u64::MAX { u64::MAX } else { self.kicks / u64::from(parts) },
            ..self.clone()
        }
    }
}

/// The length of a future search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchTime {
    /// Seconds by the clock.
    Seconds(f64),
    /// Kicks, for the same answer everywhere.
    Kicks(u64),
}

impl SearchTime {
    /// The limit of a search that starts now.
    pub fn limit(self) -> SearchLimit {
        self.part(1)
    }

    /// Its seconds, if by the clock.
    pub fn seconds(self) -> Option<f64> {
        match self {
            SearchTime::Seconds(seconds) => Some(seconds),
            SearchTime::Kicks(_) => None,
        }
    }

    /// The limit of a search with one of `parts` parts.
    pub fn part(self, parts: u32) -> SearchLimit {
        match self {
            SearchTime::Seconds(seconds) => SearchLimit::seconds(seconds / f64::from(parts)),
            SearchTime::Kicks(kicks) => SearchLimit::kicks(kicks / u64::from(parts)),
        }
    }

    /// Leaves one of `parts` parts to another search.
    pub fn without_part(self, parts: u32) -> SearchLimit {
        match self {
            SearchTime::Seconds(seconds) => {
                SearchLimit::seconds(seconds * f64::from(parts - 1) / f64::from(parts))
            }
            kicks => kicks.limit(),
        }
    }
}

/// Between readings of the clock: about 10 microseconds.
const WORK_BETWEEN_LOOKS: usize = 1 << 16;

/// Reads the clock now and then: that takes as long as a small step.
#[derive(Debug)]
pub struct DeadlineWatch<'a> {
    limit: &'a SearchLimit,
    steps_a_look: usize,
    steps: usize,
    is_late: bool,
}

impl<'a> DeadlineWatch<'a> {
    /// Watches steps that touch this many cells.
    pub fn new(limit: &'a SearchLimit, cells_a_step: usize) -> Self {
        let steps_a_look = (WORK_BETWEEN_LOOKS / cells_a_step.max(1)).max(1);
        DeadlineWatch { limit, steps_a_look, steps: 0, is_late: false }
    }

    /// Counts a step, and returns whether time was up at the latest reading.
    pub fn is_late(&mut self) -> bool {
        if self.steps.is_multiple_of(self.steps_a_look) {
            self.is_late = self.is_late || self.limit.is_late();
        }
        self.steps += 1;
        self.is_late
    }
}

/// The used part of a limit, for temperatures.
#[derive(Debug)]
pub struct LimitClock<'a> {
    limit: &'a SearchLimit,
    began: Instant,
    /// The most steps.
    pub steps: u64,
}

impl<'a> LimitClock<'a> {
    /// Starts now. Each kick of the limit is this many steps.
    pub fn new(limit: &'a SearchLimit, steps_a_kick: usize) -> Self {
        let steps = limit.kicks.saturating_mul(steps_a_kick as u64);
        LimitClock { limit, began: Instant::now(), steps }
    }

    /// The used part after these steps: 0 to 1, or more after the deadline.
    pub fn done(&self, steps: u64) -> f64 {
        if self.steps == 0 || self.limit.is_late() {
            return 1.0;
        }
        let counted = steps as f64 / self.steps as f64;
        let timed = self.limit.deadline.map_or(0.0, |deadline| {
            let all = deadline.saturating_duration_since(self.began);
            self.began.elapsed().as_secs_f64() / all.as_secs_f64()
        });
        counted.max(timed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonpositive_or_nan_seconds_are_late() {
        for seconds in [-1.0, 0.0, f64::NAN] {
            assert!(SearchLimit::seconds(seconds).is_late(), "{seconds}");
        }
        assert!(!SearchLimit::seconds(1e300).is_late());
    }

    #[test]
    fn time_part_keeps_kick_count() {
        assert_eq!(SearchLimit::kicks(9).time_part(3).kicks, 9);
        let whole = SearchLimit::seconds(1e6);
        assert!(whole.time_part(2).deadline < whole.deadline);
    }

    #[test]
    fn stop_switch_ends_derived_limits() {
        let stop = SearchStop::default();
        let limits = [SearchLimit::seconds(1e6), SearchLimit::kicks(u64::MAX)];
        let limits = limits.map(|limit| limit.unless(Some(stop.clone())));
        let parts = limits.clone().map(|limit| limit.part(2).time_part(2).until(1.0));
        let all = [limits, parts].concat();
        assert!(all.iter().all(|limit| !limit.is_over()));
        stop.stop();
        assert!(all.iter().all(|limit| limit.is_late() && limit.is_over()));
    }

    #[test]
    fn limit_clock_counts_steps_until_stopped() {
        let stop = SearchStop::default();
        let limit = SearchLimit::kicks(4).unless(Some(stop.clone()));
        let clock = LimitClock::new(&limit, 5);
        assert_eq!([0, 10, 20].map(|steps| clock.done(steps)), [0.0, 0.5, 1.0]);
        stop.stop();
        assert_eq!(clock.done(0), 1.0);
        let no_time = SearchLimit::seconds(0.0);
        assert_eq!(LimitClock::new(&no_time, 5).done(0), 1.0);
        assert_eq!(LimitClock::new(&SearchLimit::kicks(0), 5).done(0), 1.0);
    }

    #[test]
    fn deadline_watch_checks_first_step_and_stays_late() {
        let no_time = SearchLimit::seconds(0.0);
        let mut late = DeadlineWatch::new(&no_time, 1 << 10);
        assert!((0..200).all(|_| late.is_late()));
        let no_kicks = SearchLimit::kicks(0);
        let mut counted = DeadlineWatch::new(&no_kicks, 1);
        assert!(!counted.is_late(), "kicks are not time");
        assert!(SearchLimit::kicks(0).is_over() && !SearchLimit::kicks(0).is_late());
    }
}
