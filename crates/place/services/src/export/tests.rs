//! Each format on a plan with every way to name a service.

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

/// A unit, a group, a container, a process and programs; the first two share.
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
fn systemd_gets_a_drop_in_for_each_unit() {
    insta::assert_snapshot!(systemd::write(&sample()).unwrap());
}

#[test]
fn layers_find_services_by_four_ways() {
    insta::assert_snapshot!(sched_ext::write(&sample()).unwrap());
}

#[test]
fn cells_are_matched_by_whole_paths() {
    insta::assert_snapshot!(mitosis::write(&sample()).unwrap());
}

#[test]
fn a_balloon_is_as_large_as_its_pool() {
    insta::assert_snapshot!(balloons::write(&sample()).unwrap());
}

#[test]
fn kubelet_reserves_what_no_pod_gets() {
    insta::assert_snapshot!(kubelet::write(&sample()).unwrap());
}

#[test]
fn a_tool_that_finds_nothing_says_so() {
    let one = Service { pid: Some(7), ..named("one") };
    let web = Service { container: Some("web".into()), ..named("web") };
    let process = plan_of(vec![planned(one, "6", 0)]);
    for write in [systemd::write, mitosis::write, balloons::write] {
        let told = write(&process).unwrap_err().to_string();
        assert!(told.ends_with("no service of this plan is named so"), "{told}");
    }
    let containers = plan_of(vec![planned(web, "6", 0)]);
    assert!(matches!(
        sched_ext::write(&containers),
        Err(ServicesExportError::NoneFound { tool: "scx_layered", .. })
    ));
    assert_eq!(kubelet::write(&containers), Err(ServicesExportError::NothingReserved));
}

#[test]
fn what_schedulers_do_not_heed_is_said() {
    let mut plan = sample();
    plan.services[0].service.near = Some("eth0".into());
    plan.services[4].service.near = Some("nvme0n1".into());
    plan.services[4].nodes = String::new();
    plan.services[1].service.cgroup = Some("/sys/fs/cgroup/cpuset/batch".into());
    let layers = sched_ext::write(&plan).unwrap();
    for words in [
        "redis: near eth0 by its nodes alone",
        "many: not kept near nvme0n1",
        "Left out: group (cgroup /sys/fs/cgroup/cpuset/batch), a group of version 1, which \
         scx_layered cannot find.",
    ] {
        assert!(layers.contains(words), "{words}: {layers}");
    }
    assert!(!layers.contains("cpuset/batch/\""), "{layers}");
    let cells = mitosis::write(&plan).unwrap();
    assert!(cells.contains("a group of version 1, which scx_mitosis cannot find."), "{cells}");
    assert_eq!(group("/sys/fs/cgroup/unified/a/b/"), Some("a/b"));
    assert_eq!(group("/cpuset/a"), Some("cpuset/a"));
    assert_eq!((group("/sys/fs/cgroup"), group("/sys/fs/cgroup/cpu,cpuacct/a")), (None, None));
}

#[test]
fn kubelet_needs_a_cpu_for_pods() {
    let one = Service { pid: Some(7), ..named("one") };
    let all = plan_of(vec![planned(one, "0-15", 0)]);
    assert_eq!(kubelet::write(&all), Err(ServicesExportError::NothingLeft));
}

#[test]
fn more_layers_than_the_scheduler_has_are_refused() {
    let services = (0..17).map(|at| {
        let service = Service { pid: Some(at + 1), ..named(&format!("s{at}")) };
        planned(service, &at.to_string(), at as usize)
    });
    let told = sched_ext::write(&plan_of(services.collect())).unwrap_err().to_string();
    assert!(told.contains("takes 16 layers at most, and this plan needs 18"), "{told}");
}

proptest! {
    /// Names of a plan's author run nothing: a script of hostile names writes no other lines.
    #[test]
    fn nothing_gets_out_of_its_comment_or_file_name(
        name in "[ -~\n\r\\\\'\"$`;END]{1,20}", unit in "[ -~\n\\\\'\"$`;/]{1,20}",
    ) {
        let mut plan = sample();
        plan.machine = name.clone();
        plan.services[1].service = Service { unit: Some(unit), ..named(&name) };
        plan.services[3].service.name = name;
        let script = systemd::write(&plan).unwrap();
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
