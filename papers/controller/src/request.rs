//! The requests of clients.

use seatmap_cell::{CellBackend, CellRequest, Name};
use seatmap_data::document::json_problem;
use seatmap_os::CpuSet;
use serde::{Deserialize, Serialize};

/// The protocol's name and version; every request carries it.
pub const FORMAT: &str = "seatmap-control/1";

/// One line from a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlRequest {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The client's number for it, which every answer to it carries.
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
    /// Make a cell, when its turn comes.
    Create(Create),
    /// Undo a cell of one's own; root undoes any.
    Destroy {
        /// The cell to undo.
        name: Name,
    },
    /// Have the lease of one of the user's own cells end `lease_s` seconds from now.
    Renew {
        /// The cell to renew.
        name: Name,
        /// Seconds from now.
        lease_s: u64,
    },
    /// Tell of all cells.
    List,
}

/// A cell to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Create {
    /// The name of the cell.
    pub name: Name,
    /// Its CPUs, one at least; absent where the controller chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub cpus: Option<Vec<u32>>,
    /// How many CPUs, whichever suit best, and no `cpus` then; without either, as many as the best
    /// core has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The least level that will do.
    #[serde(default = "least")]
    pub require: CellBackend,
    /// How much time may be stolen from it, in percent.
    #[serde(default)]
    pub noise_limit: Option<f64>,
    /// Whether its noise is measured, before and after; it is where there is a limit.
    #[serde(default)]
    pub is_tested: bool,
    /// The cell's lease, in seconds.
    #[serde(default)]
    pub lease_s: Option<u64>,
    /// The memory that is reserved for it, in bytes; 0 reserves none.
    #[serde(default)]
    pub memory_bytes: u64,
    /// The priority of the request, 0 to 9.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(max = 9)))]
    pub priority: u8,
    /// Whether it takes turns with others, in time slices.
    #[serde(default)]
    pub takes_turns: bool,
    /// Whether it outlives the connection.
    #[serde(default)]
    pub is_detached: bool,
    /// Whether to wait where it cannot be made at once; else that is an error.
    #[serde(default)]
    pub waits: bool,
}

fn least() -> CellBackend {
    CellBackend::Affinity
}

impl Create {
    /// The same cell on CPUs that were found for it.
    #[must_use]
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
    /// Reads a request from a line.
    ///
    /// # Errors
    /// The problem with it, and its number, or 0.
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
