//! The error for a plan on the wrong computer.

/// A plan for another machine: its PUs may be absent here, or have other positions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the plan is for '{plan}', and this computer is '{here}', whose CPUs lie otherwise; make a \
     plan for this computer with 'seatmap place --on host', or give --any-machine to take the \
     plan's CPU numbers as they are"
)]
pub struct OtherMachine {
    /// The machine that the plan is for.
    pub plan: String,
    /// This computer.
    pub here: String,
}
