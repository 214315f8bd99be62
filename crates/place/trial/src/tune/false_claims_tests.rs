//! How often simulated sessions with changing neighbours claim a false difference, and find a true
//! one.

use crate::tune::blocks::next_block;
use crate::tune::disturbance::Disturbance;
use crate::tune::document::tests::made;
use crate::tune::{BenchResults, BlockRun, ComparisonVerdict};
use seatmap_data::statistics::trial::Schedule;
use seatmap_data::statistics::{Xoshiro, normal};

const BLOCKS: usize = 25;

struct Neighbours {
    chance: fastrand::Rng,
    /// Probabilities, before each run.
    comes: f64,
    goes: f64,
    is_there: bool,
}

impl Neighbours {
    fn run(&mut self, alone: f64) -> (f64, f64) {
        let moves = if self.is_there { self.goes } else { self.comes };
        if self.chance.f64() < moves {
            self.is_there = !self.is_there;
        }
        let noise = (0.02 * normal(&mut self.chance)).exp();
        // A neighbour that starts or stops meanwhile has a smaller share.
        let share = if self.is_there { 0.3 + 0.2 * self.chance.f64() } else { 0.0 };
        (alone * noise / (1.0 - share), 100.0 * share)
    }

    fn session(&mut self, planted: f64, seed: u64) -> BenchResults {
        // Disturbed blocks are repeated, up to twice the number of blocks.
        let is_over = |block, results: &mut BenchResults| {
            block >= 2 * BLOCKS || block >= BLOCKS && results.quiet_blocks() >= BLOCKS
        };
        session(seed, is_over, |command| {
            let alone = if command == 0 { 0.1 * planted } else { 0.1 };
            let (value, foreign_percent) = self.run(alone);
            let disturbance = Disturbance {
                foreign_percent: Some(foreign_percent),
                unsure_percent: 10.0,
                ..Disturbance::default()
            };
            (value, Some(disturbance))
        })
    }
}

fn session(
    seed: u64,
    is_over: impl Fn(usize, &mut BenchResults) -> bool,
    mut reading: impl FnMut(usize) -> (f64, Option<Disturbance>),
) -> BenchResults {
    let mut results = made(0);
    results.seed = seed;
    let mut schedule = Schedule::new(seed);
    for block in 0.. {
        if is_over(block, &mut results) {
            break;
        }
        for (command, again) in next_block(&mut schedule, 2) {
            let (value, disturbance) = reading(command);
            let run = BlockRun::new(block, command, value);
            results.runs.push(BlockRun { again, disturbance, ..run });
        }
    }
    results.judge();
    results
}

fn verdicts(comes: f64, goes: f64, planted: f64, sessions: u64) -> Vec<ComparisonVerdict> {
    let chance = fastrand::Rng::with_seed(11);
    let mut neighbours = Neighbours { chance, comes, goes, is_there: false };
    (0..sessions).map(|seed| neighbours.session(planted, seed).comparisons[0].verdict).collect()
}

fn count(verdicts: &[ComparisonVerdict], of: &[ComparisonVerdict]) -> usize {
    verdicts.iter().filter(|verdict| of.contains(verdict)).count()
}

#[test]
fn varying_neighbour_rarely_causes_false_claims() {
    // The neighbour is active for 5 runs of 25, 10 of 20, or 100 of 200, which exceeds a session.
    for (comes, goes, least) in [(0.05, 0.2, 90), (0.1, 0.1, 90), (0.01, 0.01, 50)] {
        let same = verdicts(comes, goes, 1.0, 200);
        let claims = count(&same, &[ComparisonVerdict::Better, ComparisonVerdict::Worse]);
        let found = count(&verdicts(comes, goes, 1.05, 100), &[ComparisonVerdict::Worse]);
        assert!(claims <= 10, "comes {comes}, goes {goes}: {claims} false claims of 200");
        assert!(found >= least, "comes {comes}, goes {goes}: {found} of 100 found");
    }
}

type Slots = Box<dyn FnMut() -> f64>;

fn correlated(rho: f64, seed: u64) -> Slots {
    let mut own = fastrand::Rng::with_seed(seed);
    let mut value = normal(&mut own);
    Box::new(move || {
        value = rho * value + (1.0 - rho * rho).sqrt() * normal(&mut own);
        0.05 * value
    })
}

/// Correlated runs; a slowing computer; a neighbour that doubles about 12 runs; heavy tails.
fn kinds(seed: u64) -> Vec<(&'static str, Slots)> {
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut drifting = chance.fork();
    let mut hour = 0.0;
    let mut flipping = chance.fork();
    let mut is_slow = false;
    vec![
        ("independent", correlated(0.0, seed)),
        ("0.6", correlated(0.6, seed)),
        ("0.9", correlated(0.9, seed)),
        (
            "drift",
            Box::new(move || {
                hour += 0.005;
                hour + 0.05 * normal(&mut drifting)
            }),
        ),
        (
            "regimes",
            Box::new(move || {
                is_slow ^= flipping.u8(0..12) == 0;
                0.05 * normal(&mut flipping) + if is_slow { 0.7 } else { 0.0 }
            }),
        ),
        (
            "heavy",
            Box::new(move || 0.05 * normal(&mut chance) / normal(&mut chance).abs().max(0.1)),
        ),
    ]
}

fn judged(blocks: usize, seed: u64, planted: f64, slots: &mut Slots) -> ComparisonVerdict {
    let results = session(
        seed,
        |block, _| block >= blocks,
        |command| {
            let more = if command == 0 { planted } else { 1.0 };
            (more * slots().exp(), None)
        },
    );
    results.comparisons[0].verdict
}

#[test]
fn few_blocks_rarely_claim_falsely_and_find_threefold() {
    let sessions = 60;
    for at in 0..kinds(0).len() {
        let mut claims = 0;
        for blocks in [6, 7, 9, 15] {
            let mut found = 0;
            for seed in 0..sessions {
                let (name, mut slots) = kinds(seed).swap_remove(at);
                claims += usize::from(
                    judged(blocks, seed, 1.0, &mut slots) != ComparisonVerdict::NotShown,
                );
                let verdict = judged(blocks, seed, 3.0, &mut slots);
                assert_ne!(verdict, ComparisonVerdict::Better, "{name}");
                found += u64::from(verdict == ComparisonVerdict::Worse);
            }
            // A neighbour or a heavy tail sometimes hides a factor of three from six blocks.
            let least = if at < 4 { sessions } else { sessions * 7 / 10 };
            assert!(found >= least, "kind {at}, {blocks} blocks: {found} of {sessions}");
        }
        // 5 % of 240 are 12; three standard deviations above are 22.
        assert!(claims <= 22, "kind {at}: {claims} of {}", 4 * sessions);
    }
}

/// A mean of two runs minus one would be skewed like the noise.
#[test]
fn spikes_rarely_cause_false_claims() {
    let mut random = Xoshiro::new(3);
    let claims = (0..400)
        .filter(|seed| {
            let mut results = made(0);
            results.seed = *seed;
            for block in 0..60 {
                for (command, again) in [(0, false), (0, true), (1, false)] {
                    let spike = if random.below(5) == 0 { 1.5 } else { 1.0 };
                    let value = spike * (1.0 + 0.02 * random.unit());
                    results.runs.push(BlockRun { again, ..BlockRun::new(block, command, value) });
                }
            }
            results.judge();
            results.comparisons[0].verdict != ComparisonVerdict::NotShown
        })
        .count();
    // 5 % of 400 are 20, without the floor.
    assert!(claims <= 26, "{claims} of 400");
}
