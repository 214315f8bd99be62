//! Which links data passes between two PUs.

use seatmap_sim::catalog::Model;
use seatmap_sim::coherent::fabric::Fabric;
use std::collections::BTreeMap;

/// A fabric, and where PUs and homes are on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ways {
    pub fabric: Fabric,
    pub node_of_pu: BTreeMap<u32, u16>,
    /// The node of each home, where homes are nodes.
    pub node_of_home: Vec<u16>,
}

impl Ways {
    /// The ring or mesh of a model; `None` for one of levels.
    pub fn of(model: &Model, pus: impl Iterator<Item = u32>) -> Option<Self> {
        match model {
            Model::Cell(cell) => Some(Ways {
                fabric: cell.fabric()?,
                node_of_pu: pus.filter_map(|os| Some((os, cell.node_of_pu(os)?))).collect(),
                node_of_home: Vec::new(),
            }),
            Model::Coherent(coherent) => coherent.shape.as_ref().map(|_| Ways {
                fabric: coherent.fabric().clone(),
                node_of_pu: pus.filter_map(|os| Some((os, coherent.node_of_pu(os)?))).collect(),
                node_of_home: coherent.nodes_of_homes().to_vec(),
            }),
        }
    }

    /// The links from one PU to another in turn, over the home of their line where that is known.
    pub fn links(&self, from: u32, to: u32, home: Option<usize>) -> Vec<usize> {
        let (Some(from), Some(to)) = (self.node_of_pu.get(&from), self.node_of_pu.get(&to)) else {
            return Vec::new();
        };
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
    fn a_line_at_home_elsewhere_takes_data_there() {
        let model = seatmap_sim::catalog::load("xeon-phi-5110p").unwrap().unwrap();
        let ways = Ways::of(&model, 0..240).unwrap();
        // PUs 1 to 4 sit at stop 0, the next four at stop 1.
        assert_eq!(ways.links(1, 5, None), [0]);
        assert_eq!(ways.links(1, 5, Some(3)), [0, 1, 2, 64 + 3, 64 + 2]);
        assert!(ways.links(1, 2, None).is_empty());
        let levels = seatmap_sim::catalog::load("xeon-e5-2680-2s").unwrap().unwrap();
        assert_eq!(Ways::of(&levels, 0..32), None);
    }
}
