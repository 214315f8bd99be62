//! However temporary seats end, all threads and processes created on them get their own mask back.
//! No others change.

use crate::auto::{ALONE, until};
use crate::common::{Guarded, Place, can_observe, two_cpus};
use crate::run::programs;
use seatmap_os::task::{self, name};
use seatmap_os::{CpuSet, Root, Tid};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

struct Brood {
    program: Guarded,
    /// Only this program's processes have this name.
    name: String,
    _alone: MutexGuard<'static, ()>,
}

impl Brood {
    fn start() -> Option<Self> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        if two_cpus().is_none() || !can_observe() {
            seatmap_needs::skipped!("one CPU, or no observation");
            return None;
        }
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("brood{}-{number}", std::process::id() % 100_000);
        let mut command = Command::new(programs::brood()?);
        command.args(["2", "50", &name]).stdout(Stdio::null());
        let program = Guarded(command.spawn().unwrap());
        let brood = Brood { program, name, _alone: alone };
        until("births", || brood.masks().len() > 3);
        Some(brood)
    }

    fn pids(&self) -> Vec<Tid> {
        let root = Root::new("/");
        let all = task::processes(&root).unwrap();
        all.filter(|pid| name(&root, *pid).as_ref() == Some(&self.name)).collect()
    }

    fn masks(&self) -> Vec<CpuSet> {
        let tids = self.pids().into_iter().flat_map(|pid| task::threads(pid).unwrap_or_default());
        tids.filter_map(|tid| CpuSet::of_thread(tid).ok()).collect()
    }

    fn different_masks(&self) -> usize {
        self.masks().into_iter().collect::<BTreeSet<_>>().len()
    }
}

impl Drop for Brood {
    fn drop(&mut self) {
        let _ = self.program.0.kill();
        for pid in self.pids() {
            // SAFETY: no other process has this name.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    }
}

#[test]
fn children_regain_masks_after_any_signal() {
    let Some(brood) = Brood::start() else { return };
    let place = Place::new();
    let whole = CpuSet::of_thread(0).unwrap();
    let pid = brood.program.id().to_string();
    let signals = [libc::SIGKILL, libc::SIGINT, libc::SIGKILL, libc::SIGTERM];
    for (round, signal) in signals.into_iter().cycle().take(12).enumerate() {
        let words = ["run", "--auto", "--period", "60ms", "--observe-for", "200ms", "--pid", &pid];
        let mut command = place.command(words);
        let mut seatmap = Guarded(command.stderr(Stdio::null()).spawn().unwrap());
        until("seats", || brood.different_masks() > 1);
        let detached = detached(&place, &whole);
        // A child of the test whose chosen mask happens to equal a seat.
        let seat = CpuSet::single(whole.first().unwrap());
        let chosen = Guarded(Command::new("sleep").arg("1000").spawn().unwrap());
        seat.give(chosen.id() as Tid).unwrap();
        std::thread::sleep(Duration::from_millis(29 * round as u64));
        // SAFETY: the child has not been waited for.
        assert_eq!(unsafe { libc::kill(seatmap.id() as i32, signal) }, 0);
        seatmap.wait().unwrap();
        until("the masks", || brood.masks().iter().all(|mask| *mask == whole));
        assert_eq!(CpuSet::of_thread(chosen.id() as Tid).unwrap(), seat);
        assert_eq!(CpuSet::of_thread(detached).unwrap(), seat, "its own Seatmap seats it");
        // SAFETY: it sleeps for minutes more.
        unsafe { libc::kill(detached, libc::SIGKILL) };
    }
}

/// An orphan in the program's control group that a Seatmap seated on the first CPU.
fn detached(place: &Place, whole: &CpuSet) -> Tid {
    let first = whole.first().unwrap().to_string();
    let _ = std::fs::remove_file(place.path("pid"));
    let script = "echo $$ > pid; exec sleep 120";
    let words = ["run", "-q", "--detach", "--cpus", &first, "--", "sh", "-c", script];
    // It keeps its output open.
    let status = place.command(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.unwrap().success());
    until("the detached program", || place.path("pid").metadata().is_ok_and(|file| file.len() > 1));
    std::fs::read_to_string(place.path("pid")).unwrap().trim().parse().unwrap()
}

#[test]
fn trial_reporting_no_change_restores_masks() {
    let Some(brood) = Brood::start() else { return };
    let place = Place::new();
    let whole = CpuSet::of_thread(0).unwrap();
    let pid = brood.program.id().to_string();
    let metric = ["--metric", "command:date +%s%N", "--seconds", "3", "--prove", "--json"];
    let advice = place.json((&["advise", "--pid", &pid], metric));
    let evidence = &advice["evidence"];
    assert!(evidence["trial"]["rounds"].as_u64().is_some_and(|rounds| rounds > 0), "{advice:#}");
    assert_eq!(evidence.get("left_changed"), None, "{advice:#}");
    until("the masks", || brood.masks().iter().all(|mask| *mask == whole));
}
