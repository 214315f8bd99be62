//! A program that pins its own threads, on a measured host and on an unmeasured one.

use crate::installed::{How, can_compile, library, stdout};
use seatmap_data::machine::{CoreDistance, Matrix, Origin, OriginKind, Profile, Topology};
use std::path::Path;

const EXAMPLE: &str = "examples/producer_consumer.c";

fn remember(state: &Path, cpus: &[u32]) {
    let origin =
        Origin { kind: OriginKind::Measured, source: "a test".to_owned(), date: None, tool: None };
    let mut profile = Profile::new("host", origin, Topology::unknown(cpus.iter().copied()));
    let apart = Matrix::from_fn(cpus.len(), |i, j| if i == j { 0.0 } else { 100.0 });
    profile.core_distance = Some(CoreDistance::imported(cpus.to_vec(), apart));
    std::fs::create_dir_all(state.join("seatmap")).unwrap();
    let name = format!("{}.json", seatmap_os::state::host_name());
    std::fs::write(state.join("seatmap").join(name), profile.to_json()).unwrap();
}

#[test]
fn producer_and_consumer_run_on_chosen_cpus() {
    if !can_compile() {
        return;
    }
    let cpus = seatmap_os::affinity::current().unwrap_or_default();
    if cpus.len() < 2 {
        seatmap_needs::skipped!("two seats take two CPUs");
        return;
    }
    let state = tempfile::tempdir().unwrap();
    remember(state.path(), &cpus);
    let mut command = library().command(EXAMPLE, How::Shared, false);
    let printed = stdout(command.arg("2000").env("XDG_STATE_HOME", state.path()));
    assert!(
        printed.starts_with("2000 values on CPUs ") && printed.contains("lines are alike"),
        "{printed}"
    );
}

#[test]
fn unmeasured_host_is_reported() {
    if !can_compile() {
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let mut command = library().command(EXAMPLE, How::Shared, false);
    let output = command.arg("10").env("XDG_STATE_HOME", state.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("this host has not been measured yet; 'seatmap measure' does it"),
        "{stderr}"
    );
}
