//! Part of the rule `quota`: busy threads in a control group that holds them back by another
//! setting than a quota.

use super::facts::{Facts, Sitter, count};
use crate::finding::Finding;
use crate::remedy::Remedy;
use crate::seating::GroupBrake;
use seatmap_statistics::words::{agreeing, times_a_second};
use std::collections::HashSet;

/// Threads of an idle group that wait less than this share of the time, in percent, are not held
/// back: nobody else wants their CPUs.
const WAITS_PERCENT: f64 = 10.0;

/// The share of the time from which a thread that runs or waits never sleeps, in percent.
const ALL_PERCENT: f64 = 97.0;

/// A thread that may run for this share of the time at most, in percent, and could run when it is
/// looked at, most likely waits.
const SMALL_PERCENT: f64 = 20.0;

/// How near to a limit a thread runs that has reached it, in percent: a watched time need not be
/// whole periods.
const NEAR_PERCENT: f64 = 4.0;

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    facts.seating.brakes.iter().filter_map(|brake| of_brake(facts, brake)).collect()
}

fn of_brake(facts: &Facts, brake: &GroupBrake) -> Option<Finding> {
    let tids: HashSet<_> = brake.tids.iter().collect();
    let busy: Vec<&Sitter> = facts
        .sitters
        .iter()
        .filter(|sitter| {
            tids.contains(&sitter.tid())
                && (sitter.is_busy() || is_held_now(brake, sitter))
                && has_reached(brake, sitter)
        })
        .collect();
    let most =
        busy.iter().map(|sitter| sitter.thread.wait_percent.unwrap_or(0.0)).fold(0.0, f64::max);
    let GroupBrake { group, file, words, .. } = brake;
    let threads = count(busy.len(), "busy thread");
    let what = match file.rsplit('/').next().unwrap_or_default() {
        "cpu.idle" if most >= WAITS_PERCENT => format!(
            "the control group {group} is {words} and has {threads}, which ran only while nothing \
             else wanted the CPU, and waited up to {most:.0} % of the time"
        ),
        "cpu.uclamp.max" if !busy.is_empty() => {
            format!(
                "the control group {group} is {words} and has {threads}: the kernel keeps {} slow",
                agreeing(busy.len(), "its CPU", "their CPUs")
            )
        }
        "cpu.rt_runtime_us" | "sched_rt_runtime_us" if !busy.is_empty() => {
            let of = if file.starts_with("/proc/") {
                "this computer".to_owned()
            } else {
                format!("the control group {group}")
            };
            format!(
                "{of} is {words}, and {threads} had that: the kernel stopped {} for the rest of \
                 each period",
                agreeing(busy.len(), "it", "them")
            )
        }
        // Threads that are stopped are not busy.
        "memory.high" if brake.stops_watched.is_some_and(|stops| stops > 0) => {
            // A seating on file may have been watched for no time.
            let rate = brake.stops_watched.unwrap_or(0) as f64 / facts.seating.watched_s.max(1e-3);
            format!(
                "the control group {group} is {words}: the kernel stopped its threads {}",
                times_a_second(rate)
            )
        }
        _ => return None,
    };
    let mut finding = Finding::wrong("quota", what).tids(busy.iter().map(|sitter| sitter.tid()));
    finding = finding.since(facts.seating.watched_s);
    if let Some(first) = busy.first() {
        finding = finding.of(first.thread.pid);
    }
    Some(if brake.is_read_only {
        finding.advised(format!(
            "ask whoever started this container, or root of the host, to change {file}, which \
             cannot be written from here"
        ))
    } else {
        finding.mended_by(match brake.real_time_percent {
            Some(_) => Remedy::lift_throttling(file),
            None => Remedy::release_group(file, brake.unit.as_deref()),
        })
    })
}

/// Whether a thread wanted its CPU all the time, and got the share that a limit on real-time
/// threads leaves it: the kernel counts the time in which it is stopped as waiting. True of other
/// settings.
fn has_reached(brake: &GroupBrake, sitter: &Sitter) -> bool {
    let Some(percent) = brake.real_time_percent else { return true };
    let run_percent = sitter.thread.run_percent;
    // Where the kernel counts no waiting, the running time alone decides.
    let wants_all = is_held_now(brake, sitter)
        || sitter.thread.wait_percent.is_none_or(|waits| run_percent + waits >= ALL_PERCENT);
    wants_all && (run_percent - percent).abs() <= NEAR_PERCENT
}

/// Whether a limit on real-time threads holds a thread back at this moment, most likely: it could
/// run, and may for a small part of the time. The kernel counts a wait when it ends, and one for
/// the next period is longer than most watches.
fn is_held_now(brake: &GroupBrake, sitter: &Sitter) -> bool {
    brake.real_time_percent.is_some_and(|percent| percent <= SMALL_PERCENT)
        && sitter.thread.state == 'R'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    fn held(file: &str, stops_watched: Option<u64>, wait_percent: f64) -> Vec<Finding> {
        let mut made = Made::new(4).busy(7, 7, "0-3", 50.0, wait_percent);
        let brake = GroupBrake {
            group: "/box".to_owned(),
            file: format!("/c/box/{file}"),
            words: "slow".to_owned(),
            stops_watched,
            tids: vec![7],
            ..GroupBrake::default()
        };
        made.seating.brakes.push(brake);
        judge(&made.facts())
    }

    #[test]
    fn a_group_that_holds_busy_threads_back_is_told_with_its_remedy() {
        let idle = held("cpu.idle", None, 40.0);
        assert!(
            idle[0].what.starts_with("the control group /box is slow and has 1 busy thread, which"),
            "{idle:?}"
        );
        assert_eq!(idle[0].remedy.as_deref(), Some("echo 0 > /c/box/cpu.idle"));
        assert_eq!(held("cpu.idle", None, 2.0), [], "nobody else wants the CPU");
        let clamped = held("cpu.uclamp.max", None, 0.0);
        assert_eq!(clamped[0].remedy.as_deref(), Some("echo max > /c/box/cpu.uclamp.max"));
        let memory = held("memory.high", Some(4), 0.0);
        assert!(memory[0].what.contains("stopped its threads 8 times a second"), "{memory:?}");
        let seldom = held("memory.high", Some(1), 0.0);
        assert!(seldom[0].what.contains("stopped its threads twice a second"), "{seldom:?}");
        assert_eq!(held("memory.high", Some(0), 0.0), []);
    }

    #[test]
    fn a_real_time_thread_that_is_stopped_at_its_limit_is_told() {
        let limited_to = |percent, run_percent, wait_percent| {
            let mut made = Made::new(4).busy(7, 7, "1", run_percent, wait_percent).policy("fifo");
            made.seating.brakes.push(GroupBrake {
                file: "/proc/sys/kernel/sched_rt_runtime_us".to_owned(),
                words: "limited".to_owned(),
                real_time_percent: Some(percent),
                tids: vec![7],
                ..GroupBrake::default()
            });
            judge(&made.facts())
        };
        // Most of its wait has not ended, and is not counted.
        assert_eq!(limited_to(1.0, 0.8, 0.0).len(), 1);
        assert_eq!(limited_to(10.0, 30.0, 0.0), []);
        let limited = |run_percent, wait_percent| limited_to(95.0, run_percent, wait_percent);
        let found = limited(95.2, 4.8);
        assert!(
            found[0].what.starts_with("this computer is limited, and 1 busy thread had that"),
            "{found:?}"
        );
        assert_eq!(
            found[0].remedy.as_deref(),
            Some("echo -1 > /proc/sys/kernel/sched_rt_runtime_us")
        );
        assert_eq!(limited(94.0, 0.0), [], "it sleeps at times");
        assert_eq!(limited(60.0, 40.0), [], "another thread has its CPU");
    }
}
