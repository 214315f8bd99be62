//! The schemas in `docs/formats` are those of the types that write the documents.
//!
//! `docs/formats/README.md` has the command that writes them anew.

#![expect(dead_code, reason = "only the types of these documents are of interest")]

use crate::verbs::cell::CellRunReport;
use schemars::JsonSchema;
use seatmap_advise::Advice;
use seatmap_cell::CellRecord;
use seatmap_cell::document::{CellList, CellVerdict};
use seatmap_cluster::Cluster;
use seatmap_console::output::OfMachine;
use seatmap_data::document::schema::{check_in, of};
use seatmap_data::machine::{Description, MachineSheet, Profile};
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Plan;
use seatmap_health::doctor::DoctorReport;
use seatmap_health::noise::NoiseReport;
use seatmap_launch::Report;
use seatmap_launch::named::NamedCpus;
use seatmap_machines::catalog::MachineList;
use seatmap_measure::comparison::{self, ProfileComparison};
use seatmap_measure::gallery::MachineRanking;
use seatmap_measure::twin::TwinReport;
use seatmap_place::ranks::RankPlan;
use seatmap_pretend::PretendReport;
use seatmap_pretend::zoo::report::ZooReport;
use seatmap_report::shown::ShownMachine;
use seatmap_services::{ServicesFile, ServicesPlan, ServicesRecord};
use seatmap_trial::gate::history::{self, HistoryEntry, Trends};
use seatmap_trial::gate::{BenchmarksFile, GateReport};
use seatmap_trial::live::log;
use seatmap_trial::tune::document::BenchResults;
use seatmap_trial::tune::tuned::Tuned;
use seatmap_watch::judge::judged::{Judged, LookDocument};
use seatmap_watch::{Seating, recording};
use std::path::Path;

/// The seats of threads.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Seatings {
    /// The report of a run: `seatmap run --report`.
    Run(OfMachine<'static, Report>),
    /// The report of a run in a cell: `seatmap cell run --report`.
    CellRun(OfMachine<'static, CellRunReport<'static>>),
    /// A seating of living programs.
    Living(&'static Seating),
    /// A seating with its judgement: `seatmap check --json`.
    Judged(Judged<'static>),
    /// A seating with its judgement at one time: `seatmap top --json`.
    Look(LookDocument<'static>),
}

/// A line of the log of `seatmap run --auto --log`: the header, an event, or a decision about the
/// CPUs of a running program.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum AutoLine {
    /// The first line.
    Header(log::LogHeader),
    /// A line after the first.
    Line(log::LogLine),
}

/// A line of `seatmap top --record`: the header, or one observation of running programs.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum RecordingLine {
    /// The first line.
    Header(recording::RecordingHeader),
    /// A further line.
    Moment(recording::RecordingEntry),
}

/// A cell, as `seatmap cell create`, `show` and `verify` print it with `--json`.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Cells {
    /// The cell as it was created.
    Record(&'static CellRecord),
    /// The cell with its faults: `seatmap cell verify --json`.
    Verdict(CellVerdict<'static>),
}

/// The time that the system takes from a program on each CPU: the report of `seatmap noise`.
#[derive(JsonSchema)]
struct Noise(OfMachine<'static, NoiseReport>);

#[test]
fn schemas_match_types() {
    let schemas = [
        of::<Profile>(seatmap_data::machine::profile::FORMAT),
        of::<Description>(seatmap_data::machine::description::FORMAT),
        of::<MachineSheet>(seatmap_data::machine::sheet::FORMAT),
        of::<Pattern>(seatmap_data::pattern::graph::FORMAT),
        of::<Plan>(seatmap_data::plan::placed::FORMAT),
        of::<RankPlan>(seatmap_place::ranks::plan::FORMAT),
        of::<BenchResults>(seatmap_trial::tune::document::FORMAT),
        of::<BenchmarksFile>(seatmap_trial::gate::file::FORMAT),
        of::<GateReport>(seatmap_trial::gate::report::FORMAT),
        of::<HistoryEntry>(history::FORMAT),
        of::<Trends>(history::TREND_FORMAT),
        of::<Advice>(seatmap_advise::advice::FORMAT),
        of::<Tuned>(seatmap_trial::tune::tuned::FORMAT),
        of::<Seatings>(seatmap_watch::seating::FORMAT),
        of::<AutoLine>(log::FORMAT),
        of::<RecordingLine>(recording::FORMAT),
        of::<Cluster>(seatmap_cluster::cluster::FORMAT),
        of::<Cells>(seatmap_cell::record::FORMAT),
        of::<CellList<'static>>(seatmap_cell::document::LIST_FORMAT),
        of::<PretendReport>(seatmap_pretend::report::FORMAT),
        of::<ZooReport>(seatmap_pretend::zoo::report::FORMAT),
        of::<ServicesFile>(seatmap_services::file::FORMAT),
        of::<ServicesRecord>(seatmap_services::record::FORMAT),
        of::<ServicesPlan>(seatmap_services::plan::document::FORMAT),
        of::<Noise>(seatmap_health::noise::FORMAT),
        of::<TwinReport>(seatmap_measure::twin::FORMAT),
        of::<ShownMachine<'static>>("seatmap-show/1"),
        of::<MachineList>("seatmap-machines/1"),
        of::<MachineRanking>(seatmap_measure::gallery::ranking::FORMAT),
        of::<DoctorReport<'static>>("seatmap-doctor/1"),
        of::<NamedCpus>(seatmap_launch::named::FORMAT),
        of::<ProfileComparison>(comparison::FORMAT),
    ];
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/formats"));
    assert_eq!(check_in(folder, &schemas), [""; 0]);
}
