//! The rings of a Cell as nodes and links, with the route of data between any two nodes.

use crate::CellModel;
use crate::ring::ELEMENT_COUNT;
use seatmap_sim::coherent::fabric::{Fabric, LANES, Link};

const BRIDGE: &str = "BIF";

impl CellModel {
    /// The ring elements as nodes, chip by chip, and the routes of data: the shorter direction
    /// around the ring, upwards if both are equal, and between chips through their `BIF`.
    ///
    /// Each chip's links are the upward and then the downward segments, by the element that they
    /// leave; with two chips, both directions of the link between them follow. The two rings of a
    /// direction are one link.
    pub fn fabric(&self) -> Option<Fabric> {
        let elements = ELEMENT_COUNT as u16;
        let mut links = Vec::new();
        for chip in 0..self.chips as u16 {
            let nodes = chip * elements..(chip + 1) * elements;
            links.extend(nodes.clone().map(|node| link(node, on_ring(elements, node, 1))));
            links.extend(nodes.map(|node| link(node, on_ring(elements, node, elements - 1))));
        }
        let bridge = self.position_of(BRIDGE)?;
        if self.chips > 1 {
            links.extend([link(bridge, bridge + elements), link(bridge + elements, bridge)]);
        }
        Fabric::new(self.chips * ELEMENT_COUNT, links, |at, to| {
            let here = at / elements * elements + bridge;
            let aim = if at / elements == to / elements { to } else { here };
            match (aim == at, 2 * ((aim + elements - at) % elements) <= elements) {
                (true, _) => to / elements * elements + bridge,
                (_, true) => on_ring(elements, at, 1),
                (_, false) => on_ring(elements, at, elements - 1),
            }
        })
    }

    /// A PU's node; `None` if the chip has no such SPE or PPE.
    pub fn node_of_pu(&self, os: u32) -> Option<u16> {
        let each = self.spes.len() as u32;
        let (chip, element) = match os.checked_sub(self.ppe()) {
            Some(chip) => (chip, "PPE".to_owned()),
            None => (os / each, format!("SPE{}", self.spes[(os % each) as usize])),
        };
        let position = self.position_of(&element).filter(|_| chip < self.chips as u32)?;
        Some(chip as u16 * ELEMENT_COUNT as u16 + position)
    }

    fn position_of(&self, element: &str) -> Option<u16> {
        self.ring.iter().position(|name| name == element).map(|position| position as u16)
    }
}

fn on_ring(elements: u16, node: u16, steps: u16) -> u16 {
    node / elements * elements + (node % elements + steps) % elements
}

fn link(from: u16, to: u16) -> Link {
    Link { from, to, cycles: 1, busy: [1; LANES] }
}

#[cfg(test)]
mod tests {
    use crate::catalog;

    #[test]
    fn data_takes_the_shorter_direction_and_the_bridge() {
        let model = catalog::load("cell-qs22").unwrap().unwrap();
        let fabric = model.fabric().unwrap();
        let hops = |a: u32, b: u32| {
            fabric.route(model.node_of_pu(a).unwrap(), model.node_of_pu(b).unwrap()).count()
        };
        // PPE, SPE1, SPE3, SPE5, SPE7, IOIF1, BIF, SPE6, SPE4, SPE2, SPE0, MIC.
        assert_eq!((hops(1, 3), hops(0, 1), hops(1, 6)), (1, 3, 6));
        assert_eq!(hops(6, 8 + 6), 1 + 1 + 1, "to the bridge, over it, and off it");
        assert_eq!((fabric.nodes(), fabric.links().len()), (24, 50));
        assert_eq!(
            (model.node_of_pu(16), model.node_of_pu(17), model.node_of_pu(18)),
            (Some(0), Some(12), None)
        );
    }
}
