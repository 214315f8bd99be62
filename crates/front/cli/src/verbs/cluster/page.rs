//! The progress and the result of a cluster's measurement.

use crate::args::ClusterMeasure;
use seatmap_cluster::{Cluster, ClusterProgress, Rank};
use seatmap_console::bar::Bars;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_report::cluster;

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

    /// Writes the result so far. A failure is reported when the complete result is written.
    pub fn keep(&self, so_far: &Cluster) {
        if let Some(file) = self.file.as_ref().filter(|file| **file != Destination::Stdout) {
            let _ = file.write(&so_far.to_json());
        }
    }

    /// Writes and shows the result. Exit code 1 if something could not be measured.
    pub fn end(&self, measured: &Cluster) -> Result<(), CliError> {
        self.file.as_ref().map_or(Ok(()), |file| file.write(&measured.to_json()))?;
        super::show(measured, self.json)?;
        cluster::missing(measured).map_or(Ok(()), |missing| Err(CliError::work(missing)))
    }
}

pub fn show(progress: ClusterProgress, bars: &mut Bars) {
    match progress {
        ClusterProgress::Done(things, done, of) => bars.show(things, done, of),
        ClusterProgress::Again { pairs, at_most } => {
            bars.clear();
            // It takes as long as all pairs did.
            output::tell(&cluster::again(pairs, at_most));
        }
    }
}
