//! Writes a recording line by line, so that it can be replayed even if this program is killed.

use seatmap_console::{AtPath, CliError, CliResult, Destination, output};
use seatmap_os::whole_file;
use seatmap_watch::WatchedPrograms;
use seatmap_watch::live::SeatingFrame;
use seatmap_watch::recording::Transcript;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The destination of a recording. A screen needs stdout for itself.
pub fn destination(path: &Path, has_screen: bool) -> CliResult<Destination> {
    let destination = Destination::new(path)?;
    if has_screen && destination == Destination::Stdout {
        Err(CliError::input(
            "the screen and --record - both need stdout; give --record a file name",
        ))
    } else {
        Ok(destination)
    }
}

pub fn new_file() -> CliResult<Destination> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    Destination::new(&unused(Path::new(""), now))
}

/// Clocks step back, and a key may be pressed twice in a second.
fn unused(folder: &Path, seconds: u64) -> PathBuf {
    let mut path = folder.join(format!("seatmap-recording-{seconds}.jsonl"));
    let mut number = 1;
    while path.symlink_metadata().is_ok() {
        number += 1;
        path = folder.join(format!("seatmap-recording-{seconds}-{number}.jsonl"));
    }
    path
}

pub struct Recorder {
    file: Option<(PathBuf, File)>,
    transcript: Transcript,
}

impl Recorder {
    pub fn begin(destination: Destination) -> CliResult<Self> {
        let file = match destination {
            Destination::Stdout => None,
            Destination::File(path) | Destination::Stream(path) => {
                match whole_file::create(&path) {
                    Ok(file) => Some((path, file)),
                    Err(error) => return Err(CliError::work_at(&path, error)),
                }
            }
        };
        Ok(Recorder { file, transcript: Transcript::default() })
    }

    pub fn name(&self) -> String {
        self.file
            .as_ref()
            .map_or_else(|| "stdout".to_owned(), |(path, _)| path.display().to_string())
    }

    pub fn write(&mut self, watched: &WatchedPrograms, frame: &SeatingFrame) -> CliResult {
        let lines = watched.recorded(frame, &mut self.transcript);
        match &mut self.file {
            None => output::print_exact(&lines),
            Some((path, file)) => file.write_all(lines.as_bytes()).work_at(path),
        }
    }

    pub fn end(self) -> CliResult {
        match self.file {
            // Some file systems report a full disk only now.
            Some((path, file)) if path.is_file() => file.sync_data().work_at(&path),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_does_not_replace_another() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["seatmap-recording-7.jsonl", "seatmap-recording-7-2.jsonl"];
        for name in names {
            let path = unused(folder.path(), 7);
            assert_eq!(path, folder.path().join(name));
            std::fs::write(path, "").unwrap();
        }
    }
}
