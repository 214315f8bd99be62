//! Compares a seating with a plan and with rules.
//!
//! Each rule is a function from `SeatingFacts` to findings, in its own file. Without a measured
//! harm it gives a remark.

mod brake;
mod devices;
mod expect;
mod facts;
mod interrupts;
mod isolated;
pub mod judged;
mod kind;
mod late_binding;
pub mod made;
mod memory;
mod moved;
mod one_per;
mod overlap;
mod parts;
mod quota;
mod real_time;
mod scheduler;
mod shared_core;
mod shared_cpu;
mod stopped;
mod strangers;
mod too_many;
mod variables;
mod words;

use crate::expected::Expected;
use crate::finding::{Finding, Gravity};
use crate::rule::Rule;
use crate::seating::{Process, Seating, Unseen, WatchedThread};
pub(crate) use facts::{SeatingFacts, Sitter};
pub(crate) use real_time::is_real_time;
use seatmap_data::machine::Topology;
use seatmap_os::{CpuSet, Root, Tid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The criteria for a seating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    /// The named rules, or the default ones.
    pub rules: Vec<Rule>,
    /// The seats of the threads.
    pub expected: Option<Expected>,
    /// Whether unread things fail the check.
    pub strict: bool,
}

impl Criteria {
    /// `None` means all.
    fn concerned(&self) -> Option<BTreeSet<Tid>> {
        match &self.expected {
            _ if !self.rules.is_empty() => None,
            Some(expected) => expected.seated_processes(),
            None => Some(BTreeSet::new()),
        }
    }
}

/// A thread's expected seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadSeat {
    /// The process.
    pub pid: Tid,
    /// The thread.
    pub tid: Tid,
    /// Its name: `task 3`, `task 3 'left'`, `thread 4711`.
    pub label: String,
    /// Its CPUs, as a list.
    pub cpus: String,
}

/// The threads' seats, by PID and TID.
pub fn seats(seating: &Seating, topology: &Topology, criteria: &Criteria) -> Vec<ThreadSeat> {
    let Some(expected) = &criteria.expected else { return Vec::new() };
    let facts = SeatingFacts::new(seating, topology, Some(expected));
    let mut seats: Vec<ThreadSeat> = facts
        .seated(expected)
        .into_iter()
        .map(|(sitter, seat)| ThreadSeat {
            pid: sitter.thread.pid,
            tid: sitter.tid,
            label: seat.label.clone(),
            cpus: seat.cpus.to_string(),
        })
        .collect();
    seats.sort_by_key(|seat| (seat.pid, seat.tid));
    seats
}

/// It waits for its only CPU, or waits are not counted.
pub(crate) fn may_be_kept_waiting(thread: &WatchedThread) -> bool {
    let is_confined = CpuSet::of_list(&thread.mask).is_some_and(|mask| mask.only().is_some());
    is_confined && thread.wait_percent.is_none_or(|percent| percent >= strangers::WAITS_PERCENT)
}

type Judge = fn(&SeatingFacts) -> Vec<Finding>;

/// The CPUs of an unbound process: its cell's, or the usual ones allowed by its control group.
pub fn unbound_cpus(seating: &Seating, topology: &Topology, pid: Tid) -> CpuSet {
    SeatingFacts::new(seating, topology, None).seats_of(pid)
}

const DEFAULT: [Judge; 18] = [
    variables::partial,
    variables::judge,
    late_binding::judge,
    moved::usual,
    overlap::judge,
    shared_cpu::judge,
    isolated::judge,
    shared_core::judge,
    kind::slow,
    too_many::judge,
    quota::judge,
    memory::judge,
    real_time::judge,
    strangers::usual,
    interrupts::usual,
    scheduler::judge,
    stopped::judge,
    stopped::frozen,
];

/// Everything wrong, most serious first.
pub fn judge(seating: &Seating, topology: &Topology, criteria: &Criteria) -> Vec<Finding> {
    let facts = SeatingFacts::new(seating, topology, criteria.expected.as_ref());
    let mut found = words::judge(&facts);
    found.extend(expect::judge(&facts));
    if criteria.rules.is_empty() || criteria.rules.contains(&Rule::Default) {
        found.extend(DEFAULT.iter().flat_map(|rule| rule(&facts)));
    }
    found.extend(criteria.rules.iter().flat_map(|rule| named(&facts, rule)));
    // Named rules judge the masks at the end, so threads that were elsewhere before are reported
    // separately.
    if criteria.rules.iter().any(|rule| *rule != Rule::Default) {
        found.extend(moved::unjudged(&facts));
    }
    let root = Root::new("/");
    let mut distinct: Vec<Finding> = Vec::new();
    for finding in found {
        if distinct.iter().all(|other| !other.is_same(&finding)) {
            distinct.push(finding);
        }
    }
    let mut distinct: Vec<Finding> =
        distinct.into_iter().map(|finding| finding.permitted(&root)).collect();
    // Fewer threads come before a higher quota.
    distinct.sort_by_key(|finding| {
        (std::cmp::Reverse(finding.gravity), finding.rule != too_many::RULE, finding.pid)
    });
    // Every seating in every test also tests the sentences.
    #[cfg(test)]
    for finding in &distinct {
        let faults = seatmap_needs::faults(&finding.what);
        assert!(faults.is_empty(), "{faults:?}");
    }
    distinct
}

fn named(facts: &SeatingFacts, rule: &Rule) -> Vec<Finding> {
    match rule {
        Rule::Default => Vec::new(),
        Rule::OnePerCpu => one_per::cpu(facts),
        Rule::OnePerCore => one_per::core(facts),
        Rule::MemoryLocal => memory::named(facts),
        Rule::DeviceNear => devices::judge(facts),
        Rule::NoIrq => interrupts::none(facts),
        Rule::NoStrangers => strangers::none(facts),
        Rule::Kind(kind) => kind::only(facts, *kind),
        Rule::On { cpus, .. } => kind::within(facts, &rule.to_string(), cpus),
        Rule::Same(level) => parts::same(facts, *level),
        Rule::Spread(level) => parts::spread(facts, *level),
    }
}

/// A check's result in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything needed was read, and nothing is wrong.
    AsAsked,
    /// Nothing is wrong as far as could be read.
    NotAllSeen,
    /// Something is wrong.
    Wrong,
}

impl Verdict {
    /// The verdict on these findings and unread things.
    pub fn of(seating: &Seating, findings: &[Finding], unseen: &[&Unseen]) -> Self {
        let all_judged = findings.iter().all(|finding| finding.gravity != Gravity::Unseen);
        if findings.iter().any(Finding::is_wrong) {
            Verdict::Wrong
        } else if unseen.is_empty()
            && all_judged
            && seating.threads.iter().all(|thread| !thread.mask.is_empty())
        {
            Verdict::AsAsked
        } else {
            Verdict::NotAllSeen
        }
    }

    /// Whether the check fails.
    pub fn fails(self, strict: bool) -> bool {
        self == Verdict::Wrong || strict && self == Verdict::NotAllSeen
    }
}

/// The unread things that the rules need.
pub fn missed<'a>(
    seating: &'a Seating,
    topology: &Topology,
    criteria: &Criteria,
) -> Vec<&'a Unseen> {
    let has = |rule: Rule| criteria.rules.contains(&rule);
    let default = criteria.rules.is_empty() || has(Rule::Default);
    let is_needed = |unseen: &&Unseen| match unseen.what.as_str() {
        "program" => false,
        "environment" | "quota" => default,
        "cpu-time" => default,
        "interrupts" => default || has(Rule::NoIrq),
        "devices" => has(Rule::DeviceNear),
        "strangers" => default || has(Rule::NoStrangers),
        "memory" => (default || has(Rule::MemoryLocal)) && topology.count(|pu| pu.numa) > 1,
        _ => true,
    };
    seating.unseen.iter().filter(is_needed).collect()
}

/// A process in a sentence: `redis-server (4711)`.
pub fn named_process(process: &Process) -> String {
    format!("{} ({})", process.name, process.pid)
}

#[cfg(test)]
mod tests {
    use super::made::Made;
    use super::*;

    fn judged(made: &Made, rules: &[Rule]) -> Vec<Finding> {
        judge(
            &made.seating,
            &made.topology,
            &Criteria { rules: rules.to_vec(), ..Criteria::default() },
        )
    }

    #[test]
    fn unbound_programs_have_no_findings() {
        let made = Made::new(4).with("7/7 on 0-3: 90+5; 7/8 on 0-3: 80+5; 9/9 on 0-3: 99+0");
        let made = made
            .interrupts(0, "24", "eth0", 9000.0)
            .stranger(0, "other", 60.0, "0-3")
            .memory(&[50, 900]);
        assert_eq!(judged(&made, &[]), []);
    }

    #[test]
    fn named_rule_replaces_default_rules() {
        let made = Made::new(4).with("7/7 on 1: 50+50; 7/8 on 1: 50+50");
        let rules = |rules: &[Rule]| {
            let mut rules: Vec<String> =
                judged(&made, rules).into_iter().map(|finding| finding.rule).collect();
            rules.dedup();
            rules
        };
        assert_eq!(rules(&[]), ["shared-cpu"]);
        assert_eq!(rules(&[Rule::OnePerCpu]), ["one-per-cpu"]);
        assert_eq!(rules(&[Rule::NoIrq]), [""; 0]);
        assert_eq!(rules(&[Rule::Default, Rule::OnePerCpu]), ["shared-cpu", "one-per-cpu"]);
    }

    #[test]
    fn unseen_threads_limit_verdict() {
        let mut made = Made::new(2).with("7/7 on 0-1");
        let verdict = |made: &Made| Verdict::of(&made.seating, &judged(made, &[]), &[]);
        assert_eq!(verdict(&made), Verdict::AsAsked);
        made.seating.threads[0].mask.clear();
        assert_eq!(verdict(&made), Verdict::NotAllSeen);
        assert!(!verdict(&made).fails(false) && verdict(&made).fails(true));
        let made = Made::new(4).with("7/7 on 1: 50+50; 7/8 on 1: 50+50");
        assert!(verdict(&made).fails(false));
    }

    #[test]
    fn only_facts_needed_by_rules_count_as_missed() {
        let mut made = Made::new(2).with("7/7 on 0-1");
        let unseen = |what: &str| Unseen { what: what.to_owned(), ..Unseen::default() };
        made.seating.unseen =
            ["program", "environment", "devices", "memory", "strangers", "threads"]
                .map(unseen)
                .into();
        let missed = |made: &Made, rules: &[Rule]| {
            let criteria = Criteria { rules: rules.to_vec(), ..Criteria::default() };
            let missed = super::missed(&made.seating, &made.topology, &criteria);
            missed.into_iter().map(|unseen| unseen.what.clone()).collect::<Vec<_>>()
        };
        assert_eq!(missed(&made, &[]), ["environment", "strangers", "threads"]);
        assert_eq!(missed(&made, &[Rule::DeviceNear]), ["devices", "threads"]);
        assert_eq!(missed(&made.parts(1, 1, 1), &[Rule::MemoryLocal]), ["memory", "threads"]);
    }
}
