//! `seatmap run --auto` on a real program. Whether seats help is left open; the tests check masks,
//! exit codes and logs.

use crate::common::{Guarded, Place, assert_contains, stderr, stdout, two_cpus};
use crate::observe::Pipeline;
use crate::run::programs::installed;
use seatmap_os::CpuSet;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(180);

/// One relay at a time, and no cell next to it: they would slow each other down.
pub(crate) static ALONE: Mutex<()> = Mutex::new(());

/// A pair of threads that exchange buffers until killed.
pub(crate) struct Relay(
    Child,
    #[expect(dead_code, reason = "held, not read")] MutexGuard<'static, ()>,
);

impl Relay {
    /// `None` if the program cannot be built, observed or seated here.
    pub(crate) fn start(place: &Place) -> Option<Self> {
        if !can_play(place) {
            return None;
        }
        build(place);
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = Command::new(place.path("relay"));
        let relay =
            Relay(command.args(["2000000000", "1"]).stdout(Stdio::null()).spawn().unwrap(), alone);
        until("three threads", || relay.masks().len() == 3);
        Some(relay)
    }

    pub(crate) fn pid(&self) -> String {
        self.0.id().to_string()
    }

    pub(crate) fn masks(&self) -> BTreeSet<(String, String)> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap();
        let mask = |folder: std::path::PathBuf| {
            let status = std::fs::read_to_string(folder.join("status")).ok()?;
            let list = status
                .lines()
                .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?
                .trim()
                .to_owned();
            Some((folder.file_name()?.to_str()?.to_owned(), list))
        };
        tasks.filter_map(|entry| mask(entry.ok()?.path())).collect()
    }

    pub(crate) fn different_masks(&self) -> usize {
        self.masks().into_iter().map(|(_, mask)| mask).collect::<BTreeSet<_>>().len()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn build(place: &Place) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/relay.c");
    let built = Command::new("gcc")
        .args(["-O1", "-pthread", "-o"])
        .arg(place.path("relay"))
        .arg(source)
        .status();
    assert!(built.unwrap().success());
}

fn can_play(place: &Place) -> bool {
    if !installed("gcc") || two_cpus().is_none() {
        seatmap_needs::skipped!("no gcc, or one CPU");
        return false;
    }
    let probe = place.run("observe -- true");
    if !probe.status.success() {
        seatmap_needs::skipped!("{}", stderr(&probe));
    }
    probe.status.success()
}

pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn lines(place: &Place, log: &str) -> Vec<Value> {
    place.read(log).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn log_names_tried_and_current_seats() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let before = relay.masks();
    let quick = "run --auto --period 20ms --observe-for 300ms --seconds 6 --log log";
    let said = place.stderr((quick, &["--pid", &relay.pid()]), 0);
    let log = lines(&place, "log");
    let last = log
        .iter()
        .rev()
        .map(|line| &line["decision"]["kind"])
        .find(|kind| **kind == "keep" || **kind == "put-back");
    // On a busy computer the attempt may not have ended.
    match last.and_then(Value::as_str) {
        Some("keep") => assert!(relay.masks() != before && said.contains("is kept"), "{said}"),
        _ => assert_eq!(relay.masks(), before, "{said}"),
    }
    assert!(log.iter().any(|line| line["event"]["kind"] == "observed"), "{said}");
    let schema: Value = serde_json::from_str(include_str!(
        "../../../../../docs/formats/seatmap-auto-1.schema.json"
    ))
    .unwrap();
    for line in &log {
        assert_eq!(
            seatmap_data::document::schema::refused(&schema, line),
            Vec::<String>::new(),
            "{line}"
        );
    }
    assert!(place.stdout("run --replay log").contains("replayed, with the same decisions"));
    place.file("log", place.read("log").replace("\"rest\"", "\"observe\""));
    assert_eq!(place.run("run --replay log").status.code(), Some(1));
}

/// A shell whose children do the work, like a server with workers.
#[test]
fn children_are_observed_with_parent() {
    let place = Place::new();
    if !can_play(&place) {
        return;
    }
    let pipeline = Pipeline::start();
    pipeline.children();
    let words = "run --auto --observe-for 1s --seconds 2 --log log";
    let said = place.stderr((words, &["--pid", &pipeline.pid()]), 0);
    let log = lines(&place, "log");
    let observed = log.iter().find(|line| line["event"]["kind"] == "observed").unwrap();
    assert!(observed["event"]["messages_per_s"].as_f64().unwrap() > 0.0, "{said}");
}

#[test]
fn lack_of_threads_is_reported_before_observation() {
    let place = Place::new();
    if !can_play(&place) {
        return;
    }
    let program = Guarded(Command::new("sleep").arg("600").spawn().unwrap());
    let words = ["run", "--auto", "--observe-for", "1h", "--pid", &program.id().to_string()];
    let mut run = Guarded(place.command(words).stderr(Stdio::piped()).spawn().unwrap());
    // The first line may say that this computer is not measured yet.
    let mut first = BufReader::new(run.stderr.take().unwrap()).lines().take(2);
    let words = "no seats can be tried now: fewer than two threads of the program";
    assert!(first.any(|line| line.unwrap().contains(words)));
}

#[test]
fn bound_program_is_refused_at_once() {
    let place = Place::new();
    let Some(cpus) = CpuSet::of_thread(0).ok().filter(|cpus| cpus.len() > 1) else {
        return seatmap_needs::skipped!("one CPU");
    };
    let program = Guarded(Command::new("sleep").arg("600").spawn().unwrap());
    let pid = program.id();
    CpuSet::single(cpus.first().unwrap()).give(pid as seatmap_os::Tid).unwrap();
    let refusal = place.refusal(["run", "--auto", "--pid", &pid.to_string()]);
    assert_contains(&refusal, "each thread of the program is bound to one CPU");
    let command = format!("'taskset -acp {} {pid}' frees process {pid}", cpus.list());
    assert_contains(&refusal, &command);
}

/// The threads of a stopped program are silent, but not because they never communicate.
#[test]
fn stopped_program_is_reported_with_remedy() {
    let place = Place::new();
    if !can_play(&place) {
        return;
    }
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id().to_string();
    crate::common::kill().args(["-STOP", &pid]).status().unwrap();
    let words = ["run", "--auto", "--observe-for", "300ms", "--seconds", "1", "--pid", &pid];
    let output = place.run(words);
    child.kill().and_then(|()| child.wait()).unwrap();
    let said = stderr(&output);
    let halted =
        format!("\nsleep ({pid}) does not run: it is stopped; 'kill -CONT {pid}' resumes it.\n");
    assert_contains(&said, &halted);
}

/// A period in which CPUs change says nothing about the seats, so it is repeated.
#[test]
fn void_periods_are_repeated() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let cpus = CpuSet::of_thread(0).unwrap();
    let ends = [cpus.first(), cpus.last()].map(|cpu| CpuSet::single(cpu.unwrap()));
    let masks = [&ends[..], &[cpus]].concat();
    let words = "run --auto --period 40ms --observe-for 300ms --seconds 6";
    let more = ["--log", "log", "--pid", &relay.pid()];
    let mut command = place.command((words, more));
    let mut run = command.stderr(Stdio::piped()).spawn().unwrap();
    let tid = run.id() as seatmap_os::Tid;
    until("a period", || {
        std::fs::read_to_string(place.path("log")).is_ok_and(|log| log.contains("\"measure\""))
    });
    // Like a cpuset that narrows and widens. The measured 32 ms of a period contain one or two of
    // the three changes, so the set differs at the end.
    for mask in masks.iter().cycle() {
        if run.try_wait().unwrap().is_some() {
            break;
        }
        let _ = mask.give(tid);
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = run.wait_with_output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_contains(&said, "discarded: CPUs were removed or added.");
    assert!(said.contains("repeated") && !said.contains("No discarded"), "{said}");
}

#[test]
fn masks_are_restored_after_sigint_and_sigkill() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let before = relay.masks();
    for signal in [libc::SIGINT, libc::SIGKILL] {
        let slow =
            ["run", "--auto", "--period", "2s", "--observe-for", "300ms", "--pid", &relay.pid()];
        let mut seatmap = place.command(slow).stderr(Stdio::null()).spawn().unwrap();
        until("seats", || relay.different_masks() > 1);
        // SAFETY: the child has not been waited for.
        assert_eq!(unsafe { libc::kill(seatmap.id() as i32, signal) }, 0);
        let status = seatmap.wait().unwrap();
        assert_eq!(status.success(), signal == libc::SIGINT);
        until("the masks", || relay.masks() == before);
    }
}

#[test]
fn unwritable_log_ends_seating_not_program() {
    let place = Place::new();
    if !can_play(&place) {
        return;
    }
    build(&place);
    let output = place.run("run --auto --log /dev/full -- ./relay 2000");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert_contains(&said, "cannot write the log: /dev/full");
    assert!(stdout(&output).contains("buffers/s"), "the program ran to its end");
}

#[test]
fn exit_code_is_passed_on() {
    let place = Place::new();
    if !can_play(&place) {
        return;
    }
    let output = place.run(["run", "--auto", "--log", "log", "--", "sh", "-c", "exit 7"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(lines(&place, "log").last().unwrap()["event"]["kind"], "ended");
    let said = stderr(&output);
    assert_contains(&said, "The program ended after ");
    assert_contains(&said, ", before it was fully observed; nothing was changed.");
}

#[test]
fn ended_process_is_reported() {
    let place = Place::new();
    if !can_play(&place) {
        return;
    }
    let mut program = Command::new("sleep").arg("1").spawn().unwrap();
    let pid = program.id().to_string();
    let mut run = place.command(format!("run --auto --observe-for 60s --pid {pid}"));
    let run = run.stderr(Stdio::piped()).spawn().unwrap();
    program.wait().unwrap();
    let output = run.wait_with_output().unwrap();
    let said = stderr(&output);
    assert!(output.status.success() && said.contains("The program ended after "), "{said}");
}

#[test]
fn metric_command_ends_with_program() {
    let place = Place::new();
    if !can_play(&place) {
        return;
    }
    build(&place);
    let relay = "-- ./relay 100000";
    let metric = ["run", "--auto", "--observe-for", "100ms", "--metric", "command:sleep 9; echo 5"];
    let output = place.run((metric, relay));
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    let ended = "The metric 'command:sleep 9; echo 5' was stopped: the program ended.";
    assert_contains(&said, ended);
}

#[test]
fn soft_seats_are_whole_caches() {
    let place = Place::new();
    let Some(cpus) = two_cpus() else { return };
    let first = cpus.split([',', '-']).next().unwrap();
    let mask = |options: &str| {
        let line = "-- grep Cpus_allowed_list /proc/self/status";
        let said = place.stdout((&["run", "--quiet", "--strict", "--cpus", first], options, line));
        said.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(mask(""), first);
    let soft = mask("--soft");
    assert!(
        soft == first
            || soft.starts_with(&format!("{first}-"))
            || soft.starts_with(&format!("{first},")),
        "{soft}"
    );
}

#[test]
fn launcher_with_one_cpu_is_refused() {
    if !installed("taskset") {
        return seatmap_needs::skipped!("no taskset");
    }
    let place = Place::new();
    let program = Guarded(Command::new("sleep").arg("600").spawn().unwrap());
    let one = seatmap_os::affinity::current().unwrap()[0].to_string();
    let run = place.command(["run", "--auto", "--pid", &program.id().to_string()]);
    let mut seatmap = Command::new("taskset");
    seatmap.args(["-c", &one]).arg(run.get_program()).args(run.get_args());
    let output = seatmap.current_dir(place.folder()).env("HOME", place.folder()).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_contains(&said, &format!("this process may only use CPU {one}"));
}
