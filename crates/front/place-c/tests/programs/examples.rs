//! The examples give the same results as Rust.

use crate::installed::{How, can_compile, library, stdout};
use seatmap_data::machine::import;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Plan;
use seatmap_place::{PlaceRequest, search::SearchLimit};
use std::path::Path;

#[test]
fn edges_example_finds_optimal_placement() {
    if !can_compile() {
        return;
    }
    let printed = library().run_all_ways("examples/edges.c");
    // Task 0 is fixed on CPU 11; its partner belongs on 9.
    let expected = [
        "task 0 on CPU 11\ntask 1 on CPU 9\n",
        "cost 506880 (optimal), at least 506880, unplaced 1981440\n",
    ];
    assert!(expected.iter().all(|lines| printed.contains(lines)), "{printed}");
}

fn plan_of(machine: &[u8], pattern: &str) -> Plan {
    let machine = import::read(machine, "machine", None).unwrap();
    let pattern = Pattern::from_json(pattern).unwrap();
    let mut request = PlaceRequest::new(&machine, &pattern);
    request.limit = SearchLimit::kicks(50);
    request.threads = 2;
    let answer = request.place().unwrap();
    request.plan(&answer)
}

#[test]
fn plan_example_matches_rust() {
    if !can_compile() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = folder.path().join("machine.toml");
    let pattern = folder.path().join("pattern.json");
    let description = seatmap_data::machine::catalog::find("xeon-e5-2680-2s").unwrap();
    std::fs::write(&machine, description).unwrap();
    let stencil = seatmap_data::pattern::generate("stencil2d:4x3").unwrap().to_json();
    std::fs::write(&pattern, &stencil).unwrap();
    let mut command = library().command("examples/plan.c", How::Shared, false);
    let printed = stdout(command.args([&machine, &pattern]));
    let mut plan = Plan::from_json(&printed).unwrap();
    assert!(plan.seconds.take().is_some_and(|seconds| seconds >= 0.0));
    assert_eq!(plan.tool.take().unwrap(), concat!("libseatmap_place ", env!("CARGO_PKG_VERSION")));
    assert_eq!(plan, plan_of(description.as_bytes(), &stencil));
}

#[test]
fn published_machine_is_placed() {
    if !can_compile() {
        return;
    }
    let Some(published) = seatmap_needs::published("core-to-core/epyc-7r13-2s-192.csv") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let pattern = folder.path().join("ring.json");
    std::fs::write(&pattern, seatmap_data::pattern::generate("ring:48").unwrap().to_json())
        .unwrap();
    let output = library().run("examples/plan.c", &[&published, &pattern]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let plan = Plan::from_json(&stdout).unwrap();
    assert!(plan.machine == "epyc-7r13-2s-192" && plan.placement.len() == 48);
    assert!(plan.cost.unwrap() < 0.9 * plan.baselines.unwrap().random.mean);
}

#[test]
fn file_error_is_printed_to_stderr() {
    if !can_compile() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = folder.path().join("machine.json");
    std::fs::write(&machine, "{\"format\": \"seatmap-profile/1\",\n!").unwrap();
    let output = library().run("examples/plan.c", &[&machine, Path::new("absent")]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("machine.json: line 2, column 1: "), "{stderr}");
}
