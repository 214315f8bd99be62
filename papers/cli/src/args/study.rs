//! Arguments of `seatmap-papers study`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct StudyArgs {
    /// cellstats, cellule-2010, cellule-libspe2, cellule-ports, cellule-qs20, keller, keller-why,
    /// liu-2015, sudheer, all, or a study file, whose commands are run.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Write a page for each study to this folder, with pictures and its rows as CSV.
    #[arg(long, value_name = "FOLDER")]
    pub write: Option<PathBuf>,
    /// Print one JSON document on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}
