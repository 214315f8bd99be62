//! Counts wakeups between threads in the kernel, for repeated looks at a program.

use crate::{Method, ObservationSession, ObserveError, Subject, TracingMechanism};
use seatmap_os::Tid;
use seatmap_watch::live::Wakes;
use std::collections::BTreeMap;

const LEAST_S: f64 = 1e-3;

/// A count that runs until dropped, and then leaves nothing in the kernel.
pub struct WakeCounter(ObservationSession);

impl WakeCounter {
    /// Counts for these processes, and for their future descendants.
    ///
    /// # Errors
    /// [`ObserveError`]: this user may not count.
    pub fn begin(pids: Vec<Tid>) -> Result<Self, ObserveError> {
        let subject = Subject::Survivors(pids);
        ObservationSession::begin(Some(Method::Wakeups), TracingMechanism::Ebpf, &subject)
            .map(WakeCounter)
    }

    /// Wakeups since the last call, most frequent first; `None` if the kernel refuses.
    pub fn take(&mut self) -> Option<Vec<Wakes>> {
        let session = &mut self.0;
        // The time is over at once, so this takes one look without waiting.
        session.watch(Some(session.elapsed()), &|| false).ok()?;
        let seen = session.seen();
        session.forget();
        let mut counts: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for edge in seen.windows.iter().flat_map(|window| &window.edges) {
            *counts.entry((edge.from, edge.to)).or_default() += edge.messages;
        }
        let seconds = seen.seconds().max(LEAST_S);
        let mut rates = Vec::new();
        for ((from, to), count) in counts {
            if let Some((from, to)) = seen.tasks.get(from).zip(seen.tasks.get(to)) {
                rates.push(Wakes { from: from.tid, to: to.tid, per_s: count / seconds });
            }
        }
        rates.sort_by(|a, b| b.per_s.total_cmp(&a.per_s).then((a.from, a.to).cmp(&(b.from, b.to))));
        Some(rates)
    }
}
