//! Links that several tasks share.

use crate::build::count;
use crate::sections::groups_of_model;
use crate::{Level, Pus, Traffic};
use seatmap_data::machine::Profile;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::greatest;
use std::cmp::Reverse;

/// The links into and out of groups of PUs: caches, dies, NUMA nodes, packages.
///
/// All traffic across a group's border uses its link. Capacities are unknown, so a link's load is
/// the weight through it.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    names: Vec<String>,
    first_of_level: Vec<usize>,
    of_pu: Vec<Vec<u32>>,
}

impl Links {
    /// One per group of a level with several groups, some of several cores; without such levels,
    /// per group of the home model.
    pub fn new(profile: &Profile, pus: &Pus) -> Self {
        let mut links = Links {
            names: Vec::new(),
            first_of_level: Vec::new(),
            of_pu: vec![Vec::new(); pus.os.len()],
        };
        // A level with the groups of the one below adds nothing.
        let mut below = Level::Core.groups(&profile.topology, &pus.os);
        for level in &Level::ALL[1..] {
            let groups = level
                .groups(&profile.topology, &pus.os)
                .filter(|groups| Some(groups) != below.as_ref());
            if let Some(groups) = groups {
                let own = |pu: usize| level.of(profile.topology.pu(pus.os[pu])?);
                let number = |group: u32| own(groups.iter().position(|of| *of == group)?);
                links.add(level.name(), &groups, &|group| number(group).unwrap_or(group));
                below = Some(groups);
            }
        }
        if let Some(groups) = groups_of_model(profile, pus).filter(|_| links.names.is_empty()) {
            links.add("group", &groups, &|group| group);
        }
        links
    }

    fn add(&mut self, level: &str, groups: &[u32], number: &dyn Fn(u32) -> u32) {
        let count = count(groups);
        if count < 2 || count == groups.len() {
            return;
        }
        let first = self.names.len() as u32;
        self.first_of_level.push(self.names.len());
        self.names.extend((0..count as u32).map(|group| format!("{level} {}", number(group))));
        self.of_pu.iter_mut().zip(groups).for_each(|(of, group)| of.push(first + group));
    }

    /// The number of links.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no links.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Slots behind each link, level by level.
    pub(crate) fn slots(&self, pu_of_slot: &[u32]) -> Vec<Vec<usize>> {
        let mut count = vec![0; self.len()];
        pu_of_slot
            .iter()
            .flat_map(|pu| &self.of_pu[*pu as usize])
            .for_each(|link| count[*link as usize] += 1);
        let ends = self.first_of_level.iter().skip(1).copied().chain([self.len()]);
        self.first_of_level
            .iter()
            .zip(ends)
            .map(|(first, end)| count[*first..end].to_vec())
            .collect()
    }

    pub(crate) fn load(&self, loads: &mut [f64], a: usize, b: usize, weight: f64) {
        for (a, b) in self.of_pu[a].iter().zip(&self.of_pu[b]).filter(|(a, b)| a != b) {
            loads[*a as usize] += weight;
            loads[*b as usize] += weight;
        }
    }

    /// The load of each link, with tasks on these rows.
    pub fn loads(&self, traffic: &Traffic, pu_of: &[usize]) -> Vec<f64> {
        let mut loads = vec![0.0; self.len()];
        for (task, with, weight) in traffic.edges() {
            self.load(&mut loads, pu_of[task], pu_of[with], weight);
        }
        loads
    }

    pub(crate) fn most(&self, traffic: &Traffic, pu_of: &[usize]) -> f64 {
        greatest(self.loads(traffic, pu_of))
    }

    /// The most loaded link and its load.
    pub fn busiest(&self, loads: &[f64]) -> Option<(String, f64)> {
        let at = (0..loads.len()).max_by_key(|at| (Ordered(loads[*at]), Reverse(*at)))?;
        Some((self.names[at].clone(), loads[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::catalog;

    #[test]
    fn links_carry_topology_numbers() {
        let machine = catalog::load("core-i9-12900k").unwrap();
        let l2 = |pu: &u32| machine.topology.pu(*pu).unwrap().l2.unwrap();
        // Four cores share an L2 cache here.
        let all: Vec<u32> = machine.topology.os_indices().collect();
        let last = &all[all.len() - 8..];
        let pus = Pus::new(&machine, Some(last), false).unwrap();
        let links = Links::new(&machine, &pus);
        let mut loads = vec![0.0; links.len()];
        loads[1] = 2.0;
        let own = format!("l2 {}", l2(&last[7]));
        assert_eq!(links.busiest(&loads), Some((own, 2.0)), "{:?}", links.names);
    }
}
