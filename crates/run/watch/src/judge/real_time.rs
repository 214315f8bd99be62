//! `real-time`: threads that a real-time thread keeps from their CPU.

use super::facts::{SeatingFacts, Sitter};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::Stranger;
use seatmap_os::{CpuSet, Tid};

/// A real-time thread with this share of a CPU leaves nothing to others. By default the kernel
/// keeps 5 % for them.
const TAKES_PERCENT: f64 = 80.0;
/// A thread that waits for this share of the time is starved.
const WAITS_PERCENT: f64 = 50.0;

pub fn is_real_time(policy: &str) -> bool {
    ["fifo", "rr", "deadline"].contains(&policy)
}

struct CpuTaker<'a> {
    tid: Tid,
    words: String,
    policy: &'a str,
    priority: u32,
}

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    facts.sitters.iter().filter_map(|sitter| starved(facts, sitter)).collect()
}

fn starved(facts: &SeatingFacts, sitter: &Sitter) -> Option<Finding> {
    let (cpu, waits) = waits_in_vain(sitter)?;
    let taker = taker_on(facts, cpu)?;
    let what = format!(
        "{} waits {waits:.0} % of the time for CPU {cpu}, which {} takes with its policy {} {}",
        sitter.named(),
        taker.words,
        taker.policy,
        taker.priority
    );
    let taken: CpuSet = facts.online.iter().filter(|cpu| taker_on(facts, *cpu).is_some()).collect();
    let rest = facts.allowed_to(sitter).within(&facts.usual).without(&taken);
    let finding = Finding::wrong("real-time", what)
        .of(sitter.pid)
        .tids([sitter.tid, taker.tid])
        .on(&CpuSet::single(cpu))
        .since(facts.seating.watched_s)
        .measured(waits, "percent of the time");
    Some(if rest.is_empty() {
        finding.mended_by(SeatingRemedy::ordinary_policy(taker.tid))
    } else {
        finding.mended_by(SeatingRemedy::bind(&rest, &[sitter]))
    })
}

fn waits_in_vain(sitter: &Sitter) -> Option<(u32, f64)> {
    let cpu = sitter.seat().filter(|_| !is_real_time(&sitter.policy))?;
    let waits = sitter.waits_percent()?;
    (waits >= WAITS_PERCENT).then_some((cpu, waits))
}

fn taker_on<'a>(facts: &SeatingFacts<'a>, cpu: u32) -> Option<CpuTaker<'a>> {
    taker_among(facts, cpu)
        .or_else(|| stranger_on(facts, cpu).and_then(CpuTaker::of_another_program))
}

/// A chosen program's real-time thread that occupies a CPU. A sleeping one does not.
fn taker_among<'a>(facts: &SeatingFacts<'a>, cpu: u32) -> Option<CpuTaker<'a>> {
    let sitter = facts.sitters.iter().find(|one| {
        one.seat() == Some(cpu) && is_real_time(&one.policy) && one.run_percent >= TAKES_PERCENT
    })?;
    Some(CpuTaker {
        tid: sitter.tid,
        words: sitter.named(),
        policy: &sitter.thread.policy,
        priority: sitter.real_time_priority,
    })
}

fn stranger_on<'a>(facts: &SeatingFacts<'a>, cpu: u32) -> Option<&'a Stranger> {
    let cpu = facts.seating.cpus.iter().find(|one| one.cpu == cpu)?;
    cpu.strangers
        .iter()
        .find(|one| one.real_time_policy.is_some() && one.run_percent >= TAKES_PERCENT)
}

pub fn is_starved_by_a_stranger(facts: &SeatingFacts, sitter: &Sitter) -> bool {
    waits_in_vain(sitter).is_some_and(|(cpu, _)| {
        taker_among(facts, cpu).is_none() && stranger_on(facts, cpu).is_some()
    })
}

impl<'a> CpuTaker<'a> {
    fn of_another_program(stranger: &'a Stranger) -> Option<Self> {
        Some(CpuTaker {
            tid: stranger.tid,
            words: format!("thread {} '{}' of another program", stranger.tid, stranger.name),
            policy: stranger.real_time_policy.as_deref()?,
            priority: stranger.real_time_priority,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn starved_thread_is_reported_with_remedy() {
        let made = Made::new(4).with("7/7 on 1: 95+0").policy("fifo").with("9/9 on 1: 4+95");
        assert_eq!(
            made.told(judge),
            "Wrong 9 [9, 7] on 1: thread 9 'main' waits 95 % of the time for CPU 1, which thread 7 'main' takes with its policy fifo 0 -> taskset -cp 0,2,3 9"
        );
        let alone = Made::new(1).with("7/7 on 0: 95+0").policy("rr").with("9/9 on 0: 4+95");
        assert_eq!(
            alone.told(judge),
            "Wrong 9 [9, 7] on 0: thread 9 'main' waits 95 % of the time for CPU 0, which thread 7 'main' takes with its policy rr 0 -> chrt --other -p 0 7"
        );
    }

    #[test]
    fn ordinary_threads_and_short_bursts_are_healthy() {
        let ordinary = Made::new(4).with("7/7 on 1: 50+50; 9/9 on 1: 50+50");
        assert_eq!(ordinary.told(judge), "");
        let burst = Made::new(4).with("7/7 on 1: 30+0").policy("fifo").with("9/9 on 1: 60+30");
        assert_eq!(burst.told(judge), "");
        let elsewhere = Made::new(4).with("7/7 on 2: 95+0").policy("fifo").with("9/9 on 1: 40+60");
        assert_eq!(elsewhere.told(judge), "");
    }

    #[test]
    fn foreign_real_time_thread_is_reported_once() {
        let made = |cpus, waits| {
            Made::new(cpus)
                .busy(9, 9, "0", 4.0, waits)
                .stranger(0, "hog", 95.0, "0")
                .real_time_strangers("fifo", 50)
        };
        let starved = made(4, 95.0);
        assert_eq!(
            starved.told(judge),
            "Wrong 9 [9, 900] on 0: thread 9 'main' waits 95 % of the time for CPU 0, which thread 900 'hog' of another program takes with its policy fifo 50 -> taskset -cp 1-3 9"
        );
        assert_eq!(crate::judge::strangers::usual(&starved.facts()), []);
        let alone = judge(&made(1, 96.0).facts());
        assert_eq!(alone[0].remedy.as_deref(), Some("chrt --other -p 0 900"));
    }
}
