//! Tests the figures of a twin, whose groups form no ring, for a ring with directories.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use fastrand::Rng;
use seatmap_data::machine::Profile;
use seatmap_data::port::Addr;
use seatmap_data::statistics::correlation::spearman;
use seatmap_machines::workload::{Handoff, Handoffs, handoffs_ns};
use seatmap_measure::load;
use seatmap_measure::plan::{Effort, SurveyPlan};
use seatmap_measure::testbed_probe::TestbedProbe;
use seatmap_measure::twin::Needs;
use seatmap_sim::{CoherentBed, CoherentModel};
use std::ops::ControlFlow;
use std::sync::Arc;

const SEED: u64 = 1;
/// Pairs at once; the second is held out of the fit.
const PAIRS: [usize; 3] = [1, 24, 48];
const TASKS: usize = 32;
const PLACEMENTS: u32 = 12;

fn measured(model: &Arc<CoherentModel>) -> Profile {
    let mut profile = seatmap_sim::coherent::profile(model).unwrap();
    let pus = profile.core_distance.as_ref().unwrap().pus.clone();
    let plan = SurveyPlan {
        seed: SEED,
        ..SurveyPlan::new(Effort::Quick, model.ns_per_tick()).without_noise()
    };
    let bed = CoherentBed::new(Arc::clone(model));
    let mut probe = TestbedProbe::new(bed, &model.topology, load::lines_needed(pus.len())).unwrap();
    let go_on = &mut |_: &_, _| ControlFlow::Continue(());
    profile.loaded = load::curve_at(&mut probe, &pus, &PAIRS, &plan, go_on).unwrap();
    profile.loaded_seed = Some(SEED);
    profile
}

fn placements() -> Vec<Vec<u32>> {
    let mut rng = Rng::with_seed(SEED);
    let part = |placement: u32| 0..40 + 16 * placement;
    (0..PLACEMENTS).map(|placement| rng.choose_multiple(part(placement), TASKS)).collect()
}

fn times_ns(model: &Arc<CoherentModel>) -> Vec<f64> {
    let to_next = |from: usize| Handoff {
        from,
        to: (from + 1) % TASKS,
        messages: 1,
        line: Addr::line(from as u32),
    };
    let ring = Handoffs { tasks: TASKS, handoffs: (0..TASKS).map(to_next).collect(), rounds: 8 };
    let mut bed = CoherentBed::new(Arc::clone(model));
    placements().iter().map(|seats| handoffs_ns(&mut bed, &ring, seats).unwrap()).collect()
}

#[test]
fn twin_of_ring_follows_load_and_ranks_placements() {
    let model = seatmap_sim::catalog::load("xeon-phi-5110p").unwrap().unwrap();
    let twin =
        seatmap_measure::twin::fit(&measured(&model), Needs { homes: true, loaded: true }).unwrap();
    let followed = twin.report.loaded.unwrap();
    let correlation = spearman(&times_ns(&model), &times_ns(&Arc::new(twin.model))).unwrap();
    eprintln!("{followed:?}, rank correlation {correlation:.3}");
    assert!(followed.same_pairs && followed.held_out_percent.unwrap() < 8.0, "{followed:?}");
    assert!(correlation > 0.7, "{correlation}");
}
