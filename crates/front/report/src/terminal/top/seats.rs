//! Groups a machine's CPUs for the screen.

use crate::alike::alike;
use crate::words::joined;
use seatmap_data::machine::{CoreKind, Pu, Topology};
use std::collections::BTreeMap;

/// A machine's CPUs by group, with the origin of the groups.
pub struct SeatGroups {
    /// Origin of the groups, in words: measured, or from the kernel.
    pub source: String,
    /// Groups, in the machine's order.
    pub groups: Vec<SeatGroup>,
    /// CPUs of a hybrid processor's efficiency cores.
    pub efficient: Vec<u32>,
}

/// A group of CPUs near each other.
#[derive(serde::Serialize)]
pub struct SeatGroup {
    /// Name: `package 0, L3 1`.
    pub name: String,
    /// Cores, each with its CPUs.
    pub cores: Vec<Vec<u32>>,
}

impl SeatGroup {
    /// The CPUs, with SMT siblings adjacent.
    pub fn cpus(&self) -> impl Iterator<Item = u32> {
        self.cores.iter().flatten().copied()
    }
}

impl SeatGroups {
    /// The measured groups, if any. Other CPUs are in the kernel's groups: those of a package that
    /// share an L3 cache.
    pub fn new(topology: &Topology, measured: Option<&[Vec<u32>]>) -> Self {
        let is_measured = measured.is_some();
        let measured = measured.unwrap_or_default();
        // A remembered measurement may include a CPU that is now offline.
        let measured = Vec::from_iter(measured.iter().map(|group| {
            Vec::from_iter(group.iter().copied().filter(|cpu| topology.pu(*cpu).is_some()))
        }));
        let mut groups: Vec<SeatGroup> = measured
            .iter()
            .enumerate()
            // Groups keep the numbers that 'show' gives them.
            .filter(|(_, cpus)| !cpus.is_empty())
            .map(|(at, cpus)| SeatGroup {
                name: format!("group {at}"),
                cores: cores(cpus, topology),
            })
            .collect();
        let source = match (groups.is_empty(), is_measured) {
            (true, false) => "groups from the kernel (this host is not measured)",
            (true, true) => "groups from the kernel (the measurement found none)",
            (false, _) => "measured groups",
        };
        groups
            .extend(by_cache(topology, &|pu| !measured.iter().flatten().any(|cpu| *cpu == pu.os)));
        let slow = topology.pus.iter().filter(|pu| pu.kind.is_some_and(CoreKind::is_slower));
        let efficient = slow.map(|pu| pu.os).collect();
        SeatGroups { source: source.to_owned(), groups, efficient }
    }

    /// All CPUs, in the order of the screen.
    pub fn cpus(&self) -> impl Iterator<Item = u32> {
        self.groups.iter().flat_map(SeatGroup::cpus)
    }

    /// The number of CPUs of the largest core.
    pub fn siblings(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.cores).map(Vec::len).max().unwrap_or(1)
    }
}

fn by_cache(topology: &Topology, is_wanted: &dyn Fn(&Pu) -> bool) -> Vec<SeatGroup> {
    // A sorted map makes the caches of a package adjacent.
    let mut of: BTreeMap<(Option<u32>, Option<u32>), Vec<u32>> = BTreeMap::new();
    for pu in topology.pus.iter().filter(|pu| is_wanted(pu)) {
        of.entry((pu.package, pu.l3)).or_default().push(pu.os);
    }
    let name = |(package, l3): (Option<u32>, Option<u32>)| {
        let part =
            |word: &str, number: Option<u32>| number.map(|number| format!("{word} {number}"));
        let parts = joined(part("package", package).into_iter().chain(part("L3", l3)), ", ");
        if parts.is_empty() { "CPUs".to_owned() } else { parts }
    };
    of.into_iter()
        .map(|(key, cpus)| SeatGroup { name: name(key), cores: cores(&cpus, topology) })
        .collect()
}

/// Cores in order of their first CPU. A CPU with an unknown core is a core by itself.
fn cores(cpus: &[u32], topology: &Topology) -> Vec<Vec<u32>> {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    // The groups of a file may name a CPU twice.
    sorted.dedup();
    let core = |cpu: u32| topology.pu(cpu)?.core;
    alike(sorted, |a, b| core(*a).is_some() && core(*a) == core(*b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_watch::judge::made::Made;

    #[test]
    fn siblings_are_adjacent_within_cache() {
        let mut topology = Made::new(8).parts(2, 4, 8).topology;
        topology.pus.iter_mut().for_each(|pu| pu.core = Some(pu.os % 4));
        topology.pus.iter_mut().for_each(|pu| pu.l3 = Some(pu.os % 4 / 2));
        let groups = SeatGroups::new(&topology, None);
        let cpus = Vec::from_iter(groups.groups.iter().map(|group| Vec::from_iter(group.cpus())));
        assert_eq!(cpus, [[0, 4, 1, 5], [2, 6, 3, 7]]);
        assert_eq!((groups.groups[1].name.as_str(), groups.siblings()), ("package 0, L3 1", 2));
    }

    #[test]
    fn measured_groups_come_first_and_keep_all_cpus() {
        let topology = Made::new(6).topology;
        let groups = SeatGroups::new(&topology, Some(&[vec![4, 1], vec![0, 99]]));
        let cpus = Vec::from_iter(groups.groups.iter().map(|group| Vec::from_iter(group.cpus())));
        assert_eq!(cpus, [vec![1, 4], vec![0], vec![2, 3, 5]]);
        assert_eq!(groups.source, "measured groups");
        assert!(SeatGroups::new(&topology, None).source.contains("is not measured"));
    }
}
