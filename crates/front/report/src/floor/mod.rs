//! A machine as it lies: a ring, a mesh, or levels inside each other; with threads, lines and
//! traffic on it.
//!
//! [`FloorPlan::of`] asks the model where there is one, since only that knows its stops and links,
//! and else the profile's topology. A [`SeatingComparison`] puts two [`DrawnPlacement`]s of one
//! pattern on it, in one scale: before, and after.
//!
//! | module | is |
//! |---|---|
//! | `parts` | seats, areas, wires |
//! | `ring`, `mesh`, `levels` | the three plans, each from its own knowledge to the same parts |
//! | `pack` | boxes inside boxes |
//! | `flow` | what data adds up to on links and at homes |
//! | `comparison` | before, after, and the figures between |
//! | `marks`, `draw`, `legend` | a seating on a floor as SVG |
//! | `picture` | two of them for papers and pages |

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
pub(crate) use picture::{coloured, machine, tasks};
pub use picture::{section, svg, tasks_svg};
pub use seatmap_measure::appraise::DrawnPlacement;

use parts::{DrawnLink, FloorArea, FloorSeat, HomeMark, Label};
use seatmap_data::machine::Profile;
use seatmap_measure::appraise::Ways;
use seatmap_sim::CoherentModel;
use seatmap_sim::coherent::NetworkShape;

/// Width of a floor, in user units; no floor is higher.
pub const SIDE: f64 = 560.0;

/// A machine's floor plan: the position of everything on it, before any thread sits there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloorPlan {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The areas, from the outside to the inside.
    pub areas: Vec<FloorArea>,
    /// The seats.
    pub seats: Vec<FloorSeat>,
    /// The wires, in the order of the fabric's links; none on a machine of nested levels.
    pub wires: Vec<DrawnLink>,
    /// The routes of data, on a machine with wires.
    pub ways: Option<Ways>,
    /// The homes of lines.
    pub homes: Vec<HomeMark>,
    /// The labels.
    pub labels: Vec<Label>,
    /// How wide a wire may be drawn.
    pub lane: f64,
    /// The CPUs that the kernel was started to isolate, by OS index.
    pub isolated: Vec<u32>,
}

impl FloorPlan {
    /// The floor of a machine: of its model's fabric, where it has one, else of its topology.
    #[must_use]
    pub fn of(profile: &Profile, model: Option<&CoherentModel>) -> Self {
        // Only a machine whose fabric routes messages has wires; a model without one lies as its
        // topology.
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

    /// The same floor, with CPUs marked that the kernel was started to isolate.
    #[must_use]
    pub fn with_isolated(self, isolated: Vec<u32>) -> Self {
        FloorPlan { isolated, ..self }
    }

    /// Without empty room at its right and lower sides.
    #[must_use]
    pub fn fitted(mut self) -> Self {
        (self.width, self.height) = (self.width.ceil(), self.height.ceil());
        self
    }

    fn seat(&self, os: u32) -> Option<&FloorSeat> {
        self.seats.iter().find(|seat| seat.os == os)
    }
}

#[cfg(test)]
mod tests;
