//! The file of a coherent machine: `seatmap-coherent/1`.

use crate::ModelError;
use crate::coherent::CoherentModel;
use crate::coherent::figures::CoherentFigures;
use crate::coherent::homes::Homes;
use crate::coherent::layout::CoherentLayout;
use crate::coherent::shape::NetworkShape;
use seatmap_data::machine::description::shape::MAX_PUS;
use seatmap_data::machine::{Pu, Topology};
use seatmap_data::statistics::words::{agreeing, counted};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-coherent/1";

/// The most stops of a ring or tiles of a mesh: routes between all pairs are kept.
const MOST_NODES: u32 = 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    format: String,
    name: String,
    summary: String,
    sources: Vec<String>,
    frequency_ghz: f64,
    threads_per_core: u32,
    #[serde(default)]
    numbering: Numbering,
    fabric: NetworkShape,
    homes: HomesWritten,
    figures: CoherentFigures,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Numbering {
    #[default]
    ThreadsAdjacent,
    /// Consecutive numbers, after a first one for the last core's last thread: Linux on the Xeon
    /// Phi, where CPUs 237 and 0 of Liu et al. 2015 are one core.
    XeonPhi,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HomesWritten {
    /// `directories`, or `buffers` if lines are not cached.
    kind: HomeKind,
    count: u32,
    hash_values: u32,
    hash_seed: u32,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HomeKind {
    Directories,
    Buffers,
}

impl Written {
    pub fn model(self, name: &str) -> Result<CoherentModel, ModelError> {
        if let Some(flaw) = self.flaw() {
            return Err(ModelError::impossible(name, flaw));
        }
        let fabric = self
            .fabric
            .fabric(self.figures.hop_cycles.whole() as u32, self.figures.busy(1))
            .ok_or_else(|| ModelError::impossible(name, "a route between two stops is missing"))?;
        let topology = Topology { pus: (0..self.pus()).map(|os| self.pu(os)).collect() };
        let layout = CoherentLayout {
            homes: Homes::Hashed {
                nodes: (0..self.homes.count as u16).collect(),
                seed: self.homes.hash_seed.into(),
            },
            is_uncached: self.homes.kind == HomeKind::Buffers,
            cache_of_pu: topology.pus.iter().map(|pu| pu.core.map(|core| core as u16)).collect(),
            threads: self.threads_per_core as usize,
            node_of_cache: self.fabric.node_of_core(),
            looks: vec![self.figures.look_cycles.whole(); self.fabric.cores() as usize],
            passing: Vec::new(),
            extra: Vec::new(),
            timing: self.figures.timing(1),
            fabric,
        };
        Ok(CoherentModel {
            name: self.name,
            summary: self.summary,
            sources: self.sources,
            frequency_ghz: self.frequency_ghz,
            ticks_per_cycle: 1,
            shape: Some(self.fabric),
            topology,
            figures: self.figures,
            layout: Arc::new(layout),
        })
    }

    fn pus(&self) -> u32 {
        self.fabric.cores().saturating_mul(self.threads_per_core)
    }

    fn pu(&self, os: u32) -> Pu {
        let at = match self.numbering {
            Numbering::ThreadsAdjacent => os,
            // CPU 0 is the last thread of the last core.
            Numbering::XeonPhi => (os + self.pus() - 1) % self.pus(),
        };
        let core = at / self.threads_per_core;
        Pu {
            os,
            core: Some(core),
            smt: Some(at % self.threads_per_core),
            l2: Some(core),
            l3: None,
            die: Some(0),
            numa: Some(0),
            package: Some(0),
            ..Pu::default()
        }
    }

    fn flaw(&self) -> Option<String> {
        if self.format != FORMAT {
            return Some(format!("unknown format '{}'; expected {FORMAT}", self.format));
        }
        if !(0.1..=100.0).contains(&self.frequency_ghz) {
            return Some("frequency_ghz must be from 0.1 to 100".to_owned());
        }
        self.shape_flaw().or_else(|| self.homes_flaw()).or_else(|| self.figures.flaw())
    }

    fn shape_flaw(&self) -> Option<String> {
        if !(2..=MOST_NODES).contains(&self.fabric.nodes()) {
            let nodes = self.fabric.nodes();
            return Some(format!(
                "fabric has {} or {}; give 2 to {MOST_NODES}",
                counted(nodes, "stop"),
                agreeing(nodes as usize, "tile", "tiles")
            ));
        }
        if let Some(flaw) = self.fabric.flaw() {
            return Some(flaw);
        }
        let fits = (2..=MAX_PUS).contains(&self.pus());
        (!fits).then(|| {
            format!(
                "{} of {}; a machine has 2 to {MAX_PUS}",
                counted(self.fabric.cores(), "core"),
                counted(self.threads_per_core, "thread")
            )
        })
    }

    fn homes_flaw(&self) -> Option<String> {
        let homes = &self.homes;
        let nodes = self.fabric.nodes();
        if homes.count == 0 || homes.count > nodes {
            return Some(format!(
                "homes.count is {}; {nodes} have at most one each",
                homes.count,
                nodes = counted(nodes, "stop")
            ));
        }
        // The hash distributes lines by its value, one for each home.
        let other = homes.hash_values != homes.count;
        other.then(|| {
            if homes.hash_values > homes.count {
                format!(
                    "homes.hash_values is {}, but there are only {}",
                    homes.hash_values,
                    counted(homes.count, "home")
                )
            } else {
                format!(
                    "homes.hash_values is {}, so some of the {} are never used",
                    homes.hash_values,
                    counted(homes.count, "home")
                )
            }
        })
    }
}
