//! Runs other programs.

use crate::error::LabError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program and returns its standard output.
///
/// # Errors
/// [`LabError`] if it cannot start or fails.
pub fn output(command: &mut Command) -> Result<String, LabError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|source| LabError::Start { program: program.clone(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let words = words.lines().last().unwrap_or_default().to_owned();
    Err(LabError::Failed { program, words })
}

/// Runs a program and ignores its output.
///
/// # Errors
/// As for [`output`].
pub fn run(command: &mut Command) -> Result<(), LabError> {
    output(command).map(drop)
}

/// Finds a program in the search path.
///
/// # Errors
/// [`LabError::Missing`] if it is not installed.
pub fn find(program: &str) -> Result<PathBuf, LabError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(more)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .ok_or_else(|| LabError::Missing(program.to_owned()))
}

/// Writes a file.
///
/// # Errors
/// [`LabError::File`] if it cannot be written.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), LabError> {
    std::fs::write(path, contents).map_err(LabError::file(path))
}

/// Creates a folder with its parents.
///
/// # Errors
/// [`LabError::File`] if it cannot be created.
pub fn make_folder(path: &Path) -> Result<(), LabError> {
    std::fs::create_dir_all(path).map_err(LabError::file(path))
}
