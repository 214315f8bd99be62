//! `seatmap pretend`, on programs that every computer has.

mod pinning;
mod verbs;

use crate::common::{Arguments, Json, Place, assert_contains, is_no_pretence};
use std::process::Output;

/// Two packages of 32 cores with two hardware threads each: CPU `k` and CPU `k + 64` share a core.
const MACHINE: &str = "xeon-8375c-2s";

/// The output of `seatmap pretend`, or `None` if this computer does not allow it.
fn pretend(place: &Place, arguments: impl Arguments) -> Option<Output> {
    let output = place.run(("pretend", arguments));
    (!is_no_pretence(&output)).then_some(output)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn program_counts_cpus_of_pretended_machine() {
    let place = Place::new();
    let Some(output) = pretend(&place, [MACHINE, "-q", "--", "nproc"]) else { return };
    assert_eq!((text(&output.stdout).trim(), text(&output.stderr).as_str()), ("128", ""));
    let output = pretend(&place, [MACHINE, "--cpus", "2-5", "nproc"]).unwrap();
    assert_eq!(text(&output.stdout).trim(), "4");
    let said = text(&output.stderr);
    assert!(said.starts_with("on xeon-8375c-2s: 128 CPUs, 4 of them for the program\n"), "{said}");
    assert_contains(&said, "2-5 (inherited)");
}

#[test]
fn exit_code_is_the_programs_unless_check_fails() {
    let place = Place::new();
    let Some(output) = pretend(&place, [MACHINE, "-q", "sh", "-c", "exit 7"]) else { return };
    assert_eq!(output.status.code(), Some(7));
    if !seatmap_needs::tool("taskset") {
        return;
    }
    let check = |line: &str| {
        let arguments = [MACHINE, "--check", "one-per-core", "-q", "sh", "-c", line];
        let output = pretend(&place, arguments).unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let piled = "taskset -cp 0 $$ > /dev/null; taskset -c 64 sleep 0.3 & exec sleep 0.4";
    let (code, said) = check(piled);
    assert_eq!(code, Some(1), "{said}");
    assert_contains(&said, "share one core (CPUs 0,64)");
    let (code, said) = check(&piled.replace("64", "1"));
    assert_eq!((code, said.as_str()), (Some(0), ""), "nothing is said of a program that is fine");
}

#[test]
fn refused_mask_fails_check_unless_retried() {
    let place = Place::new();
    if !seatmap_needs::tool("taskset") {
        return;
    }
    let check = |line: &str| {
        let program = ["--json", "sh", "-c", line];
        let arguments = [MACHINE, "--cpus", "0-3", "--check", "one-per-cpu"];
        let output = pretend(&place, (arguments, program))?;
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = report["findings"].elements().iter();
        let refused = found.filter(|one| one["rule"] == "refused").cloned().collect::<Vec<_>>();
        let masks: Vec<serde_json::Value> = report["threads"]
            .elements()
            .iter()
            .flat_map(|thread| thread["refused"].elements().clone())
            .map(|mask| mask["cpus"].clone())
            .collect();
        Some((output.status.code(), refused, masks))
    };
    let wrong = "taskset -cp 100 $$; taskset -cp 4,101 $$; exec sleep 0.3";
    let Some((code, found, masks)) = check(wrong) else { return };
    assert_eq!((code, masks.len()), (Some(1), 2), "{found:?}");
    assert_eq!(masks, ["100", "4,101"]);
    assert_eq!((found.len(), &found[0]["gravity"]), (1, &"wrong".into()), "{found:?}");
    let what = found[0]["what"].text();
    assert_eq!(what, "1 thread could not be bound to CPUs 4,100,101: the program may use CPUs 0-3");
    let (_, found, _) = check("taskset -cp 100 $$; taskset -cp 2 $$; exec sleep 0.3").unwrap();
    assert_eq!((found.len(), &found[0]["gravity"]), (1, &"remark".into()), "{found:?}");
    let (_, found, masks) = check("taskset -cp 2,100 $$; exec sleep 0.3").unwrap();
    assert_eq!((found, masks), (vec![], vec![]), "the kernel cuts such a mask, and takes it");
}

#[test]
fn cpu_times_in_proc_stat_advance() {
    let place = Place::new();
    let line = "grep 'cpu[0-9]' /proc/stat; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; \
                sleep 0.5; grep 'cpu[0-9]' /proc/stat";
    let arguments = [MACHINE, "--cpus", "7", "-q", "sh", "-c", line];
    let Some(output) = pretend(&place, arguments) else { return };
    let said = text(&output.stdout);
    let ticks: Vec<(u64, u64)> = said
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[1].parse().unwrap(), words[4].parse().unwrap())
        })
        .collect();
    assert_eq!(ticks.len(), 256, "{said}");
    let (before, after) = ticks.split_at(128);
    assert!(after[7].0 > before[7].0, "CPU 7 was busy: {:?}, {:?}", before[7], after[7]);
    assert!(after[8].1 >= before[8].1 + 50, "CPU 8 was idle: {:?}, {:?}", before[8], after[8]);
    assert_eq!(after[8].0, 0);
}

#[test]
fn nested_pretend_is_refused() {
    let place = Place::new();
    let inner = format!("{} pretend epyc-9654-2s -q -- nproc", env!("CARGO_BIN_EXE_seatmap"));
    let Some(output) = pretend(&place, [MACHINE, "-q", "sh", "-c", &inner]) else { return };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_contains(&said, "cannot run inside another one");
}

#[test]
fn program_is_checked_against_plan() {
    let place = Place::new();
    if !seatmap_needs::tool("taskset") {
        return;
    }
    let plan = |machine: &str| {
        format!(r#"{{"format": "seatmap-plan/1", "machine": "{machine}", "placement": [70]}}"#)
    };
    place.file("plan.json", plan(MACHINE));
    place.file("other.json", plan("desk"));
    let check = |plan: &str, cpu: &str| {
        let program = ["-q", "--", "taskset", "-c", cpu, "sleep", "0.2"];
        pretend(&place, (&[MACHINE, "--check", plan], program))
    };
    let Some(output) = check("plan.json", "70") else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = check("plan.json", "71").unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("task 0"), "{}", text(&output.stderr));
    let output = check("other.json", "70").unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert_contains(&said, "the plan is for 'desk', not for 'xeon-8375c-2s'");
}

#[test]
fn json_lists_every_thread_and_owns_stdout() {
    let place = Place::new();
    let arguments = [MACHINE, "--json", "--offline", "0", "sh", "-c", "echo hello; nproc; true"];
    let Some(output) = pretend(&place, arguments) else { return };
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["format"], "seatmap-pretend/1");
    assert_eq!((&document["online"], &document["exit_code"]), (&"1-127".into(), &0.into()));
    let threads = document["threads"].elements();
    assert!(threads.len() >= 2 && threads.iter().all(|thread| thread["mask"] == "1-127"));
    assert!(threads.iter().all(|thread| thread["ended_s"].is_number()), "{document:#}");
    assert!(text(&output.stderr).starts_with("hello\n127\n"), "{}", text(&output.stderr));
}

#[test]
fn invalid_machines_and_lists_are_refused_before_start() {
    let place = Place::new();
    for (arguments, words) in [
        (&["no-such-machine", "touch", "x"][..], "no machine called 'no-such-machine'"),
        (&[MACHINE, "--cpus", "500", "touch", "x"], "CPU 500 does not exist"),
        (&[MACHINE, "--offline", "0-127", "touch", "x"], "all CPUs are offline"),
        (&[MACHINE, "--check", "one-per-chair", "touch", "x"], "no rule 'one-per-chair'"),
        (&[MACHINE, "/no/such/program"], "there is no such program"),
    ] {
        let output = place.run(("pretend", arguments));
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(words), "{arguments:?}: {said}");
    }
    assert!(!place.path("x").exists());
}
