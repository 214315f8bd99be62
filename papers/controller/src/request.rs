//! Clients' requests.

use seatmap_cell::{CellBackend, CellRequest, Name};
use seatmap_data::document::json_problem;
use seatmap_os::CpuSet;
use serde::{Deserialize, Serialize};

/// The protocol's name and version, which every request contains.
pub const FORMAT: &str = "seatmap-control/1";

/// A line from a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlRequest {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The client's number for the request; every answer to it has the same number.
    pub id: u64,
    /// The request itself.
    #[serde(flatten)]
    pub ask: RequestKind,
}

/// The kinds of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum RequestKind {
    /// Create a cell, when its turn comes.
    Create(Create),
    /// Destroy one of the user's own cells; root can destroy any.
    Destroy {
        /// The cell to destroy.
        name: Name,
    },
    /// Let the lease of one of the user's own cells end `lease_s` seconds from now.
    Renew {
        /// The cell to renew.
        name: Name,
        /// Seconds from now.
        lease_s: u64,
    },
    /// List all cells.
    List,
}

/// A cell to create.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Create {
    /// The name of the cell.
    pub name: Name,
    /// The CPUs of the cell, at least one. If absent, the controller chooses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub cpus: Option<Vec<u32>>,
    /// The number of CPUs, if `cpus` is absent; the controller chooses the best. If both are
    /// absent, it chooses all CPUs of the best core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The weakest acceptable backend.
    #[serde(default = "least")]
    pub require: CellBackend,
    /// The highest acceptable share of stolen time, in percent.
    #[serde(default)]
    pub noise_limit: Option<f64>,
    /// Whether to measure noise before and after; a `noise_limit` implies it.
    #[serde(default)]
    pub is_tested: bool,
    /// The cell's lease, in seconds.
    #[serde(default)]
    pub lease_s: Option<u64>,
    /// The memory to reserve for the cell, in bytes; 0 for none.
    #[serde(default)]
    pub memory_bytes: u64,
    /// The priority of the request, 0 to 9.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(max = 9)))]
    pub priority: u8,
    /// Whether the cell takes turns with others, in time slices.
    #[serde(default)]
    pub takes_turns: bool,
    /// Whether the cell outlives the connection.
    #[serde(default)]
    pub is_detached: bool,
    /// Whether to wait if the cell cannot be created now; otherwise that is an error.
    #[serde(default)]
    pub waits: bool,
}

fn least() -> CellBackend {
    CellBackend::Affinity
}

impl Create {
    /// The request for this cell on chosen CPUs.
    pub fn on(self, cpus: CpuSet) -> CellRequest {
        CellRequest {
            name: self.name,
            cpus,
            require: self.require,
            noise_limit: self.noise_limit,
            lease_s: self.lease_s,
            memory_bytes: self.memory_bytes,
        }
    }
}

impl ControlRequest {
    /// Parses a line.
    ///
    /// # Errors
    /// The request's number, or 0, and what is wrong.
    pub fn parse(line: &[u8]) -> Result<Self, (u64, String)> {
        let value: serde_json::Value =
            serde_json::from_slice(line).map_err(|error| (0, json_problem(error)))?;
        let id = value["id"].as_u64().unwrap_or(0);
        match value["format"].as_str() {
            Some(FORMAT) => {
                serde_json::from_value(value).map_err(|error| (id, json_problem(error)))
            }
            _ => Err((id, format!("\"format\" must be \"{FORMAT}\""))),
        }
    }
}

#[cfg(test)]
mod tests;
