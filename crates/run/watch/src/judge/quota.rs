//! `quota`: a control group that takes the CPU from ready threads.
//!
//! The rule judges by the time for which the kernel stopped a group (`cpu.stat`). CPU times do not
//! show it, because a large group leaves little to each thread; nor do periods, because a group
//! that lacks a hundredth of its time is stopped in each.

use super::facts::{SeatingFacts, Sitter, count, sum, those, union};
use super::{brake, too_many};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::{Seating, WatchedQuota};
use seatmap_data::words::{agreeing, counted, counted_figure};
use seatmap_os::{CpuSet, Tid};
use std::collections::{HashMap, HashSet};

/// Of runnable time. Measured under a quota of one CPU (Linux 6.18): one busy thread with 64 brief
/// ones is stopped for 3 % of the time, in 16 of 20 periods; programs with more busy threads than
/// CPUs for 27 % and more.
const STOPPED_PERCENT: f64 = 10.0;

/// In CPUs. Of a small quota, a shorter stop may be a tenth.
const STOPPED_CPUS: f64 = 0.1;

/// Shorter stops are not reported.
const LEAST_STOPPED_PERCENT: f64 = 1.0;

/// Without the kernel's count, a group with this share of its quota has used it up.
const USED_UP: f64 = 0.95;

/// A thread with this share of a CPU needs some quota.
const LIGHT_PERCENT: f64 = 1.0;

/// Reports control groups stopped by their own quota; the kernel counts each level.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let quotas = facts.seating.quotas.iter().filter_map(|quota| of_quota(facts, quota));
    quotas.chain(brake::judge(facts)).collect()
}

fn of_quota(facts: &SeatingFacts, quota: &WatchedQuota) -> Option<Finding> {
    let members = facts.among(&quota.tids);
    let percent = stopped_percent(facts.seating, quota, &members)?;
    let is_idle = members.is_empty() || quota.has_others && !waits(&members);
    if is_idle || percent < LEAST_STOPPED_PERCENT {
        return None;
    }
    let what = format!(
        "the control group {} may use {} ({}){}, for {percent:.0} % of the time in which {} could \
         run",
        quota.group,
        counted(quota.cpus, "CPU"),
        quota.file,
        stops(quota, &members),
        agreeing(members.len(), "it", "they")
    );
    let finding = Finding::remark("quota", what)
        .threads(&members)
        .since(facts.seating.watched_s)
        .measured(percent, "percent of the time in which it could run");
    let least_s = STOPPED_CPUS * facts.seating.watched_s;
    let is_long = quota.stopped_watched_s.is_none_or(|stopped_s| stopped_s >= least_s);
    if percent < STOPPED_PERCENT || !is_long {
        return Some(finding);
    }
    Some(mended(facts, quota, finding.grave_if(true)))
}

fn stops(quota: &WatchedQuota, members: &[&Sitter]) -> String {
    let wanted_percent = sum(members, |one| one.wanted_percent());
    let wanting = members.iter().filter(|one| one.wanted_percent() >= LIGHT_PERCENT).count();
    let [want, them] = match wanting {
        0 => [String::new(), "its threads".to_owned()],
        1.. => {
            let threads = count(wanting, "thread");
            let cpus = counted_figure(wanted_percent / 100.0, 1, "CPU");
            let verb = agreeing(wanting, "needs", "need");
            [format!(", but {threads} {verb} {cpus} there"), agreeing(wanting, "it", "them").into()]
        }
    };
    let often = match (quota.throttled_watched, quota.periods_watched) {
        (Some(stopped), Some(all)) => format!("in {stopped} of {}", count(all, "period")),
        (Some(stopped), None) => format!("in {}", count(stopped, "period")),
        (None, _) => "in periods that the kernel does not count here".to_owned(),
    };
    format!("{want}: the kernel stopped {them} {often}")
}

/// The percentage of its runnable time for which a quota stopped a group, if it did.
fn stopped_percent(seating: &Seating, quota: &WatchedQuota, members: &[&Sitter]) -> Option<f64> {
    let run_percent = sum(members, |one| one.run_percent);
    match (quota.throttled_watched, quota.stopped_watched_s) {
        (Some(0), _) => None,
        (Some(periods), Some(stopped_s)) => {
            // A stopped group has used up the period's quota.
            let used_up_s = periods as f64 * period_s(quota) * quota.cpus;
            let used_s = used_up_s.max(run_percent / 100.0 * active_s(seating, quota));
            Some(100.0 * stopped_s / (stopped_s + used_s).max(f64::MIN_POSITIVE))
        }
        _ if run_percent < USED_UP * 100.0 * quota.cpus => None,
        // Cgroup version 1 may count nothing. Then waiting threads at a used-up quota count as
        // stopped.
        _ => {
            let busy = members.iter().filter(|sitter| sitter.is_busy());
            let wanted = busy.map(|one| one.wait_percent.map_or(100.0, |_| one.wanted_percent()));
            Some((100.0 * (1.0 - run_percent / wanted.sum::<f64>())).max(0.0))
        }
    }
}

fn period_s(quota: &WatchedQuota) -> f64 {
    quota.period_us as f64 / 1e6
}

fn active_s(seating: &Seating, quota: &WatchedQuota) -> f64 {
    quota.periods_watched.map_or(seating.watched_s, |periods| periods as f64 * period_s(quota))
}

fn waits(members: &[&Sitter]) -> bool {
    let wanted_percent = sum(members, |one| one.wanted_percent());
    let run_percent = sum(members, |one| one.run_percent);
    let is_counted = members.iter().any(|sitter| sitter.wait_percent.is_some());
    let waited_percent = wanted_percent - run_percent;
    wanted_percent >= LIGHT_PERCENT
        && (!is_counted || waited_percent >= STOPPED_PERCENT / 100.0 * wanted_percent)
}

/// The kernel counts whole groups and adds up CPUs; it stops a CPU's threads together.
pub fn stopped_threads(
    seating: &Seating,
    sitters: &[Sitter],
    online: &CpuSet,
) -> HashMap<Tid, f64> {
    let mut stopped: HashMap<Tid, f64> = HashMap::new();
    for quota in &seating.quotas {
        let Some(stopped_s) = quota.stopped_watched_s.filter(|seconds| *seconds > 0.0) else {
            continue;
        };
        let tids: HashSet<_> = quota.tids.iter().collect();
        let members: Vec<&Sitter> = sitters
            .iter()
            .filter(|one| tids.contains(&one.tid) && one.wanted_percent() >= LIGHT_PERCENT)
            .collect();
        let cpus = union(&members).within(online).len();
        let cpus = if quota.has_others { online.len() } else { cpus.min(members.len()) };
        let percent = 100.0 * stopped_s / active_s(seating, quota).max(1e-3) / cpus.max(1) as f64;
        for tid in &quota.tids {
            *stopped.entry(*tid).or_default() += percent;
        }
    }
    stopped
}

/// Advises fewer threads, and raises this quota and related ones that would stop the threads next.
fn mended(facts: &SeatingFacts, quota: &WatchedQuota, finding: Finding) -> Finding {
    let members = facts.among(&quota.tids);
    let wanting = those(&members, |one| one.wants_a_cpu());
    let fitting = too_many::fitting(facts, quota, &members);
    let fewer = (wanting.len() > fitting).then(|| {
        format!(
            "the quota is enough for {}, but {} need it: {}",
            count(fitting, "busy thread"),
            wanting.len(),
            too_many::fewer(facts, &wanting, fitting)
        )
    });
    let tids: HashSet<_> = quota.tids.iter().collect();
    let mut low: Vec<&WatchedQuota> = facts
        .seating
        .quotas
        .iter()
        .filter(|other| {
            is_below(&quota.group, &other.group) || is_below(&other.group, &quota.group)
        })
        .filter(|other| other.tids.iter().any(|tid| tids.contains(tid)))
        .collect();
    low.retain(|other| other.file != quota.file && other.cpus < needed_cpus(facts, other) as f64);
    low.push(quota);
    // Outermost first, because cgroup version 1 refuses more than the parent has. `/` has as many
    // slashes as its children's paths.
    low.sort_by_key(|other| (other.group != "/", other.group.matches('/').count()));
    let then = if let Some(locked) = low.iter().find(|other| other.is_read_only) {
        let group = &locked.group;
        Some(format!(
            "ask the owner of this container, or root of the host, for a higher quota of its \
             control group {group}, which is read-only here"
        ))
    } else {
        (quota.cpus >= needed_cpus(facts, quota) as f64).then(|| {
            "its threads need no more on average, but more for moments: give the group a longer \
             period, or allow bursts (cpu.max.burst, cpu.cfs_burst_us)"
                .to_owned()
        })
    };
    let is_raised = then.is_none();
    let advice = match fewer {
        Some(fewer) => {
            let then = then.as_deref().unwrap_or("raise the quota with the command");
            Some(format!("{fewer}, or {then}"))
        }
        None => then,
    };
    let finding = Finding { advice, ..finding };
    if !is_raised {
        return finding;
    }
    finding.mended_by_all(low.iter().map(|other| {
        let cpus = needed_cpus(facts, other);
        SeatingRemedy::raise_quota(&other.file, other.period_us, other.unit.as_deref(), cpus)
    }))
}

fn is_below(inner: &str, outer: &str) -> bool {
    outer == "/" || inner.starts_with(&format!("{outer}/"))
}

/// The CPUs for a raised quota: one per busy thread, plus enough for light ones; if time is short
/// only for moments, one per thread that may be ready. At most those online; all of them if others
/// share the group.
fn needed_cpus(facts: &SeatingFacts, quota: &WatchedQuota) -> usize {
    let members = facts.among(&quota.tids);
    let (busy, light): (Vec<&Sitter>, Vec<&Sitter>) =
        members.iter().partition(|sitter| sitter.is_busy());
    let light = sum(&light, |one| one.wanted_percent());
    let of_light = if light >= LIGHT_PERCENT { (light / 100.0).ceil() as usize } else { 0 };
    let on_average = busy.len() + of_light;
    let at_once = members.iter().filter(|one| one.wanted_percent() >= LIGHT_PERCENT).count();
    let needed = if on_average as f64 > quota.cpus { on_average } else { at_once };
    let online = facts.online.len();
    if quota.has_others { online } else { needed.clamp(1, online.max(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Gravity;
    use crate::judge::made::Made;

    fn busy() -> Made {
        Made::new(4).with("7/7 on 0-3: 50+40; 7/8 on 0-3: 50+40")
    }

    fn chain(groups: &[(&str, f64, u64)]) -> Made {
        let mut made = busy();
        for (group, cpus, periods) in groups {
            made = made.quota(group, *cpus, Some(*periods));
        }
        made
    }

    #[test]
    fn throttled_group_is_reported_with_remedy() {
        assert_eq!(
            busy().group(None, Some(1.0), 4).told(judge),
            "Wrong 7 [7, 8] on : the control group /box may use 1 CPU (/sys/fs/cgroup/box/cpu.max), but 2 threads need 1.8 CPUs there: the kernel stopped them in 4 of 5 periods, for 29 % of the time in which they could run -> echo 200000 100000 > /sys/fs/cgroup/box/cpu.max -> the quota is enough for 1 busy thread, but 2 need it: start it with fewer threads, 1 at most (by its option, or by a variable such as OMP_NUM_THREADS or GOMAXPROCS), or raise the quota with the command"
        );
    }

    #[test]
    fn many_small_threads_in_throttled_group_are_reported() {
        let made = (7..15).fold(Made::new(2), |made, tid| made.busy(7, tid, "0-1", 6.0, 40.0));
        assert_eq!(
            made.group(None, Some(0.5), 4).told(judge),
            "Wrong 7 [7, 8, 9, 10, 11, 12, 13, 14] on : the control group /box may use 0.5 CPUs (/sys/fs/cgroup/box/cpu.max), but 8 threads need 3.7 CPUs there: the kernel stopped them in 4 of 5 periods, for 45 % of the time in which they could run -> echo 200000 100000 > /sys/fs/cgroup/box/cpu.max -> the quota is enough for 1 busy thread, but 8 need it: start it with fewer threads, 1 at most (by its option, or by a variable such as OMP_NUM_THREADS or GOMAXPROCS), or raise the quota with the command"
        );
    }

    #[test]
    fn throttled_time_decides_severity() {
        let sleepers = (8..72).fold(Made::new(4).with("7/7 on 0-3: 95+3"), |made, tid| {
            made.busy(7, tid, "0-3", 0.1, 0.4)
        });
        let mut made = sleepers.group(None, Some(1.0), 4);
        let mut found = |stopped_s| {
            made.seating.quotas[0].stopped_watched_s = Some(stopped_s);
            judge(&made.facts())
        };
        let short = found(0.015);
        assert_eq!(
            (short[0].gravity, &short[0].remedy, &short[0].advice),
            (Gravity::Remark, &None, &None)
        );
        assert!(
            short[0]
                .what
                .ends_with("in 4 of 5 periods, for 3 % of the time in which they could run")
        );
        assert_eq!(found(0.001), []);
        assert!(found(0.2)[0].is_wrong());
    }

    #[test]
    fn sufficient_average_quota_gets_advice_only() {
        assert_eq!(
            busy().group(None, Some(2.0), 4).told(judge),
            "Wrong 7 [7, 8] on : the control group /box may use 2 CPUs (/sys/fs/cgroup/box/cpu.max), but 2 threads need 1.8 CPUs there: the kernel stopped them in 4 of 5 periods, for 20 % of the time in which they could run -> its threads need no more on average, but more for moments: give the group a longer period, or allow bursts (cpu.max.burst, cpu.cfs_burst_us)"
        );
    }

    #[test]
    fn single_throttled_thread_is_worded_in_singular() {
        let made = Made::new(4).with("7/7 on 0-3: 50+0").group(None, Some(0.5), 4);
        assert_eq!(
            made.told(judge),
            "Wrong 7 [7] on : the control group /box may use 0.5 CPUs (/sys/fs/cgroup/box/cpu.max), but 1 thread needs 0.5 CPUs there: the kernel stopped it in 4 of 5 periods, for 44 % of the time in which it could run -> echo 100000 100000 > /sys/fs/cgroup/box/cpu.max"
        );
    }

    #[test]
    fn throttled_group_without_busy_threads_is_wrong() {
        assert_eq!(
            Made::new(4).with("7/7 on 0-3").group(None, Some(0.5), 4).told(judge),
            "Wrong 7 [7] on : the control group /box may use 0.5 CPUs (/sys/fs/cgroup/box/cpu.max): the kernel stopped its threads in 4 of 5 periods, for 50 % of the time in which it could run -> echo 100000 100000 > /sys/fs/cgroup/box/cpu.max"
        );
    }

    #[test]
    fn throttled_time_is_not_blamed_on_others() {
        let made = Made::new(4).with("7/7 on 1: 25+75; 7/8 on 1: 25+75");
        let mut made = made.stranger(1, "other", 40.0, "0-3");
        let rules = |made: &Made| {
            let found =
                crate::judge::judge(&made.seating, &made.topology, &crate::Criteria::default());
            found.into_iter().map(|finding| finding.rule).collect::<Vec<String>>()
        };
        assert_eq!(rules(&made), ["shared-cpu", "strangers"]);
        made = made.quota("/box", 0.5, Some(5));
        made.seating.quotas[0].stopped_watched_s = Some(0.4);
        assert_eq!(rules(&made), ["quota"]);
    }

    #[test]
    fn throttling_level_is_named_and_ancestors_are_raised() {
        assert_eq!(
            chain(&[("/a/b", 3.0, 0), ("/a", 0.5, 9), ("/", 1.0, 0)]).told(judge),
            "Wrong 7 [7, 8] on : the control group /a may use 0.5 CPUs (/sys/fs/cgroup/a/cpu.max), but 2 threads need 1.8 CPUs there: the kernel stopped them in 9 of 9 periods, for 33 % of the time in which they could run -> echo 200000 100000 > /sys/fs/cgroup/cpu.max; echo 200000 100000 > /sys/fs/cgroup/a/cpu.max -> the quota is enough for 1 busy thread, but 2 need it: start it with fewer threads, 1 at most (by its option, or by a variable such as OMP_NUM_THREADS or GOMAXPROCS), or raise the quota with the command"
        );
    }

    #[test]
    fn shared_group_gets_all_cpus_and_locked_none() {
        let mut shared = chain(&[("/a", 0.5, 9)]);
        shared.seating.quotas[0].has_others = true;
        assert_eq!(
            shared.told(judge),
            "Wrong 7 [7, 8] on : the control group /a may use 0.5 CPUs (/sys/fs/cgroup/a/cpu.max), but 2 threads need 1.8 CPUs there: the kernel stopped them in 9 of 9 periods, for 33 % of the time in which they could run -> echo 400000 100000 > /sys/fs/cgroup/a/cpu.max -> the quota is enough for 1 busy thread, but 2 need it: start it with fewer threads, 1 at most (by its option, or by a variable such as OMP_NUM_THREADS or GOMAXPROCS), or raise the quota with the command"
        );
        shared.seating.quotas[0].is_read_only = true;
        assert_eq!(
            shared.told(judge),
            "Wrong 7 [7, 8] on : the control group /a may use 0.5 CPUs (/sys/fs/cgroup/a/cpu.max), but 2 threads need 1.8 CPUs there: the kernel stopped them in 9 of 9 periods, for 33 % of the time in which they could run -> the quota is enough for 1 busy thread, but 2 need it: start it with fewer threads, 1 at most (by its option, or by a variable such as OMP_NUM_THREADS or GOMAXPROCS), or ask the owner of this container, or root of the host, for a higher quota of its control group /a, which is read-only here"
        );
    }

    #[test]
    fn per_thread_quota_names_only_its_threads() {
        let mut made = chain(&[("/a", 0.5, 9)]);
        made.seating.quotas[0].tids = vec![8];
        assert_eq!(
            made.told(judge),
            "Wrong 7 [8] on : the control group /a may use 0.5 CPUs (/sys/fs/cgroup/a/cpu.max), but 1 thread needs 0.9 CPUs there: the kernel stopped it in 9 of 9 periods, for 50 % of the time in which it could run -> echo 100000 100000 > /sys/fs/cgroup/a/cpu.max"
        );
    }

    #[test]
    fn quota_without_throttle_count_uses_cpu_time() {
        let uncounted = |quota_cpus| {
            let made = busy().quota("/box", quota_cpus, None);
            judge(&made.facts()).len()
        };
        assert_eq!((uncounted(1.0), uncounted(2.0)), (1, 0));
    }

    #[test]
    fn unused_quotas_are_healthy() {
        assert_eq!(busy().group(None, Some(2.0), 0).told(judge), "");
        assert_eq!(busy().group(None, None, 0).told(judge), "");
        let mut idle = Made::new(4).with("7/7 on 0-3").group(None, Some(0.5), 9);
        idle.seating.quotas[0].has_others = true;
        assert_eq!(idle.told(judge), "", "an idle program was stopped for others");
    }
}
