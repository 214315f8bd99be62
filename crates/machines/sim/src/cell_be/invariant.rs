//! The check that stops a run when an invariant is broken. It names the component, the time and the
//! message.

use std::fmt;

/// Stops the run because an invariant is broken.
#[cold]
#[inline(never)]
#[track_caller]
#[expect(
    clippy::panic,
    reason = "a broken invariant is a mistake in the simulator: every later result would be wrong"
)]
pub fn broken(component: impl fmt::Display, now: u64, message: impl fmt::Display) -> ! {
    panic!("{component} at core cycle {now}: {message}");
}

/// Checks an invariant of a component: `invariant!(holds, component, time, message...)`.
macro_rules! invariant {
    ($holds:expr, $component:expr, $now:expr, $($message:tt)+) => {
        if !$holds {
            $crate::cell_be::invariant::broken($component, $now, format_args!($($message)+));
        }
    };
}
pub(crate) use invariant;

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "the ring of chip 1 at core cycle 12: transfer 3 has no target")]
    fn a_broken_invariant_says_what_where_and_when() {
        invariant!(
            1 + 1 == 3,
            format_args!("the ring of chip {}", 1),
            12,
            "transfer {} has no target",
            3
        );
    }

    #[test]
    fn one_that_holds_says_nothing() {
        invariant!(1 + 1 == 2, "arithmetic", 0, "fails");
    }
}
