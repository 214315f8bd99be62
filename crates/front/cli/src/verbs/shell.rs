//! Completions and manual pages.

use crate::error::{AtFile, CliError};
use crate::{completion, output};
use std::path::Path;

/// Completions for a shell, on stdout.
pub fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    output::print(&completion::script(shell)?)
}

/// Manual pages into a folder, or the main one on stdout.
pub fn man(folder: Option<&Path>) -> Result<(), CliError> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(crate::args::command()).render(&mut page).map_err(CliError::work)?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    let failed = |error: std::io::Error| CliError::work(AtFile::new(folder, error));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(crate::args::command(), folder).map_err(failed)
}
