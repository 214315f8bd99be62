//! How much to measure.

use std::time::Duration;

/// The difference that a batch must show, per round trip.
const WANTED_RESOLUTION_NS: f64 = 0.2;

/// Below 50 single transfers show, above 200 most batches are interrupted.
const ROUND_TRIPS: std::ops::RangeInclusive<u32> = 50..=200;

/// The second may differ from the first if two polls must synchronise.
const ROUND_TRIPS_WITHOUT_NOISE: u32 = 2;

/// How much to measure, and the order.
#[derive(Clone)]
pub struct SurveyPlan {
    /// Visits to each pair.
    pub passes: Passes,
    /// Further visits to the pairs whose passes disagree.
    pub further: Further,
    /// Timed batches per visit.
    pub batches: u32,
    /// Round trips per batch.
    pub round_trips: u32,
    /// Seed of random orders.
    pub seed: u64,
}

/// Visits to each pair: at least `least` passes, more while time is left, so regimes show.
#[derive(Clone, Copy)]
pub struct Passes {
    /// Minimum.
    pub least: u32,
    /// Maximum.
    pub most: u32,
    /// Available time.
    pub budget: Duration,
}

/// Further visits to pairs whose passes disagree. A vCPU stays in place for seconds, so immediate
/// visits may all see one place.
#[derive(Clone, Copy)]
pub struct Further {
    /// Further visits.
    pub passes: u32,
    /// Minimum time from one start to the next.
    pub period: Duration,
}

impl Further {
    /// No further visits.
    pub const NONE: Further = Further { passes: 0, period: Duration::ZERO };

    const fn new(passes: u32, period_ms: u64) -> Self {
        Further { passes, period: Duration::from_millis(period_ms) }
    }
}

/// The thoroughness of a measurement.
#[derive(Clone, Copy, Debug, Default)]
pub enum Effort {
    /// 33 batches per pair: enough for the median.
    Quick,
    /// At least 48 batches per pair, more on few PUs.
    #[default]
    Usual,
    /// At least nine passes of 64 batches.
    Thorough,
}

impl SurveyPlan {
    /// A plan for a clock with this step.
    ///
    /// ```
    /// use seatmap_measure::plan::{Effort, SurveyPlan};
    /// assert_eq!(SurveyPlan::new(Effort::Usual, 0.4).round_trips, 50);
    /// assert_eq!(SurveyPlan::new(Effort::Usual, 20.0).round_trips, 100);
    /// ```
    pub fn new(effort: Effort, clock_step_ns: f64) -> Self {
        let needed = (clock_step_ns / WANTED_RESOLUTION_NS).round().min(1e6) as u32;
        let (passes, further, batches) = match effort {
            Effort::Quick => (Passes::fixed(3), Further::NONE, 11),
            Effort::Usual => (Passes::filling(3, 60, 250), Further::new(20, 50), 16),
            Effort::Thorough => (Passes::filling(9, 600, 5000), Further::new(40, 100), 64),
        };
        SurveyPlan {
            passes,
            further,
            batches,
            round_trips: needed.clamp(*ROUND_TRIPS.start(), *ROUND_TRIPS.end()),
            seed: 1,
        }
    }

    /// For a machine that repeats itself exactly.
    pub fn without_noise(self) -> Self {
        let plan = self.with_passes(1);
        SurveyPlan { batches: 1, round_trips: ROUND_TRIPS_WITHOUT_NOISE, ..plan }
    }

    /// Makes exactly this many visits to each pair.
    pub fn with_passes(self, passes: u32) -> Self {
        SurveyPlan { passes: Passes::fixed(passes), further: Further::NONE, ..self }
    }

    /// For machines on which no time passes.
    pub fn without_clock(self) -> Self {
        let least = self.passes.least;
        self.with_passes(least)
    }

    /// The largest number of visits to any pair.
    pub fn most_passes(&self) -> u32 {
        self.passes.most.saturating_add(self.further.passes)
    }

    /// The smallest difference that a batch can show, in nanoseconds.
    pub fn resolution_ns(&self, clock_step_ns: f64) -> f64 {
        clock_step_ns / f64::from(self.round_trips)
    }
}

impl Passes {
    /// Exactly this many passes.
    pub fn fixed(passes: u32) -> Self {
        Passes { least: passes, most: passes, budget: Duration::ZERO }
    }

    fn filling(least: u32, most: u32, ms: u64) -> Self {
        Passes { least, most, budget: Duration::from_millis(ms) }
    }

    /// Counts passes, given the duration of one.
    pub fn settled(self, one_pass: Duration) -> u32 {
        // A pass may take no time on the clock.
        let fitting = self.budget.as_secs_f64() / one_pass.as_secs_f64().max(1e-9);
        (fitting.min(f64::from(u32::MAX)) as u32).clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pus_get_many_passes() {
        let passes = SurveyPlan::new(Effort::Usual, 1.0).passes;
        assert_eq!(passes.settled(Duration::from_micros(100)), 60);
        assert_eq!(passes.settled(Duration::from_millis(50)), 5);
        assert_eq!(passes.settled(Duration::from_secs(9)), 3);
        assert_eq!(Passes::fixed(7).settled(Duration::ZERO), 7);
    }

    #[test]
    fn every_effort_has_32_batches_and_three_passes() {
        for effort in [Effort::Quick, Effort::Usual, Effort::Thorough] {
            let plan = SurveyPlan::new(effort, 1.0);
            assert!(plan.passes.least >= 3 && plan.passes.least * plan.batches >= 32, "{effort:?}");
        }
    }

    #[test]
    fn disagreeing_pairs_are_watched_for_a_second() {
        for effort in [Effort::Usual, Effort::Thorough] {
            let SurveyPlan { further, .. } = SurveyPlan::new(effort, 1.0);
            assert!(further.period * further.passes >= Duration::from_secs(1), "{effort:?}");
        }
        assert_eq!(SurveyPlan::new(Effort::Usual, 1.0).without_clock().most_passes(), 3);
        assert_eq!(SurveyPlan::new(Effort::Usual, 1.0).most_passes(), 80);
    }

    #[test]
    fn coarse_clock_lengthens_batches_up_to_a_limit() {
        assert_eq!(SurveyPlan::new(Effort::Usual, 1000.0).round_trips, 200);
        assert_eq!(SurveyPlan::new(Effort::Usual, 1000.0).resolution_ns(1000.0), 5.0);
    }
}
