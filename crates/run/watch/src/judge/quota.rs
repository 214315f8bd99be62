//! `quota`: busy threads in a control group that takes the CPU from them.

use super::brake;
use super::facts::{Facts, Sitter, count};
use crate::finding::Finding;
use crate::remedy::Remedy;
use crate::seating::Quota;
use seatmap_statistics::words::{agreeing, counted_number, times_a_second};
use std::collections::HashSet;

/// The share of its quota from which a group has used it up, where the kernel does not count the
/// periods.
const USED_UP: f64 = 0.95;

/// The share of one CPU from which the threads that are not busy need some of the quota.
const LIGHT_PERCENT: f64 = 1.0;

/// Control groups whose quota was used up while they were watched, at any level: the kernel counts
/// the periods of each level, so that the one that stops the threads is known.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let quotas = facts.seating.quotas.iter().filter_map(|quota| of_quota(facts, quota));
    quotas.chain(brake::judge(facts)).collect()
}

fn of_quota(facts: &Facts, quota: &Quota) -> Option<Finding> {
    let members = members(facts, quota);
    let busy: Vec<&Sitter> = members.iter().filter(|sitter| sitter.is_busy()).copied().collect();
    let first = busy.first()?;
    let run_percent: f64 = members.iter().map(|sitter| sitter.thread.run_percent).sum();
    let is_used_up = run_percent >= USED_UP * 100.0 * quota.cpus && busy.len() as f64 > quota.cpus;
    // cgroup version 1 may count no periods; then a group that used all it may is taken to have
    // been stopped.
    let throttled = quota.throttled_watched.map_or(is_used_up, |periods| periods > 0);
    if !throttled {
        return None;
    }
    let rate =
        quota.throttled_watched.map(|periods| periods as f64 / facts.seating.watched_s.max(1e-3));
    let often = rate.map_or_else(
        || {
            format!(
                "as {it} used it up; how often is not counted here",
                it = agreeing(busy.len(), "it", "they")
            )
        },
        times_a_second,
    );
    let what = format!(
        "the control group {} may use {} ({}) and has {}: the kernel stopped {} {often}",
        quota.group,
        counted_number(quota.cpus, "CPU"),
        quota.file,
        count(busy.len(), "busy thread"),
        agreeing(busy.len(), "it", "them")
    );
    let finding = Finding::wrong("quota", what).tids(busy.iter().map(|sitter| sitter.tid()));
    // A group may hold several programs, and then the finding is about none of them alone.
    let pid = first.thread.pid;
    let finding =
        if busy.iter().all(|one| one.thread.pid == pid) { finding.of(pid) } else { finding };
    let finding = finding.since(facts.seating.watched_s);
    // The kernel hands a quota out in slices (sched-bwc.rst), so that it stops a group for moments
    // that has as much as its threads can use. To raise that would change nothing.
    let finding = if quota.cpus >= needed_cpus(facts, quota) as f64 {
        finding.grave_if(false).advised(
            "it has a CPU for each busy thread, and the kernel stops it for moments only: take the \
             quota away, or give it a longer period",
        )
    } else {
        mended(facts, quota, finding)
    };
    Some(match rate {
        Some(rate) => finding.measured(rate, "a second"),
        None => finding.measured(run_percent, "percent of one CPU"),
    })
}

/// The chosen threads in a group and below it.
fn members<'f, 'a>(facts: &'f Facts<'a>, quota: &Quota) -> Vec<&'f Sitter<'a>> {
    let tids: HashSet<_> = quota.tids.iter().collect();
    facts.sitters.iter().filter(|sitter| tids.contains(&sitter.tid())).collect()
}

/// Raises this quota, and those above and below it that would stop the same threads next. The
/// kernel refuses a group of version 1 more than the group above it has, so that the outermost
/// comes first.
fn mended(facts: &Facts, quota: &Quota, finding: Finding) -> Finding {
    let tids: HashSet<_> = quota.tids.iter().collect();
    let mut low: Vec<&Quota> = facts
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
    // From the outermost group inwards: cgroup version 1 refuses a group more than the one around
    // it has.
    // The path `/` has as many slashes as those of the groups just below it.
    low.sort_by_key(|other| (other.group != "/", other.group.matches('/').count()));
    if let Some(locked) = low.iter().find(|other| other.is_read_only) {
        let group = &locked.group;
        return finding.advised(format!(
            "ask whoever started this container, or root of the host, to raise the quota of its \
             control group {group}, which cannot be written from here"
        ));
    }
    let raised = low.iter().map(|other| {
        Remedy::raise_quota(
            &other.file,
            other.period_us,
            other.unit.as_deref(),
            needed_cpus(facts, other),
        )
    });
    finding.mended_by_all(raised)
}

fn is_below(inner: &str, outer: &str) -> bool {
    outer == "/" || inner.starts_with(&format!("{outer}/"))
}

/// A CPU for each busy thread, and one for all that do a little. Nobody needs more CPUs than run,
/// and where others share the group, nobody knows their need.
fn needed_cpus(facts: &Facts, quota: &Quota) -> usize {
    let members = members(facts, quota);
    let busy = members.iter().filter(|sitter| sitter.is_busy()).count();
    let light: f64 = members
        .iter()
        .filter(|sitter| !sitter.is_busy())
        .map(|sitter| sitter.thread.run_percent)
        .sum();
    let needed = busy + usize::from(light >= LIGHT_PERCENT);
    let online = facts.online.len();
    if quota.has_others { online } else { needed.clamp(1, online.max(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Gravity;
    use crate::judge::made::Made;

    fn busy() -> Made {
        Made::new(4).busy(7, 7, "0-3", 50.0, 40.0).busy(7, 8, "0-3", 50.0, 40.0)
    }

    /// Quotas of one chain of groups, each with its CPUs and the periods used up.
    fn chain(groups: &[(&str, f64, u64)]) -> Made {
        let mut made = busy();
        for (group, cpus, periods) in groups {
            made = made.quota(group, *cpus, Some(*periods));
        }
        made
    }

    #[test]
    fn a_group_that_is_stopped_is_found() {
        let found = judge(&busy().group(None, Some(1.0), 4).facts());
        let what = "the control group /box may use 1 CPU (/sys/fs/cgroup/box/cpu.max) and has 2 busy threads: the \
                    kernel stopped them 8 times a second";
        assert_eq!((found.len(), found[0].what.as_str()), (1, what));
        assert_eq!(
            found[0].remedy.as_deref(),
            Some("echo 200000 100000 > /sys/fs/cgroup/box/cpu.max")
        );
    }

    #[test]
    fn a_quota_that_is_enough_is_not_raised_to_itself() {
        let found = judge(&busy().group(None, Some(2.0), 4).facts());
        assert_eq!((found[0].gravity, found[0].remedy.as_deref()), (Gravity::Remark, None));
        assert!(found[0].advice.as_deref().is_some_and(|advice| advice.contains("take the quota")));
    }

    #[test]
    fn one_thread_that_is_stopped_is_not_several() {
        let made = Made::new(4).busy(7, 7, "0-3", 50.0, 0.0).group(None, Some(0.5), 4);
        let found = judge(&made.facts());
        assert!(found[0].what.ends_with("1 busy thread: the kernel stopped it 8 times a second"));
    }

    #[test]
    fn a_group_that_is_stopped_seldom_is_stopped_nevertheless() {
        let mut made = chain(&[("/a", 0.5, 1)]);
        for (watched_s, often) in [(10.0, "less than once a second"), (1.0, "once a second")] {
            made.seating.watched_s = watched_s;
            let found = judge(&made.facts());
            let end = format!(": the kernel stopped them {often}");
            assert!(found[0].what.ends_with(&end), "{found:?}");
        }
    }

    #[test]
    fn the_level_that_stops_them_is_named_and_the_others_are_raised_where_they_would_be_next() {
        let found = judge(&chain(&[("/a/b", 3.0, 0), ("/a", 0.5, 9), ("/", 1.0, 0)]).facts());
        assert!(
            found.len() == 1 && found[0].what.starts_with("the control group /a may use 0.5 CPUs"),
            "{found:?}"
        );
        let wanted = "echo 200000 100000 > /sys/fs/cgroup/cpu.max; echo 200000 100000 > /sys/fs/cgroup/a/cpu.max";
        assert_eq!(found[0].remedy.as_deref(), Some(wanted));
    }

    #[test]
    fn a_group_that_is_shared_gets_all_cpus_and_a_locked_one_no_command() {
        let mut shared = chain(&[("/a", 0.5, 9)]);
        shared.seating.quotas[0].has_others = true;
        let found = judge(&shared.facts());
        assert_eq!(
            found[0].remedy.as_deref(),
            Some("echo 400000 100000 > /sys/fs/cgroup/a/cpu.max")
        );
        shared.seating.quotas[0].is_read_only = true;
        let found = judge(&shared.facts());
        assert!(
            found[0].remedy.is_none()
                && found[0].advice.as_deref().unwrap().starts_with("ask whoever"),
            "{found:?}"
        );
    }

    #[test]
    fn a_quota_of_single_threads_is_theirs_alone() {
        let mut made = chain(&[("/a", 0.5, 9)]);
        made.seating.quotas[0].tids = vec![8];
        let found = judge(&made.facts());
        assert_eq!((found.len(), found[0].tids.as_slice()), (1, &[8][..]));
    }

    #[test]
    fn kernels_that_do_not_count_are_judged_by_the_time_used() {
        let uncounted = |quota_cpus| {
            let made = busy().quota("/box", quota_cpus, None);
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
