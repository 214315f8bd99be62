//! Times work on each PU alone and on all together.

use seatmap_data::machine::{SeatSpeed, WorkTimes};
use seatmap_data::statistics::{Xoshiro, median, quantile};
use std::ops::ControlFlow;

const LEAST_ROUNDS: u32 = 9;
const USUAL_ROUNDS: u32 = 31;
const USUAL_VISITS: u32 = 1500;

/// The rounds for this many PUs, so they take a few seconds.
pub fn rounds(pus: usize) -> u32 {
    (USUAL_VISITS / (pus.max(1) as u32)).clamp(LEAST_ROUNDS, USUAL_ROUNDS)
}

/// The speeds of PUs over this many rounds; `None` if `go_on` ended it.
///
/// `time_ns` returns the time of a fixed piece of work on each of the given PUs simultaneously, in
/// nanoseconds, while all other PUs are idle. Each round visits every PU in random order, so
/// changes affect all alike.
///
/// # Errors
///
/// The source's.
pub fn speeds<E>(
    mut time_ns: impl FnMut(&[u32]) -> Result<Vec<f64>, E>,
    pus: &[u32],
    rounds: u32,
    seed: u64,
    mut go_on: impl FnMut() -> ControlFlow<()>,
) -> Result<Option<SeatSpeed>, E> {
    let mut rng = Xoshiro::new(seed);
    let mut order: Vec<usize> = (0..pus.len()).collect();
    let mut alone = vec![Vec::new(); pus.len()];
    let mut together = vec![Vec::new(); pus.len()];
    for _ in 0..rounds {
        rng.shuffle(&mut order);
        for at in &order {
            if go_on().is_break() {
                return Ok(None);
            }
            alone[*at].extend(time_ns(&pus[*at..=*at])?);
        }
        let times = time_ns(pus)?;
        together.iter_mut().zip(times).for_each(|(all, ns): (&mut Vec<f64>, f64)| all.push(ns));
    }
    let work = WorkTimes {
        rounds,
        alone_p10_ns: each(&alone, |ns| quantile(ns, 0.1)),
        alone_median_ns: each(&alone, |ns| median(ns)),
        together_p10_ns: each(&together, |ns| quantile(ns, 0.1)),
        together_median_ns: each(&together, |ns| median(ns)),
    };
    Ok(Some(SeatSpeed::of(pus.to_vec(), work)))
}

fn each(times: &[Vec<f64>], of: fn(&[f64]) -> Option<f64>) -> Vec<f64> {
    // A PU without times gets NaN, to keep the positions.
    times.iter().map(|ns| of(ns).unwrap_or(f64::NAN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_up(speed_of: &[f64]) -> impl FnMut(&[u32]) -> Result<Vec<f64>, String> {
        let mut visits = 0;
        let mut rng = Xoshiro::new(7);
        move |pus| {
            visits += 1;
            let warm = 1.0 + f64::from(visits) / 1000.0;
            let crowded = if pus.len() > 1 { 1.25 } else { 1.0 };
            pus.iter()
                .map(|pu| {
                    let stolen = if rng.below(4) == 0 { 1.5 } else { 1.0 };
                    let speed = speed_of.get(*pu as usize).ok_or("no such PU")?;
                    Ok(2e6 / speed * warm * crowded * stolen)
                })
                .collect()
        }
    }

    #[test]
    fn drift_and_interruptions_leave_equal_pus_equal() {
        let speed = speeds(made_up(&[1.0, 1.0]), &[0, 1], 31, 1, || ControlFlow::Continue(()))
            .unwrap()
            .unwrap();
        assert!(!speed.differs() && speed.spread() < 0.02, "{speed:?}");
        assert!((speed.together.unwrap()[0] - 0.8).abs() < 0.02);
    }

    #[test]
    fn slow_pus_are_found() {
        let speeds =
            speeds(made_up(&[1.0, 0.6, 1.0, 0.6]), &[0, 1, 3], 31, 1, || ControlFlow::Continue(()));
        let speed = speeds.unwrap().unwrap();
        assert!(speed.differs() && (speed.alone_of(3).unwrap() - 0.6).abs() < 0.02, "{speed:?}");
        assert_eq!(speed.work.unwrap().rounds, 31);
    }

    #[test]
    fn speeds_end_on_request_or_source_error() {
        let mut left = 5;
        let mut go_on = || {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        assert_eq!(speeds(made_up(&[1.0; 4]), &[0, 1], 31, 1, &mut go_on), Ok(None));
        assert!(speeds(made_up(&[1.0]), &[0, 1], 9, 1, || ControlFlow::Continue(())).is_err());
    }

    #[test]
    fn large_machines_get_fewer_rounds() {
        assert_eq!([1, 2, 64, 192, 8192].map(rounds), [31, 31, 23, 9, 9]);
    }
}
