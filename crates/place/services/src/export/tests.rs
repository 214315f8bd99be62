//! Each format, with every kind of target.

use super::*;
use crate::file::{Service, SharedComputer};
use crate::plan::cost::CostTerms;
use crate::plan::document::{FORMAT, PlanVerdict};
use crate::plan::replay::Lateness;
use proptest::prelude::*;

fn planned(service: Service, cpus: &str, pool: usize) -> PlannedService {
    PlannedService {
        service,
        cpus: cpus.into(),
        within: None,
        nodes: "0".into(),
        pool,
        median_cpus: Some(1.0),
        p99_cpus: Some(1.0),
        most_cpus: Some(1.0),
    }
}

fn plan_of(services: Vec<PlannedService>) -> ServicesPlan {
    ServicesPlan {
        format: FORMAT.into(),
        machine: "desk".into(),
        recorded_on: "desk".into(),
        recorded: String::new(),
        samples: 2,
        interval_s: 0.1,
        computer: SharedComputer::default(),
        services,
        caches: vec!["0-7".into(), "8-15".into()],
        interrupts: String::new(),
        cost: Some(CostTerms::default()),
        cost_percent: Some(1.0),
        bound_percent: Some(1.0),
        is_proven: true,
        lateness: Some(Lateness::default()),
        baselines: vec![],
        verdict: PlanVerdict::Seat,
        distances_are_assumed: false,
        talk_unseen: None,
    }
}

fn named(name: &str) -> Service {
    Service { name: name.into(), share: true, ..Service::default() }
}

/// The first two share.
fn sample() -> ServicesPlan {
    let redis = Service { unit: Some("redis".into()), ..named("redis") };
    let group =
        Service { cgroup: Some("/sys/fs/cgroup/batch.slice/jobs".into()), ..named("group") };
    let web = Service {
        container: Some("web".into()),
        quiet: true,
        near: Some("eth0".into()),
        ..named("web")
    };
    let one = Service { pid: Some(7), ..named("one") };
    let many = Service { command: Some("worker*".into()), ..named("many") };
    plan_of(vec![
        planned(redis, "1-2", 0),
        planned(group, "1-2", 0),
        planned(web, "4-5", 1),
        planned(one, "6", 2),
        planned(many, "8-11", 3),
    ])
}

#[test]
fn systemd_export_writes_drop_in_per_unit() {
    insta::assert_snapshot!(systemd(&sample()).unwrap());
}

#[test]
fn export_without_matching_service_is_an_error() {
    let one = Service { pid: Some(7), ..named("one") };
    let told = systemd(&plan_of(vec![planned(one, "6", 0)])).unwrap_err().to_string();
    assert!(told.ends_with("no service of this plan is a systemd unit"), "{told}");
}

proptest! {
    /// Hostile names cannot add lines to the script.
    #[test]
    fn hostile_names_cannot_escape_exported_script(
        name in "[ -~\n\r\\\\'\"$`;END]{1,20}", unit in "[ -~\n\\\\'\"$`;/]{1,20}",
    ) {
        let mut plan = sample();
        plan.machine = name.clone();
        plan.services[1].service = Service { unit: Some(unit), ..named(&name) };
        plan.services[3].service.name = name;
        let script = systemd(&plan).unwrap();
        let known = ["mkdir -p \"$folder/", "cat > \"$folder/", "[", "Allowed", "END", "set -eu",
            "folder=", "#"];
        for line in script.lines() {
            prop_assert!(known.iter().any(|begin| line.starts_with(begin)), "{}", line);
            let quoted = line.starts_with("mkdir") || line.starts_with("cat");
            prop_assert!(!quoted || line.matches('$').count() == 1, "{}", line);
        }
        for (word, write) in FORMATS {
            let text = write(&plan).unwrap();
            if text.starts_with('[') || text.starts_with('{') {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", word);
            }
        }
    }
}
