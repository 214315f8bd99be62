//! Where results go: stdout, or a file that is whole or not there.

use crate::error::{AtFile, CliError};
use std::fs::Permissions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Prints on stdout. That nobody reads it any more ends the program quietly.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(CliError::NobodyListens),
        Err(error) => Err(CliError::work(AtFile { path: "stdout".to_owned(), source: error.into() })),
    }
}

/// Says one line on stderr. That nobody can read it is no failure: the work goes on and the exit code tells.
pub fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "seatmap: {}", visible(line));
}

/// Text of a file or its name without what would break the line or command the terminal.
pub fn visible(text: &str) -> String {
    let one = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(one).collect()
}

/// A destination for a result, checked before the work that makes it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A regular file, replaced as a whole.
    File(PathBuf),
    /// A device or pipe, written as it comes.
    Stream(PathBuf),
}

impl Destination {
    /// What was typed after `-o`, if it can be written.
    ///
    /// # Errors
    /// A file or folder that cannot be written.
    pub fn new(path: &Path) -> Result<Self, CliError> {
        if path == Path::new("-") {
            return Ok(Destination::Stdout);
        }
        let refused = |error: io::Error| CliError::input(AtFile::new(path, error));
        match std::fs::metadata(path) {
            Err(_) if path.as_os_str().as_encoded_bytes().ends_with(b"/") => {
                Err(refused(io::Error::other("there is no such folder, and a file needs a name")))
            }
            Ok(found) if found.is_dir() => Err(refused(io::Error::other("is a folder; give a file's name"))),
            Ok(found) if found.is_file() => {
                std::fs::OpenOptions::new().append(true).open(path).map_err(refused)?;
                Ok(Destination::File(path.to_owned()))
            }
            Ok(_) => Ok(Destination::Stream(path.to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if !folder_of(path).is_dir() {
                    return Err(refused(io::Error::other("its folder does not exist; make it first")));
                }
                tempfile::NamedTempFile::new_in(folder_of(path)).map_err(refused)?;
                Ok(Destination::File(path.to_owned()))
            }
            Err(error) => Err(refused(error)),
        }
    }

    /// Writes the whole text.
    ///
    /// # Errors
    /// What the system says; a file that was there before is then unchanged.
    pub fn write(&self, text: &str) -> Result<(), CliError> {
        match self {
            Destination::Stdout => print(text),
            Destination::Stream(path) => std::fs::write(path, text).map_err(|error| failed(path, error)),
            Destination::File(path) => replace(path, text).map_err(|error| failed(path, error)),
        }
    }
}

/// Where `--html` goes, if it was typed.
///
/// # Errors
/// A file that cannot be written, or a page and JSON both on stdout.
pub fn page(typed: Option<&Path>, json: bool) -> Result<Option<Destination>, CliError> {
    let page = typed.map(Destination::new).transpose()?;
    match json && page == Some(Destination::Stdout) {
        true => Err(CliError::input("--json and --html - both print on stdout; give --html a file's name")),
        false => Ok(page),
    }
}

fn failed(path: &Path, error: io::Error) -> CliError {
    CliError::work(AtFile::new(path, error))
}

/// Writes beside the file and renames, so that readers see the old text or the new. The new file may be read by whom
/// the old one or the umask allows; a temporary file would be its owner's alone.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let permissions = std::fs::metadata(path).map_or(Permissions::from_mode(0o666), |found| found.permissions());
    let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder_of(path))?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_becomes_visible() {
        assert_eq!(visible("a\nb\u{1b}[31m\u{9b}1m Ä"), "a\\nb\\u{1b}[31m\\u{9b}1m Ä");
    }
}
