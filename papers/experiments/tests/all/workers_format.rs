//! The schema matches written documents.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::document::schema::{never_written, refused};
use seatmap_experiments::cellule::costs::{CallComparison, TimedCall, WorkerCosts};
use seatmap_experiments::cellule::document::CelluleResult;
use seatmap_experiments::cellule::libspe2::style::ByStyle;
use seatmap_experiments::cellule::libspe2::{gains as figures, noise::OsNoise};
use seatmap_experiments::cellule::simulated::figures::{Perturbed, PerturbedGain, SimulatedCalls};
use seatmap_experiments::cellule::simulated::inputs::Inputs;
use seatmap_experiments::cellule::spread::SampleSummary;
use seatmap_experiments::cellule::streams::Through;
use seatmap_experiments::cellule::streams::share::shares;
use seatmap_experiments::cellule::{
    Libspe2, SimulatedCellule, WorkerSeats, WorkersDocument, compare, gains,
};
use serde_json::Value;

const NOTHING: [&str; 0] = [];

fn schema() -> Value {
    serde_json::from_str(include_str!(
        "../../../../docs/papers/formats/seatmap-workers-1.schema.json"
    ))
    .unwrap()
}

fn json(found: CelluleResult) -> Value {
    serde_json::to_value(WorkersDocument::new("here".to_owned(), vec![0], found)).unwrap()
}

fn documents() -> Vec<Value> {
    let spread = SampleSummary::of(&[vec![1.0, 2.0]]).unwrap();
    let calls = [(TimedCall::CtxRun, CallComparison { runtime: spread, threads: spread })].into();
    let cpu = seatmap_worker::allowed_cpus().unwrap()[0];
    let program =
        compare("matrix:64".parse().unwrap(), &WorkerSeats::new(&[cpu], 1).unwrap(), 1).unwrap();
    let point = gains::SizeGain { at: 64, gain_percent: program.gain_percent, runtime_ns: 1.0 };
    let series = vec![gains::GainSeries { name: "one".to_owned(), points: vec![point] }];
    let through = Through {
        configuration: "TwoRxTx-Prio",
        link: "loopback",
        mbps: vec![1.0, 2.0],
        shares: vec![shares(&[], 1, 1)],
    };
    vec![
        json(CelluleResult::Calls(vec![WorkerCosts { workers: 1, clock_step_ns: 10.0, calls }])),
        json(CelluleResult::Program(Box::new(program))),
        json(CelluleResult::Gains(vec![gains::GainFigure {
            title: "gain",
            across: "size",
            series,
        }])),
        json(CelluleResult::Streams(vec![through])),
        json(CelluleResult::Libspe2(Box::new(libspe2(spread)))),
        json(CelluleResult::Cellule(Box::new(cellule(spread)))),
    ]
}

fn cellule(spread: SampleSummary) -> SimulatedCellule {
    let growth = [(TimedCall::CtxRun, ByStyle { cell: 1.0, linux: 1.0 })].into();
    let gain =
        PerturbedGain { size: 128, least_percent: -1.0, median_percent: 0.0, most_percent: 1.0 };
    SimulatedCellule {
        seed: 1,
        inputs: Inputs::default().list(),
        calls: vec![SimulatedCalls { spes: 1, times: libspe2(spread).table, growth }],
        figures: libspe2(spread).figures,
        perturbed: vec![Perturbed {
            spes: 1,
            points: vec![gain],
            least_percent: -1.0,
            most_percent: 1.0,
        }],
    }
}

fn libspe2(spread: SampleSummary) -> Libspe2 {
    let time = ByStyle { cell: spread, linux: spread };
    let kernel_percent = ByStyle { cell: None, linux: Some(1.0) };
    let points = vec![figures::StyleGain { at: 128, gain_percent: 1.0, time, kernel_percent }];
    let series = vec![figures::GainCurve { name: "1 SPE".to_owned(), points }];
    let one = OsNoise { looked_ns: 1.0, gaps_per_second: 0.0, lost_percent: 0.0, longest_ns: 0.0 };
    Libspe2 {
        spes: 1,
        table: [(TimedCall::CtxRun, time)].into(),
        figures: vec![figures::Curves { title: "gain", across: "size", series }],
        noise: ByStyle { cell: one, linux: one },
    }
}

#[test]
fn schema_describes_every_kind() {
    for document in documents() {
        assert_eq!(refused(&schema(), &document), NOTHING, "{document}");
    }
    assert_eq!(never_written(&schema(), &documents()), NOTHING);
}

#[test]
fn schema_refuses_values_never_written() {
    let good = documents().remove(0);
    for (key, value) in [
        ("format", "seatmap-workers/2".into()),
        ("cpus", Value::Array(vec![])),
        ("program", Value::Null),
    ] {
        let mut bad = good.clone();
        bad[key] = value;
        assert!(!refused(&schema(), &bad).is_empty(), "{key}");
    }
}
