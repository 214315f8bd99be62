//! The method `c2c`: recordings of perf(1), which knows the sampling events of each processor.

use super::traced::false_sharing;
use super::{Files, attend, ending_of, tell};
use crate::args::{MeansChoice, Observe, ObserveChoice};
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_launch::{Ending, Executable};
use seatmap_observe::{Method, ObserveError, c2c};
use seatmap_os::limited::{self, LimitedError};
use seatmap_os::scratch::Scratch;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// How long perf may take to record nothing. Where counters are passed through to a virtual machine
/// it takes a second.
const TRIAL_LIMIT: Duration = Duration::from_secs(30);

/// The program that records.
const PERF: &str = "perf";

/// Whether this method was asked for, or a recording given.
pub fn is_asked(typed: &Observe) -> Result<bool, CliError> {
    let is_named = typed.method == ObserveChoice::C2c;
    if typed.recording.is_some() && !is_named && typed.method != ObserveChoice::Auto {
        return Err(CliError::input("--recording is for the method c2c"));
    }
    let is_asked = is_named || typed.recording.is_some();
    if is_asked && typed.seconds.is_some() {
        return Err(CliError::input(
            "c2c records a command from its begin to its end; --seconds has no effect on it",
        ));
    }
    if is_asked && (typed.library.is_some() || typed.means != MeansChoice::Best) {
        return Err(CliError::input(
            "c2c is the processor's and perf's; --library and --means have no effect on it",
        ));
    }
    Ok(is_asked)
}

/// Reads the recording that was given, or has one made of the command.
pub fn run(typed: &Observe, files: &Files) -> Result<(), CliError> {
    if let Some(path) = &typed.recording {
        return told(typed, files, path, false);
    }
    if typed.command.is_empty() {
        return Err(CliError::input(
            "c2c observes commands; of a program that runs, 'perf c2c record -o FILE -p PID' makes a recording for \
             --recording FILE",
        ));
    }
    Executable::find(&typed.command).map_err(CliError::input)?;
    let folder = Scratch::new("observe").map_err(CliError::work)?;
    can_record(folder.path())?;
    let path = folder.path().join("perf.data");
    let ending = ending_of(recorded(typed, &path, &Interrupt::listen()?)?);
    let said = told(typed, files, &path, true);
    // A program that failed ends this process as well, and the folder would stay.
    drop(folder);
    match ending {
        Ending::Exited(0) => said,
        ending => ending.leave_alike(),
    }
}

/// Records nothing for a moment: the command does not start where perf cannot see its accesses.
fn can_record(folder: &Path) -> Result<(), CliError> {
    let mut trial = Command::new(PERF);
    trial.args(["c2c", "record", "-o"]).arg(folder.join("trial")).args(["--", "true"]);
    let trial = limited::output("perf c2c record", &mut trial, TRIAL_LIMIT);
    let reason = match trial {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed");
            format!("'perf c2c record' says: {}", output::visible(last.trim()))
        }
        Err(LimitedError::Start { source, .. }) => {
            format!("perf, which records the samples, cannot be started: {source}")
        }
        Err(late @ LimitedError::Late { .. }) => late.to_string(),
    };
    Err(CliError::input(ObserveError::Unavailable { method: Method::C2c, reason }))
}

fn recorded(typed: &Observe, path: &Path, interrupt: &Interrupt) -> Result<ExitStatus, CliError> {
    let mut perf = Command::new(PERF);
    perf.args(["c2c", "record", "-o"]).arg(path).arg("--").args(&typed.command);
    if typed.json || super::to_stdout(typed) {
        perf.stdout(Stdio::from(std::io::stderr()));
    }
    let child = perf.spawn().map_err(CliError::work)?;
    attend(child, false, interrupt).map_err(CliError::work)
}

fn told(typed: &Observe, files: &Files, path: &Path, is_command: bool) -> Result<(), CliError> {
    let file = File::open(path).map_err(|error| CliError::input(AtFile::new(path, error)))?;
    let sampled = c2c::read(BufReader::new(file))
        .map_err(|error| CliError::input(AtFile::new(path, error)))?;
    tell(typed, files, &sampled.observation, is_command)?;
    false_sharing(&sampled.observation, &sampled.lines).iter().for_each(|line| output::tell(line));
    Ok(())
}
