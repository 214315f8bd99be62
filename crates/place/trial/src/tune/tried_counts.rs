//! The numbers of threads that were tried before a race, in its document: every run, the curve, and
//! what the program did with its setting.

use crate::tune::count_search::{CountTurn, first_runs};
use crate::tune::counts::CountAxis;
use crate::tune::disturbance::Disturbance;
use crate::tune::metric::{Better, Metric};
use seatmap_data::document::{Checked, inconsistent};
use seatmap_data::statistics::friedman::student_quantile;
use seatmap_data::statistics::signed_rank;
use seatmap_data::statistics::words::{counted, joined};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Runs within this difference use as many CPUs: a quarter is less than a further thread.
const SAME_CPUS: f64 = 0.25;

/// Readings within this, in logarithms, do not show an effect.
const SAME_READING: f64 = 0.15;

/// The numbers of threads that a search tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedCounts {
    /// The setting: a variable, or an option with `{}` in place of the number.
    pub setting: String,
    /// The numbers that could be tried, ascending.
    #[cfg_attr(feature = "schema", schemars(length(min = 2)))]
    pub counts: Vec<u32>,
    /// A second metric, which does not decide the race; absent if none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondMetric>,
    /// All runs, in order.
    pub runs: Vec<CountRun>,
    /// The best number by the metric of the race; absent until it is found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<u32>,
}

/// A second metric of the same runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecondMetric {
    /// The metric, as given on the command line.
    pub metric: String,
    /// The unit of the readings; empty if unknown.
    #[serde(default)]
    pub unit: String,
    /// Whether lower or higher readings are better.
    pub better: Better,
    /// The best number by this metric; absent until it is found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<u32>,
}

/// A run with a number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountRun {
    /// Its block and number.
    #[serde(flatten)]
    pub turn: CountTurn,
    /// The reading, in the metric's unit.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub value: f64,
    /// The reading by the second metric; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_value: Option<f64>,
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// The most threads of its processes at one look; 0 if the run ended before the first look.
    pub threads: usize,
    /// The CPU time that it used for each second, in CPUs.
    pub cpus_used: f64,
    /// The CPU time taken from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
}

/// The readings of a number of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountPoint {
    /// The number.
    pub count: u32,
    /// How often it ran.
    pub runs: usize,
    /// The centre of its readings, in the metric's unit.
    pub reading: f64,
    /// The ends of its interval; `None` if no number ran twice.
    pub ends: Option<[f64; 2]>,
    /// The most threads at one look.
    pub threads: usize,
}

impl CountRun {
    fn is_of(&self, counts: &[u32]) -> bool {
        let readings = [Some(self.value), self.second_value];
        counts.contains(&self.turn.count)
            && readings.into_iter().flatten().all(|value| value > 0.0 && value.is_finite())
            && self.seconds >= 0.0
    }
}

impl TriedCounts {
    pub(crate) fn new(axis: &CountAxis, second: Option<&(Metric, Better)>) -> Self {
        TriedCounts {
            setting: axis.setting.clone(),
            counts: axis.counts.clone(),
            second: second.map(|(metric, better)| SecondMetric {
                metric: metric.to_string(),
                unit: metric.unit().to_owned(),
                better: *better,
                best: None,
            }),
            ..TriedCounts::default()
        }
    }

    /// The setting with its numbers.
    pub fn axis(&self) -> CountAxis {
        CountAxis { setting: self.setting.clone(), counts: self.counts.clone() }
    }

    /// The different numbers of the runs.
    pub fn tried(&self) -> usize {
        self.threads_by_count().len()
    }

    pub(crate) fn in_words(&self) -> String {
        let second =
            self.second.as_ref().map_or(String::new(), |also| format!(", {}", also.metric));
        format!("{} of {}{second}", self.setting, joined(&self.counts, ","))
    }

    pub(crate) fn check(&self) -> Checked {
        if let Some(at) = self.runs.iter().position(|run| !run.is_of(&self.counts)) {
            return inconsistent(format!(
                "counts.runs[{at}]: unknown count, or a reading not above 0"
            ));
        }
        let named =
            self.best.iter().chain(self.second.iter().filter_map(|also| also.best.as_ref()));
        if !self.counts.is_sorted() || named.into_iter().any(|best| !self.counts.contains(best)) {
            return inconsistent("counts: they are not ascending, or the best is not one of them");
        }
        Ok(())
    }

    /// The curve of the race's metric.
    pub fn curve(&self, confidence: f64) -> Vec<CountPoint> {
        self.points(|run| Some(run.value), confidence)
    }

    /// The curve of the second metric; empty without one.
    pub fn second_curve(&self, confidence: f64) -> Vec<CountPoint> {
        self.points(|run| run.second_value, confidence)
    }

    /// Each number's interval is Student's, with the scatter of all together, because each runs
    /// only a few times.
    fn points(&self, value: impl Fn(&CountRun) -> Option<f64>, confidence: f64) -> Vec<CountPoint> {
        let mut logs: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for run in &self.runs {
            if let Some(value) = value(run) {
                logs.entry(run.turn.count).or_default().push(value.ln());
            }
        }
        let centres: BTreeMap<u32, f64> = logs
            .iter()
            .filter_map(|(count, logs)| Some((*count, signed_rank::centre(logs)?)))
            .collect();
        let deviations = logs.iter().flat_map(|(count, logs)| {
            let centre = centres[count];
            logs.iter().map(move |log| log - centre)
        });
        let squares: f64 = deviations.map(|deviation| deviation.powi(2)).sum();
        let all: usize = logs.values().map(Vec::len).sum();
        let freedom = (all - logs.len()) as f64;
        let scatter =
            (squares / freedom).sqrt() * student_quantile(0.5 + 0.5 * confidence, freedom);
        let threads = self.threads_by_count();
        logs.iter()
            .map(|(count, logs)| {
                let centre = centres[count];
                let half = scatter / (logs.len() as f64).sqrt();
                CountPoint {
                    count: *count,
                    runs: logs.len(),
                    reading: centre.exp(),
                    ends: (freedom > 0.0).then(|| [centre - half, centre + half].map(f64::exp)),
                    threads: threads[count],
                }
            })
            .collect()
    }

    fn threads_by_count(&self) -> BTreeMap<u32, usize> {
        let mut most: BTreeMap<u32, usize> = BTreeMap::new();
        for run in &self.runs {
            let threads = most.entry(run.turn.count).or_default();
            *threads = run.threads.max(*threads);
        }
        most
    }

    /// Why the program seems not to read the setting: with the lowest and the highest number it had
    /// as many threads, used as many CPUs, and had the same reading. `None` before the first level
    /// is over, and if the runs were too short to see threads.
    pub fn no_effect(&self) -> Option<String> {
        if self.runs.len() < first_runs(&self.counts) {
            return None;
        }
        let [low, high] = [self.counts.first()?, self.counts.last()?];
        let threads = self.threads_by_count();
        let most = *threads.get(high)?;
        let has_effect = most == 0
            || threads.get(low) != Some(&most)
            || self.apart(|run| run.cpus_used) >= SAME_CPUS
            || self.apart(|run| run.value.ln()) >= SAME_READING;
        if has_effect {
            return None;
        }
        let axis = self.axis();
        Some(format!(
            "{} started {}, and so did {}: the program does not read it, or has too little work \
             for more threads",
            axis.with(*high),
            counted(most, "thread"),
            axis.with(*low)
        ))
    }

    /// How far apart the runs with the lowest and the highest number are.
    fn apart(&self, of: fn(&CountRun) -> f64) -> f64 {
        let ends = [self.counts.first(), self.counts.last()].map(|count| {
            let own = self.runs.iter().filter(|run| Some(&run.turn.count) == count);
            signed_rank::centre(own.map(of)).unwrap_or(0.0)
        });
        (ends[1] - ends[0]).abs()
    }

    /// The least number from which on the program started equally many threads, if there are
    /// higher ones: the number, the highest one, and the threads.
    pub fn cap(&self) -> Option<(u32, u32, usize)> {
        let threads = self.threads_by_count();
        let (highest, most) = threads.last_key_value().filter(|(_, most)| **most > 0)?;
        let same = threads.iter().rev().take_while(|(_, threads)| *threads == most);
        let (least, _) = same.last()?;
        (least < highest && Some(least) != threads.keys().next())
            .then_some((*least, *highest, *most))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two runs of each number; the number decides the threads, the CPUs and the reading.
    pub(crate) fn tried(of: impl Fn(u32) -> (usize, f64, f64)) -> TriedCounts {
        let counts = vec![1, 2, 4, 8];
        let run = |block: usize, count: u32| {
            let (threads, cpus_used, value) = of(count);
            let value = value * (1.0 + 0.01 * block as f64);
            CountRun {
                turn: CountTurn { block, count },
                value,
                second_value: Some(10.0 / value),
                seconds: value,
                threads,
                cpus_used,
                disturbance: None,
            }
        };
        TriedCounts {
            setting: "OMP_NUM_THREADS".to_owned(),
            second: Some(SecondMetric {
                metric: "regex:rate ([0-9]+)".to_owned(),
                better: Better::Higher,
                best: Some(4),
                ..SecondMetric::default()
            }),
            runs: (0..2)
                .flat_map(|block| counts.iter().map(move |count| (block, *count)))
                .map(|(block, count)| run(block, count))
                .collect(),
            best: Some(4),
            counts,
        }
    }

    fn as_asked(count: u32) -> (usize, f64, f64) {
        (count as usize, f64::from(count.min(4)), 1.0 / f64::from(count.min(4)))
    }

    #[test]
    fn curve_has_intervals_of_the_common_scatter() {
        let curve = tried(as_asked).curve(0.95);
        let numbers: Vec<(u32, usize, usize)> =
            curve.iter().map(|point| (point.count, point.runs, point.threads)).collect();
        assert_eq!(numbers, [(1, 2, 1), (2, 2, 2), (4, 2, 4), (8, 2, 8)]);
        let [low, high] = curve[1].ends.unwrap();
        // Two runs 1 % apart: the deviation is 0.7 %, and Student's quantile for four degrees 2.8.
        assert!(low < 0.5 && 0.505 < high && high - low < 0.02, "{low} to {high}");
        assert!((curve[2].reading - 0.251).abs() < 0.001, "{curve:?}");
        let mut single = tried(as_asked);
        single.runs.truncate(4);
        assert_eq!(single.curve(0.95)[0].ends, None);
    }

    #[test]
    fn setting_without_effect_is_named() {
        assert_eq!(tried(as_asked).no_effect(), None);
        let ignored = tried(|_| (8, 2.0, 1.0));
        assert_eq!(
            ignored.no_effect().unwrap(),
            "OMP_NUM_THREADS=8 started 8 threads, and so did OMP_NUM_THREADS=1: the program does \
             not read it, or has too little work for more threads"
        );
        // One of the three tells of an effect.
        assert_eq!(tried(|count| (count as usize, 2.0, 1.0)).no_effect(), None);
        assert_eq!(tried(|count| (8, f64::from(count), 1.0)).no_effect(), None);
        assert_eq!(tried(|count| (8, 2.0, f64::from(count))).no_effect(), None);
        assert_eq!(tried(|_| (0, 2.0, 1.0)).no_effect(), None, "no look");
        let mut few = ignored;
        few.runs.truncate(7);
        assert_eq!(few.no_effect(), None, "the first level is not over");
    }

    #[test]
    fn cap_of_the_program_is_found() {
        let capped = tried(|count| (count.min(2) as usize, 2.0, 1.0));
        assert_eq!(capped.cap(), Some((2, 8, 2)));
        assert_eq!(tried(as_asked).cap(), None);
        assert_eq!(tried(|_| (8, 2.0, 1.0)).cap(), None, "it does not read the setting");
    }

    #[test]
    fn damaged_counts_are_refused() {
        assert!(tried(as_asked).check().is_ok());
        for change in [
            (|tried| tried.runs[1].turn.count = 3) as fn(&mut TriedCounts),
            |tried| tried.runs[1].value = 0.0,
            |tried| tried.best = Some(5),
            |tried| tried.counts.reverse(),
        ] {
            let mut damaged = tried(as_asked);
            change(&mut damaged);
            assert!(damaged.check().is_err(), "{damaged:?}");
        }
    }
}
