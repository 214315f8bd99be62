//! `seatmap-papers workers streams --in-cell`: runs the same command in a temporary cell.

use crate::args::Workers;
use seatmap_console::error::CliError;
use seatmap_os::limited;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
/// Extra time for the streams beyond their duration.
const SLACK: Duration = Duration::from_secs(60);
/// Configurations of streams; the direct one has two turns.
const TURNS: u32 = 6;

/// A cell destroyed on drop, or by its lease if this process is killed.
struct OwnCell {
    seatmap: PathBuf,
    name: String,
}

impl OwnCell {
    fn create(lasting: Duration) -> Result<Self, CliError> {
        let myself = std::env::current_exe().map_err(CliError::work)?;
        let beside = myself.with_file_name("seatmap");
        // Both programs are installed in the same folder; the search path may find another version.
        let seatmap = if beside.exists() { beside } else { "seatmap".into() };
        let name = format!("streams-{}", std::process::id());
        let cell = OwnCell { seatmap, name };
        let ttl = format!("{}s", lasting.as_secs());
        let create = ["create", &cell.name, "--count", "1", "--untested", "--ttl", &ttl];
        cell.call(&create.map(OsString::from), LIMIT)?;
        Ok(cell)
    }

    fn call(&self, arguments: &[OsString], limit: Duration) -> Result<Output, CliError> {
        let mut command = Command::new(&self.seatmap);
        let output = limited::output("seatmap cell", command.arg("cell").args(arguments), limit)
            .map_err(CliError::work)?;
        if output.status.success() {
            return Ok(output);
        }
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(CliError::work(format!("cannot create a cell for the streams: {words}")))
    }
}

impl Drop for OwnCell {
    fn drop(&mut self) {
        // If this fails, the cell ends with its lease.
        let _ = self.call(&["destroy", &self.name].map(OsString::from), LIMIT);
    }
}

/// Runs this program's command line inside a cell, and returns its output.
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
