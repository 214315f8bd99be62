//! Compares the JSON Schemas of channels and fits in `docs/formats/` with written documents, key by
//! key in both directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::document::schema::{never_written, refused};
use seatmap_data::machine::{HomeModel, LoadedPoint};
use seatmap_experiments::channels;
use seatmap_experiments::channels::pair_gain::PairSeats;
use seatmap_experiments::channels::{Chip, ExperimentOptions, MachineLoad};
use seatmap_measure::twin::Needs;
use seatmap_sim::{CoherentBed, catalog, coherent};
use serde_json::Value;

const NOTHING: Vec<String> = Vec::new();

fn channels_schema() -> Value {
    serde_json::from_str(include_str!(
        "../../../../docs/papers/formats/seatmap-channels-1.schema.json"
    ))
    .unwrap()
}

fn fit_schema() -> Value {
    serde_json::from_str(include_str!("../../../../docs/formats/seatmap-fit-1.schema.json"))
        .unwrap()
}

fn experiments() -> Vec<Value> {
    let options = [
        ExperimentOptions::curve(1, 0, 1, 1, 1),
        ExperimentOptions::curve(1, 0, 2, 1, 1),
        ExperimentOptions::slices(4, 2, None, 1, 1),
        ExperimentOptions::pairs(PairSeats::CloseCores, 1, 10, 1),
    ];
    let model = catalog::load("xeon-phi-5110p").unwrap().unwrap();
    let all: Vec<u32> = model.topology.os_indices().collect();
    let run = |(at, options): (usize, &ExperimentOptions)| {
        let pus = if at == 0 { vec![1, 5, 9] } else { all.clone() };
        let load = MachineLoad { link_share: 0.5, directory_share: 0.25 };
        let mut bed = CoherentBed::new(model.clone());
        let chip = Chip::new(&model.topology, &pus);
        let found = channels::run(&mut bed, &chip, options, |_| (at > 0).then_some(load)).unwrap();
        let mut document = serde_json::to_value(found).unwrap();
        // The command line adds the name: a testbed has none.
        document["machine"] = model.name.clone().into();
        document
    };
    options.iter().enumerate().map(run).collect()
}

fn fits() -> Vec<Value> {
    let model = catalog::load("xeon-phi-5110p").unwrap().unwrap();
    let mut profile = coherent::profile(&model).unwrap();
    let few = |homes: &mut HomeModel| {
        homes.offset_ns.truncate(8);
        homes.offset_ns.iter_mut().for_each(|row| row.truncate(2));
        homes.groups = vec![(0..8).collect()];
        homes.lines.as_mut().unwrap().home_of_line = vec![0, 1];
        homes.lines.as_mut().unwrap().nearest_pu = vec![0, 4];
    };
    few(profile.home_model.as_mut().unwrap());
    let distance = profile.core_distance.as_mut().unwrap();
    let of = |i: usize, j: usize| distance.median_ns[(i, j)];
    let median_ns = seatmap_data::machine::Matrix::from_fn(8, of);
    *distance = seatmap_data::machine::CoreDistance::imported((0..8).collect(), median_ns);
    profile.topology.pus.truncate(8);
    let point = |pairs| LoadedPoint {
        pairs,
        median_ns: 900.0,
        p10_ns: 800.0,
        p90_ns: 1000.0,
        draws: 20,
        samples: 640,
    };
    profile.loaded = [1, 2, 3].map(point).to_vec();
    let full = seatmap_measure::twin::fit(&profile, Needs { homes: true, loaded: true }).unwrap();
    profile.loaded.clear();
    profile.home_model = None;
    let sparse = seatmap_measure::twin::fit(&profile, Needs::default()).unwrap();
    [full, sparse].map(|twin| serde_json::to_value(twin.report).unwrap()).to_vec()
}

#[test]
fn experiments_have_exactly_the_schema_keys() {
    let written = experiments();
    for document in &written {
        assert_eq!(refused(&channels_schema(), document), NOTHING, "{document}");
    }
    assert_eq!(never_written(&channels_schema(), &written), NOTHING);
}

#[test]
fn fits_have_exactly_the_schema_keys() {
    let written = fits();
    for document in &written {
        assert_eq!(refused(&fit_schema(), document), NOTHING, "{document}");
    }
    assert_eq!(never_written(&fit_schema(), &written), NOTHING);
}

#[test]
fn schemas_refuse_other_documents() {
    let curve = experiments().remove(1);
    let fit = fits().remove(0);
    for (key, value) in
        [("format", "seatmap-channels/2".into()), ("what", "lines".into()), ("points", Value::Null)]
    {
        let mut bad = curve.clone();
        bad[key] = value;
        assert_ne!(refused(&channels_schema(), &bad), NOTHING, "{key}");
    }
    for (key, value) in
        [("format", "seatmap-fit/2".into()), ("cores", (-1).into()), ("all", "near".into())]
    {
        let mut bad = fit.clone();
        bad[key] = value;
        assert_ne!(refused(&fit_schema(), &bad), NOTHING, "{key}");
    }
}
