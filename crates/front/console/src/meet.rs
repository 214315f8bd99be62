//! The rank and meeting place of this process, from launchers and options.

use crate::error::{CliError, CliResult};
use crate::output;
use seatmap_cluster::Rank;
use seatmap_cluster::meeting::Meeting;
use seatmap_cluster::secret::Secret;
use std::path::Path;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// This process's rank.
///
/// # Errors
/// No launcher gave it one.
pub fn rank() -> CliResult<Rank> {
    Rank::find(variable).map_err(CliError::input)
}

/// This process's rank, if a launcher started several ranks.
pub fn job_rank() -> Option<Rank> {
    Rank::find(variable).ok().filter(|rank| rank.size > 1)
}

/// The given meeting place, or the default. Tells if rank 0 opens more than that.
pub fn place(typed: Option<&str>, rank: &Rank) -> Meeting {
    let place = Meeting::find(typed, rank, variable);
    place.caution(rank).iter().for_each(|caution| output::tell(caution));
    place
}

/// The secret in a file, or in the environment.
///
/// # Errors
/// It is too short, or others may read it.
pub fn secret(file: Option<&Path>) -> CliResult<Option<Secret>> {
    let given = match (file, variable("SEATMAP_SECRET")) {
        // A file given explicitly takes precedence over a variable, which may be inherited.
        (Some(path), _) => Some(Secret::of_file(path)),
        (None, Some(text)) => Some(Secret::given(&text, "SEATMAP_SECRET")),
        (None, None) => None,
    };
    given.transpose().map_err(CliError::input)
}
