//! Completions and manual pages.

use seatmap_console::error::CliError;
use seatmap_console::{completion, manual, output};
use std::path::Path;

/// Completions for a shell, on stdout.
pub fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    output::print(&completion::script(&crate::PROGRAM, shell)?)
}

/// Manual pages into a folder, or the main one on stdout.
pub fn man(folder: Option<&Path>) -> Result<(), CliError> {
    manual::write(crate::args::command(), folder)
}
