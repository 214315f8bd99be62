//! `seatmap pattern`, as typed.

use clap::{Args, Subcommand, ValueEnum};
use seatmap_console::outputs::ResultForms;
use seatmap_data::pattern::qaplib::Which;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct PatternArgs {
    #[command(subcommand)]
    pub command: PatternCommand,
}

#[derive(Debug, Subcommand)]
pub enum PatternCommand {
    /// Draw a pattern: who sends how much to whom.
    Show(PatternShow),
    /// Write a pattern as seatmap-pattern/1.
    Convert {
        #[command(flatten)]
        source: PatternSource,
        /// Where; stdout by default.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the generators.
    List,
}

#[derive(Debug, Args)]
pub struct PatternShow {
    #[command(flatten)]
    pub source: PatternSource,
    /// Write the matrix as a picture; - is stdout.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// The width in columns; the terminal's by default.
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
    #[command(flatten)]
    pub forms: ResultForms,
}

/// Where a pattern comes from.
#[derive(Debug, Args)]
pub struct PatternSource {
    /// A generator such as ring:8, or a file: seatmap-pattern/1, CSV matrix or list of edges,
    /// MatrixMarket, QAPLIB .dat; '-' is stdin.
    #[arg(value_name = "PATTERN")]
    pub pattern: String,
    /// Which matrix of a QAPLIB .dat is the flow; the first by default.
    #[arg(long, value_name = "WHICH")]
    pub matrix: Option<MatrixChoice>,
    /// How much each task works, in any unit: numbers such as 4,1,1,1, or a file of them.
    #[arg(long, value_name = "LIST|FILE")]
    pub load: Option<String>,
}

/// One of the two matrices of a QAPLIB file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MatrixChoice {
    /// The first matrix in the file.
    First,
    /// The second matrix in the file.
    Second,
}

impl From<MatrixChoice> for Which {
    fn from(choice: MatrixChoice) -> Self {
        match choice {
            MatrixChoice::First => Which::First,
            MatrixChoice::Second => Which::Second,
        }
    }
}
