//! Ctrl-C, SIGKILL, and resuming after them.

use crate::common::{Arguments, Place, assert_contains, files, stderr, two_cpus};
use seatmap_os::claim::ComputerClaim;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

const MACHINE: &str = "measure --on graviton3 --cpus 0-15 --passes 60 -o";

const ENDLESS: &str = "measure --on graviton3 --cpus 0-15 --passes 100000 -o";

/// Number of looks, one per millisecond, before a run counts as hung.
const MOST_LOOKS: u32 = 120_000;

fn started(place: &Place) -> Child {
    started_with(place, (ENDLESS, "x.json"))
}

fn started_with(place: &Place, arguments: impl Arguments) -> Child {
    started_until(place, arguments, 300).unwrap()
}

/// Waits for `wanted` lines in the journal. `None` if the run ended before.
#[expect(clippy::panic, reason = "helpers of tests fail as tests do")]
fn started_until(place: &Place, arguments: impl Arguments, wanted: usize) -> Option<Child> {
    let mut command = place.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..MOST_LOOKS {
        if lines(place) >= wanted {
            return Some(child);
        }
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    panic!("no visits were kept: {:?}", child.wait_with_output());
}

fn lines(place: &Place) -> usize {
    std::fs::read(place.path("x.json.journal"))
        .map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

fn signalled(mut child: Child, signal: i32) -> Output {
    // SAFETY: the child has not been waited for.
    let sent = unsafe { libc::kill(child.id() as libc::pid_t, signal) };
    assert_eq!(sent, 0);
    child.wait().unwrap();
    child.wait_with_output().unwrap()
}

fn resumed(place: &Place) -> serde_json::Value {
    place.stdout((MACHINE, "x.json --resume"));
    assert_eq!(files(place), ["x.json"], "the journal is gone");
    serde_json::from_str(&place.read("x.json")).unwrap()
}

/// Turns the journal of an endless run into that of 60 passes. Keeps a partial last line.
fn shortened(place: &Place) {
    let text = place.read("x.json.journal").replacen(
        "\"least_passes\":100000,\"most_passes\":100000",
        "\"least_passes\":60,\"most_passes\":60",
        1,
    );
    let whole: String =
        text.split_inclusive('\n').filter(|line| line.ends_with('\n')).take(1000).collect();
    place.file("x.json.journal", whole);
}

#[test]
fn ctrl_c_keeps_results_and_explains_resume() {
    let place = Place::new();
    let output = signalled(started(&place), libc::SIGINT);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with("seatmap: interrupted; ") && stderr.contains("--resume"),
        "{stderr}"
    );
    assert!(output.stdout.is_empty());
    assert_eq!(files(&place), ["x.json.journal"]);
    let told: usize = stderr.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    assert_eq!(lines(&place), told + 1, "every visit told is on file, below the header");
    shortened(&place);
    let profile = resumed(&place);
    assert_eq!(profile["core_distance"]["protocol"]["passes"], 60);
    assert_eq!(profile["core_distance"]["protocol"]["kept"], 60 * 16 * 120);
}

#[test]
fn sigkill_loses_no_finished_visit() {
    let place = Place::new();
    let output = signalled(started(&place), libc::SIGKILL);
    assert_eq!(output.status.code(), None);
    let journal = place.read("x.json.journal");
    let whole = &journal[..=journal.rfind('\n').unwrap()];
    assert!(whole.lines().count() >= 300);
    for line in whole.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    shortened(&place);
    let torn = place.read("x.json.journal") + "{\"pass\":9,\"i\":0,\"j";
    place.file("x.json.journal", torn);
    assert_eq!(resumed(&place)["core_distance"]["protocol"]["kept"], 60 * 16 * 120);
}

#[test]
fn second_run_on_same_file_is_refused() {
    let place = Place::new();
    let first = started(&place);
    for resume in ["", "--resume"] {
        let second = place.run((MACHINE, "x.json", resume));
        assert!(stderr(&second).contains("another measurement is running"), "{second:?}");
        assert_eq!(second.status.code(), Some(1), "work, not input");
    }
    signalled(first, libc::SIGTERM);
}

#[test]
fn resume_refuses_different_run() {
    let place = Place::new();
    signalled(started(&place), libc::SIGINT);
    let refused = |changed: &str| {
        let line = place.one_line_refusal((changed, "-o x.json --resume"));
        assert!(
            line.ends_with("repeat that run's options, or run without --resume to start over"),
            "{line}"
        );
        line.split_once("it belongs to another run (")
            .unwrap()
            .1
            .split_once(");")
            .unwrap()
            .0
            .to_owned()
    };
    let begun = "measure --on graviton3 --cpus 0-15 --passes 100000";
    assert_eq!(refused(&format!("{begun} --seed 2")), "--seed: 1 in the journal, 2 now");
    let other = "measure --on graviton3 --cpus 0-3 --passes 3";
    let passes = "--quick, --thorough or --passes: 100000 passes of 16 batches in the journal, 3 passes of 16 batches now";
    assert_eq!(refused(other), format!("CPUs: 0-15 in the journal, 0-3 now; {passes}"));
    let journal = place.read("x.json.journal");
    place.file("x.json.journal", journal.replacen("seatmap-journal/2", "seatmap-journal/1", 1));
    let resume = (ENDLESS, "x.json --resume");
    assert_eq!(
        place.one_line_refusal(resume),
        "seatmap: x.json.journal: its format is 'seatmap-journal/1', but this program reads seatmap-journal/2; \
         run without --resume to start over"
    );
    place.file("x.json.journal", "no journal\n");
    place.refuses(resume, "x.json.journal:1: ");
}

#[test]
fn resume_refuses_other_processor_of_same_name() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let passes = format!("measure --cpus {cpus} --passes 100000 -o x.json");
    signalled(started_with(&place, &passes), libc::SIGKILL);
    let journal = place.read("x.json.journal");
    let head: serde_json::Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    let changes = [("cpu_model", "processor"), ("boot_id", "boot"), ("name", "machine")];
    for (key, told) in changes {
        let Some(here) = head["machine"][key].as_str() else { continue };
        place.file(
            "x.json.journal",
            journal.replacen(&format!("\"{key}\":\"{here}\""), &format!("\"{key}\":\"other\""), 1),
        );
        // Another test's measurement may delay it, which is a line of its own.
        let refusal = place.stderr((&passes, "--resume"), 2);
        let told = format!("it belongs to another run ({told}: other in the journal, {here} now)");
        assert_contains(&refusal, &told);
    }
}

#[test]
fn repeatedly_killed_run_ends_with_same_bits() {
    // The first machine is replayed with noise; the others are simulated in virtual time.
    let machines = [
        ["graviton3", "0-15", "150"],
        ["xeon-e5-2680-2s", "0-31", "40"],
        ["xeon-phi-5110p", "1,21,41,61,81,101,121,141", "400"],
    ];
    for [machine, cpus, passes] in machines {
        let place = Place::new();
        let run = format!("measure --on {machine} --cpus {cpus} --passes {passes} --loaded -o");
        place.stdout((&run, "once.json"));
        let resumed = (&run, "x.json --resume");
        let mut killed = 0;
        for _ in 0..4 {
            let Some(child) = started_until(&place, resumed, lines(&place) + 150) else { break };
            signalled(child, libc::SIGKILL);
            killed += 1;
        }
        assert!(killed > 0, "{machine}: none was killed in time");
        place.stdout(resumed);
        assert!(!place.path("x.json.journal").exists());
        let figures = |name: &str| {
            let mut profile = place.read_json(name);
            // Both depend on the wall clock.
            profile["core_distance"]["protocol"]["seconds"] = serde_json::Value::Null;
            profile["origin"]["date"] = serde_json::Value::Null;
            profile.to_string()
        };
        assert_eq!(figures("x.json"), figures("once.json"), "{machine}");
    }
}

#[test]
fn state_folder_writable_by_others_is_unused() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let measure = ["measure", "--cpus", &cpus, "--quick"];
    let (state, mine) = (place.path("state"), place.path("state/seatmap"));
    std::fs::create_dir_all(&mine).unwrap();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    mode(&state, 0o777);
    let output = place.run(measure);
    let stderr = stderr(&output);
    assert!(output.status.success(), "it is measured all the same: {stderr}");
    assert_contains(&stderr, "the measurement will not be saved: other users can write");
    assert_eq!(std::fs::read_dir(&mine).unwrap().count(), 0);
    std::fs::write(mine.join(format!("{}.json", seatmap_os::state::host_name())), "{}").unwrap();
    let line = place.one_line_refusal("show host");
    assert!(line.contains("other users can write") && line.contains("run 'chmod go-w"), "{line}");
    mode(&state, 0o755);
    std::fs::remove_dir_all(&mine).unwrap();
    std::os::unix::fs::symlink(place.folder(), &mine).unwrap();
    let stderr = String::from_utf8(place.run(measure).stderr).unwrap();
    assert!(
        stderr.contains("the measurement will not be saved: ")
            && stderr.contains("is a symbolic link"),
        "{stderr}"
    );
    assert_eq!(files(&place), [""; 0], "nothing where the link leads");
}

#[test]
fn link_in_state_folder_is_not_followed() {
    let place = Place::new();
    let mine = place.path("state/seatmap");
    std::fs::create_dir_all(&mine).unwrap();
    let victim = place.file("victim", "precious\n");
    let name = seatmap_os::state::host_name();
    for ending in ["journal", "json"] {
        std::os::unix::fs::symlink(place.path(victim), mine.join(format!("{name}.{ending}")))
            .unwrap();
    }
    place.refuses("show host", "is a link or a special file");
    let Some(_) = two_cpus() else { return };
    let output = place.run("measure --quick");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    std::fs::remove_file(mine.join(format!("{name}.journal"))).unwrap();
    assert!(place.run("measure --quick").status.success());
    assert_eq!(place.read(victim), "precious\n");
    assert!(!mine.join(format!("{name}.json")).is_symlink(), "the link was replaced");
    place.stdout("show host");
}

#[test]
fn resume_discards_impossible_figures() {
    let place = Place::new();
    signalled(started(&place), libc::SIGINT);
    let journal = place.read("x.json.journal");
    let header = journal.lines().next().unwrap();
    for (ns, discarded) in [
        ("-1e30", "0"),
        ("1e300", "0"),
        ("null", "0"),
        ("0.5 0.5 0.5", "0"),
        ("50", "18446744073709551615"),
    ] {
        let record = format!(
            "{{\"pass\":0,\"i\":0,\"j\":1,\"ns\":\"{ns}\",\"discarded\":[{discarded},1,1]}}"
        );
        place.file("x.json.journal", format!("{header}\n{record}\n"));
        let line = place.one_line_refusal((ENDLESS, "x.json --resume"));
        assert!(line.contains("x.json.journal:2: ") && line.contains("delete the file"), "{line}");
        assert!(!place.path("x.json").exists());
    }
}

#[test]
fn home_search_can_be_interrupted() {
    let place = Place::new();
    let homes = "measure --on xeon-phi-5110p --homes 65536 --passes 1 -o x.json";
    let mut command = place.command(homes);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The header precedes the first visit, and 65536 lines take far longer.
    (0..MOST_LOOKS)
        .take_while(|_| lines(&place) == 0)
        .for_each(|_| std::thread::sleep(Duration::from_millis(1)));
    let output = signalled(child, libc::SIGTERM);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("--resume"), "{output:?}");
    assert_eq!(files(&place), ["x.json.journal"]);
}

#[test]
fn second_measurement_waits_for_the_first() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let measure = ["measure", "--cpus", &cpus, "--quick", "-o", "x.json"];
    let waiting = || {
        let mut child =
            place.command(measure).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut told).unwrap();
        let who = format!(
            "waiting for another measurement of this host (process {}) to end",
            std::process::id()
        );
        assert_contains(&told, &who);
        assert_eq!(files(&place), [""; 0], "nothing is measured meanwhile");
        child
    };
    let claim = ComputerClaim::wait(&mut |_| ControlFlow::Continue(())).unwrap();
    let output = signalled(waiting(), libc::SIGINT);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("interrupted; nothing was measured"), "{output:?}");
    let mut second = waiting();
    drop(claim);
    assert!(second.wait().unwrap().success());
    assert_eq!(files(&place), ["x.json"]);
}
