//! `seatmap doctor`.

mod remedies;

use crate::common::{Json, Place, two_cpus};

#[test]
fn every_subject_is_examined() {
    let place = Place::new();
    let found = place.json("doctor --json");
    let subjects: Vec<&str> =
        found["findings"].elements().iter().filter_map(|entry| entry["subject"].as_str()).collect();
    for subject in
        ["clock", "hypervisor", "steal", "governor", "turbo", "smt", "load", "cpuset", "offline"]
    {
        assert!(subjects.contains(&subject), "{subject}");
    }
    for entry in found["findings"].elements() {
        assert!(["OK", "INFO", "FIX", "BOOT", "NO"].contains(&entry["level"].text()), "{entry}");
        let mends = entry["level"] == "FIX" || entry["level"] == "BOOT";
        assert!(!mends || entry["remedy"].is_string(), "{entry}");
    }
    let lines = place.stdout("doctor");
    assert!(subjects.iter().all(|subject| lines.contains(subject)), "{lines}");
}

fn found<'a>(findings: &'a serde_json::Value, subject: &str) -> &'a serde_json::Value {
    findings["findings"].elements().iter().find(|entry| entry["subject"] == subject).unwrap()
}

#[test]
fn wakeup_cost_is_measured_on_two_cpus() {
    let place = Place::new();
    let own = seatmap_os::affinity::current().unwrap();
    let line = found(&place.json("doctor --json"), "wakeups").clone();
    let found = line["found"].text();
    if own.len() < 2 {
        assert!(found.starts_with("not measured: it needs two CPUs"), "{line}");
        return;
    }
    let words = [" us [", "] on another CPU, ", " us [", "] on the same CPU"];
    let mut rest = found;
    for word in words {
        rest = rest.split_once(word).unwrap_or_else(|| panic!("{word}: {line}")).1;
    }
    let has_gain = found.contains("gain from one CPU (seatmap advise --pid SERVER)");
    assert_eq!(line["level"], if has_gain { "INFO" } else { "OK" }, "{line}");
}

#[test]
fn trials_run_only_on_request() {
    let place = Place::new();
    let online = seatmap_os::cpus::Cpus::read().unwrap().online;
    let last = online[online.len() - 1].to_string();
    if online.len() < 2 {
        return seatmap_needs::skipped!("isolation needs two CPUs");
    }
    let read = place.json(format!("doctor --cpus {last} --json"));
    let backend = found(&read, "cpuset backend");
    let is_open = backend["found"].text().contains("not tried (use --try)");
    // A kernel without cpusets needs no trial.
    assert!(is_open || backend["level"] == "FIX", "{backend}");
    let interrupts = found(&read, "interrupts")["found"].text();
    assert!(
        interrupts == "none on these CPUs" || interrupts.contains("not tried (use --try)"),
        "{interrupts}"
    );
}

#[test]
fn isolation_is_examined_for_given_cpus() {
    let place = Place::new();
    let online = seatmap_os::cpus::Cpus::read().unwrap().online;
    let first = online[0];
    let last = online[online.len() - 1];
    if first == last {
        seatmap_needs::skipped!("isolation needs two CPUs");
        return;
    }
    let found = place.json(["doctor", "--try", "--cpus", &last.to_string(), "--json"]);
    let subjects: Vec<&str> =
        found["findings"].elements().iter().filter_map(|entry| entry["subject"].as_str()).collect();
    for subject in [
        "cpuset backend",
        "tick",
        "rcu callbacks",
        "isolcpus",
        "irqaffinity",
        "interrupts",
        "workqueues",
    ] {
        assert!(subjects.contains(&subject), "{subject}");
    }
    assert_eq!(subjects.last(), Some(&"what remains"));
    let tick =
        found["findings"].elements().iter().find(|entry| entry["subject"] == "tick").unwrap();
    let line = format!("nohz_full={last}");
    assert!(tick["level"] == "OK" || tick["remedy"].text().contains(&line), "{tick}");
    for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/unified"] {
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        // Another doctor removes its own group.
        let left: Vec<String> = names.filter(|name| name.starts_with("seatmap-doctor-")).collect();
        assert!(
            left.iter().all(|name| {
                std::path::Path::new("/proc").join(&name["seatmap-doctor-".len()..]).exists()
            }),
            "{left:?}"
        );
    }
}

#[test]
fn isolating_all_or_absent_cpus_is_rejected() {
    let place = Place::new();
    let online = seatmap_os::cpus::Cpus::read().unwrap().online;
    let all = online.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let found = place.json(format!("doctor --cpus {all} --json"));
    let last = found["findings"].elements().last().unwrap();
    assert_eq!((last["subject"].as_str(), last["level"].as_str()), (Some("isolation"), Some("NO")));
    place.refuses("doctor --cpus 500000", "does not exist");
}

/// In its own PID namespace the doctor sees none of the daemons outside.
#[test]
fn unseen_daemons_are_not_reported_absent() {
    let place = Place::new();
    let Some(cpus) = two_cpus() else { return };
    let cpu = cpus.split(',').next_back().unwrap().to_owned();
    let script = format!("mount -t proc proc /proc && exec \"$0\" doctor --cpus {cpu} --json");
    let mut command = place.command_of("unshare");
    command.args(["--mount", "--pid", "--fork", "sh", "-c", &script, crate::PROGRAM]);
    let Some(output) = command.output().ok().filter(|output| output.status.success()) else {
        return seatmap_needs::skipped!("this user may make no PID namespace");
    };
    let findings = serde_json::from_slice(&output.stdout).unwrap();
    let daemons = found(&findings, "daemons");
    assert_eq!(daemons["level"], "INFO", "{daemons}");
    assert!(daemons["found"].text().contains("a container does not show"), "{daemons}");
}
