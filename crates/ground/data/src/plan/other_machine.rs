//! The error for a plan on the wrong computer.

/// A plan for another machine: its PUs may be absent here, or have other positions.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "the plan is for '{plan}', but this computer is '{here}', whose CPU layout may differ; make a \
     plan for this computer with 'seatmap place --on host', or use the plan's CPU numbers as they \
     are with --any-machine"
)]
pub struct OtherMachine {
    /// Machine that the plan is for.
    pub plan: String,
    /// This computer.
    pub here: String,
}
