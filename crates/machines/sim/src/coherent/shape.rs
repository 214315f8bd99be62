//! The positions of the nodes of a ring or mesh, from the file.

use crate::coherent::fabric::{self, Fabric, LANES};
use serde::{Deserialize, Serialize};

/// The positions of stops or tiles, and the cores at them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum NetworkShape {
    /// Stops around a ring with both directions. Each stop has a core, except the listed ones.
    Ring {
        /// Stops.
        stops: u32,
        /// Stops that are only homes.
        stops_without_core: Vec<u16>,
    },
    /// Tiles, row by row.
    Mesh {
        /// Tiles in a row.
        columns: u32,
        /// Rows.
        rows: u32,
        /// Cores of each tile.
        cores_per_tile: u32,
        /// Tiles next to memory controllers, for drawings only; no message goes there.
        #[serde(default)]
        memories: Vec<u16>,
    },
}

impl NetworkShape {
    /// Counts stops or tiles.
    pub fn nodes(&self) -> u32 {
        match self {
            NetworkShape::Ring { stops, .. } => *stops,
            NetworkShape::Mesh { columns, rows, .. } => columns.saturating_mul(*rows),
        }
    }

    /// Counts cores over all nodes.
    pub fn cores(&self) -> u32 {
        match self {
            NetworkShape::Ring { stops, stops_without_core } => {
                stops.saturating_sub(stops_without_core.len() as u32)
            }
            NetworkShape::Mesh { cores_per_tile, .. } => {
                self.nodes().saturating_mul(*cores_per_tile)
            }
        }
    }

    pub(crate) fn node_of_core(&self) -> Vec<u16> {
        match self {
            NetworkShape::Ring { stops, stops_without_core } => {
                (0..*stops as u16).filter(|stop| !stops_without_core.contains(stop)).collect()
            }
            NetworkShape::Mesh { cores_per_tile, .. } => (0..self.nodes() * cores_per_tile)
                .map(|core| (core / cores_per_tile) as u16)
                .collect(),
        }
    }

    pub(crate) fn fabric(&self, hop_cycles: u32, busy: [u32; LANES]) -> Option<Fabric> {
        match self {
            NetworkShape::Ring { stops, .. } => fabric::ring(*stops as u16, hop_cycles, busy),
            NetworkShape::Mesh { columns, rows, .. } => {
                fabric::mesh(*columns as u16, *rows as u16, hop_cycles, busy)
            }
        }
    }

    pub(crate) fn flaw(&self) -> Option<String> {
        let (key, named) = match self {
            NetworkShape::Ring { stops_without_core, .. } => {
                ("stops_without_core", stops_without_core)
            }
            NetworkShape::Mesh { memories, .. } => ("memories", memories),
        };
        let mut seen = std::collections::BTreeSet::new();
        let wrong =
            named.iter().find(|node| u32::from(**node) >= self.nodes() || !seen.insert(**node))?;
        let what = if matches!(self, NetworkShape::Ring { .. }) { "stops" } else { "tiles" };
        let last = self.nodes() - 1;
        Some(format!("fabric.{key} has {wrong}; list {what} 0 to {last}, once each"))
    }
}
