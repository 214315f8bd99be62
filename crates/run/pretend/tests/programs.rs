//! Ordinary programs see the pretended machine.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use seatmap_data::machine::{Pu, Topology};
use seatmap_launch::Ending;
use seatmap_os::CpuSet;
use seatmap_pretend::{PretendError, PretendRequest, PretendedMachine, PretendedRun};
use seatmap_watch::{Criteria, Rule, Verdict};

/// A machine of four packages of 16 cores with two hardware threads each, numbered like Intel's:
/// CPU `k` and CPU `k + 64` share a core.
fn machine(cpus: Option<&str>, offline: &str) -> PretendedMachine {
    let pus = (0..128).map(|os| Pu {
        os,
        core: Some(os % 64),
        smt: Some(os / 64),
        l2: Some(os % 64),
        l3: Some(os % 64 / 16),
        numa: Some(os % 64 / 16),
        package: Some(os % 64 / 16),
        l2_bytes: Some(1 << 20),
        l3_bytes: Some(32 << 20),
        ..Pu::default()
    });
    let set = |list: &str| CpuSet::of_list(list).unwrap();
    let topology = Topology { pus: pus.collect() };
    PretendedMachine::new("made-up", topology, cpus.map(set).as_ref(), &set(offline)).unwrap()
}

/// With 48 KiB for data and 32 KiB for instructions.
fn machine_with_first_level() -> PretendedMachine {
    let mut topology = machine(None, "").topology;
    topology.pus.iter_mut().for_each(|pu| {
        pu.l1d_bytes = Some(48 << 10);
        pu.l1i_bytes = Some(32 << 10);
    });
    PretendedMachine::new("made-up", topology, None, &CpuSet::default()).unwrap()
}

/// `None` if this computer does not allow it.
fn on(machine: PretendedMachine, line: &str) -> Option<PretendedRun> {
    let command = ["sh", "-c", line].map(Into::into).into();
    match (PretendRequest { machine, command, leaves_stdout: true }).run() {
        Err(
            error @ (PretendError::UserNamespace { .. }
            | PretendError::Mounts(_)
            | PretendError::Listener(_)
            | PretendError::Processor),
        ) => {
            seatmap_needs::skipped!("{error}");
            None
        }
        run => Some(run.unwrap()),
    }
}

fn succeeded(machine: PretendedMachine, line: &str) -> Option<PretendedRun> {
    let run = on(machine, line)?;
    assert_eq!(run.ending, Ending::Exited(0), "{line}");
    Some(run)
}

fn assert_true(machine: PretendedMachine, line: &str) {
    let _ = succeeded(machine, line);
}

fn lscpu_tells(kind: &str, size: &str) -> String {
    format!("LC_ALL=C lscpu | grep -q '^ *{kind}[^:]*: *{size} MiB'")
}

/// 64 times 48 KiB and 32 KiB.
#[test]
fn known_first_level_caches_are_visible() {
    let knows_lscpu = std::process::Command::new("lscpu").output();
    if !knows_lscpu.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("CPU(s)")) {
        return seatmap_needs::skipped!("lscpu");
    }
    for (kind, size) in [("L1d", "3"), ("L1i", "2"), ("L2", "64")] {
        assert_true(machine_with_first_level(), &lscpu_tells(kind, size));
    }
    assert_true(machine(None, ""), "! LC_ALL=C lscpu | grep L1");
    assert_true(machine(None, ""), &lscpu_tells("L2", "64"));
    let index = "/sys/devices/system/cpu/cpu65/cache/index1";
    let shared = format!(
        "test $(cat {index}/type) = Instruction && test $(cat {index}/shared_cpu_list) = 1,65"
    );
    assert_true(machine_with_first_level(), &shared);
}

#[test]
fn shell_counts_pretended_cpus() {
    assert_true(machine(None, ""), "test $(nproc) = 128 && test $(nproc --all) = 128");
    assert_true(machine(Some("0-3"), ""), "test $(nproc) = 4 && test $(nproc --all) = 128");
    assert_true(
        machine(None, "5-127"),
        "test $(nproc) = 5 && test $(cat /sys/devices/system/cpu/offline) = 5-127",
    );
    assert_true(machine(None, ""), "test $(grep -c ^processor /proc/cpuinfo) = 128");
    let status = "test \"$(grep Cpus_allowed_list /proc/self/status | cut -f2)\" = 2-5";
    assert_true(machine(Some("2-5"), ""), status);
    assert_true(machine(None, ""), "test $(ls -d /sys/devices/system/node/node* | wc -l) = 4");
}

#[test]
fn pretended_files_are_read_only_and_unmounted() {
    let line = "echo 0 > /sys/devices/system/cpu/cpu1/online";
    let Some(run) = on(machine(None, ""), line) else { return };
    assert!(matches!(run.ending, Ending::Exited(code) if code != 0));
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains("seatmap /sys"), "{mounts}");
}

#[test]
fn masks_are_recorded_and_inherited() {
    if !seatmap_needs::tool("taskset") {
        return;
    }
    let line = "taskset -c 70,200 sh -c 'test $(nproc) = 1; sleep 0.1' && ! taskset -c 200 true";
    let Some(run) = succeeded(machine(None, ""), line) else { return };
    let threads = &run.answers.record.threads;
    assert_eq!(threads[0].mask().len(), 128, "{threads:?}");
    let seated: Vec<_> = threads.iter().filter(|one| one.mask().only() == Some(70)).collect();
    assert!(
        seated.len() >= 3,
        "taskset became a shell, which started nproc and sleep: {threads:?}"
    );
    assert!(seated.iter().any(|thread| thread.changes.is_empty()), "{threads:?}");
    assert!(seated.iter().any(|thread| thread.name == "sleep"), "{threads:?}");
}

#[test]
fn rules_judge_the_fullest_moment() {
    if !seatmap_needs::tool("taskset") {
        return;
    }
    let criteria = Criteria { rules: vec![Rule::OnePerCore], ..Criteria::default() };
    let verdict = |seats: [&str; 2]| {
        let [a, b] = seats;
        let line = format!("taskset -c {a} sleep 0.3 & exec taskset -c {b} sleep 0.4");
        let run = on(machine(None, ""), &line)?;
        Some(run.judge(&criteria, |judged| (judged.verdict, judged.findings.clone())))
    };
    let Some((apart, findings)) = verdict(["0", "1"]) else { return };
    assert_eq!((apart, findings), (Verdict::AsAsked, vec![]));
    let (piled, findings) = verdict(["0", "64"]).unwrap();
    assert_eq!(piled, Verdict::Wrong);
    assert!(findings.iter().any(|one| one.what.contains("share one core")), "{findings:?}");
    assert!(findings.iter().all(|one| one.remedy.is_none()), "no command of this computer helps");
}

#[test]
fn unexecutable_program_fails_run() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "#!/no/such/interpreter\n").unwrap();
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(file.path(), rights).unwrap();
    let path = file.into_temp_path();
    let command = vec![path.as_os_str().to_owned()];
    let machine = machine(None, "");
    let refused = PretendRequest { machine, command, leaves_stdout: true }.run();
    assert!(refused.is_err());
}

#[test]
fn program_ending_reports_its_signal() {
    let Some(run) = on(machine(None, ""), "kill -9 $$") else { return };
    assert_eq!(run.ending, Ending::Killed(libc::SIGKILL));
}

#[test]
fn processes_outliving_program_keep_pretended_view() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("count");
    let line = format!("(sleep 0.3; nproc > {0}.new; mv {0}.new {0}) >&- 2>&- &", file.display());
    if on(machine(None, ""), &line).is_none() {
        return;
    }
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !file.exists() {
        assert!(std::time::Instant::now() < deadline, "the process in the background is lost");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(std::fs::read_to_string(file).unwrap().trim(), "128");
}

#[test]
fn memory_policies_are_recorded() {
    if !seatmap_needs::tool("numactl") {
        return;
    }
    let line = "numactl --cpunodebind=2 --membind=3 sh -c 'test $(nproc) = 32; exit $?'";
    let Some(run) = succeeded(machine(None, ""), line) else { return };
    let bound = run.answers.record.threads.iter().find(|one| one.mask().len() == 32);
    assert_eq!(bound.unwrap().policy.to_string(), "bind:3");
}

/// A thread that has announced its end is listed until the kernel has ended it.
#[test]
fn threads_are_recorded_once_with_inherited_mask() {
    const LINES: &str = "#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
static void *nothing(void *value) { return value; }
int main(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(100, &set);
    if (sched_setaffinity(0, sizeof set, &set)) return 1;
    for (int at = 0; at < 50; at++) {
        pthread_t threads[4];
        for (int k = 0; k < 4; k++) pthread_create(threads + k, 0, nothing, 0);
        for (int k = 0; k < 4; k++) pthread_join(threads[k], 0);
    }
    return 0;
}
";
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("many");
    let source = folder.path().join("many.c");
    std::fs::write(&source, LINES).unwrap();
    if !seatmap_needs::tool("gcc") {
        return;
    }
    let mut compiler = std::process::Command::new("gcc");
    let compiler = compiler.arg("-pthread").arg(&source).arg("-o").arg(&program);
    assert!(compiler.status().unwrap().success());
    let line = format!("exec {}", program.display());
    let Some(run) = succeeded(machine(None, ""), &line) else { return };
    let threads = &run.answers.record.threads;
    assert_eq!(threads.len(), 201);
    assert!(threads.iter().all(|thread| thread.mask().only() == Some(100)), "{threads:?}");
    assert!(threads.iter().all(|thread| thread.ended_s.is_some()), "{threads:?}");
}
