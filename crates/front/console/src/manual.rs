//! Manual pages.

use crate::error::CliError;
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
    generated(command, folder).map_err(|error| CliError::work_at(folder, error))
}

fn generated(command: clap::Command, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    // The library follows any link that lies where a page should go.
    let made = tempfile::tempdir()?;
    clap_mangen::generate_to(command, made.path())?;
    for page in std::fs::read_dir(made.path())? {
        let page = page?;
        let text = std::fs::read(page.path())?;
        whole_file::replace(&folder.join(page.file_name()), &text)?;
    }
    Ok(())
}
