//! A machine's floor plan (a ring, a mesh, or nested levels) with its threads, lines and traffic.
//!
//! [`FloorPlan::of`] uses the model, if any, since only a model contains stops and links, else the
//! profile's topology. A [`SeatingComparison`] shows two [`DrawnPlacement`]s of one pattern at one
//! scale: before and after.

mod comparison;
mod draw;
mod flow;
mod legend;
mod levels;
mod marks;
mod mesh;
mod pack;
pub mod parts;
mod picture;
pub mod ring;

pub use comparison::SeatingComparison;
pub(crate) use flow::tasks_by_seat;
pub(crate) use picture::{coloured, machine, tasks};
pub use picture::{section, svg, tasks_svg};
pub use seatmap_measure::appraise::DrawnPlacement;

use parts::{DrawnLink, FloorArea, FloorSeat, HomeMark, Label};
use seatmap_data::machine::{Profile, Pu};
use seatmap_measure::appraise::Ways;
use seatmap_sim::CoherentModel;
use seatmap_sim::coherent::NetworkShape;

/// Width of a floor plan, in user units; also its largest height.
pub const SIDE: f64 = 560.0;

/// A machine's floor plan: the position of everything, without threads.
#[derive(Default)]
pub struct FloorPlan {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Areas, from the outside to the inside.
    pub areas: Vec<FloorArea>,
    /// Seats.
    pub seats: Vec<FloorSeat>,
    /// Wires, in the order of the fabric's links; empty for nested levels.
    pub wires: Vec<DrawnLink>,
    /// Routes of data, if there are wires.
    pub ways: Option<Ways>,
    /// Homes of lines.
    pub homes: Vec<HomeMark>,
    /// Labels.
    pub labels: Vec<Label>,
    /// The widest a wire may be drawn.
    pub lane: f64,
    /// Isolated CPUs, by OS index.
    pub isolated: Vec<u32>,
}

impl FloorPlan {
    /// The floor plan of the model's fabric or, without one, of the topology.
    pub fn of(profile: &Profile, model: Option<&CoherentModel>) -> Self {
        // Only a fabric that routes messages has wires; without one, draw the topology.
        let ways = model.and_then(|model| Ways::of(model, profile.topology.os_indices()));
        let floor = match (model, ways) {
            (Some(model), Some(ways)) => match &model.shape {
                Some(NetworkShape::Mesh { columns, memories, .. }) => {
                    mesh::floor(profile, ways, *columns as u16, memories)
                }
                _ => ring::floor(profile, ways),
            },
            _ => levels::floor(profile),
        };
        floor.fitted()
    }

    /// Rounds width and height up to whole units.
    pub fn fitted(mut self) -> Self {
        (self.width, self.height) = (self.width.ceil(), self.height.ceil());
        self
    }

    fn seat(&self, os: u32) -> Option<&FloorSeat> {
        self.seats.iter().find(|seat| seat.os == os)
    }
}

/// The PUs at a stop or tile, SMT siblings next to each other.
fn pus_at<'a>(profile: &'a Profile, ways: &Ways, node: u16) -> Vec<&'a Pu> {
    let pus = profile.topology.pus.iter();
    let mut pus = Vec::from_iter(pus.filter(|pu| ways.node_of_pu.get(&pu.os) == Some(&node)));
    pus.sort_by_key(|pu| (pu.core, pu.smt, pu.os));
    pus
}

fn seat_name(pu: &Pu, place: &str) -> String {
    let core = pu.core.map_or_else(String::new, |core| format!(", core {core}"));
    format!("CPU {}{core}, {place}", pu.os)
}

#[cfg(test)]
mod tests;
