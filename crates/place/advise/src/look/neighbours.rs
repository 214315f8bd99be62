//! The others on the program's CPUs.

use crate::evidence::{Evidence, Neighbour, Neighbours};
use seatmap_os::{CpuSet, Tid};
use seatmap_watch::Seating;
use seatmap_watch::seating::Cpu;
use std::collections::{BTreeMap, BTreeSet};

/// The most neighbours that are kept.
const MOST_LISTED: usize = 5;

/// A neighbour that used less than this share of a CPU, in percent, decides nothing.
const LEAST_PERCENT: f64 = 5.0;

/// Fills in the CPUs that the program may use and the others that use them. Its CPU time and its
/// clients are known by then: a client does not count, as the program would do nothing without it.
pub fn fill(evidence: &mut Evidence, seating: &Seating) {
    let masks: BTreeSet<&str> = seating.threads.iter().map(|thread| &*thread.mask).collect();
    let mut cpus = masks
        .into_iter()
        .filter_map(CpuSet::of_list)
        .fold(CpuSet::default(), |all, mask| all.with(&mask));
    if cpus.is_empty() {
        // A command had this process's mask.
        cpus = CpuSet::of_thread(0).unwrap_or_default();
    }
    evidence.cpus = cpus.to_string();
    evidence.cpu_count = cpus.len();
    let shown: Vec<&Cpu> = seating.cpus.iter().filter(|cpu| cpus.contains(cpu.cpu)).collect();
    if shown.is_empty() {
        return;
    }
    let clients: BTreeSet<Tid> =
        evidence.talk.iter().flat_map(|talk| &talk.clients).map(|client| client.pid).collect();
    let count = shown.len() as f64;
    let busy: f64 = shown.iter().filter_map(|cpu| cpu.busy_percent).sum();
    let steal: f64 = shown.iter().filter_map(|cpu| cpu.steal_percent).sum();
    let by_clients: f64 = shown
        .iter()
        .flat_map(|cpu| &cpu.strangers)
        .filter(|stranger| clients.contains(&stranger.pid))
        .map(|stranger| stranger.run_percent)
        .sum();
    evidence.neighbours = Neighbours {
        percent: ((busy - evidence.used_percent - by_clients) / count).clamp(0.0, 100.0),
        steal_percent: steal / count,
        programs: busiest(&shown, &clients),
    };
}

/// The busiest other programs on these CPUs.
fn busiest(cpus: &[&Cpu], clients: &BTreeSet<Tid>) -> Vec<Neighbour> {
    let mut by_pid: BTreeMap<Tid, Neighbour> = BTreeMap::new();
    for stranger in cpus.iter().flat_map(|cpu| &cpu.strangers) {
        let one = by_pid.entry(stranger.pid).or_insert_with(|| Neighbour {
            pid: stranger.pid,
            name: stranger.name.clone(),
            percent: 0.0,
        });
        one.percent += stranger.run_percent;
    }
    let mut all: Vec<Neighbour> = by_pid.into_values().collect();
    all.retain(|one| one.percent >= LEAST_PERCENT && !clients.contains(&one.pid));
    all.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.pid.cmp(&b.pid)));
    all.truncate(MOST_LISTED);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Client, ProgramTalk};
    use seatmap_watch::seating::Stranger;

    fn stranger(pid: Tid, run_percent: f64) -> Stranger {
        Stranger { tid: pid, pid, name: format!("n{pid}"), run_percent, ..Stranger::default() }
    }

    #[test]
    fn clients_and_its_own_short_children_are_no_neighbours() {
        let strangers = vec![stranger(3, 60.0), stranger(4, 30.0), stranger(5, 1.0)];
        let cpu = Cpu { cpu: 0, busy_percent: Some(100.0), strangers, ..Cpu::default() };
        let seating = Seating { cpus: vec![cpu], ..Seating::default() };
        let client = Client { pid: 3, ..Client::default() };
        let talk = ProgramTalk { clients: vec![client], ..ProgramTalk::default() };
        let mut evidence = Evidence { used_percent: 8.0, talk: Some(talk), ..Evidence::default() };
        if !CpuSet::of_thread(0).is_ok_and(|own| own.contains(0)) {
            return seatmap_needs::skipped!("this process may not use CPU 0");
        }
        fill(&mut evidence, &seating);
        assert!((evidence.neighbours.percent - 32.0).abs() < 1e-9, "{:?}", evidence.neighbours);
        let named: Vec<Tid> = evidence.neighbours.programs.iter().map(|one| one.pid).collect();
        assert_eq!(named, [4], "neither its client nor one that used next to nothing");
    }
}
