//! `stopped`: programs that do not run, so that nothing of where they run could be seen.

use super::facts::count;
use super::{Facts, named_process};
use crate::finding::Finding;
use crate::remedy::Remedy;
use crate::seating::GroupBrake;
use seatmap_os::Tid;
use seatmap_statistics::words::agreeing;
use std::collections::{BTreeSet, HashSet};

/// Programs that a signal, a debugger or a control group keeps from running.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let frozen = facts.seating.brakes.iter().filter_map(|brake| frozen_by(facts, brake));
    by_signal(facts).into_iter().chain(frozen).collect()
}

/// Threads of a frozen group, as `docker pause` makes one. Their state does not tell: it is the one
/// in which they were frozen.
fn frozen_by(facts: &Facts, brake: &GroupBrake) -> Option<Finding> {
    let is_freezer =
        ["/freezer.state", "/cgroup.freeze"].iter().any(|name| brake.file.ends_with(name));
    let members: HashSet<Tid> = brake.tids.iter().copied().filter(|_| is_freezer).collect();
    let frozen = facts.sitters.iter().filter(|sitter| members.contains(&sitter.tid()));
    let frozen: Vec<(Tid, Tid)> = frozen.map(|one| (one.thread.pid, one.tid())).collect();
    let pids: BTreeSet<Tid> = frozen.iter().map(|(pid, _)| *pid).collect();
    let process =
        facts.programs().map(|(process, _)| process).find(|one| pids.contains(&one.pid))?;
    let threads = count(frozen.len(), "thread");
    let programs = match pids.len() {
        1 => named_process(process),
        programs => count(programs, "program"),
    };
    let what = format!(
        "the control group {} is {} and stops {threads} of {programs}: {} could be checked, but not \
         where {}",
        brake.group,
        brake.words,
        agreeing(frozen.len(), "its mask", "their masks"),
        agreeing(frozen.len(), "it runs", "they run"),
    );
    let mut finding = Finding::remark("stopped", what).since(facts.seating.watched_s);
    if pids.len() == 1 {
        finding = finding.of(process.pid);
    }
    let finding = finding.tids(frozen.iter().map(|(_, tid)| *tid));
    Some(if brake.is_read_only {
        let file = &brake.file;
        finding.advised(format!("ask whoever started this container to thaw the group ({file})"))
    } else {
        finding.mended_by(Remedy::release_group(&brake.file, None))
    })
}

/// Processes all of whose threads are stopped, by a signal (`T`) or a debugger (`t`).
fn by_signal(facts: &Facts) -> Vec<Finding> {
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
            Finding::remark("stopped", what).of(process.pid).since(facts.seating.watched_s);
        finding
            .tids(sitters.iter().map(|sitter| sitter.tid()))
            .mended_by(Remedy::go_on(process.pid))
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn a_stopped_program_is_told() {
        let found = judge(&Made::new(2).thread(7, 7, "0-1").state('T').facts());
        assert_eq!(found[0].remedy.as_deref(), Some("kill -CONT 7"));
        assert!(found.len() == 1 && !found[0].is_wrong());
        assert_eq!(
            judge(&Made::new(2).thread(7, 7, "0-1").state('T').thread(7, 8, "0-1").facts()),
            []
        );
    }

    #[test]
    fn a_frozen_program_is_told_with_its_group() {
        let mut made = Made::new(2).thread(7, 7, "0-1").thread(7, 8, "1").thread(9, 9, "0-1");
        let brake = GroupBrake {
            group: "/box".to_owned(),
            file: "/c/box/freezer.state".to_owned(),
            words: "frozen (freezer.state)".to_owned(),
            tids: vec![7, 8],
            ..GroupBrake::default()
        };
        made.seating.brakes.push(brake);
        let found = judge(&made.facts());
        let what = "the control group /box is frozen (freezer.state) and stops 2 threads of program \
                    (7): their masks could be checked, but not where they run";
        assert_eq!((found.len(), found[0].what.as_str()), (1, what));
        assert_eq!(found[0].remedy.as_deref(), Some("echo THAWED > /c/box/freezer.state"));
        made.seating.brakes[0].tids = vec![9];
        made.seating.brakes[0].is_read_only = true;
        let found = judge(&made.facts());
        assert!(found[0].what.ends_with("its mask could be checked, but not where it runs"));
        assert!(found[0].remedy.is_none() && found[0].advice.is_some() && !found[0].is_wrong());
    }
}
