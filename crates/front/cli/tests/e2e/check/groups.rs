//! Control groups that take CPUs or time from a program.

use super::{Checked, bind_all, check, check_pid, is_root, plan, threads, until};
use crate::common::Place;
use crate::run::programs::{are_two, two_cpus};
use std::path::{Path, PathBuf};

/// A control group of a test's own, in version 1 or 2; removed when it is dropped.
struct Group(PathBuf);

impl Group {
    /// A group below the mount of a controller.
    fn new(controller: &str) -> Option<Self> {
        let mounts = [format!("/sys/fs/cgroup/{controller}"), "/sys/fs/cgroup".to_owned()];
        let file =
            if controller == "cpu" { ["cpu.cfs_quota_us", "cgroup.procs"] } else { ["cpuset.cpus", "cgroup.procs"] };
        let mount = mounts.into_iter().find(|mount| file.iter().all(|file| Path::new(mount).join(file).exists()));
        let path = Path::new(&mount?).join(format!("seatmap-check-{}-{controller}", std::process::id()));
        std::fs::create_dir(&path).ok()?;
        Some(Group(path))
    }

    fn set(&self, file: &str, text: &str) -> Option<()> {
        std::fs::write(self.0.join(file), text).ok()
    }

    fn name(&self) -> &str {
        self.0.file_name().unwrap().to_str().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its members have been killed and leave it in a moment.
        for _ in 0..1000 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

#[test]
fn a_quota_stops_busy_threads() {
    let group = is_root().then(|| Group::new("cpu")).flatten();
    let set =
        |group: &Group| group.set("cpu.cfs_period_us", "20000").and_then(|()| group.set("cpu.cfs_quota_us", "4000"));
    let Some(group) = group.filter(|group| set(group).is_some()) else {
        return seatmap_needs::skipped!("no cpu controller of version 1 takes a quota here");
    };
    let Some(program) = threads(2, "spin") else { return };
    let (place, pid) = (Place::new(), program.pid());
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    let checked = until(|| check_pid(&place, pid, &[]), |checked| !checked.of_rule("quota").is_empty());
    let what = checked.wrong("quota")["what"].as_str().unwrap();
    assert!(what.contains(group.name()) && what.contains("may use 0.2 CPUs"), "{what}");
    let by_group = until(|| check(&place, &["--cgroup", group.name()]), |checked| !checked.of_rule("quota").is_empty());
    assert_eq!(by_group.document["processes"][0]["pid"], pid);
    group.set("cpu.cfs_quota_us", "-1").unwrap();
    let is_free = |checked: &Checked| checked.of_rule("quota").is_empty();
    until(|| check_pid(&place, pid, &[]), is_free);
    drop(program);
}

#[test]
fn a_cpuset_forbids_the_seat_of_a_plan() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) || !is_root() {
        return;
    }
    let set = |group: &Group| {
        let nodes = std::fs::read_to_string(group.0.parent()?.join("cpuset.mems")).unwrap_or_else(|_| "0".to_owned());
        group.set("cpuset.mems", nodes.trim());
        group.set("cpuset.cpus", &a.to_string())
    };
    let Some(group) = Group::new("cpuset").filter(|group| set(group).is_some()) else {
        return seatmap_needs::skipped!("no cpuset can be made here");
    };
    let Some(program) = threads(1, "sleep") else { return };
    let (place, pid) = (Place::new(), program.pid());
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    plan(&place, &[a, b]);
    let checked = check_pid(&place, pid, &["--expect", "plan.json"]);
    let what = checked.wrong("partial")["what"].as_str().unwrap();
    assert!(what.contains(&format!("of these {b} are outside its control group")), "{what}");
    checked.wrong("expect");
    bind_all(pid, &[a]);
    check_pid(&place, pid, &[]).assert_healthy();
    drop(program);
}
