//! The seating of a program that runs, shown to those who check it.
//!
//! `seatmap check` compares the threads with the seats that this process gave them, so it needs
//! neither a plan nor a report on file. The seating is a text of this process
//! ([`seatmap_os::published`]), which ends with it.

use crate::report::Report;
use seatmap_os::published::{Published, SEATING};
use std::time::{Duration, Instant};

/// The shortest time between two versions.
const PAUSE: Duration = Duration::from_millis(250);

/// Writing takes at most this part of one CPU's time.
const SHARE: u32 = 100;

/// The shown seating.
#[derive(Debug)]
pub(crate) struct LivingReport {
    text: Published,
    is_old: bool,
    due: Instant,
}

impl LivingReport {
    pub fn new() -> Self {
        LivingReport { text: Published::new(SEATING), is_old: true, due: Instant::now() }
    }

    /// Whether a new version is due, with or without news since the last time.
    pub fn is_due(&mut self, has_news: bool) -> bool {
        self.is_old |= has_news;
        self.is_old && Instant::now() >= self.due
    }

    /// Shows a new version. A kernel without memory for it leaves the former one.
    pub fn show(&mut self, report: &Report) {
        let begun = Instant::now();
        let _ = self.text.replace(seatmap_data::document::written(report).as_bytes());
        self.is_old = false;
        self.due = Instant::now() + PAUSE.max(begun.elapsed() * SHARE);
    }
}
