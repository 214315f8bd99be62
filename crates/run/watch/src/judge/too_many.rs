//! `too-many-threads`: more threads than CPUs, which wait for each other.
//!
//! Threads that share one limit are judged together: those of the control group with the tightest
//! quota, those with the same narrow mask, or those of a program. Much more work than CPUs is not a
//! fault. But threads in lock-step wait each round until the kernel has run all of them in turn,
//! and fewer are faster. Switches of the CPU show this. Threads that spin without yielding switch
//! as rarely as independent ones, so the rule does not judge them.

use super::facts::{SeatingFacts, Sitter, by_place, cpus, sum, those, union};
use super::named_process;
use crate::finding::Finding;
use crate::seating::{WatchedQuota, WatchedThread};
use seatmap_data::words::{agreeing, counted, counted_figure, times_a_second};
use seatmap_launch::count::CpuCount;
use seatmap_launch::runtime::counts::{self, CountedRuntime};
use seatmap_os::{CpuSet, Tid};
use std::collections::BTreeSet;

pub const RULE: &str = "too-many-threads";

/// Threads that use this share of their CPUs use them up: a look cuts periods of a quota.
const USED_UP: f64 = 0.9;

/// Threads must want this many CPUs more than they get.
const EXCESS_CPUS: f64 = 0.5;

/// Switches per second and busy thread. Measured under a quota of one CPU (Linux 6.18): threads
/// with independent work are switched 32 to 42 times, 8 of libomp 27,000 and of libgomp 3,000.
const SWITCHES_PER_S: f64 = 1000.0;

/// Younger processes are still starting.
const YOUNG_S: f64 = 2.0;

/// The lowest priority, nice(1).
const LOWEST: i32 = 19;

/// The limit that threads share.
#[derive(Clone, Copy)]
struct Limit<'a> {
    quota: Option<&'a WatchedQuota>,
    cpus: &'a CpuSet,
}

impl Limit<'_> {
    fn count(self) -> CpuCount {
        let quota = self.quota.map(|quota| quota.cpus);
        CpuCount { mask: self.cpus.len(), quota, ..CpuCount::default() }
    }

    fn words(self) -> String {
        self.quota.map_or_else(
            || cpus(self.cpus),
            |quota| {
                format!("the {} of {}'s quota", counted_figure(quota.cpus, 1, "CPU"), quota.group)
            },
        )
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Domain {
    /// By its index.
    Quota(usize),
    Mask(CpuSet),
    Program(Tid),
}

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let judged = facts.sitters.iter().filter(|one| is_judged(facts, one.thread));
    let domains = by_place(judged, |sitter| Some(domain(facts, sitter))).into_iter();
    domains.filter_map(|(domain, members)| of_domain(facts, &domain, &members)).collect()
}

fn domain(facts: &SeatingFacts, sitter: &Sitter) -> Domain {
    let mask = sitter.mask.within(&facts.online);
    let quotas = facts.seating.quotas.iter().enumerate().filter(|(_, quota)| {
        quota.cpus <= mask.len() as f64 && quota.tids.binary_search(&sitter.tid).is_ok()
    });
    match quotas.min_by(|(_, a), (_, b)| a.cpus.total_cmp(&b.cpus)) {
        Some((at, _)) => Domain::Quota(at),
        None if sitter.is_bound => Domain::Mask(mask),
        None => Domain::Program(facts.master(sitter.pid)),
    }
}

fn is_judged(facts: &SeatingFacts, thread: &WatchedThread) -> bool {
    let is_young = facts.process(thread.pid).is_none_or(|process| process.age_s < YOUNG_S);
    !is_young && thread.policy != "idle" && thread.nice < LOWEST
}

fn of_domain(facts: &SeatingFacts, domain: &Domain, members: &[&Sitter]) -> Option<Finding> {
    let quota = match domain {
        Domain::Quota(at) => facts.seating.quotas.get(*at),
        _ => None,
    };
    let limit = Limit { quota, cpus: &union(members).within(&facts.online) };
    let busy = those(members, |one| one.wants_a_cpu());
    let count = limit.count();
    let used = sum(members, |one| one.run_percent) / 100.0;
    let wanted = sum(members, |one| one.wanted_percent()) / 100.0;
    let is_crowded = used >= USED_UP * count.cpus()
        && wanted >= count.cpus() + EXCESS_CPUS
        && busy.len() > count.threads();
    if !is_crowded {
        return None;
    }
    let wait = LockStep::of(members, &busy)?;
    // Servers that share a limit sleep as often.
    let programs: BTreeSet<Tid> = busy.iter().map(|one| facts.master(one.pid)).collect();
    if !wait.is_certain && programs.len() > 1 {
        return None;
    }
    let finding = Finding::wrong(RULE, wait.words(&named(facts, &busy), wanted, limit))
        .grave_if(wait.is_certain)
        .threads(&busy)
        .on(limit.cpus)
        .since(facts.seating.watched_s)
        .measured(wait.per_s, "switches a second in each thread");
    let fewer = fewer(facts, &busy, count.threads());
    let trial = format!("try {}: {fewer}", counted(count.threads(), "thread"));
    Some(finding.advised(if wait.is_certain { fewer } else { trial }))
}

/// How threads wait for each other.
struct LockStep {
    /// They yield the CPU, rather than sleep as busy servers do too.
    is_certain: bool,
    per_s: f64,
}

impl LockStep {
    fn of(members: &[&Sitter], busy: &[&Sitter]) -> Option<Self> {
        let least = SWITCHES_PER_S * busy.len() as f64;
        let sleeps_per_s = |one: &Sitter| one.voluntary_per_s.unwrap_or(0.0);
        let forced = sum(busy, |one| one.forced_per_s.unwrap_or(0.0));
        let slept = sum(busy, sleeps_per_s);
        let all_slept = sum(members, sleeps_per_s);
        // A waking thread takes the CPU from another at most once.
        let is_certain = forced >= least && forced > all_slept;
        let switches = if is_certain { forced } else { slept };
        let per_s = switches / busy.len().max(1) as f64;
        (switches >= least).then_some(LockStep { is_certain, per_s })
    }

    fn words(&self, threads: &str, wanted: f64, limit: Limit) -> String {
        let need = counted_figure(wanted, 1, "CPU");
        let often = times_a_second(self.per_s);
        let on = limit.words();
        if self.is_certain {
            format!(
                "{threads} wait for each other on {on}: they need {need}, and each yields {often}"
            )
        } else {
            format!(
                "{threads} need {need} on {on}, and each sleeps {often}: they may wait for each \
                 other"
            )
        }
    }
}

fn named(facts: &SeatingFacts, busy: &[&Sitter]) -> String {
    let pids: BTreeSet<Tid> = busy.iter().map(|one| one.pid).collect();
    let process = pids.first().filter(|_| pids.len() == 1).and_then(|pid| facts.process(*pid));
    let of = process.map_or_else(|| "several processes".to_owned(), named_process);
    format!("{} of {of}", counted(busy.len(), "thread"))
}

/// The threads that fit these members' share of a quota.
pub fn fitting(facts: &SeatingFacts, quota: &WatchedQuota, members: &[&Sitter]) -> usize {
    let cpus = &union(members).within(&facts.online);
    Limit { quota: Some(quota), cpus }.count().threads()
}

/// How to start these programs with so few threads in all. Without a known runtime it names the
/// usual settings.
pub fn fewer(facts: &SeatingFacts, busy: &[&Sitter], threads: usize) -> String {
    let pids: BTreeSet<Tid> = busy.iter().map(|one| one.pid).collect();
    let each = (threads / pids.len().max(1)).max(1);
    let runtimes = runtimes(facts, &pids, busy);
    let mut settings: Vec<String> = runtimes.iter().map(|one| one.setting.with(each)).collect();
    settings.sort();
    settings.dedup();
    let program = agreeing(pids.len(), "it", "each process");
    if settings.is_empty() {
        return format!(
            "start {program} with fewer threads, {each} at most (by its option, or by a variable \
             such as OMP_NUM_THREADS or GOMAXPROCS)"
        );
    }
    let live = runtimes.first().filter(|_| settings.len() == 1).and_then(|one| one.live(each));
    let live = live.map_or_else(
        || " (it works only after a restart)".to_owned(),
        |live| format!(", or {live} without a restart"),
    );
    format!("start {program} with {}{live}", settings.join(" and "))
}

/// Those of the libraries, or else of the threads' names.
fn runtimes(
    facts: &SeatingFacts,
    pids: &BTreeSet<Tid>,
    busy: &[&Sitter],
) -> Vec<&'static CountedRuntime> {
    let processes = pids.iter().filter_map(|pid| facts.process(*pid));
    let names: BTreeSet<&String> = processes.flat_map(|process| &process.runtimes).collect();
    let of_libraries: Vec<_> = names.into_iter().filter_map(|name| counts::named(name)).collect();
    if !of_libraries.is_empty() {
        return of_libraries;
    }
    let names: BTreeSet<&String> = busy.iter().map(|one| &one.name).collect();
    names.into_iter().filter_map(|name| counts::of_thread(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Gravity;
    use crate::judge::made::{Made, lines};

    /// The sums over all threads, in CPUs and per second.
    #[derive(Clone, Copy)]
    struct Sums {
        busy: i32,
        run: f64,
        want: f64,
        slept: f64,
        forced: f64,
    }

    const LIBOMP: Sums = Sums { busy: 8, run: 1.0, want: 7.9, slept: 0.0, forced: 221e3 };

    fn with(mut made: Made, pid: Tid, mask: &str, sums: Sums) -> Made {
        let each = |sum: f64| sum / f64::from(sums.busy);
        let [run, wait] = [sums.run, sums.want - sums.run].map(|sum| 100.0 * each(sum));
        for tid in pid..pid + sums.busy {
            made = made.busy(pid, tid, mask, run, wait);
            made = made.switches(each(sums.slept), each(sums.forced));
        }
        made
    }

    fn boxed(sums: Sums) -> Made {
        with(Made::new(2), 7, "0-1", sums).quota("/box", 1.0, Some(9))
    }

    fn gravity(made: &Made) -> Option<Gravity> {
        let found = judge(&made.facts());
        assert!(found.len() < 2, "{found:?}");
        found.first().map(|finding| finding.gravity)
    }

    /// Programs under a quota of one CPU, measured for 2 s (Linux 6.18, 2 CPUs).
    #[test]
    fn lock_step_is_distinguished_from_independent_work() {
        let [wrong, remark] = [Gravity::Wrong, Gravity::Remark].map(Some);
        for (program, busy, [run, want, slept, forced], expected) in [
            ("libomp, n = 8", 8, [1.0, 7.9, 0.0, 221e3], wrong),
            ("rayon, n = 8", 8, [1.0, 6.8, 7e3, 155e3], wrong),
            ("libgomp, n = 8", 8, [1.0, 3.6, 24e3, 1.4e3], remark),
            ("libgomp, n = 8, passive", 8, [1.0, 3.9, 47e3, 4.4e3], remark),
            ("rayon, n = 2", 3, [1.0, 2.3, 14e3, 9e3], remark),
            ("Go, n = 2", 4, [1.0, 2.1, 2.8e3, 400.0], None),
            ("OpenMP that spins, n = 2", 2, [1.0, 2.0, 1.0, 79.0], None),
            ("independent, n = 2", 2, [1.0, 2.0, 0.0, 64.0], None),
            ("independent, n = 8", 8, [1.0, 8.0, 0.0, 340.0], None),
            ("one thread", 1, [1.0, 1.0, 99.0, 28.0], None),
            ("threads that wake each 20 ms", 65, [0.06, 0.31, 3.2e3, 139.0], None),
            ("pairs at pipes", 65, [0.31, 2.7, 56e3, 1.6e3], None),
        ] {
            let sums = Sums { busy, run, want, slept, forced };
            assert_eq!(gravity(&boxed(sums)), expected, "{program}");
        }
    }

    #[test]
    fn busy_thread_among_sleepers_is_healthy() {
        let sleepers = Sums { busy: 64, run: 0.05, want: 0.2, slept: 3.2e3, forced: 17.0 };
        let made = with(Made::new(2), 7, "0-1", sleepers);
        let busy = Sums { busy: 1, run: 0.95, want: 1.0, slept: 0.0, forced: 300.0 };
        let mut made = with(made, 90, "0-1", busy).quota("/box", 1.0, Some(4));
        made.seating.quotas[0].stopped_watched_s = Some(0.015);
        assert_eq!(gravity(&made), None);
        let found = crate::judge::quota::judge(&made.facts());
        assert!(found.iter().all(|finding| !finding.is_wrong()), "{found:?}");
    }

    #[test]
    fn wakeups_of_other_threads_force_no_finding() {
        let busy = Sums { busy: 2, run: 0.8, want: 1.8, slept: 0.0, forced: 5e3 };
        let waking = Sums { busy: 30, run: 0.2, want: 0.5, slept: 6e3, forced: 0.0 };
        let made = with(with(Made::new(2), 7, "0-1", busy), 20, "0-1", waking);
        assert_eq!(gravity(&made.quota("/box", 1.0, Some(9))), None);
    }

    #[test]
    fn programs_of_one_shell_are_judged_apart() {
        let sums = Sums { busy: 2, run: 1.0, want: 1.4, slept: 66e3, forced: 0.0 };
        let made = with(with(Made::new(2).process(5, 1), 7, "0-1", sums), 20, "0-1", sums);
        let mut shell = made.process(7, 5).process(20, 5);
        for process in &mut shell.seating.processes {
            process.parent = if process.pid == 5 { 1 } else { 5 };
        }
        assert_eq!(gravity(&shell), Some(Gravity::Remark), "a program with workers");
        for process in &mut shell.seating.processes {
            process.program = Some(format!("/bin/{}", process.pid));
        }
        assert_eq!(gravity(&shell), None);
        assert_eq!(gravity(&shell.quota("/box", 1.0, Some(9))), None, "beside each other");
    }

    #[test]
    fn young_and_background_programs_are_not_judged() {
        assert_eq!(gravity(&boxed(LIBOMP)), Some(Gravity::Wrong));
        let mut young = boxed(LIBOMP);
        young.seating.processes[0].age_s = 1.9;
        assert_eq!(gravity(&young), None);
        let change = |change: fn(&mut WatchedThread)| {
            let mut made = boxed(LIBOMP);
            made.seating.threads.iter_mut().for_each(change);
            gravity(&made)
        };
        assert_eq!(change(|thread| thread.nice = 19), None);
        assert_eq!(change(|thread| thread.policy = "idle".to_owned()), None);
        assert_eq!(change(|thread| thread.wait_percent = None), None, "waits are not counted");
        assert_eq!(change(|thread| thread.forced_per_s = None), None, "nor are switches");
    }

    #[test]
    fn setting_of_runtime_comes_before_higher_quota() {
        let mut made = with(Made::new(4), 7, "0-3", Sums { run: 2.0, ..LIBOMP });
        made.seating.processes[0].runtimes = vec!["libgomp".to_owned()];
        let mut made = made.quota("/app", 2.0, Some(9));
        let all = |made: &Made| {
            lines(crate::judge::judge(&made.seating, &made.topology, &crate::Criteria::default()))
        };
        let own = all(&made);
        made.seating.processes[0].runtimes = vec!["libjvm".to_owned(), "libopenblas".to_owned()];
        assert_eq!(
            [own, all(&made)],
            [
                "Wrong 7 [7, 8, 9, 10, 11, 12, 13, 14] on 0-3: 8 threads of program (7) wait for each other on the 2.0 CPUs of /app's quota: they need 7.9 CPUs, and each yields 27625 times a second -> start it with OMP_NUM_THREADS=2, or let it call omp_set_num_threads(2) without a restart\nWrong 7 [7, 8, 9, 10, 11, 12, 13, 14] on : the control group /app may use 2 CPUs (/sys/fs/cgroup/app/cpu.max), but 8 threads need 7.9 CPUs there: the kernel stopped them in 9 of 9 periods, for 20 % of the time in which they could run -> echo 400000 100000 > /sys/fs/cgroup/app/cpu.max -> the quota is enough for 2 busy threads, but 8 need it: start it with OMP_NUM_THREADS=2, or let it call omp_set_num_threads(2) without a restart, or raise the quota with the command",
                "Wrong 7 [7, 8, 9, 10, 11, 12, 13, 14] on 0-3: 8 threads of program (7) wait for each other on the 2.0 CPUs of /app's quota: they need 7.9 CPUs, and each yields 27625 times a second -> start it with JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2 and OPENBLAS_NUM_THREADS=2 (it works only after a restart)\nWrong 7 [7, 8, 9, 10, 11, 12, 13, 14] on : the control group /app may use 2 CPUs (/sys/fs/cgroup/app/cpu.max), but 8 threads need 7.9 CPUs there: the kernel stopped them in 9 of 9 periods, for 20 % of the time in which they could run -> echo 400000 100000 > /sys/fs/cgroup/app/cpu.max -> the quota is enough for 2 busy threads, but 8 need it: start it with JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2 and OPENBLAS_NUM_THREADS=2 (it works only after a restart), or raise the quota with the command"
            ]
        );
    }

    #[test]
    fn possible_lock_step_is_advice_to_try() {
        let sums = Sums { busy: 8, run: 1.0, want: 3.7, slept: 24e3, forced: 1.4e3 };
        let mut made = boxed(sums);
        made.seating.threads.iter_mut().for_each(|thread| thread.name = "tokio-rt-worker".into());
        assert_eq!(
            made.told(judge),
            "Remark 7 [7, 8, 9, 10, 11, 12, 13, 14] on 0,1: 8 threads of program (7) need 3.7 CPUs on the 1.0 CPUs of /box's quota, and each sleeps 3000 times a second: they may wait for each other -> try 1 thread: start it with TOKIO_WORKER_THREADS=1 (it works only after a restart)"
        );
    }

    #[test]
    fn workers_of_one_quota_are_judged_together() {
        let half = Sums { busy: 4, run: 1.0, want: 4.0, slept: 0.0, forced: 100e3 };
        let made = with(with(Made::new(4), 7, "0-3", half), 20, "0-3", half);
        assert_eq!(
            made.quota("/box", 2.0, Some(9)).told(judge),
            "Wrong several [7, 8, 9, 10, 20, 21, 22, 23] on 0-3: 8 threads of several processes wait for each other on the 2.0 CPUs of /box's quota: they need 8.0 CPUs, and each yields 25000 times a second -> start each process with fewer threads, 1 at most (by its option, or by a variable such as OMP_NUM_THREADS or GOMAXPROCS)"
        );
    }

    #[test]
    fn masks_and_whole_computers_limit_threads_too() {
        let narrow = with(Made::new(4), 7, "1", LIBOMP);
        assert_eq!(
            narrow.told(judge),
            "Wrong 7 [7, 8, 9, 10, 11, 12, 13, 14] on 1: 8 threads of program (7) wait for each other on CPU 1: they need 7.9 CPUs, and each yields 27625 times a second -> start it with fewer threads, 1 at most (by its option, or by a variable such as OMP_NUM_THREADS or GOMAXPROCS)"
        );
        let whole = with(Made::new(2), 7, "0-1", Sums { run: 2.0, ..LIBOMP });
        assert_eq!(gravity(&whole), Some(Gravity::Wrong));
        let fitting = with(Made::new(8), 7, "0-7", Sums { run: 7.8, ..LIBOMP });
        assert_eq!(gravity(&fitting), None, "a CPU for each");
        let wide = boxed(Sums { run: 0.8, ..LIBOMP });
        assert_eq!(gravity(&wide), None, "other programs use the CPUs");
    }
}
