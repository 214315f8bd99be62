//! The links of a machine and their loads under a placement.

use crate::appraise::nested::{self, PuGroup};
use crate::appraise::{DrawnPlacement, Ways};
use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::statistics::Ordered;
use seatmap_sim::CoherentModel;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The links of a machine's fabric or, without one, the borders of groups of PUs.
pub enum MachineLinks {
    /// The links of a ring or mesh.
    Fabric(Ways),
    /// The outermost name and the PUs of each group of a hierarchical machine.
    Borders(Vec<(String, Vec<u32>)>),
}

impl MachineLinks {
    /// The links of a machine and its model, if any.
    pub fn of(profile: &Profile, model: Option<&CoherentModel>) -> Self {
        match model.and_then(|model| Ways::of(model, profile.topology.os_indices())) {
            Some(ways) => MachineLinks::Fabric(ways),
            None => {
                let mut borders = Vec::new();
                add_borders(&nested::machine(profile), &mut borders);
                MachineLinks::Borders(borders)
            }
        }
    }

    /// The busiest link under a placement: its name and its load in bytes or simulator counts.
    /// `None` without links.
    pub fn busiest(&self, pattern: &Pattern, seating: &DrawnPlacement) -> Option<(String, f64)> {
        match self {
            MachineLinks::Fabric(ways) => {
                let (at, load) = heaviest(&ways.loads(pattern, seating))?;
                Some((ways.names[at].clone(), load))
            }
            MachineLinks::Borders(groups) => {
                let pus: Vec<&[u32]> = groups.iter().map(|(_, pus)| pus.as_slice()).collect();
                let (at, load) = heaviest(&border_loads(&pus, pattern, seating))?;
                Some((groups[at].0.clone(), load))
            }
        }
    }
}

fn add_borders(group: &PuGroup, borders: &mut Vec<(String, Vec<u32>)>) {
    if let Some(name) = group.names.first().filter(|_| !group.inside.is_empty()) {
        borders.push((name.clone(), group.pus.clone()));
    }
    group.inside.iter().for_each(|inner| add_borders(inner, borders));
}

/// The bytes that cross the border of each group of PUs, in or out.
pub fn border_loads(groups: &[&[u32]], pattern: &Pattern, seating: &DrawnPlacement) -> Vec<f64> {
    let mut around: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for (at, pus) in groups.iter().enumerate() {
        pus.iter().for_each(|os| _ = around.entry(*os).or_default().insert(at));
    }
    let nowhere = BTreeSet::new();
    let mut loads = vec![0.0; groups.len()];
    for edge in &pattern.edges {
        let Some(ends) = seating.ends(edge) else { continue };
        let [here, there] = ends.map(|os| around.get(&os).unwrap_or(&nowhere));
        // An edge crosses the borders around exactly one of its ends.
        here.symmetric_difference(there).for_each(|border| loads[*border] += edge.bytes);
    }
    loads
}

/// The index and load of the most loaded link; the first of several.
pub fn heaviest(loads: &[f64]) -> Option<(usize, f64)> {
    let most = loads.iter().enumerate().max_by_key(|(at, load)| (Ordered(**load), Reverse(*at)));
    most.map(|(at, load)| (at, *load))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::catalog;
    use seatmap_data::pattern::generate;
    use seatmap_data::plan::Plan;

    #[test]
    fn groups_become_links_without_a_known_fabric() {
        let machine = catalog::load("xeon-e5-2680-2s").unwrap();
        let pattern = generate("ring:4").unwrap();
        let links = MachineLinks::of(&machine, None);
        let busiest = |placement: Vec<u32>| {
            let plan = Plan::new("xeon", placement);
            links.busiest(&pattern, &DrawnPlacement::planned(&pattern, &plan)).unwrap()
        };
        let apart = busiest(vec![0, 8, 1, 9]);
        let near = busiest(vec![0, 1, 8, 9]);
        assert!(apart.0.starts_with("package") && near.1 < apart.1, "{apart:?} {near:?}");
    }

    #[test]
    fn first_of_equal_links_is_the_heaviest() {
        assert_eq!(heaviest(&[1.0, 3.0, 3.0]), Some((1, 3.0)));
        assert_eq!(heaviest(&[]), None);
    }
}
