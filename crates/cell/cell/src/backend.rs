//! How far a cell is closed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How far a cell is closed, lowest level first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CellBackend {
    /// Moves threads by their affinity, if possible. New threads and other users' threads may
    /// return.
    #[serde(rename = "affinity")]
    Affinity,
    /// An exclusive cpuset of version 1 (cpuset(7)); all movable threads are in a cpuset with the
    /// other CPUs.
    #[serde(rename = "v1-exclusive")]
    V1Exclusive,
    /// An isolated partition of version 2 (cgroup-v2, `cpuset.cpus.partition`), excluded from load
    /// balancing.
    #[serde(rename = "v2-partition")]
    V2Partition,
}

impl CellBackend {
    /// All backends, best first.
    pub const ALL: [CellBackend; 3] =
        [CellBackend::V2Partition, CellBackend::V1Exclusive, CellBackend::Affinity];

    /// The backend's name on the command line and in files.
    pub fn word(self) -> &'static str {
        match self {
            CellBackend::Affinity => "affinity",
            CellBackend::V1Exclusive => "v1-exclusive",
            CellBackend::V2Partition => "v2-partition",
        }
    }
}

impl fmt::Display for CellBackend {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.word().fmt(out)
    }
}
