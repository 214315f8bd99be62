//! Applying and undoing settings on a computer made of files.

use super::setting;
use super::targets::{SeatingWay, of_queues, of_threads};
use super::undo::undo;
use crate::{PlannedService, Service};
use seatmap_cell::{CellJournal, CellJournalHeader, RunFolder, SettingChange, SettingKind};
use seatmap_needs::plant;
use seatmap_os::{CpuSet, Root, Tid};

fn computer(version: u8) -> (tempfile::TempDir, Root, RunFolder) {
    let [mount, cpus, mems, inner_cpus, inner_mems] = match version {
        1 => ["30 1 0:30 / /cg rw - cgroup cgroup rw,cpuset\n", "0-7\n", "0-1\n", "0-5\n", "0\n"],
        _ => ["30 1 0:30 / /cg rw - cgroup2 cgroup rw\n", "\n", "\n", "\n", "\n"],
    };
    let folder = seatmap_needs::tree(&[
        ("/proc/self/mountinfo", mount),
        ("/cg/cgroup.controllers", "cpuset memory\n"),
        ("/cg/redis/cpuset.cpus", cpus),
        ("/cg/redis/cpuset.mems", mems),
        ("/cg/redis/inner/cpuset.cpus", inner_cpus),
        ("/cg/redis/inner/cpuset.mems", inner_mems),
    ]);
    if version == 1 {
        plant(folder.path(), &[("/cg/redis/tasks", ""), ("/cg/redis/inner/tasks", "")]);
    }
    let root = Root::new(folder.path());
    let run = RunFolder::new(&folder.path().join("run")).unwrap();
    (folder, root, run)
}

fn planned(cpus: &str, nodes: &str) -> PlannedService {
    let service =
        Service { name: "redis".into(), cgroup: Some("/redis".into()), ..Service::default() };
    let [cpus, nodes] = [cpus.into(), nodes.into()];
    PlannedService { service, cpus, nodes, ..PlannedService::default() }
}

fn given(root: &Root, run: &RunFolder, steps: usize) -> CellJournal {
    let header = CellJournalHeader::new(&"services".parse().unwrap(), "2-3", 1, Some(0));
    let path = run.journal(&header.cell);
    let mut journal = CellJournal::begin(&path, "boot", header).unwrap();
    let way = SeatingWay::Group("/cg/redis".into());
    let changes = way.changes(root, &planned("2-3", "1")).unwrap();
    journal.note(&changes).unwrap();
    for change in changes.iter().take(steps) {
        setting::set(root, change, &change.new).unwrap();
    }
    journal
}

fn state(root: &Root) -> Vec<String> {
    ["redis/cpuset.cpus", "redis/cpuset.mems", "redis/inner/cpuset.cpus", "redis/inner/cpuset.mems"]
        .iter()
        .map(|file| root.read(&format!("/cg/{file}")).unwrap())
        .collect()
}

#[test]
fn undo_restores_groups_after_every_step() {
    for (version, whole) in [(2, ["2-3", "1", "", ""]), (1, ["2-3", "1", "2,3", "1"])] {
        let (_folder, root, run) = computer(version);
        let before = state(&root);
        for steps in 0..=4 {
            let journal = given(&root, &run, steps);
            if steps == 4 {
                assert_eq!(state(&root), whole, "version {version}");
            }
            // A guardian reads the journal again too.
            let read = CellJournal::read(&journal.path, "boot").unwrap().unwrap();
            assert_eq!(undo(&root, read, &[]).unwrap(), []);
            assert_eq!(state(&root), before, "version {version}, step {steps}");
        }
    }
}

#[test]
fn packet_steering_leaves_quiet_cpus_and_is_restored() {
    let (folder, root, run) = computer(2);
    let file = |queue: &str| format!("/sys/class/net/eth0/queues/{queue}/rps_cpus");
    let before = [("rx-0", "00000000,000000ff"), ("rx-1", "0"), ("rx-2", "3"), ("rx-3", "c")];
    for (queue, mask) in before {
        plant(folder.path(), &[(&file(queue), mask)]);
    }
    let changes = of_queues(&root, &CpuSet::of_list("0-1,4-7").unwrap()).unwrap();
    // Queues without steering, or with only allowed CPUs, stay unchanged.
    let new: Vec<[&str; 2]> =
        changes.iter().map(|change| [change.path.as_str(), change.new.as_str()]).collect();
    assert_eq!(new, [[file("rx-0").as_str(), "000000f3"], [file("rx-3").as_str(), "000000f3"]]);
    let mut journal = given(&root, &run, 0);
    journal.note(&changes).unwrap();
    for change in &changes {
        setting::set(&root, change, &change.new).unwrap();
    }
    let read = CellJournal::read(&journal.path, "boot").unwrap().unwrap();
    assert_eq!(undo(&root, read, &[]).unwrap(), []);
    for (queue, mask) in before {
        assert_eq!(root.read(&file(queue)).unwrap(), mask, "{queue}");
    }
}

#[test]
fn inner_groups_shrink_before_outer_groups() {
    let (_folder, root, _run) = computer(1);
    let way = SeatingWay::Group("/cg/redis".into());
    let changes = way.changes(&root, &planned("2-3", "")).unwrap();
    let files: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(files, ["/cg/redis/inner/cpuset.cpus", "/cg/redis/cpuset.cpus"]);
}

#[test]
fn undo_keeps_and_reports_settings_changed_by_others() {
    let (_folder, root, run) = computer(2);
    let journal = given(&root, &run, 4);
    std::fs::write(root.path("/cg/redis/cpuset.cpus"), "6\n").unwrap();
    let left = undo(&root, journal, &[]).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].why, "another program changed it to '6'; it was ''");
    assert_eq!(state(&root)[..2], ["6", ""]);
}

#[test]
fn undo_refuses_planted_journal_line() {
    let (folder, root, run) = computer(2);
    let mut journal = given(&root, &run, 0);
    plant(folder.path(), &[("/etc/passwd", "0\n")]);
    let planted = SettingChange::new(SettingKind::Cpus, "/etc/passwd", "1", "0");
    journal.note(&[planted]).unwrap();
    let left = undo(&root, journal, &[]).unwrap();
    assert!(left[0].why.contains("damaged"), "{left:?}");
    assert_eq!(root.read("/etc/passwd").unwrap(), "0");
}

#[test]
fn slurm_step_only_narrows_its_cpus() {
    for version in [1, 2] {
        let (folder, root, _run) = computer(version);
        let step = "/cg/slurm/job_5/step_0";
        let [mounted, own] = match version {
            1 => ["25 30 0:26 / /cg rw - cgroup cgroup rw,cpuset\n", "cpuset.cpus"],
            _ => ["25 30 0:26 / /cg rw - cgroup2 cgroup2 rw\n", "cpuset.cpus.effective"],
        };
        let files = [
            ("/proc/self/mountinfo", mounted),
            ("/cg/cgroup.procs", ""),
            ("/cg/slurm/cgroup.procs", ""),
            ("/cg/slurm/job_5/cgroup.procs", ""),
        ];
        plant(folder.path(), &files);
        let files =
            [("cgroup.procs", ""), ("cpuset.cpus", ""), ("cpuset.mems", ""), (own, "0-3\n")];
        plant(&root.path(step), &files);
        let of_step = |step: &str, cpus: &str| {
            let service =
                Service { name: "solver".into(), step: Some(step.into()), ..Service::default() };
            SeatingWay::of(&root, &PlannedService { service, ..planned(cpus, "") })
        };
        let way = of_step("5.0", "2-3").unwrap();
        assert_eq!(way, SeatingWay::Group(step.into()), "version {version}");
        let told = of_step("5.0", "3-5").unwrap_err().to_string();
        let narrow = "is a Slurm step with CPUs 0-3, but the plan gives it 4,5";
        assert!(told.contains(narrow), "{told}");
        let told = of_step("5", "2-3").unwrap_err().to_string();
        assert!(told.contains("name a step, such as 5.0 or 5.batch"), "{told}");
    }
}

#[test]
fn threads_with_own_masks_stay_unchanged() {
    let whole = CpuSet::of_thread(0).unwrap();
    if whole.len() < 2 {
        return seatmap_needs::skipped!("there is one CPU");
    }
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id() as Tid;
    let first = CpuSet::single(whole.first().unwrap());
    let changes = of_threads([pid], &first);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].new, first.to_string());
    first.give(pid).unwrap();
    assert_eq!(of_threads([pid], &first), []);
    child.kill().unwrap();
    child.wait().unwrap();
}
