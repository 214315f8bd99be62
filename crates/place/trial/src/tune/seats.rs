//! Chooses equal and quiet cores for a measurement.
//!
//! All are of one kind. A core is used whole or not at all, because hardware threads share its
//! units. Busy cores are the last resort.

use crate::tune::activity::{Activity, QUIET_PERCENT};
use seatmap_data::document::Failure;
use seatmap_data::machine::{CoreKind, Topology};
use seatmap_data::statistics::greatest;
use seatmap_data::statistics::words::{agreeing, counted, counted_figure};
use seatmap_os::{CpuList, CpuSet};
use std::collections::BTreeMap;

/// The chosen CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenCpus {
    /// The CPUs for the commands.
    pub cpus: CpuSet,
    /// The number of cores.
    pub cores: usize,
    /// Excluded cores and other problems, each as a sentence.
    pub notes: Vec<String>,
    /// The largest load of other programs on one of the cores before.
    pub others_percent: f64,
}

struct Core {
    pus: Vec<u32>,
    kind: Option<CoreKind>,
    activity: Activity,
}

/// Chooses `requested` CPUs, on separate cores if possible; by default all hardware threads of all
/// equal quiet cores.
///
/// # Errors
/// [`Failure`]: there are fewer CPUs.
pub fn choose(
    topology: &Topology,
    allowed: &CpuSet,
    activity: &BTreeMap<u32, Activity>,
    requested: Option<usize>,
) -> Result<ChosenCpus, Failure> {
    let mut notes = Vec::new();
    let (mut cores, mixed) = of_one_kind(cores(topology, allowed, activity), &mut notes);
    let there: usize = cores.iter().map(|core| core.pus.len()).sum();
    if requested.is_some_and(|requested| requested > there || requested == 0) {
        let hint = if mixed { "; name CPUs of several kinds with --cpus" } else { "" };
        return Err(Failure::input(format!(
            "{} requested, but {} available{hint}",
            counted(requested.unwrap_or(0), "seat"),
            counted(there, "equal CPU")
        )));
    }
    // Least busy first, then the last one, because CPU 0 has most of a system's work.
    cores.reverse();
    cores.sort_by(|a, b| a.activity.busy_percent.total_cmp(&b.activity.busy_percent));
    // Quiet cores come first; the sort is stable.
    cores.sort_by_key(|core| !core.activity.is_quiet());
    let taken = taken(&cores, requested);
    let used = &cores[..taken.len()];
    notes.extend(disturbed(used));
    Ok(ChosenCpus {
        others_percent: greatest(used.iter().map(|core| core.activity.busy_percent)),
        cores: taken.len(),
        cpus: taken.into_iter().flatten().collect(),
        notes,
    })
}

fn taken(cores: &[Core], requested: Option<usize>) -> Vec<Vec<u32>> {
    let Some(requested) = requested else {
        let quiet = cores.iter().filter(|core| core.activity.is_quiet()).count();
        let used = if quiet > 0 { quiet } else { cores.len() };
        return cores[..used].iter().map(|core| core.pus.clone()).collect();
    };
    let mut taken: Vec<Vec<u32>> = vec![Vec::new(); requested.min(cores.len())];
    let widest = cores.iter().map(|core| core.pus.len()).max().unwrap_or(0);
    // Each core's first hardware thread, then the second ones.
    let by_rank = (0..widest).flat_map(|rank| {
        let cores = cores.iter().enumerate();
        cores.filter_map(move |(at, core)| Some((at, *core.pus.get(rank)?)))
    });
    by_rank.take(requested).for_each(|(at, pu)| taken[at].push(pu));
    taken
}

/// Cores with allowed PUs, each with its busiest PU's activity.
fn cores(topology: &Topology, allowed: &CpuSet, activity: &BTreeMap<u32, Activity>) -> Vec<Core> {
    let mut cores: BTreeMap<Result<u32, u32>, Core> = BTreeMap::new();
    for pu in &topology.pus {
        // A PU of unknown core counts as its own core.
        let core = cores.entry(pu.core.ok_or(pu.os)).or_insert(Core {
            pus: Vec::new(),
            kind: pu.kind,
            activity: Activity::default(),
        });
        if allowed.contains(pu.os) {
            core.pus.push(pu.os);
        }
        // A sibling outside the process's mask slows the core as much as one inside.
        let own = activity.get(&pu.os).copied().unwrap_or_default();
        let most = &mut core.activity;
        most.busy_percent = most.busy_percent.max(own.busy_percent);
        most.interrupts_per_s = most.interrupts_per_s.max(own.interrupts_per_s);
    }
    let mut cores: Vec<Core> = cores.into_values().filter(|core| !core.pus.is_empty()).collect();
    cores.iter_mut().for_each(|core| core.pus.sort_unstable());
    cores.sort_by_key(|core| core.pus[0]);
    cores
}

fn of_one_kind(cores: Vec<Core>, notes: &mut Vec<String>) -> (Vec<Core>, bool) {
    let (fast, slow): (Vec<Core>, Vec<Core>) =
        cores.into_iter().partition(|core| core.kind == Some(CoreKind::Performance));
    if fast.is_empty() || slow.is_empty() {
        return ([fast, slow].into_iter().flatten().collect(), false);
    }
    let left = CpuList(slow.iter().flat_map(|core| core.pus.iter().copied()).collect());
    let are = agreeing(left.0.len(), "is not used: its core is", "are not used: their cores are");
    notes.push(format!("{} {are} of another kind", left.named()));
    (fast, true)
}

fn disturbed(cores: &[Core]) -> Vec<String> {
    let noisy = cores.iter().filter(|core| !core.activity.is_quiet());
    noisy
        .map(|core| {
            let Activity { busy_percent, interrupts_per_s } = core.activity;
            let cpus = CpuList(core.pus.clone()).named();
            // A program on a core disturbs more than its interrupts.
            if busy_percent > QUIET_PERCENT {
                return format!(
                    "other programs used {cpus} for {busy_percent:.0} % of the time before the \
                     start"
                );
            }
            let interrupts = counted_figure(interrupts_per_s, 0, "interrupt");
            format!("{cpus} received {interrupts} from devices per second before the start")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::Pu;

    /// PUs i and i + `cores` share core i; the last `slow` cores have one thread.
    fn machine(cores: u32, slow: u32) -> Topology {
        let kind = (slow > 0).then_some(CoreKind::Performance);
        let fast =
            (0..2 * cores).map(|os| Pu { os, core: Some(os % cores), kind, ..Pu::default() });
        let last = (0..slow).map(|at| Pu {
            os: 2 * cores + at,
            core: Some(cores + at),
            kind: Some(CoreKind::Efficiency),
            ..Pu::default()
        });
        Topology { pus: fast.chain(last).collect() }
    }

    fn busy(cpus: &[u32]) -> BTreeMap<u32, Activity> {
        cpus.iter()
            .map(|cpu| (*cpu, Activity { busy_percent: 50.0, interrupts_per_s: 0.0 }))
            .collect()
    }

    /// The CPUs, the number of cores and that of notes; or the error.
    fn chosen(topology: &Topology, disturbed: &[u32], requested: Option<usize>) -> String {
        let allowed = topology.os_indices().collect();
        match choose(topology, &allowed, &busy(disturbed), requested) {
            Ok(chosen) => {
                format!("{} {} {}", chosen.cpus.list(), chosen.cores, chosen.notes.len())
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn seats_get_separate_cores_while_available() {
        assert_eq!(chosen(&machine(4, 0), &[], Some(1)), "3 1 0");
        assert_eq!(chosen(&machine(4, 0), &[], Some(3)), "1-3 3 0");
        assert_eq!(chosen(&machine(4, 0), &[], Some(5)), "0-3,7 4 0");
        assert_eq!(chosen(&machine(4, 0), &[], None), "0-7 4 0");
    }

    #[test]
    fn busy_cores_are_chosen_last_and_counted() {
        // PU 6 is the sibling of PU 2.
        assert_eq!(chosen(&machine(4, 0), &[3, 6], Some(2)), "0,1 2 0");
        assert_eq!(chosen(&machine(4, 0), &[3, 6], Some(3)), "0,1,3 3 1");
        assert_eq!(chosen(&machine(4, 0), &[3, 6], None), "0,1,4,5 2 0");
        assert_eq!(chosen(&machine(2, 0), &[0, 1], None), "0-3 2 2");
    }

    #[test]
    fn kinds_are_not_mixed() {
        assert_eq!(chosen(&machine(2, 4), &[], None), "0-3 2 1");
        assert_eq!(
            chosen(&machine(2, 4), &[], Some(5)),
            "5 seats requested, but 4 equal CPUs available; name CPUs of several kinds with --cpus"
        );
        assert!(chosen(&machine(2, 0), &[], Some(0)).starts_with("0 seats requested"));
    }
}
