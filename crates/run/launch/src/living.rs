//! Publishes the seating of a running program to commands that check it.
//!
//! The seating is a text of this process ([`seatmap_os::published`]), and ends with it.

use crate::report::Report;
use seatmap_os::published::{Published, SEATING};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(250);

/// Writing takes one part in this many of a CPU's time.
const SHARE: u32 = 100;

pub struct LivingReport {
    text: Published,
    is_old: bool,
    due: Instant,
}

impl LivingReport {
    pub fn new() -> Self {
        LivingReport { text: Published::new(SEATING), is_old: true, due: Instant::now() }
    }

    /// Whether a new version is due, with or without news.
    pub fn is_due(&mut self, has_news: bool) -> bool {
        self.is_old |= has_news;
        self.is_old && Instant::now() >= self.due
    }

    /// Publishes a new version. If the kernel lacks memory for it, the old one stays.
    pub fn show(&mut self, report: &Report) {
        let begun = Instant::now();
        let _ = self.text.replace(seatmap_data::document::written(report).as_bytes());
        self.is_old = false;
        self.due = Instant::now() + PAUSE.max(begun.elapsed() * SHARE);
    }
}
