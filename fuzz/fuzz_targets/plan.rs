//! Plans, JSON: every text is refused, or becomes a plan that holds together and can be exported,
//! and none of its words gets out of the comments of what is exported.
#![no_main]

use seatmap_data::plan::Plan;
use seatmap_data::plan::export::{gomp, hwloc, kmp, likwid_pin, omp_places, rankfile, slurm, systemd, taskset};

/// The longest plan that is also exported: a line a task is the same work again.
const EXPORTED_TASKS: usize = 1000;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(plan) = Plan::from_json(text) else { return };
    plan.check().expect("a plan that is read holds together");
    assert_eq!(Plan::from_json(&plan.to_json()).expect("its own file is read"), plan);
    if plan.placement.len() > EXPORTED_TASKS {
        return;
    }
    assert_eq!(likwid_pin::write(&plan).is_err(), plan.is_oversubscribed());
    let nameless = Plan::new("", plan.placement.clone());
    let omp = [kmp::write, omp_places::write];
    let others = [hwloc::write, rankfile::write, slurm::write, systemd::write, taskset::write];
    // Threads that one CPU each cannot hold are refused, whatever the plan's words are.
    let by_gomp = [&plan, &nameless].map(|plan| gomp::write(plan).ok());
    assert_eq!(by_gomp[0].as_deref().map(without_names), by_gomp[1].as_deref().map(without_names));
    for write in omp.into_iter().chain(others) {
        assert_eq!(without_names(&write(&plan)), without_names(&write(&nameless)));
    }
});

/// The lines without the comments in which the plan's words may stand.
fn without_names(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.starts_with("# Seatmap plan: "));
    lines.map(|line| line.split(" #").next().unwrap_or_default()).collect()
}
