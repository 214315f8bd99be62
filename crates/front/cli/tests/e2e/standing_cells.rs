//! `seatmap cell` around real cells on the highest CPU.

use crate::common::{Guarded, Place};
use crate::real_cells::{has_groups, highest, made, make, seatmap, stderr};
use serde_json::Value;
use std::process::Command;

#[test]
fn extreme_lease_and_memory_values_are_handled() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let cell = |arguments: &str| seatmap(&place, ("cell", arguments)).output().unwrap();
    let greedy = cell(&(make("one", &cpus) + " --memory 18446744073709551615"));
    assert_eq!(greedy.status.code(), Some(1));
    assert!(stderr(&greedy).contains("17592186044415 MiB requested"), "{}", stderr(&greedy));
    if made(&cell(&(make("one", &cpus) + " --ttl 18446744073709551615s"))) {
        assert!(cell("list").stdout.starts_with(b"one"));
        assert!(cell("destroy one").status.success() && !has_groups(&place));
    }
}

#[test]
fn run_reports_noise_in_its_cell() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let cell = |arguments: &str| seatmap(&place, ("cell", arguments)).output().unwrap();
    if !made(&cell(&make("one", &cpus))) {
        return;
    }
    let run = cell("run one --report report.json -- sleep 0.1");
    let quiet = cell("run -q one -- true");
    // The view must show the cell's CPUs, although this process may not use them.
    let view = seatmap(&place, "top --once --interval 100ms").output().unwrap();
    let view = String::from_utf8(view.stdout).unwrap();
    assert!(view.contains("cell 'one': CPU") && view.contains("[one]"), "{view}");
    assert!(cell("destroy one").status.success());
    let cpu = cpus.split('-').next().unwrap();
    let told = stderr(&run);
    assert!(run.status.success() && told.contains(&format!("noise on CPU {cpu}: ")), "{told}");
    assert!(told.contains("its threads were preempted "), "{told}");
    assert_eq!(stderr(&quiet), "");
    let report: Value =
        serde_json::from_slice(&std::fs::read(place.path("report.json")).unwrap()).unwrap();
    assert_eq!(report["noise"]["cpus"][0]["cpu"].to_string(), cpu);
    assert_eq!(report["threads"][0]["name"], "sleep");
}

#[test]
fn moved_process_regains_all_cpus_after_destroy() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let mut moved = Guarded(Command::new("sleep").arg("60").spawn().unwrap());
    let mask = || seatmap_os::CpuSet::of_thread(moved.id() as i32).unwrap();
    let before = mask();
    let is_made = made(&seatmap(&place, ("cell", make("first", &cpus))).output().unwrap());
    let entered =
        std::fs::write("/sys/fs/cgroup/cpuset/seatmap.first/tasks", moved.id().to_string());
    let inside = mask();
    let destroyed = seatmap(&place, "cell destroy first").output().unwrap();
    let after = mask();
    moved.kill().unwrap();
    moved.wait().unwrap();
    if is_made {
        entered.unwrap();
        assert!(destroyed.status.success(), "{}", stderr(&destroyed));
        assert_ne!(inside, before, "it was in the cell");
        assert_eq!(after, before);
    }
}

#[test]
fn restore_keeps_cells_of_other_state_folders() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    if !made(&seatmap(&place, ("cell", make("first", &cpus))).output().unwrap()) {
        return;
    }
    let elsewhere = |arguments: &str| {
        let output = seatmap(&place, arguments)
            .env("SEATMAP_RUN", place.path("elsewhere"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    };
    elsewhere("cell restore");
    let verified = seatmap(&place, "cell verify first").output().unwrap();
    let destroyed = seatmap(&place, "cell destroy first").output().unwrap();
    assert!(
        verified.status.success() && destroyed.status.success(),
        "{} {}",
        stderr(&verified),
        stderr(&destroyed)
    );
    assert!(!has_groups(&place));
}

#[test]
fn leftover_rest_group_ends_with_next_cell() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let left = std::path::Path::new("/sys/fs/cgroup/cpuset/seatmap+rest");
    if std::fs::create_dir(left).is_err() {
        return seatmap_needs::skipped!("somebody else's cell stands here");
    }
    let output = seatmap(&place, ("cell", make("first", &cpus))).output().unwrap();
    if !made(&output) {
        let _ = std::fs::remove_dir(left);
        return;
    }
    let destroyed = seatmap(&place, "cell destroy first").output().unwrap();
    assert!(destroyed.status.success() && !left.exists(), "{}", stderr(&destroyed));
}
