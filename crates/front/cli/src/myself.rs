//! Seatmap's own command lines: the one place that knows how this program starts itself again.
//!
//! Guardians, launchers and ranks are this program with other words. A change of the words is made
//! here, beside the verbs that read them (`args`), and nowhere else.

use seatmap_cell::{GuardianCommand, Name};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The running binary, also where its file has been replaced since.
const ITSELF: &str = "/proc/self/exe";

/// Undoes a cell; the cell's name follows.
pub fn cell_guardian() -> GuardianCommand {
    guardian("cell")
}

/// Undoes a plan of services; the plan's name follows.
pub fn services_guardian() -> GuardianCommand {
    guardian("services")
}

/// Restores masks after `run --auto` and the trial of `advise`.
pub fn mask_guardian() -> GuardianCommand {
    guardian("masks")
}

/// Restores the kernel's switches after `tune --vary`.
pub fn switch_guardian() -> GuardianCommand {
    guardian("switches")
}

fn guardian(of: &str) -> GuardianCommand {
    GuardianCommand([ITSELF, "guardian", of].map(OsString::from).to_vec())
}

fn with(words: &[&str]) -> Command {
    let mut command = Command::new(ITSELF);
    command.args(words);
    command
}

/// Measures this node's cores and prints the profile.
pub fn quick_measurement() -> Command {
    with(&["measure", "--quick", "--json"])
}

/// Stands before a command that is to run in a cell.
pub fn in_cell(name: &Name) -> Vec<OsString> {
    // Quiet: what a bench prints is its own, and its commands' output is read for the metric.
    [ITSELF, "cell", "run", "--quiet", &name.to_string(), "--"].map(OsString::from).to_vec()
}

/// Stands before a command that is to run on seats; `options` of `run` say which.
pub fn on_seats(options: &[&str]) -> Vec<OsString> {
    let words = [ITSELF, "run", "--quiet"].iter().chain(options).chain(&["--"]);
    words.map(OsString::from).collect()
}

/// Stands before a rank of a job on any node, where `program` is this program's file: the plan has
/// the rank's seat.
pub fn rank_on_seats(program: &Path, plan: &Path) -> Vec<OsString> {
    before_rank(program, &["run", "--quiet", "--plan"], plan)
}

/// Stands before a rank of a job on any node, where `program` is this program's file: the rank's
/// messages go to the other file.
pub fn rank_observed(program: &Path, pattern: &Path) -> Vec<OsString> {
    before_rank(program, &["observe", "--method", "mpi", "-o"], pattern)
}

fn before_rank(program: &Path, options: &[&str], file: &Path) -> Vec<OsString> {
    let options = options.iter().map(Into::into);
    [program.into()].into_iter().chain(options).chain([file.into(), "--".into()]).collect()
}

/// The file of this program, for those who start it on another node.
///
/// # Errors
/// The file has no name any more.
pub fn path() -> io::Result<PathBuf> {
    // A path, as `/proc/self/exe` means another program on another node.
    std::env::current_exe()
}
