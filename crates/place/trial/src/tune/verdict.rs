//! Differences with intervals, and the smallest difference that a computer can show.
//!
//! The log ratios of the first command's readings to another's, by block, give a shift with its
//! interval ([`seatmap_data::statistics::signed_rank`]). All commands run on the same CPUs. If two
//! are equal, only the random order within a block decides which reading belongs to which, so the
//! signs of the ratios are independent whatever the neighbours do (Fisher 1935, "The Design of
//! Experiments", section 21).
//!
//! A noisy session shows neither that a limit is exceeded nor that it is met. This third outcome
//! has the smallest slowdown that the session could have shown.
//!
//! The first command's second reading serves only the floor. A mean of two runs minus a single one
//! would not be symmetric: with skewed noise, equal commands would differ in up to 11 % of sessions
//! of 100 blocks.

use crate::tune::metric::Better;
use seatmap_data::statistics::signed_rank::{self, Shift, normal_quantile};
use seatmap_data::statistics::{MAD_TO_SIGMA, mad};
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_3;

const POWER: f64 = 0.8;

/// The judgement of the first command against another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonVerdict {
    /// Better than the other, over the whole interval.
    Better,
    /// Worse than the other, over the whole interval.
    Worse,
    /// The readings differ, but it is unknown which are better.
    Different,
    /// The runs show no difference.
    NotShown,
    /// There are fewer blocks than an interval needs.
    TooFew,
}

/// The first command compared with another, in ratios of the first's readings to the other's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandComparison {
    /// The other command, from 1; 0 for the first command of the baseline.
    pub with: usize,
    /// The ratio.
    pub ratio: f64,
    /// The lower end of its interval; absent if there are too few blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_low: Option<f64>,
    /// The upper end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_high: Option<f64>,
    /// The judgement by that interval.
    pub verdict: ComparisonVerdict,
}

impl CommandComparison {
    /// The ends of the difference's interval in percent; `None` if there are too few blocks.
    pub fn interval_percent(&self) -> Option<[f64; 2]> {
        Some([percent(self.ratio_low?), percent(self.ratio_high?)])
    }

    pub(crate) fn of_shift(
        with: usize,
        shift: &Shift,
        better: Option<Better>,
        floor: Option<&NoiseFloor>,
    ) -> Self {
        CommandComparison {
            with,
            ratio: shift.centre.exp(),
            ratio_low: Some(shift.low.exp()),
            ratio_high: Some(shift.high.exp()),
            verdict: verdict(shift, better, floor.map_or(0.0, NoiseFloor::log)),
        }
    }
}

fn verdict(shift: &Shift, better: Option<Better>, floor: f64) -> ComparisonVerdict {
    let is_higher = shift.low > 0.0;
    match better {
        _ if !is_higher && shift.high >= 0.0 => ComparisonVerdict::NotShown,
        // The first command may differ as much from itself.
        _ if shift.centre.abs() <= floor => ComparisonVerdict::NotShown,
        None => ComparisonVerdict::Different,
        Some(better) if is_higher == (better == Better::Higher) => ComparisonVerdict::Better,
        Some(_) => ComparisonVerdict::Worse,
    }
}

/// A ratio as a difference in percent.
pub fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

/// The first command against each other one, from complete blocks
/// ([`crate::tune::blocks::complete`]).
pub fn comparisons(
    blocks: &[Vec<f64>],
    confidence: f64,
    better: Option<Better>,
    floor: Option<&NoiseFloor>,
) -> Vec<CommandComparison> {
    let comparisons = (1..commands(blocks)).filter_map(|with| {
        let logs = log_ratios(blocks, with + 1);
        if let Some(shift) = signed_rank::shift(&logs, confidence) {
            return Some(CommandComparison::of_shift(with, &shift, better, floor));
        }
        // Without an interval, the ratio claims nothing.
        Some(CommandComparison {
            with,
            ratio: signed_rank::centre(&logs)?.exp(),
            ratio_low: None,
            ratio_high: None,
            verdict: ComparisonVerdict::TooFew,
        })
    });
    comparisons.collect()
}

fn commands(blocks: &[Vec<f64>]) -> usize {
    blocks.first().map_or(0, |block| block.len().saturating_sub(1))
}

fn log_ratios(blocks: &[Vec<f64>], place: usize) -> Vec<f64> {
    blocks.iter().map(|block| block[0].ln() - block[place].ln()).collect()
}

/// The number of blocks that show this difference in four sessions of five, estimated from the
/// noisiest pair of readings. `None` for fewer than two blocks.
pub fn blocks_to_show(blocks: &[Vec<f64>], percent: f64, confidence: f64) -> Option<usize> {
    let spreads = (1..=commands(blocks)).map(|place| spread(&log_ratios(blocks, place)));
    let most = spreads.reduce(f64::max).filter(|_| blocks.len() > 1)?;
    let outside = normal_quantile(0.5 * (1.0 + confidence));
    let reach = outside + normal_quantile(POWER);
    // The signed-rank test needs pi / 3 times as many normal values as the mean does (Hodges and
    // Lehmann 1956). The last term is for the estimated spread (Guenther 1981).
    let needed =
        FRAC_PI_3 * (reach * most / (0.01 * percent).ln_1p()).powi(2) + 0.5 * outside.powi(2);
    Some((needed.ceil() as usize).max(signed_rank::fewest(confidence)))
}

/// The standard deviation, but at least the scaled median deviation: few values are often alike by
/// chance.
fn spread(logs: &[f64]) -> f64 {
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
    let deviation = (squares / (logs.len() as f64 - 1.0)).sqrt();
    deviation.max(MAD_TO_SIGMA * mad(logs).unwrap_or(0.0))
}

/// The difference of the first command from itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseFloor {
    /// The largest difference, in percent, that is not shown: a bound on at least 90 % of further
    /// differences of a command from itself, next to the same neighbours. It is for higher
    /// readings; for lower ones the floor is 100 - 10000 / (100 + this) percent.
    pub floor_percent: f64,
    /// The sessions behind the floor: this one and any baseline. The largest floor counts.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub sessions: usize,
    /// The difference between the two runs of the first command, in percent.
    pub difference_percent: f64,
    /// Whether the two differ clearly (at 99 %): a run affects the next.
    pub differs_from_itself: bool,
}

fn one() -> usize {
    1
}

fn is_one(sessions: &usize) -> bool {
    *sessions == 1
}

impl NoiseFloor {
    fn log(&self) -> f64 {
        (0.01 * self.floor_percent).ln_1p()
    }

    /// The largest differences below and above that would not be shown, in percent: within the
    /// floor, or with an interval around 0 of the comparisons' width.
    pub fn ends_percent(&self, comparisons: &[CommandComparison]) -> [f64; 2] {
        let mut below = self.log();
        let mut above = self.log();
        for comparison in comparisons {
            let Some((low, high)) = comparison.ratio_low.zip(comparison.ratio_high) else {
                continue;
            };
            below = below.max((high / comparison.ratio).ln());
            above = above.max((comparison.ratio / low).ln());
        }
        [percent((-below).exp()), percent(above.exp())]
    }

    pub(crate) fn raise(&mut self, earlier: &NoiseFloor) {
        self.floor_percent = self.floor_percent.max(earlier.floor_percent);
        self.sessions += earlier.sessions;
    }
}

/// The first command's difference from itself; `None` for fewer than two blocks.
pub fn floor(blocks: &[Vec<f64>], seed: u64) -> Option<NoiseFloor> {
    let logs: Vec<f64> = blocks.iter().map(|block| block[1].ln() - block[0].ln()).collect();
    // A false alarm at the user's confidence would discredit a good result.
    let shift = signed_rank::shift(&logs, 0.99);
    Some(NoiseFloor {
        floor_percent: percent(signed_rank::floor(&logs, seed)?.exp()),
        sessions: 1,
        difference_percent: percent(signed_rank::centre(&logs)?.exp()),
        differs_from_itself: shift.is_some_and(|shift| shift.low > 0.0 || shift.high < 0.0),
    })
}

/// The outcome of a comparison with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LimitOutcome {
    /// Worse by more than the limit, over the whole interval.
    Above,
    /// Not worse by more than the limit, over the whole interval.
    Within,
    /// The interval contains the limit, or there is no interval.
    CannotTell,
}

impl CommandComparison {
    /// The outcome for this limit, in percent of the other's reading.
    pub fn beside_limit(&self, better: Better, limit_percent: f64) -> LimitOutcome {
        match self.worse_percent(better) {
            Some([least, _])
                if self.verdict == ComparisonVerdict::Worse && least > limit_percent =>
            {
                LimitOutcome::Above
            }
            Some([_, most]) if most <= limit_percent => LimitOutcome::Within,
            _ => LimitOutcome::CannotTell,
        }
    }

    /// The least and the most by which the first command is worse, in percent of the other's
    /// reading, at the confidence, if there is an interval; negative if it may be better.
    pub fn worse_percent(&self, better: Better) -> Option<[f64; 2]> {
        let [low, high] = self.interval_percent()?;
        Some(match better {
            Better::Lower => [low, high],
            Better::Higher => [-high, -low],
        })
    }

    /// The smallest slowdown, in percent, that this session would show to be above the limit, if
    /// known from the floor and the interval's width.
    pub fn shows_above_percent(
        &self,
        better: Better,
        limit_percent: f64,
        floor: Option<&NoiseFloor>,
    ) -> Option<f64> {
        let floor = floor.map_or(0.0, |floor| 0.01 * floor.floor_percent);
        let limit = 0.01 * limit_percent;
        let (low, high) = self.ratio_low.zip(self.ratio_high)?;
        Some(match better {
            Better::Lower => percent((1.0 + floor).max((1.0 + limit) * self.ratio / low)),
            Better::Higher => {
                -percent((1.0 / (1.0 + floor)).min((1.0 - limit) * self.ratio / high))
            }
        })
    }
}

/// Why a session does not decide, as the end of a sentence.
pub fn shows(least_percent: Option<f64>) -> String {
    least_percent.map_or_else(
        || "too few blocks".to_owned(),
        |least| format!("only a slowdown above {least:.1} % would have been detected"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatmap_data::statistics::{median, normal};

    fn blocks(ratio: f64, count: usize) -> Vec<Vec<f64>> {
        let drift = |block: usize| 1.0 + 0.3 * block as f64;
        let noise = |block: usize, at: usize| 1.0 + 0.001 * ((block * 7 + at * 3) % 5) as f64;
        (0..count)
            .map(|block| {
                (0..3)
                    .map(|at| drift(block) * noise(block, at) * if at == 2 { ratio } else { 1.0 })
                    .collect()
            })
            .collect()
    }

    /// The first command compared with the second one.
    fn compared(ratio: f64, count: usize, better: Option<Better>) -> CommandComparison {
        comparisons(&blocks(ratio, count), 0.95, better, None).remove(0)
    }

    #[test]
    fn difference_is_found_despite_drift() {
        // The second command reads 5 % more, so the first one reads 4.8 % less.
        let found = compared(1.05, 10, Some(Better::Lower));
        assert_eq!((found.with, found.verdict), (1, ComparisonVerdict::Better));
        assert!((percent(found.ratio) + 4.76).abs() < 0.3, "{found:?}");
        assert!(found.worse_percent(Better::Lower).unwrap()[0] < -4.0);
        let higher = compared(1.05, 10, Some(Better::Higher));
        assert_eq!(higher.verdict, ComparisonVerdict::Worse);
        assert!(higher.worse_percent(Better::Higher).unwrap()[0] > 4.0);
        let worse = compared(0.9, 10, Some(Better::Lower));
        assert_eq!(worse.verdict, ComparisonVerdict::Worse);
        assert_eq!(compared(1.05, 10, None).verdict, ComparisonVerdict::Different);
    }

    fn scattered(ratio: f64, count: usize, chance: &mut fastrand::Rng) -> Vec<Vec<f64>> {
        let mut reading = |ratio: f64| ratio * (0.2 * normal(chance)).exp();
        (0..count).map(|_| vec![reading(ratio), reading(ratio), reading(1.0)]).collect()
    }

    fn is_shown(blocks: &[Vec<f64>]) -> bool {
        let floor = floor(blocks, 1);
        let found = comparisons(blocks, 0.95, Some(Better::Lower), floor.as_ref());
        found[0].verdict == ComparisonVerdict::Worse
    }

    #[test]
    fn six_blocks_show_threefold_difference() {
        let mut chance = fastrand::Rng::with_seed(8);
        for count in 6..10 {
            for _ in 0..200 {
                assert!(is_shown(&scattered(3.0, count, &mut chance)), "{count} blocks");
            }
        }
    }

    #[test]
    fn estimated_block_count_shows_difference_in_most_sessions() {
        let mut chance = fastrand::Rng::with_seed(9);
        let needed: Vec<f64> = (0..50)
            .filter_map(|_| blocks_to_show(&scattered(1.0, 15, &mut chance), 10.0, 0.95))
            .map(|blocks| blocks as f64)
            .collect();
        let blocks = median(&needed).unwrap() as usize;
        let shown = (0..200).filter(|_| is_shown(&scattered(1.1, blocks, &mut chance))).count();
        assert!((150..=195).contains(&shown), "{shown} of 200 with {blocks} blocks");
        assert_eq!(blocks_to_show(&self::blocks(1.0, 1), 10.0, 0.95), None);
        assert_eq!(blocks_to_show(&self::blocks(1.0, 9), 10.0, 0.95), Some(6), "quiet");
    }

    #[test]
    fn noise_floor_covers_wide_intervals() {
        let floor = floor(&blocks(1.0, 10), 1).unwrap();
        let [below, above] = floor.ends_percent(&[]);
        assert!(above == floor.floor_percent && below > -1.0, "{below} to {above}");
        let wide = CommandComparison {
            with: 1,
            ratio: 1.0,
            ratio_low: Some(0.25),
            ratio_high: Some(2.0),
            verdict: ComparisonVerdict::NotShown,
        };
        let [below, above] = floor.ends_percent(&[wide]);
        assert!((below + 50.0).abs() < 1e-9 && (above - 300.0).abs() < 1e-9, "{below} to {above}");
    }

    #[test]
    fn equal_commands_and_few_blocks_show_nothing() {
        for better in [None, Some(Better::Lower)] {
            assert_eq!(compared(1.0, 10, better).verdict, ComparisonVerdict::NotShown);
            let few = compared(1.5, 5, better);
            assert_eq!((few.verdict, few.ratio_low), (ComparisonVerdict::TooFew, None));
        }
        assert!(comparisons(&[], 0.95, None, None).is_empty());
        assert_eq!(floor(&[], 1), None);
    }

    #[test]
    fn command_differing_from_itself_is_detected() {
        let mut runs = blocks(1.0, 10);
        assert!(!floor(&runs, 1).unwrap().differs_from_itself);
        runs.iter_mut().for_each(|block| block[1] *= 1.1);
        assert!(floor(&runs, 1).unwrap().differs_from_itself);
    }

    fn with_ends(ends: Option<[f64; 2]>, verdict: ComparisonVerdict) -> CommandComparison {
        let ratio = ends.map_or(1.0, |[low, high]| (low * high).sqrt());
        CommandComparison {
            with: 1,
            ratio,
            ratio_low: ends.map(|ends| ends[0]),
            ratio_high: ends.map(|ends| ends[1]),
            verdict,
        }
    }

    #[test]
    fn limit_outcome_follows_interval_and_floor() {
        use LimitOutcome::{Above, CannotTell, Within};
        for (ends, verdict, outcome) in [
            (Some([1.04, 1.06]), ComparisonVerdict::Worse, Above),
            (Some([1.02, 1.06]), ComparisonVerdict::Worse, CannotTell),
            (Some([1.01, 1.02]), ComparisonVerdict::Worse, Within),
            (Some([0.98, 1.02]), ComparisonVerdict::NotShown, Within),
            (Some([0.9, 1.1]), ComparisonVerdict::NotShown, CannotTell),
            (Some([0.5, 0.6]), ComparisonVerdict::Better, Within),
            // Above the limit, but the first command may differ as much from itself.
            (Some([1.04, 1.06]), ComparisonVerdict::NotShown, CannotTell),
            (None, ComparisonVerdict::TooFew, CannotTell),
        ] {
            let found = with_ends(ends, verdict).beside_limit(Better::Lower, 3.0);
            assert_eq!(found, outcome, "{ends:?}");
        }
        let rate = with_ends(Some([0.9, 0.95]), ComparisonVerdict::Worse);
        assert_eq!(rate.beside_limit(Better::Higher, 3.0), Above);
        assert_eq!(rate.beside_limit(Better::Higher, 7.0), CannotTell);
        assert_eq!(rate.beside_limit(Better::Higher, 10.1), Within);
    }

    #[test]
    fn detectable_slowdown_exceeds_limit_and_floor() {
        let floor = NoiseFloor {
            floor_percent: 20.0,
            sessions: 1,
            difference_percent: 0.0,
            differs_from_itself: false,
        };
        let wide = with_ends(Some([0.9, 1.1]), ComparisonVerdict::NotShown);
        let shown = |better, floor| wide.shows_above_percent(better, 3.0, floor).unwrap();
        // 3 % and half of the interval: 1.03 times the root of 1.1 / 0.9.
        assert!((shown(Better::Lower, None) - 13.87).abs() < 0.01);
        assert!((shown(Better::Lower, Some(&floor)) - 20.0).abs() < 1e-9);
        assert!((shown(Better::Higher, Some(&floor)) - 16.67).abs() < 0.01);
        assert_eq!(
            with_ends(None, ComparisonVerdict::TooFew).shows_above_percent(
                Better::Lower,
                3.0,
                None
            ),
            None
        );
    }

    proptest! {
        #[test]
        fn comparison_is_independent_of_unit(scale in 1e-6f64..1e6, ratio in 0.5f64..2.0) {
            let plain = blocks(ratio, 8);
            let scaled: Vec<Vec<f64>> = plain.iter().map(|block| block.iter().map(|value| value * scale).collect()).collect();
            let a = &comparisons(&plain, 0.95, None, None)[0];
            let b = &comparisons(&scaled, 0.95, None, None)[0];
            prop_assert!((a.ratio - b.ratio).abs() < 1e-9 && a.verdict == b.verdict);
        }
    }
}
