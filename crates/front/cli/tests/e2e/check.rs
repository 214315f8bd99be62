//! `seatmap check` on healthy running programs, and with injected faults.

mod faults;
mod groups;
mod healthy;
mod metrics;
mod remedies;
mod seen;
mod shown;
mod usage;
mod watching;

use crate::common::{Arguments, Json, Place, stderr};
use crate::run::programs;
use crate::run::running::Running;
use seatmap_os::{CpuSet, Tid};
use serde_json::Value;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

struct Checked {
    code: Option<i32>,
    document: Value,
    stderr: String,
}

impl Checked {
    fn of(output: Output) -> Self {
        let stderr = stderr(&output);
        let document = serde_json::from_slice(&output.stdout);
        assert!(document.is_ok(), "{stderr}");
        Checked { code: output.status.code(), document: document.unwrap(), stderr }
    }

    fn findings(&self) -> &[Value] {
        self.document["findings"].elements()
    }

    fn of_rule(&self, rule: &str) -> Vec<&Value> {
        self.findings().iter().filter(|finding| finding["rule"] == rule).collect()
    }

    #[track_caller]
    fn wrong(&self, rule: &str) -> &Value {
        let wrong = self.of_rule(rule).into_iter().find(|finding| finding["gravity"] == "wrong");
        assert!(wrong.is_some(), "{rule}: {} {}", self.document, self.stderr);
        assert_eq!(
            (self.code, &self.document["verdict"]),
            (Some(1), &"wrong".into()),
            "{}",
            self.stderr
        );
        wrong.unwrap()
    }

    /// Asserts that nothing is wrong, except for CPU time taken by other programs.
    #[track_caller]
    fn assert_healthy(&self) {
        let is_wrong = |finding: &&Value| finding["gravity"] == "wrong";
        let (strangers, wrong): (Vec<_>, Vec<_>) =
            self.findings().iter().filter(is_wrong).partition(|finding| {
                finding["rule"] == "strangers" || finding["rule"] == "real-time"
            });
        let code = i32::from(!strangers.is_empty());
        assert!(wrong.is_empty() && self.code == Some(code), "{wrong:?} {}", self.stderr);
    }

    fn tids(&self) -> Vec<Tid> {
        self.document["threads"].elements().iter().map(|thread| tid(&thread["tid"])).collect()
    }
}

fn tid(value: &Value) -> Tid {
    value.as_i64().unwrap() as Tid
}

fn check(place: &Place, options: impl Arguments) -> Checked {
    Checked::of(place.run(("check --json --seconds 0.2", options)))
}

fn check_pid(place: &Place, pid: Tid, options: impl Arguments) -> Checked {
    check(place, (&["--pid", &pid.to_string()], options))
}

/// A program with `count` threads besides the main thread, all ready. `None` if there is no
/// compiler.
pub(crate) fn threads(count: usize, what: &str) -> Option<Running> {
    threads_with(count, what, &[])
}

fn threads_with(count: usize, what: &str, variables: &[(&str, &str)]) -> Option<Running> {
    let mut command = Command::new(programs::spin()?);
    command.args([&count.to_string(), what]).envs(variables.iter().copied()).stdin(Stdio::piped());
    Some(Running::of(command))
}

pub(crate) fn tids(pid: Tid) -> Vec<Tid> {
    seatmap_os::task::threads(pid).unwrap()
}

pub(crate) fn bind(tid: Tid, cpus: &[u32]) {
    cpus.iter().copied().collect::<CpuSet>().give(tid).unwrap();
}

pub(crate) fn bind_all(pid: Tid, cpus: &[u32]) {
    tids(pid).into_iter().for_each(|tid| bind(tid, cpus));
}

fn plan(place: &Place, placement: &[u32]) {
    place.file(
        "plan.json",
        format!(r#"{{"format":"seatmap-plan/1","machine":"host","placement":{placement:?}}}"#),
    );
}

/// Repeats the check: the kernel decides what a thread does in a short time.
#[track_caller]
fn until(check: impl Fn() -> Checked, is_so: impl Fn(&Checked) -> bool) -> Checked {
    let begun = Instant::now();
    loop {
        let checked = check();
        if is_so(&checked) {
            return checked;
        }
        assert!(begun.elapsed() < PATIENCE, "{} {}", checked.document, checked.stderr);
    }
}

#[track_caller]
fn until_found(place: &Place, pid: Tid, rule: &str) -> Checked {
    until(|| check_pid(place, pid, ""), |checked| !checked.of_rule(rule).is_empty())
}

#[track_caller]
fn until_mended(place: &Place, pid: Tid, rule: &str) -> Checked {
    until(|| check_pid(place, pid, ""), |checked| checked.of_rule(rule).is_empty())
}

pub(crate) fn is_root() -> bool {
    // SAFETY: geteuid cannot fail and touches nothing.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        seatmap_needs::skipped!("root is needed");
    }
    root
}
