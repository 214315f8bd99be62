//! `quota`: busy threads in a control group that takes the CPU from them.

use super::facts::{Facts, Sitter, count};
use crate::finding::Finding;
use crate::seating::Group;
use std::collections::BTreeMap;

/// The share of its quota from which a group has used it up, where the kernel does not count the periods.
const USED_UP: f64 = 0.95;

/// Control groups whose quota was used up while they were watched.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut of: BTreeMap<&str, (&Group, Vec<&Sitter>)> = BTreeMap::new();
    for (process, sitters) in facts.programs() {
        if let Some(group) = &process.group {
            of.entry(&group.path).or_insert((group, Vec::new())).1.extend(sitters);
        }
    }
    of.into_values().filter_map(|(group, sitters)| of_group(facts, group, &sitters)).collect()
}

fn of_group(facts: &Facts, group: &Group, sitters: &[&Sitter]) -> Option<Finding> {
    let quota_cpus = group.quota_cpus?;
    let busy: Vec<&Sitter> = sitters.iter().filter(|sitter| sitter.is_busy()).copied().collect();
    let first = busy.first()?;
    let run_percent: f64 = sitters.iter().map(|sitter| sitter.thread.run_percent).sum();
    let is_used_up = run_percent >= USED_UP * 100.0 * quota_cpus && busy.len() as f64 > quota_cpus;
    let throttled = group.throttled_watched.map_or(is_used_up, |periods| periods > 0);
    if !throttled {
        return None;
    }
    let rate = group.throttled_watched.map(|periods| periods as f64 / facts.seating.watched_s.max(1e-3));
    let often = rate.map_or_else(|| "all the time".to_owned(), |rate| format!("{rate:.0} times a second"));
    let what = format!(
        "the control group {} may use {quota_cpus} CPUs and has {}: the kernel stopped them {often}",
        group.path,
        count(busy.len(), "busy thread")
    );
    let finding = Finding::wrong("quota", what).of(first.thread.pid).tids(busy.iter().map(|sitter| sitter.tid()));
    let finding = finding.since(facts.seating.watched_s).mended_by(remedy(group, busy.len()));
    Some(match rate {
        Some(rate) => finding.measured(rate, "a second"),
        None => finding.measured(run_percent, "percent of one CPU"),
    })
}

/// The command that lets each busy thread have a CPU.
fn remedy(group: &Group, threads: usize) -> String {
    let name = group.path.rsplit('/').next().unwrap_or_default();
    if [".service", ".scope", ".slice"].iter().any(|ending| name.ends_with(ending)) {
        return format!("systemctl set-property --runtime {name} CPUQuota={}%", 100 * threads);
    }
    format!("echo {} 100000 > /sys/fs/cgroup{}/cpu.max", 100_000 * threads, group.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    fn busy() -> Made {
        Made::new(4).busy(7, 7, "0-3", 50.0, 40.0).busy(7, 8, "0-3", 50.0, 40.0)
    }

    #[test]
    fn a_group_that_is_stopped_is_found() {
        let found = judge(&busy().group(None, Some(1.0), 4).facts());
        let what =
            "the control group /box may use 1 CPUs and has 2 busy threads: the kernel stopped them 8 times a second";
        assert_eq!((found.len(), found[0].what.as_str()), (1, what));
        assert_eq!(found[0].remedy.as_deref(), Some("echo 200000 100000 > /sys/fs/cgroup/box/cpu.max"));
    }

    #[test]
    fn kernels_that_do_not_count_are_judged_by_the_time_used() {
        let uncounted = |quota_cpus| {
            let mut made = busy().group(None, Some(quota_cpus), 0);
            made.seating.processes[0].group.iter_mut().for_each(|group| group.throttled_watched = None);
            judge(&made.facts()).len()
        };
        assert_eq!((uncounted(1.0), uncounted(2.0)), (1, 0));
    }

    #[test]
    fn quotas_that_are_not_used_up_are_healthy() {
        assert_eq!(judge(&busy().group(None, Some(2.0), 0).facts()), []);
        assert_eq!(judge(&busy().group(None, None, 0).facts()), []);
        let idle = Made::new(4).thread(7, 7, "0-3").group(None, Some(0.5), 9);
        assert_eq!(judge(&idle.facts()), [], "an idle program was stopped for others");
    }
}
