//! The gain of better seats, including the search for homes.

use super::ChannelRuns;
use seatmap_data::statistics::median;
use serde::Serialize;

/// The times of one comparison, in ticks (figure 11(b) of Liu et al. 2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparisonTimes {
    /// T2 - T1: the run as the kernel seats it.
    pub usual: u64,
    /// T3 - T2: the search for homes.
    pub search: u64,
    /// T4 - T3: the run on the seats found.
    pub placed: u64,
}

/// Many comparisons, each with other default seats and other lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatGain {
    /// (T2 - T1) / (T4 - T2), comparison by comparison.
    pub speed_ups: Vec<f64>,
    /// The mean, as in the paper.
    pub mean: f64,
    /// The median speed-up.
    pub median: f64,
    /// The smallest speed-up.
    pub least: f64,
    /// The largest speed-up.
    pub most: f64,
    /// The number of comparisons in which the placed run with its search is slower.
    pub slower: usize,
    /// The mean of (T2 - T1) / (T4 - T3): with known homes.
    pub mean_without_search: f64,
    /// The smallest of these.
    pub least_without_search: f64,
    /// The largest of these.
    pub most_without_search: f64,
    /// The mean share of the search in T4 - T2.
    pub search_share: f64,
    /// The mean time of the search.
    pub search_seconds: f64,
    /// The seats in the last comparison; `None` if not recorded.
    #[serde(skip)]
    pub seated: Option<ChannelRuns>,
}

impl SeatGain {
    /// All comparisons together; a tick lasts `ns_per_tick` nanoseconds.
    pub fn of(times: &[ComparisonTimes], ns_per_tick: f64) -> Self {
        let speed_ups: Vec<f64> = times.iter().map(ratio).collect();
        let without_search: Vec<f64> =
            times.iter().map(|times| times.usual as f64 / times.placed as f64).collect();
        SeatGain {
            mean: mean(times, &ratio),
            median: median(&speed_ups).unwrap_or(f64::NAN),
            least: least(&speed_ups),
            most: most(&speed_ups),
            slower: speed_ups.iter().filter(|speed_up| **speed_up < 1.0).count(),
            mean_without_search: without_search.iter().sum::<f64>() / times.len().max(1) as f64,
            least_without_search: least(&without_search),
            most_without_search: most(&without_search),
            // Of the placed run with its search, not of the usual run.
            search_share: mean(times, &|times| {
                times.search as f64 / (times.search + times.placed) as f64
            }),
            search_seconds: mean(times, &|times| times.search as f64 * ns_per_tick / 1e9),
            speed_ups,
            seated: None,
        }
    }
}

fn ratio(times: &ComparisonTimes) -> f64 {
    times.usual as f64 / (times.search + times.placed) as f64
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn mean(times: &[ComparisonTimes], of: &dyn Fn(&ComparisonTimes) -> f64) -> f64 {
    times.iter().map(of).sum::<f64>() / times.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gain_includes_search_time() {
        let times = [
            ComparisonTimes { usual: 300, search: 50, placed: 100 },
            ComparisonTimes { usual: 100, search: 0, placed: 100 },
        ];
        let lucky = ComparisonTimes { usual: 100, search: 5, placed: 100 };
        assert_eq!(SeatGain::of(&[lucky, times[0]], 1.0).slower, 1);
        let gain = SeatGain::of(&times, 1.0);
        assert_eq!(
            (gain.speed_ups.as_slice(), gain.mean, gain.mean_without_search),
            (&[2.0, 1.0][..], 1.5, 2.0)
        );
        assert_eq!((gain.least_without_search, gain.most_without_search), (1.0, 3.0));
    }
}
