//! A rate limit: several actions at once, and one more per period.

use std::time::{Duration, Instant};

pub struct Allowance {
    left: u32,
    most: u32,
    /// The time for one more.
    pace: Duration,
    earned_until: Instant,
}

impl Allowance {
    /// Allows `most` actions at once, and one more per `pace`.
    pub fn new(most: u32, pace: Duration) -> Self {
        Allowance { left: most, most, pace, earned_until: Instant::now() }
    }

    /// Whether the action is allowed now.
    pub fn take(&mut self) -> bool {
        self.earn(Instant::now());
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }

    fn earn(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.earned_until);
        let earned = passed.as_nanos() / self.pace.as_nanos();
        if earned > 0 {
            // The remainder counts towards the next period; otherwise calls in mid-period would
            // lose up to half.
            let begun = passed.as_nanos() % self.pace.as_nanos();
            let begun = Duration::from_nanos(u64::try_from(begun).unwrap_or(u64::MAX));
            self.left = u32::try_from(earned)
                .map_or(self.most, |earned| self.left.saturating_add(earned).min(self.most));
            self.earned_until = now.checked_sub(begun).unwrap_or(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowance_is_replenished_over_time() {
        let day = Duration::from_secs(86_400);
        let mut allowance = Allowance::new(2, day);
        assert_eq!([allowance.take(), allowance.take(), allowance.take()], [true, true, false]);
        allowance.earn(allowance.earned_until + day);
        assert_eq!([allowance.take(), allowance.take()], [true, false]);
        allowance.earn(allowance.earned_until + 9 * day);
        assert_eq!(allowance.left, 2);
    }

    #[test]
    fn partial_periods_are_kept() {
        let day = Duration::from_secs(86_400);
        let mut allowance = Allowance::new(2, day);
        let start = allowance.earned_until;
        assert!(allowance.take() && allowance.take());
        allowance.earn(start + day * 19 / 10);
        assert_eq!(allowance.left, 1);
        allowance.earn(start + 2 * day);
        assert_eq!(allowance.left, 2, "two days have passed");
    }
}
