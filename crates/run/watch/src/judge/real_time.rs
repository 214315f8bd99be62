//! `real-time`: threads that a real-time thread keeps from their CPU.

use super::facts::{Facts, Sitter};
use crate::finding::Finding;
use crate::remedy::Remedy;
use seatmap_os::CpuSet;

/// The share of a CPU from which a real-time thread leaves others nothing. The kernel keeps 5 % for
/// them by default.
const TAKES_PERCENT: f64 = 80.0;
/// The share of the time from which a thread waits in vain.
const WAITS_PERCENT: f64 = 50.0;

/// Whether a policy goes before all ordinary threads.
pub(super) fn is_real_time(policy: &str) -> bool {
    ["fifo", "rr", "deadline"].contains(&policy)
}

/// Threads confined to a CPU that a real-time thread has taken.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    facts.sitters.iter().filter_map(|sitter| starved(facts, sitter)).collect()
}

fn starved(facts: &Facts, sitter: &Sitter) -> Option<Finding> {
    let cpu = sitter.seat().filter(|_| !is_real_time(&sitter.thread.policy))?;
    let waits = sitter.thread.wait_percent.filter(|percent| *percent >= WAITS_PERCENT)?;
    let taker = facts.sitters.iter().find(|other| {
        // A real-time thread that sleeps takes nothing away.
        let runs = other.thread.run_percent >= TAKES_PERCENT;
        other.seat() == Some(cpu) && is_real_time(&other.thread.policy) && runs
    })?;
    let what = format!(
        "{} waits {waits:.0} % of the time for CPU {cpu}, which {} takes by its policy {} {}",
        sitter.named(),
        taker.named(),
        taker.thread.policy,
        taker.thread.real_time_priority
    );
    let rest = facts.allowed_to(sitter).within(&facts.usual).without(&CpuSet::single(cpu));
    let finding =
        Finding::wrong("real-time", what).of(sitter.thread.pid).tids([sitter.tid(), taker.tid()]);
    let finding = finding
        .on(&CpuSet::single(cpu))
        .since(facts.seating.watched_s)
        .measured(waits, "percent of the time");
    Some(if rest.is_empty() {
        finding.mended_by(Remedy::ordinary_policy(taker.tid()))
    } else {
        finding.mended_by(Remedy::bind(&rest, [sitter.tid()]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn a_starved_thread_is_found() {
        let made =
            Made::new(4).busy(7, 7, "1", 95.0, 0.0).policy("fifo").busy(9, 9, "1", 4.0, 95.0);
        let found = judge(&made.facts());
        assert!(found.len() == 1 && found[0].is_wrong() && found[0].tids == [9, 7], "{found:?}");
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -cp 0,2,3 9"));
        let alone = Made::new(1).busy(7, 7, "0", 95.0, 0.0).policy("rr").busy(9, 9, "0", 4.0, 95.0);
        assert_eq!(judge(&alone.facts())[0].remedy.as_deref(), Some("chrt --other -p 0 7"));
    }

    #[test]
    fn ordinary_threads_share_and_short_bursts_do_no_harm() {
        let ordinary = Made::new(4).busy(7, 7, "1", 50.0, 50.0).busy(9, 9, "1", 50.0, 50.0);
        assert_eq!(judge(&ordinary.facts()), []);
        let burst =
            Made::new(4).busy(7, 7, "1", 30.0, 0.0).policy("fifo").busy(9, 9, "1", 60.0, 30.0);
        assert_eq!(judge(&burst.facts()), []);
        let elsewhere =
            Made::new(4).busy(7, 7, "2", 95.0, 0.0).policy("fifo").busy(9, 9, "1", 40.0, 60.0);
        assert_eq!(judge(&elsewhere.facts()), []);
    }
}
