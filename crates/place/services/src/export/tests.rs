//! Each format, with every kind of target.

use super::*;
use crate::Service;
use proptest::prelude::*;

fn planned(service: Service, cpus: &str, pool: usize) -> PlannedService {
    PlannedService {
        service,
        cpus: cpus.into(),
        nodes: "0".into(),
        pool,
        ..PlannedService::default()
    }
}

fn plan_of(services: Vec<PlannedService>) -> ServicesPlan {
    ServicesPlan { machine: "desk".into(), services, ..ServicesPlan::default() }
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
