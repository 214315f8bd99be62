//! `seatmap measure`.

use crate::common::{Json, Place, assert_contains, files, stderr, stdout, two_cpus};
use serde_json::Value;

const MATRICES: [&str; 5] = ["median_ns", "p10_ns", "mad_ns", "ci95_low_ns", "ci95_high_ns"];

fn cell(profile: &Value, matrix: &str, i: usize, j: usize) -> f64 {
    profile["core_distance"][matrix][i][j].number()
}

/// Checks all parts that other programs rely on.
fn assert_whole(profile: &Value, pus: usize) {
    assert_eq!(profile["format"], "seatmap-profile/1");
    for pointer in [
        "/name",
        "/origin/kind",
        "/origin/source",
        "/origin/date",
        "/origin/tool",
        "/environment/kernel",
        "/environment/hypervisor",
        "/clock/step_ns",
        "/topology/pus/0/os",
        "/topology/pus/0/core",
        "/topology/pus/0/smt",
        "/topology/pus/0/l2",
        "/topology/pus/0/l3",
        "/topology/pus/0/die",
        "/topology/pus/0/numa",
        "/topology/pus/0/package",
        "/topology/pus/0/kind",
        "/home_model/groups",
        "/home_model/between_ns",
        "/home_model/offset_ns",
        "/home_model/r2",
        "/home_model/residual_ns",
        "/home_model/pair_view_empty",
        "/loaded",
    ] {
        assert!(profile.pointer(pointer).is_some(), "{pointer}");
    }
    assert_eq!(profile["core_distance"]["pus"].elements().len(), pus);
    for matrix in MATRICES {
        for i in 0..pus {
            assert_eq!(profile["core_distance"][matrix][i].elements().len(), pus);
            assert_eq!(cell(profile, matrix, i, i), 0.0);
            (0..pus)
                .for_each(|j| assert_eq!(cell(profile, matrix, i, j), cell(profile, matrix, j, i)));
        }
    }
    for (i, j) in (0..pus).flat_map(|i| (0..pus).map(move |j| (i, j))).filter(|(i, j)| i != j) {
        let status = profile["core_distance"]["status"][i][j].text();
        assert!(["stable", "drifting", "multi-regime", "unsteady"].contains(&status), "{status}");
        let [low, median, high] =
            ["ci95_low_ns", "median_ns", "ci95_high_ns"].map(|matrix| cell(profile, matrix, i, j));
        assert!(1.3 <= low && low <= median && median <= high, "{low} {median} {high}");
    }
}

#[test]
fn two_host_cpus_are_measured() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let output = place.run(format!("measure --cpus {cpus} --json"));
    assert!(stderr(&output).lines().all(|line| line.starts_with("seatmap: ")));
    let profile = serde_json::from_slice(&output.stdout).unwrap();
    assert_whole(&profile, 2);
    assert_eq!(profile["origin"]["kind"], "measured");
    assert_eq!(files(&place), [""; 0]);
}

#[test]
fn output_file_equals_json_output() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let printed = place.stdout(format!("measure --cpus {cpus} --quick --json -o x.json"));
    assert_eq!(place.read("x.json"), printed);
    assert_eq!(files(&place), ["x.json"], "no journal is left");
    let shown = place.stdout(format!("measure --cpus {cpus} --quick -o -"));
    assert_whole(&serde_json::from_str(&shown).unwrap(), 2);
}

#[test]
fn two_pus_cannot_distinguish_homes() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let page = place.stdout(format!("measure --cpus {cpus} --quick --homes 8 --loaded -o x.json"));
    assert_contains(&page, "The homes of 8 cache lines cannot be distinguished with 2 PUs");
    let profile = place.read_json("x.json");
    assert_eq!(profile["home_model"]["lines"]["resolvable"], false);
    assert_eq!(profile["loaded"][0]["pairs"], 1);
}

#[test]
fn memory_bandwidth_is_measured_and_shown() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let page = place.stdout(format!(
        "measure --cpus {cpus} --quick --wakeups 0 --bandwidth -o x.json --html x"
    ));
    let title = "Memory bandwidth by number of threads";
    assert_contains(&page, &format!("{title}, 10^9 bytes/s\n"));
    assert_contains(&place.stdout("show x.json"), "  95 % of the best rate: read ");
    assert_contains(&place.read("x"), "10^9 bytes/s against threads");
    let bandwidth = &place.read_json("x.json")["bandwidth"];
    let rounds = bandwidth["rounds"].number();
    assert!(rounds >= 5.0 && bandwidth["array_over_cache"].number() >= 1.0, "{bandwidth}");
    for group in bandwidth["groups"].elements() {
        for kernel in ["read", "write", "triad"] {
            // A number of threads whose batches were all disturbed has no point.
            for point in group[kernel].elements() {
                let batches = point["batches"].number() + point["discarded"].number();
                assert_eq!(batches, 8.0 * rounds, "{point}");
                assert!(point["median_gbps"].number() > 0.0, "{point}");
            }
        }
    }
}

#[test]
fn only_whole_host_measurement_is_stored() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let before = place.run("show host");
    assert!(stderr(&before).contains("has not been measured yet"));
    assert!(before.status.success());
    place.stdout("measure --quick");
    let shown = place.run("show host");
    assert!(stdout(&shown).contains("Distance classes"), "{shown:?}");
    assert!(shown.stderr.is_empty());
    assert!(place.stdout(format!("measure --cpus {cpus} --quick")).contains("Distance classes"));
}

#[test]
fn large_change_since_last_measurement_is_reported() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    place.stdout("measure --quick");
    let name = format!("state/seatmap/{}.json", seatmap_os::state::host_name());
    let mut remembered = place.read_json(&name);
    for matrix in MATRICES {
        for row in remembered["core_distance"][matrix].as_array_mut().unwrap() {
            row.as_array_mut()
                .unwrap()
                .iter_mut()
                .for_each(|cell| *cell = (1000.0 * cell.number()).into());
        }
    }
    remembered["origin"]["date"] = "2026-01-02".into();
    std::fs::write(place.path(&name), remembered.to_string()).unwrap();
    let stderr =
        String::from_utf8(place.run(format!("measure --cpus {cpus} --quick --json")).stderr)
            .unwrap();
    let told = stderr
        .lines()
        .find(|line| line.starts_with("seatmap: differs from the measurement of 2026-01-02: "));
    assert!(
        told.is_some_and(|line| line.contains(" changed from ") && line.contains(" ns; possible")),
        "{stderr}"
    );
    place.stdout("measure --quick");
    let stderr = String::from_utf8(place.run("show host").stderr).unwrap();
    assert!(stderr.is_empty(), "what is remembered now is new: {stderr}");
}

#[test]
fn two_runs_recover_same_described_machine() {
    let place = Place::new();
    let run = || place.json("measure --on xeon-e5-2680-2s --cpus 0-3,8-11,16-19 --passes 3 --json");
    let mut first = run();
    let mut second = run();
    assert_whole(&first, 12);
    for (i, j, expected) in [(0, 1, 111.1), (0, 4, 444.4), (0, 8, 27.8)] {
        assert!((cell(&first, "median_ns", i, j) / expected - 1.0).abs() < 0.02, "{i} {j}");
    }
    for run in [&mut first, &mut second] {
        run["core_distance"]["protocol"]["seconds"] = Value::Null;
        run["origin"]["date"] = Value::Null;
    }
    assert_eq!(first, second);
}

#[test]
fn only_allowed_cpus_are_measured() {
    let cpus = seatmap_os::affinity::current().unwrap();
    let [.., first, second] = cpus[..] else {
        return seatmap_needs::skipped!("two CPUs are needed");
    };
    let place = Place::new();
    let profile = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                seatmap_os::affinity::pin(&[first, second]).unwrap();
                place.json("measure --quick --json")
            })
            .join()
            .unwrap()
    });
    assert_eq!(profile["core_distance"]["pus"], serde_json::json!([first, second]));
    assert_eq!(profile["topology"]["pus"].elements().len(), 2);
}

#[test]
fn placement_uses_currently_allowed_cpus() {
    let cpus = seatmap_os::affinity::current().unwrap();
    let [first, second, ..] = cpus[..] else {
        return seatmap_needs::skipped!("two CPUs are needed");
    };
    let place = Place::new();
    let pair = format!("{first},{second}");
    place.stdout("measure --quick");
    let request = "place --on host --pattern ring:2";
    let whole = place.run(request);
    let narrow = || {
        seatmap_os::affinity::pin(&[first]).unwrap();
        [place.run(request), place.run((request, &["--cpus", &pair]))]
    };
    let [narrow, named] = std::thread::scope(|scope| scope.spawn(narrow).join().unwrap());
    assert!(whole.status.success() && !stderr(&whole).contains("left out"), "{}", stderr(&whole));
    let others = seatmap_os::CpuList(cpus[1..].to_vec());
    let are = if cpus.len() == 2 { "is" } else { "are" };
    let remark = format!(
        "{} {are} left out: this process may use only {first}, because of its cpuset or a taskset",
        others.named()
    );
    assert!(stderr(&narrow).contains(&remark), "{}", stderr(&narrow));
    let seats = stdout(&narrow);
    assert_contains(&seats, &format!("0:{first} 1:{first}\n"));
    assert!(
        stderr(&named).contains(&format!("CPU {second} is outside the CPUs")),
        "{}",
        stderr(&named)
    );
}

#[test]
fn fit_reproduces_published_machine() {
    let place = Place::new();
    let Some(csv) = seatmap_needs::published("core-to-core/xeon-8375c-2s-128.csv") else { return };
    let csv = csv.to_str().unwrap();
    let report = place.json(["model", "fit", csv, "-o", "twin.toml", "--json"]);
    assert!(report["all"]["rmse_ns"].number() <= 0.5, "{report}");
    let page = place.stdout(["show", csv]);
    assert_contains(&page, "Inside the groups each distance is the sum of two figures, one per PU");
}

#[test]
fn shared_profile_is_anonymous() {
    let Some(cpus) = two_cpus() else { return };
    let place = Place::new();
    let measure = ["measure", "--quick", "--wakeups", "0", "--cpus", &cpus, "--share", "s.json"];
    let output = place.run(measure);
    let said = stderr(&output);
    assert!(output.status.success() && said.contains("left out for privacy: the host's name"));
    let host = seatmap_os::state::host_name();
    let shared = place.read_json("s.json");
    for key in ["name", "origin"] {
        assert!(!shared[key].to_string().contains(&host), "{shared:#}");
    }
    assert!(place.stdout("show s.json").contains("Distance classes"));
}
