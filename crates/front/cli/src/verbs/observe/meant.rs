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
             --method mpi counts MPI messages, and --method tsan sees spinning threads in a \
             program built for it",
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
            "--method tsan and --method mpi cannot attach to a running program; give a command \
             after --",
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
        return Err(CliError::input("--recording needs --method c2c"));
    }
    let is_c2c = is_named || typed.recording.is_some();
    if is_c2c && typed.seconds.is_some() {
        return Err(CliError::input(
            "c2c records a command from start to end; leave --seconds out",
        ));
    }
    if is_c2c && typed.means != MeansChoice::Best {
        return Err(CliError::input("c2c always records with perf; leave --means out"));
    }
    Ok(is_c2c)
}

fn recorded(typed: &ObserveArgs) -> Result<ObserveRequest, CliError> {
    if let Some(path) = &typed.recording {
        return Ok(ObserveRequest::Recording(path.clone()));
    }
    if typed.command.is_empty() {
        return Err(CliError::input(
            "c2c cannot attach to a running program; record it with 'perf c2c record -o FILE -p \
             PID', and give --recording FILE",
        ));
    }
    let command = command(typed)?;
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
            "this is rank {rank} of {size} of a job: give -o a file in a folder shared by all \
             nodes, where the ranks write their traces"
        ))
    })?;
    Ok(Some(JobRank { rank, size, job, pattern }))
}
