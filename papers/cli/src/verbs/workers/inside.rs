//! `seatmap-papers workers streams --in-cell`: the same command inside a cell made for it.

use crate::args::Workers;
use seatmap_console::error::CliError;
use seatmap_os::limited;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

/// How long making and undoing a cell may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How long the streams may take beside their own time.
const SLACK: Duration = Duration::from_secs(60);
/// Configurations of streams, of which the direct one has two turns.
const TURNS: u32 = 6;

/// A cell that is undone when this is dropped; its time to live undoes it where this process is
/// killed.
struct OwnCell {
    seatmap: PathBuf,
    name: String,
}

impl OwnCell {
    fn create(lasting: Duration) -> Result<Self, CliError> {
        let myself = std::env::current_exe().map_err(CliError::work)?;
        let beside = myself.with_file_name("seatmap");
        // Both programs are installed side by side; the shell's path may know the other.
        let seatmap = if beside.exists() { beside } else { "seatmap".into() };
        let name = format!("streams-{}", std::process::id());
        let cell = OwnCell { seatmap, name };
        let ttl = format!("{}s", lasting.as_secs());
        let create = ["create", &cell.name, "--count", "1", "--untested", "--ttl", &ttl];
        cell.call(&create.map(OsString::from), LIMIT)?;
        Ok(cell)
    }

    /// Runs `seatmap cell` with these arguments.
    fn call(&self, arguments: &[OsString], limit: Duration) -> Result<Output, CliError> {
        let mut command = Command::new(&self.seatmap);
        let output = limited::output("seatmap cell", command.arg("cell").args(arguments), limit)
            .map_err(CliError::work)?;
        if output.status.success() {
            return Ok(output);
        }
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(CliError::work(format!("a cell for the streams: {words}")))
    }
}

impl Drop for OwnCell {
    fn drop(&mut self) {
        // A cell that cannot be undone now is undone when its time is over.
        let _ = self.call(&["destroy", &self.name].map(OsString::from), LIMIT);
    }
}

/// Runs this program's own command line inside a cell, and prints what it prints.
pub fn run(typed: &Workers) -> Result<Vec<u8>, CliError> {
    let lasting = typed.seconds.unwrap_or(super::LASTING) * TURNS + SLACK;
    let cell = OwnCell::create(lasting + LIMIT)?;
    let myself = std::env::current_exe().map_err(CliError::work)?;
    let own = std::env::args_os().skip(1).filter(|argument| argument != "--in-cell");
    let mut arguments: Vec<OsString> =
        ["run", "--quiet", &cell.name, "--"].map(OsString::from).to_vec();
    arguments.push(myself.into());
    arguments.extend(own);
    Ok(cell.call(&arguments, lasting)?.stdout)
}
