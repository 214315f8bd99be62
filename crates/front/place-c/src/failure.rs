//! Why a call failed.

use crate::status::PlaceStatus;
use seatmap_c_abi::{Boundary, Fault};
use seatmap_data::document::{DocumentError, with_causes};
use seatmap_data::machine::catalog::CatalogError;
use seatmap_data::pattern::SpecError;
use seatmap_os::CpuListError;
use seatmap_place::PlaceError;
use std::error::Error;

/// Why a call failed; its text is the last error.
#[derive(Debug, thiserror::Error)]
pub enum PlaceCallFailure {
    /// A mistake in a call, common to all libraries.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A text that is not UTF-8.
    #[error("{0} is not UTF-8 text")]
    NotText(&'static str),
    /// A length above the limit.
    #[error("{name} is {given}; the limit is {most}")]
    TooLong {
        /// The argument.
        name: &'static str,
        /// Its value.
        given: usize,
        /// The largest accepted value.
        most: usize,
    },
    /// No bundled machine has this name.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The text is not a generator.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// An invalid list of CPUs.
    #[error(transparent)]
    Cpus(#[from] CpuListError),
    /// Inconsistent distances or edges.
    #[error(transparent)]
    Inconsistent(#[from] DocumentError),
    /// An unreadable or invalid file.
    #[error("{path}: {}", with_causes(.source.as_ref()))]
    File {
        /// The path, as the caller gave it.
        path: String,
        /// The problem.
        source: Box<dyn Error>,
    },
    /// An impossible placement.
    #[error(transparent)]
    Place(#[from] PlaceError),
}

impl Boundary for PlaceCallFailure {
    type Status = PlaceStatus;

    const OK: PlaceStatus = PlaceStatus::Ok;
    const LIBRARY: &'static str = "libseatmap_place";

    fn status(&self) -> PlaceStatus {
        match self {
            PlaceCallFailure::File { .. } => PlaceStatus::BadFile,
            PlaceCallFailure::Place(_) => PlaceStatus::NotPossible,
            PlaceCallFailure::Fault(Fault::Defect { .. }) => PlaceStatus::Defect,
            _ => PlaceStatus::BadArgument,
        }
    }
}
