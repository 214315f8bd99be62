//! Real cells on the highest CPU, if this is root and has version 1 cpusets. The suites of two
//! programs share this file.

use crate::common::{Arguments, Place};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

const PATIENCE_TRIES: u32 = 1500;

/// The `seatmap` next to the tested program, with the place's own run folder.
pub fn seatmap(place: &Place, arguments: impl Arguments) -> Command {
    let mut command = place.command_of(Path::new(crate::PROGRAM).with_file_name("seatmap"));
    command.args(arguments.words()).env("SEATMAP_RUN", place.path("run")).stderr(Stdio::piped());
    command
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}

pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let pause = || std::thread::sleep(Duration::from_millis(10));
    assert!((0..PATIENCE_TRIES).any(|_| is_so() || (pause(), false).1), "never: {what}");
}

pub fn is_root() -> bool {
    // SAFETY: the call cannot fail and touches nothing.
    unsafe { libc::geteuid() == 0 }
}

/// The highest CPU as a list. `None` if no cell can be created here.
pub fn highest() -> Option<(String, MutexGuard<'static, ()>)> {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let highest = online.trim().rsplit(['-', ',']).next().unwrap().to_owned();
    let can =
        is_root() && std::fs::metadata("/sys/fs/cgroup/cpuset/cpuset.sched_load_balance").is_ok();
    if !can || highest == "0" {
        seatmap_needs::skipped!("cells need root, a cpuset hierarchy of version 1 and two CPUs");
        return None;
    }
    // One test at a time. A failed test has already restored its cells.
    static TAKEN: Mutex<()> = Mutex::new(());
    Some((
        format!("{highest}-{highest}"),
        TAKEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner()),
    ))
}

/// The fastest arguments that create a cell.
pub fn make(name: &str, cpus: &str) -> String {
    format!("create {name} --cpus {cpus} --untested --require v1-exclusive")
}

/// Whether a cell was created. Another program may have the CPU.
pub fn made(output: &Output) -> bool {
    let told = stderr(output);
    let is_taken = told.contains("cannot create a cell") || told.contains(", and its state is in ");
    assert!(output.status.success() || is_taken, "{told}");
    if is_taken {
        seatmap_needs::skipped!("{told}");
    }
    !is_taken
}

pub fn has_groups(place: &Place) -> bool {
    let names = std::fs::read_dir(place.path("run")).unwrap();
    names.into_iter().any(|name| name.unwrap().file_name().to_str().unwrap().ends_with(".journal"))
}
