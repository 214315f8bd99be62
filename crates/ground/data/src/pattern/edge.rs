//! The data that one task sends to another.

use crate::statistics::words::counted;
use serde::{Deserialize, Serialize};

/// The most bytes or messages of one edge, an exabyte: sums, and products with distances, stay
/// exact enough and far from infinity.
pub const MAX_AMOUNT: f64 = 1e18;

/// The data that one task sends to another over the whole run or one iteration: for placement only
/// proportions matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edge {
    /// The task that sends.
    #[cfg_attr(feature = "schema", schemars(range(max = crate::pattern::graph::MAX_TASKS - 1)))]
    pub from: usize,
    /// The receiver, another task.
    #[cfg_attr(feature = "schema", schemars(range(max = crate::pattern::graph::MAX_TASKS - 1)))]
    pub to: usize,
    /// Bytes sent, over the whole run or one iteration: only proportions matter.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_AMOUNT)))]
    pub bytes: f64,
    /// Messages sent; default 1.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_AMOUNT)))]
    pub messages: f64,
}

fn one() -> f64 {
    1.0
}

/// Whether a number can be an amount of bytes, messages or work. Subnormal ones are not exact.
pub(crate) fn is_amount(amount: f64) -> bool {
    (0.0..=MAX_AMOUNT).contains(&amount) && !amount.is_subnormal()
}

impl Edge {
    /// One message of one byte, for generated patterns, in which only proportions matter.
    pub fn unit(from: usize, to: usize) -> Self {
        Edge { from, to, bytes: 1.0, messages: 1.0 }
    }

    pub(crate) fn problem(&self, tasks: usize) -> Option<String> {
        let last = self.from.max(self.to);
        if last >= tasks {
            return Some(format!(
                "there is no task {last}; the pattern has {tasks}, counted from 0",
                tasks = counted(tasks, "task")
            ));
        }
        if self.from == self.to {
            return Some(format!(
                "task {last} sends to itself; remove this edge, it costs nothing"
            ));
        }
        let fine = is_amount(self.bytes) && is_amount(self.messages);
        (!fine).then(|| {
            format!(
                "bytes and messages must be between 0 and {MAX_AMOUNT:e}, and not too small to be \
                 exact"
            )
        })
    }

    pub(crate) fn ends(&self) -> (usize, usize) {
        (self.from, self.to)
    }
}

pub(crate) fn gather(edges: &mut Vec<Edge>) {
    edges.sort_by_key(Edge::ends);
    edges.dedup_by(|next, kept| {
        let same = next.ends() == kept.ends();
        if same {
            kept.bytes += next.bytes;
            kept.messages += next.messages;
        }
        same
    });
}
