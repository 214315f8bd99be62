//! Programs with which nothing is wrong.

use super::{Checked, bind_all, check_pid, plan, threads, threads_with, tids};
use crate::auto::until;
use crate::common::{Place, stderr, stdout};
use crate::run::programs::{installed, on_two_cpus, two_cpus};
use crate::run::running::Running;
use std::process::{Child, Command, Stdio};

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn checked(mut command: Command) -> Checked {
    let program = Ended(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
    check_pid(&Place::new(), program.0.id() as i32, "")
}

#[test]
fn unbound_programs_are_healthy() {
    let mut sleep = Command::new("sleep");
    sleep.arg("1000");
    checked(sleep).assert_healthy();
    if let Some(spinning) = threads(3, "spin") {
        check_pid(&Place::new(), spinning.pid(), "").assert_healthy();
    }
    if installed("python3") {
        let mut python = Command::new("python3");
        let threads = "import threading, time\nfor _ in range(4): threading.Thread(target=time.sleep, args=(1000,)).start()";
        python.args(["-c", threads]);
        checked(python).assert_healthy();
    }
    if installed("node") {
        let mut node = Command::new("node");
        node.args(["-e", "setInterval(() => {}, 1000)"]);
        checked(node).assert_healthy();
    }
}

#[test]
fn sleeping_bound_programs_are_healthy() {
    let [a, b] = two_cpus();
    let Some(program) = threads(4, "sleep") else { return };
    for cpus in [&[a][..], &[b], &[a, b]] {
        bind_all(program.pid(), cpus);
        check_pid(&Place::new(), program.pid(), "").assert_healthy();
    }
}

#[test]
fn program_under_seatmap_run_is_healthy() {
    let Some((program, [a, b])) = on_two_cpus(crate::run::programs::c()) else { return };
    let place = Place::new();
    plan(&place, &[b, a, b]);
    let mut command =
        place.command(["run", "-q", "--strict", "--plan", "plan.json", "--", program, "stay"]);
    command.stdin(Stdio::piped());
    let running = Running::of(command);
    let checked = check_pid(&place, running.program(), "--expect plan.json");
    checked.assert_healthy();
    assert_eq!(
        (checked.findings().len(), checked.tids().len()),
        (0, 3),
        "{:?}",
        checked.findings()
    );
    plan(&place, &[a, b, a]);
    check_pid(&place, running.program(), "--expect plan.json").wrong("expect");
}

#[test]
fn runtime_following_its_variable_is_healthy() {
    let [a, b] = two_cpus();
    let places = format!("{{{a}}},{{{b}}}");
    let Some(program) =
        threads_with(2, "sleep", &[("OMP_PLACES", &places), ("OMP_NUM_THREADS", "2")])
    else {
        return;
    };
    for (tid, cpu) in tids(program.pid()).into_iter().zip([a, a, b]) {
        super::bind(tid, &[cpu]);
    }
    check_pid(&Place::new(), program.pid(), "").assert_healthy();
}

/// A program may inherit such variables from the shell of a job.
#[test]
fn variables_of_absent_runtime_are_ignored() {
    let mut sleep = Command::new("sleep");
    sleep
        .arg("1000")
        .env("OMP_PLACES", "{0}")
        .env("GOMP_CPU_AFFINITY", "0")
        .env("OMP_NUM_THREADS", "64");
    checked(sleep).assert_healthy();
}

#[test]
fn healthy_program_prints_one_line() {
    let b = two_cpus()[1];
    let Some(program) = threads(1, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid().to_string();
    bind_all(program.pid(), &[b]);
    // Other tests' programs may make the thread wait.
    until("a line that says so", || {
        let looked = place.run(format!("check --pid {pid} --seconds 100ms"));
        let text = stdout(&looked);
        let line = text.lines().next().unwrap();
        assert!(line.contains(&format!("({pid}): 2 threads on CPU {b}: ")), "{text}");
        looked.status.success() && line.contains("nothing is wrong")
    });
    until("a quiet look", || {
        let quiet = place.run(format!("check --quiet --pid {pid} --seconds 100ms"));
        (quiet.status.code(), quiet.stdout.len(), quiet.stderr.len()) == (Some(0), 0, 0)
    });
    let options = "--rule one-per-cpu --quiet --seconds 100ms";
    let wrong = place.run((&["check", "--pid", &pid], options));
    let text = stdout(&wrong);
    assert!(
        wrong.status.code() == Some(1) && text.contains("\nWRONG   one-per-cpu  thread "),
        "{text}"
    );
    assert_eq!(stderr(&wrong), "seatmap: 1 thing is wrong\n");
}
