//! Manual pages.

use crate::error::{AtFile, CliError};
use crate::output;
use seatmap_os::whole_file;
use std::path::Path;

/// Writes the manual pages of a command and its subcommands into a folder, or prints the main one.
///
/// # Errors
/// The folder or a file in it cannot be written.
pub fn write(command: clap::Command, folder: Option<&Path>) -> Result<(), CliError> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).map_err(CliError::work)?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    let failed = |error: std::io::Error| CliError::work(AtFile::new(folder, error));
    std::fs::create_dir_all(folder).map_err(failed)?;
    // The library follows any link that lies where a page should go.
    let made = tempfile::tempdir().map_err(failed)?;
    clap_mangen::generate_to(command, made.path()).map_err(failed)?;
    for page in std::fs::read_dir(made.path()).map_err(failed)? {
        let page = page.map_err(failed)?;
        let text = std::fs::read(page.path()).map_err(failed)?;
        whole_file::replace(&folder.join(page.file_name()), &text).map_err(failed)?;
    }
    Ok(())
}
