//! The Cell's element interconnect bus: the elements along the rings, with two rings in each
//! direction, chip by chip.

use seatmap_cell_sim::CellModel;
use seatmap_measure::appraise::Ways;
use seatmap_report::floor::parts::{DrawnLink, FloorArea, FloorSeat, Label, Point, on_circle};
use seatmap_report::floor::ring::{LANE, WIDEST, wires};
use seatmap_report::floor::{FloorPlan, SIDE};
use seatmap_report::svg::number;
use seatmap_sim::coherent::fabric::Link;

/// Side of a single chip's square; two chips share the width.
const ONE_CHIP: f64 = 400.0;
const MARGIN: f64 = 6.0;
const ELEMENT: f64 = 0.125;
/// Offsets of a direction's two rings from their centre line.
const TRACKS: [f64; 2] = [-2.0, 2.0];
/// Length of the segment from an element to its link to the other chip.
const STUB: f64 = 4.0;
const BRIDGE: f64 = 50.0;

/// A Cell's floor plan.
pub fn floor(model: &CellModel) -> FloorPlan {
    let Some(ways) = ways(model) else { return FloorPlan::default() };
    let side = if model.chips > 1 { SIDE / model.chips as f64 } else { ONE_CHIP };
    let mut floor = FloorPlan {
        width: side * model.chips as f64,
        // The link between the chips runs below them, so it crosses no element.
        height: side + if model.chips > 1 { BRIDGE } else { 0.0 },
        lane: WIDEST,
        ..FloorPlan::default()
    };
    for chip in 0..model.chips {
        Chip { model, number: chip, side }.onto(&mut floor, &ways);
    }
    floor.wires.extend(bridge(model, side));
    floor.ways = Some(ways);
    floor.fitted()
}

/// The routes of data; `None` if a model's rings are not a fabric.
fn ways(model: &CellModel) -> Option<Ways> {
    let fabric = model.fabric()?;
    Some(Ways {
        node_of_pu: (0..model.ppe()).filter_map(|os| Some((os, model.node_of_pu(os)?))).collect(),
        node_of_home: Vec::new(),
        names: fabric.links().iter().map(|link| name_of(model, link)).collect(),
        fabric,
    })
}

/// The elements at both ends of a link; for a link between chips, the chips.
fn name_of(model: &CellModel, link: &Link) -> String {
    // Nodes are numbered chip by chip, along each ring.
    let elements = model.ring.len();
    let [from, to] = [link.from, link.to].map(usize::from);
    let [chip, other] = [from, to].map(|node| node / elements);
    if chip == other {
        format!("{} to {}", model.ring[from % elements], model.ring[to % elements])
    } else {
        format!("chip {chip} to chip {other}")
    }
}

struct Chip<'a> {
    model: &'a CellModel,
    number: usize,
    side: f64,
}

impl Chip<'_> {
    fn onto(&self, floor: &mut FloorPlan, ways: &Ways) {
        let places = self.model.ring.len();
        let middle = self.middle();
        let radius = self.radius();
        let size = self.side * ELEMENT;
        for (place, element) in self.model.ring.iter().enumerate() {
            let share = place as f64 / places as f64;
            let at = on_circle(middle, radius, share);
            let node = (self.number * places + place) as u16;
            match ways.node_of_pu.iter().find(|(_, of)| **of == node) {
                Some((os, _)) => floor.seats.push(FloorSeat {
                    os: *os,
                    at,
                    size,
                    is_round: false,
                    name: format!("CPU {os}, {element}, chip {}", self.number),
                    element: element.clone(),
                    anchor: on_circle(middle, self.ring() - 2.0 * LANE, share),
                    hub: Some(middle),
                }),
                // Elements without threads, such as the memory controller.
                None => floor.areas.push(element_without_seat(element, at, size)),
            }
        }
        let name = |place: usize| self.model.ring[place].clone();
        floor.wires.extend(wires(middle, self.ring(), places, &TRACKS, name));
        floor.labels.push(Label { at: middle, text: format!("chip {}", self.number) });
    }

    fn middle(&self) -> Point {
        (self.side * (self.number as f64 + 0.5), self.side / 2.0)
    }

    fn radius(&self) -> f64 {
        self.side / 2.0 - MARGIN - self.side * ELEMENT / 2.0
    }

    /// Distance of the upward rings from the centre.
    fn ring(&self) -> f64 {
        self.radius() - self.side * ELEMENT / 2.0 - LANE
    }
}

fn element_without_seat(element: &str, (x, y): Point, size: f64) -> FloorArea {
    FloorArea {
        names: vec![element.to_owned()],
        corner: (x - size / 2.0, y - size / 2.0),
        width: size,
        height: size,
        pus: Vec::new(),
        border: 0.0,
        caption: 0.0,
    }
}

/// The lines from the first chip to the second and back, below both.
fn bridge(model: &CellModel, side: f64) -> Vec<DrawnLink> {
    // The chips are connected at their bus interface (BIF).
    let Some(place) =
        model.ring.iter().position(|element| element == "BIF").filter(|_| model.chips > 1)
    else {
        return Vec::new();
    };
    let chip = |number: usize| Chip { model, number, side };
    let end = |number: usize, aside: f64| {
        let of = chip(number);
        let (x, y) = on_circle(of.middle(), of.radius(), place as f64 / model.ring.len() as f64);
        (x + aside, y + side * ELEMENT / 2.0 + STUB)
    };
    let wire = |from: usize, to: usize, deep: f64| {
        // The two directions end next to each other, and have arcs of different depth.
        let aside = |number: usize| if number == 0 { -deep / 3.0 } else { deep / 3.0 };
        let (x, y) = end(from, aside(from));
        let (to_x, to_y) = end(to, aside(to));
        let low = number(y + deep);
        let [x, y, to_x, to_y] = [x, y, to_x, to_y].map(number);
        let path = format!("M{x} {y}C{x} {low} {to_x} {low} {to_x} {to_y}");
        DrawnLink { tracks: vec![path.clone()], path, name: format!("chip {from} to chip {to}") }
    };
    vec![wire(0, 1, BRIDGE - LANE), wire(1, 0, BRIDGE - 2.5 * LANE)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_cell_sim::catalog;

    #[test]
    fn one_chip_has_four_rings() {
        let floor = floor(&catalog::load("cell-ps3").unwrap().unwrap());
        assert_eq!((floor.seats.len(), floor.areas.len(), floor.wires.len()), (6, 6, 24));
        assert!(floor.wires.iter().all(|wire| wire.tracks.len() == 2));
        assert!(floor.wires.iter().any(|wire| wire.name == "MIC to PPE"), "around the top");
    }

    #[test]
    fn wires_are_named_after_links() {
        for name in catalog::names() {
            let floor = floor(&catalog::load(name).unwrap().unwrap());
            let wires: Vec<&String> = floor.wires.iter().map(|wire| &wire.name).collect();
            let links: Vec<&String> = floor.ways.iter().flat_map(|ways| &ways.names).collect();
            assert!(!wires.is_empty() && wires == links, "{wires:?} {links:?}");
        }
    }
}
