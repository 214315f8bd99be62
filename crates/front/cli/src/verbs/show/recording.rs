//! A recording of `seatmap top`, as a page.

use crate::args::Show;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::input;
use seatmap_console::output::{self, Destination};
use seatmap_report::html;
use seatmap_watch::recording::Recording;
use std::path::Path;

/// The recording in a file; `None` where it is something else.
pub fn of_file(name: &str) -> Result<Option<Recording>, CliError> {
    let path = Path::new(name);
    // Stdin can be read once only, and belongs to the profiles.
    if name == "-" || !path.is_file() {
        return Ok(None);
    }
    let bytes = input::bytes(path)?;
    if !Recording::is_recording(&bytes) {
        return Ok(None);
    }
    let recording = Recording::read(&String::from_utf8_lossy(&bytes));
    recording.map(Some).map_err(|error| CliError::input(AtFile::new(path, error)))
}

/// Writes the page that replays it.
pub fn show(
    recording: &Recording,
    typed: &Show,
    destination: Option<Destination>,
) -> Result<(), CliError> {
    let Some(destination) = destination.filter(|_| !typed.json) else {
        let wanted =
            "is a recording; 'seatmap show FILE --html PAGE' writes the page that replays it";
        return Err(CliError::input(AtFile::new(Path::new(&typed.machine), wanted)));
    };
    // A recorder that was killed leaves a part of a line; all before it is whole.
    if recording.is_cut_off {
        output::tell(&format!("{}: the last line was cut off and is left out", typed.machine));
    }
    destination.write(&html::replay(recording))?;
    if let Some(path) = typed.html.as_ref().filter(|_| destination != Destination::Stdout) {
        output::tell(&format!("wrote {}", path.display()));
    }
    Ok(())
}
