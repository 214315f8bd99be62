//! Sentences that were once untrue, each in the case that revealed it.

use crate::check::is_root;
use crate::common::{Arguments, Json, Place, assert_contains, stderr, stdout};
use crate::control_group::Group;
use std::process::{Command, Stdio};

fn cpu() -> String {
    super::run::programs::two_cpus()[0].to_string()
}

#[test]
fn zombie_is_refused_by_every_verb() {
    let mut ended = Command::new("true").spawn().unwrap();
    let pid = ended.id().to_string();
    while !std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") Z ") {}
    let place = Place::new();
    for arguments in [
        &["run", "--pid", &pid, "--cpus", &cpu()][..],
        &["check", "--pid", &pid],
        &["top", "--once", "--pid", &pid],
    ] {
        place.refuses(arguments, "has ended (a zombie: its parent has not reaped it)");
    }
    ended.wait().unwrap();
}

/// A closed pipe must not turn a wrong seating into a right one.
#[test]
fn closed_pipe_keeps_check_exit_code() {
    let place = Place::new();
    let mut program = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = program.id().to_string();
    place.file(
        "seats.json",
        format!(r#"{{"format":"seatmap-plan/1","machine":"host","placement":[{}]}}"#, cpu()),
    );
    let mut check = place.command(format!("check --pid {pid} --expect seats.json --any-machine"));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = check.stdout(writer).stderr(Stdio::piped()).output().unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    if super::run::programs::are_two(super::run::programs::two_cpus()) {
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    }
}

/// An earlier run's report must not stay if this run's end is unknown.
#[test]
fn detached_report_marks_end_as_unseen() {
    let place = Place::new();
    place.file("report.json", "an earlier run's");
    let run = format!("run --cpus {} --detach --report report.json -- sleep 60", cpu());
    // The background program would keep a pipe open.
    let lines = std::fs::File::create(place.path("lines")).unwrap();
    let started = place.command(run).stdout(Stdio::null()).stderr(lines).status();
    assert!(started.unwrap().success());
    let said = place.read("lines");
    let number = |after: &str| {
        said.split(after).nth(1).unwrap().split([';', ' ']).next().unwrap().to_owned()
    };
    let end = |pid: String| crate::common::kill().args(["-KILL", &pid]).status().unwrap();
    let report = || serde_json::from_str::<serde_json::Value>(&place.read("report.json")).unwrap();
    assert_eq!(report()["complete"], false);
    assert!(end(number("; process ")).success() && end(number(" as process ")).success());
    assert_eq!(report()["complete"], false);
    place.refuses("show report.json", "it was written before the run ended: the process");
    place.stdout(["run", "-q", "--cpus", &cpu(), "--report", "report.json", "true"]);
    assert_eq!(report()["complete"], true);
}

#[test]
fn runs_sharing_a_cpu_are_reported() {
    let place = Place::new();
    let cpu = cpu();
    let run = |seconds| ["run", "-q", "--strict", "--cpus", &cpu, "--", "sleep", seconds];
    let mut first = place.command(run("60")).spawn().unwrap();
    let second = place.run(run("2"));
    // SIGKILL would end only the launcher.
    crate::common::kill().args(["-TERM", &first.id().to_string()]).status().unwrap();
    first.wait().unwrap();
    let said = stderr(&second);
    assert_contains(&said, &format!("CPU {cpu} is also the seat of a thread of process "));
    assert_contains(&said, " ('sleep'), seated by another 'seatmap run' (process ");
}

/// A program seated while it ran keeps its seat without a Seatmap process.
#[test]
fn running_programs_sharing_a_cpu_are_reported() {
    let place = Place::new();
    let cpu = cpu();
    let mut sleepers: Vec<_> =
        (0..2).map(|_| Command::new("sleep").arg("60").spawn().unwrap()).collect();
    let pids: Vec<String> = sleepers.iter().map(|sleeper| sleeper.id().to_string()).collect();
    let attach = |pid: &str| place.run(format!("run -q --cpus {cpu} --pid {pid}"));
    let told =
        format!("CPU {cpu} is also the only CPU of a thread of process {} ('sleep')", pids[0]);
    let first = stderr(&attach(&pids[0]));
    let second = stderr(&attach(&pids[1]));
    let third = place.run(format!("run -q --strict --cpus {cpu} -- sleep 2"));
    for sleeper in &mut sleepers {
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
    assert!(!first.contains(&pids[1]), "{first}");
    assert_contains(&second, &told);
    assert!(stderr(&third).contains(&told), "{}", stderr(&third));
}

#[test]
fn foreign_run_on_same_cpu_is_reported() {
    if !is_root() || !crate::run::programs::installed("setpriv") {
        return seatmap_needs::skipped!("this needs root and setpriv");
    }
    let place = Place::new();
    let run = ["run", "-q", "--strict", "--cpus", &cpu(), "--", "sleep"];
    let mut first = place.command((run, "60")).spawn().unwrap();
    let mut second = Command::new("setpriv");
    second.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    second.arg(env!("CARGO_BIN_EXE_seatmap")).args(run).arg("2").current_dir("/");
    let second = second.output().unwrap();
    crate::common::kill().args(["-TERM", &first.id().to_string()]).status().unwrap();
    first.wait().unwrap();
    let said = stderr(&second);
    if said.contains("ermission denied") {
        return seatmap_needs::skipped!("another user may not start the program here");
    }
    // Its seating is hidden, but the masks of its threads are visible.
    let words = format!("CPU {} is also the only CPU of a thread of process ", cpu());
    assert!(said.contains(&words) && said.contains(" ('sleep')"), "{said}");
}

/// A rule may give a seat outside `--cpus`.
#[test]
fn busy_threads_keep_seats_of_their_rule() {
    let [a, b] = super::run::programs::two_cpus();
    if !super::run::programs::are_two([a, b]) {
        return seatmap_needs::skipped!("one CPU");
    }
    let Some(program) = super::run::programs::spin() else { return };
    let place = Place::new();
    let rule = format!("worker-*=cpus:{b}");
    let cpus = a.to_string();
    let busy = format!("sleep 1.5 | {program} 4 spin");
    let output = place.run((format!("run --match {rule} --cpus {cpus} --"), ["sh", "-c", &busy]));
    assert!(!stderr(&output).contains("may run on all seats"), "{}", stderr(&output));
}

/// Threads' files stay open only while there is room for others.
#[test]
fn open_file_limit_hides_no_thread() {
    let Some(program) = crate::check::threads(20, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid().to_string();
    let top = format!("top --json --pid {pid}");
    let mut limited = place.command_of("sh");
    limited.args(["-c", "ulimit -n 8; exec \"$0\" \"$@\"", crate::PROGRAM]).args(top.words());
    let output = limited.output().unwrap();
    let look: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(look["threads"].elements().len(), 21, "{}", stderr(&output));
    drop(program);
}

/// Such a root is an ordinary user when it opens the host's files.
#[test]
fn doctor_sends_namespace_root_to_host_root() {
    let place = Place::new();
    let mut doctor = place.command_of("unshare");
    doctor.args(["--user", "--map-root-user", crate::PROGRAM, "doctor", "--json"]);
    doctor.current_dir("/");
    // SAFETY: geteuid cannot fail and touches nothing.
    if unsafe { libc::geteuid() } == 0 {
        // Root's user id would keep access to its files.
        std::os::unix::process::CommandExt::uid(&mut doctor, 65_534);
    }
    let output = doctor.output().unwrap();
    let Ok(document) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        return seatmap_needs::skipped!("no user namespace: {}", stderr(&output));
    };
    let findings = document["findings"].elements();
    let remedies: Vec<&str> = findings.iter().filter_map(|one| one["remedy"].as_str()).collect();
    assert!(remedies.iter().all(|remedy| !remedy.starts_with("echo ")), "{remedies:?}");
    assert!(remedies.iter().any(|remedy| remedy.starts_with("ask root of the host to write")));
}

/// `/sys` may be absent, another file system, or have its control groups covered.
#[test]
fn false_sys_is_never_judged_healthy() {
    if !is_root() {
        return seatmap_needs::skipped!("this needs root");
    }
    let place = Place::new();
    let within = |mounts: &str, line: &str| {
        let line = format!("{mounts} && exec $seatmap {line}");
        let mut command = place.command_of("unshare");
        command.args(["--mount", "sh", "-c", &line]).env("seatmap", crate::PROGRAM);
        command.output().unwrap()
    };
    let absent = "mount -t tmpfs none /sys";
    if !within(absent, "--version").status.success() {
        return seatmap_needs::skipped!("this user may mount nothing");
    }
    let foreign = "mkdir -p sys/devices/system/cpu && echo 0-63 >sys/devices/system/cpu/online && \
                   mount --bind sys /sys";
    for (mounts, remark, refusal) in [
        (absent, "/sys is not mounted here", "because /sys is not mounted"),
        (foreign, "/sys is not the kernel's", "/sys is not the kernel's"),
    ] {
        for line in ["doctor", "noise --seconds 0.05", "cell list"] {
            let refused = within(mounts, line);
            assert_eq!(refused.status.code(), Some(1), "{line}: {}", stderr(&refused));
            assert!(stderr(&refused).contains(refusal), "{line}: {}", stderr(&refused));
        }
        for line in ["bench --runs 1 --warmup 0 -- true", "advise -- sleep 0.3"] {
            let said = stderr(&within(mounts, line));
            assert!(said.contains(remark), "{line}: {said}");
        }
    }
    // An unreadable quota is not an absent one.
    let Some(group) = Group::with_quota(100) else { return };
    let joined = format!("echo $$ >{}/cgroup.procs", group.0.display());
    let covered = format!("{joined} && mount -t tmpfs none /sys/fs/cgroup");
    for (mounts, line, why) in [
        (joined, "advise -- sleep 0.3", "it ended"),
        (covered, "advise -- sleep 2", "the cgroup hierarchy with 'cpu' of the"),
    ] {
        let output = within(&mounts, line);
        let said = stdout(&output);
        let told = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&format!("; CPU quota unknown ({why}")), "{said}");
    }
}
