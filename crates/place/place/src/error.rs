//! Errors of placements.

use seatmap_data::document::Blame;
use seatmap_data::machine::Profile;
use seatmap_data::statistics::words::counted;

seatmap_data::into_failure!(PlaceError);

impl Blame for PlaceError {}

/// A failed placement, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The machine's profile has no distances.
    #[error("{0} has no core distances; measure them, or import a file with distances")]
    NoDistances(String),
    /// The machine has no such PU, or no distances for it.
    #[error("the machine has no distances for PU {0}")]
    NoSuchPu(u32),
    /// The request does not fit the machine, the pattern, or the running program: a sentence.
    #[error("{0}")]
    Unfit(String),
}

/// Refuses a request with this sentence.
pub(crate) fn unfit<T>(why: impl Into<String>) -> Result<T, PlaceError> {
    Err(PlaceError::Unfit(why.into()))
}

pub(crate) fn no_distances(profile: &Profile) -> PlaceError {
    PlaceError::NoDistances(profile.name.clone())
}

pub(crate) fn too_few_groups<T>(tasks: usize, groups: usize) -> Result<T, PlaceError> {
    let tasks = counted(tasks, "task");
    unfit(format!("{tasks} do not fit on {} of PUs, one per group", counted(groups, "group")))
}
