//! Judges a comparison against the most by which the first command may be worse.
//!
//! A noisy session shows neither "above" nor "within". This third outcome includes the smallest
//! slowdown that the session could have shown.

use crate::tune::metric::Better;
use crate::tune::verdict::{CommandComparison, ComparisonVerdict, NoiseFloor, percent};
use serde::Serialize;

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

/// A limit is not met, or not shown to be met: the reasons.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct LimitNotMet(pub String);

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

    /// The smallest slowdown, in percent, that this session would show to be above the limit, given
    /// the floor and the interval's width, if there is one.
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

    fn compared(ends: Option<[f64; 2]>, verdict: ComparisonVerdict) -> CommandComparison {
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
            let found = compared(ends, verdict).beside_limit(Better::Lower, 3.0);
            assert_eq!(found, outcome, "{ends:?}");
        }
        let rate = compared(Some([0.9, 0.95]), ComparisonVerdict::Worse);
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
        let wide = compared(Some([0.9, 1.1]), ComparisonVerdict::NotShown);
        let shown = |better, floor| wide.shows_above_percent(better, 3.0, floor).unwrap();
        // 3 % and half of the interval: 1.03 times the root of 1.1 / 0.9.
        assert!((shown(Better::Lower, None) - 13.87).abs() < 0.01);
        assert!((shown(Better::Lower, Some(&floor)) - 20.0).abs() < 1e-9);
        assert!((shown(Better::Higher, Some(&floor)) - 16.67).abs() < 0.01);
        assert_eq!(
            compared(None, ComparisonVerdict::TooFew).shows_above_percent(Better::Lower, 3.0, None),
            None
        );
    }
}
