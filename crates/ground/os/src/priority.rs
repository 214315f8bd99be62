//! A thread's share of a contested CPU (sched(7)): its policy, its nice value, that of its
//! session's autogroup, and the weights of its control groups.
//!
//! Threads compete at the level where their group paths diverge: nice values matter only in the
//! same groups, autogroups only in the root group.

use crate::Tid;
use crate::hierarchy::{GroupWeight, Hierarchies};
use crate::root::{Root, last_name};
use crate::sched::{Stat, policy_name};
use crate::shell::shell_escaped;

/// Weights of nice 0 and SCHED_IDLE (`NICE_0_LOAD`, `WEIGHT_IDLEPRIO` of kernel/sched).
pub(crate) const USUAL_WEIGHT: f64 = 1024.0;
pub(crate) const IDLE_WEIGHT: f64 = 3.0;

/// SCHED_DEADLINE precedes all priorities, at most 99 (sched(7)).
const DEADLINE_RANK: u32 = 100;

/// Weight ratio of adjacent nice values (`sched_prio_to_weight`).
const NICE_STEP: f64 = 1.25;

/// Describes the calling thread's unusual settings, such as `nice 10, weight 0.002 of the control
/// group /a`; `None` if none.
pub fn of_self(root: &Root) -> Option<String> {
    let stat = root.read("/proc/thread-self/stat").unwrap_or_default();
    let mut words: Vec<String> = Stat::parse(stat.as_bytes()).map(own).unwrap_or_default();
    if let Ok(membership) = root.read("/proc/thread-self/cgroup") {
        let groups = Hierarchies::read(root).groups(root, crate::task::own_tid(), &membership);
        let shares = Hierarchies::shares(root, &groups).into_iter();
        words.extend(shares.filter(|share| share.weight != 1.0).map(|share| {
            let part = (1e3 * share.weight).round() / 1e3;
            format!("weight {part} of the control group {}", share.group)
        }));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

fn own(stat: Stat<'_>) -> Vec<String> {
    let policy = (stat.policy != 0).then(|| format!("policy {}", policy_name(stat.policy)));
    let nice = (stat.nice != 0).then(|| format!("nice {}", stat.nice));
    policy.into_iter().chain(nice).collect()
}

/// The setting that makes a thread yield a CPU to another.
#[derive(Clone, Debug)]
pub struct GivesWay {
    /// Thread's setting: `nice 19`, `cpu.weight 10 of the control group /a`.
    pub own: String,
    /// The other thread's setting.
    pub other: String,
    /// A command that makes both equal; `None` if only a change of the other thread helps.
    pub remedy: Option<String>,
}

/// A member of the competition with its siblings.
#[derive(Debug)]
enum Competitor {
    Group(GroupWeight),
    Autogroup { tid: Tid, name: String, nice: i32 },
    Thread { tid: Tid, policy: String, nice: i32 },
}

/// A thread's class, and its competitors from the root group down.
struct Standing {
    /// 0 for ordinary threads, the priority for SCHED_FIFO and SCHED_RR, more for SCHED_DEADLINE.
    rank: u32,
    policy: String,
    path: Vec<Competitor>,
}

/// The setting that makes a thread yield to another; `None` if it does not yield, or a deciding
/// setting cannot be read.
pub fn gives_way(root: &Root, tid: Tid, other: Tid) -> Option<GivesWay> {
    let hierarchies = Hierarchies::read(root);
    let own = Standing::read(root, &hierarchies, tid)?;
    own.gives_way_to(&Standing::read(root, &hierarchies, other)?)
}

impl Standing {
    fn read(root: &Root, hierarchies: &Hierarchies, tid: Tid) -> Option<Self> {
        let line = root.read(&format!("/proc/{tid}/task/{tid}/stat")).ok()?;
        let stat = Stat::parse(line.as_bytes())?;
        let membership = root.read(&format!("/proc/{tid}/task/{tid}/cgroup")).ok()?;
        let groups = hierarchies.groups(root, tid, &membership);
        // Invisible groups may differ.
        if groups.unseen().is_some() {
            return None;
        }
        let shares = Hierarchies::shares(root, &groups).into_iter().rev();
        let mut path: Vec<Competitor> = shares.map(Competitor::Group).collect();
        let setting = root.read("/proc/sys/kernel/sched_autogroup_enabled").unwrap_or_default();
        if path.is_empty() && setting.trim() == "1" {
            // Kernel threads have no autogroup.
            let text = root.read(&format!("/proc/{tid}/autogroup")).unwrap_or_default();
            path.extend(Competitor::autogroup(tid, &text));
        }
        let policy = policy_name(stat.policy);
        path.push(Competitor::Thread { tid, policy: policy.clone(), nice: stat.nice });
        let rank = if policy == "deadline" { DEADLINE_RANK } else { stat.real_time_priority };
        Some(Standing { rank, policy, path })
    }

    fn gives_way_to(&self, other: &Standing) -> Option<GivesWay> {
        // Between real-time threads and others, groups do not matter.
        if self.rank != other.rank {
            let [own, other_words] = [self, other].map(|one| format!("policy {}", one.policy));
            let is_after = self.rank < other.rank;
            return is_after.then_some(GivesWay { own, other: other_words, remedy: None });
        }
        let mut pairs = self.path.iter().zip(&other.path);
        let (own, other) = pairs.find(|(own, other)| !own.is_same(other))?;
        (self.rank == 0 && own.weight() < other.weight()).then(|| GivesWay {
            own: own.words(),
            other: other.words(),
            remedy: Some(own.raised_to(other)),
        })
    }
}

impl Competitor {
    /// Parses `/autogroup-12 nice 5` (sched(7)).
    fn autogroup(tid: Tid, text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let name = words.next()?.to_owned();
        Some(Competitor::Autogroup { tid, name, nice: words.nth(1)?.parse().ok()? })
    }

    fn is_same(&self, other: &Competitor) -> bool {
        match (self, other) {
            (Competitor::Group(own), Competitor::Group(other)) => own.group == other.group,
            (Competitor::Autogroup { name, .. }, Competitor::Autogroup { name: other, .. }) => {
                name == other
            }
            _ => false,
        }
    }

    fn weight(&self) -> f64 {
        match self {
            Competitor::Group(share) => share.weight,
            Competitor::Thread { policy, .. } if policy == "idle" => IDLE_WEIGHT / USUAL_WEIGHT,
            Competitor::Autogroup { nice, .. } | Competitor::Thread { nice, .. } => {
                NICE_STEP.powi(-*nice)
            }
        }
    }

    fn words(&self) -> String {
        match self {
            Competitor::Group(GroupWeight { group, file, value, .. }) => {
                format!("{} {value} of the control group {group}", last_name(file))
            }
            Competitor::Autogroup { nice, .. } => format!("nice {nice} of the session's autogroup"),
            Competitor::Thread { policy, .. } if policy == "idle" => "SCHED_IDLE".to_owned(),
            Competitor::Thread { nice, .. } => format!("nice {nice}"),
        }
    }

    fn raised_to(&self, other: &Competitor) -> String {
        let others_nice = match other {
            Competitor::Group(_) => 0,
            Competitor::Autogroup { nice, .. } | Competitor::Thread { nice, .. } => *nice,
        };
        match self {
            Competitor::Group(GroupWeight { file, .. }) => {
                let value = match last_name(file) {
                    "cpu.idle" => 0.0,
                    "cpu.weight" => 100.0 * other.weight(),
                    _ => USUAL_WEIGHT * other.weight(),
                };
                format!("echo {value:.0} > {}", shell_escaped(file))
            }
            Competitor::Autogroup { tid, .. } => {
                format!("echo {others_nice} > /proc/{tid}/autogroup")
            }
            Competitor::Thread { tid, policy, .. } if policy == "idle" => {
                format!("chrt --other -p 0 {tid}")
            }
            Competitor::Thread { tid, .. } => format!("renice -n {others_nice} -p {tid}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};

    fn told(stat: &str, shares: &str) -> Option<String> {
        let group = "/sys/fs/cgroup/cpu";
        let mount = format!("30 1 0:30 / {group} rw - cgroup cgroup rw,cpu\n");
        let (_folder, root) = with_files(&[
            ("/proc/thread-self/stat", stat),
            ("/proc/thread-self/cgroup", "4:cpu:/a/b\n"),
            ("/proc/self/mountinfo", mount.as_str()),
            ("/sys/fs/cgroup/cpu/a/b/cpu.shares", "1024\n"),
            ("/sys/fs/cgroup/cpu/a/cpu.shares", shares),
        ]);
        of_self(&root)
    }

    #[test]
    fn only_unusual_priorities_are_reported() {
        let stat = |nice: i32, policy: u32| {
            format!(
                "7 (a) R 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 {nice} 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 {policy} 0"
            )
        };
        assert_eq!(told(&stat(0, 0), "1024\n"), None);
        assert_eq!(
            told(&stat(10, 3), "2\n").as_deref(),
            Some("policy batch, nice 10, weight 0.002 of the control group /a")
        );
    }

    /// Nice value, policy number, control group, autogroup, and the autogroup's nice value.
    type Made = (i32, u32, &'static str, u32, i32);

    fn decided(files: &[(&str, &str)], threads: [Made; 2]) -> Option<String> {
        let (_folder, root) = with_files(files);
        let write = |path: &str, text: &str| write(&root, path, text);
        write("/proc/self/mountinfo", "30 1 0:30 / /c rw - cgroup cgroup rw,cpu\n");
        write("/c/release_agent", "");
        write("/c/cpu.shares", "1024\n");
        for (tid, (nice, policy, group, autogroup, autogroup_nice)) in (7..).zip(threads) {
            let priority = if policy == 1 { 50 } else { 0 };
            let line = format!(
                "{tid} (a) R 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 {nice} 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 \
                 0 0 0 0 {priority} {policy} 0"
            );
            write(&format!("/proc/{tid}/task/{tid}/stat"), &line);
            write(&format!("/proc/{tid}/task/{tid}/cgroup"), &format!("4:cpu:{group}\n"));
            let text = format!("/autogroup-{autogroup} nice {autogroup_nice}\n");
            write(&format!("/proc/{tid}/autogroup"), &text);
        }
        gives_way(&root, 7, 8).map(|GivesWay { own, other, remedy }| {
            format!("{own}; {other}; {}", remedy.unwrap_or_default())
        })
    }

    const AUTOGROUPS: (&str, &str) = ("/proc/sys/kernel/sched_autogroup_enabled", "1\n");

    #[test]
    fn nice_decides_only_within_group_and_autogroup() {
        let nice = Some("nice 19; nice 0; renice -n 0 -p 7".to_owned());
        let root = |autogroup| [(19, 0, "/", 1, 0), (0, 0, "/", autogroup, 0)];
        assert_eq!(decided(&[AUTOGROUPS], root(1)), nice);
        assert_eq!(decided(&[AUTOGROUPS], root(2)), None, "of another session");
        assert_eq!(decided(&[], root(2)), nice, "autogroups are off");
        let groups = [("/c/a/cpu.shares", "1024\n"), ("/c/b/cpu.shares", "1024\n"), AUTOGROUPS];
        let of = |group| [(19, 0, "/a", 1, 9), (0, 0, group, 2, 0)];
        assert_eq!(decided(&groups, of("/b")), None);
        assert_eq!(decided(&groups, of("/a")), nice, "no autogroups below the root");
        assert_eq!(
            decided(&[], [(0, 5, "/", 1, 0), (19, 3, "/", 1, 0)]).as_deref(),
            Some("SCHED_IDLE; nice 19; chrt --other -p 0 7")
        );
    }

    #[test]
    fn policies_decide_first_then_weights_at_the_fork() {
        let autogroups = [(0, 0, "/", 1, 10), (19, 0, "/", 2, 0)];
        let words = "nice 10 of the session's autogroup; nice 0 of the session's autogroup; echo 0 > \
                     /proc/7/autogroup";
        assert_eq!(decided(&[AUTOGROUPS], autogroups).as_deref(), Some(words));
        let files = [
            ("/c/a/cpu.shares", "2\n"),
            ("/c/a/x/cpu.shares", "9000\n"),
            ("/c/b/cpu.shares", "2048\n"),
        ];
        let words = "cpu.shares 2 of the control group /a; cpu.shares 2048 of the control group /b; \
                     echo 2048 > /c/a/cpu.shares";
        let groups = [(-20, 0, "/a/x", 1, 0), (19, 0, "/b", 1, 0)];
        assert_eq!(decided(&files, groups).as_deref(), Some(words));
        let idle = [files[2], ("/c/a/cpu.shares", "1024\n"), ("/c/a/cpu.idle", "1\n")];
        let words = "cpu.idle 1 of the control group /a; nice 0; echo 0 > /c/a/cpu.idle";
        assert_eq!(decided(&idle, [(0, 0, "/a", 1, 0), (0, 0, "/", 1, 0)]).as_deref(), Some(words));
        let real_time = [(0, 0, "/b", 1, 0), (0, 1, "/a", 1, 0)];
        assert_eq!(decided(&files, real_time).as_deref(), Some("policy other; policy fifo; "));
    }
}
