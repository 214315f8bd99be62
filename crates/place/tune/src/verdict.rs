//! Differences with intervals, and the smallest difference that a computer can show.
//!
//! All figures are ratios. Within a block a command's reading is divided by the mean of the first command's two, both
//! as logarithms, and the blocks' log ratios give a shift with its interval
//! ([`seatmap_statistics::signed_rank`]).

use crate::metric::Better;
use seatmap_statistics::signed_rank::{self, Shift};
use serde::{Deserialize, Serialize};

/// The judgement of the runs about a command beside the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better than the first: the whole interval says so.
    Better,
    /// Worse than the first.
    Worse,
    /// Neither is shown.
    NotShown,
    /// Fewer blocks than any interval needs.
    TooFew,
}

/// A command against the first one. Ratios are the command's readings over the first one's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Which command, from 1.
    pub command: usize,
    /// The ratio.
    pub ratio: f64,
    /// The lower end of its interval; absent where there are too few blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_low: Option<f64>,
    /// The upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_high: Option<f64>,
    /// The judgement by that interval.
    pub verdict: Verdict,
}

impl Comparison {
    fn of(command: usize, logs: &[f64], confidence: f64, better: Better) -> Option<Self> {
        let Some(shift) = signed_rank::shift(logs, confidence) else {
            let ratio = signed_rank::centre(logs)?.exp();
            return Some(Comparison { command, ratio, ratio_low: None, ratio_high: None, verdict: Verdict::TooFew });
        };
        Some(Comparison::of_shift(command, &shift, better))
    }

    /// The comparison that a shift of log readings stands for.
    pub(crate) fn of_shift(command: usize, shift: &Shift, better: Better) -> Self {
        Comparison {
            command,
            ratio: shift.centre.exp(),
            ratio_low: Some(shift.low.exp()),
            ratio_high: Some(shift.high.exp()),
            verdict: verdict(shift, better),
        }
    }

    /// How much worse than the first command it is at least, in percent of the first's reading, at the confidence;
    /// `None` where no interval is known. Below 0 where it may be better.
    #[must_use]
    pub fn worse_by_at_least_percent(&self, better: Better) -> Option<f64> {
        match better {
            Better::Lower => self.ratio_low.map(percent),
            Better::Higher => self.ratio_high.map(|ratio| -percent(ratio)),
        }
    }
}

fn verdict(shift: &Shift, better: Better) -> Verdict {
    let (below, above) = match better {
        Better::Lower => (Verdict::Better, Verdict::Worse),
        Better::Higher => (Verdict::Worse, Verdict::Better),
    };
    match (shift.low > 0.0, shift.high < 0.0) {
        (true, _) => above,
        (_, true) => below,
        _ => Verdict::NotShown,
    }
}

/// A ratio as a difference in percent.
#[must_use]
pub fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

/// The comparisons with the first command, from complete blocks ([`crate::blocks::complete`]).
#[must_use]
pub fn comparisons(blocks: &[Vec<f64>], confidence: f64, better: Better) -> Vec<Comparison> {
    let commands = blocks.first().map_or(0, |block| block.len().saturating_sub(1));
    let logs = |command: usize| -> Vec<f64> {
        let log = |block: &Vec<f64>| block[command + 1].ln() - 0.5 * (block[0].ln() + block[1].ln());
        blocks.iter().map(log).collect()
    };
    (1..commands).filter_map(|command| Comparison::of(command, &logs(command), confidence, better)).collect()
}

/// The first command against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Differences above this, in percent, can be shown by as many blocks as these: a bound that at least 90 % of
    /// further differences of a command from itself stay below.
    pub floor_percent: f64,
    /// The difference between the two runs of the first command, in percent.
    pub difference_percent: f64,
    /// Whether the two differ so clearly (at 99 %) that something is wrong: a run changes what the next one finds.
    pub differs_from_itself: bool,
}

/// The judgement of the first command's difference from itself; `None` for fewer than two blocks.
#[must_use]
pub fn floor(blocks: &[Vec<f64>], seed: u64) -> Option<Floor> {
    let logs: Vec<f64> = blocks.iter().map(|block| block[1].ln() - block[0].ln()).collect();
    let shift = signed_rank::shift(&logs, 0.99);
    Some(Floor {
        floor_percent: percent(signed_rank::floor(&logs, seed)?.exp()),
        difference_percent: percent(signed_rank::centre(&logs)?.exp()),
        differs_from_itself: shift.is_some_and(|shift| shift.low > 0.0 || shift.high < 0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(ratio: f64, count: usize) -> Vec<Vec<f64>> {
        let drift = |block: usize| 1.0 + 0.3 * block as f64;
        let noise = |block: usize, at: usize| 1.0 + 0.001 * ((block * 7 + at * 3) % 5) as f64;
        let of = |block| {
            let value = |at| drift(block) * noise(block, at) * if at == 2 { ratio } else { 1.0 };
            (0..3).map(value).collect()
        };
        (0..count).map(of).collect()
    }

    #[test]
    fn a_difference_shows_through_the_drift() {
        let found = &comparisons(&blocks(1.05, 10), 0.95, Better::Lower)[0];
        assert_eq!(found.verdict, Verdict::Worse);
        assert!((percent(found.ratio) - 5.0).abs() < 0.3, "{found:?}");
        assert!(found.worse_by_at_least_percent(Better::Lower).unwrap() > 4.0);
        let higher = &comparisons(&blocks(1.05, 10), 0.95, Better::Higher)[0];
        assert_eq!(higher.verdict, Verdict::Better);
        assert!(higher.worse_by_at_least_percent(Better::Higher).unwrap() < -4.0);
    }

    #[test]
    fn equal_commands_and_few_blocks_show_nothing() {
        assert_eq!(comparisons(&blocks(1.0, 10), 0.95, Better::Lower)[0].verdict, Verdict::NotShown);
        let few = &comparisons(&blocks(1.5, 5), 0.95, Better::Lower)[0];
        assert_eq!((few.verdict, few.ratio_low), (Verdict::TooFew, None));
        assert!(comparisons(&[], 0.95, Better::Lower).is_empty());
        assert_eq!(floor(&[], 1), None);
    }

    #[test]
    fn a_command_that_differs_from_itself_is_noticed() {
        let mut runs = blocks(1.0, 10);
        assert!(!floor(&runs, 1).unwrap().differs_from_itself);
        runs.iter_mut().for_each(|block| block[1] *= 1.1);
        assert!(floor(&runs, 1).unwrap().differs_from_itself);
    }

    proptest! {
        #[test]
        fn units_do_not_matter(scale in 1e-6f64..1e6, ratio in 0.5f64..2.0) {
            let plain = blocks(ratio, 8);
            let scaled: Vec<Vec<f64>> = plain.iter().map(|block| block.iter().map(|value| value * scale).collect()).collect();
            let (a, b) = (&comparisons(&plain, 0.95, Better::Lower)[0], &comparisons(&scaled, 0.95, Better::Lower)[0]);
            prop_assert!((a.ratio - b.ratio).abs() < 1e-9 && a.verdict == b.verdict);
        }
    }
}
