//! The engine with simulated programs, whose rates drift, jump and are noisy.

use super::*;
use crate::live::candidates::SeatCandidate;

struct World {
    rng: fastrand::Rng,
    gains: Vec<f64>,
    noise: f64,
    drift: f64,
    changes_s: f64,
}

#[derive(Debug, Default)]
struct Playthrough {
    kept: Option<usize>,
    attempts: usize,
    switches: usize,
    seconds: f64,
}

impl World {
    fn new(seed: u64, gains: &[f64]) -> Self {
        let rng = fastrand::Rng::with_seed(seed);
        World { rng, gains: gains.to_vec(), noise: 0.03, drift: 0.002, changes_s: f64::INFINITY }
    }

    /// The sum of 12 uniform values.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.rng.f64()).sum::<f64>() - 6.0
    }

    fn rate(&mut self, candidate: Option<usize>, at_s: f64) -> f64 {
        let gain = candidate.map_or(1.0, |candidate| self.gains[candidate]);
        gain * (self.drift * at_s + self.noise * self.normal()).exp()
    }

    fn play(&mut self, length_s: f64) -> Playthrough {
        let mut engine = LiveEngine::new(DecisionRules::default());
        let mut played = Playthrough::default();
        let mut next = Decision::Observe;
        while played.seconds < length_s {
            let (event, took_s) = match next {
                Decision::Observe => {
                    played.attempts += 1;
                    let candidates = self.gains.iter().map(|_| SeatCandidate::default()).collect();
                    (ProgramEvent::Observed { messages_per_s: 1.0, candidates }, 2.0)
                }
                Decision::Measure { candidate } => {
                    let rate = Some(self.rate(candidate, played.seconds));
                    (ProgramEvent::Read { rate, user: None }, 0.5)
                }
                Decision::Rest { seconds } => {
                    let distance = if played.seconds > self.changes_s { 1.0 } else { 0.0 };
                    (ProgramEvent::Watched { distance }, seconds)
                }
                other => panic!("{other:?} is nothing to do"),
            };
            played.seconds += took_s;
            let said = engine.take(&event);
            for decision in &said {
                match decision {
                    Decision::Keep { candidate } => played.keep(Some(*candidate)),
                    Decision::PutBack { .. } => played.keep(None),
                    _ => {}
                }
            }
            next = said.last().unwrap().clone();
        }
        played
    }
}

impl Playthrough {
    fn keep(&mut self, kept: Option<usize>) {
        self.switches += usize::from(kept != self.kept);
        self.kept = kept;
    }
}

/// An engine that has seen one candidate.
fn observed() -> LiveEngine {
    let mut engine = LiveEngine::new(DecisionRules::default());
    let candidates = vec![SeatCandidate::default()];
    engine.take(&ProgramEvent::Observed { messages_per_s: 1.0, candidates });
    engine
}

fn kept(gains: &[f64]) -> usize {
    (0..1000).filter(|seed| World::new(*seed, gains).play(120.0).kept.is_some()).count()
}

#[test]
fn ineffective_seats_are_rarely_kept() {
    // The interval allows 2.5 % in all.
    assert!(kept(&[1.0, 1.0, 1.0]) <= 40, "{} of 1000", kept(&[1.0, 1.0, 1.0]));
    assert_eq!(kept(&[0.95, 0.9]), 0);
}

#[test]
fn better_seats_are_kept() {
    assert!(kept(&[1.1]) >= 990);
    let best = (0..200).filter(|seed| World::new(*seed, &[1.1, 1.3]).play(120.0).kept == Some(1));
    assert!(best.count() >= 198);
}

#[test]
fn accelerating_program_is_rarely_misjudged() {
    let drifts = |seed| World { drift: 0.05, ..World::new(seed, &[1.0]) }.play(60.0);
    let fooled = (0..1000).filter(|seed| drifts(*seed).kept.is_some()).count();
    assert!(fooled <= 40, "{fooled} of 1000");
}

#[test]
fn engine_settles_within_one_hour() {
    for seed in 0..50 {
        let same = World::new(seed, &[1.0]).play(3600.0);
        assert!(same.attempts == 1 && same.switches <= 2, "{same:?}");
        let better = World::new(seed, &[1.2]).play(3600.0);
        assert!(better.attempts == 1 && better.switches == 1, "{better:?}");
    }
}

#[test]
fn changed_pattern_triggers_ever_rarer_attempts() {
    let mut world = World { changes_s: 100.0, ..World::new(3, &[1.0]) };
    let played = world.play(3600.0);
    assert!((3..=12).contains(&played.attempts), "{played:?}");
    let mut better = World { changes_s: 100.0, ..World::new(3, &[1.3]) };
    assert!(better.play(130.0).attempts > 1);
}

#[test]
fn clearly_worse_candidate_is_abandoned_early() {
    let left_after = |share: f64| {
        let mut engine = observed();
        let rates = [1.0, share, share, 1.0].into_iter().cycle();
        let answers = rates
            .take(20)
            .map(|rate| engine.take(&ProgramEvent::Read { rate: Some(rate), user: None }));
        let left =
            Decision::Tried { candidate: 0, verdict: CandidateVerdict::LeftEarly, gain: None };
        let said = answers.enumerate().find(|(_, said)| said[0] == left)?;
        assert_eq!(said.1[1], Decision::PutBack { why: Why::NoneBetter });
        Some(said.0 + 1)
    };
    assert_eq!([0.5, 0.8, 0.95].map(left_after), [Some(4), Some(8), None]);
}

/// Programs of `bench/advise/shared` with their switches and user time on one CPU.
#[test]
fn switches_without_user_time_keep_no_seats() {
    let verdict = |switches: f64, user: f64| {
        let mut engine = LiveEngine::new(DecisionRules::default());
        let candidates = vec![SeatCandidate::default()];
        engine.take(&ProgramEvent::Observed { messages_per_s: 1.0, candidates });
        let said = GROUP.iter().cycle().find_map(|is_seated| {
            let of = |ratio: f64| Some(if *is_seated { ratio } else { 1.0 });
            let event = ProgramEvent::Read { rate: of(switches), user: of(user) };
            match engine.take(&event).remove(0) {
                Decision::Tried { verdict, .. } => Some(verdict),
                _ => None,
            }
        });
        said.unwrap()
    };
    assert_eq!(verdict(1.9, 1.7), CandidateVerdict::Better);
    assert_eq!(verdict(54.0, 0.95), CandidateVerdict::Worse);
    assert_eq!(verdict(1.22, 1.25), CandidateVerdict::NotShown);
}

#[test]
fn candidate_without_readings_is_unread() {
    let mut engine = observed();
    let said = (0..20)
        .map(|at| {
            engine.take(&ProgramEvent::Read { rate: (at % 3 == 0).then_some(0.0), user: None })
        })
        .last()
        .unwrap();
    assert_eq!(
        said[0],
        Decision::Tried { candidate: 0, verdict: CandidateVerdict::Unread, gain: None }
    );
}

#[test]
fn unexpected_events_finish_engine() {
    let mut engine = LiveEngine::new(DecisionRules::default());
    assert_eq!(engine.take(&ProgramEvent::Watched { distance: 0.0 }), [Decision::Finish]);
    assert_eq!(engine.take(&ProgramEvent::Ended), [Decision::Finish]);
}

#[test]
#[should_panic(expected = "broke an invariant: engine of live seats: candidate Some(3) of 1")]
fn candidate_out_of_range_panics() {
    let mut engine = LiveEngine::new(DecisionRules::default());
    engine.candidates = 1;
    engine.state = State::Resting { kept: Some(3), rested_s: 0.0 };
    engine.take(&ProgramEvent::Watched { distance: 0.0 });
}
