//! How much of a contested CPU this process gets (sched(7)): its policy, its nice value, and the
//! weights of its control groups.

use crate::hierarchy::Hierarchies;
use crate::root::Root;
use crate::sched::{Stat, policy_name};

/// The parts of it that are not usual, in words such as `nice 10, weight 0.002 of the control group
/// /a`; `None` where all is usual.
#[must_use]
pub fn of_self(root: &Root) -> Option<String> {
    let stat = root.read("/proc/thread-self/stat").unwrap_or_default();
    let mut words: Vec<String> = Stat::parse(stat.as_bytes()).map(own).unwrap_or_default();
    if let Ok(membership) = root.read("/proc/thread-self/cgroup") {
        let groups = Hierarchies::read(root).groups(root, crate::task::own_tid(), &membership);
        let weights = Hierarchies::weights(root, &groups);
        words.extend(weights.into_iter().map(|(group, part)| {
            format!("weight {} of the control group {group}", (1e3 * part).round() / 1e3)
        }));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// The parts of a thread's own priority that are not usual.
fn own(stat: Stat<'_>) -> Vec<String> {
    let policy = (stat.policy != 0).then(|| format!("policy {}", policy_name(stat.policy)));
    let nice = (stat.nice != 0).then(|| format!("nice {}", stat.nice));
    policy.into_iter().chain(nice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(stat: &str, shares: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let group = "/sys/fs/cgroup/cpu";
        let mount = format!("30 1 0:30 / {group} rw - cgroup cgroup rw,cpu\n");
        for (path, text) in [
            ("/proc/thread-self/stat", stat),
            ("/proc/thread-self/cgroup", "4:cpu:/a/b\n"),
            ("/proc/self/mountinfo", mount.as_str()),
            ("/sys/fs/cgroup/cpu/a/b/cpu.shares", "1024\n"),
            ("/sys/fs/cgroup/cpu/a/cpu.shares", shares),
        ] {
            std::fs::create_dir_all(root.path(path).parent().unwrap()).unwrap();
            std::fs::write(root.path(path), text).unwrap();
        }
        of_self(&root)
    }

    #[test]
    fn only_the_unusual_is_told() {
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
}
