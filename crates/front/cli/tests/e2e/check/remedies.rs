//! Executes the remedies that `check` prints. Afterwards the same check must find nothing.

use super::groups::mended;
use super::{
    Checked, bind, bind_all, check_pid, is_root, plan, threads, threads_with, tids, until,
    until_found, until_mended,
};
use crate::common::{Json, Place, assert_contains};
use crate::control_group::Group;
use crate::run::programs::{are_two, on_two_cpus, two_cpus};
use seatmap_os::CpuSet;
use seatmap_watch::SeatingRemedyKind;
use std::path::Path;
use std::process::{Command, Stdio};

const ALL: [SeatingRemedyKind; 14] = [
    SeatingRemedyKind::Bind,
    SeatingRemedyKind::Seat,
    SeatingRemedyKind::MoveMemory,
    SeatingRemedyKind::RaiseQuotaV1,
    SeatingRemedyKind::RaiseQuotaV2,
    SeatingRemedyKind::RaiseQuotaOfUnit,
    SeatingRemedyKind::ReleaseGroup,
    SeatingRemedyKind::WidenGroup,
    SeatingRemedyKind::WidenUnit,
    SeatingRemedyKind::Continue,
    SeatingRemedyKind::OrdinaryPolicy,
    SeatingRemedyKind::MoveInterrupt,
    SeatingRemedyKind::LiftThrottling,
    SeatingRemedyKind::BringOnline,
];

/// The test that executes a kind of remedy, or `scripts/lab/remedies`, which has systemd and two
/// NUMA nodes.
fn executed_by(kind: SeatingRemedyKind) -> &'static str {
    match kind {
        SeatingRemedyKind::Bind => "bind_remedy_pins_thread",
        SeatingRemedyKind::Seat => "seat_remedy_seats_threads",
        SeatingRemedyKind::RaiseQuotaV1 => "throttling_quota_is_found_and_raised",
        SeatingRemedyKind::ReleaseGroup => "idle_group_is_found_and_released",
        SeatingRemedyKind::WidenGroup => "widen_remedy_adds_cpus_to_group",
        SeatingRemedyKind::Continue => "stopped_program_is_found_and_continued",
        SeatingRemedyKind::OrdinaryPolicy => "remedy_clears_real_time_policy",
        SeatingRemedyKind::MoveInterrupt => "remedy_moves_interrupts",
        SeatingRemedyKind::BringOnline => "remedy_brings_cpus_online",
        SeatingRemedyKind::RaiseQuotaV2 => "quota_remedy_raises_the_quota",
        SeatingRemedyKind::LiftThrottling => "tightest_real_time_limit_is_found_unless_lifted",
        SeatingRemedyKind::MoveMemory => "memory is moved to where the program runs",
        SeatingRemedyKind::RaiseQuotaOfUnit => "the quota of a unit is raised",
        SeatingRemedyKind::WidenUnit => "a unit is given more CPUs",
    }
}

/// A new kind must be listed above to compile, and needs a test.
#[test]
fn every_kind_of_remedy_is_executed() {
    let tests = [
        include_str!("remedies.rs"),
        include_str!("groups.rs"),
        include_str!("faults.rs"),
        include_str!("../../../../../measure/health/src/doctor/measuring.rs"),
        include_str!("../../../../../run/watch/src/remedy.rs"),
        include_str!("../../../../../ground/os/src/hierarchy/tests.rs"),
        include_str!("../../../../../../scripts/lab/guest/remedies"),
    ];
    for kind in ALL {
        let name = executed_by(kind);
        let lines = [format!("fn {name}()"), format!("must '{name}' mended")];
        assert!(tests.iter().any(|text| lines.iter().any(|line| text.contains(line))), "{kind:?}");
    }
}

#[test]
fn bind_remedy_pins_thread() {
    let Some((program, [a, _])) = on_two_cpus(threads(1, "sleep")) else { return };
    let place = Place::new();
    let pid = program.pid();
    bind_all(pid, &[a]);
    let checked = check_pid(&place, pid, "--rule one-per-cpu");
    assert_eq!(mended(&checked, "one-per-cpu"), "bind");
    check_pid(&place, pid, "--rule one-per-cpu").assert_healthy();
}

/// A plan whose word named another CPU when it was made.
#[test]
fn bind_remedy_follows_moved_words() {
    let Some((program, [a, b])) = on_two_cpus(threads(1, "sleep")) else { return };
    let place = Place::new();
    let pid = program.pid();
    bind_all(pid, &[b]);
    let words = format!("cpus:{a}/first:1");
    let seats = serde_json::json!({
        "format": "seatmap-plan/1", "machine": "host", "placement": [b, b],
        "words": words, "within": b.to_string(),
    });
    place.file("plan.json", seats.to_string());
    let checked = check_pid(&place, pid, "--expect plan.json");
    let moved =
        format!("'{words}' named CPU {b} when the seats were chosen, and names CPU {a} now");
    assert_contains(checked.of_rule("words")[0]["what"].text(), &moved);
    assert_eq!(mended(&checked, "expect"), "bind");
    check_pid(&place, pid, "--expect plan.json").assert_healthy();
}

#[test]
fn seat_remedy_seats_threads() {
    let Some(program) = threads(1, "sleep").filter(|_| are_two(two_cpus())) else { return };
    let place = Place::new();
    let pid = program.pid();
    let checked = check_pid(&place, pid, "--rule one-per-cpu");
    let found = checked.wrong("one-per-cpu");
    assert_eq!(found["remedy_kind"], "seat", "{found}");
    let binary = Path::new(env!("CARGO_BIN_EXE_seatmap")).parent().unwrap().display().to_string();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap_or_default());
    // It seats the threads for as long as the program lives.
    let mut seating = Command::new("sh")
        .args(["-c", &format!("exec {}", found["remedy"].text())])
        .env("PATH", path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(|| check_pid(&place, pid, "--rule one-per-cpu"), |checked| checked.code == Some(0));
    drop(program);
    seating.wait().unwrap();
}

#[test]
fn widen_remedy_adds_cpus_to_group() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) || !is_root() {
        return;
    }
    let Some(group) = Group::of_cpu(a) else {
        return seatmap_needs::skipped!("no cpuset can be made here");
    };
    let places = format!("{{{a}}},{{{b}}}");
    let Some(program) = threads_with(1, "sleep", &[("OMP_PLACES", &places)]) else { return };
    let place = Place::new();
    let pid = program.pid();
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    let checked = until_found(&place, pid, "partial");
    assert_eq!(mended(&checked, "partial"), "widen-group");
    until_mended(&place, pid, "partial");
    drop(program);
}

/// `taskset` alone cannot seat a thread whose own group has fewer CPUs.
#[test]
fn widen_remedy_adds_cpus_to_thread_group() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) || !is_root() {
        return;
    }
    let group = Group::of_cpu(a).filter(Group::takes_threads);
    let Some(group) = group else {
        return seatmap_needs::skipped!("no cpuset of version 1 can be made here");
    };
    let Some(program) = threads(1, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid();
    let mut tids = seatmap_os::task::threads(pid).unwrap();
    tids.sort_unstable();
    plan(&place, &[a, b]);
    bind_all(pid, &[a]);
    group.set("tasks", &tids[1].to_string()).unwrap();
    let is_found = |checked: &Checked| !checked.of_rule("partial").is_empty();
    let checked = until(|| check_pid(&place, pid, "--expect plan.json"), is_found);
    let what = checked.wrong("partial")["what"].text();
    assert_contains(what, group.name());
    assert_eq!(mended(&checked, "partial"), "widen-group");
    let healthy =
        until(|| check_pid(&place, pid, "--expect plan.json"), |checked| !is_found(checked));
    assert!(healthy.of_rule("expect").is_empty(), "{:?}", healthy.document["findings"]);
    drop(program);
}

/// The remedies of one check must not send two threads to one CPU.
#[test]
fn all_remedies_execute_together_and_undo() {
    let cpus = seatmap_os::affinity::current().unwrap();
    let pairs = cpus.len() / 2;
    let Some(program) = threads(2 * pairs - 1, "sleep").filter(|_| are_two(two_cpus())) else {
        return;
    };
    let place = Place::new();
    let pid = program.pid();
    let masks = || -> Vec<CpuSet> {
        tids(pid).into_iter().map(|tid| CpuSet::of_thread(tid).unwrap()).collect()
    };
    tids(pid)
        .into_iter()
        .zip(cpus[..pairs].iter().cycle())
        .for_each(|(tid, cpu)| bind(tid, &[*cpu]));
    let before = masks();
    let checked = check_pid(&place, pid, "--rule one-per-cpu");
    let remedies: Vec<&str> =
        checked.findings().iter().map(|finding| finding["remedy"].text()).collect();
    assert_eq!(remedies.len(), pairs, "{:?}", checked.findings());
    let root = seatmap_os::Root::new("/");
    let undos: Vec<String> = remedies
        .iter()
        .map(|remedy| seatmap_watch::remedy::undo_of(&root, remedy).unwrap())
        .collect();
    let run = |command: &str| {
        let output = Command::new("sh").args(["-c", command]).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    };
    remedies.iter().for_each(|remedy| run(remedy));
    check_pid(&place, pid, "--rule one-per-cpu").assert_healthy();
    undos.iter().rev().for_each(|undo| run(undo));
    assert_eq!(masks(), before);
}

/// Two seats, each with a stranger, and no other CPU in this test's mask.
#[test]
fn remedies_move_no_stranger_between_seats() {
    let [a, b] = two_cpus();
    let programs = (threads(1, "spin"), threads(1, "spin"), threads(1, "spin"), threads(1, "spin"));
    let (Some(one), Some(two), Some(first), Some(second)) = programs else { return };
    if !are_two([a, b]) {
        return;
    }
    [(&one, a), (&two, b)].into_iter().for_each(|(program, cpu)| bind_all(program.pid(), &[cpu]));
    [&first, &second].into_iter().for_each(|stranger| bind_all(stranger.pid(), &[a, b]));
    let place = Place::new();
    let pids = [one.pid().to_string(), two.pid().to_string()];
    let checked = until(
        || super::check(&place, ["--pid", &pids[0], "--pid", &pids[1]]),
        |checked| !checked.of_rule("strangers").is_empty(),
    );
    for finding in checked.of_rule("strangers") {
        let commands = finding["remedy"].as_str().unwrap_or_default();
        for command in commands.split("; ").filter(|command| command.starts_with("taskset")) {
            let to = CpuSet::of_list(command.split(' ').nth(2).unwrap()).unwrap();
            assert!(!to.contains(a) && !to.contains(b), "{finding}");
        }
    }
}
