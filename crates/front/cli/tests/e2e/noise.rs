//! `seatmap noise`: its output, files and refusals. The figures are like weather and not checked.

use crate::common::{Json, Place, stderr, stdout};
use std::process::{Command, Stdio};

fn one_cpu() -> String {
    seatmap_os::affinity::current().unwrap()[0].to_string()
}

#[test]
fn both_meters_report_their_results() {
    let place = Place::new();
    let cpu = one_cpu();
    let found = place.json(format!("noise --cpus {cpu} --seconds 0.1 --json"));
    assert_eq!(found["format"], "seatmap-noise/1");
    let noise = &found["cpus"][0];
    assert_eq!(noise["cpu"].to_string(), cpu);
    for key in ["stolen_percent", "longest_gap_us", "fwq_p999_us", "gaps_per_second"] {
        assert!(noise[key].as_f64().is_some_and(|figure| figure >= 0.0), "{key}: {noise}");
    }
    assert!(noise["sources"].is_array() && noise["meter"]["resolution_ns"].as_f64() > Some(0.0));
    let table = place.stdout(format!("noise --cpus {cpu} --seconds 0.1"));
    for part in ["Noise of 1 CPU", "stolen", "FWQ median", "Events per second", "Meter: "] {
        assert!(table.contains(part), "{part}: {table}");
    }
}

#[test]
fn all_cpus_are_measured_by_default() {
    let place = Place::new();
    let (open, closed) =
        seatmap_health::noise::reachable(&seatmap_os::cpus::Cpus::read().unwrap().online);
    let output = place.run("noise --seconds 0.05 --json");
    let told = stderr(&output);
    if !closed.is_empty() || told.contains("left out") || told.contains("moved off") {
        seatmap_needs::skipped!("somebody makes a cell of these CPUs: {told}");
        return;
    }
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let cpus: Vec<u64> =
        found["cpus"].elements().iter().filter_map(|noise| noise["cpu"].as_u64()).collect();
    assert_eq!(cpus, open.into_iter().map(u64::from).collect::<Vec<_>>());
}

/// The task competes with the meter for its CPU, so the meter's gaps must name it.
#[test]
fn trace_names_competing_task() {
    let place = Place::new();
    let cpu = seatmap_os::affinity::current().unwrap()[0];
    let mut hog = Command::new("sh")
        .args(["-c", "printf hog-of-a-test >/proc/self/comm; while :; do :; done"])
        .spawn()
        .unwrap();
    // SAFETY: a zeroed set is empty, and nothing has waited for the hog.
    let is_seated = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu as usize, &mut set);
        libc::sched_setaffinity(hog.id() as libc::pid_t, size_of_val(&set), &raw const set) == 0
    };
    let comm = format!("/proc/{}/comm", hog.id());
    while std::fs::read_to_string(&comm).unwrap() != "hog-of-a-test\n" {
        assert!(hog.try_wait().unwrap().is_none(), "it spins until it is killed");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let arguments = ["noise", "--cpus", &cpu.to_string(), "--seconds", "0.5", "--trace"];
    let table = place.run(arguments);
    let json = place.run((arguments, "--json"));
    hog.kill().unwrap();
    hog.wait().unwrap();
    let told = stderr(&table);
    if told.contains("cannot trace the kernel") || told.contains("moved off") || !is_seated {
        return seatmap_needs::skipped!("{told}");
    }
    let shown = stdout(&table);
    assert!(
        shown.contains("from the kernel's trace\n") && shown.contains("hog-of-a-test"),
        "{shown}"
    );
    let found: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let takers = found["cpus"][0]["trace"]["takers"].elements();
    let hog = takers.iter().find(|taker| taker["who"] == "hog-of-a-test").unwrap();
    assert!(hog["total_us"].as_f64() > Some(0.0), "{hog}");
}

/// The command asks for a day.
#[test]
fn interrupted_measurement_keeps_results() {
    let place = Place::new();
    let mut command =
        place.command(["noise", "--cpus", &one_cpu(), "--seconds", "86400", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Without the handler the signal would end the program. The named thread shows that it is
    // installed.
    let meter = format!("noise-cpu{}", one_cpu());
    let seated = || {
        let tasks =
            std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
        tasks
            .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
            .any(|name| name.trim() == meter)
    };
    while !seated() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // SAFETY: the child has not been waited for.
    let sent = unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    assert_eq!(sent, 0);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["interrupted"], true);
    let told = stderr(&output);
    assert!(told.starts_with("seatmap: interrupted; the figures cover the first "), "{told}");
}
