//! Talk between threads as a source reports it, before the threads are tasks.

use crate::TalkKind;
use seatmap_data::pattern::Edge;
use seatmap_os::Tid;

/// Bytes that a message counts where the source sees no sizes: a cache line, which both threads
/// touch.
pub(crate) const LINE_BYTES: f64 = 64.0;

/// The edges of messages that are a cache line each, by sender and receiver.
pub(crate) fn line_edges(messages: impl IntoIterator<Item = ((usize, usize), f64)>) -> Vec<Edge> {
    let mut edges: Vec<Edge> = messages
        .into_iter()
        .map(|((from, to), messages)| Edge { from, to, bytes: messages * LINE_BYTES, messages })
        .collect();
    edges.sort_by_key(|edge| (edge.from, edge.to));
    edges
}

/// Messages from one thread to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadMessages {
    /// The thread that sent.
    pub from: Tid,
    /// The thread that received.
    pub to: Tid,
    /// How.
    pub kind: TalkKind,
    /// The messages.
    pub messages: f64,
    /// The bytes; as many as messages where the source sees no sizes.
    pub bytes: f64,
}

/// A thread as a source reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Born {
    /// The thread's number.
    pub tid: Tid,
    /// The number of its process.
    pub pid: Tid,
    /// The thread that created it; 0 where it was there before the observation.
    pub creator: Tid,
    /// When it was created, in nanoseconds of the monotonic clock; 0 where it was there before the
    /// observation.
    pub born_ns: u64,
    /// Its name and its CPU time in nanoseconds when it ended; `None` while it lives.
    pub end: Option<(String, u64)>,
}

/// All that a source has to tell since the look before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TalkBatch {
    /// The talk.
    pub talk: Vec<ThreadMessages>,
    /// The threads that were created or ended.
    pub threads: Vec<Born>,
}
