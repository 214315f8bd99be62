//! Compares a pair with like pairs over several looks.

use super::SLOW;
use super::effects::JITTER;
use super::figures::PairMetric;
use crate::cluster::{Beside, ExcessFactor, NodePair};
use seatmap_data::statistics::median;

/// Student's t that one in a thousand exceeds, for 1, 2, 3, ... degrees of freedom (Fisher and
/// Yates, Statistical Tables, table III, two-sided 0.002).
const T_999: [f64; 14] = [
    318.3, 22.33, 10.21, 7.173, 5.893, 5.208, 4.785, 4.501, 4.297, 4.144, 4.025, 3.930, 3.852,
    3.787,
];

/// Logarithms of a pair's figures relative to like pairs, and of their best figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairComparison {
    /// Both rates, the time, and the scatter.
    own: [f64; 4],
    like: [f64; 4],
}

impl PairComparison {
    /// `None` if impossible: a figure of 0 has no logarithm.
    pub fn new(pair: &NodePair, like: &[&NodePair], best: &[&NodePair]) -> Option<PairComparison> {
        let [there, back] = over(PairMetric::Slowness, pair, like)?;
        let [time, _] = over(PairMetric::Time, pair, like)?;
        let [scatter, _] = over(PairMetric::Scatter, pair, like)?;
        let own = [there, back, time, scatter];
        // `middle` pools both directions, so both have the same best figure.
        let slowness = middle(PairMetric::Slowness, best)?;
        let [time, scatter] = [middle(PairMetric::Time, best)?, middle(PairMetric::Scatter, best)?];
        let like = [slowness, slowness, time, scatter].map(f64::ln);
        own.iter().all(|each| each.is_finite()).then_some(PairComparison { own, like })
    }
}

impl Beside {
    /// `None` before the second look.
    pub(crate) fn of(looks: &[PairComparison]) -> Option<Beside> {
        Some(Beside {
            looks: looks.len(),
            slowness: [of_figure(looks, 0)?, of_figure(looks, 1)?],
            time: of_figure(looks, 2)?,
            scatter: of_figure(looks, 3)?,
        })
    }

    /// Whether a figure looks bad but the looks do not prove it yet.
    pub(crate) fn is_open(&self) -> bool {
        let [there, back] = self.slowness;
        is_in_doubt(there, SLOW)
            || is_in_doubt(back, SLOW)
            || is_in_doubt(self.time, SLOW)
            || is_in_doubt(self.scatter, JITTER)
    }
}

fn is_in_doubt(shown: ExcessFactor, bad: f64) -> bool {
    shown.factor >= bad && shown.at_least < bad
}

fn middle(figure: PairMetric, pairs: &[&NodePair]) -> Option<f64> {
    median(pairs.iter().filter_map(|pair| figure.of(pair)).flatten())
}

fn over(figure: PairMetric, pair: &NodePair, like: &[&NodePair]) -> Option<[f64; 2]> {
    let like = middle(figure, like)?;
    // The tenth percentile of a pair's times is compared with the medians of others.
    Some(figure.held(pair)?.map(|value| (value / like).ln()))
}

fn of_figure(looks: &[PairComparison], at: usize) -> Option<ExcessFactor> {
    let best = looks.iter().map(|look| look.like[at]).sum::<f64>() / looks.len() as f64;
    let shown = shown(&looks.iter().map(|look| look.own[at]).collect::<Vec<_>>())?;
    Some(ExcessFactor {
        like: Some(best.exp()).filter(|best| best.is_finite() && *best > 0.0),
        ..shown
    })
}

fn shown(logarithms: &[f64]) -> Option<ExcessFactor> {
    let count = logarithms.len() as f64;
    // Two looks have one degree of freedom, the first entry. Beyond the table the last entry is
    // slightly too strict.
    let t = T_999.get(logarithms.len().checked_sub(2)?).or(T_999.last())?;
    let mean = logarithms.iter().sum::<f64>() / count;
    let variance =
        logarithms.iter().map(|each| (each - mean) * (each - mean)).sum::<f64>() / (count - 1.0);
    // A file cannot hold an infinite bound.
    let least = (mean - t * (variance / count).sqrt()).max(-700.0);
    Some(ExcessFactor { factor: mean.exp(), at_least: least.exp(), like: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(slowness: f64) -> PairComparison {
        PairComparison { own: [slowness.ln(), 0.0, 0.0, 0.0], like: [0.0; 4] }
    }

    #[test]
    fn steady_looks_show_a_factor_before_unsteady_ones() {
        assert_eq!(Beside::of(&[look(3.0)]), None);
        let steady = Beside::of(&[2.9, 3.0, 2.95].map(look)).unwrap();
        assert!(steady.slowness[0].at_least > 2.0 && !steady.is_open(), "{steady:?}");
        assert!(
            (steady.slowness[0].factor - 2.95).abs() < 0.01
                && (steady.time.at_least - 1.0).abs() < 1e-9
        );
        let few = Beside::of(&[1.5, 4.5, 3.0].map(look)).unwrap();
        assert!(few.slowness[0].at_least < SLOW && few.is_open(), "{few:?}");
        let many: Vec<PairComparison> =
            [1.5, 4.5, 3.0, 2.6].repeat(4).into_iter().map(look).collect();
        assert!(Beside::of(&many).unwrap().slowness[0].at_least > SLOW);
        let healthy = Beside::of(&[0.5, 2.0, 1.1].map(look)).unwrap();
        assert!(!healthy.is_open() && healthy.slowness[0].at_least < SLOW);
    }
}
