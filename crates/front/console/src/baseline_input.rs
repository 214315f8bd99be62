//! Reads the good states of units from files and folders.

use crate::error::{AtPath, CliError, CliResult};
use crate::input;
use seatmap_watch::UnitBaselines;
use std::io;
use std::path::{Path, PathBuf};

/// Reads the good states; `None` if `named` is empty.
///
/// # Errors
/// A file cannot be read or is not a seating, a folder has none, or two have the same unit.
pub fn baselines(named: &[PathBuf]) -> CliResult<Option<UnitBaselines>> {
    let mut baselines = UnitBaselines::default();
    for path in named {
        for file in files(path)? {
            input::document(&file, |text| baselines.add(text))?;
        }
    }
    Ok(Some(baselines).filter(|_| !named.is_empty()))
}

/// The file itself, or a folder's `.json` files, by name.
fn files(path: &Path) -> CliResult<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    // Fail on an unreadable entry: otherwise its unit would silently have no good state.
    let mut files = entries(path).at(path)?;
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    if files.is_empty() {
        let problem = "this folder has no .json file; 'seatmap check --all -o FILE' writes one";
        return Err(CliError::at(path, problem));
    }
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}
