//! `seatmap pretend`, on programs that every computer has.

mod pinning;
mod spellings;
mod verbs;

use crate::common::{Arguments, Json, Place, assert_contains, is_no_pretence};
use crate::run::programs;
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

/// The output of a command under a quota of 2.5 CPUs, in both versions of control groups.
fn under_quota(place: &Place, command: &[&str]) -> Option<[String; 2]> {
    let run = |quota| pretend(place, ([MACHINE, "-q", "--quota", quota, "--"], command));
    let [second, first] = [run("2.5")?, run("2.5@v1")?];
    Some([text(&second.stdout), text(&first.stdout)])
}

#[test]
fn rust_rounds_pretended_quota_down() {
    let Some(program) = programs::parallelism() else { return };
    let Some(counts) = under_quota(&Place::new(), &[program]) else { return };
    assert_eq!(counts, ["2\n", "2\n"]);
}

/// Since version 1.25. Programs outside a module must ask for it.
#[test]
fn go_rounds_pretended_quota_up() {
    let place = Place::new();
    let program = place.path("maxprocs");
    if !programs::go_builds(&programs::source("maxprocs.go"), &program, &[]) {
        return;
    }
    let command = ["env", "GODEBUG=containermaxprocs=1", "./maxprocs"];
    let Some(counts) = under_quota(&place, &command) else { return };
    for said in counts {
        let (count, version) = said.trim().split_once(" go1.").unwrap();
        let minor = version.split('.').next().and_then(|minor| minor.parse::<u32>().ok());
        assert_eq!(count, if minor >= Some(25) { "3" } else { "128" }, "{said}");
    }
}
