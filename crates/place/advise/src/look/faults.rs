//! Wrong settings, and their remedies for this program alone.

use crate::evidence::Evidence;
use seatmap_data::machine::Topology;
use seatmap_os::{Root, Tid, task};
use seatmap_watch::judge::unbound_cpus;
use seatmap_watch::remedy::{SeatingRemedyKind, undo_of};
use seatmap_watch::{Criteria, Finding, Gravity, Seating, judge};

/// Adds the findings of `seatmap check`, the command that undoes the remedy, and the CPUs that the
/// program could use without its mask.
pub fn fill(evidence: &mut Evidence, seating: &Seating, topology: &Topology) {
    let findings = judge(seating, topology, &Criteria::default());
    let pids = &evidence.pids;
    let wrong = findings.into_iter().filter(|one| one.gravity == Gravity::Wrong);
    evidence.findings = wrong.map(|one| for_one_program(one, pids)).collect();
    let first = evidence.findings.iter().find_map(|one| one.remedy.as_ref());
    evidence.undo = first.and_then(|remedy| undo_of(&Root::new("/"), remedy));
    if let Some(process) = seating.processes.first() {
        evidence.unbound_cpus = unbound_cpus(seating, topology, process.pid).to_string();
    }
}

/// The owners of other programs must decide about commands that change these.
fn for_one_program(finding: Finding, pids: &[Tid]) -> Finding {
    let Some(command) = &finding.remedy else { return finding };
    let advice = match finding.remedy_kind {
        Some(SeatingRemedyKind::LiftThrottling) => format!(
            "'{command}' lifts the limit for all real-time threads there, and one that never waits \
             can then stop everything else: ask the owner"
        ),
        Some(SeatingRemedyKind::MoveInterrupt) => {
            format!("'{command}' moves an interrupt of the whole computer: ask its owner")
        }
        // The first advice is fewer threads, before a higher quota.
        Some(
            SeatingRemedyKind::RaiseQuotaV1
            | SeatingRemedyKind::RaiseQuotaV2
            | SeatingRemedyKind::RaiseQuotaOfUnit,
        ) if finding.advice.is_some() => {
            format!("{}: {command}", finding.advice.as_deref().unwrap_or_default())
        }
        _ if pids.is_empty() && changes_others(command, pids) => {
            format!("the program has ended: start it on other CPUs, as '{command}' would have set")
        }
        _ if changes_others(command, pids) => format!(
            "another program is the cause, and '{command}' changes that program: ask its owner"
        ),
        _ => return finding,
    };
    Finding { remedy: None, remedy_kind: None, advice: Some(advice), ..finding }
}

fn changes_others(command: &str, pids: &[Tid]) -> bool {
    command.split("; ").any(|part| {
        let words: Vec<&str> = part.split(' ').collect();
        let targets = match words[..] {
            ["taskset", _, _, target] | ["kill", _, target] | ["chrt", _, _, _, target] => {
                vec![target]
            }
            ["migratepages", target, ..] => vec![target],
            ["seatmap", "run", ..] => {
                words.windows(2).filter(|pair| pair[0] == "--pid").map(|pair| pair[1]).collect()
            }
            _ => return false,
        };
        targets.into_iter().any(|target| {
            target.parse().is_ok_and(|tid: Tid| {
                !pids.iter().any(|pid| *pid == tid || task::is_thread_of(tid, *pid))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_affecting_other_processes_are_recognized() {
        let own = Tid::try_from(std::process::id()).unwrap();
        for other in [
            "taskset -acp 1 1",
            "chrt --other -p 0 1",
            "kill -CONT 1",
            "migratepages 1 0 1",
            "seatmap run --cpus 0,1 --pid 1",
        ] {
            assert!(changes_others(other, &[own]), "{other}");
            assert!(changes_others(&format!("taskset -cp 0 {own}; {other}"), &[own]), "{other}");
        }
        for fine in [format!("taskset -acp 0,1 {own}"), "echo 1 > /x".to_owned()] {
            assert!(!changes_others(&fine, &[own]), "{fine}");
        }
        let tid = task::own_tid();
        assert!(!changes_others(&format!("taskset -cp 0 {tid}"), &[own]), "a thread of it");
    }
}
