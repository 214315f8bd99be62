//! The smallest step of a clock.

/// The smallest step of a clock in its ticks, computed from consecutive readings; at least 1.
///
/// If readings repeat, the clock is slower than the loop that reads it, and its smallest advance is
/// the step. Otherwise their greatest common divisor is the step.
pub fn step_of(readings: impl Iterator<Item = u64>) -> u64 {
    let readings: Vec<u64> = readings.collect();
    let advances: Vec<u64> =
        readings.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    let stalled = advances.iter().filter(|advance| **advance == 0).count();
    let moved = advances.into_iter().filter(|advance| *advance > 0);
    let step =
        if stalled > readings.len() / 100 { moved.min() } else { moved.reduce(common_divisor) };
    step.unwrap_or(1).max(1)
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coarse(step: u64) -> impl Iterator<Item = u64> {
        (0..5000u64).map(move |at| (at * 41 + (at * at) % 5) / step * step)
    }

    #[test]
    fn coarse_clock_step_is_found() {
        for step in [1, 10, 26, 100, 4000] {
            assert_eq!(step_of(coarse(step)), step, "step {step}");
        }
    }

    #[test]
    fn stopped_or_unread_clock_has_step_one() {
        assert_eq!(step_of([5; 100].into_iter()), 1);
        assert_eq!(step_of(std::iter::empty()), 1);
    }
}
