//! Why a cell could not be created, found or undone.

use crate::run_folder::NoFolder;
use crate::site::SiteError;
use crate::{CellBackend, CellClaim, Name};
use seatmap_data::document::{Blame, shell_escaped};
use seatmap_data::words::agreeing;
use seatmap_os::{CpuSet, FileError};
use std::io;

/// The error of a cell's command.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    /// No cell has this name.
    #[error("there is no cell '{0}'; 'seatmap cell list' shows all cells")]
    NoSuchCell(Name),
    /// The name is in use.
    #[error("the cell '{0}' already exists; destroy it, or choose another name")]
    NameTaken(Name),
    /// Some CPUs are not online.
    #[error(
        "{} {} not online; this computer has {}",
        .missing.named(),
        agreeing(.missing.len(), "is", "are"),
        .online.named()
    )]
    NotOnline {
        /// The offline ones.
        missing: CpuSet,
        /// The online CPUs.
        online: CpuSet,
    },
    /// Another cell has a CPU, or the name in another run folder: a sentence.
    #[error("{0}")]
    Taken(String),
    /// No CPU would be left for the rest of the system.
    #[error(
        "a cell with {} would leave no CPU for other programs; keep one that is not isolated",
        .0.named()
    )]
    NothingLeft(CpuSet),
    /// Too few CPUs are free.
    #[error(
        "too many CPUs for a cell: {requested} requested, {free} free, and one must stay for other \
         programs (--cpus can name CPUs of isolcpus=)"
    )]
    TooMany {
        /// The requested number.
        requested: usize,
        /// The number outside cells.
        free: usize,
    },
    /// No backend here reaches the required level.
    #[error(
        "cannot create a cell of level {level} or better here: {}; nothing is changed",
        reasons.join("; ")
    )]
    NotReached {
        /// The required level.
        level: CellBackend,
        /// Why each backend failed.
        reasons: Vec<String>,
    },
    /// The acceptance test failed.
    #[error("{found:.2} % of the cell's time is stolen (limit: {limit} %); everything is restored")]
    TooNoisy {
        /// The measured stolen time, in percent.
        found: f64,
        /// The allowed stolen time, in percent.
        limit: f64,
    },
    /// The acceptance test could not run.
    #[error("cannot measure the noise")]
    NoiseJudge(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The memory cannot be allocated.
    #[error("cannot allocate the cell's memory")]
    Memory(#[source] io::Error),
    /// The guardian could not start.
    #[error("cannot start the cell's guardian; nothing is changed")]
    Guardian(#[source] io::Error),
    /// This process cannot move into the cell.
    #[error("this process cannot move into the cell, so the cell is undone")]
    Enter(#[source] io::Error),
    /// The host refused a change.
    #[error(transparent)]
    File(#[from] FileError),
    /// This user has no run folder.
    #[error(transparent)]
    NoFolder(NoFolder),
    /// The run folder failed.
    #[error("cannot access the state of cells")]
    Remembering(#[source] io::Error),
}

impl From<io::Error> for CellError {
    fn from(source: io::Error) -> Self {
        match source.downcast::<NoFolder>() {
            Ok(none) => CellError::NoFolder(none),
            Err(source) => CellError::Remembering(source),
        }
    }
}

impl CellError {
    /// A conflict with a cell without a record in this folder.
    pub fn of_claim(claim: &CellClaim) -> Self {
        let cell = &claim.header.cell;
        let cpus = claim.header.set().named();
        CellError::Taken(if claim.has_lost_its_journal() {
            format!(
                "the cell '{cell}' has {cpus}, but its journal is missing: 'seatmap cell restore' \
                 undoes its changes"
            )
        } else {
            let folder = claim.folder().display().to_string();
            format!(
                "the cell '{cell}' has {cpus}, and its state is in {folder}: 'SEATMAP_RUN={} \
                 seatmap cell destroy {cell}' ends it",
                shell_escaped(&folder)
            )
        })
    }
}

seatmap_data::into_failure!(CellError);

impl Blame for CellError {
    fn is_input(&self) -> bool {
        use CellError::{NameTaken, NoSuchCell, NotOnline, NothingLeft, Taken, TooMany};
        let is_of_cpus = matches!(self, NotOnline { .. } | NothingLeft(_) | TooMany { .. });
        is_of_cpus || matches!(self, NoSuchCell(_) | NameTaken(_) | Taken(_))
    }
}

impl From<SiteError> for CellError {
    fn from(error: SiteError) -> Self {
        match error {
            SiteError::File(error) => CellError::File(error),
            SiteError::Journal(error) => error.into(),
        }
    }
}
