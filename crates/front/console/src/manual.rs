//! Manual pages.

use crate::error::CliError;
use crate::output::{self, Destination};
use seatmap_os::scratch::Scratch;
use std::ffi::OsString;
use std::io;
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
    let pages = generated(command).map_err(CliError::work)?;
    std::fs::create_dir_all(folder).map_err(|error| CliError::work_at(folder, error))?;
    // As any other output: a link that another user has put there is not followed.
    pages.iter().try_for_each(|(name, text)| Destination::new(&folder.join(name))?.write(text))
}

/// The pages, each with the name of its file.
fn generated(command: clap::Command) -> io::Result<Vec<(OsString, String)>> {
    // The library follows any link that lies where a page should go.
    let made = Scratch::new("man")?;
    clap_mangen::generate_to(command, made.path())?;
    std::fs::read_dir(made.path())?
        .map(|page| {
            let page = page?;
            Ok((page.file_name(), std::fs::read_to_string(page.path())?))
        })
        .collect()
}
