//! Detectable mistakes are reported before the program starts: exit code 2, one line.

use super::programs::{self, are_two, list, on, two_cpus};
use crate::common::{Arguments, Place, assert_contains, stderr};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;

/// The refusal of a run. The program, which would create a file, must not start.
fn refusal(place: &Place, options: impl Arguments) -> String {
    let line = place.one_line_refusal(("run", options, "-- touch started"));
    assert!(!place.path("started").exists(), "it was started");
    line
}

#[test]
fn cpus_outside_launcher_mask_are_refused() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) {
        return;
    }
    let place = Place::new();
    let line = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                seatmap_os::affinity::pin(&[a]).unwrap();
                refusal(&place, on(&[a, b]))
            })
            .join()
            .unwrap()
    });
    assert!(
        line.starts_with(&format!(
            "seatmap: CPU {b} is outside the CPUs that this process may use, {a}:"
        )),
        "{line}"
    );
}

#[test]
fn core_numbers_count_the_whole_machine() {
    let [a, b] = two_cpus();
    let topology = seatmap_machines::host::topology::whole().unwrap();
    let core = |cpu| topology.pu(cpu).and_then(|pu| pu.core);
    let [Some(own), Some(other)] = [core(b), core(a)] else { return };
    if own == other {
        return;
    }
    let place = Place::new();
    let (line, seated) = std::thread::scope(|scope| {
        let narrow = || {
            seatmap_os::affinity::pin(&[b]).unwrap();
            let line = refusal(&place, ["--cpus", &format!("core:{other}")]);
            (line, place.run(["run", "--strict", "--cpus", &format!("core:{own}"), "true"]))
        };
        scope.spawn(narrow).join().unwrap()
    });
    assert_contains(&line, "which this process may not use: its cpuset or a taskset");
    assert_contains(&line, &format!("it may use core {own}, "));
    assert!(seated.status.success(), "{seated:?}");
}

#[test]
fn traced_launcher_refuses_seats_in_order() {
    if !programs::installed("strace") {
        return;
    }
    let [a, b] = two_cpus();
    let place = Place::new();
    let run = format!("run --cpus {} -- touch started", list(&[a, b]));
    let mut strace = std::process::Command::new("strace");
    strace.args(["-f", "-o", "trace", crate::PROGRAM]).args(run.words());
    let output = strace.current_dir(place.folder()).output().unwrap();
    insta::assert_snapshot!(stderr(&output).trim_end(), @"seatmap: the kernel forbids ptrace here, which seats in order of creation need: strace or a debugger already traces this program; run it without");
    assert_eq!((output.status.code(), place.path("started").exists()), (Some(1), false));
}

/// The kernel denies `su` its root privileges if an ordinary user traces it.
#[test]
fn setuid_program_is_refused() {
    const NOBODY: u32 = 65534;
    let lent = std::fs::metadata("/usr/bin/su")
        .is_ok_and(|found| found.mode() & libc::S_ISUID != 0 && found.uid() == 0);
    let place = Place::new();
    let as_nobody = |arguments: &dyn Arguments| {
        let mut command = place.command(arguments);
        command.current_dir("/").uid(NOBODY).gid(NOBODY).output()
    };
    // SAFETY: geteuid cannot fail and touches nothing.
    let root = unsafe { libc::geteuid() } == 0;
    if !lent || !root || !as_nobody(&"--version").is_ok_and(|output| output.status.success()) {
        return seatmap_needs::skipped!(
            "root, its su and a binary that everybody may run are needed"
        );
    }
    let cpu = two_cpus()[0].to_string();
    let refused = as_nobody(&format!("run --cpus {cpu} -- su --version")).unwrap();
    insta::assert_snapshot!(stderr(&refused).trim_end(), @"seatmap: /usr/bin/su needs the rights of its file (set-user-ID, set-group-ID or file capabilities), which the kernel denies to traced programs; run seatmap as root, or run the program without it");
    assert_eq!(refused.status.code(), Some(2));
    let script = ["sh", "-c", "/usr/bin/su --version; true"];
    let later = as_nobody(&("run --quiet --cpus", &cpu, ("--", script))).unwrap();
    insta::assert_snapshot!(stderr(&later).trim_end(), @"seatmap: /usr/bin/su ran without the rights of its file (set-user-ID or set-group-ID), which the kernel denies to traced programs");
    assert_eq!(later.status.code(), Some(0));
}
