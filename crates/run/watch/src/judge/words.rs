//! `words`: words that name other CPUs than when the seats were chosen.

use super::facts::SeatingFacts;
use crate::expected::Expected;
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use seatmap_data::words::agreeing;
use seatmap_launch::sets::MovedWords;
use seatmap_os::CpuSet;

const RULE: &str = "words";

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let Some(expected) = facts.expected else { return Vec::new() };
    expected.moved.iter().map(|moved| of_words(facts, expected, moved)).collect()
}

/// Wrong if seats are outside the present CPUs. Seats on all CPUs of the words are not: they follow
/// the words, and the rule `expect` judges their threads.
fn of_words(facts: &SeatingFacts, expected: &Expected, moved: &MovedWords) -> Finding {
    let offline = moved.kept.then.without(&facts.online);
    if !offline.is_empty() {
        let are = agreeing(offline.len(), "is", "are");
        let what = format!("{}: {} {are} offline", moved.sentence(), offline.named());
        return Finding::wrong(RULE, what)
            .on(&offline)
            .mended_by(SeatingRemedy::bring_online(&offline));
    }
    let now = moved.now.as_ref().map_or_else(|_| CpuSet::default(), CpuSet::clone);
    let outside = expected.whole().within(&moved.kept.then).without(&now);
    let again = if expected.is_shown {
        "start the program again: its launcher gives new threads the earlier CPUs"
    } else {
        "choose the seats again: make the plan anew, or start the program again"
    };
    Finding::remark(RULE, moved.sentence())
        .grave_if(!outside.is_empty())
        .on(&outside)
        .advised(again)
}

#[cfg(test)]
mod tests {
    use crate::Expected;
    use crate::judge::made::{Made, lines};
    use crate::judge::{Criteria, judge};
    use seatmap_data::machine::Topology;
    use seatmap_data::plan::Plan;
    use seatmap_launch::sets::{ComputerCpus, KeptWords};
    use seatmap_os::CpuSet;

    /// The threads 7 and 8 on these CPUs, of a plan for `words`, which named the CPUs 2 and 3 of 4.
    fn findings(masks: [&str; 2], words: &str, plan: Plan, online: &[u32]) -> String {
        let made = Made::new(4).with(&format!("7/7 on {}; 7/8 on {}", masks[0], masks[1]));
        let topology = Topology::unknown(online.iter().copied());
        let mut plan = plan;
        let then = CpuSet::of_list("2-3").unwrap();
        KeptWords { words: words.to_owned(), then }.keep_in(&mut plan);
        let computer = ComputerCpus::of_machine(topology.clone(), None);
        let expected = Expected::of_plan(&plan).on(&computer);
        let criteria = Criteria {
            expected: Some(expected),
            rules: vec![crate::Rule::NoIrq],
            ..Criteria::default()
        };
        let mut seating = made.seating;
        seating.cpus.retain(|cpu| online.contains(&cpu.cpu));
        lines(judge(&seating, &topology, &criteria))
    }

    fn each_on_one() -> Plan {
        Plan::new("made", vec![2, 3])
    }

    fn both_on_all() -> Plan {
        Plan { seats: vec![vec![2, 3], vec![2, 3]], ..each_on_one() }
    }

    #[test]
    fn unmoved_words_are_not_reported() {
        assert_eq!(findings(["2", "3"], "not:first:2", each_on_one(), &[0, 1, 2, 3]), "");
    }

    #[test]
    fn seats_outside_moved_words_are_wrong() {
        let found = findings(["2", "3"], "first:2", each_on_one(), &[0, 1, 2, 3]);
        assert_eq!(
            found,
            "Wrong several [] on 2,3: 'first:2' named CPUs 2,3 when the seats were chosen, and names CPUs 0,1 now -> choose the seats again: make the plan anew, or start the program again"
        );
    }

    #[test]
    fn seats_on_all_cpus_of_words_move_with_them() {
        let found = findings(["2,3", "0,1"], "first:2", both_on_all(), &[0, 1, 2, 3]);
        assert_eq!(
            found,
            "Wrong 7 [7] on 2,3: thread 7 'main' may run on CPUs 2,3, but the seat of task 0 is CPUs 0,1 -> taskset -cp 0,1 7\nRemark several [] on : 'first:2' named CPUs 2,3 when the seats were chosen, and names CPUs 0,1 now -> choose the seats again: make the plan anew, or start the program again"
        );
    }

    #[test]
    fn offline_cpus_of_words_are_brought_online() {
        let found = findings(["2,3", "2,3"], "not:first:2", both_on_all(), &[0, 1, 2]);
        let first = found.lines().next().unwrap();
        assert_eq!(
            first,
            "Wrong several [] on 3: 'not:first:2' named CPUs 2,3 when the seats were chosen, and names CPU 2 now: CPU 3 is offline -> echo 1 > /sys/devices/system/cpu/cpu3/online"
        );
    }
}
