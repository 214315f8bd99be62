//! How far a cell is closed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The backends: how far a cell is closed, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CellBackend {
    /// Threads that could be moved were moved by their affinity; new ones and those of other users
    /// may come back.
    #[serde(rename = "affinity")]
    Affinity,
    /// An exclusive cpuset of version 1 (cpuset(7)); all movable threads are in a cpuset with the
    /// other CPUs.
    #[serde(rename = "v1-exclusive")]
    V1Exclusive,
    /// An isolated partition of version 2 (cgroup-v2, `cpuset.cpus.partition`): the scheduler
    /// balances nothing into it.
    #[serde(rename = "v2-partition")]
    V2Partition,
}

impl CellBackend {
    /// All of them, the best first.
    pub const ALL: [CellBackend; 3] =
        [CellBackend::V2Partition, CellBackend::V1Exclusive, CellBackend::Affinity];

    /// The backend's name, as it is typed and written.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            CellBackend::Affinity => "affinity",
            CellBackend::V1Exclusive => "v1-exclusive",
            CellBackend::V2Partition => "v2-partition",
        }
    }
}

impl fmt::Display for CellBackend {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.word().fmt(out)
    }
}
