//! Executes the remedies that `doctor` prints. Afterwards the subject must be healthy.

use super::found;
use crate::common::{Json, Place, stderr, two_cpus};
use crate::control_group::Group;
use serde_json::Value;
use std::process::Command;

fn execute(findings: &Value, subject: &str, kind: &str) {
    let entry = found(findings, subject);
    assert_eq!(entry["remedy_kind"], kind, "{entry}");
    let remedy = entry["remedy"].text();
    assert!(Command::new("sh").args(["-c", remedy]).status().unwrap().success(), "{entry}");
}

fn json(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn raise_quota_remedy_lifts_quota() {
    let Some(group) = Group::with_quota(60) else { return };
    let place = Place::new();
    let examine = || json(&mut group.joined_by(&place.command("doctor --json")));
    let before = examine();
    assert!(found(&before, "quota")["found"].text().contains(group.name()), "{before}");
    execute(&before, "quota", "raise-quota");
    assert_eq!(found(&examine(), "quota")["level"], "OK");
}

#[test]
fn release_group_remedy_ends_idle_policy() {
    let Some(group) = Group::idle() else { return };
    let place = Place::new();
    let examine = || json(&mut group.joined_by(&place.command("doctor --json")));
    execute(&examine(), "group", "release-group");
    let after = examine();
    assert!(
        after["findings"].elements().iter().all(|entry| entry["subject"] != "group"),
        "{after}"
    );
}

/// The variables are unset in the user's shell, and so for all programs started there.
#[test]
fn unset_variables_remedy_clears_findings() {
    let place = Place::new();
    let mut command = place.command("doctor --json");
    let before = json(command.env("OMP_PLACES", "{0}").env("GOMP_CPU_AFFINITY", "0"));
    let entry = found(&before, "variables");
    assert_eq!(entry["remedy_kind"], "unset-variables", "{entry}");
    let script = format!("{}; exec \"$0\" doctor --json", entry["remedy"].text());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(command.get_program());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(found(&json(&mut shell), "variables")["level"], "OK");
}

/// Runs in a PID namespace, to protect this computer's daemons and other tests.
#[test]
fn stop_daemon_remedy_ends_daemon() {
    let Some(cpus) = two_cpus() else { return };
    if std::path::Path::new("/run/systemd/system").exists() {
        return seatmap_needs::skipped!("systemd would have to know the daemon");
    }
    let place = Place::new();
    let cpu = cpus.split(',').next_back().unwrap().to_owned();
    let sleep = String::from_utf8(
        Command::new("sh").args(["-c", "command -v sleep"]).output().unwrap().stdout,
    )
    .unwrap();
    std::fs::copy(sleep.trim(), place.path("irqbalance")).unwrap();
    let script = "mount -t proc proc /proc || exit 77
        ./irqbalance 600 & daemon=$!
        remedy=$(\"$0\" doctor --cpus $1 | sed -n '/ daemons /{n;s/.*-> //p}')
        [ \"$remedy\" = \"kill $daemon\" ] || exit 3
        sh -c \"$remedy\"
        wait $daemon
        exec \"$0\" doctor --cpus $1 --json";
    let mut command = place.command_of("unshare");
    command.args(["--mount", "--pid", "--fork", "sh", "-c", script, crate::PROGRAM, &cpu]);
    let output = command.output().unwrap();
    if matches!(output.status.code(), Some(1 | 77)) {
        return seatmap_needs::skipped!("this user may make no PID namespace");
    }
    assert!(output.status.success(), "{output:?}");
    let daemons = found(&serde_json::from_slice(&output.stdout).unwrap(), "daemons").clone();
    assert!(daemons["remedy"].is_null(), "{daemons}");
}

/// Advice must not look like a command: no program may have the name of its first word.
#[test]
fn advice_is_a_sentence() {
    let place = Place::new();
    let all = place.json("doctor --json");
    for entry in all["findings"].elements().iter().filter(|entry| entry["remedy_kind"] == "advice")
    {
        let first = entry["remedy"].text().split(' ').next().unwrap();
        let is_program = Command::new("sh")
            .args(["-c", "command -v \"$0\"", first])
            .output()
            .unwrap()
            .status
            .success();
        assert!(!is_program, "{entry}");
    }
    for entry in all["findings"].elements() {
        assert_eq!(entry["remedy"].is_null(), entry["remedy_kind"].is_null(), "{entry}");
    }
}
