//! Settings of groups and threads, given and taken back on a computer of files.

use super::setting;
use super::targets::{SeatingWay, of_threads};
use super::undo::undo;
use crate::file::Service;
use crate::plan::PlannedService;
use seatmap_cell::journal::{FORMAT, Header, Journal, JournalEntry};
use seatmap_cell::run_folder::RunFolder;
use seatmap_os::{CpuSet, Root, Tid};

/// A computer with a hierarchy of control groups at `/cg`.
fn computer(version: u8) -> (tempfile::TempDir, Root, RunFolder) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(folder.path());
    let mount = match version {
        1 => "none /cg cgroup rw,cpuset 0 0\n",
        _ => "none /cg cgroup2 rw 0 0\n",
    };
    for (path, text) in [
        ("/proc/self/mounts", mount),
        ("/cg/cgroup.controllers", "cpuset memory\n"),
        ("/cg/redis/cpuset.cpus", if version == 1 { "0-7\n" } else { "\n" }),
        ("/cg/redis/cpuset.mems", if version == 1 { "0-1\n" } else { "\n" }),
        ("/cg/redis/inner/cpuset.cpus", if version == 1 { "0-5\n" } else { "\n" }),
        ("/cg/redis/inner/cpuset.mems", if version == 1 { "0\n" } else { "\n" }),
    ] {
        std::fs::create_dir_all(root.path(path).parent().unwrap()).unwrap();
        std::fs::write(root.path(path), text).unwrap();
    }
    if version == 1 {
        std::fs::write(root.path("/cg/redis/tasks"), "").unwrap();
        std::fs::write(root.path("/cg/redis/inner/tasks"), "").unwrap();
    }
    let run = RunFolder::new(&folder.path().join("run")).unwrap();
    (folder, root, run)
}

fn planned(cpus: &str, nodes: &str) -> PlannedService {
    PlannedService {
        service: Service {
            name: "redis".into(),
            cgroup: Some("/redis".into()),
            ..Service::default()
        },
        cpus: cpus.into(),
        nodes: nodes.into(),
        pool: 0,
        median_cpus: None,
        p99_cpus: None,
        most_cpus: None,
    }
}

/// Gives the set of a plan as far as a step, and returns the journal.
fn given(root: &Root, run: &RunFolder, steps: usize) -> Journal {
    let header = Header {
        format: FORMAT.into(),
        cell: "services".parse().unwrap(),
        cpus: "2-3".into(),
        serial: 1,
        began_ticks: Some(0),
    };
    let path = run.journal(&header.cell);
    let mut journal = Journal::begin(&path, "boot", header).unwrap();
    let way = SeatingWay::Group("/cg/redis".into());
    let changes = way.changes(root, &planned("2-3", "1")).unwrap();
    let lines: Vec<JournalEntry> = changes.iter().cloned().map(JournalEntry::Change).collect();
    journal.append(&lines).unwrap();
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
fn groups_of_both_versions_come_back_from_every_step() {
    for (version, whole) in [(2, ["2-3", "1", "", ""]), (1, ["2-3", "1", "2,3", "1"])] {
        let (_folder, root, run) = computer(version);
        let before = state(&root);
        for steps in 0..=4 {
            let journal = given(&root, &run, steps);
            if steps == 4 {
                assert_eq!(state(&root), whole, "version {version}");
            }
            // Read again, as a guardian does.
            let read = Journal::read(journal.path(), "boot").unwrap().unwrap();
            assert_eq!(undo(&root, read, &[]).unwrap(), []);
            assert_eq!(state(&root), before, "version {version}, step {steps}");
        }
    }
}

#[test]
fn inner_groups_shrink_first_and_grow_last() {
    let (_folder, root, _run) = computer(1);
    let way = SeatingWay::Group("/cg/redis".into());
    let changes = way.changes(&root, &planned("2-3", "")).unwrap();
    let files: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(files, ["/cg/redis/inner/cpuset.cpus", "/cg/redis/cpuset.cpus"]);
}

#[test]
fn a_setting_that_somebody_else_changed_stays_and_is_named() {
    let (_folder, root, run) = computer(2);
    let journal = given(&root, &run, 4);
    std::fs::write(root.path("/cg/redis/cpuset.cpus"), "6\n").unwrap();
    let left = undo(&root, journal, &[]).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].why, "somebody changed it to '6'; it was ''");
    assert_eq!(state(&root)[..2], ["6", ""]);
}

#[test]
fn a_planted_line_is_not_obeyed() {
    let (_folder, root, run) = computer(2);
    let mut journal = given(&root, &run, 0);
    std::fs::create_dir_all(root.path("/etc")).unwrap();
    std::fs::write(root.path("/etc/passwd"), "0\n").unwrap();
    let mut planted = journal.changes[0].clone();
    planted.path = "/etc/passwd".into();
    planted.new = "0".into();
    planted.old = "1".into();
    journal.append(&[JournalEntry::Change(planted)]).unwrap();
    let left = undo(&root, journal, &[]).unwrap();
    assert!(left[0].why.contains("damaged"), "{left:?}");
    assert_eq!(root.read("/etc/passwd").unwrap(), "0");
}

#[test]
fn threads_with_masks_of_their_own_are_left_alone() {
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
