//! The outputs of a ranking.

use crate::args::RankResults;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_experiments::rank::Ranking;
use seatmap_papers_report::{html, ranking, svg};

type Writer = fn(&Ranking) -> String;

/// The requested outputs, checked before the work begins.
pub struct RankOutputs {
    files: Vec<(Destination, Writer)>,
    json: bool,
}

impl RankOutputs {
    /// Checks the requested outputs.
    ///
    /// # Errors
    /// A file cannot be written, or two results would go to stdout.
    pub fn new(typed: &RankResults) -> Result<Self, CliError> {
        let outputs: [(&Option<_>, Writer); 4] = [
            (&typed.output, Ranking::to_json),
            (&typed.csv, ranking::csv),
            (&typed.svg, svg::ranking),
            (&typed.html, html::ranking),
        ];
        let paths =
            outputs.into_iter().filter_map(|(path, writer)| Some((path.as_deref()?, writer)));
        let files = paths
            .map(|(path, writer)| Ok((Destination::new(path)?, writer)))
            .collect::<Result<Vec<(Destination, Writer)>, CliError>>()?;
        let results = RankOutputs { files, json: typed.json };
        match results.wanting_stdout() {
            0 | 1 => Ok(results),
            _ => Err(CliError::input(
                "only one of --json, -o -, --csv -, --svg - and --html - can have stdout",
            )),
        }
    }

    fn wanting_stdout(&self) -> usize {
        self.files.iter().filter(|(to, _)| *to == Destination::Stdout).count()
            + usize::from(self.json)
    }

    pub fn deliver(&self, ranking: &Ranking) -> Result<(), CliError> {
        for (destination, writer) in &self.files {
            destination.write(&writer(ranking))?;
        }
        match (self.json, self.wanting_stdout()) {
            (true, _) => output::print_exact(&ranking.to_json()),
            (false, 0) => output::print(&ranking::summary(ranking)),
            _ => Ok(()),
        }
    }
}
