//! A measurement under a quota of CPU time must report the quota.

use crate::cluster_faults::{begun_in, ended, sentence_of};
use crate::common::{Arguments, Place, stderr, stdout, two_cpus};
use crate::common::{begun, rank};
use crate::control_group::Group;

/// A fifth of a CPU, in periods of 10 ms: every measurement uses it up.
const TIGHT_PERCENT: u32 = 20;

/// All output of a verb under the quota. `None` if no quota is possible.
fn said_under_a_quota(arguments: impl Arguments) -> Option<(String, Group)> {
    let group = Group::with_quota(TIGHT_PERCENT)?;
    let place = Place::new();
    let output = group.joined_by(&place.command(arguments)).output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    Some((said, group))
}

fn assert_tells(arguments: impl Arguments) {
    let Some((said, group)) = said_under_a_quota(&arguments) else { return };
    let words = format!(
        "the quota of the control group /{} (0.2 CPUs in periods of 10 ms) was used up in ",
        group.name()
    );
    assert!(said.contains(&words), "{arguments:?}: {said}");
}

#[test]
fn measure_reports_quota() {
    if let Some(cpus) = two_cpus() {
        assert_tells(format!("measure --cpus {cpus} --quick"));
    }
}

#[test]
fn noise_reports_quota() {
    assert_tells("noise --seconds 0.2");
}

#[test]
fn tune_reports_quota() {
    if two_cpus().is_some() {
        assert_tells("tune --budget 30 --candidates 2 -- true");
    }
}

#[test]
fn throttled_rank_is_named_with_its_group() {
    let Some(group) = Group::with_quota(10) else { return };
    let place = Place::new();
    let measure = "cluster measure --each-rank --trips 20ms -o cluster.json";
    let others = [0, 1].map(|at| begun(rank(&place, at, 3, measure)));
    let starved = begun_in(&group, rank(&place, 2, 3, measure));
    for one in others.into_iter().chain([starved]) {
        let (code, said) = ended(one);
        assert_eq!(code, Some(0), "{said}");
    }
    let sentence = sentence_of(&place, ":2: the kernel stopped its process in ");
    let quota = format!(
        "the quota of the control group /{} (0.1 CPUs) was used up; raise it in ",
        group.name()
    );
    let file = format!("{} there", group.quota_file());
    assert!(sentence.contains(&quota) && sentence.contains(&file), "{sentence}");
    let doctor = place.stdout("cluster doctor cluster.json");
    let blamed = doctor.lines().filter(|line| line.contains(":2")).count();
    assert_eq!(blamed, 1, "its ways are not blamed as well: {doctor}");
}

#[test]
fn run_reports_quota_file() {
    let busy = "busy() { i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; }; busy & busy; wait";
    let Some((said, group)) = said_under_a_quota(["run", "--cpus", "0", "--", "sh", "-c", busy])
    else {
        return;
    };
    let words = format!(
        "seatmap: the quota of the control group /{} (0.2 CPUs in periods of 10 ms) was used up \
         in ",
        group.name()
    );
    let file = format!("{}/{})", group.name(), group.quota_file());
    assert!(said.contains(&words) && said.contains(&file), "{said}");
    assert!(said.contains("1 of 2 threads fits the quota;"), "{said}");
}
