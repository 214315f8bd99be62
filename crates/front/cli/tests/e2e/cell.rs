//! `seatmap cell`, without changing this host; `scripts/lab` tests the rest.

use crate::auto::ALONE;
use crate::common::{Arguments, Guarded, Json, Place, assert_contains, stderr};
use std::fs::Permissions;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::process::{Command, Output};
use std::sync::PoisonError;

fn cell(place: &Place, arguments: impl Arguments) -> Output {
    place.command(("cell", arguments)).env("SEATMAP_RUN", place.path("run")).output().unwrap()
}

#[test]
fn list_is_empty_without_cells() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let listed = cell(&place, "list --json");
    assert_eq!(
        (listed.status.code(), listed.stdout.as_slice()),
        (Some(0), &b"{\"format\":\"seatmap-cells/1\",\"cells\":[]}\n"[..])
    );
    assert!(cell(&place, "list").stdout.is_empty());
}

#[test]
fn next_command_undoes_incomplete_cell() {
    let place = Place::new();
    std::fs::DirBuilder::new().mode(0o700).create(place.path("run")).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let mut sleeper = Guarded(Command::new("sleep").arg("600").spawn().unwrap());
    let cpus = || seatmap_os::CpuSet::of_thread(sleeper.id() as i32).unwrap().list();
    let wide = cpus();
    let folder = format!("/proc/{}", sleeper.id());
    let narrow = wide.0[0];
    seatmap_os::CpuSet::single(narrow).give(sleeper.id() as i32).unwrap();
    let stat = std::fs::read_to_string(format!("{folder}/stat")).unwrap();
    let started: u64 =
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap();
    let line = |entry: serde_json::Value| {
        let mut entry = entry;
        entry["boot_id"] = boot.trim().into();
        entry.to_string()
    };
    let begin = "seatmap-cell-journal/1";
    let header = serde_json::json!({"entry": "begin", "format": begin, "cell": "half", "cpus": "1", "serial": 1});
    let change = serde_json::json!({"entry": "change", "what": "affinity", "path": folder, "old": wide.to_string(),
        "new": narrow.to_string(), "started_ticks": started});
    let journal = place.path("run/half.journal");
    std::fs::write(&journal, [line(header), line(change), "{\"torn".into()].join("\n")).unwrap();
    std::fs::set_permissions(&journal, Permissions::from_mode(0o600)).unwrap();
    let listed = cell(&place, "list");
    let after = cpus();
    let _ = sleeper.kill().and_then(|()| sleeper.wait());
    assert!(listed.status.success(), "{}", stderr(&listed));
    assert_eq!(after, wide);
    assert!(!journal.exists());
}

fn short_lived(place: &Place, cpu: u32) {
    std::fs::DirBuilder::new().mode(0o700).create(place.path("run")).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let line = |mut entry: serde_json::Value| {
        entry["boot_id"] = boot.trim().into();
        entry.to_string() + "\n"
    };
    let header = serde_json::json!({"entry": "begin", "format": "seatmap-cell-journal/1",
        "cell": "brief", "cpus": cpu.to_string(), "serial": 1});
    let journal = line(header) + &line(serde_json::json!({"entry": "done"}));
    let record = serde_json::json!({"format": "seatmap-cell/1", "name": "brief", "cpus": [cpu],
        "backend": "affinity", "degraded": [], "noise_before": null, "noise_after": null,
        "state": "ready", "group": null, "irqs_left": [], "kernel_threads_left": 0,
        "threads_left": 100_000, "memory": null,
        "expires_s": seatmap_os::boot::seconds() + 2});
    for (name, text) in [("run/brief.journal", journal), ("run/brief.json", record.to_string())] {
        std::fs::write(place.path(name), text).unwrap();
        std::fs::set_permissions(place.path(name), Permissions::from_mode(0o600)).unwrap();
    }
}

/// The kernel moves the threads of an ending cell, and figures of the whole run are not those of a
/// quiet CPU.
#[test]
fn run_reports_when_its_cell_ended() {
    let [_, cpu] = crate::run::programs::two_cpus();
    let place = Place::new();
    short_lived(&place, cpu);
    let run = "run brief --report report.json -- sleep 4";
    let output = cell(&place, run);
    let stderr = stderr(&output);
    assert!(output.status.success(), "{stderr}");
    assert_contains(&stderr, "the cell 'brief' ended with its lease ");
    assert!(!stderr.contains("its affinity was") && !stderr.contains("noise on"), "{stderr}");
    let report = place.read_json("report.json");
    let end = &report["cell_end"];
    assert!(end["by_lease"] == true && end["after_s"].number() < 4.0, "{end}");
}

/// There the host's root appears as the unmapped owner of `/`.
#[test]
fn unmapped_root_error_names_user_namespace() {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", crate::PROGRAM, "cell", "list"]);
    // SAFETY: geteuid cannot fail and touches nothing.
    if unsafe { libc::geteuid() } == 0 {
        // With root's user id it would keep access to its files.
        std::os::unix::process::CommandExt::uid(&mut command, 1000);
    }
    let output = command.current_dir("/").env("SEATMAP_RUN", "/run/seatmap-none").output().unwrap();
    let told = stderr(&output);
    if told.starts_with("unshare") {
        return seatmap_needs::skipped!("no user namespace: {told}");
    }
    let sentence = "'/' belongs to a user unknown in this user namespace (shown as 65534), who can \
                    change its contents; run this as root of the host, outside the namespace";
    assert!(!output.status.success() && told.contains(sentence), "{told}");
}
