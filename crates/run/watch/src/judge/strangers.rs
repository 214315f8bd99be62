//! `strangers` and `no-strangers`: threads of other programs on the seats.

use super::facts::{SeatingFacts, Sitter};
use super::real_time;
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::{CpuActivity, Stranger};
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeSet;

/// A stranger with this share of a CPU is busy.
const BUSY_PERCENT: f64 = 20.0;
const MOST_NAMED: usize = 4;
/// The owner of a seat has to wait if it waits for this share of its time.
pub const WAITS_PERCENT: f64 = 5.0;
/// `no-strangers` ignores smaller shares, because kernel threads have some work everywhere.
const SOME_PERCENT: f64 = 1.0;

pub fn usual(facts: &SeatingFacts) -> Vec<Finding> {
    facts
        .seating
        .cpus
        .iter()
        .filter_map(|cpu| {
            let owner = facts.sitters.iter().find(|one| {
                one.is_bound
                    && facts.is_demanding(one)
                    && one.seat() == Some(cpu.cpu)
                    && waits(one)
                    && !real_time::is_starved_by_a_stranger(facts, one)
            })?;
            let stranger = cpu.strangers.iter().find(|one| one.run_percent >= BUSY_PERCENT)?;
            let what = format!(
                "{} is bound to CPU {}, but thread {} '{}' of another program took {:.0} % of \
                 it{}{}",
                owner.named(),
                cpu.cpu,
                stranger.tid,
                stranger.name,
                stranger.run_percent,
                by_policy(stranger),
                others(cpu, BUSY_PERCENT)
            );
            Some(intrusion(facts, "strangers", what, cpu, BUSY_PERCENT).of(owner.pid))
        })
        .collect()
}

fn waits(sitter: &Sitter) -> bool {
    sitter.waits_percent().is_none_or(|percent| percent >= WAITS_PERCENT)
}

fn by_policy(stranger: &Stranger) -> String {
    stranger.real_time_policy.as_ref().map_or_else(String::new, |policy| {
        format!(" with its policy {policy} {}", stranger.real_time_priority)
    })
}

/// A remedy must only move named threads.
fn others(cpu: &CpuActivity, least_percent: f64) -> String {
    let those = cpu.strangers.iter().filter(|one| one.run_percent >= least_percent).skip(1);
    let named: Vec<String> = those
        .clone()
        .take(MOST_NAMED)
        .map(|one| format!("{} '{}' {:.0} %", one.tid, one.name, one.run_percent))
        .collect();
    if named.is_empty() {
        return String::new();
    }
    let more = those.count() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(", and {}{more}", named.join(", "))
}

pub fn none(facts: &SeatingFacts) -> Vec<Finding> {
    let seats = facts.seats();
    facts
        .seating
        .cpus
        .iter()
        .filter(|cpu| seats.contains(cpu.cpu))
        .filter_map(|cpu| {
            let stranger = cpu.strangers.iter().find(|one| one.run_percent >= SOME_PERCENT)?;
            let number = cpu.cpu;
            let what = format!(
                "thread {} '{}' of another program ran {:.0} % of the time on CPU {number}{}{}",
                stranger.tid,
                stranger.name,
                stranger.run_percent,
                by_policy(stranger),
                others(cpu, SOME_PERCENT)
            );
            Some(intrusion(facts, "no-strangers", what, cpu, SOME_PERCENT))
        })
        .collect()
}

fn intrusion(
    facts: &SeatingFacts,
    rule: &str,
    what: String,
    cpu: &CpuActivity,
    least_percent: f64,
) -> Finding {
    let finding =
        Finding::wrong(rule, what).on(&CpuSet::single(cpu.cpu)).since(facts.seating.watched_s);
    let those: Vec<_> =
        cpu.strangers.iter().filter(|one| one.run_percent >= least_percent).collect();
    let Some(busiest) = those.first() else { return finding };
    let finding = finding.tids([busiest.tid]).measured(busiest.run_percent, "percent of one CPU");
    let rest = facts.refuge();
    if those.iter().all(|one| is_movable(one, &rest)) {
        let pids: BTreeSet<Tid> = those.iter().map(|one| one.pid).collect();
        return finding
            .mended_by_all(pids.into_iter().map(|pid| SeatingRemedy::bind_all(&rest, pid)));
    }
    // Without its real-time policy, a thread that cannot leave shares the CPU like others.
    if rule == "strangers" && those.iter().all(|one| one.real_time_policy.is_some()) {
        return finding
            .mended_by_all(those.iter().map(|one| SeatingRemedy::ordinary_policy(one.tid)));
    }
    if rest.is_empty() {
        return finding.advised(
            "every other CPU has a seat of the checked programs, too: give them fewer seats, or \
             stop the other program",
        );
    }
    finding
}

/// One with only this CPU is bound on purpose, often by the kernel; one with another mask may be in
/// a control group without other CPUs. Process 1 stays, because later children would inherit the
/// mask.
fn is_movable(stranger: &Stranger, rest: &CpuSet) -> bool {
    if stranger.pid == 1 {
        return false;
    }
    match CpuSet::of_list(&stranger.mask) {
        Some(mask) => mask.len() != 1 && mask.meets(rest),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn stranger_on_busy_seat_is_found() {
        let made = Made::new(4).with("7/7 on 1: 60+40").stranger(1, "cc1", 40.0, "0-3");
        assert_eq!(
            made.told(usual),
            "Wrong 7 [900] on 1: thread 7 'main' is bound to CPU 1, but thread 900 'cc1' of another program took 40 % of it -> taskset -acp 0,2,3 900"
        );
    }

    #[test]
    fn strangers_are_moved_only_to_free_cpus() {
        let seated = |cpus: u32| {
            Made::new(cpus)
                .with("7/7 on 0: 60+40; 7/8 on 1: 60+40")
                .stranger(0, "cc1", 40.0, "0-3")
                .stranger(1, "ld", 40.0, "0-3")
        };
        let remedies = |made: &Made| -> Vec<Option<String>> {
            usual(&made.facts()).into_iter().map(|finding| finding.remedy).collect()
        };
        let away = ["taskset -acp 2,3 900", "taskset -acp 2,3 901"];
        assert_eq!(remedies(&seated(4)), away.map(|away| Some(away.to_owned())));
        let full = seated(2);
        assert_eq!(remedies(&full), [None, None], "each other CPU is a seat");
        let advice = usual(&full.facts())[0].advice.clone().unwrap();
        assert!(advice.starts_with("every other CPU has a seat"), "{advice}");
    }

    #[test]
    fn remedy_moves_only_named_strangers() {
        let made = Made::new(4)
            .with("7/7 on 1: 30+70")
            .stranger(1, "cc1", 40.0, "0-3")
            .stranger(1, "ld", 25.0, "0-3");
        let found = usual(&made.facts());
        let remedy = found[0].remedy.as_deref().unwrap();
        assert_eq!(remedy.matches("taskset").count(), 2, "{remedy}");
        assert!(found[0].what.ends_with("took 40 % of it, and 901 'ld' 25 %"), "{found:?}");
    }

    #[test]
    fn harmless_strangers_are_healthy() {
        let idle = Made::new(4).with("7/7 on 1").stranger(1, "cc1", 40.0, "0-3");
        assert_eq!(idle.told(usual), "");
        let short = Made::new(4).with("7/7 on 1: 90+10").stranger(1, "kworker/1:0", 2.0, "1");
        assert_eq!(short.told(usual), "");
        let unbound = Made::new(4).with("7/7 on 0-3: 60+40").stranger(1, "cc1", 40.0, "0-3");
        assert_eq!(unbound.told(usual), "");
    }

    #[test]
    fn no_strangers_rule_reports_any_stranger() {
        let made = Made::new(4)
            .with("7/7 on 1-2")
            .stranger(2, "cron", 1.5, "2")
            .stranger(0, "cc1", 90.0, "0-3");
        assert_eq!(
            made.told(none),
            "Wrong several [900] on 2: thread 900 'cron' of another program ran 2 % of the time on CPU 2"
        );
        assert_eq!(Made::new(4).with("7/7 on 1").stranger(1, "cron", 0.5, "0-3").told(none), "");
    }
}
