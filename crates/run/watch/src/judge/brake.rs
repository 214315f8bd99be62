//! Part of the rule `quota`: a control group that holds threads back by another setting. All
//! threads together decide, because each of many threads has little time.

use super::facts::{SeatingFacts, Sitter, by_place, count, sum, those, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::GroupBrake;
use seatmap_data::words::{agreeing, times_a_second};

/// Threads of an idle group are not held back if they wait less, or if other programs use less of
/// their CPUs.
const WAITS_PERCENT: f64 = 10.0;

/// Threads with this share of one CPU need a fast one.
const NEEDS_SPEED_PERCENT: f64 = 20.0;

/// Threads that run or wait on a CPU for this share of the time never leave it idle.
const ALL_PERCENT: f64 = 97.0;

/// A thread limited to this share, and runnable at a look, is most likely waiting.
const SMALL_PERCENT: f64 = 20.0;

/// Threads this near to a limit have reached it: the watched time need not be whole periods.
const NEAR_PERCENT: f64 = 4.0;

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    facts.seating.brakes.iter().filter_map(|brake| of_brake(facts, brake)).collect()
}

fn of_brake(facts: &SeatingFacts, brake: &GroupBrake) -> Option<Finding> {
    let GroupBrake { group, file, words, .. } = brake;
    let name = file.rsplit('/').next().unwrap_or_default();
    let held = held(facts, brake, name);
    let threads = count(held.len(), "thread");
    let what = match name {
        "cpu.idle" if !held.is_empty() => {
            let most = held.iter().filter_map(|one| one.waits_percent()).fold(0.0, f64::max);
            format!(
                "the control group {group} is {words}: its {threads} ran only while nothing else \
                 needed the CPU, and waited up to {most:.0} % of the time"
            )
        }
        "cpu.uclamp.max" if !held.is_empty() => {
            format!(
                "the control group {group} is {words}: the kernel slows the {} of its {threads}",
                agreeing(held.len(), "CPU", "CPUs")
            )
        }
        "cpu.rt_runtime_us" | "sched_rt_runtime_us" if !held.is_empty() => {
            let of = if file.starts_with("/proc/") {
                "this computer".to_owned()
            } else {
                format!("the control group {group}")
            };
            format!("{of} is {words}: the kernel stopped {threads} for the rest of each period")
        }
        "memory.high" if brake.stops_watched.is_some_and(|stops| stops > 0) => {
            // The watched time of a seating on file may be zero.
            let rate = brake.stops_watched.unwrap_or(0) as f64 / facts.seating.watched_s.max(1e-3);
            format!(
                "the control group {group} is {words}: the kernel stopped its threads {}",
                times_a_second(rate)
            )
        }
        _ => return None,
    };
    let pid = held.first().map(|first| first.pid);
    let finding = Finding::wrong("quota", what).threads(&held).since(facts.seating.watched_s);
    let finding = Finding { pid, ..finding };
    Some(if brake.is_read_only {
        finding.advised(format!(
            "ask the owner of this container, or root of the host, to change {file}, which is \
             read-only here"
        ))
    } else {
        finding.mended_by(match brake.real_time_percent {
            Some(_) => SeatingRemedy::lift_throttling(file),
            None => SeatingRemedy::release_group(file, brake.unit.as_deref()),
        })
    })
}

/// Threads stopped for memory are not known.
fn held<'f, 'a>(
    facts: &'f SeatingFacts<'a>,
    brake: &GroupBrake,
    name: &str,
) -> Vec<&'f Sitter<'a>> {
    let members = facts.among(&brake.tids);
    match name {
        "cpu.idle" => {
            let waiting =
                those(&members, |one| one.waits_percent().is_some_and(|it| it >= WAITS_PERCENT));
            let is_wanted = others_percent(facts, &waiting).is_none_or(|all| all >= WAITS_PERCENT);
            if is_wanted { waiting } else { Vec::new() }
        }
        "cpu.uclamp.max" if sum(&members, |one| one.run_percent) >= NEEDS_SPEED_PERCENT => {
            those(&members, |one| one.run_percent > 0.0)
        }
        _ => {
            let Some(percent) = brake.real_time_percent else { return Vec::new() };
            // The kernel counts real-time threads by CPU.
            let on = by_place(members, |one| Some(one.seat().or(one.cpu)));
            on.into_values().filter(|there| have_reached(percent, there)).flatten().collect()
        }
    }
}

/// The time of other programs on these CPUs, in percent of one CPU, if the kernel counts busy time.
fn others_percent(facts: &SeatingFacts, sitters: &[&Sitter]) -> Option<f64> {
    let cpus = union(sitters);
    let busy = cpus.iter().map(|cpu| facts.busy_percent(cpu)).sum::<Option<f64>>()?;
    let own = facts.sitters.iter().filter(|one| !one.mask.within(&cpus).is_empty());
    Some(busy - own.map(|one| one.run_percent).sum::<f64>())
}

/// The kernel counts the time for which it stops real-time threads as waiting.
fn have_reached(percent: f64, sitters: &[&Sitter]) -> bool {
    let run_percent = sum(sitters, |one| one.run_percent);
    let wanted_percent = sum(sitters, |one| one.wanted_percent());
    let is_counted = sitters.iter().any(|one| one.wait_percent.is_some());
    let wants_all = !is_counted
        || wanted_percent >= ALL_PERCENT
        || sitters.iter().any(|one| is_held_now(percent, one));
    wants_all && (run_percent - percent).abs() <= NEAR_PERCENT
}

/// The kernel counts a wait when it ends, and a wait for the next period outlasts most watches.
fn is_held_now(percent: f64, sitter: &Sitter) -> bool {
    percent <= SMALL_PERCENT && sitter.state == 'R'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    fn told(mut made: Made, brake: GroupBrake) -> String {
        let tids = made.seating.threads.iter().map(|thread| thread.tid).collect();
        made.seating.brakes.push(GroupBrake { words: "slow".to_owned(), tids, ..brake });
        made.told(judge)
    }

    fn held(file: &str, stops_watched: Option<u64>, threads: &str) -> String {
        let (group, file) = ("/box".to_owned(), format!("/c/box/{file}"));
        let brake = GroupBrake { group, file, stops_watched, ..GroupBrake::default() };
        told(Made::new(4).with(threads).taken("0"), brake)
    }

    #[test]
    fn slowing_group_is_reported_with_remedy() {
        let idle = |threads| held("cpu.idle", None, threads);
        assert_eq!(idle("7/7 on 0-3: 50+2"), "", "nobody else wants the CPU");
        assert_eq!(idle("7/7 on 1: 50+50; 7/8 on 1: 50+50"), "", "they wait for each other");
        let high = |stops| held("memory.high", Some(stops), "7/7 on 0-3: 50+0");
        assert_eq!(high(0), "");
        let clamped = held("cpu.uclamp.max", None, "7/7 on 0-3: 50+0");
        let told = [idle("7/7 on 0-3: 50+40"), clamped, high(4), high(1)];
        assert_eq!(
            told,
            [
                "Wrong 7 [7] on : the control group /box is slow: its 1 thread ran only while nothing else needed the CPU, and waited up to 40 % of the time -> echo 0 > /c/box/cpu.idle",
                "Wrong 7 [7] on : the control group /box is slow: the kernel slows the CPU of its 1 thread -> echo max > /c/box/cpu.uclamp.max",
                "Wrong several [] on : the control group /box is slow: the kernel stopped its threads 8 times a second -> echo max > /c/box/memory.high",
                "Wrong several [] on : the control group /box is slow: the kernel stopped its threads twice a second -> echo max > /c/box/memory.high"
            ]
        );
    }

    #[test]
    fn real_time_limit_is_reported() {
        let limited = |percent, made| {
            let brake = GroupBrake {
                file: "/proc/sys/kernel/sched_rt_runtime_us".to_owned(),
                real_time_percent: Some(percent),
                ..GroupBrake::default()
            };
            told(made, brake)
        };
        let one = |run, wait| Made::new(4).busy(7, 7, "1", run, wait).policy("fifo");
        assert_eq!(limited(10.0, one(30.0, 0.0)), "");
        assert_eq!(limited(95.0, one(94.0, 0.0)), "", "it sleeps at times");
        assert_eq!(limited(95.0, one(60.0, 40.0)), "", "another thread has its CPU");
        let several =
            (7..15).fold(Made::new(4), |made, tid| made.busy(7, tid, "1", 11.8, 88.0).policy("rr"));
        // Most of the first one's wait is not counted yet.
        let told =
            [limited(1.0, one(0.8, 0.0)), limited(95.0, one(95.2, 4.8)), limited(95.0, several)];
        assert_eq!(
            told,
            [
                "Wrong 7 [7] on : this computer is slow: the kernel stopped 1 thread for the rest of each period -> echo -1 > /proc/sys/kernel/sched_rt_runtime_us",
                "Wrong 7 [7] on : this computer is slow: the kernel stopped 1 thread for the rest of each period -> echo -1 > /proc/sys/kernel/sched_rt_runtime_us",
                "Wrong 7 [7, 8, 9, 10, 11, 12, 13, 14] on : this computer is slow: the kernel stopped 8 threads for the rest of each period -> echo -1 > /proc/sys/kernel/sched_rt_runtime_us"
            ]
        );
    }
}
