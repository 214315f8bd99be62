//! The probability of each home of a line, from all its readings.

use super::DistanceReading;
use seatmap_data::statistics::{Ordered, least};

/// On a quiet mesh, visits to one line differ by 1 to 2 ns.
const VISIT_ERROR_NS: f64 = 1.5;
/// The share by which all distances may differ from the profile, because clocks follow the load. A
/// wide guess costs one more visit, none if the clock is unchanged.
const SCALE: f64 = 0.05;
/// The fewest readings for certainty: a wrong home and another clock can explain two.
const LEAST_READINGS: u32 = 3;
const SURE: f64 = 0.99;
/// The mean squared misfit, in squared errors, above which a line fits no home: three errors
/// everywhere.
const WORST_FIT: f64 = 9.0;

#[derive(Clone)]
pub struct Belief {
    readings: u32,
    /// By home.
    sums: Vec<Sums>,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    /// (Read - predicted)^2.
    misfit: f64,
    /// (Read - predicted) x predicted.
    along: f64,
    /// Predicted^2.
    predicted: f64,
}

impl Sums {
    fn left(&self) -> f64 {
        self.misfit - self.along.powi(2) / (self.predicted + SCALE.powi(-2))
    }
}

impl Belief {
    pub fn new(homes: usize) -> Self {
        Belief { readings: 0, sums: vec![Sums::default(); homes] }
    }

    /// Adds a reading. `predicted_ns` has its prediction for each home; `residual_ns` is the error
    /// of the profile's model.
    pub fn learn(&mut self, predicted_ns: &[f64], reading: DistanceReading, residual_ns: f64) {
        let error_ns = reading.error_ns.hypot(residual_ns).hypot(VISIT_ERROR_NS);
        self.readings += 1;
        for (sums, predicted) in self.sums.iter_mut().zip(predicted_ns) {
            let off = (reading.ns - predicted) / error_ns;
            let predicted = predicted / error_ns;
            sums.misfit += off * off;
            sums.along += off * predicted;
            sums.predicted += predicted * predicted;
        }
    }

    pub fn probabilities(&self) -> Vec<f64> {
        // Relative to the best likelihood; otherwise all would round to zero.
        let least = least(self.sums.iter().map(Sums::left));
        let likelihoods: Vec<f64> =
            self.sums.iter().map(|sums| (0.5 * (least - sums.left())).exp()).collect();
        let all: f64 = likelihoods.iter().sum();
        likelihoods.into_iter().map(|likelihood| likelihood / all).collect()
    }

    /// Whether more readings would not change the answer.
    pub fn is_sure(&self) -> bool {
        self.readings >= LEAST_READINGS
            && self.likeliest().is_some_and(|(_, probability)| probability >= SURE)
    }

    /// The home, if it is certain and fits the readings.
    pub fn home(&self) -> Option<u32> {
        let (home, _) = self.likeliest().filter(|_| self.is_sure())?;
        let misfit = self.sums.get(home)?.left() / f64::from(self.readings);
        (misfit <= WORST_FIT).then_some(home as u32)
    }

    fn likeliest(&self) -> Option<(usize, f64)> {
        self.probabilities().into_iter().enumerate().max_by_key(|it| Ordered(it.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREDICTED: [[f64; 3]; 5] = [
        [200.0, 210.0, 240.0],
        [210.0, 200.0, 240.0],
        [220.0, 225.0, 230.0],
        [190.0, 210.0, 200.0],
        [230.0; 3],
    ];

    fn after(home: usize, longer: f64, pairs: usize) -> Belief {
        let mut belief = Belief::new(3);
        for predicted in &PREDICTED[..pairs] {
            let reading = DistanceReading { ns: predicted[home] * (1.0 + longer), error_ns: 0.5 };
            belief.learn(predicted, reading, 0.2);
        }
        belief
    }

    #[test]
    fn every_home_is_found_despite_clock_changes() {
        for (home, longer) in
            (0..3).flat_map(|home| [-0.05, 0.0, 0.04].map(|longer| (home, longer)))
        {
            assert_eq!(
                after(home, longer, 5).home(),
                Some(home as u32),
                "home {home}, all longer by {longer}"
            );
        }
    }

    #[test]
    fn two_readings_are_never_enough() {
        assert!(!after(1, 0.0, 2).is_sure() && after(1, 0.0, 3).is_sure());
        assert_eq!(Belief::new(3).home(), None);
        assert!(!Belief::new(0).is_sure());
    }

    #[test]
    fn equidistant_homes_stay_undecided() {
        let mut belief = Belief::new(2);
        for _ in 0..9 {
            belief.learn(&[100.0, 100.0], DistanceReading { ns: 100.0, error_ns: 1.0 }, 1.0);
        }
        assert_eq!(belief.probabilities(), [0.5, 0.5]);
        assert_eq!(belief.home(), None);
    }

    #[test]
    fn line_fitting_no_home_has_none() {
        let mut belief = Belief::new(3);
        for (predicted, ns) in PREDICTED.iter().zip([150.0, 300.0, 160.0, 280.0, 100.0]) {
            belief.learn(predicted, DistanceReading { ns, error_ns: 0.5 }, 0.2);
        }
        assert!(belief.is_sure() && belief.home().is_none());
    }
}
