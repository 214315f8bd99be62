//! The last seating of a command that may end before the look does.
//!
//! The kernel forgets a thread as it ends. An observation counts what it did all the same; where
//! nothing may be observed, in a container or without rights, only a look while it lived knows.

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
        for thread in &mut seating.threads {
            let percent = 100.0 / thread.age_s.max(1e-3);
            thread.run_percent = (thread.run_s * percent).min(100.0);
            thread.wait_percent = thread.wait_s.map(|wait_s| (wait_s * percent).min(100.0));
        }
        Some(seating)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_watch::{Choice, WatchOptions};
    use std::process::Command;

    #[test]
    fn a_program_that_has_ended_is_known_as_it_was() {
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let pids = vec![i32::try_from(child.id()).unwrap()];
        let choice = Choice::Processes { pids, with_children: true };
        let watcher = Watcher::begin(&choice, &WatchOptions::default()).unwrap();
        let mut last = LastSeating::new(watcher);
        // The clock of CPU time has ticks.
        while seatmap_os::task::times(child.id() as i32).is_none_or(|times| times.run_ns == 0) {
            std::thread::yield_now();
        }
        last.glance(Duration::ZERO);
        child.kill().unwrap();
        child.wait().unwrap();
        last.glance(Duration::ZERO);
        let seating = last.over_life().unwrap();
        let [thread] = &seating.threads[..] else { panic!("{seating:?}") };
        assert!(thread.name == "sh" && thread.run_percent > 0.0, "{thread:?}");
    }
}
