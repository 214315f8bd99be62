//! One self-contained HTML page: no request leaves it, now or in ten years.
//!
//! [`page`] shows a profile. [`document()`] is the frame around any page of Seatmap (style, light
//! and dark, the terms explained, and a policy that forbids the browser to load anything);
//! placements, noise, seatings and others fill it with their own bodies.

mod charts;
mod data;
mod doctor;
pub(crate) mod document;
mod map;
mod numbers;
mod page;
mod replay;
mod seating;
pub(crate) mod tables;

pub use doctor::doctor;
pub use document::{document, head};
pub use page::page;
pub(crate) use page::page_with;
pub use replay::replay;
pub use seating::seating_page;
pub use tables::facts;

use crate::floor::{FloorPlan, SeatingComparison};
use crate::page::draw;
use seatmap_cluster::Cluster;
use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Plan;
use seatmap_health::noise::NoiseReport;
use seatmap_trial::gate::GateReport;
use seatmap_trial::gate::history::Trends;
use seatmap_trial::tune::{BenchResults, Tuned};

/// Commands compared by running them, as one HTML file.
#[must_use]
pub fn bench(results: &BenchResults) -> String {
    draw::html(&crate::bench::page(results))
}

/// Base and head of several benchmarks, as one HTML file.
#[must_use]
pub fn gate(report: &GateReport) -> String {
    draw::html(&crate::gate::page(report))
}

/// Benchmarks over time, as one HTML file.
#[must_use]
pub fn history(trends: &Trends) -> String {
    draw::html(&crate::history::page(trends))
}

/// A race of ways to seat a program, as one HTML file.
#[must_use]
pub fn tune(tuned: &Tuned) -> String {
    draw::html(&crate::tune::page(tuned))
}

/// A measured cluster as one HTML file: its switches with their nodes, the round trips of all
/// pairs, and what is odd.
#[must_use]
pub fn cluster(cluster: &Cluster) -> String {
    draw::html(&crate::cluster::blocks(cluster))
}

/// The noise on some CPUs, as one HTML file.
#[must_use]
pub fn noise(report: &NoiseReport) -> String {
    draw::html(&crate::noise::page(report))
}

/// A pattern as one HTML file: its figures, its matrix, and what is sent most.
#[must_use]
pub fn pattern(pattern: &Pattern) -> String {
    draw::html(&crate::pattern::page(pattern))
}

/// A saved plan as one HTML file: its gain and its seats.
#[must_use]
pub fn saved_plan(profile: &Profile, floor: &FloorPlan, plan: &Plan) -> String {
    draw::html(&crate::placement::saved_page(profile, floor, plan))
}

/// A plan as one HTML file: its gain, the seats, the distances of the machine and those between the
/// tasks.
#[must_use]
pub fn placement(
    profile: &Profile,
    pattern: &Pattern,
    plan: &Plan,
    comparison: &SeatingComparison,
) -> String {
    draw::html(&crate::placement::page(profile, pattern, plan, comparison))
}
