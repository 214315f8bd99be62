//! The last seating of a command that may end before the look does.
//!
//! The kernel forgets a thread as it ends. An observation counts what it did all the same; where
//! nothing may be observed, in a container or without rights, only a look while it lived knows.

use seatmap_watch::seating::Thread;
use seatmap_watch::{Seating, Watcher};
use std::time::{Duration, Instant};

/// Seats a command now and then, and keeps the last seating that had threads.
pub(super) struct LastSeating {
    watcher: Watcher,
    begun: Instant,
    seating: Option<Seating>,
}

impl LastSeating {
    /// Begins to watch by a watcher of its own: a seating begins the time of the next one.
    pub(super) fn new(watcher: Watcher) -> Self {
        LastSeating { watcher, begun: Instant::now(), seating: None }
    }

    /// A glance at the threads that run, and a seating where this time is over.
    pub(super) fn glance(&mut self, every: Duration) {
        self.watcher.glance();
        if self.begun.elapsed() < every {
            return;
        }
        self.begun = Instant::now();
        let seating = self.watcher.seating();
        if !seating.threads.is_empty() {
            self.seating = Some(seating);
        }
    }

    /// The last seating, with the shares of each thread's whole life.
    pub(super) fn over_life(self) -> Option<Seating> {
        let mut seating = self.seating?;
        seating.threads.iter_mut().for_each(spread_over_life);
        Some(seating)
    }
}

/// Gives a thread the shares of its life instead of those since the look before.
fn spread_over_life(thread: &mut Thread) {
    let percent = 100.0 / thread.age_s.max(1e-3);
    thread.run_percent = (thread.run_s * percent).min(100.0);
    thread.wait_percent = thread.wait_s.map(|wait_s| (wait_s * percent).min(100.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_watch::{Choice, WatchOptions};
    use std::process::Command;

    #[test]
    fn a_program_that_has_ended_is_known_as_it_was() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let pids = vec![i32::try_from(child.id()).unwrap()];
        let choice = Choice::Processes { pids: pids.clone(), with_children: true };
        let watcher = Watcher::begin(&choice, &WatchOptions::default()).unwrap();
        let mut last = LastSeating::new(watcher);
        last.glance(Duration::ZERO);
        child.kill().unwrap();
        child.wait().unwrap();
        last.glance(Duration::ZERO);
        let seating = last.over_life().unwrap();
        assert!(seating.threads.len() == 1 && seating.threads[0].tid == pids[0], "{seating:?}");
    }

    #[test]
    fn shares_are_those_of_a_life() {
        let mut thread = Thread { run_s: 3.0, wait_s: Some(1.0), age_s: 4.0, ..Thread::default() };
        spread_over_life(&mut thread);
        assert_eq!((thread.run_percent, thread.wait_percent), (75.0, Some(25.0)));
        // The kernel's clocks of age and of CPU time differ by a tick.
        let mut born_now = Thread { run_s: 0.02, age_s: 0.0, ..Thread::default() };
        spread_over_life(&mut born_now);
        assert_eq!((born_now.run_percent, born_now.wait_percent), (100.0, None));
    }
}
