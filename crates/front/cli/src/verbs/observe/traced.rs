//! Methods by which the program reports on itself, through `libseatmap_trace`: `tsan` and `mpi`.

mod job;

use super::{Files, attend, ending_of, tell};
use crate::args::{Observe, ObserveChoice};
use crate::myself;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_launch::Ending;
use seatmap_observe::tsan::SharedLine;
use seatmap_observe::{Observation, mpi, tsan};
use seatmap_os::scratch::Scratch;
use seatmap_os::trusted;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The folder for the traces, in the environment of the program.
const VARIABLE: &str = "SEATMAP_TRACE";

/// The library's file.
const LIBRARY: &str = "libseatmap_trace.so";

/// The most lines of falsely shared memory that are told.
const MOST_LINES: usize = 5;

/// Whether the program must report on itself.
pub fn is_traced(choice: ObserveChoice) -> bool {
    matches!(choice, ObserveChoice::Tsan | ObserveChoice::Mpi)
}

/// Runs the command to its end, and reads its reports.
pub fn run(typed: &Observe, files: &Files, interrupt: &Interrupt) -> Result<(), CliError> {
    if typed.command.is_empty() {
        return Err(CliError::input(
            "a program that runs cannot begin to report on itself; give the command after --",
        ));
    }
    if let Some(rank) = job::own_rank(typed.method) {
        return job::run(typed, files, &rank, interrupt);
    }
    let folder = Scratch::new("observe").map_err(CliError::work)?;
    let status = end_of(typed, folder.path(), interrupt)?;
    let observed = observed(typed.method, folder.path());
    let told = observed.and_then(|(observation, lines)| {
        tell(typed, files, &observation, true)?;
        false_sharing(&observation, &lines).iter().for_each(|line| output::tell(line));
        Ok(())
    });
    // A program that failed ends this process as well, and the folder would stay.
    drop(folder);
    match ending_of(status) {
        // The program's own failure is the reason why there are no reports.
        ending if ending != Ending::Exited(0) => ending.leave_alike(),
        _ => told,
    }
}

/// Runs the command, whose traces go into a folder.
fn end_of(typed: &Observe, folder: &Path, interrupt: &Interrupt) -> Result<ExitStatus, CliError> {
    let mut command = Command::new(&typed.command[0]);
    command.args(&typed.command[1..]).env(VARIABLE, folder);
    if typed.method == ObserveChoice::Mpi {
        command.env("LD_PRELOAD", library(typed)?);
    }
    if typed.json || super::to_stdout(typed) {
        command.stdout(Stdio::from(std::io::stderr()));
    }
    let child = command.spawn().map_err(CliError::work)?;
    attend(child, false, interrupt).map_err(CliError::work)
}

fn observed(
    method: ObserveChoice,
    folder: &Path,
) -> Result<(Observation, Vec<SharedLine>), CliError> {
    if method == ObserveChoice::Mpi {
        let read = mpi::read(folder).map(|messages| (messages.observation, Vec::new()));
        return read.map_err(|_| {
            CliError::work(
                "no rank wrote down its messages; is it an MPI program that ends by MPI_Finalize?",
            )
        });
    }
    let read = tsan::read(folder).map(|sharing| (sharing.observation, sharing.lines));
    read.map_err(|_| {
        CliError::work(
            "the program wrote down no accesses; compile it with -fsanitize=thread, and link it without that and with \
             libseatmap_trace.a -ldl",
        )
    })
}

/// The library that was named, or the one beside this program: where it is built, or installed.
pub fn library(typed: &Observe) -> Result<PathBuf, CliError> {
    find_library(typed).map_err(CliError::input)
}

/// The same, with the reason where there is none as text.
pub fn find_library(typed: &Observe) -> Result<PathBuf, String> {
    if let Some(file) = &typed.library {
        return trusted::check_library(file).map_err(|error| {
            if error.is_absent() {
                format!("{}: there is no such file", file.display())
            } else {
                format!("it would run in your program: {error}")
            }
        });
    }
    let own = myself::path().map_err(|error| error.to_string())?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    let places = [folder.join(LIBRARY), folder.join("../lib").join(LIBRARY)];
    let place = places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        format!("{LIBRARY} is not installed beside seatmap; 'make install-lib' does that, and --library names another")
    })?;
    trusted::check_library(&place).map_err(|error| format!("it would run in your program: {error}"))
}

/// The lines that pass between threads which do not use each other's bytes.
pub fn false_sharing(observation: &Observation, lines: &[SharedLine]) -> Vec<String> {
    let name = |task: usize| observation.tasks.get(task).map_or("?", |task| &task.name);
    let told = |line: &SharedLine| {
        format!(
            "false sharing: '{}' writes {} and '{}' uses {}, on one cache line that passed {} times",
            name(line.from),
            line.written,
            name(line.to),
            line.accessed,
            line.falsely
        )
    };
    lines.iter().filter(|line| line.is_false_sharing()).take(MOST_LINES).map(told).collect()
}
