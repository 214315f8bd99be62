//! The errors of exporting a profile.

use seatmap_os::cpu_list::MAX_CPU;

/// Why a profile could not be written in another format.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ProfileExportError {
    /// The format needs distances, and the profile has none.
    #[error("the profile has no core distances between PUs; measure or import them first")]
    NoDistances,
    /// The profile has no PU at all.
    #[error("the profile has no PUs: its topology is empty")]
    NoPu,
    /// The OS index of a PU, NUMA node or package beyond [`MAX_CPU`].
    #[error("the OS index {0} is too large to export; the limit is {MAX_CPU}")]
    IndexTooLarge(u32),
    /// Two levels that overlap without nesting, which a tree cannot express.
    #[error(
        "the {level} of PU {first_pu} is only partly inside another object; correct the topology"
    )]
    Crossing {
        /// hwloc's name of the level.
        level: &'static str,
        /// The first PU of the level.
        first_pu: u32,
    },
}
