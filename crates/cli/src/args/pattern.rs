//! `seatmap pattern`, as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Pattern {
    #[command(subcommand)]
    pub command: PatternCommand,
}

#[derive(Debug, Subcommand)]
pub enum PatternCommand {
    /// Draw a pattern: who sends how much to whom.
    Show {
        /// A generator such as ring:8, or a file; - is stdin.
        #[arg(value_name = "PATTERN")]
        pattern: String,
        /// Columns to draw in; the terminal's by default.
        #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
        width: Option<u16>,
        /// Print the pattern as JSON on stdout, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Write a pattern as seatmap-pattern/1.
    Convert {
        /// A generator such as ring:8, or a file: CSV matrix, MatrixMarket, QAPLIB .dat; - is stdin.
        #[arg(value_name = "PATTERN")]
        pattern: String,
        /// Where; stdout by default.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the generators.
    List,
}
