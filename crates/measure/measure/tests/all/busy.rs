//! Sorts lines by home on a simulated chip while half of its threads communicate.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use seatmap_data::machine::{HomeLines, Rate};
use seatmap_measure::homes;
use seatmap_measure::plan::{Effort, SurveyPlan};
use seatmap_measure::probe::Probe;
use seatmap_measure::samples::Samples;
use seatmap_measure::survey::{self, SurveyOutcome, SurveyRequest};
use seatmap_measure::testbed_probe::TestbedProbe;
use seatmap_sim::{CoherentBed, catalog};
use std::ops::ControlFlow;
use std::sync::Arc;

fn lines(utilisation_percent: u32, seed: u64) -> HomeLines {
    let model = catalog::load("xeon-phi-5110p").unwrap().unwrap();
    let plan =
        SurveyPlan { seed, ..SurveyPlan::new(Effort::Quick, model.ns_per_tick()).without_noise() };
    let pus: Vec<u32> = (0..12).map(|core| 20 * core + 1).collect();
    let request = SurveyRequest {
        pus: pus.clone(),
        plan,
        parallel: false,
        homes: 16,
        utilisation_percent,
        loaded: false,
    };
    let needed = survey::lines_needed(&request, &model.topology);
    let mut probe =
        TestbedProbe::new(CoherentBed::new(Arc::clone(&model)), &model.topology, needed).unwrap();
    let candidates = probe.spread(request.homes);
    let samples = Samples::new(pus.clone());
    let mut go_on = |_: &survey::SurveyProgress| ControlFlow::Continue(());
    let ended =
        survey::survey(&mut probe, &model.topology, &request, None, samples, &mut go_on).unwrap();
    let SurveyOutcome::Whole(survey) = ended else { panic!("nobody ended it") };
    let mut lines = survey.home_model.unwrap().lines.unwrap();
    lines.checked = Some(homes::checked(&lines, &model, &candidates, &pus));
    lines
}

fn all(rate: Rate) -> bool {
    rate.right == rate.of && rate.of > 0
}

#[test]
fn quiet_chip_reveals_every_home() {
    let checked = lines(0, 1).checked.unwrap();
    assert!(all(checked.nearest) && checked.found.right == checked.found.of, "{checked}");
}

#[test]
fn busy_chip_reveals_every_home() {
    let lines = lines(50, 1);
    let checked = lines.checked.unwrap();
    assert!(lines.resolvable && lines.samples > 1000, "{lines:?}");
    assert!(checked.nearest.right >= 15 && checked.found.right == checked.found.of, "{checked}");
}
