//! `--cpus`: the CPUs of this computer to run on.

use crate::common::{Place, assert_contains};

const RANK: &str = "rank --pattern ring:2 --runs 1 --rounds 5";
const VERBS: [&str; 3] = [RANK, "stats -f fetchadd", "channels curve"];

#[test]
fn cpus_option_names_only_host_cpus() {
    let place = Place::new();
    let models = ["cell-ps3", "xeon-phi-5110p", "xeon-phi-5110p"];
    for (verb, model) in VERBS.iter().zip(models) {
        let refusal = place.refusal((verb, &["--on", model, "--cpus", "0"]));
        assert!(refusal.contains("--cpus names CPUs of this computer"), "{verb:?}: {refusal}");
        let absent = place.refusal((verb, "--cpus 0,99999"));
        assert!(absent.contains("CPU 99999 does not exist"), "{verb:?}: {absent}");
    }
}

#[test]
fn listed_cpus_become_the_workers() {
    let allowed = seatmap_os::affinity::current().unwrap();
    let [first, .., last] = allowed[..] else { return seatmap_needs::skipped!("one CPU") };
    let place = Place::new();
    let list = format!("{last},{first}");
    let ranking = place.json((RANK, &["--cpus", &list, "--json"]));
    assert_eq!(ranking["pus"], serde_json::json!([last, first]), "{ranking}");
    let alone = place.refusal((RANK, &["--cpus", &first.to_string()]));
    assert_contains(&alone, "2 tasks do not fit");
}
