//! Observing and racing without privileges, disk space or time: a clear message, no leftovers, and
//! completed runs are kept.

use crate::common::{
    Arguments, Json, Place, assert_contains, can_observe, stderr, stdout, two_cpus, with_one_thread,
};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

const NOBODY: u32 = 65_534;

/// Runs the binary as an unprivileged user. `None` if this process cannot change its user.
fn without_rights(arguments: impl Arguments) -> Option<Output> {
    let mut command = Command::new(crate::PROGRAM);
    command.args(arguments.words()).current_dir("/").env("HOME", "/nowhere");
    command.env_remove("XDG_RUNTIME_DIR").env_remove("SEATMAP_RUN");
    let output = command.uid(NOBODY).gid(NOBODY).output();
    output.inspect_err(|error| seatmap_needs::skipped!("no other user here: {error}")).ok()
}

#[test]
fn advise_judges_short_command_without_privileges() {
    let Some(output) = without_rights("advise -- sleep 4") else { return };
    let said = stdout(&output);
    assert!(said.starts_with("sleep: LEAVE IT\n"), "{said}");
    assert_contains(&said, "0 busy threads of 1, 0 % of a CPU in total");
}

#[test]
fn missing_privileges_suggest_root() {
    let own = std::process::id().to_string();
    for (arguments, code, sentence) in [
        ("cell create --count 1", 1, "no folder for the state of cells and plans"),
        ("cell list", 1, "run as root, or set SEATMAP_RUN"),
        ("services undo", 1, "run as root, or set SEATMAP_RUN"),
        (&format!("run -c 0 --pid {own}"), 1, "(run it as root)"),
    ] {
        let Some(output) = without_rights(arguments) else { return };
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(sentence), "{arguments:?}: {said}");
    }
}

#[test]
fn observe_names_missing_privileges() {
    // If even this user cannot observe, privileges are not the reason.
    if !can_observe() {
        return;
    }
    for arguments in [
        "observe -- true",
        "observe --means perf -- true",
        "observe --method sockets -- true",
        "observe -p 1",
        "run --auto -- true",
    ] {
        let Some(output) = without_rights(arguments) else { return };
        let said = stderr(&output);
        if output.status.success() {
            return seatmap_needs::skipped!("every user may observe programs here");
        }
        let is_clear = said.contains("this user may not observe programs here")
            && said.contains("CAP_PERFMON");
        assert!(output.status.code() == Some(1) && is_clear, "{arguments:?}: {said}");
        let twice = "(os error 1): Operation not permitted";
        assert!(
            output.stdout.is_empty() && !said.contains(twice) && !said.contains("panicked"),
            "{said}"
        );
    }
    let output = without_rights("tune --vary numa-balancing --record /dev/shm/race.json -- true");
    let Some(output) = output.filter(|_| two_cpus().is_some()) else { return };
    let said = stderr(&output);
    assert!(
        output.status.code() == Some(1) && said.contains("--vary numa-balancing out"),
        "{said}"
    );
}

/// Seatmap cannot read ended threads, and without an observation it knows only those seen before.
#[test]
fn unobserved_program_is_not_called_sleeping() {
    if !can_observe() {
        return;
    }
    // They take 10 ms and 0.6 s on an idle computer, and longer beside others.
    for count in [1_000, 200_000] {
        let busy = format!("i=0; while [ $i -lt {count} ]; do i=$((i + 1)); done");
        let Some(output) = without_rights(["advise", "--", "sh", "-c", &busy]) else { return };
        let printed = stdout(&output);
        if !printed.contains("not seen: ") {
            return seatmap_needs::skipped!("every user may observe programs here");
        }
        if printed.contains("observed    nothing in") {
            assert!(printed.starts_with("sh: UNDECIDED\n"), "{printed}");
            assert!(!printed.contains("confidence  high"), "{printed}");
        }
        assert!(!printed.contains("hardly runs"), "{printed}");
    }
}

#[test]
fn unwritable_folder_error_names_only_given_paths() {
    for arguments in [
        "measure --quick -o m.json",
        "place --on graviton3 --pattern ring:2 -o p.json",
        "services init --seconds 200ms",
    ] {
        let Some(output) = without_rights(arguments) else { return };
        let said = stderr(&output);
        if said.contains("at least two CPUs") {
            continue;
        }
        assert!(!output.status.success(), "{arguments:?}: {said}");
        let words = "this user cannot create files in its folder";
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(!said.contains(".tmp") && !said.contains("os error"), "{arguments:?}: {said}");
    }
}

/// If no second thread can start, the result is the same or an error, but no panic.
#[test]
fn thread_limit_never_panics_or_changes_results() {
    for search in ["place --kicks 20", "tune --budget 144"] {
        let arguments = (search, "--on scc-48 --pattern ring:4");
        let Some(output) = with_one_thread(arguments) else { return };
        let said = stderr(&output);
        assert!(output.status.success() && !said.contains("panicked"), "{arguments:?}: {said}");
        assert_eq!(output.stdout, Place::new().run(arguments).stdout, "{arguments:?}");
    }
    for arguments in ["noise --seconds 0.1", "run --cpus 0 -- true"] {
        let Some(output) = with_one_thread(arguments) else { return };
        let said = stderr(&output);
        // If it can measure no CPU, the noise meter blames the list of CPUs.
        let is_error = matches!(output.status.code(), Some(1 | 2));
        assert!(is_error && !said.contains("panicked"), "{arguments:?}: {said}");
        assert!(said.contains("temporarily unavailable"), "{arguments:?}: {said}");
    }
}

/// Runs a shell line: `full` is a disk of 32 KiB, `$seatmap` the binary. `None` if this user may
/// not mount.
fn on_a_small_disk(place: &Place, line: &str) -> Option<Output> {
    std::fs::create_dir_all(place.path("full")).unwrap();
    let mount = "mount -t tmpfs -o size=32k none full";
    let run = |line: &str| {
        let mut command = place.command_of("unshare");
        command.args(["--mount", "sh", "-c", line]).env("seatmap", crate::PROGRAM).output()
    };
    if !run(mount).is_ok_and(|output| output.status.success()) {
        seatmap_needs::skipped!("this user may mount nothing");
        return None;
    }
    run(&format!("{mount} && cd full && {line}")).ok()
}

#[test]
fn tune_keeps_earlier_runs_on_full_disk() {
    if two_cpus().is_none() {
        return seatmap_needs::skipped!("one CPU");
    }
    let place = Place::new();
    // The twentieth run fills the disk.
    place.file("run", "echo x >> ../n; test $(wc -l < ../n) -ne 20 || head -c 99999 /dev/zero > fill; echo took 7\n");
    let line = "$seatmap tune --budget 57 --candidates 3 --metric 'regex:took ([0-9]+)' --lower-is-better -- sh ../run; \
                code=$?; cp seatmap-tune.json ..; exit $code";
    let Some(output) = on_a_small_disk(&place, line) else { return };
    let said = stderr(&output);
    assert!(output.status.code() == Some(1) && said.contains("No space left on device"), "{said}");
    let kept = place.read_json("seatmap-tune.json");
    let runs = kept["runs"].elements().len();
    // Disturbed runs are repeated and do not count.
    assert!((1..=19).contains(&runs), "{runs}");
    assert_contains(&said, &format!("--resume continues after the {runs} run"));
}

#[test]
fn bench_on_full_disk_fails_but_prints_results() {
    let place = Place::new();
    let fill = "head -c 99999 /dev/zero > fill 2>/dev/null";
    let Some(output) =
        on_a_small_disk(&place, &format!("{fill}; $seatmap bench --runs 2 -o b.json -- true"))
    else {
        return;
    };
    let said = stderr(&output);
    assert!(
        output.status.code() == Some(1) && said.contains("b.json: No space left on device"),
        "{said}"
    );
    if !can_observe() {
        return;
    }
    let output = on_a_small_disk(
        &place,
        &format!("{fill}; $seatmap observe -o o.json -- sh -c 'echo | cat'"),
    )
    .unwrap();
    let said = stderr(&output);
    assert!(
        output.status.code() == Some(1) && said.contains("o.json: No space left on device"),
        "{said}"
    );
    assert!(said.contains("not visible to") && !said.contains("next: seatmap place"), "{said}");
}

#[test]
fn services_leave_no_partial_file_on_full_disk() {
    let place = Place::new();
    let record = format!("{}/examples/services-record.json", crate::REPOSITORY);
    let state = format!("{}/examples/seats/cpu_manager_state", crate::REPOSITORY);
    let services = "format = \"seatmap-services/1\"\n[[service]]\nname = \"web\"\nunit = \"web\"\n";
    place.file("services.toml", services);
    place.file("plan.json", "old");
    let fill = "cp ../services.toml ../plan.json . && head -c 99999 /dev/zero > fill 2>/dev/null";
    for command in [
        format!("services plan --record {record} --on ryzen-5950x -o plan.json"),
        format!("services import {state} --on ryzen-5950x"),
    ] {
        let line =
            format!("{fill}; $seatmap {command}; code=$?; rm fill; ls -A; cat *; exit $code");
        let Some(output) = on_a_small_disk(&place, &line) else { return };
        let said = stderr(&output);
        let left = stdout(&output);
        assert!(output.status.code() == Some(1), "{command}: {said}");
        assert!(said.contains(": No space left on device"), "{command}: {said}");
        let whole = format!("plan.json\nservices.toml\nold{services}");
        assert!(left.ends_with(&whole), "{command} leaves {left}");
    }
}

/// The disk fills up at each possible page that `apply` writes.
#[test]
fn apply_changes_no_thread_without_journal_space() {
    let Some(program) = crate::check::threads(60, "sleep") else { return };
    if two_cpus().is_none() {
        return seatmap_needs::skipped!("one CPU");
    }
    let place = Place::new();
    let pid = program.pid();
    let entry = format!("[[service]]\nname = \"many\"\npid = {pid}\n");
    place.file("services.toml", format!("format = \"seatmap-services/1\"\n{entry}"));
    place.stdout("services plan --seconds 300ms -o plan.json");
    let mut plan = place.read_json("plan.json");
    plan["services"][0]["cpus"] = seatmap_os::affinity::current().unwrap()[0].to_string().into();
    plan["services"][0]["nodes"] = "".into();
    place.file("plan.json", plan.to_string());
    let before = masks(pid);
    let mut failed = 0;
    for pages in 0..7 {
        let line = format!(
            "export SEATMAP_RUN=$PWD/run; head -c 99999 /dev/zero >fill 2>/dev/null; \
             truncate -s {} fill; $seatmap services apply ../plan.json && \
             exec $seatmap services undo; code=$?; ls run/*/*.journal >&2; exit $code",
            4096 * (8 - pages)
        );
        let Some(output) = on_a_small_disk(&place, &line) else { return };
        let said = stderr(&output);
        assert_eq!(masks(pid), before, "{pages} pages: {said}");
        if output.status.success() {
            continue;
        }
        failed += 1;
        assert!(output.status.code() == Some(1), "{pages} pages: {said}");
        let is_named = ["No space left on device", "nothing is changed"];
        assert!(is_named.iter().any(|words| said.contains(words)), "{pages} pages: {said}");
        assert!(!said.contains("/services.journal\n"), "{pages} pages: {said}");
    }
    assert!((1..7).contains(&failed), "{failed}");
}

fn masks(pid: i32) -> Vec<String> {
    let tids = seatmap_os::task::threads(pid).unwrap().into_iter();
    tids.map(|tid| seatmap_os::CpuSet::of_thread(tid).unwrap().to_string()).collect()
}

fn number_in(place: &Place, name: &str) -> i32 {
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(place.path(name)).unwrap_or_default();
        match text.trim().parse() {
            Ok(number) if text.ends_with('\n') => return number,
            _ => assert!(began.elapsed() < PATIENCE, "{name}: {text:?}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn started(place: &Place, arguments: impl Arguments) -> Child {
    place.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn killed_session_ends_its_runs() {
    let place = Place::new();
    let sleeps = ["--", "sh", "-c", "echo $$ > pid; exec sleep 1000"];
    let mut verbs = vec!["bench --runs 9"];
    if two_cpus().is_some() {
        // The second race seats the program with `seatmap run`.
        verbs.extend(["tune --budget 99", "tune --budget 99 --candidates 2"]);
    }
    for verb in verbs {
        let _ = std::fs::remove_file(place.path("pid"));
        let mut session = started(&place, (verb, sleeps));
        let pid = number_in(&place, "pid");
        session.kill().unwrap();
        session.wait().unwrap();
        until("the run goes on", || !seatmap_os::task::lives(pid));
    }
}

#[test]
fn program_survives_killed_observer() {
    if !can_observe() {
        return;
    }
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("gate")).status().unwrap().success());
    let script = "echo $$ > pid; read line < gate; echo $line > said";
    let mut observer = started(&place, ["observe", "--", "sh", "-c", script]);
    let pid = number_in(&place, "pid");
    observer.kill().unwrap();
    observer.wait().unwrap();
    std::fs::write(
        place.path("gate"),
        "whole
",
    )
    .unwrap();
    until("its end", || !seatmap_os::task::lives(pid));
    assert_eq!(
        place.read("said"),
        "whole
"
    );
}

const SWITCH: &str = "/proc/sys/kernel/numa_balancing";

/// A process in whose namespaces another, harmless setting is mounted over that of NUMA balancing.
struct Switch(Child);

impl Switch {
    /// `None` if this user may not mount.
    fn new(place: &Place) -> Option<Self> {
        if !std::path::Path::new(SWITCH).exists() || two_cpus().is_none() {
            seatmap_needs::skipped!("no NUMA balancing, or one CPU");
            return None;
        }
        let number = "/proc/sys/net/ipv4/conf/lo/rp_filter";
        let line = format!(
            "{{ echo 2 >{number} && mount --bind {number} {SWITCH}; }} 2>&1 && echo made; exec sleep 1000"
        );
        let held = Command::new("unshare")
            .args(["--net", "--mount", "sh", "-c", &line])
            .current_dir(place.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut held = Switch(held.ok()?);
        let mut said = String::new();
        BufReader::new(held.0.stdout.take()?).read_line(&mut said).ok()?;
        if said != "made\n" {
            seatmap_needs::skipped!("this user may mount nothing: {said}");
            return None;
        }
        Some(held)
    }

    fn now(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/root{SWITCH}", self.0.id())).unwrap()
    }

    fn race(&self, place: &Place, script: &str) -> Command {
        place.file("run", script);
        let race = "tune --vary numa-balancing --candidates 2 --budget 30 --json --lower-is-better";
        let mut command = place.command_of("nsenter");
        // `--root`, because the test's own root may lack those mounts.
        command.args(["--net", "--mount", "--root", "--target", &self.0.id().to_string()]);
        // A folder opened earlier belongs to the other mounts.
        command.args(["--", "sh", "-c", "cd \"$0\" && exec \"$@\""]).arg(place.folder());
        command.arg(crate::PROGRAM).args(race.words());
        command.args(["--metric", "regex:took ([0-9]+)", "--", "sh", "run"]);
        command
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn tune_races_and_restores_kernel_switch() {
    let place = Place::new();
    let Some(switch) = Switch::new(&place) else { return };
    let script = format!("echo took $((10 + $(cat {SWITCH})))");
    let output = switch.race(&place, &script).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let race: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kernel = &race["candidates"][1];
    assert_eq!(kernel["name"], "NUMA balancing off");
    assert_eq!(
        kernel["seats"]["kernel"],
        serde_json::json!({"switch": "numa-balancing", "on": false})
    );
    let runs = race["runs"].elements();
    assert_eq!(runs.len(), 30);
    assert!(
        runs.iter().all(|run| run["value"] == if run["candidate"] == 1 { 10.0 } else { 12.0 }),
        "{runs:?}"
    );
    assert_eq!((&race["verdict"]["winner"], switch.now()), (&1.into(), "2\n".to_owned()));
}

#[test]
fn tune_restores_kernel_switch_after_sigint_and_sigkill() {
    for signal in [libc::SIGINT, libc::SIGKILL] {
        let place = Place::new();
        let Some(switch) = Switch::new(&place) else { return };
        let script = format!(
            "test $(cat {SWITCH}) = 2 || {{ echo $$ > pid; exec sleep 1000; }}; echo took 9"
        );
        let mut race = switch.race(&place, &script);
        let mut race = race.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pid = number_in(&place, "pid");
        assert_eq!(switch.now(), "0\n");
        // SAFETY: the child has not been waited for.
        assert_eq!(unsafe { libc::kill(race.id() as i32, signal) }, 0);
        assert!(!race.wait().unwrap().success());
        until("the switch", || switch.now() == "2\n");
        until("the run goes on", || !seatmap_os::task::lives(pid));
    }
}
