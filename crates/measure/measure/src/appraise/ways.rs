//! Links of a ring or mesh.

use crate::appraise::DrawnPlacement;
use seatmap_data::pattern::Pattern;
use seatmap_sim::CoherentModel;
use seatmap_sim::coherent::NetworkShape;
use seatmap_sim::coherent::fabric::Fabric;
use std::collections::BTreeMap;

/// A fabric with the nodes of PUs and homes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ways {
    /// Nodes and their links.
    pub fabric: Fabric,
    /// Node of each PU, by its OS index.
    pub node_of_pu: BTreeMap<u32, u16>,
    /// Node of each home, if homes are nodes.
    pub node_of_home: Vec<u16>,
    /// Name of each link, in the order of the fabric's links.
    pub names: Vec<String>,
}

impl Ways {
    /// The ring or mesh of a model; `None` for hierarchical ones.
    pub fn of(model: &CoherentModel, pus: impl Iterator<Item = u32>) -> Option<Self> {
        let word = match model.shape.as_ref()? {
            NetworkShape::Mesh { .. } => "tile",
            _ => "stop",
        };
        let fabric = model.fabric().clone();
        Some(Ways {
            node_of_pu: pus.filter_map(|os| Some((os, model.node_of_pu(os)?))).collect(),
            node_of_home: model.nodes_of_homes().to_vec(),
            names: fabric
                .links()
                .iter()
                .map(|link| format!("{word} {} to {word} {}", link.from, link.to))
                .collect(),
            fabric,
        })
    }

    /// The load of each link: the simulator's count if available, otherwise bytes.
    pub fn loads(&self, pattern: &Pattern, seating: &DrawnPlacement) -> Vec<f64> {
        let links = self.fabric.links().len();
        if let Some(counted) = seating.counted.as_ref().filter(|counted| counted.len() == links) {
            return counted.clone();
        }
        let mut loads = vec![0.0; links];
        for (at, edge) in pattern.edges.iter().enumerate() {
            if let Some([from, to]) = seating.ends(edge) {
                let links = self.links(from, to, seating.home(at));
                links.into_iter().for_each(|link| loads[link] += edge.bytes);
            }
        }
        loads
    }

    /// The links from one PU to another, via the home if known, by index.
    pub fn links(&self, from: u32, to: u32, home: Option<usize>) -> Vec<usize> {
        let (Some(from), Some(to)) = (self.node_of_pu.get(&from), self.node_of_pu.get(&to)) else {
            return Vec::new();
        };
        // Without a home, data takes the direct way.
        let over = home.and_then(|home| self.node_of_home.get(home)).unwrap_or(from);
        self.between(*from, *over).chain(self.between(*over, *to)).collect()
    }

    fn between(&self, from: u16, to: u16) -> impl Iterator<Item = usize> {
        let step = move |at: u16| (at != to).then(|| self.fabric.next(at, to));
        std::iter::successors(step(from), move |link| step(self.fabric.links()[*link].to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_with_a_far_home_routes_data_there() {
        let model = seatmap_sim::catalog::load("xeon-phi-5110p").unwrap().unwrap();
        let ways = Ways::of(&model, 0..240).unwrap();
        assert_eq!(ways.links(1, 5, None), [0]);
        assert_eq!(ways.links(1, 5, Some(3)), [0, 1, 2, 64 + 3, 64 + 2]);
        assert!(ways.links(1, 2, None).is_empty());
        assert_eq!(
            [0, 64].map(|link| ways.names[link].as_str()),
            ["stop 0 to stop 1", "stop 0 to stop 63"]
        );
        let levels = seatmap_sim::catalog::load("xeon-e5-2680-2s").unwrap().unwrap();
        assert_eq!(Ways::of(&levels, 0..32), None);
    }
}
