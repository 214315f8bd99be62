//! Masks of threads, and other settings, around real cells on the highest CPU.

use crate::common::{Arguments, Place};
use crate::real_cells::{highest, made, make, seatmap, stderr, wait_until};
use seatmap_os::{CpuSet, Tid};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::sync::MutexGuard;

struct Sleeper(Child);

impl Sleeper {
    fn start(command: &mut Command) -> Self {
        Sleeper(command.spawn().unwrap())
    }

    fn cpus(&self) -> String {
        cpus(self.0.id() as Tid)
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

struct Orphan(Tid);

impl Orphan {
    fn start() -> Self {
        let output = Command::new("sh")
            .args(["-c", "sleep 600 >/dev/null 2>&1 & echo $!"])
            .output()
            .unwrap();
        Orphan(String::from_utf8(output.stdout).unwrap().trim().parse().unwrap())
    }

    fn parent(&self) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap();
        status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().to_owned()
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        // SAFETY: the test started the process, which outlives every test.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }
}

fn cpus(tid: Tid) -> String {
    CpuSet::of_thread(tid).unwrap().to_string()
}

fn sleep() -> Command {
    let mut command = Command::new("sleep");
    command.arg("600");
    command
}

/// The highest CPU, if this process can have its own mounts. In a plain chroot `/` is not a mount
/// and cannot be made private.
fn highest_with_own_mounts() -> Option<(String, MutexGuard<'static, ()>)> {
    highest().filter(|_| seatmap_needs::tool("unshare"))
}

/// Runs `seatmap cell` without cpusets, so that cells have the level `affinity`.
fn without_cpusets(place: &Place, arguments: impl Arguments, variables: &[(&str, &str)]) -> Output {
    let mut command = seatmap(place, ("cell", arguments));
    command.envs(variables.iter().copied());
    let done =
        |result: libc::c_int| if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    let alone = move || {
        let none = std::ptr::null();
        // SAFETY: the strings end in zero bytes; the namespace belongs to this child alone.
        unsafe {
            done(libc::unshare(libc::CLONE_NEWNS))?;
            done(libc::mount(
                none,
                c"/".as_ptr(),
                none,
                libc::MS_REC | libc::MS_PRIVATE,
                none.cast(),
            ))?;
            done(libc::umount2(c"/sys/fs/cgroup/cpuset".as_ptr(), libc::MNT_DETACH))
        }
    };
    // SAFETY: all calls are async-signal-safe.
    unsafe { command.pre_exec(alone) };
    command.output().unwrap()
}

fn create(name: &str, cpus: &str) -> String {
    format!("create {name} --cpus {cpus} --untested")
}

fn wide_and_narrow(cell: &str) -> (String, String) {
    let all = CpuSet::of_thread(0).unwrap().list();
    let highest: u32 = cell.split('-').next().unwrap().parse().unwrap();
    let narrow = seatmap_os::CpuList(all.0.iter().copied().filter(|cpu| *cpu != highest).collect());
    (all.to_string(), narrow.to_string())
}

#[test]
fn destroy_restores_masks_of_threads_and_children() {
    let Some((cell, _taken)) = highest_with_own_mounts() else { return };
    let place = Place::new();
    let (wide, narrow) = wide_and_narrow(&cell);
    let pinned = Sleeper::start(Command::new("taskset").args(["-c", &narrow, "sleep", "600"]));
    let free = Sleeper::start(&mut sleep());
    wait_until("taskset has done it", || pinned.cpus() == narrow);
    let before = without_cpusets(&place, "list", &[]);
    assert!(before.status.success(), "{}", stderr(&before));
    let output = without_cpusets(&place, create("one", &cell), &[]);
    if !made(&output) {
        return;
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains(", affinity"));
    let heir = Sleeper::start(&mut sleep());
    let orphan = Orphan::start();
    let during = [pinned.cpus(), free.cpus(), heir.cpus(), cpus(orphan.0)];
    let destroyed = without_cpusets(&place, "destroy one", &[]);
    assert_eq!(during, [(); 4].map(|()| narrow.clone()));
    assert_eq!(
        [pinned.cpus(), free.cpus(), heir.cpus()],
        [narrow.clone(), wide.clone(), wide.clone()]
    );
    if orphan.parent() != "1" {
        return seatmap_needs::skipped!("orphans have another parent than the first process here");
    }
    assert_eq!((cpus(orphan.0), destroyed.status.code()), (narrow, Some(1)));
    let told = format!("'taskset -pc {wide} {}' widens it", orphan.0);
    assert!(stderr(&destroyed).contains(&told), "{}", stderr(&destroyed));
}

#[test]
fn masks_survive_killed_create_and_destroy() {
    let Some((cell, _taken)) = highest_with_own_mounts() else { return };
    let place = Place::new();
    let (wide, narrow) = wide_and_narrow(&cell);
    let pinned = Sleeper::start(Command::new("taskset").args(["-c", &narrow, "sleep", "600"]));
    let free = Sleeper::start(&mut sleep());
    wait_until("taskset has done it", || pinned.cpus() == narrow);
    without_cpusets(&place, create("one", &cell), &[("SEATMAP_CELL_FAIL_AT", "9")]);
    without_cpusets(&place, "list", &[]);
    assert_eq!([pinned.cpus(), free.cpus()], [narrow.clone(), wide.clone()], "a maker died");
    if !made(&without_cpusets(&place, create("one", &cell), &[])) {
        return;
    }
    let heir = Sleeper::start(&mut sleep());
    without_cpusets(&place, "destroy one", &[("SEATMAP_CELL_FAIL_AT", "9")]);
    without_cpusets(&place, "list", &[]);
    assert_eq!(
        [pinned.cpus(), free.cpus(), heir.cpus()],
        [narrow, wide.clone(), wide],
        "a destroyer died"
    );
}

#[test]
fn two_state_folders_cannot_claim_one_cpu() {
    let Some((cell, _taken)) = highest() else { return };
    let place = Place::new();
    let in_other = |arguments: &str| {
        let mut command = seatmap(&place, ("cell", arguments));
        command.env("SEATMAP_RUN", place.path("other")).output().unwrap()
    };
    if !made(&seatmap(&place, ("cell", make("one", &cell))).output().unwrap()) {
        return;
    }
    let second = in_other(&create("two", &cell));
    let namesake = in_other(&create("one", "0-0"));
    let destroyed = seatmap(&place, "cell destroy one").output().unwrap();
    let after = in_other(&create("two", &cell));
    let ended = in_other("destroy two");
    let run = place.path("run").display().to_string();
    for refused in [second, namesake] {
        let told = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        assert!(told.contains("cell 'one' has CPU"), "{told}");
        assert!(
            told.contains(&format!("'SEATMAP_RUN={run} seatmap cell destroy one' ends it")),
            "{told}"
        );
    }
    assert!(destroyed.status.success() && made(&after) && ended.status.success());
}

fn settings() -> Vec<(String, String)> {
    let irqs = fs::read_dir("/proc/irq")
        .unwrap()
        .map(|entry| entry.unwrap().path().join("smp_affinity_list"));
    let others =
        ["/sys/fs/cgroup/cpuset/cpuset.sched_load_balance", "/proc/irq/default_smp_affinity"];
    let paths = irqs.chain(others.map(Into::into)).chain(["/proc/sys/vm/stat_interval".into()]);
    let mut found: Vec<_> = paths
        .filter_map(|path| Some((path.display().to_string(), fs::read_to_string(&path).ok()?)))
        .collect();
    found.sort();
    found
}

/// Creates a cell, deletes its run folder and restores the settings.
fn lost_and_restored(
    place: &Place,
    cell: &str,
    run: &dyn Fn(&str) -> Output,
) -> Option<[Output; 2]> {
    if !made(&run(&create("one", cell))) {
        return None;
    }
    fs::remove_dir_all(place.path("run")).unwrap();
    let refused = run(&create("two", cell));
    Some([refused, run("restore")])
}

#[test]
fn second_record_restores_cell_without_journal() {
    let Some((cell, _taken)) = highest_with_own_mounts() else { return };
    let place = Place::new();
    let (wide, narrow) = wide_and_narrow(&cell);
    let with_cpusets = |arguments: &str| seatmap(&place, ("cell", arguments)).output().unwrap();
    let without = |arguments: &str| without_cpusets(&place, arguments, &[]);
    for run in [&with_cpusets as &dyn Fn(&str) -> Output, &without] {
        let before = settings();
        let inside = Sleeper::start(Command::new("taskset").args(["-c", &cell, "sleep", "600"]));
        let pinned = Sleeper::start(Command::new("taskset").args(["-c", &narrow, "sleep", "600"]));
        let free = Sleeper::start(&mut sleep());
        wait_until("taskset has done it", || inside.cpus() != wide && pinned.cpus() != wide);
        let masks = || [inside.cpus(), pinned.cpus(), free.cpus()];
        let masks_before = masks();
        let Some([refused, restored]) = lost_and_restored(&place, &cell, run) else { return };
        let told = stderr(&restored);
        assert_eq!((settings(), masks()), (before, masks_before), "{told}");
        assert!(
            stderr(&refused).contains("'seatmap cell restore' undoes its changes"),
            "{}",
            stderr(&refused)
        );
        assert!(
            told.contains("1 cell undone") && told.contains("the cell 'one' had no journal"),
            "{told}"
        );
        assert!(!Path::new("/sys/fs/cgroup/cpuset/seatmap.one").exists());
    }
}

#[test]
fn refusal_names_cell_that_owns_cpu() {
    let Some((cell, _taken)) = highest() else { return };
    let place = Place::new();
    let output = seatmap(&place, ("cell", make("calm", &cell))).output().unwrap();
    if !made(&output) {
        return;
    }
    let cpu = cell.split('-').next().unwrap();
    let reason = format!(
        "the cell calm has CPU {cpu} ('seatmap cell list' shows it, 'seatmap cell destroy calm' \
         ends it)"
    );
    let told = [
        "run --cpus CPU -- true",
        "run --cpus cpus:CPU -- true",
        "bench --cpus CPU --runs 2 -- true",
        "tune --cpus CPU -- true",
        "measure --cpus 0,CPU",
        "place --on host --pattern ring:2 --cpus CPU",
    ]
    .map(|arguments| stderr(&seatmap(&place, arguments.replace("CPU", cpu)).output().unwrap()));
    let destroy = seatmap(&place, "cell destroy calm").output().unwrap();
    assert!(destroy.status.success(), "{}", stderr(&destroy));
    for one in told {
        assert!(one.contains(&reason) && !one.contains("taskset"), "{one}");
    }
}
