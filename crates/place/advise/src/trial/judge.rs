//! Compares the periods of a trial.

use super::result::{RateDifference, TrialResult, TriedSeats};
use super::{CONFIDENCE, DEFAULTS};
use seatmap_data::statistics::quantile;
use seatmap_data::statistics::trial::each;
use seatmap_os::Tid;
use seatmap_trial::live::SeatCandidate;

/// The confidence of the repetition, a single claim.
const REPEATED_CONFIDENCE: f64 = 0.95;

/// A round is void if other programs or a hypervisor took this share of the CPUs' time more than in
/// a quiet period with the same seats.
const MOST_OTHERS_DIFFER: f64 = 0.15;

/// Quiet is the lower quartile, as in `seatmap bench`. Kernels without `/proc/schedstat` leave some
/// time of halting virtual CPUs uncounted, so the shares differ between seats without any
/// neighbour.
const QUIET_SHARE: f64 = 0.25;

/// Half of a ratio's interval of 95 %, in standard deviations of its logarithm.
const DEVIATIONS: f64 = 1.96;

/// The kernel samples user time, so its count of these ticks has a Poisson distribution.
const TICK_S: f64 = 0.01;

/// The periods of a round, in the order of the arms; `None` if the work was unreadable.
pub type Round = Vec<Option<Period>>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    pub rate: f64,
    pub user_s: Option<f64>,
    pub others: OtherUse,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OtherUse {
    pub neighbours: f64,
    /// The share that a hypervisor gave to other guests.
    pub host: f64,
}

impl OtherUse {
    fn shares(self) -> [f64; 2] {
        [self.neighbours, self.host]
    }
}

/// Compares the candidates with the defaults of each round.
pub fn judge(
    rounds: &[Round],
    candidates: &[SeatCandidate],
    tids: &[Tid],
    result: &mut TrialResult,
) {
    let whole = whole(rounds);
    result.rounds = rounds.len();
    result.counted = whole.len();
    result.control = rate_difference(&whole, &[0], 1, CONFIDENCE);
    let confidence = each(CONFIDENCE, candidates.len());
    result.candidates = candidates
        .iter()
        .enumerate()
        .map(|(at, candidate)| {
            let arm = DEFAULTS + at;
            let rate = rate_difference(&whole, &[0, 1], arm, confidence);
            let user_time = Times::of(&whole, &[0, 1], arm).map(Times::difference);
            TriedSeats {
                candidate: candidate.clone(),
                tids: tids.to_vec(),
                difference: rate.map(|rate| user_time.map_or(rate, |time| rate.least(time))),
                switches: rate.filter(|_| user_time.is_some()),
                user_time,
                repeat: None,
            }
        })
        .collect();
}

/// Adds the repetition, with the default in the first arm and the candidate in the second.
pub fn judge_again(first: &[Round], at: usize, again: &[Round], tried: &mut TriedSeats) {
    let first = whole(first);
    let again = whole(again);
    tried.repeat = rate_difference(&again, &[0], 1, REPEATED_CONFIDENCE);
    let rate = tried.switches.or(tried.difference);
    let Some((rate, repeat)) = rate.zip(tried.repeat) else { return };
    let both = rate.covering(repeat);
    let times = Times::of(&first, &[0, 1], DEFAULTS + at).zip(Times::of(&again, &[0], 1));
    let user_time = times.map(|(first, again)| first.with(again).difference());
    tried.switches = tried.switches.map(|_| both);
    tried.user_time = user_time.or(tried.user_time);
    tried.difference = Some(tried.user_time.map_or(both, |time| both.least(time)));
}

/// Whether any period shows work.
pub fn has_work(rounds: &[Round]) -> bool {
    rounds.iter().flatten().any(Option::is_some)
}

/// The complete rounds without disturbance.
fn whole(rounds: &[Round]) -> Vec<Vec<Period>> {
    let mut whole: Vec<Vec<Period>> =
        rounds.iter().filter_map(|periods| periods.iter().copied().collect()).collect();
    let arms = whole.first().map_or(0, Vec::len);
    let quiet: Vec<[f64; 2]> = (0..arms).map(|arm| quiet_shares(&whole, arm)).collect();
    whole.retain(|periods| {
        periods.iter().zip(&quiet).all(|(period, quiet)| is_quiet(period, quiet))
    });
    whole
}

fn quiet_shares(rounds: &[Vec<Period>], arm: usize) -> [f64; 2] {
    std::array::from_fn(|kind| {
        let shares = rounds.iter().map(|periods| periods[arm].others.shares()[kind]);
        quantile(shares, QUIET_SHARE).unwrap_or(0.0)
    })
}

fn is_quiet(period: &Period, quiet: &[f64; 2]) -> bool {
    let shares = period.others.shares();
    shares.iter().zip(quiet).all(|(share, quiet)| *share <= quiet + MOST_OTHERS_DIFFER)
}

fn rate_difference(
    rounds: &[Vec<Period>],
    defaults: &[usize],
    arm: usize,
    confidence: f64,
) -> Option<RateDifference> {
    let logs: Vec<f64> = rounds
        .iter()
        .map(|all| {
            let logs = defaults.iter().map(|default| all[*default].rate.ln());
            all[arm].rate.ln() - logs.sum::<f64>() / defaults.len() as f64
        })
        .collect();
    RateDifference::of(&logs, confidence)
}

/// The user time of an arm and of the defaults beside it.
#[derive(Clone, Copy, Debug)]
struct Times {
    seconds: f64,
    periods: usize,
    default_s: f64,
    default_periods: usize,
}

impl Times {
    /// `None` if the work excludes the user time.
    fn of(rounds: &[Vec<Period>], defaults: &[usize], arm: usize) -> Option<Self> {
        let default_s: Option<f64> = defaults.iter().map(|default| user_s(rounds, *default)).sum();
        Some(Times {
            seconds: user_s(rounds, arm)?,
            periods: rounds.len(),
            default_s: default_s?,
            default_periods: defaults.len() * rounds.len(),
        })
    }

    fn with(self, other: Times) -> Self {
        Times {
            seconds: self.seconds + other.seconds,
            periods: self.periods + other.periods,
            default_s: self.default_s + other.default_s,
            default_periods: self.default_periods + other.default_periods,
        }
    }

    fn difference(self) -> RateDifference {
        let ticks = (self.seconds / TICK_S).max(1.0);
        let default_ticks = (self.default_s / TICK_S).max(1.0);
        let share = self.periods.max(1) as f64 / self.default_periods.max(1) as f64;
        let half = DEVIATIONS * (1.0 / ticks + 1.0 / default_ticks).sqrt();
        let log = (ticks / (default_ticks * share)).ln();
        RateDifference::of_logs([log, log - half, log + half])
    }
}

fn user_s(rounds: &[Vec<Period>], arm: usize) -> Option<f64> {
    rounds.iter().map(|all| all[arm].user_s).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::statistics::Xoshiro;

    /// Rounds of arms with these amounts of work, noise of 3 % and a drift of 1 % a round. In
    /// `crowded` rounds other programs run in one period.
    fn played(work: &[f64], rounds: usize, crowded: usize, seed: u64) -> Vec<Round> {
        let mut random = Xoshiro::new(seed);
        let mut noise = || 0.97 + 0.06 * random.below(1000) as f64 / 1000.0;
        (0..rounds)
            .map(|round| {
                let drift = 1.01_f64.powi(round as i32);
                let is_crowded = round < crowded;
                work.iter()
                    .enumerate()
                    .map(|(arm, work)| {
                        let disturbed = is_crowded && arm == 0;
                        let rate = work * drift * noise() * if disturbed { 0.5 } else { 1.0 };
                        let share = if disturbed { 0.5 } else { 0.01 };
                        // In every other round, a hypervisor takes the CPUs.
                        let others = if round.is_multiple_of(2) {
                            OtherUse { neighbours: share, host: 0.0 }
                        } else {
                            OtherUse { neighbours: 0.0, host: share }
                        };
                        Some(Period { rate, user_s: None, others })
                    })
                    .collect()
            })
            .collect()
    }

    fn judged(rounds: &[Round]) -> TrialResult {
        let candidate = SeatCandidate { name: "together".to_owned(), seats: Vec::new() };
        let mut result = TrialResult::default();
        judge(rounds, &[candidate], &[], &mut result);
        result
    }

    /// One candidate with `ratio` times the work.
    fn with_ratio(ratio: f64, rounds: usize, crowded: usize, seed: u64) -> TrialResult {
        judged(&played(&[1.0, 1.0, ratio], rounds, crowded, seed))
    }

    #[test]
    fn trial_rarely_favours_equal_seats_and_finds_better() {
        let finds = |ratio, seed| with_ratio(ratio, 20, 0, seed).best().is_some();
        let alike = (0..500).filter(|seed| finds(1.0, *seed)).count();
        let better = (0..200).filter(|seed| finds(1.1, *seed)).count();
        println!("alike: {alike} of 500 told apart; 10 % better: {better} of 200 found");
        assert!(alike <= 5, "{alike} of 500");
        assert!(better >= 190, "{better} of 200");
        assert!((0..200).all(|seed| !finds(0.9, seed)));
    }

    #[test]
    fn disturbed_rounds_do_not_count() {
        let some = with_ratio(1.1, 20, 6, 1);
        assert_eq!((some.rounds, some.counted, some.is_void()), (20, 14, false));
        let most = with_ratio(1.1, 20, 12, 1);
        assert!(most.is_void() && most.counted == 8, "{most:?}");
        assert!(with_ratio(1.1, 5, 0, 1).is_void(), "too few for an interval");
    }

    #[test]
    fn shares_that_belong_to_the_seats_void_no_round() {
        let mut rounds = played(&[1.0, 1.0, 1.5], 12, 3, 1);
        for round in &mut rounds {
            for period in &mut round[..DEFAULTS] {
                period.as_mut().unwrap().others.neighbours += 0.2;
            }
        }
        let found = judged(&rounds);
        assert_eq!((found.counted, found.is_void()), (9, false), "{found:?}");
    }

    #[test]
    fn gain_must_repeat_and_covers_both_races() {
        let first = played(&[1.0, 1.0, 1.5], 12, 0, 1);
        let again = |ratio| {
            let mut result = judged(&first);
            let best = result.promising().unwrap();
            judge_again(
                &first,
                best,
                &played(&[1.0, ratio], 8, 0, 2),
                &mut result.candidates[best],
            );
            result
        };
        let smaller = again(1.2);
        let gain = smaller.best().unwrap().difference.unwrap();
        assert!((15.0..25.0).contains(&gain.percent) && gain.high_percent > 45.0, "{gain:?}");
        let gone = again(1.0);
        assert!(gone.best().is_none() && gone.candidates[0].is_unrepeated(), "{gone:?}");
    }

    /// Twelve rounds in which the candidate switches and computes this much more.
    fn with_user_time(switches: f64, user_time: f64) -> TrialResult {
        let mut rounds = played(&[1.0, 1.0, switches], 12, 0, 1);
        for round in &mut rounds {
            for (arm, period) in round.iter_mut().enumerate() {
                let seconds = if arm < DEFAULTS { 0.2 } else { 0.2 * user_time };
                period.as_mut().unwrap().user_s = Some(seconds);
            }
        }
        judged(&rounds)
    }

    /// Ratios as in `bench/advise/shared`.
    #[test]
    fn gain_needs_switches_and_user_time() {
        let turns = with_user_time(1.9, 1.7);
        let gain = turns.best().unwrap().difference.unwrap();
        assert!((65.0..75.0).contains(&gain.percent), "{gain:?}");
        // A queue switches 54 times as often for half of the work.
        let queue = with_user_time(54.0, 0.5);
        assert!(queue.best().is_none() && queue.unclear().is_none(), "{queue:?}");
        // Python's threads switch more often for the same work; buffers stay in a cache.
        for (switches, user_time) in [(1.3, 1.0), (2.6, 0.96), (0.3, 1.0)] {
            let unclear = with_user_time(switches, user_time);
            assert!(unclear.best().is_none() && unclear.unclear().is_some(), "{unclear:?}");
        }
        // Four threads that take turns by a broadcast, and do less.
        let crowd = with_user_time(1.22, 1.25);
        assert!(crowd.best().is_none() && crowd.unclear().is_some(), "{crowd:?}");
        let same = with_user_time(1.03, 1.0);
        assert!(same.best().is_none() && same.unclear().is_none(), "{same:?}");
    }
}
