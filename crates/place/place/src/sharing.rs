//! The cores and caches that tasks share, and empty ones.

use crate::build::{count, groups};
use crate::{Level, PlaceError, PlaceRequest, Pus, too_few_groups, unfit};
use seatmap_data::machine::Topology;
use std::collections::{BTreeMap, BTreeSet};

/// The cores that a placement uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreSharing {
    /// Cores with several tasks.
    pub shared_cores: usize,
    /// Usable cores.
    pub cores: usize,
    /// Packages without a task, by OS number.
    pub empty_packages: Vec<u32>,
    /// NUMA nodes without a task in other packages.
    pub empty_nodes: Vec<u32>,
}

impl PlaceRequest<'_> {
    /// Usable cores; `None` if unknown, or if none has several usable hardware threads.
    pub fn smt_cores(&self) -> Option<usize> {
        let topology = &self.profile.topology;
        let allowed = self.allowed()?;
        let cores = count(&Level::Core.groups(topology, &allowed)?);
        (cores < allowed.len()).then_some(cores)
    }

    /// Whether fixed tasks share a core: then the user wants sharing.
    pub fn fixes_share_a_core(&self) -> bool {
        let fixed: Vec<u32> = self.fixed.iter().map(|(_, os)| *os).collect();
        self.on_cores(&fixed).values().any(|tasks| *tasks > 1)
    }

    /// How many of these PUs each core has.
    pub(crate) fn on_cores(&self, pus: &[u32]) -> BTreeMap<u32, usize> {
        let mut count = BTreeMap::new();
        for core in pus.iter().filter_map(|os| self.profile.topology.pu(*os)?.core) {
            *count.entry(core).or_default() += 1;
        }
        count
    }

    /// `None` if the topology does not have cores.
    pub fn sharing(&self, placement: &[u32]) -> Option<CoreSharing> {
        let topology = &self.profile.topology;
        let allowed = self.allowed()?;
        let cores: BTreeSet<u32> =
            allowed.iter().map(|os| topology.pu(*os)?.core).collect::<Option<_>>()?;
        let empty_packages = empty(topology, &allowed, placement, Level::Package);
        Some(CoreSharing {
            shared_cores: self.on_cores(placement).values().filter(|tasks| **tasks > 1).count(),
            cores: cores.len(),
            empty_nodes: empty(topology, &allowed, placement, Level::Numa)
                .into_iter()
                // An empty package includes its nodes.
                .filter(|node| {
                    let there = topology.pus.iter().filter(|pu| pu.numa == Some(*node));
                    !there
                        .filter_map(|pu| pu.package)
                        .any(|package| empty_packages.contains(&package))
                })
                .collect(),
            empty_packages,
        })
    }

    /// The usable PUs, by OS number.
    pub(crate) fn allowed(&self) -> Option<Vec<u32>> {
        let known = self.profile.core_distance.as_ref()?;
        Some(self.cpus.clone().unwrap_or_else(|| known.pus.clone()))
    }

    /// That of a fixed task, or else the first.
    ///
    /// # Errors
    /// The cores are unknown or fewer than the tasks, or tasks are fixed on two hardware threads of
    /// one core.
    pub(crate) fn one_pu_a_group(&self, level: Level, all: Pus) -> Result<Pus, PlaceError> {
        let groups = groups(level, self.profile, &all)?;
        let mut first: Vec<Option<u32>> = vec![None; count(&groups)];
        for (_, os) in &self.fixed {
            let at = all.index_of(*os).ok_or(PlaceError::NoSuchPu(*os))?;
            let taken = first[groups[at] as usize].replace(*os);
            if let Some(taken) = taken.filter(|taken| taken != os) {
                let group = level.name();
                return unfit(format!(
                    "tasks are fixed on PUs {taken} and {os}, which share one {group}; --avoid-smt \
                     and --one-per allow one task per {group}"
                ));
            }
        }
        for (os, group) in all.os.iter().zip(&groups) {
            first[*group as usize].get_or_insert(*os);
        }
        let chosen: Vec<u32> =
            all.os.iter().copied().filter(|os| first.contains(&Some(*os))).collect();
        if chosen.len() < self.pattern.tasks {
            too_few_groups(self.pattern.tasks, chosen.len())
        } else {
            Pus::new(self.profile, Some(&chosen), self.homes)
        }
    }
}

fn empty(topology: &Topology, allowed: &[u32], placement: &[u32], level: Level) -> Vec<u32> {
    let [used, all] = [placement, allowed].map(|pus| -> BTreeSet<u32> {
        pus.iter().filter_map(|os| level.of(topology.pu(*os)?)).collect()
    });
    all.difference(&used).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::request;

    #[test]
    fn sharing_counts_shared_cores_and_empty_packages() {
        // Two packages of 8 cores; siblings differ by 16.
        let mut request = request("xeon-e5-2680-2s", "ring:4");
        assert_eq!(request.smt_cores(), Some(16));
        let sharing = request.sharing(&[0, 16, 1, 2]).unwrap();
        let expected = CoreSharing {
            shared_cores: 1,
            cores: 16,
            empty_packages: vec![1],
            empty_nodes: vec![],
        };
        assert_eq!(sharing, expected);
        let spread = request.sharing(&[0, 8, 1, 9]).unwrap();
        assert!(spread.shared_cores == 0 && spread.empty_packages.is_empty(), "{spread:?}");
        request.cpus = Some((0..8).collect());
        assert_eq!(request.smt_cores(), None, "one hardware thread of each core");
        let kept = request.sharing(&[0, 1, 2, 3]).unwrap();
        // The other package was not to be used.
        assert!(kept.cores == 8 && kept.empty_packages.is_empty(), "{kept:?}");
        request.cpus = None;
        request.fixed = vec![(0, 3), (1, 19)];
        assert!(request.fixes_share_a_core());
        request.fixed = vec![(0, 3), (1, 20)];
        assert!(!request.fixes_share_a_core());
    }

    #[test]
    fn lone_task_uses_first_thread_unless_fixed() {
        let mut request = request("xeon-e5-2680-2s", "ring:16");
        (request.one_per, request.fixed) = (Some(Level::Core), vec![(2, 19)]);
        let mut os = request.pus().unwrap().os;
        os.sort_unstable();
        let expected: Vec<u32> = (0..16).filter(|os| *os != 3).chain([19]).collect();
        assert_eq!(os, expected);
        request.fixed.push((3, 3));
        let shared = request.pus().unwrap_err().to_string();
        assert!(shared.starts_with("tasks are fixed on PUs 19 and 3, which share one core;"));
    }
}
