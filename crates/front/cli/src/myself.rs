//! Seatmap's own command lines: the only place that starts this program again.
//!
//! Change these arguments only here and in the verbs that read them (`args`).

use seatmap_cell::{GuardianCommand, Name};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The running binary, even if its file has been replaced since.
const ITSELF: &str = "/proc/self/exe";

/// The guardian of a cell; the cell's name follows.
pub fn cell_guardian() -> GuardianCommand {
    guardian("cell")
}

/// The guardian of a plan of services; the plan's name follows.
pub fn services_guardian() -> GuardianCommand {
    guardian("services")
}

/// The guardian that restores masks after `run --auto` and the trial of `advise`.
pub fn mask_guardian() -> GuardianCommand {
    guardian("masks")
}

/// The guardian that restores the kernel's switches after `tune --vary`.
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

/// The prefix of a command that runs in a cell.
pub fn in_cell(name: &Name) -> Vec<OsString> {
    // Quiet: a bench prints only its own output, and reads its commands' output for the metric.
    [ITSELF, "cell", "run", "--quiet", &name.to_string(), "--"].map(OsString::from).to_vec()
}

/// The words that begin a command on a pretended machine.
pub fn pretending() -> Vec<OsString> {
    [ITSELF, "pretend"].map(OsString::from).to_vec()
}

/// The prefix of a command on seats, which `options` of `run` select.
pub fn on_seats(options: &[&str]) -> Vec<OsString> {
    let words = [ITSELF, "run", "--quiet"].iter().chain(options).chain(&["--"]);
    words.map(OsString::from).collect()
}

/// The prefix that seats a rank on any node by the plan; `program` is this program's file.
pub fn rank_on_seats(program: &Path, plan: &Path) -> Vec<OsString> {
    before_rank(program, &["run", "--quiet", "--plan"], plan)
}

/// The prefix that observes a rank on any node and writes its messages to `pattern`; `program` is
/// this program's file.
pub fn rank_observed(program: &Path, pattern: &Path) -> Vec<OsString> {
    before_rank(program, &["observe", "--method", "mpi", "-o"], pattern)
}

fn before_rank(program: &Path, options: &[&str], file: &Path) -> Vec<OsString> {
    let options = options.iter().map(Into::into);
    [program.into()].into_iter().chain(options).chain([file.into(), "--".into()]).collect()
}

/// The file of this program, to start it on another node.
///
/// # Errors
/// The file was deleted.
pub fn path() -> io::Result<PathBuf> {
    // A path, because `/proc/self/exe` is another program on another node.
    std::env::current_exe()
}
