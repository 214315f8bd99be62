//! Wakeups of threads by each other, as the kernel counts them while they are shown.

use crate::verbs::observe;
use seatmap_console::error::CliError;
use seatmap_observe::{Means, Method, Session, Subject};
use seatmap_os::Tid;
use seatmap_watch::live::Wakes;
use std::collections::BTreeMap;

/// A count that goes on until this is dropped. Nothing stays in the kernel then.
pub struct Wakeups(Session);

impl Wakeups {
    /// Counts for these processes, and for those that they start.
    pub fn begin(pids: Vec<Tid>) -> Result<Self, CliError> {
        // Any of them may end before the kernel counts.
        let session = Session::begin(Some(Method::Wakeups), Means::Ebpf, &Subject::Survivors(pids));
        session.map(Wakeups).map_err(observe::failed)
    }

    /// The wakeups since the call before, the most frequent first; `None` where the kernel refuses
    /// a look.
    pub fn take(&mut self) -> Option<Vec<Wakes>> {
        let session = &mut self.0;
        session.watch(Some(session.elapsed()), &|| false).ok()?;
        let seen = session.seen();
        session.forget();
        let mut counts: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for edge in seen.windows.iter().flat_map(|window| &window.edges) {
            *counts.entry((edge.from, edge.to)).or_default() += edge.messages;
        }
        let seconds = seen.seconds().max(1e-3);
        let wakes = |((from, to), count): ((usize, usize), f64)| {
            let from = seen.tasks.get(from)?.tid;
            let to = seen.tasks.get(to)?.tid;
            Some(Wakes { from, to, per_s: count / seconds })
        };
        let mut all: Vec<Wakes> = counts.into_iter().filter_map(wakes).collect();
        all.sort_by(|a, b| b.per_s.total_cmp(&a.per_s).then((a.from, a.to).cmp(&(b.from, b.to))));
        Some(all)
    }
}
