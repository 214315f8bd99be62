//! Programs under way: those that tests talk to, and those that are seated while they run.

use super::programs::{self, are_two, installed, list, mask_of, two_cpus};
use crate::common::Place;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// A process that prints lines; killed when it is dropped.
pub struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    /// Runs a program under these options, until it is ready.
    pub fn start(place: &Place, options: &[&str], program: &[&str]) -> Self {
        Running::of(place.command(&[&["run", "--quiet"], options, &["--"], program].concat()))
    }

    /// Runs a command until it says that it is ready.
    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut running = Running { child, lines };
        while running.line() != "ready" {}
        running
    }

    /// The next line that the program prints.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended");
        line.trim_end().to_owned()
    }

    pub fn pid(&self) -> libc::pid_t {
        self.child.id() as libc::pid_t
    }

    /// The process behind the launcher, which traces the program.
    pub fn supervisor(&self) -> libc::pid_t {
        only_child(self.pid())
    }

    /// The program that the launcher runs.
    pub fn program(&self) -> libc::pid_t {
        only_child(self.supervisor())
    }

    /// Sends a signal to the launcher.
    pub fn send(&self, signal: i32) {
        // SAFETY: the child has not been waited for, so its number is still its own.
        assert_eq!(unsafe { libc::kill(self.pid(), signal) }, 0);
    }

    /// Closes the program's stdin.
    pub fn close(&mut self) {
        drop(self.child.stdin.take());
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

fn only_child(pid: libc::pid_t) -> libc::pid_t {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.trim().parse().unwrap()
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The C program with its main thread, `left` and `right`, which wait for the end of stdin.
fn stayer() -> Option<Running> {
    let mut command = Command::new(programs::c()?);
    command.arg("stay").stdin(Stdio::piped());
    Some(Running::of(command))
}

/// The masks of its threads, in order of their numbers.
fn masks(running: &Running) -> Vec<String> {
    let folder = format!("/proc/{}/task", running.pid());
    let mut tids: Vec<u32> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap())
        .collect();
    tids.sort_unstable();
    tids.iter().map(|tid| mask_of(&format!("{folder}/{tid}"))).collect()
}

#[test]
fn threads_that_run_are_seated_in_order() {
    let [a, b] = two_cpus();
    let Some(mut running) = stayer() else { return };
    let place = Place::new();
    let pid = running.pid().to_string();
    let before = masks(&running);
    let seat = ["run", "--cpus", &list(&[b, a]), "--pid", &pid, "--report", "seating.json"];
    let seated = place.run(&seat);
    assert!(seated.status.success(), "{seated:?}");
    assert_eq!(
        masks(&running),
        [b.to_string(), a.to_string(), b.to_string()],
        "the list starts again"
    );
    if installed("taskset") {
        let said = String::from_utf8(seated.stderr).unwrap();
        let undo = said.lines().find_map(|line| line.strip_prefix("seatmap: to undo this: "));
        let undone = Command::new("sh").args(["-c", undo.unwrap()]).output().unwrap();
        assert!(undone.status.success() && masks(&running) == before, "{undone:?}");
    }
    let report: Value = serde_json::from_str(&place.read("seating.json")).unwrap();
    let names: Vec<_> =
        report["threads"].as_array().unwrap().iter().map(|thread| &thread["name"]).collect();
    assert_eq!(names, ["threads-c-dynam", "left", "right"]);
    drop(running.child.stdin.take());
    assert_eq!(running.wait().code(), Some(0), "it was only seated");
}

#[test]
fn threads_that_run_and_have_no_seat_fail_the_seating() {
    let cpu = two_cpus()[0].to_string();
    let Some(running) = stayer() else { return };
    let place = Place::new();
    let pid = running.pid().to_string();
    let seat = |more: &[&str]| {
        place.command(&[&["run", "--once", "--cpus", &cpu, "--pid", &pid], more].concat()).output()
    };
    let refused = seat(&["--quiet"]).unwrap();
    let line = "seatmap: 2 of 3 threads have no seat; --allow-unseated accepts that\n";
    assert_eq!(
        (refused.status.code(), String::from_utf8_lossy(&refused.stderr).as_ref()),
        (Some(1), line)
    );
    assert!(seat(&["--allow-unseated"]).unwrap().status.success());
}

#[test]
fn processes_that_the_computer_depends_on_need_force() {
    let cpu = two_cpus()[0].to_string();
    let refusal = |pid: &str| Place::new().one_line_refusal(&["run", "--cpus", &cpu, "--pid", pid]);
    assert_eq!(
        refusal("1"),
        "seatmap: process 1 is the one on which all others depend; --force seats it all the same"
    );
    // kthreadd is process 2, except in a namespace of its own.
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
        assert_eq!(
            refusal("2"),
            "seatmap: process 2 is a thread of the kernel; --force seats it all the same"
        );
    }
}

#[test]
fn threads_that_run_are_seated_by_name_and_number() {
    let [a, b] = two_cpus();
    let Some(running) = stayer().filter(|_| are_two([a, b])) else { return };
    let place = Place::new();
    let pid = running.pid().to_string();
    let seat = |rules: &[&str]| {
        let rules: Vec<&str> = rules.iter().flat_map(|rule| ["--match", rule]).collect();
        place.stdout(
            &[&["run", "--allow-unseated", "--cpus", &list(&[b, a]), "--pid", &pid][..], &rules]
                .concat(),
        );
        masks(&running)
    };
    let [first, second, whole] = [b.to_string(), a.to_string(), programs::own_mask()];
    assert_eq!(seat(&["right=0", "l*=1"]), [whole, second.clone(), first.clone()]);
    let main = format!("tid:{pid}=1");
    assert_eq!(seat(&[&main, "left=0"]), [second.clone(), first.clone(), first.clone()]);
    let all = format!("pid:{pid}=0-1");
    assert_eq!(seat(&[&all]), [first.clone(), second, first]);
}

#[test]
fn a_process_that_is_not_there_is_refused() {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let cpu = two_cpus()[0].to_string();
    let gone = child.id().to_string();
    let refusal = Place::new().one_line_refusal(&["run", "--cpus", &cpu, "--pid", &gone]);
    assert_eq!(refusal, format!("seatmap: there is no process {gone}"));
}
