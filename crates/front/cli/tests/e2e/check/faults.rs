//! Faults injected into running programs.

use super::{
    Checked, bind, bind_all, check_pid, plan, threads, threads_with, tids, until, until_found,
    until_mended,
};
use crate::common::{Json, Place, assert_contains};
use crate::run::programs::{are_two, installed, list, on_two_cpus, two_cpus};
use std::process::{Command, Stdio};
use std::time::Duration;

struct Sleep(std::process::Child);

impl Sleep {
    fn with(variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new("sleep");
        let sleep = Sleep(command.arg("1000").envs(variables.iter().copied()).spawn().unwrap());
        // The environment can be read only after execve(2).
        let variables = format!("/proc/{}/environ", sleep.pid());
        let begun = std::time::Instant::now();
        while std::fs::read(&variables).unwrap().is_empty() {
            assert!(begun.elapsed().as_secs() < 60, "it never began");
            std::thread::yield_now();
        }
        sleep
    }

    fn pid(&self) -> i32 {
        self.0.id() as i32
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn program_moved_by_taskset_is_found() {
    let [a, b] = two_cpus();
    let Some(program) = threads(1, "sleep").filter(|_| are_two([a, b]) && installed("taskset"))
    else {
        return;
    };
    let place = Place::new();
    let pid = program.pid();
    plan(&place, &[a, b]);
    bind(tids(pid)[0], &[a]);
    bind(tids(pid)[1], &[b]);
    check_pid(&place, pid, "--expect plan.json").assert_healthy();
    let moved =
        Command::new("taskset").args(["-acp", &list(&[a, b]), &pid.to_string()]).output().unwrap();
    assert!(moved.status.success());
    let checked = check_pid(&place, pid, "--expect plan.json");
    let finding = checked.wrong("expect");
    assert_eq!(finding["tids"].elements().len(), 2, "{finding}");
    assert!(
        finding["what"].text().contains(&format!("the seat of task 0 is CPU {a}")),
        "{finding}"
    );
    let remedy = finding["remedy"].text();
    assert!(Command::new("sh").args(["-c", remedy]).output().unwrap().status.success(), "{remedy}");
    check_pid(&place, pid, "--expect plan.json").assert_healthy();
}

#[test]
fn thread_off_its_reported_seat_is_found() {
    let Some((program, [a, b])) = on_two_cpus(threads(2, "sleep")) else { return };
    let place = Place::new();
    let pid = program.pid();
    place.stdout([
        "run",
        "-q",
        "--cpus",
        &list(&[a, b]),
        "--pid",
        &pid.to_string(),
        "--report",
        "report.json",
    ]);
    // Another test's real-time program may hold the CPU for a moment.
    until(|| check_pid(&place, pid, "--expect report.json"), |checked| checked.code == Some(0))
        .assert_healthy();
    let last = tids(pid)[2];
    bind(last, &[b]);
    let checked = check_pid(&place, pid, "--expect report.json");
    let finding = checked.wrong("expect");
    assert_eq!(finding["tids"], serde_json::json!([last]));
    assert_eq!(finding["remedy"], format!("taskset -cp {a} {last}"));
    assert!(finding["what"].text().contains("'worker-1'"), "{finding}");
}

/// A remedy would move a program that never had a seat in the report.
#[test]
fn report_of_ended_program_is_refused() {
    let Some((program, [a, b])) = on_two_cpus(threads(1, "sleep")) else { return };
    let place = Place::new();
    place.stdout(["run", "-q", "--cpus", &list(&[a, b]), "--report", "report.json", "true"]);
    bind_all(program.pid(), &[b]);
    let pid = program.pid().to_string();
    for program in [String::new(), format!("-p {pid}")] {
        let line = place.one_line_refusal(("check --expect report.json", program));
        assert!(line.starts_with("seatmap: report.json: its program, true ("), "{line}");
        assert_contains(&line, "has ended");
    }
}

#[test]
fn supervisor_of_run_needs_no_seat() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) {
        return;
    }
    let place = Place::new();
    let seats = list(&[a, b]);
    let run = format!("run -q --detach --cpus {seats} --report report.json -- sleep 60");
    // The background program would keep a pipe open.
    let nowhere = std::process::Stdio::null;
    assert!(place.command(&run).stdout(nowhere()).stderr(nowhere()).status().unwrap().success());
    let report = place.read_json("report.json");
    let pid = report["pid"].as_i64().unwrap() as i32;
    let supervisor = seatmap_os::task::ThreadStat::of(pid).unwrap().parent;
    let line = place.one_line_refusal("check --expect report.json");
    let checked = check_pid(&place, supervisor, "--no-children");
    let killed = crate::common::kill().args(["-KILL", &pid.to_string()]).status().unwrap();
    assert!(killed.success() && line.contains(&format!("'seatmap check --pid {pid}'")), "{line}");
    checked.assert_healthy();
    assert_eq!(checked.document["seats"], serde_json::json!([]));
}

#[test]
fn earlier_check_serves_as_plan() {
    let Some((program, [a, b])) = on_two_cpus(threads(1, "sleep")) else { return };
    let place = Place::new();
    let pid = program.pid();
    bind_all(pid, &[a]);
    place.stdout([
        "check",
        "-q",
        "--pid",
        &pid.to_string(),
        "--rule",
        "same-core",
        "-o",
        "before.json",
    ]);
    check_pid(&place, pid, "--expect before.json").assert_healthy();
    bind(tids(pid)[1], &[b]);
    check_pid(&place, pid, "--expect before.json").wrong("expect");
}

#[test]
fn task_without_thread_is_found() {
    let [a, b] = two_cpus();
    let Some(program) = threads(1, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid();
    plan(&place, &[a, b, a]);
    bind(tids(pid)[0], &[a]);
    bind(tids(pid)[1], &[b]);
    let checked = check_pid(&place, pid, "--expect plan.json");
    assert_eq!(checked.wrong("expect")["what"], "task 2 has no thread: 1 of 3 seats is empty");
}

#[test]
fn busy_thread_without_seat_is_found() {
    let [a, b] = two_cpus();
    let Some(program) = threads(2, "spin") else { return };
    let place = Place::new();
    let pid = program.pid();
    plan(&place, &[a, b]);
    bind(tids(pid)[0], &[a]);
    bind(tids(pid)[1], &[b]);
    let is_found = |checked: &super::Checked| {
        checked.of_rule("expect").iter().any(|one| one["gravity"] == "wrong")
    };
    let checked = until(|| check_pid(&place, pid, "--expect plan.json"), is_found);
    let what = checked.wrong("expect")["what"].text();
    assert_contains(what, "'worker-1' has no seat in the file, but may run on the seats of others");
}

#[test]
fn binding_of_first_thread_only_is_found() {
    let Some((program, [a, _])) = on_two_cpus(threads(1, "spin")) else { return };
    let place = Place::new();
    let pid = program.pid();
    // This is the effect of `taskset -p` without -a.
    bind(pid, &[a]);
    // The finding is a remark until one of the threads has worked for a while.
    let is_wrong = |checked: &Checked| {
        checked.of_rule("late-binding").iter().any(|one| one["gravity"] == "wrong")
    };
    let checked = until(|| check_pid(&place, pid, ""), is_wrong);
    let finding = checked.wrong("late-binding");
    assert_eq!(finding["remedy"], format!("taskset -acp {a} {pid}"));
    assert_eq!(finding["tids"].elements().len(), 1);
}

#[test]
fn busy_threads_sharing_a_cpu_are_found() {
    let Some((program, [_, b])) = on_two_cpus(threads(2, "spin")) else { return };
    let place = Place::new();
    let pid = program.pid();
    bind_all(pid, &[b]);
    // Whether it is wrong or a remark depends on the load of the other CPU.
    let checked = until_found(&place, pid, "shared-cpu");
    let finding = checked.of_rule("shared-cpu")[0];
    assert_eq!(
        (&finding["cpus"], finding["tids"].elements().len()),
        (&b.to_string().into(), 2),
        "{finding}"
    );
    assert!(finding["measure"]["value"].number() > 110.0, "{finding}");
}

#[test]
fn programs_sharing_a_cpu_are_found() {
    let [a, b] = two_cpus();
    let programs = (threads(1, "spin"), threads(1, "spin"));
    let (Some(first), Some(second), true) = (programs.0, programs.1, are_two([a, b])) else {
        return;
    };
    bind_all(first.pid(), &[b]);
    bind_all(second.pid(), &[b]);
    let place = Place::new();
    let pids = [first.pid().to_string(), second.pid().to_string()];
    let checked = until(
        || super::check(&place, ["--pid", &pids[0], "--pid", &pids[1]]),
        |checked| checked.of_rule("overlap").iter().any(|one| one["gravity"] == "wrong"),
    );
    assert_eq!(checked.wrong("overlap")["cpus"], b.to_string());
    until(
        || check_pid(&place, first.pid(), ""),
        |checked| !checked.of_rule("strangers").is_empty(),
    )
    .wrong("strangers");
    until(
        || check_pid(&place, first.pid(), "--rule no-strangers"),
        |checked| !checked.findings().is_empty(),
    )
    .wrong("no-strangers");
}

#[test]
fn sleeping_threads_break_named_rule() {
    let Some((program, [a, b])) = on_two_cpus(threads(2, "sleep")) else { return };
    let place = Place::new();
    let pid = program.pid();
    let one_per_cpu = || check_pid(&place, pid, "--rule one-per-cpu");
    let what = one_per_cpu().wrong("one-per-cpu")["what"].text().to_owned();
    assert_contains(&what, "not bound to one CPU");
    bind_all(pid, &[a]);
    assert_eq!(one_per_cpu().wrong("one-per-cpu")["tids"].elements().len(), 3);
    check_pid(&place, pid, "").assert_healthy();
    check_pid(&place, pid, format!("--rule on=all/not:{b}/{a}")).assert_healthy();
    let elsewhere = format!("on={b}");
    let found = check_pid(&place, pid, format!("--rule {elsewhere}"));
    assert_contains(found.wrong(&elsewhere)["what"].text(), "may run elsewhere");
    place.refuses("check --rule on=kind:perf", "did you mean 'kind:performance'?");
    let tids = tids(pid);
    bind(tids[0], &[a, b]);
    bind(tids[1], &[b]);
    one_per_cpu().assert_healthy();
}

#[test]
fn runtime_ignoring_its_variable_is_found() {
    let [a, b] = two_cpus();
    let places = format!("{{{b}}}");
    let Some(program) =
        threads_with(2, "spin", &[("OMP_PLACES", &places)]).filter(|_| are_two([a, b]))
    else {
        return;
    };
    let place = Place::new();
    let pid = program.pid();
    let is_found = |checked: &super::Checked| {
        checked.of_rule("variables").iter().any(|one| one["gravity"] == "wrong")
    };
    let checked = until(|| check_pid(&place, pid, ""), is_found);
    let finding = checked.wrong("variables");
    assert!(finding["what"].text().starts_with("OMP_PLACES="), "{finding}");
    assert_eq!(finding["remedy"], format!("taskset -acp {b} {pid}"));
    bind_all(pid, &[b]);
    let crowded = until_found(&place, pid, "variables");
    let what = crowded.wrong("variables")["what"].text();
    assert_contains(what, "1 CPU for 2 busy threads");
}

#[test]
fn binding_missed_by_launcher_is_found() {
    let [a, b] = two_cpus();
    let list = format!("map_cpu:{b}");
    let program = Sleep::with(&[("SLURM_CPU_BIND", &list)]);
    if !are_two([a, b]) {
        return;
    }
    let place = Place::new();
    let checked = check_pid(&place, program.pid(), "");
    assert!(checked.wrong("variables")["what"].text().contains("SLURM_CPU_BIND=map_cpu"));
    bind_all(program.pid(), &[b]);
    check_pid(&place, program.pid(), "").assert_healthy();
}

#[test]
fn absent_cpu_in_variable_is_found() {
    let program = Sleep::with(&[("SLURM_CPU_BIND", "map_cpu:4000")]);
    let checked = check_pid(&Place::new(), program.pid(), "");
    assert!(checked.wrong("partial")["what"].text().contains("CPU 4000 cannot be used"));
}

#[test]
fn stopped_program_is_found_and_continued() {
    let Some(program) = threads(1, "spin") else { return };
    let place = Place::new();
    let pid = program.pid();
    program.send(libc::SIGSTOP);
    let checked = until_found(&place, pid, "stopped");
    checked.assert_healthy();
    let remedy = checked.of_rule("stopped")[0]["remedy"].text();
    assert_eq!(remedy, format!("kill -CONT {pid}"));
    assert!(std::process::Command::new("sh").args(["-c", remedy]).status().unwrap().success());
    until_mended(&place, pid, "stopped");
}

#[test]
fn unevenly_divided_threads_are_found() {
    let [a, b] = two_cpus();
    let topology = seatmap_machines::host::topology::of_host().unwrap();
    if !are_two([a, b]) || topology.count(|pu| pu.core) < 2 {
        return seatmap_needs::skipped!("one core divides nothing");
    }
    let Some(program) = threads(1, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid();
    bind_all(pid, &[a]);
    check_pid(&place, pid, "--rule spread=core").wrong("spread=core");
    check_pid(&place, pid, "--rule one-per-core").wrong("one-per-core");
    bind(tids(pid)[1], &[b]);
    check_pid(&place, pid, "--rule spread=core").assert_healthy();
    check_pid(&place, pid, "--rule same-core").wrong("same-core");
}

#[test]
fn real_time_stranger_is_named_with_policy() {
    let Some((program, [a, _])) = on_two_cpus(threads(1, "spin")) else { return };
    let place = Place::new();
    let pid = program.pid();
    bind_all(pid, &[a]);
    let a = a.to_string();
    let mut hog = Command::new("taskset");
    hog.args(["-c", &a, "chrt", "-f", "7", "sh", "-c", "while :; do :; done"]);
    let mut hog = Sleep(hog.stderr(Stdio::null()).spawn().unwrap());
    let tid = hog.pid();
    let is_found = |checked: &Checked| checked.findings().iter().any(|one| one["tids"][1] == tid);
    // Without permission for a real-time policy, the process exits at once.
    std::thread::sleep(Duration::from_millis(300));
    if hog.0.try_wait().unwrap().is_some() {
        return seatmap_needs::skipped!("no real-time policy here");
    }
    let checked = until(|| check_pid(&place, pid, ""), is_found);
    let top = ["top", "--pid", &pid.to_string(), "--interval", "0.5"];
    let shown = until_text(|| place.stdout((top, "--once")), "real-time");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let document = until_text(|| place.stdout((top, "--json")), "\"real-time\"");
    drop(hog);
    let found = checked.wrong("real-time");
    let what = found["what"].text();
    let taken = format!("thread {tid} 'sh' of another program takes with its policy fifo 7");
    assert_contains(what, &taken);
    assert!(found["remedy"].text().starts_with("taskset -cp "), "{found}");
    assert!(checked.of_rule("strangers").is_empty());
    assert!(shown.contains(&taken) && shown.contains('!'), "{shown}");
    assert_contains(&document, &taken);
}

/// Repeats `print` up to ten times until its text contains `text`. Returns the last one.
fn until_text(print: impl Fn() -> String, text: &str) -> String {
    let mut printed = print();
    for _ in 0..10 {
        if printed.contains(text) {
            break;
        }
        printed = print();
    }
    printed
}
