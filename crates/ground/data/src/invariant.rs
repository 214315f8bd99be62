//! Conditions that must hold inside Seatmap, checked after changes of its state.
//!
//! | item | use |
//! |---|---|
//! | [`invariant!`](crate::invariant!) | stops the program if a condition is false |
//! | [`broken`] | stops the program at code that must not be reached |
//!
//! A broken invariant is always a mistake of Seatmap, never of an input, of the measured program,
//! or of the computer; those have error types. It panics, because every later result would be
//! wrong; guards restore the computer while the stack unwinds.

use std::fmt::{Arguments, Display};

/// Stops the program if a condition is false: `invariant!(condition, component, "what broke")`.
///
/// The component is a displayable value; a format string describes the break. Both are computed
/// only after the condition has failed.
///
/// # Panics
/// The condition is false, with the message of [`broken`].
///
/// ```
/// # use seatmap_data::invariant;
/// let waiting = ["thread 7"];
/// invariant!(waiting.len() < 2, "tracer", "{waiting:?} wait for one stop");
/// ```
#[macro_export]
macro_rules! invariant {
    ($holds:expr, $component:expr, $($broken:tt)+) => {
        if !$holds {
            $crate::invariant::broken($component, format_args!($($broken)+));
        }
    };
}

/// Stops the program because of an impossible state, and asks for a report; the panic's location is
/// the caller's.
///
/// # Panics
/// Always.
// Out of line, so a check in a hot path costs one comparison and a jump.
#[cold]
#[inline(never)]
#[track_caller]
#[expect(clippy::panic, reason = "every result behind a broken invariant would be wrong")]
pub fn broken(component: impl Display, what_broke: Arguments) -> ! {
    panic!(
        "Seatmap broke an invariant: {component}: {what_broke}\n\
         This is a bug in Seatmap. Please report it with this message and your command line."
    );
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "broke an invariant: the ring of chip 1: transfer 3 has no target\n")]
    fn broken_invariant_names_component_and_fault() {
        let chip = 1;
        invariant!(
            chip > 1,
            format_args!("the ring of chip {chip}"),
            "transfer {} has no target",
            3
        );
    }

    #[test]
    #[should_panic(expected = "Please report it with this message and your command line.")]
    fn broken_invariant_asks_for_a_report() {
        crate::invariant::broken("the tracer", format_args!("it waits for nobody"));
    }

    #[test]
    fn true_invariant_does_not_format_its_message() {
        let mut computed = 0;
        invariant!(true, "arithmetic", "{}", {
            computed += 1;
            computed
        });
        assert_eq!(computed, 0);
    }
}
