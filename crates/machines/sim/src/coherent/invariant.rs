//! Invariants of the simulated hardware: a broken one stops the simulation at once.

use std::fmt::{Arguments, Display};

/// Stops the simulation if a condition is false: `invariant!(condition, component, tick, message,
/// "why, {formatted}")`.
macro_rules! invariant {
    ($holds:expr, $component:expr, $now:expr, $about:expr, $($why:tt)+) => {
        if !$holds {
            $crate::coherent::invariant::broken($component, $now, &$about, format_args!($($why)+));
        }
    };
}
pub(crate) use invariant;

/// Stops the simulation: a component is in a state that its protocol does not have. This is always
/// a mistake of the simulator, and never one of the simulated program.
#[cold]
#[inline(never)]
#[expect(clippy::panic, reason = "a simulation in an impossible state has no result")]
pub fn broken(component: &str, now: u64, about: &dyn Display, why: Arguments) -> ! {
    panic!("the simulator broke an invariant: {component} at tick {now}: {about}: {why}");
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(
        expected = "the simulator broke an invariant: directory at tick 7: line 3: 2 answers, and it waits for 1"
    )]
    fn a_broken_invariant_names_component_time_and_message() {
        invariant!(true, "directory", 6, "line 2", "not seen");
        invariant!(1 > 2, "directory", 7, "line 3", "{} answers, and it waits for {}", 2, 1);
    }
}
