//! Measures bad-looking pairs again.

use super::Lead;
use super::again::Again;
use crate::cluster::Cluster;
use crate::measure::ClusterProgress;
use std::time::{Duration, Instant};

/// The limit, or the time of the first measurement if longer.
const AGAIN: Duration = Duration::from_secs(20);

/// The time per message size when a pair is measured again; shorter if the first measurement's was.
const AGAIN_TRIPS: Duration = Duration::from_millis(20);

pub struct Looking<'l, 'a> {
    lead: &'l mut Lead<'a>,
    until: Instant,
    at_most: Duration,
    has_said: bool,
    progress: &'l mut dyn FnMut(ClusterProgress),
}

impl<'l, 'a> Looking<'l, 'a> {
    /// `first` is the time of the first measurement of all pairs.
    pub fn new(
        lead: &'l mut Lead<'a>,
        first: Duration,
        progress: &'l mut dyn FnMut(ClusterProgress),
    ) -> Self {
        let at_most = AGAIN.max(first);
        Looking { lead, until: Instant::now() + at_most, at_most, has_said: false, progress }
    }
}

impl Again for Looking<'_, '_> {
    fn cluster(&mut self) -> &mut Cluster {
        &mut self.lead.cluster
    }

    fn measure(&mut self, pair: [usize; 2]) {
        self.lead.measure_round(&[pair], self.lead.options.trips.min(AGAIN_TRIPS));
    }

    fn may_go_on(&mut self, done: usize, of: usize) -> bool {
        if !std::mem::replace(&mut self.has_said, true) {
            (self.progress)(ClusterProgress::Again { pairs: of, at_most: self.at_most });
        }
        (self.progress)(ClusterProgress::Done("pairs again", done, of));
        Instant::now() < self.until
    }
}
