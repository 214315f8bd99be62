//! `stopped` and `frozen`: programs that do not run, so their CPUs are unknown.

use super::facts::count;
use super::{SeatingFacts, named_process};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::GroupBrake;
use seatmap_data::grouped::by_key;
use seatmap_data::words::{agreeing, joined};
use seatmap_os::Tid;
use std::collections::{BTreeMap, BTreeSet};

/// For instance after `docker pause`. Their state is the one in which they were frozen.
pub fn frozen(facts: &SeatingFacts) -> Vec<Finding> {
    let freezers = facts.seating.brakes.iter().filter(|brake| is_freezer(&brake.file));
    let by_threads: BTreeMap<&[Tid], Vec<&GroupBrake>> =
        by_key(freezers.map(|brake| (&*brake.tids, brake)));
    by_threads.into_iter().filter_map(|(tids, brakes)| frozen_by(facts, tids, &brakes)).collect()
}

fn is_freezer(file: &str) -> bool {
    ["/freezer.state", "/cgroup.freeze"].iter().any(|name| file.ends_with(name))
}

/// Each of the groups must be thawed.
fn frozen_by(facts: &SeatingFacts, tids: &[Tid], brakes: &[&GroupBrake]) -> Option<Finding> {
    let frozen = facts.among(tids);
    let pids: BTreeSet<Tid> = frozen.iter().map(|one| one.pid).collect();
    let process = facts.process(*pids.first()?)?;
    let groups = brakes.iter().map(|brake| format!("{} is {}", brake.group, brake.words));
    let programs = match pids.len() {
        1 => named_process(process),
        programs => count(programs, "program"),
    };
    let what = format!(
        "the control group {}, which stops {} of {programs}: {} could be checked, but not where {}",
        joined(groups, " and "),
        count(frozen.len(), "thread"),
        agreeing(frozen.len(), "its mask", "their masks"),
        agreeing(frozen.len(), "it runs", "they run"),
    );
    let finding = Finding::unseen("frozen", what).threads(&frozen).since(facts.seating.watched_s);
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
    facts.of_programs(|process, sitters| {
        let what = format!(
            "{} is stopped: its masks could be checked, but not where it runs",
            named_process(process)
        );
        let finding =
            Finding::unseen("stopped", what).threads(sitters).since(facts.seating.watched_s);
        // T: by a signal; t: by a debugger (proc_pid_stat(5)).
        let is_stopped = sitters.iter().all(|sitter| ['T', 't'].contains(&sitter.state));
        is_stopped.then(|| finding.mended_by(SeatingRemedy::go_on(process.pid)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn stopped_program_is_reported_with_remedy() {
        assert_eq!(
            Made::new(2).with("7/7 on 0-1").state('T').told(judge),
            "Unseen 7 [7] on : program (7) is stopped: its masks could be checked, but not where it runs -> kill -CONT 7"
        );
        assert_eq!(Made::new(2).with("7/7 on 0-1").state('T').with("7/8 on 0-1").told(judge), "");
    }

    #[test]
    fn frozen_program_is_reported_with_group() {
        let mut made = Made::new(2).with("7/7 on 0-1; 7/8 on 1; 9/9 on 0-1");
        let brake = GroupBrake {
            group: "/box".to_owned(),
            file: "/c/box/freezer.state".to_owned(),
            words: "frozen (freezer.state)".to_owned(),
            tids: vec![7, 8],
            ..GroupBrake::default()
        };
        made.seating.brakes.push(brake);
        assert_eq!(
            made.told(frozen),
            "Unseen 7 [7, 8] on : the control group /box is frozen (freezer.state), which stops 2 threads of program (7): their masks could be checked, but not where they run -> echo THAWED > /c/box/freezer.state"
        );
        let above =
            GroupBrake { file: "/u/cgroup.freeze".to_owned(), ..made.seating.brakes[0].clone() };
        made.seating.brakes.push(above);
        assert_eq!(
            made.told(frozen),
            "Unseen 7 [7, 8] on : the control group /box is frozen (freezer.state) and /box is frozen (freezer.state), which stops 2 threads of program (7): their masks could be checked, but not where they run -> echo THAWED > /c/box/freezer.state; echo 0 > /u/cgroup.freeze"
        );
        made.seating.brakes.truncate(1);
        made.seating.brakes[0].tids = vec![9];
        made.seating.brakes[0].is_read_only = true;
        assert_eq!(
            made.told(frozen),
            "Unseen 9 [9] on : the control group /box is frozen (freezer.state), which stops 1 thread of program (9): its mask could be checked, but not where it runs -> ask the owner of this container, or root of the host, to thaw the group (/c/box/freezer.state)"
        );
    }
}
