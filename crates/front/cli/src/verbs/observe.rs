//! `seatmap observe`.

mod page;

use super::run::command_to_watch;
use clap::{ArgGroup, Args, ValueEnum};
use page::ObserveOutputs;
use seatmap_cluster::Rank;
use seatmap_console::waiting::Waiting;
use seatmap_console::{CliError, CliResult, StopFlag, choice, meet, output, time_in};
use seatmap_data::statistics::words::lasting;
use seatmap_launch::Ending;
use seatmap_observe::c2c::perf;
use seatmap_observe::report::JobRank;
use seatmap_observe::request::USUAL_TIME;
use seatmap_observe::{
    Method, ObservationOutcome, ObserveRequest, ReportMethod, ReportRequest, Subject,
    SubjectCommand, TracingMechanism, WatchRequest,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Args)]
#[command(override_usage = "\
    seatmap observe [OPTIONS] [--] COMMAND [ARGUMENT]...
       seatmap observe [OPTIONS] --pid PID | --cgroup PATH | --recording FILE")]
#[command(
    group = ArgGroup::new("observed").args(["pid", "cgroup", "command", "recording"]).required(true)
)]
pub struct ObserveArgs {
    /// The method: auto takes the best allowed one, and names it.
    #[arg(long, value_name = "METHOD", default_value = "auto")]
    method: ObserveChoice,
    /// How to record wakeups: ebpf counts them in the kernel, perf reads a record of each.
    #[arg(long, value_name = "MEANS", default_value = "best")]
    means: MeansChoice,
    /// A recording of 'perf c2c record' or 'perf mem record' for the method c2c; nothing is run.
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// How long to observe: 500ms, 10s, 2m; a plain number is seconds. Default: 10 s, or until the
    /// command ends.
    #[arg(long, value_name = "TIME", value_parser = time_in("100ms to 1d"))]
    seconds: Option<Duration>,
    /// Observe this process and its children, also new ones; may be given several times.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Vec<i32>,
    /// Observe the processes of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    cgroup: Option<String>,
    /// Write the pattern to a file, for 'seatmap place --pattern FILE'; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a pattern for each phase into this folder: phase-0.pattern.json, phase-1.pattern.json,
    /// ... Files of an earlier observation are replaced or removed.
    #[arg(long, value_name = "FOLDER")]
    phases: Option<PathBuf>,
    /// The pattern's name; the program's by default.
    #[arg(long)]
    name: Option<String>,
    /// Print only the pattern as JSON, on stdout. The command's output goes to stderr.
    #[arg(long)]
    json: bool,
    /// The command to run and observe.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// A method of observing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ObserveChoice {
    /// The best allowed method.
    Auto,
    /// Wakeups, by the thread that caused each.
    Wakeups,
    /// Bytes over pipes, unix sockets and TCP on this computer.
    Sockets,
    /// Goroutines handed from thread to thread, in a Go program.
    Goroutines,
    /// Cache lines shared by threads, in a program linked with libseatmap_trace.
    Tsan,
    /// A removed method: the error names the replacement.
    #[value(hide = true)]
    Pages,
    /// Messages between the ranks of an MPI program.
    Mpi,
    /// Cache lines shared by threads, sampled by the processor; perf c2c record runs the command.
    C2c,
}

impl ObserveChoice {
    /// The method; `None` if Seatmap is to choose, or it was removed.
    pub fn method(self) -> Option<Method> {
        match self {
            ObserveChoice::Auto | ObserveChoice::Pages => None,
            ObserveChoice::Wakeups => Some(Method::Wakeups),
            ObserveChoice::Sockets => Some(Method::Sockets),
            ObserveChoice::Goroutines => Some(Method::Goroutines),
            ObserveChoice::Tsan => Some(Method::Tsan),
            ObserveChoice::Mpi => Some(Method::Mpi),
            ObserveChoice::C2c => Some(Method::C2c),
        }
    }
}

choice! {
    /// How wakeups are recorded.
    MeansChoice for TracingMechanism {
        /// The best allowed one.
        Best,
        /// Programs in the kernel.
        Ebpf,
        /// Records of each wakeup.
        Perf,
    }
}

/// Observes the communication between the threads of a program. A command's exit code is this
/// process's.
pub fn run(typed: &ObserveArgs) -> CliResult {
    let page = ObserveOutputs::new(typed)?;
    let request = request(typed)?;
    // Ctrl-C kills the reading of a recording, but ends an observation regularly.
    let interrupt = typed.recording.is_none().then(StopFlag::listen).transpose()?;
    let is_raised = || interrupt.as_ref().is_some_and(StopFlag::is_raised);
    let waiting = waiting(typed);
    let observed = request.run(&is_raised);
    drop(waiting);
    let ObservationOutcome { sighting, end } = observed?;
    // The page precedes a command that outlives its observation.
    let shown = sighting
        .map_err(CliError::from)
        .and_then(|sighting| sighting.map_or(Ok(()), |sighting| page.show(&sighting)));
    let ending = end.wait(&is_raised);
    // After the wait, so that the command keeps its parent.
    shown?;
    match ending? {
        Ending::Exited(0) => Ok(()),
        ending => ending.leave_alike(),
    }
}

/// Commands use the terminal themselves.
fn waiting(typed: &ObserveArgs) -> Option<Waiting> {
    if typed.recording.is_some() {
        return Some(Waiting::new("reading the recording", None));
    }
    let Some(program) = typed.command.first() else {
        let time = typed.seconds.unwrap_or(USUAL_TIME);
        return Some(Waiting::new("observing", Some(time.as_secs_f64())));
    };
    let until = typed.seconds.map_or_else(
        || "until it ends".to_owned(),
        |time| format!("for {}", lasting(time.as_secs_f64())),
    );
    output::tell_person(&format!("observing '{}' {until}", program.to_string_lossy()));
    None
}

fn request(typed: &ObserveArgs) -> CliResult<ObserveRequest> {
    refuse_if!(
        typed.method == ObserveChoice::Pages,
        "the method pages was removed: --method auto counts wakeups and bytes through sockets, \
         --method mpi counts MPI messages, and --method tsan sees spinning threads in a \
         program built for it"
    );
    // First, because a recording needs no program.
    if is_c2c(typed)? {
        return recorded(typed);
    }
    let subject = subject(typed)?;
    if !matches!(typed.method, ObserveChoice::Tsan | ObserveChoice::Mpi) {
        return Ok(ObserveRequest::Watch(WatchRequest {
            method: typed.method.method(),
            means: typed.means.into(),
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
fn is_c2c(typed: &ObserveArgs) -> CliResult<bool> {
    let is_named = typed.method == ObserveChoice::C2c;
    refuse_if!(
        typed.recording.is_some() && !is_named && typed.method != ObserveChoice::Auto,
        "--recording needs --method c2c"
    );
    let is_c2c = is_named || typed.recording.is_some();
    refuse_if!(
        is_c2c && typed.seconds.is_some(),
        "c2c records a command from start to end; leave --seconds out"
    );
    refuse_if!(
        is_c2c && typed.means != MeansChoice::Best,
        "c2c always records with perf; leave --means out"
    );
    Ok(is_c2c)
}

fn recorded(typed: &ObserveArgs) -> CliResult<ObserveRequest> {
    if let Some(path) = &typed.recording {
        return Ok(ObserveRequest::Recording(path.clone()));
    }
    refuse_if!(
        typed.command.is_empty(),
        "c2c cannot attach to a running program; record it with 'perf c2c record -o FILE -p \
         PID', and give --recording FILE"
    );
    let command = command(typed)?;
    perf::check()?;
    Ok(ObserveRequest::Record(command))
}

fn subject(typed: &ObserveArgs) -> CliResult<Subject> {
    if !typed.pid.is_empty() {
        return Ok(Subject::Programs(typed.pid.clone()));
    }
    match &typed.cgroup {
        Some(path) => Ok(Subject::Group(path.clone())),
        None => command(typed).map(Subject::Command),
    }
}

fn command(typed: &ObserveArgs) -> CliResult<SubjectCommand> {
    // Stdout is for the document.
    let leaves_stdout = typed.json || typed.output.as_deref() == Some(Path::new("-"));
    command_to_watch(&typed.command, Some("seatmap observe --pid PID"), leaves_stdout)
}

/// The rank of this process, if a launcher started it for each rank.
fn job_rank(typed: &ObserveArgs) -> CliResult<Option<JobRank>> {
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
