//! A rate limit: several actions at once, and then one each time a period has passed.

use std::time::{Duration, Instant};

/// A rate limit for an action.
#[derive(Debug)]
pub(crate) struct Allowance {
    left: u32,
    most: u32,
    /// The time that earns one more.
    pace: Duration,
    earned_until: Instant,
}

impl Allowance {
    /// Allows `most` actions at once, and one more each time `pace` has passed.
    pub fn new(most: u32, pace: Duration) -> Self {
        Allowance { left: most, most, pace, earned_until: Instant::now() }
    }

    /// Whether the action may be done now; a permission is used up.
    pub fn take(&mut self) -> bool {
        self.earn(Instant::now());
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }

    fn earn(&mut self, now: Instant) {
        let earned =
            now.saturating_duration_since(self.earned_until).as_nanos() / self.pace.as_nanos();
        if earned > 0 {
            self.left = u32::try_from(earned)
                .map_or(self.most, |earned| self.left.saturating_add(earned).min(self.most));
            self.earned_until = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_comes_back_with_time() {
        let day = Duration::from_secs(86_400);
        let mut allowance = Allowance::new(2, day);
        assert_eq!([allowance.take(), allowance.take(), allowance.take()], [true, true, false]);
        allowance.earn(allowance.earned_until + day);
        assert_eq!([allowance.take(), allowance.take()], [true, false]);
        allowance.earn(allowance.earned_until + 9 * day);
        assert_eq!(allowance.left, 2);
    }
}
