//! `seatmap-papers study`, as typed.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct StudyArgs {
    /// cellstats, cellule-2010, cellule-libspe2, keller, keller-why, liu-2015, sudheer, all of
    /// them, or a file like theirs; its commands are run.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Write a page for each study, with its pictures, into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub write: Option<PathBuf>,
    /// Print one JSON document on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}
