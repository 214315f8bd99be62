//! Messages between threads, as a source reports them.

use crate::TalkKind;
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_os::Tid;

/// A message without a size counts as a cache line, which both threads touch.
pub const LINE_BYTES: f64 = 64.0;

/// The messages of each pair, added up.
pub fn line_edges(messages: impl IntoIterator<Item = ((usize, usize), f64)>) -> Vec<Edge> {
    let edges = messages.into_iter().map(|((from, to), messages)| Edge {
        from,
        to,
        bytes: messages * LINE_BYTES,
        messages,
    });
    Pattern::gathered("", 0, edges).edges
}

/// Messages from one thread to another.
#[derive(Clone, Copy, Debug)]
pub struct ThreadMessages {
    pub from: Tid,
    pub to: Tid,
    pub kind: TalkKind,
    pub messages: f64,
    /// The bytes; equal to the messages if the source has no sizes.
    pub bytes: f64,
}

/// 0 for a thread older than the observation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Born {
    pub tid: Tid,
    pub pid: Tid,
    /// The creator; 0 for a thread older than the observation.
    pub creator: Tid,
    /// In nanoseconds of the monotonic clock; 0 for an older thread.
    pub born_ns: u64,
    /// Its name and CPU time in ns at its end.
    pub end: Option<(String, u64)>,
}

/// A source's report since the last look.
#[derive(Default)]
pub struct TalkBatch {
    pub talk: Vec<ThreadMessages>,
    pub threads: Vec<Born>,
}
