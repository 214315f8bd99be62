//! A cluster under way, on file and on the screen.

use crate::args::ClusterMeasure;
use seatmap_cluster::{Cluster, Progress, Rank};
use seatmap_console::bar::Bars;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_report::{cluster, counted};
use std::time::Duration;

/// Where the result goes, and how.
pub struct Page {
    file: Option<Destination>,
    json: bool,
}

impl Page {
    pub fn new(typed: &ClusterMeasure, rank: &Rank) -> Result<Self, CliError> {
        // Only rank 0 writes.
        let output = typed.output.as_deref().filter(|_| rank.rank == 0);
        Ok(Page { file: output.map(Destination::new).transpose()?, json: typed.json })
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

/// How far rank 0 is.
#[derive(Default)]
pub struct UnderWay {
    bars: Bars,
    /// Whether it was said that pairs are measured again.
    has_said: bool,
}

impl UnderWay {
    pub fn show(&mut self, progress: Progress) {
        match progress {
            Progress::Met(done, of) => self.bars.show("ranks", done, of),
            Progress::Nodes(done, of) => self.bars.show("nodes", done, of),
            Progress::Pairs(done, of) => self.bars.show("pairs", done, of),
            Progress::Again { done, of, at_most } => {
                self.tell_of_looks(of, at_most);
                self.bars.show("pairs again", done, of);
            }
            Progress::Loaded(done, of) => self.bars.show("exchanges", done, of),
            Progress::Mpi(done, of) => self.bars.show("pairs by MPI", done, of),
        }
    }

    /// Measuring bad pairs again takes as long as all pairs took: the user hears of it, also
    /// without a terminal.
    fn tell_of_looks(&mut self, pairs: usize, at_most: Duration) {
        if !std::mem::replace(&mut self.has_said, true) {
            self.bars.clear();
            output::tell(&format!(
                "some pairs look bad: {} measured again beside like pairs, for at most {:.0} s",
                counted(pairs, "pair"),
                at_most.as_secs_f64()
            ));
        }
    }
}
