//! How a bad part changes figures, and how far figures are from what a model says.

use super::figures::{Figure, Item};
use seatmap_statistics::quantile_sorted;

/// The change that a cause makes to one figure of the ways on one side of its part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Effect {
    pub figure: Figure,
    pub side: usize,
    pub change: Change,
}

/// A change of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// None is better than this: a stream is as fast as the slowest part of its way.
    Limit(f64),
    /// All are so many times worse, as those of a slow processor are.
    Factor(f64),
    /// So much comes on top, such as a delay, or a share of all segments.
    More(f64),
}

impl Change {
    pub(super) fn of(self, value: f64) -> f64 {
        match self {
            Change::Limit(limit) => value.max(limit),
            Change::Factor(factor) => value * factor,
            Change::More(more) => value + more,
        }
    }
}

/// The usual scatter of logarithms of each figure on an idle computer: rates within 10 %, the
/// fastest tenth of times within 10 %.
fn least_sigma(figure: Figure) -> f64 {
    match figure {
        Figure::Slowness => 0.12,
        Figure::Time => 0.1,
        Figure::Scatter | Figure::Wait => 0.5,
        Figure::Lost => 1.0,
    }
}

/// A busy computer scatters figures at most so many times as much: what is beyond is bad.
const MOST_SIGMAS: f64 = 2.5;

/// The scatter of figures of which many may be bad: that of the better half of their ratios to the
/// usual ones.
pub(super) fn sigma(figure: Figure, ascending: &[f64]) -> f64 {
    let least = least_sigma(figure);
    // From the tenth to the fiftieth percentile a normal distribution has 1.28 standard deviations.
    let [tenth, fiftieth] =
        [0.1, 0.5].map(|share| quantile_sorted(ascending, share).map_or(0.0, f64::ln));
    ((fiftieth - tenth) / 1.28).clamp(least, MOST_SIGMAS * least)
}

/// One figure that is far worse than the model says costs at most this: busy moments make single
/// ones as bad as any.
const MOST_WORSE: f64 = 4.0;

/// Nothing makes a figure better than its way is, so that one that is far better disproves a model.
const MOST_BETTER: f64 = 20.0;

/// Losses come in bursts: counts scatter by so many times what independent ones would.
const BURSTS: f64 = 1.5;

/// The cost of a figure that a model gives as `model`.
pub(super) fn misfit(item: &Item, value: f64, model: f64, sigma: f64) -> f64 {
    let deviation = match item.figure {
        Figure::Lost => lost_deviation(value, model * item.segments),
        _ => (value / model).ln() / sigma,
    };
    let size = deviation.abs();
    // Huber's loss: a square near the model and a line from one deviation on, so that a single far
    // figure does not decide.
    let cost = if size < 1.0 { size * size / 2.0 } else { size - 0.5 };
    cost.min(if deviation > 0.0 { MOST_WORSE } else { MOST_BETTER })
}

/// The signed root of a Poisson deviance.
fn lost_deviation(resent: f64, expected: f64) -> f64 {
    // The limit of x ln x at 0 is 0.
    let part = if resent > 0.0 { resent * (resent / expected).ln() } else { 0.0 };
    let root = (2.0 * (part - (resent - expected))).max(0.0).sqrt() / BURSTS;
    if resent > expected { root } else { -root }
}

/// Changes that may explain figures, given those of the model without them.
pub(super) fn candidates(figure: Figure, items: &[(&Item, f64, f64)]) -> Vec<Change> {
    match figure {
        Figure::Slowness => {
            // A limit that is worse than a figure calls this one impossibly good, which costs most:
            // only the better half of the figures are tried as limits.
            let limits =
                quantiles(&ascending(items, |(_, value, _)| *value), &[0.0, 0.1, 0.2, 0.35, 0.5]);
            let factors =
                quantiles(&ascending(items, |(_, value, model)| value / model), &[0.1, 0.3, 0.5]);
            limits
                .into_iter()
                .map(Change::Limit)
                .chain(factors.into_iter().map(Change::Factor))
                .collect()
        }
        Figure::Time => {
            let more = quantiles(
                &ascending(items, |(_, value, model)| value - model),
                &[0.0, 0.15, 0.3, 0.5],
            );
            let factors =
                quantiles(&ascending(items, |(_, value, model)| value / model), &[0.15, 0.5]);
            more.into_iter()
                .map(Change::More)
                .chain(factors.into_iter().map(Change::Factor))
                .collect()
        }
        Figure::Scatter | Figure::Wait => {
            quantiles(&ascending(items, |(_, value, _)| *value), &[0.1, 0.3, 0.5])
                .into_iter()
                .map(Change::Limit)
                .collect()
        }
        Figure::Lost => {
            let sent: f64 = items.iter().map(|(item, _, _)| item.segments).sum();
            let resent: f64 = items.iter().map(|(_, value, _)| value).sum();
            let shares = ascending(items, |(item, value, _)| value / item.segments);
            // The median share is 0 where most pairs lost nothing: the share of all is tried as
            // well.
            let all = resent / sent.max(1.0);
            quantiles(&shares, &[0.5]).into_iter().chain([all]).map(Change::More).collect()
        }
    }
}

fn ascending(items: &[(&Item, f64, f64)], figure: impl Fn(&(&Item, f64, f64)) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = items.iter().map(figure).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn quantiles(ascending: &[f64], shares: &[f64]) -> Vec<f64> {
    shares.iter().filter_map(|share| quantile_sorted(ascending, *share)).collect()
}

/// Whether a change is one at all: a factor or a limit that is not worse than the model changes
/// nothing.
pub(super) fn is_worse(change: Change) -> bool {
    match change {
        Change::Limit(limit) => limit.is_finite() && limit > 0.0,
        Change::Factor(factor) => factor.is_finite() && factor > 1.0,
        Change::More(more) => more.is_finite() && more > 0.0,
    }
}
