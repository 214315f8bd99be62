//! Chooses the best CPUs for a cell.
//!
//! The criteria in order: few unmovable interrupts; little time stolen by a hypervisor; not the
//! core of CPU 0, which keeps the kernel's time and starts other CPUs; whole cores, because a busy
//! neighbour on a core disturbs; short core distances, if known. Present load does not count,
//! because programs will leave.

use crate::{CellError, CellHost, Name};
use seatmap_data::machine::Profile;
use seatmap_os::{CpuSet, FileError, Root, irq, layout};
use std::collections::{BTreeMap, BTreeSet};

/// Facts about candidate CPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuChoice {
    /// Free CPUs.
    pub free: CpuSet,
    /// Cores that contain every free CPU.
    pub cores: Vec<CpuSet>,
    /// Unmovable interrupts by CPU.
    pub unmovable: BTreeMap<u32, usize>,
    /// Stolen time in percent by CPU; 0 if unknown.
    pub steal_percent: BTreeMap<u32, f64>,
}

/// Differences below a measurement's resolution: one tick in 0.25 s.
const SAME_STEAL: f64 = 2.0;

impl CpuChoice {
    /// Reads this computer. Tests interrupts by writing their present masks.
    ///
    /// # Errors
    /// Online CPUs or a journal cannot be read.
    pub fn of_host(host: &CellHost) -> Result<Self, CellError> {
        let online = layout::online(&host.root)?;
        let taken: CpuSet = host.cells()?.iter().flat_map(|cell| cell.set()).collect();
        let free = online.without(&taken).without(&host.claimed()).without(&isolated(host));
        Ok(CpuChoice {
            cores: cores_of(&host.root, &free),
            unmovable: unmovable(&host.root)?,
            steal_percent: BTreeMap::new(),
            free,
        })
    }

    /// Like [`CpuChoice::of_host`], for a new cell. Checks the name first, because testing
    /// interrupts takes time.
    ///
    /// # Errors
    /// [`CellError::NameTaken`], and as [`CpuChoice::of_host`].
    pub fn for_new(host: &CellHost, name: &Name) -> Result<Self, CellError> {
        if host.cell(name).is_ok() {
            return Err(CellError::NameTaken(name.clone()));
        }
        CpuChoice::of_host(host)
    }

    /// The default size of a cell on a computer without other cells.
    ///
    /// # Errors
    /// Online CPUs cannot be read.
    pub fn usual_size_of(host: &CellHost) -> Result<usize, FileError> {
        let free = layout::online(&host.root)?.without(&isolated(host));
        let cores = cores_of(&host.root, &free);
        Ok(CpuChoice { cores, free, ..CpuChoice::default() }.usual_size())
    }

    /// CPUs for this many communicating tasks, one each: those suitable for a cell if they are
    /// enough, else all free CPUs but one.
    ///
    /// # Errors
    /// [`CellError::TooMany`]: one CPU must stay for the rest of the system.
    pub fn candidates(&self, tasks: usize) -> Result<Vec<u32>, CellError> {
        let free = self.free.len();
        if tasks >= free {
            return Err(CellError::TooMany { requested: tasks, free });
        }
        let quiet: Vec<u32> =
            self.free.iter().filter(|cpu| *cpu != 0 && !self.unmovable.contains_key(cpu)).collect();
        if quiet.len() >= tasks {
            return Ok(quiet);
        }
        Ok(self.free.iter().rev().take(free - 1).collect())
    }

    /// The best CPUs for a cell: `size` CPUs, or the best core by default.
    ///
    /// # Errors
    /// As [`CpuChoice::candidates`].
    pub fn best(&self, size: Option<usize>, near: Option<&Profile>) -> Result<CpuSet, CellError> {
        let free = self.free.len();
        let size = size.unwrap_or_else(|| self.usual_size());
        if size == 0 || size >= free {
            return Err(CellError::TooMany { requested: size, free });
        }
        let mut chosen = CpuSet::default();
        while chosen.len() < size {
            let missing = size - chosen.len();
            let open = self.cores.iter().filter(|core| !core.meets(&chosen));
            let Some(core) = open.min_by(|a, b| {
                let costs = [a, b].map(|core| self.cost(core, missing, &chosen, near));
                costs[0].partial_cmp(&costs[1]).unwrap_or(std::cmp::Ordering::Equal)
            }) else {
                break;
            };
            // Drops CPU 0 from a core that is only partly needed.
            chosen.extend(core.iter().rev().take(missing));
        }
        Ok(chosen)
    }

    /// One core, or one CPU of a single core.
    fn usual_size(&self) -> usize {
        let core = self.cores.iter().map(|core| core.len()).max().unwrap_or(1);
        if core < self.free.len() { core } else { 1 }
    }

    /// Drawbacks, most important first.
    fn cost(
        &self,
        core: &CpuSet,
        missing: usize,
        chosen: &CpuSet,
        near: Option<&Profile>,
    ) -> (usize, u64, bool, bool, f64) {
        let interrupts = core.iter().filter_map(|cpu| self.unmovable.get(&cpu)).sum();
        let is_cut = core.len() > missing;
        let distance = near.map_or(0.0, |profile| mean_distance(profile, core, chosen, &self.free));
        let steal =
            core.iter().filter_map(|cpu| self.steal_percent.get(&cpu)).copied().fold(0.0, f64::max);
        (interrupts, (steal / SAME_STEAL).round() as u64, core.contains(0), is_cut, distance)
    }
}

/// CPUs isolated by the user for other programs. A cell uses them only if they are named.
pub fn isolated(host: &CellHost) -> CpuSet {
    let isolated = seatmap_os::isolated::beside_others(&host.root);
    // Some kernels include the CPUs of cells that are isolated partitions.
    let cells = host.cells().unwrap_or_default();
    cells.iter().fold(isolated.without(&host.claimed()), |rest, cell| rest.without(&cell.set()))
}

fn cores_of(root: &Root, free: &CpuSet) -> Vec<CpuSet> {
    let cores: BTreeSet<CpuSet> = free.iter().map(|cpu| core_of(root, cpu, free)).collect();
    cores.into_iter().collect()
}

fn core_of(root: &Root, cpu: u32, free: &CpuSet) -> CpuSet {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let siblings = root.cpus(&path).unwrap_or_default();
    siblings.iter().chain([cpu]).filter(|cpu| free.contains(*cpu)).collect()
}

fn unmovable(root: &Root) -> Result<BTreeMap<u32, usize>, FileError> {
    let mut found = BTreeMap::new();
    for number in
        irq::of_devices(root)?.iter().filter(|number| irq::try_to_move(root, number).is_err())
    {
        irq::goes_to(root, number).iter().for_each(|cpu| *found.entry(cpu).or_insert(0) += 1);
    }
    Ok(found)
}

/// In ns, to the chosen cores; for the first core, to all free ones.
fn mean_distance(profile: &Profile, core: &CpuSet, chosen: &CpuSet, free: &CpuSet) -> f64 {
    let Some(distance) = &profile.core_distance else { return 0.0 };
    // So that the first core is central.
    let others = if chosen.is_empty() { free.without(core) } else { chosen.clone() };
    let others = ranks(&distance.pus, &others);
    let pairs =
        ranks(&distance.pus, core).into_iter().flat_map(|a| others.iter().map(move |b| (a, *b)));
    let known: Vec<f64> =
        pairs.map(|pair| distance.median_ns[pair]).filter(|ns| ns.is_finite()).collect();
    if known.is_empty() { f64::INFINITY } else { known.iter().sum::<f64>() / known.len() as f64 }
}

fn ranks(pus: &[u32], cpus: &CpuSet) -> Vec<usize> {
    cpus.iter().filter_map(|cpu| pus.iter().position(|pu| *pu == cpu)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::{CoreDistance, Matrix, Origin, OriginKind, Topology};

    fn computer() -> CpuChoice {
        let cores = (0..4).map(|cpu| [cpu, cpu + 4].into_iter().collect()).collect();
        CpuChoice { free: (0..8).collect(), cores, ..CpuChoice::default() }
    }

    fn best(choice: &CpuChoice, wanted: usize) -> String {
        choice.best(Some(wanted), None).unwrap().to_string()
    }

    #[test]
    fn interrupts_count_most_and_cpu_0_is_last() {
        let mut choice = computer();
        assert_eq!((best(&choice, 2).as_str(), best(&choice, 1).as_str()), ("1,5", "5"));
        choice.unmovable = [(1, 3), (2, 1)].into();
        assert_eq!(best(&choice, 2), "3,7");
        choice.unmovable = (1..4).map(|cpu| (cpu, 1)).collect();
        assert_eq!(best(&choice, 2), "0,4", "an interrupt is worse than CPU 0");
        choice.unmovable.clear();
        choice.steal_percent = [(1, 9.0), (2, 0.4), (6, 0.1)].into();
        assert_eq!(best(&choice, 2), "2,6", "a thief on CPU 1, and noise on 2 that means nothing");
    }

    #[test]
    fn whole_cores_are_chosen_and_one_cpu_stays() {
        let choice = computer();
        assert_eq!(best(&choice, 3), "1,5,6");
        assert_eq!(best(&choice, 7), "1-7");
        assert_eq!(choice.best(None, None).unwrap().len(), 2);
        assert!(choice.best(Some(8), None).is_err() && choice.best(Some(0), None).is_err());
        let small = CpuChoice {
            free: (0..2).collect(),
            cores: vec![(0..2).collect()],
            ..CpuChoice::default()
        };
        assert_eq!(small.best(None, None).unwrap().to_string(), "1");
    }

    #[test]
    fn tasks_use_quiet_cpus_if_they_suffice() {
        let mut choice = CpuChoice { free: (0..32).collect(), ..CpuChoice::default() };
        choice.unmovable = (1..12).map(|cpu| (cpu, 1)).collect();
        assert_eq!(choice.candidates(20).unwrap(), (12..32).collect::<Vec<_>>());
        assert_eq!(choice.candidates(21).unwrap(), (1..32).rev().collect::<Vec<_>>());
        assert!(choice.candidates(32).is_err());
    }

    #[test]
    fn cores_of_a_cell_are_near_each_other() {
        let origin =
            Origin { kind: OriginKind::Measured, source: "test".into(), date: None, tool: None };
        let mut profile = Profile::new("test", origin, Topology::unknown(0..8));
        let mut median_ns = Matrix::filled(8, 100.0);
        [(1, 3), (1, 7), (5, 3), (5, 7)]
            .into_iter()
            .for_each(|(a, b)| median_ns.set_both(a, b, 40.0));
        profile.core_distance = Some(CoreDistance::imported((0..8).collect(), median_ns));
        assert_eq!(computer().best(Some(4), Some(&profile)).unwrap().to_string(), "1,3,5,7");
    }
}
