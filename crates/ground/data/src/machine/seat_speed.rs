//! The speed of each PU: one piece of work, timed on every PU.

use crate::statistics::words::counted;
use crate::statistics::{greatest, least};
use serde::{Deserialize, Serialize};

/// The largest difference of equal speeds, relative to the faster one.
pub const EQUAL_WITHIN: f64 = 0.03;

/// The speed of each PU, relative to the fastest PU while the others are idle, whose speed is 1.
///
/// Speeds are computed from the tenth percentile of the times, because interference only lengthens
/// a fixed piece of work. The medians are also given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatSpeed {
    /// OS indices, in the order of all other lists.
    pub pus: Vec<u32>,
    /// The speed of each PU while all others are idle.
    pub alone: Vec<f64>,
    /// The speed of each PU while all of them work; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Vec<f64>>,
    /// The times behind the speeds; absent for unmeasured speeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkTimes>,
}

/// The time of the work on each PU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkTimes {
    /// Visits to each PU.
    pub rounds: u32,
    /// The tenth percentile on each PU while all others were idle.
    pub alone_p10_ns: Vec<f64>,
    /// The median on each PU while all others were idle.
    pub alone_median_ns: Vec<f64>,
    /// The tenth percentile on each PU while all of them worked.
    pub together_p10_ns: Vec<f64>,
    /// The median on each PU while all of them worked.
    pub together_median_ns: Vec<f64>,
}

impl SeatSpeed {
    /// Speeds from times of the same work.
    pub fn of(pus: Vec<u32>, work: WorkTimes) -> Self {
        let fastest_ns = least(&work.alone_p10_ns);
        SeatSpeed {
            alone: relative(fastest_ns, &work.alone_p10_ns),
            together: Some(relative(fastest_ns, &work.together_p10_ns)),
            pus,
            work: Some(work),
        }
    }

    /// The speed of a PU while the others are idle; `None` if unknown.
    pub fn alone_of(&self, os: u32) -> Option<f64> {
        self.alone.get(self.row(os)?).copied()
    }

    /// The speed of a PU while all work; `None` if unknown.
    pub fn together_of(&self, os: u32) -> Option<f64> {
        self.together.as_ref()?.get(self.row(os)?).copied()
    }

    fn row(&self, os: u32) -> Option<usize> {
        crate::machine::topology::place_of(&self.pus, os, |other| *other)
    }

    /// The difference between the slowest and the fastest PU while the others are idle, relative to
    /// the fastest. The smaller of the spreads of medians and of tenth percentiles counts, because
    /// noise alone is not a difference.
    pub fn spread(&self) -> f64 {
        let by_median = self.work.as_ref().map(|work| spread_of_times(&work.alone_median_ns));
        spread(&self.alone).min(by_median.unwrap_or(f64::INFINITY))
    }

    /// Whether the PUs differ by more than [`EQUAL_WITHIN`].
    pub fn differs(&self) -> bool {
        self.spread() > EQUAL_WITHIN
    }

    pub(crate) fn problem(&self) -> Option<String> {
        let n = self.pus.len();
        if n == 0 {
            return Some("pus is empty".to_owned());
        }
        let work = self.work.iter().flat_map(|work| {
            [
                ("work.alone_p10_ns", &work.alone_p10_ns),
                ("work.alone_median_ns", &work.alone_median_ns),
                ("work.together_p10_ns", &work.together_p10_ns),
                ("work.together_median_ns", &work.together_median_ns),
            ]
        });
        let lists = [("alone", &self.alone)]
            .into_iter()
            .chain(self.together.as_ref().map(|it| ("together", it)));
        for (name, list) in lists.chain(work) {
            if list.len() != n {
                return Some(format!(
                    "{name} has {} for {}",
                    counted(list.len(), "entry"),
                    counted(n, "PU")
                ));
            }
            if let Some(at) = list.iter().position(|value| !is_figure(*value)) {
                return Some(format!(
                    "{name}[{at}] is {}; a figure is above 0 and at most {LARGEST:e}",
                    list[at]
                ));
            }
        }
        None
    }
}

fn relative(fastest_ns: f64, times: &[f64]) -> Vec<f64> {
    times.iter().map(|ns| fastest_ns / ns).collect::<Vec<f64>>()
}

/// The largest speed or time: sums of millions of them, and their quotients, stay finite.
const LARGEST: f64 = 1e15;
const SMALLEST: f64 = 1e-6;

fn is_figure(value: f64) -> bool {
    (SMALLEST..=LARGEST).contains(&value)
}

fn spread(speeds: &[f64]) -> f64 {
    let most = greatest(speeds);
    if most > 0.0 { 1.0 - least(speeds) / most } else { 0.0 }
}

fn spread_of_times(times: &[f64]) -> f64 {
    spread(&times.iter().map(|ns| 1.0 / ns).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(p10_ns: [f64; 2], median_ns: [f64; 2]) -> SeatSpeed {
        let work = WorkTimes {
            rounds: 9,
            alone_p10_ns: p10_ns.to_vec(),
            alone_median_ns: median_ns.to_vec(),
            together_p10_ns: p10_ns.map(|ns| 2.0 * ns).to_vec(),
            together_median_ns: median_ns.to_vec(),
        };
        SeatSpeed::of(vec![0, 4], work)
    }

    #[test]
    fn fastest_pu_has_speed_one() {
        let speed = timed([200.0, 100.0], [210.0, 105.0]);
        assert_eq!(
            (speed.alone_of(0), speed.alone_of(4), speed.alone_of(1)),
            (Some(0.5), Some(1.0), None)
        );
        assert_eq!((speed.together_of(4), speed.spread(), speed.differs()), (Some(0.5), 0.5, true));
    }

    #[test]
    fn noise_in_one_figure_is_not_a_difference() {
        assert!(!timed([100.0, 101.0], [100.0, 120.0]).differs());
        assert!(!timed([100.0, 120.0], [120.0, 121.0]).differs());
        assert!(timed([100.0, 110.0], [105.0, 115.0]).differs());
    }

    #[test]
    fn impossible_times_are_refused() {
        let mut speed = timed([100.0, 101.0], [100.0, 120.0]);
        assert_eq!(speed.problem(), None);
        speed.alone[1] = 0.0;
        assert!(speed.problem().unwrap().starts_with("alone[1] is 0"));
        speed.alone.pop();
        assert_eq!(speed.problem().unwrap(), "alone has 1 entry for 2 PUs");
    }
}
