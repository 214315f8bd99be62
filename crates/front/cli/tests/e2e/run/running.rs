//! Programs that tests communicate with, and programs seated while they run.

use super::programs::{self, are_two, installed, list, mask_of, on_two_cpus, two_cpus};
use crate::common::{Arguments, Json, Place, assert_contains, stderr};
use crate::control_group::Group;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

pub struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    pub fn start(place: &Place, options: impl Arguments, program: impl Arguments) -> Self {
        Running::of(place.command((("run --quiet", options), "--", program)))
    }

    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut running = Running { child, lines };
        while running.line() != "ready" {}
        running
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended");
        line.trim_end().to_owned()
    }

    pub fn pid(&self) -> libc::pid_t {
        self.child.id() as libc::pid_t
    }

    /// The launcher's child, which traces the program.
    pub fn supervisor(&self) -> libc::pid_t {
        only_child(self.pid())
    }

    pub fn program(&self) -> libc::pid_t {
        only_child(self.supervisor())
    }

    pub fn send(&self, signal: i32) {
        // SAFETY: the child has not been waited for.
        assert_eq!(unsafe { libc::kill(self.pid(), signal) }, 0);
    }

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

/// A program whose main thread, `left` and `right` wait for the end of stdin.
fn stayer() -> Option<Running> {
    let mut command = Command::new(programs::c()?);
    command.arg("stay").stdin(Stdio::piped());
    Some(Running::of(command))
}

/// The masks of a program's threads, in the order of their ids.
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
fn running_threads_are_seated_in_order() {
    let [a, b] = two_cpus();
    let Some(mut running) = stayer() else { return };
    let place = Place::new();
    let pid = running.pid().to_string();
    let before = masks(&running);
    let seat = ["run", "--cpus", &list(&[b, a]), "--pid", &pid, "--report", "seating.json"];
    let seated = place.run(seat);
    assert!(seated.status.success(), "{seated:?}");
    assert_eq!(
        masks(&running),
        [b.to_string(), a.to_string(), b.to_string()],
        "the list starts again"
    );
    if installed("taskset") {
        let said = stderr(&seated);
        let undo = said.lines().find_map(|line| line.strip_prefix("seatmap: to undo this: "));
        let undone = Command::new("sh").args(["-c", undo.unwrap()]).output().unwrap();
        assert!(undone.status.success() && masks(&running) == before, "{undone:?}");
    }
    let report = place.read_json("seating.json");
    let names: Vec<_> = report["threads"].elements().iter().map(|thread| &thread["name"]).collect();
    assert_eq!(names, ["threads-c-dynam", "left", "right"]);
    drop(running.child.stdin.take());
    assert_eq!(running.wait().code(), Some(0), "it was only seated");
}

#[test]
fn running_threads_without_seat_fail_seating() {
    let cpu = two_cpus()[0].to_string();
    let Some(running) = stayer() else { return };
    let place = Place::new();
    let pid = running.pid().to_string();
    let seat = |more: &str| {
        place.command((&["run", "--once", "--cpus", &cpu, "--pid", &pid], more)).output()
    };
    let refused = seat("--quiet").unwrap();
    let line = "seatmap: 2 of 3 threads have no seat; --allow-unseated accepts that\n";
    // A warning about another test's program on this CPU may come first.
    let said = stderr(&refused);
    assert!(refused.status.code() == Some(1) && said.ends_with(line), "{said}");
    assert!(seat("--allow-unseated").unwrap().status.success());
}

#[test]
fn system_processes_need_force() {
    let cpu = two_cpus()[0].to_string();
    let refusal =
        |pid: &str| Place::new().one_line_refusal(format!("run --cpus {cpu} --pid {pid}"));
    assert_eq!(refusal("1"), "seatmap: process 1 is the init process; --force seats it anyway");
    // kthreadd is process 2, except in another pid namespace.
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
        assert_eq!(refusal("2"), "seatmap: process 2 is a kernel thread; --force seats it anyway");
    }
}

#[test]
fn running_threads_are_seated_by_name_and_number() {
    let Some((running, [a, b])) = on_two_cpus(stayer()) else { return };
    let place = Place::new();
    let pid = running.pid().to_string();
    let seat = |rules: &str| {
        let cpus = list(&[b, a]);
        place.stdout((format!("run --allow-unseated --cpus {cpus} --pid {pid}"), rules));
        masks(&running)
    };
    let [first, second, whole] = [b.to_string(), a.to_string(), programs::own_mask()];
    assert_eq!(seat("--match right=0 --match l*=1"), [whole, second.clone(), first.clone()]);
    let main = format!("--match tid:{pid}=1 --match left=0");
    assert_eq!(seat(&main), [second.clone(), first.clone(), first.clone()]);
    let all = format!("--match pid:{pid}=0-1");
    assert_eq!(seat(&all), [first.clone(), second, first]);
}

#[test]
fn stopped_process_gets_masks_without_verification() {
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id().to_string();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // SAFETY: the child has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGSTOP) }, 0);
    while !state().contains(") T ") {
        std::thread::yield_now();
    }
    let cpu = two_cpus()[0].to_string();
    let output = Place::new().command(format!("run --cpus {cpu} --pid {pid}")).output().unwrap();
    child.kill().and_then(|()| child.wait()).unwrap();
    let told = stderr(&output);
    let why = format!(
        "it was given CPU {cpu} and has not run since: it is stopped; 'kill -CONT {pid}' resumes it"
    );
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains(&why) && !told.contains("yes"), "{told}");
    assert_contains(&told, "1 of 1 thread could not be pinned and verified");
}

/// The kernel accepts masks for frozen threads, whose state letters look normal.
#[test]
fn frozen_process_gets_masks_without_verification() {
    let freezers = [
        ("/sys/fs/cgroup/freezer", "freezer.state", ["FROZEN", "THAWED"]),
        ("/sys/fs/cgroup/unified", "cgroup.freeze", ["1", "0"]),
        ("/sys/fs/cgroup", "cgroup.freeze", ["1", "0"]),
    ];
    let mut count = 0;
    for (mount, file, [freeze, thaw]) in freezers {
        let group = std::path::Path::new(mount).join(format!("seatmap-run-{}", std::process::id()));
        if std::fs::create_dir(&group).is_err() {
            continue;
        }
        let group = Group(group);
        if !group.0.join(file).exists() {
            continue;
        }
        count += 1;
        assert_frozen_is_told(&group, file, freeze, thaw);
    }
    if count == 0 {
        seatmap_needs::skipped!("no freezer takes a group here");
    }
}

fn assert_frozen_is_told(group: &Group, file: &str, freeze: &str, thaw: &str) {
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id().to_string();
    group.set("cgroup.procs", &pid).unwrap();
    group.set(file, freeze).unwrap();
    let cpu = two_cpus()[0].to_string();
    let run = ["run", "--cpus", &cpu, "--pid", &pid];
    let place = Place::new();
    let output = place.command(run).output().unwrap();
    let told = stderr(&output);
    let remedy = told.split('\'').find(|words| words.starts_with("echo ")).unwrap_or("false");
    let is_mended = Command::new("sh").args(["-c", remedy]).status().unwrap().success();
    let again = place.command(run).output().unwrap();
    // A frozen program cannot be ended, so thaw it first.
    group.set(file, thaw).unwrap();
    child.kill().and_then(|()| child.wait()).unwrap();
    let why = format!("it was given CPU {cpu} and has not run since: its control group ");
    assert!(told.contains(&why) && told.contains(&format!("({file})")), "{told}");
    assert!(!told.contains("yes") && output.status.code() == Some(1), "{told}");
    assert_contains(&told, "1 of 1 thread could not be pinned and verified");
    assert!(is_mended && again.status.success(), "{told}, {again:?}");
}

#[test]
fn thread_number_is_refused_as_process() {
    // SAFETY: the call cannot fail and touches nothing.
    let tid = unsafe { libc::gettid() }.to_string();
    let pid = std::process::id().to_string();
    let cpu = two_cpus()[0].to_string();
    let refusal = Place::new().one_line_refusal(format!("run --cpus {cpu} --pid {tid}"));
    let sentence = format!(
        "seatmap: {tid} is a thread of process {pid}: '--pid {pid}' seats the whole process, and \
         '--pid {pid} --match tid:{tid}=CPUS' this thread alone"
    );
    assert_eq!(refusal, sentence);
}

#[test]
fn children_without_seats_are_named() {
    let running = Running::of({
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 600 & echo ready; read line; kill $!"]).stdin(Stdio::piped());
        shell
    });
    let pid = running.pid().to_string();
    let cpu = two_cpus()[0].to_string();
    let output = Place::new().command(format!("run --cpus {cpu} --pid {pid}")).output().unwrap();
    let child = only_child(running.pid());
    // SAFETY: the shell has not been waited for, so the id is still its child's.
    unsafe { libc::kill(child, libc::SIGKILL) };
    let told = stderr(&output);
    let sentence = format!(
        "1 child process of sh ({pid}) was not seated: '--pid {pid} --pid {child}' seats it as well"
    );
    assert!(output.status.success() && told.contains(&sentence), "{told}");
}

#[test]
fn refused_mask_names_deadline_policy() {
    let deadline = "--deadline --sched-runtime 1000000 --sched-deadline 20000000 \
                    --sched-period 20000000 0 sleep 600";
    let mut command = Command::new("chrt");
    command.args(deadline.words());
    if !installed("chrt") || !are_two(two_cpus()) {
        return;
    }
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let pid = child.id().to_string();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let has_deadline = child.try_wait().unwrap().is_none();
    let cpu = two_cpus()[0].to_string();
    let output = Place::new().command(format!("run --cpus {cpu} --pid {pid}")).output().unwrap();
    let _ = child.kill().and_then(|()| child.wait());
    if !has_deadline {
        return seatmap_needs::skipped!("no thread gets a deadline here");
    }
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_contains(&told, "the mask of a SCHED_DEADLINE thread");
}
