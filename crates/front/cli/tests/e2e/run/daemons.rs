//! Programs whose first process ends before the others: all threads keep their seats, and none
//! inherits a single CPU afterwards.

use super::programs::{self, are_two, list, mask_of, on, own_mask, two_cpus};
use super::{run, run_as_usual};
use crate::common::Place;
use std::time::{Duration, Instant};

/// A background process with short-lived children.
const DAEMON: &str = "(while sleep 0.2; do :; done) >/dev/null 2>&1 & echo $!";

const PATIENCE: Duration = Duration::from_secs(60);

struct Ended(libc::pid_t);

impl Drop for Ended {
    fn drop(&mut self) {
        // SAFETY: the test started this process, and nothing else ends it.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn lives(pid: libc::pid_t) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// The supervisor's process id, from the launcher's last line.
fn supervisor(stderr: &str) -> libc::pid_t {
    let told = stderr.split("; process ").nth(1).and_then(|rest| rest.split(' ').next());
    told.and_then(|pid| pid.parse().ok()).unwrap()
}

#[test]
fn daemon_is_seated_until_it_exits() {
    let [a, b] = two_cpus();
    let place = Place::new();
    let told = run(&place, on(&[a, b]), ["sh", "-c", DAEMON]);
    let daemon: libc::pid_t = told.lines()[0].parse().unwrap();
    let ended = Ended(daemon);
    let supervisor = supervisor(told.stderr());
    assert!(told.stderr().contains("still run"), "{}", told.stderr());
    assert_eq!(told.report["behind"]["supervisor"], supervisor);
    assert_eq!(mask_of(&format!("/proc/{daemon}")), b.to_string());
    for cpu in [a, b] {
        wait_until("a child on each seat", || child_mask(daemon) == Some(cpu.to_string()));
    }
    drop(ended);
    wait_until("the supervisor's end", || !lives(supervisor));
    let report = place.read_json("seating.json");
    assert!(report["behind"].is_null() && report["created"].as_u64() > Some(3), "{report}");
}

fn child_mask(pid: libc::pid_t) -> Option<String> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    let child = children.split_whitespace().next()?.to_owned();
    let status = std::fs::read_to_string(format!("/proc/{child}/status")).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned())
}

#[test]
fn masks_are_restored_when_seating_ends() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) {
        return;
    }
    let told =
        run(&Place::new(), on(&[a, b]), ["sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"]);
    let daemon: libc::pid_t = told.lines()[0].parse().unwrap();
    let _ended = Ended(daemon);
    assert_eq!(mask_of(&format!("/proc/{daemon}")), b.to_string());
    let supervisor = supervisor(told.stderr());
    // SAFETY: the supervisor lives as long as the daemon.
    unsafe { libc::kill(supervisor, libc::SIGTERM) };
    wait_until("the supervisor's end", || !lives(supervisor));
    assert_eq!(mask_of(&format!("/proc/{daemon}")), own_mask(), "as it would have been without");
}

#[test]
fn detach_never_waits_for_all_processes() {
    let [a, b] = two_cpus();
    let script = "(sleep 0.3; echo late) & exit 3";
    let told = run_as_usual(
        &Place::new(),
        ["--cpus", &list(&[a, b]), "--detach=never"],
        ["sh", "-c", script],
        &[],
    );
    assert_eq!((told.lines(), told.output.status.code()), (vec!["late"], Some(3)));
    assert!(told.report["behind"].is_null(), "{}", told.report);
}

#[test]
fn detach_waits_for_no_process() {
    let [a, b] = two_cpus();
    let place = Place::new();
    let script =
        "while [ ! -e stop ]; do sleep 0.05; done; grep Cpus_allowed_list /proc/$$/status >ended";
    let mut command = place.command([
        "run",
        "--strict",
        "--cpus",
        &list(&[b, a]),
        "--detach",
        "--",
        "sh",
        "-c",
        script,
    ]);
    // The program would keep a pipe open.
    let status = command.stderr(std::fs::File::create(place.path("told")).unwrap()).status();
    let told = place.read("told");
    assert!(status.unwrap().success(), "{told}");
    let supervisor = supervisor(&told);
    assert!(told.starts_with("seatmap: /") && lives(supervisor), "{told}");
    place.file("stop", "");
    wait_until("the program's end", || !lives(supervisor));
    assert_eq!(place.read("ended").trim(), format!("Cpus_allowed_list:\t{b}"));
}

#[test]
fn background_memcached_uses_all_its_seats() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) || !programs::installed("memcached") {
        return;
    }
    let place = Place::new();
    let pid_file = place.path("pid");
    let socket = place.path("socket");
    let pid_file = pid_file.to_str().unwrap();
    let socket = socket.to_str().unwrap();
    let command = ["memcached", "-u", "root", "-d", "-P", pid_file, "-s", socket, "-t", "2"];
    // On a busy computer, waiting threads might otherwise leave a shared seat.
    let told = run(&place, on(&[a, b]), command);
    assert!(told.output.status.success(), "{}", told.stderr());
    wait_until("its number", || {
        std::fs::read_to_string(pid_file).is_ok_and(|text| text.ends_with('\n'))
    });
    let daemon: libc::pid_t = place.read("pid").trim().parse().unwrap();
    let _ended = Ended(daemon);
    let masks = || -> Vec<String> {
        let threads = std::fs::read_dir(format!("/proc/{daemon}/task")).unwrap();
        threads.map(|thread| mask_of(thread.unwrap().path().to_str().unwrap())).collect()
    };
    let seats = [a.to_string(), b.to_string()];
    wait_until("a seat for each thread", || {
        masks().len() > 4 && masks().iter().all(|mask| seats.contains(mask))
    });
    let on_first = masks().iter().filter(|mask| **mask == seats[0]).count();
    let threads = masks().len();
    assert!(
        on_first * 2 >= threads - 1 && on_first * 2 <= threads + 1,
        "{on_first} of {threads} on CPU {a}"
    );
}
