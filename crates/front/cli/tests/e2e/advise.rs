//! `seatmap advise` on real programs. Advice on a busy program depends on the computer's load, so
//! the tests check only other verdicts, masks and the document.

use crate::auto::{Relay, until};
use crate::common::{
    Guarded, Json, Place, assert_contains, can_observe, kill, stderr, stdout, two_cpus,
};
use crate::control_group::Group;
use serde_json::Value;
use std::process::{Command, Stdio};

fn sleeper() -> Guarded {
    Guarded(Command::new("sleep").arg("1000").spawn().unwrap())
}

#[test]
fn sleeping_program_is_left_alone() {
    let place = Place::new();
    let sleeper = sleeper();
    let pid = sleeper.0.id().to_string();
    let said = place.stdout(format!("advise --pid {pid} --html page.html"));
    assert!(said.starts_with(&format!("sleep ({pid}): LEAVE IT\n")), "{said}");
    assert!(said.contains("it hardly runs") && said.contains("  changed     nothing\n"), "{said}");
    assert!(said.lines().count() <= 16, "{said}");
    let page = place.read("page.html");
    assert!(page.contains("LEAVE IT") && page.contains("it hardly runs"));
}

#[test]
fn many_light_threads_are_not_short_tasks() {
    let Some(program) = crate::check::threads(40, "nibble") else { return };
    let place = Place::new();
    let advice = place.json(["advise", "--pid", &program.pid().to_string(), "--json"]);
    let evidence = &advice["evidence"];
    let percent = |key: &str| evidence[key].number();
    assert!(percent("lasting_percent") > 0.5 * percent("used_percent"), "{evidence:#}");
    assert_ne!(advice["conclusion"]["reason"]["kind"], "short-tasks", "{advice:#}");
}

#[test]
fn recommended_command_raises_exhausted_quota() {
    let Some(group) = Group::with_quota(20) else { return };
    let place = Place::new();
    let mut spin = Command::new("sh");
    spin.args(["-c", "while :; do :; done"]);
    let spin = Guarded(group.begun(&spin));
    let pid = spin.0.id().to_string();
    let advice = place.json(format!("advise --pid {pid} --json"));
    assert_eq!(advice["format"], "seatmap-advice/1");
    assert_eq!(advice["conclusion"]["verdict"], "do-this", "{advice:#}");
    assert_eq!(advice["conclusion"]["reason"]["finding"]["rule"], "quota", "{advice:#}");
    let command = advice["paste"]["command"].text();
    let file = command.rsplit(' ').next().unwrap();
    let quota = std::fs::read_to_string(file).unwrap();
    assert!(Command::new("sh").args(["-c", command]).status().unwrap().success(), "{command}");
    assert_ne!(std::fs::read_to_string(file).unwrap(), quota);
    let after = place.json(format!("advise --pid {pid} --json"));
    assert_ne!(after["conclusion"]["reason"]["finding"]["rule"], "quota", "{after:#}");
    let undo = advice["paste"]["undo"].text();
    assert!(Command::new("sh").args(["-c", undo]).status().unwrap().success(), "{undo}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), quota, "{undo}");
}

const CLOCK: &str = "command:date +%s%N";

fn trial<'a>(pid: &'a str, metric: &'a str, seconds: &'a str) -> [&'a str; 9] {
    ["advise", "--pid", pid, "--prove", "--seconds", seconds, "--metric", metric, "--json"]
}

#[test]
fn trial_restores_masks() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let before = relay.masks();
    let pid = relay.pid();
    let advice = place.json(trial(&pid, CLOCK, "4"));
    let trial = &advice["evidence"]["trial"];
    assert_eq!(trial["refused"], 0, "{advice:#}");
    assert!(trial["rounds"].as_u64().is_some_and(|rounds| rounds > 0), "{advice:#}");
    let names = trial["candidates"].elements().iter();
    let names: Vec<&Value> = names.map(|tried| &tried["candidate"]["name"]).collect();
    assert!(names.contains(&&"together".into()), "{advice:#}");
    assert_eq!(relay.masks(), before);
}

#[test]
fn killed_trial_restores_masks() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let before = relay.masks();
    let pid = relay.pid();
    let mut command = place.command(trial(&pid, CLOCK, "600"));
    let mut advise = Guarded(command.stdout(Stdio::null()).spawn().unwrap());
    until("seats", || relay.different_masks() > 1);
    advise.0.kill().unwrap();
    advise.0.wait().unwrap();
    until("the masks from before", || relay.masks() == before);
}

#[test]
fn interrupted_trial_restores_masks() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let before = relay.masks();
    let pid = relay.pid();
    let mut command = place.command(trial(&pid, CLOCK, "600"));
    let advise = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("seats", || relay.different_masks() > 1);
    let signalled = kill().args(["-INT", &advise.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let output = advise.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert_contains(&said, "interrupted: the program's CPUs are as before");
    assert_eq!(relay.masks(), before);
}

#[test]
fn command_runs_to_completion() {
    if !can_observe() {
        return;
    }
    let place = Place::new();
    let script = "echo begun; sleep 0.2; echo done > end; exit 3";
    let output = place.run(["advise", "--", "sh", "-c", script]);
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.starts_with("begun\nsh: UNDECIDED\n"), "{printed}");
    assert_contains(&printed, "it ended with exit code 3");
    assert!(!printed.contains("seatmap tune"), "a command that fails is not raced: {printed}");
    assert_eq!(place.read("end"), "done\n");
}

#[test]
fn name_of_running_program_starts_no_second_copy() {
    let place = Place::new();
    let sleep = seatmap_launch::Executable::find(&["sleep".into()]).unwrap();
    let name = "runs-already-it-does";
    std::fs::copy(sleep.path.to_str().unwrap(), place.path(name)).unwrap();
    let running = Guarded(Command::new(place.path(name)).arg("1000").spawn().unwrap());
    let pid = running.0.id();
    let path = format!("{}:{}", place.folder().display(), std::env::var("PATH").unwrap());
    for (verb, way) in [("advise", format!("--name {name}")), ("observe", format!("--pid {pid}"))] {
        let output = place.command([verb, name]).env("PATH", &path).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let sentence =
            format!("{name} is already running as process {pid}; 'seatmap {verb} {way}' examines");
        assert_contains(&said, &sentence);
    }
    // After two dashes it is a command, which exits at once without a duration.
    let output = place.command(["advise", "--", name]).env("PATH", &path).output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn still_running_command_is_reported() {
    let place = Place::new();
    let output = place.run("advise -- sleep 8");
    let said = stderr(&output);
    assert_contains(&said, "seatmap: the command continues to run; Ctrl-C ends it\n");
}

#[test]
fn command_ended_by_timeout_is_not_failure() {
    if !can_observe() {
        return;
    }
    let place = Place::new();
    let output = place.run("advise -- timeout 1 sleep 10");
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    // On a crowded computer the verdict depends on the other programs.
    assert!(!printed.contains("the command failed"), "{printed}");
    let words = printed.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(words.contains("exit code 124, timeout(1)'s code for a timeout"), "{printed}");
    assert!(!words.contains("seatmap tune"), "{printed}");
    // Such runs measure only the timeout.
    for verb in ["bench", "tune"] {
        let said = place.stderr([verb, "--", "timeout", "0.1", "sleep", "10"], 1);
        assert!(
            said.contains("timeout(1)'s code for") && said.contains("let it end by itself"),
            "{said}"
        );
    }
}

#[test]
fn advice_for_other_machine_runs_no_trial() {
    let Some(cpus) = two_cpus().filter(|_| can_observe()) else { return };
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let measured = place.run(format!("measure --quick --cpus {cpus} -o other.json"));
    if !measured.status.success() {
        let said = stderr(&measured);
        return seatmap_needs::skipped!("nothing can be measured: {said}");
    }
    let elsewhere = ["advise", "--pid", &relay.pid(), "--on", "other.json", "--json"];
    let advice = place.json(elsewhere);
    let most = &advice["evidence"]["most_gain"];
    assert!(most["percent"].as_f64().is_some_and(|percent| percent >= 0.0), "{advice:#}");
    assert_eq!(advice["evidence"]["trial"], Value::Null, "{advice:#}");
    assert_ne!(advice["conclusion"]["verdict"], "do-this", "{advice:#}");
}

const TWO_SPIN: &str = "while :; do :; done & while :; do :; done";

#[test]
fn limiting_mask_is_named() {
    let Some(cpus) = two_cpus().filter(|_| can_observe()) else { return };
    let place = Place::new();
    let one = cpus.split(',').next().unwrap();
    let mut spin = Command::new("taskset");
    spin.args(["-c", one, "sh", "-c", TWO_SPIN]).stdout(Stdio::null());
    let spin =
        Guarded(std::os::unix::process::CommandExt::process_group(&mut spin, 0).spawn().unwrap());
    let group = spin.0.id();
    let advice = place.json(["advise", "--pid", &group.to_string(), "--json"]);
    let killed = kill().args(["-KILL", &format!("-{group}")]).status().unwrap();
    assert!(killed.success());
    // Idle CPUs make the mask wrong; busy ones leave the question open.
    let reason = &advice["conclusion"]["reason"];
    let is_named = reason["kind"] == "own-mask" || reason["finding"]["rule"] == "shared-cpu";
    assert!(is_named, "{advice:#}");
    assert_ne!(advice["conclusion"]["verdict"], "leave-it", "{advice:#}");
}

/// The pool ends during the look, and is bound to one CPU from its start.
#[test]
fn short_command_is_judged_by_its_mask() {
    let Some(cpus) = two_cpus().filter(|_| can_observe()) else { return };
    let place = Place::new();
    let one = cpus.split(',').next().unwrap();
    let pool = "end=$(($(date +%s)+3)); for k in 1 2 3; do (while [ $(date +%s) -lt $end ]; do \
                i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done) & done; wait";
    let advice = place.json(["advise", "--json", "--", "taskset", "-c", one, "sh", "-c", pool]);
    let evidence = &advice["evidence"];
    assert_eq!(evidence["has_ended"], true, "{advice:#}");
    assert_eq!((&evidence["cpus"], &evidence["cpu_count"]), (&one.into(), &1.into()), "{advice:#}");
}

#[test]
fn individually_pinned_threads_are_not_tried() {
    let Some(cpus) = two_cpus().filter(|_| can_observe()) else { return };
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let pid = relay.pid();
    let both: Vec<&str> = cpus.split(',').collect();
    let tids = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    for (at, tid) in tids.map(|one| one.unwrap().file_name()).enumerate() {
        let bound = Command::new("taskset")
            .args(["-cp", both[at % 2]])
            .arg(tid)
            .stdout(Stdio::null())
            .status();
        assert!(bound.unwrap().success());
    }
    let before = relay.masks();
    let advice = place.json(trial(&pid, CLOCK, "2"));
    assert_eq!(advice["evidence"]["trial"], Value::Null, "{advice:#}");
    assert_eq!(advice["evidence"]["no_trial"]["kind"], "bound", "{advice:#}");
    assert_eq!(relay.masks(), before);
}

#[test]
fn metric_without_value_is_named() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let pid = relay.pid();
    let words = ["advise", "--prove", "--seconds", "3", "--metric", "command:false", "--pid", &pid];
    let said = place.stdout(words);
    assert_contains(&said, "the metric gave no value: ");
}

/// Two threads that take turns by a condition variable, without a byte between them.
const TURNS: &str = "
import threading
turn, changed = [0], threading.Condition()
def body(me):
    while True:
        with changed:
            changed.wait_for(lambda: turn[0] == me)
            turn[0] = 1 - me
            changed.notify_all()
for me in range(2): threading.Thread(target=body, args=(me,)).start()
";

#[test]
fn shared_memory_is_judged_by_switches_and_user_time() {
    if two_cpus().is_none() || !can_observe() || !seatmap_needs::tool("python3") {
        return;
    }
    let place = Place::new();
    let program = Guarded(Command::new("python3").args(["-c", TURNS]).spawn().unwrap());
    let pid = program.0.id().to_string();
    let advice = place.json(["advise", "--prove", "--seconds", "4", "--pid", &pid, "--json"]);
    let trial = &advice["evidence"]["trial"];
    assert_eq!(trial["work"], "switches and user time", "{advice:#}");
    let mut candidates = trial["candidates"].elements().iter();
    assert!(trial["rounds"].as_u64().is_some_and(|rounds| rounds > 0), "{advice:#}");
    assert!(candidates.any(|tried| tried["candidate"]["name"] == "together"), "{advice:#}");
}
