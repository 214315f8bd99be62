//! `stopped` and `frozen`: programs that do not run, so their CPUs are unknown.

use super::facts::count;
use super::{SeatingFacts, named_process};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::GroupBrake;
use seatmap_data::statistics::words::agreeing;
use seatmap_os::Tid;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// For instance after `docker pause`. Their state is the one in which they were frozen.
pub fn frozen(facts: &SeatingFacts) -> Vec<Finding> {
    let mut by_threads: BTreeMap<&[Tid], Vec<&GroupBrake>> = BTreeMap::new();
    for brake in facts.seating.brakes.iter().filter(|brake| is_freezer(&brake.file)) {
        by_threads.entry(&brake.tids).or_default().push(brake);
    }
    by_threads.into_iter().filter_map(|(tids, brakes)| frozen_by(facts, tids, &brakes)).collect()
}

fn is_freezer(file: &str) -> bool {
    ["/freezer.state", "/cgroup.freeze"].iter().any(|name| file.ends_with(name))
}

/// Each of the groups must be thawed.
fn frozen_by(facts: &SeatingFacts, tids: &[Tid], brakes: &[&GroupBrake]) -> Option<Finding> {
    let members: HashSet<&Tid> = tids.iter().collect();
    let frozen = facts.sitters.iter().filter(|sitter| members.contains(&sitter.tid()));
    let frozen: Vec<(Tid, Tid)> = frozen.map(|one| (one.thread.pid, one.tid())).collect();
    let pids: BTreeSet<Tid> = frozen.iter().map(|(pid, _)| *pid).collect();
    let process = facts.process(*pids.first()?)?;
    let groups: Vec<String> =
        brakes.iter().map(|brake| format!("{} is {}", brake.group, brake.words)).collect();
    let programs = match pids.len() {
        1 => named_process(process),
        programs => count(programs, "program"),
    };
    let what = format!(
        "the control group {}, which stops {} of {programs}: {} could be checked, but not where {}",
        groups.join(" and "),
        count(frozen.len(), "thread"),
        agreeing(frozen.len(), "its mask", "their masks"),
        agreeing(frozen.len(), "it runs", "they run"),
    );
    let mut finding = Finding::unseen("frozen", what).since(facts.seating.watched_s);
    if pids.len() == 1 {
        finding = finding.of(process.pid);
    }
    let finding = finding.tids(frozen.iter().map(|(_, tid)| *tid));
    Some(match brakes.iter().find(|brake| brake.is_read_only) {
        Some(closed) => finding.advised(format!(
            "ask the owner of this container, or root of the host, to thaw the group ({})",
            closed.file
        )),
        None => finding.mended_by_all(
            brakes.iter().map(|brake| SeatingRemedy::release_group(&brake.file, None)),
        ),
    })
}

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let stopped = facts.programs().filter(|(_, sitters)| {
        !sitters.is_empty()
            // T: by a signal; t: by a debugger (proc_pid_stat(5)).
            && sitters.iter().all(|sitter| ['T', 't'].contains(&sitter.thread.state))
    });
    let findings = stopped.map(|(process, sitters)| {
        let what = format!(
            "{} is stopped: its masks could be checked, but not where it runs",
            named_process(process)
        );
        let finding =
            Finding::unseen("stopped", what).of(process.pid).since(facts.seating.watched_s);
        finding
            .tids(sitters.iter().map(|sitter| sitter.tid()))
            .mended_by(SeatingRemedy::go_on(process.pid))
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn stopped_program_is_reported_with_remedy() {
        let found = judge(&Made::new(2).thread(7, 7, "0-1").state('T').facts());
        assert_eq!(found[0].remedy.as_deref(), Some("kill -CONT 7"));
        assert!(found.len() == 1 && !found[0].is_wrong());
        assert_eq!(
            judge(&Made::new(2).thread(7, 7, "0-1").state('T').thread(7, 8, "0-1").facts()),
            []
        );
    }

    #[test]
    fn frozen_program_is_reported_with_group() {
        let mut made = Made::new(2).thread(7, 7, "0-1").thread(7, 8, "1").thread(9, 9, "0-1");
        let brake = GroupBrake {
            group: "/box".to_owned(),
            file: "/c/box/freezer.state".to_owned(),
            words: "frozen (freezer.state)".to_owned(),
            tids: vec![7, 8],
            ..GroupBrake::default()
        };
        made.seating.brakes.push(brake);
        let found = frozen(&made.facts());
        let what = "the control group /box is frozen (freezer.state), which stops 2 threads of \
                    program (7): their masks could be checked, but not where they run";
        assert_eq!((found.len(), found[0].what.as_str()), (1, what));
        assert_eq!(found[0].remedy.as_deref(), Some("echo THAWED > /c/box/freezer.state"));
        let above =
            GroupBrake { file: "/u/cgroup.freeze".to_owned(), ..made.seating.brakes[0].clone() };
        made.seating.brakes.push(above);
        let both = "echo THAWED > /c/box/freezer.state; echo 0 > /u/cgroup.freeze";
        assert_eq!(frozen(&made.facts())[0].remedy.as_deref(), Some(both));
        made.seating.brakes.truncate(1);
        made.seating.brakes[0].tids = vec![9];
        made.seating.brakes[0].is_read_only = true;
        let found = frozen(&made.facts());
        assert!(found[0].what.ends_with("its mask could be checked, but not where it runs"));
        assert!(found[0].remedy.is_none() && found[0].advice.is_some() && !found[0].is_wrong());
    }
}
