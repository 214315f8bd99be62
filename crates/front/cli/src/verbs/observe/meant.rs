//! Converts a command line into an observation, or a usage error.

use crate::args::{MeansChoice, ObserveArgs, ObserveChoice};
use seatmap_cluster::Rank;
use seatmap_console::error::CliError;
use seatmap_console::{living, meet};
use seatmap_launch::Executable;
use seatmap_observe::c2c::perf;
use seatmap_observe::report::JobRank;
use seatmap_observe::{
    ObserveRequest, ReportMethod, ReportRequest, Subject, SubjectCommand, WatchRequest,
};
use std::path::Path;

pub fn request(typed: &ObserveArgs) -> Result<ObserveRequest, CliError> {
    if typed.method == ObserveChoice::Pages {
        return Err(CliError::input(
            "the method pages was removed: --method auto counts wakeups and bytes through sockets, \
             and --method mpi messages of MPI; no method of this version sees threads that spin in \
             a program as it is, and --method tsan sees them in one that is built for it",
        ));
    }
    // First, because a recording needs no program.
    if is_c2c(typed)? {
        return recorded(typed);
    }
    let subject = subject(typed)?;
    if !matches!(typed.method, ObserveChoice::Tsan | ObserveChoice::Mpi) {
        return Ok(ObserveRequest::Watch(WatchRequest {
            method: typed.method.method(),
            means: typed.means.means(),
            subject,
            time: typed.seconds,
        }));
    }
    // Callbacks of the compiler and of MPI report from the program's start.
    let Subject::Command(command) = subject else {
        return Err(CliError::input(
            "a program that runs cannot begin to report on itself; give the command after --",
        ));
    };
    let method = if typed.method == ObserveChoice::Mpi {
        ReportMethod::Messages { rank: job_rank(typed)? }
    } else {
        ReportMethod::Accesses
    };
    Ok(ObserveRequest::Report(ReportRequest { method, command }))
}

/// Whether the method is c2c, or a recording is given.
fn is_c2c(typed: &ObserveArgs) -> Result<bool, CliError> {
    let is_named = typed.method == ObserveChoice::C2c;
    if typed.recording.is_some() && !is_named && typed.method != ObserveChoice::Auto {
        return Err(CliError::input("--recording is for the method c2c"));
    }
    let is_c2c = is_named || typed.recording.is_some();
    if is_c2c && typed.seconds.is_some() {
        return Err(CliError::input(
            "c2c records a command from its begin to its end; --seconds has no effect on it",
        ));
    }
    if is_c2c && typed.means != MeansChoice::Best {
        return Err(CliError::input(
            "c2c is the processor's and perf's; --means has no effect on it",
        ));
    }
    Ok(is_c2c)
}

fn recorded(typed: &ObserveArgs) -> Result<ObserveRequest, CliError> {
    if let Some(path) = &typed.recording {
        return Ok(ObserveRequest::Recording(path.clone()));
    }
    if typed.command.is_empty() {
        return Err(CliError::input(
            "c2c observes commands; of a program that runs, 'perf c2c record -o FILE -p PID' makes \
             a recording for --recording FILE",
        ));
    }
    let command = command(typed)?;
    // The command does not start if perf cannot see its accesses.
    perf::check()?;
    Ok(ObserveRequest::Record(command))
}

fn subject(typed: &ObserveArgs) -> Result<Subject, CliError> {
    if !typed.pid.is_empty() {
        return Ok(Subject::Programs(typed.pid.clone()));
    }
    match &typed.cgroup {
        Some(path) => Ok(Subject::Group(path.clone())),
        None => command(typed).map(Subject::Command),
    }
}

fn command(typed: &ObserveArgs) -> Result<SubjectCommand, CliError> {
    let how = "seatmap observe --pid PID";
    living::check_not_running(&typed.command, how).map_err(CliError::input)?;
    // A misspelt command is an error before the observation.
    Executable::find(&typed.command).map_err(CliError::input)?;
    crate::verbs::run::warn_of_handing_over(&typed.command);
    // Stdout is for the document.
    let leaves_stdout = typed.json || typed.output.as_deref() == Some(Path::new("-"));
    Ok(SubjectCommand { words: typed.command.clone(), leaves_stdout })
}

/// The rank of this process, if a launcher started it for each rank.
fn job_rank(typed: &ObserveArgs) -> Result<Option<JobRank>, CliError> {
    // `mpirun` starts `seatmap observe` once for each rank.
    let Some(Rank { rank, size, job, .. }) = meet::job_rank() else { return Ok(None) };
    let pattern = typed.output.clone().filter(|path| path != Path::new("-"));
    let pattern = pattern.ok_or_else(|| {
        CliError::input(format!(
            "this is rank {rank} of {size} of a job: name a file with -o in a folder that all \
             nodes share, in which the ranks leave their traces"
        ))
    })?;
    Ok(Some(JobRank { rank, size, job, pattern }))
}
