//! A coherent machine, ready to run.

use crate::coherent::distance;
use crate::coherent::fabric::Fabric;
use crate::coherent::figures::CoherentFigures;
use crate::coherent::homes::Homes;
use crate::coherent::layout::CoherentLayout;
use crate::coherent::shape::NetworkShape;
use seatmap_data::machine::Topology;

/// A machine whose caches keep lines coherent (on the SCC, whose tiles have message buffers), with
/// the cost of every operation.
#[derive(Clone, Debug)]
pub struct CoherentModel {
    /// Its name on the command line.
    pub name: String,
    /// One line about the machine.
    pub summary: String,
    /// Sources of the figures.
    pub sources: Vec<String>,
    /// Core clock.
    pub frequency_ghz: f64,
    /// Ticks of a core cycle, the unit of time: 1, or more for distances in parts of a cycle.
    pub ticks_per_cycle: u32,
    /// Its PUs.
    pub topology: Topology,
    /// Positions of its nodes; `None` on a hierarchical machine, whose topology gives them.
    pub shape: Option<NetworkShape>,
    /// Figures.
    pub figures: CoherentFigures,
    pub(crate) layout: std::sync::Arc<CoherentLayout>,
}

impl CoherentModel {
    /// Nanoseconds of a tick.
    pub fn ns_per_tick(&self) -> f64 {
        1.0 / (self.frequency_ghz * f64::from(self.ticks_per_cycle))
    }

    /// Ticks of an undisturbed round trip of one line between two PUs, by formula. `None` for
    /// unknown PUs, for a PU and itself, and for lines in message buffers, whose time depends on
    /// when the two poll.
    pub fn round_trip_ticks(&self, a: u32, b: u32, line: u32) -> Option<u64> {
        distance::round_trip(&self.layout, a, b, line)
    }

    /// The PUs nearest to the home of a line: on the same stop, or next to it. `None` if lines have
    /// no fixed home.
    pub fn pus_at_home(&self, line: u32) -> Option<Vec<u32>> {
        distance::nearest_pus(&self.layout, line)
    }

    /// The part of a round trip for a PU's routes to the home of a line: a_i(home), in ticks.
    /// `None` if lines have no fixed home, or stay at their homes.
    pub fn ways_to_home(&self, pu: u32, line: u32) -> Option<u64> {
        distance::routes(&self.layout, pu, line)
    }

    /// Counts homes over which lines are distributed; 0 if lines have no fixed homes.
    pub fn homes(&self) -> usize {
        self.layout.homes.count()
    }

    /// The number of a line's home; `None` if the line has no fixed home.
    pub fn home_of(&self, line: u32) -> Option<u32> {
        self.layout.homes.of(line)
    }

    /// The machine's nodes and links.
    pub fn fabric(&self) -> &Fabric {
        &self.layout.fabric
    }

    /// The node of a PU's cache; `None` for an unknown PU.
    pub fn node_of_pu(&self, os: u32) -> Option<u16> {
        let cache = self.layout.cache_of(os)?;
        self.layout.node_of_cache.get(cache as usize).copied()
    }

    /// The node of each home, if the line's number alone determines the home; else empty.
    pub fn nodes_of_homes(&self) -> &[u16] {
        match &self.layout.homes {
            Homes::Hashed { nodes, .. } => nodes,
            Homes::Climbing(_) => &[],
        }
    }
}
