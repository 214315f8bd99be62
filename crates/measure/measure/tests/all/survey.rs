//! Whole surveys over sources with known results.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use crate::synthetic::{AddressHash, Mesh, MeshProbe, ProbeNoise};
use seatmap_data::machine::{Matrix, PairStatus, Profile, Pu, Topology, catalog};
use seatmap_measure::MeasureError;
use seatmap_measure::journal::{Journal, MachineIdentity};
use seatmap_measure::plan::{Effort, Further, SurveyPlan};
use seatmap_measure::probe::{Discards, PairAt, Probe, Visit, VisitBatches};
use seatmap_measure::replay::{Replay, ReplayError};
use seatmap_measure::samples::Samples;
use seatmap_measure::survey::{
    Survey, SurveyOutcome, SurveyProgress, SurveyRequest, Warning, lines_needed, survey,
};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

fn request(pus: &[u32]) -> SurveyRequest {
    let plan = SurveyPlan::new(Effort::Usual, 1.0).with_passes(3);
    SurveyRequest {
        pus: pus.to_vec(),
        plan,
        parallel: false,
        homes: 1,
        utilisation_percent: 0,
        loaded: false,
    }
}

fn ended<P: Probe>(
    probe: &mut P,
    topology: &Topology,
    request: &SurveyRequest,
) -> Result<SurveyOutcome, MeasureError<P::Error>> {
    let samples = Samples::new(request.pus.clone());
    survey(probe, topology, request, None, samples, &mut |_| ControlFlow::Continue(()))
}

fn whole<P: Probe>(probe: &mut P, topology: &Topology, request: &SurveyRequest) -> Survey {
    match ended(probe, topology, request).unwrap() {
        SurveyOutcome::Whole(survey) => *survey,
        SurveyOutcome::Early(_) => panic!("nobody ended it"),
    }
}

/// Continues the run of a journal until its step of this number.
fn resumed<P: Probe>(
    path: &Path,
    probe: &mut P,
    topology: &Topology,
    request: &SurveyRequest,
    last_step: u64,
) -> (usize, u64, SurveyOutcome) {
    let header = request.header(MachineIdentity::default());
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let (mut journal, records) = Journal::resume(path, file.unwrap(), &header, 0.02).unwrap();
    let mut samples = Samples::new(request.pus.clone());
    for record in &records {
        samples.add(record.i, record.j, record.pass, record.batches());
    }
    let mut steps = 0;
    let mut stop = |_: &SurveyProgress| {
        steps += 1;
        if steps == last_step { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let ended = survey(probe, topology, request, Some(&mut journal), samples, &mut stop).unwrap();
    (records.len(), steps, ended)
}

/// A source whose pairs answer by a closure.
struct Answers<F> {
    has_hosts: bool,
    answer: F,
}

impl<F: FnMut(&PairAt, &Visit) -> Vec<f64>> Probe for Answers<F> {
    type Error = std::io::Error;

    fn has_hosts(&self) -> bool {
        self.has_hosts
    }

    fn visit(&mut self, visit: &Visit) -> Result<Vec<VisitBatches>, std::io::Error> {
        let mut brought = |pair: &PairAt| {
            let round_trip_ns = (self.answer)(pair, visit);
            VisitBatches { round_trip_ns, discards: Discards::default() }
        };
        Ok(visit.pairs.iter().map(&mut brought).collect())
    }

    fn clock_step_ns(&self) -> f64 {
        1.0
    }

    fn lines(&self) -> u32 {
        1
    }
}

fn machine() -> Profile {
    catalog::load("xeon-e5-2680-2s").unwrap()
}

/// Two PUs per cache, with one distance inside and one between.
struct Caches {
    /// Added to each of several simultaneous pairs.
    disturbance_ns: f64,
    together: usize,
    /// First visits without batches.
    deaf: u32,
    is_deaf_to_several: bool,
}

impl Caches {
    fn new() -> Self {
        Caches { disturbance_ns: 0.0, together: 0, deaf: 0, is_deaf_to_several: false }
    }

    fn topology() -> Topology {
        Topology {
            pus: (0..6)
                .map(|os| Pu { os, core: Some(os), l3: Some(os / 2), ..Pu::default() })
                .collect(),
        }
    }

    fn exact_ns(pair: PairAt) -> f64 {
        if pair.a / 2 == pair.b / 2 { 40.0 } else { 200.0 }
    }
}

impl Probe for Caches {
    type Error = std::io::Error;

    fn visit(&mut self, visit: &Visit) -> Result<Vec<VisitBatches>, std::io::Error> {
        let several = visit.pairs.len() > 1;
        self.together += if several { visit.pairs.len() } else { 0 };
        if self.deaf > 0 {
            self.deaf -= 1;
            return Ok(vec![VisitBatches {
                discards: Discards { gap: 1, ..Discards::default() },
                ..VisitBatches::default()
            }]);
        }
        if several && self.is_deaf_to_several {
            return Ok(vec![VisitBatches::default(); visit.pairs.len()]);
        }
        let extra = if several { self.disturbance_ns } else { 0.0 };
        Ok(visit
            .pairs
            .iter()
            .map(|pair| {
                let round_trip_ns = (0..visit.batches)
                    .map(|at| Self::exact_ns(*pair) + extra + 0.1 * f64::from(at % 3));
                VisitBatches {
                    round_trip_ns: round_trip_ns.collect(),
                    discards: Discards::default(),
                }
            })
            .collect())
    }

    fn clock_step_ns(&self) -> f64 {
        1.0
    }

    fn lines(&self) -> u32 {
        64
    }
}

#[test]
fn replayed_machine_is_recovered() {
    let profile = machine();
    let distance = profile.core_distance.clone().unwrap();
    let mut probe = Replay::new(&profile, 7).unwrap();
    let survey = whole(&mut probe, &profile.topology, &request(&distance.pus));
    let close = |measured: &Matrix| {
        measured.pairs().all(|(i, j, ns)| (ns / distance.median_ns[(i, j)] - 1.0).abs() < 0.02)
    };
    assert!(close(&survey.core_distance.median_ns));
    let statuses: Vec<_> =
        survey.core_distance.status.pairs().filter_map(|(_, _, status)| *status).collect();
    let stable = statuses.iter().filter(|status| **status == PairStatus::Stable).count();
    assert!(stable * 100 >= statuses.len() * 98, "{stable} of {}", statuses.len());
    let protocol = survey.core_distance.protocol.unwrap();
    assert_eq!((protocol.passes, protocol.kept), (3, 3 * 16 * 32 * 31 / 2));
    assert_eq!(survey.home_model.unwrap().groups, profile.home_model.unwrap().groups);
}

#[test]
fn replay_refuses_unknown_distances_and_pairs() {
    let mut bare = machine();
    bare.core_distance = None;
    assert_eq!(
        Replay::new(&bare, 1).unwrap_err(),
        ReplayError::NoDistances("xeon-e5-2680-2s".into())
    );
    let mut probe = Replay::new(&machine(), 1).unwrap();
    let visit = Visit { pairs: vec![PairAt { a: 0, b: 99, line: 0 }], batches: 1, round_trips: 1 };
    assert_eq!(probe.visit(&visit).unwrap_err(), ReplayError::UnknownPair(0, 99));
}

#[test]
fn whole_protocol_finds_homes_of_a_mesh() {
    let hash = AddressHash::new((0..64).map(|line| (line * 29 + line / 7) % 20).collect(), vec![])
        .unwrap();
    let mut probe =
        MeshProbe::new(hash, Mesh::new(5, 4, &[]), ProbeNoise { visit_ns: 0.5, batch_ns: 1.0 }, 3);
    let pus = probe.pus();
    let topology = Topology::unknown(pus.iter().copied());
    let survey = whole(&mut probe, &topology, &SurveyRequest { homes: 64, ..request(&pus) });
    let lines = survey.home_model.unwrap().lines.unwrap();
    assert!(lines.resolvable && lines.confidence > 0.9);
    for (a, b) in seatmap_measure::schedule::all_pairs(64) {
        let together = lines.home_of_line[a] == lines.home_of_line[b];
        assert_eq!(together, probe.home(a as u32) == probe.home(b as u32), "lines {a} and {b}");
    }
    // FindTD: on this symmetric mesh, the PU nearest to a line's home is on the home's tile.
    let near = lines.nearest_pu.iter().zip(0..).filter(|(pu, home)| {
        let line = lines.home_of_line.iter().position(|of_line| of_line == home).unwrap();
        probe.home(line as u32) == **pu as usize
    });
    assert!(near.count() * 10 >= lines.nearest_pu.len() * 9);
}

#[test]
fn independent_caches_are_measured_in_parallel() {
    let mut probe = Caches::new();
    let topology = Caches::topology();
    let parallel = SurveyRequest { parallel: true, ..request(&[0, 1, 2, 3, 4, 5]) };
    assert_eq!(lines_needed(&parallel, &topology), 6);
    let together = whole(&mut probe, &topology, &parallel);
    assert!(together.core_distance.protocol.as_ref().unwrap().parallel && probe.together > 0);
    assert_eq!(together.warnings, []);
    let alone = whole(&mut Caches::new(), &topology, &request(&parallel.pus));
    assert_eq!(together.core_distance.median_ns, alone.core_distance.median_ns);
    assert_eq!(together.home_model.unwrap().groups, [[0, 1], [2, 3], [4, 5]]);
}

#[test]
fn interfering_caches_are_measured_one_by_one() {
    let mut probe = Caches { disturbance_ns: 10.0, ..Caches::new() };
    let parallel = SurveyRequest { parallel: true, ..request(&[0, 1, 2, 3, 4, 5]) };
    let survey = whole(&mut probe, &Caches::topology(), &parallel);
    assert!(
        matches!(survey.warnings[..], [Warning::ParallelDisturbs { difference }] if difference > 0.04)
    );
    assert!(!survey.core_distance.protocol.unwrap().parallel);
    assert_eq!(survey.core_distance.median_ns[(0, 1)], 40.1);
    let mut probe = Caches { is_deaf_to_several: true, ..Caches::new() };
    let survey = whole(&mut probe, &Caches::topology(), &parallel);
    assert_eq!(survey.warnings, [Warning::ParallelUnseen], "nothing shows that they do not");
    let one_cache = Topology::unknown(0..6);
    let survey = whole(&mut Caches::new(), &one_cache, &parallel);
    assert_eq!(survey.warnings, [Warning::ParallelNeedsGroups]);
}

#[test]
fn loaded_curve_has_every_number_of_pairs() {
    let mut probe = Caches { disturbance_ns: 50.0, ..Caches::new() };
    let loaded = SurveyRequest { loaded: true, ..request(&[0, 1, 2, 3, 4, 5]) };
    let curve = whole(&mut probe, &Caches::topology(), &loaded).loaded;
    assert_eq!(curve.iter().map(|point| point.pairs).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(curve[2].p90_ns >= 250.0 && curve[0].p90_ns < 210.0, "{curve:?}");
}

#[test]
fn disturbed_pair_is_retried_then_refused() {
    let pus = request(&[0, 1]);
    let mut patient = Caches { deaf: 5, ..Caches::new() };
    let survey_of = whole(&mut patient, &Caches::topology(), &pus);
    assert_eq!(survey_of.core_distance.protocol.unwrap().discarded_gap, 5);
    let mut deaf = Caches { deaf: u32::MAX, ..Caches::new() };
    let error = ended(&mut deaf, &Caches::topology(), &pus);
    assert!(matches!(error, Err(MeasureError::Disturbed { a: 0, b: 1, .. })));
}

#[test]
fn impossible_round_trips_are_refused() {
    let mut probe = Answers { has_hosts: false, answer: |_: &PairAt, _: &Visit| vec![0.4; 16] };
    let mut of = |pus: u32| {
        ended(&mut probe, &Topology::unknown(0..pus), &request(&(0..pus).collect::<Vec<_>>()))
    };
    assert!(matches!(of(2), Err(MeasureError::BelowFloor { a: 0, b: 1, .. })));
    assert!(matches!(of(1), Err(MeasureError::TooFew(1))));
}

/// PUs 0 and 1 have another distance at every second visit. Counts the visits to each pair.
fn flipping(visits: &mut [u32; 3]) -> impl Probe {
    let answer = |pair: &PairAt, visit: &Visit| {
        let visits = &mut visits[(pair.a + pair.b - 1) as usize];
        *visits += 1;
        let is_slow = (pair.a, pair.b) == (0, 1) && visits.is_multiple_of(2);
        let level = if is_slow { 300.0 } else { 80.0 };
        (0..visit.batches).map(|at| level + f64::from(at % 5)).collect()
    };
    Answers { has_hosts: false, answer }
}

#[test]
fn only_the_flipping_pair_is_visited_further() {
    let topology = Topology::unknown(0..3);
    let further = Further { passes: 3, period: Duration::ZERO };
    let plan = SurveyPlan { further, ..request(&[]).plan };
    let mut visits = [0; 3];
    let request = request(&[0, 1, 2]);
    let longer = SurveyRequest { plan, ..request.clone() };
    let survey = whole(&mut flipping(&mut visits), &topology, &longer);
    assert_eq!(visits, [3 + 3, 3, 3]);
    let distance = survey.core_distance;
    assert_eq!(distance.status[(0, 1)], Some(PairStatus::MultiRegime));
    assert_eq!(distance.status[(0, 2)], Some(PairStatus::Stable));
    let protocol = distance.protocol.unwrap();
    assert_eq!((protocol.passes, protocol.further_passes, protocol.kept), (3, 3, (9 + 3) * 16));
    let mut visits = [0; 3];
    let survey = whole(&mut flipping(&mut visits), &topology, &request);
    assert_eq!((visits, survey.core_distance.protocol.unwrap().further_passes), ([3; 3], 0));
}

#[test]
fn further_visits_are_spread_over_time() {
    let further = Further { passes: 5, period: Duration::from_millis(4) };
    let plan = SurveyPlan { further, ..request(&[]).plan };
    let begun = std::time::Instant::now();
    whole(
        &mut flipping(&mut [0; 3]),
        &Topology::unknown(0..2),
        &SurveyRequest { plan, ..request(&[0, 1]) },
    );
    assert!(begun.elapsed() >= Duration::from_millis(20));
}

fn replayed(breaks: &[u64]) -> Survey {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let profile = machine();
    let request = SurveyRequest { homes: 4, loaded: true, ..request(&[0, 1, 2, 8, 9, 16]) };
    let mut visits = 0;
    for last in breaks.iter().copied().chain([u64::MAX]) {
        let mut probe = Replay::new(&profile, 5).unwrap();
        let (records, _, ended) = resumed(&path, &mut probe, &profile.topology, &request, last);
        assert_eq!(records as u64, visits, "no visit is made twice");
        visits += last.min(3 * 15 - visits);
        match ended {
            SurveyOutcome::Early(kept) => assert_eq!(kept, visits),
            SurveyOutcome::Whole(survey) => return *survey,
        }
    }
    panic!("nobody ended the last one")
}

#[test]
fn repeatedly_interrupted_run_ends_with_equal_bits() {
    let bits = |survey: Survey| {
        let distance = survey.core_distance;
        let matrices =
            [distance.median_ns, distance.mad_ns.unwrap(), distance.ci95_low_ns.unwrap()];
        let cells = matrices
            .iter()
            .flat_map(|matrix| matrix.pairs().map(|(_, _, ns)| ns.to_bits()))
            .collect::<Vec<_>>();
        let model = survey.home_model.unwrap();
        let offsets = model.offset_ns.concat().iter().map(|ns| ns.to_bits()).collect::<Vec<_>>();
        (cells, offsets, distance.deciles_ns, survey.loaded)
    };
    let once = bits(replayed(&[]));
    assert_eq!(bits(replayed(&[1, 2, 13, 7, 1])), once);
    assert_eq!(bits(replayed(&[44, 1])), once);
}

/// The host runs 0 and 1 on one CPU in turn, and preempts 2 once. Counts the slow round trips.
fn stacked(waited: &mut u32) -> impl Probe {
    let mut visits = 0;
    let answer = move |pair: &PairAt, visit: &Visit| {
        visits += 1;
        let is_stacked = (pair.a, pair.b) == (0, 1);
        *waited += if is_stacked { visit.batches * visit.round_trips } else { 0 };
        let is_preempted = pair.b == 2 && visits <= 2;
        vec![if is_stacked || is_preempted { 3e6 } else { 90.0 }; visit.batches as usize]
    };
    Answers { has_hosts: true, answer }
}

#[test]
fn stacked_vcpus_are_found_by_a_few_round_trips() {
    let mut waited = 0;
    let request = request(&[0, 1, 2, 3]);
    let survey = whole(&mut stacked(&mut waited), &Topology::unknown(0..4), &request);
    let distance = survey.core_distance;
    assert_eq!(distance.status[(0, 1)], Some(PairStatus::Stacked));
    assert_eq!(distance.median_ns[(0, 1)], 3e6);
    assert!(waited <= 3 * 6 * 6, "{waited} round trips of milliseconds");
    let others = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    assert!(
        others.iter().all(|pair| distance.median_ns[*pair] == 90.0),
        "{:?}",
        distance.median_ns
    );
    assert!(others.iter().all(|pair| distance.status[*pair] == Some(PairStatus::Stable)));
}

#[test]
fn journal_of_a_quick_run_keeps_a_stacked_pair() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let request = SurveyRequest { plan: SurveyPlan::new(Effort::Quick, 1.0), ..request(&[0, 1]) };
    let topology = Topology::unknown(0..2);
    resumed(&path, &mut stacked(&mut 0), &topology, &request, u64::MAX);
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let header = request.header(MachineIdentity::default());
    let (_, records) = Journal::resume(&path, file, &header, 0.02).unwrap();
    let batches = records.first().map(|record| record.ns.len());
    assert_eq!(batches, Some(11), "as many as a quick visit has");
}
