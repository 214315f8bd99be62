//! The time that a thread spent under another mask than its seat's, as looks found it.

use std::time::{Duration, Instant};

/// The times of a thread away from its seat. A time lasts from the first look that finds another
/// mask to the last one that does: looks may be a second apart, and a short detour that one of them
/// happens upon is not a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeAway {
    /// The first look and the last one of a time that goes on.
    now: Option<(Instant, Instant)>,
    ended: Duration,
    cpus: Vec<u32>,
}

impl TimeAway {
    /// The thread is away at this instant, and ran on this CPU last.
    pub(crate) fn begin(&mut self, now: Instant, ran_on: Option<u32>) {
        let first = self.now.map_or(now, |(first, _)| first);
        self.now = Some((first, now));
        let cpus = &self.cpus;
        let new = ran_on.filter(|cpu| !cpus.contains(cpu));
        self.cpus.extend(new);
    }

    /// The thread is back.
    pub(crate) fn end(&mut self) {
        if let Some((first, last)) = self.now.take() {
            self.ended += last.saturating_duration_since(first);
        }
    }

    /// How long the times took that have ended.
    #[must_use]
    pub fn lasted(&self) -> Duration {
        self.ended
    }

    /// The CPUs that the thread ran on meanwhile, in order of appearance.
    #[must_use]
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    #[cfg(test)]
    pub(crate) fn backdate(&mut self, by: Duration) {
        self.now = self.now.and_then(|(first, last)| Some((first.checked_sub(by)?, last)));
    }
}
