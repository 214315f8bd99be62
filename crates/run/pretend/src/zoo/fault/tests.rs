//! Records of threads and their faults.

use super::*;
use crate::machine::made;
use crate::report::{FORMAT, PretendedMask};

/// A thread of one second that is always ready to run.
fn busy(mask: &str) -> PretendedThread {
    PretendedThread {
        pid: 7,
        tid: 7,
        name: "made-up".to_owned(),
        born_s: 0.0,
        ended_s: Some(1.0),
        inherited: mask.to_owned(),
        changes: Vec::new(),
        refused: Vec::new(),
        mask: mask.to_owned(),
        policy: "default".to_owned(),
        refused_nodes: None,
        run_s: 0.2,
        wait_s: 0.8,
    }
}

fn report(allowed: &str, threads: Vec<PretendedThread>) -> PretendReport {
    PretendReport {
        format: FORMAT.to_owned(),
        machine: "small".to_owned(),
        online: "0-7".to_owned(),
        allowed: allowed.to_owned(),
        quota_cpus: None,
        exit_code: Some(0),
        signal: None,
        lasted_s: 1.0,
        calls: BTreeMap::new(),
        threads,
        ranges: Vec::new(),
        judged_at_s: 0.5,
        findings: Vec::new(),
        verdict: None,
    }
}

/// On two packages of two cores with two hardware threads; CPUs 4 to 7 are slower if `is_hybrid`.
fn said(allowed: &str, threads: Vec<PretendedThread>, is_hybrid: bool) -> String {
    let mut topology = made::topology();
    for pu in topology.pus.iter_mut().filter(|_| is_hybrid) {
        pu.kind = Some(if pu.os < 4 { CoreKind::Performance } else { CoreKind::Efficiency });
    }
    let faults = of_threads(&report(allowed, threads), &topology);
    let lines = faults.iter().map(|fault| format!("{}: {}", fault.rule, fault.what));
    lines.collect::<Vec<_>>().join("; ")
}

fn of_masks(masks: &[&str]) -> Vec<PretendedThread> {
    masks.iter().map(|mask| busy(mask)).collect()
}

#[test]
fn masks_that_force_threads_onto_one_core_are_found() {
    let cases = [
        (vec!["0", "1"], "shared-core: the masks of 2 busy threads leave them 1 core of 4"),
        (vec!["0", "2"], ""),
        (vec!["0-2", "0", "2"], "shared-core: the masks of 3 busy threads leave them 2 cores of 4"),
        // The first one moves to make room for the last.
        (vec!["0-3", "2-5", "0"], ""),
        (vec!["0", "1", "2", "3", "4", "5", "6", "7"], ""),
        (vec!["0-7", "0-7", "0-7"], ""),
    ];
    for (masks, expected) in cases {
        assert_eq!(said("0-7", of_masks(&masks), false), expected, "{masks:?}");
    }
}

#[test]
fn more_busy_threads_than_cpus_are_found() {
    let threads = of_masks(&["0-1"; 3]);
    assert_eq!(said("0-1", threads.clone(), false), "too-many: 3 busy threads for 2 CPUs");
    let idle = threads.into_iter().map(|thread| PretendedThread { wait_s: 0.0, ..thread });
    assert_eq!(said("0-1", idle.collect(), false), "");
    let helper = PretendedThread { run_s: 0.01, ..busy("0") };
    assert_eq!(said("0", vec![helper.clone(), helper], false), "");
    let ended = PretendedThread { ended_s: Some(0.4), ..busy("0") };
    assert_eq!(said("0", vec![ended, busy("0")], false), "", "one after the other");
}

#[test]
fn quota_limits_busy_threads_before_the_mask() {
    let of = |threads: &[&str]| {
        let report = PretendReport { quota_cpus: Some(1.5), ..report("0-7", of_masks(threads)) };
        of_threads(&report, &made::topology())
    };
    assert_eq!(of(&["0-7"; 2]), []);
    let expected = ZooFault::wrong("too-many", "3 busy threads for a quota of 1.5 CPUs");
    assert_eq!(of(&["0-7"; 3]), [expected]);
}

#[test]
fn threads_on_slow_cores_are_found_while_fast_ones_are_free() {
    let slow = "slow-core: 1 busy thread may run only on slower cores (CPU 6), while 2 faster \
                cores are free";
    assert_eq!(said("0-7", of_masks(&["6"]), true), slow);
    assert_eq!(said("0-7", of_masks(&["0", "2", "6"]), true), "");
    assert_eq!(said("4-7", of_masks(&["6"]), true), "");
    assert_eq!(said("0-7", of_masks(&["6"]), false), "");
}

#[test]
fn last_refused_mask_and_node_are_found() {
    let mask = |at_s: f64, cpus: &str| PretendedMask { at_s, cpus: cpus.to_owned() };
    let refused = PretendedThread {
        refused: vec![mask(0.2, "9"), mask(0.3, "8")],
        changes: vec![mask(0.1, "0")],
        ..busy("0-7")
    };
    let mended = PretendedThread { changes: vec![mask(0.4, "0")], ..refused.clone() };
    assert_eq!(
        said("0-7", vec![refused], false),
        "refused: 1 thread could not be bound to CPUs 8,9: the program may use CPUs 0-7"
    );
    assert_eq!(said("0-7", vec![mended], false), "");
    let homeless = PretendedThread { refused_nodes: Some("1".to_owned()), ..busy("0") };
    assert_eq!(
        said("0-7", vec![homeless], false),
        "memory: 1 thread could not get memory of NUMA nodes without any: 1"
    );
}

#[test]
fn endings_and_output_are_compared_with_the_whole_machine() {
    let [good, bad, killed] = [Ending::Exited(0), Ending::Exited(3), Ending::Killed(11)];
    assert_eq!((of_ending(good, None), of_ending(bad, Some(bad))), (None, None));
    let what = |ending, whole| of_ending(ending, whole).unwrap().what;
    assert_eq!(what(bad, None), "the program ended with exit code 3");
    let elsewhere = "the program was ended by signal 11 (SIGSEGV), but not on the whole machine";
    assert_eq!(what(killed, Some(good)), elsewhere);
    assert_eq!(of_output("8\nsame\n", "8\nsame\n", true), None);
    let differs = of_output("8\n", "8\nmore\n", false).unwrap();
    assert_eq!(differs.what, "line 2 is missing; on the whole machine it is 'more'");
    assert!(!differs.is_wrong() && of_output("a", "b", true).unwrap().is_wrong());
    let long = of_output(&"x".repeat(99), "y", false).unwrap().what;
    assert!(long.starts_with(&format!("line 1 is '{}...'", "x".repeat(60))), "{long}");
}
