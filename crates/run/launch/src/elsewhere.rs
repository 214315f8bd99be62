//! A thread's time away from its seat.

use std::time::{Duration, Instant};

/// Each absence lasts from the first to the last look with another mask, because looks may be a
/// second apart.
#[derive(Default, PartialEq)]
pub struct TimeAway {
    now: Option<(Instant, Instant)>,
    /// All ended absences.
    pub ended: Duration,
    /// The CPUs meanwhile, by appearance.
    pub cpus: Vec<u32>,
}

impl TimeAway {
    pub fn begin(&mut self, now: Instant, ran_on: Option<u32>) {
        let first = self.now.map_or(now, |(first, _)| first);
        self.now = Some((first, now));
        self.cpus.extend(ran_on.filter(|cpu| !self.cpus.contains(cpu)));
    }

    pub fn end(&mut self) {
        if let Some((first, last)) = self.now.take() {
            self.ended += last.saturating_duration_since(first);
        }
    }

    #[cfg(test)]
    pub fn backdate(&mut self, by: Duration) {
        self.now = self.now.and_then(|(first, last)| Some((first.checked_sub(by)?, last)));
    }
}
