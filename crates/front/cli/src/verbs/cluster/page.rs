//! A cluster under way, on file and on the screen.

use crate::args::ClusterMeasure;
use seatmap_cluster::{Cluster, ClusterProgress, Rank};
use seatmap_console::bar::Bars;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_report::cluster;

/// Where the result goes, and how.
pub struct ClusterOutputs {
    file: Option<Destination>,
    json: bool,
}

impl ClusterOutputs {
    pub fn new(typed: &ClusterMeasure, rank: &Rank) -> Result<Self, CliError> {
        // Only rank 0 writes.
        let output = typed.output.as_deref().filter(|_| rank.rank == 0);
        Ok(ClusterOutputs { file: output::beside(output, None, "-o")?, json: typed.json })
    }

    /// Writes the result so far. It is written again when all is known; a failure shows then.
    pub fn keep(&self, so_far: &Cluster) {
        if let Some(file) = self.file.as_ref().filter(|file| **file != Destination::Stdout) {
            let _ = file.write(&so_far.to_json());
        }
    }

    /// Writes and shows the result. Exit code 1 where something could not be measured.
    pub fn end(&self, measured: &Cluster) -> Result<(), CliError> {
        self.file.as_ref().map_or(Ok(()), |file| file.write(&measured.to_json()))?;
        super::show(measured, self.json)?;
        cluster::missing(measured).map_or(Ok(()), |missing| Err(CliError::work(missing)))
    }
}

/// Shows how far rank 0 is.
pub fn show(progress: ClusterProgress, bars: &mut Bars) {
    match progress {
        ClusterProgress::Done(things, done, of) => bars.show(things, done, of),
        ClusterProgress::Again { pairs, at_most } => {
            bars.clear();
            // It takes as long as all pairs took: the user hears of it, also without a terminal.
            output::tell(&cluster::again(pairs, at_most));
        }
    }
}
