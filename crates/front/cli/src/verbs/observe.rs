//! `seatmap observe`.

mod c2c;
mod traced;

use crate::args::{Observe, ObserveChoice};
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output::{self, Destination};
use seatmap_document::shell_file;
use seatmap_launch::{Ending, Executable};
use seatmap_observe::{
    Document, End, Observation, ObserveError, Phase, Session, Subject, whole_run,
};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// How long processes that run already are observed.
const USUAL_TIME: Duration = Duration::from_secs(10);

/// Observes who talks to whom in a program. A command's exit code is this process's.
pub fn run(typed: &Observe) -> Result<(), CliError> {
    let files = Files::new(typed)?;
    if c2c::is_asked(typed)? {
        return c2c::run(typed, &files);
    }
    let subject = subject(typed)?;
    let interrupt = Interrupt::listen()?;
    if traced::is_traced(typed.method) {
        return traced::run(typed, &files, &interrupt);
    }
    let mut session = begin(typed, &subject)?;
    let is_command = session.child.is_some();
    let time = typed.seconds.or((!is_command).then_some(USUAL_TIME));
    let watched = session.watch(time, &|| interrupt.asked());
    let failure = session.failure();
    let (observation, child) = session.finish();
    // A look that failed ends the observation, and what was seen before it is kept.
    let told = if observation.tasks.is_empty() {
        Err(CliError::input("the program ended before anything of it was seen"))
    } else {
        tell(typed, &files, &observation, is_command)
    };
    let ending =
        child.map(|child| attend(child, matches!(watched, Ok(End::Asked)), &interrupt)).transpose();
    told?;
    watched.map_err(failed)?;
    match (ending.map_err(CliError::work)?.map(ending_of), failure) {
        (Some(ending), _) if ending != Ending::Exited(0) => ending.leave_alike(),
        (_, Some(failure)) => Err(CliError::work(format!("nothing was seen: {failure}"))),
        _ => Ok(()),
    }
}

fn begin(typed: &Observe, subject: &Subject) -> Result<Session, CliError> {
    let session = match typed.method {
        ObserveChoice::Pages => {
            Session::begin_pages(&traced::library(typed)?, typed.means.means(), subject, None)
        }
        ObserveChoice::Auto => {
            let library = traced::find_library(typed);
            Session::begin_auto(
                library.as_deref().map_err(Clone::clone),
                typed.means.means(),
                subject,
            )
        }
        choice => Session::begin(choice.method(), typed.means.means(), subject),
    };
    session.map_err(failed)
}

/// The program, where the command line names one that can be observed.
fn subject(typed: &Observe) -> Result<Subject, CliError> {
    if !typed.pid.is_empty() {
        return Ok(Subject::Processes(typed.pid.clone()));
    }
    if let Some(path) = &typed.cgroup {
        return Ok(Subject::Group(path.clone()));
    }
    Executable::find(&typed.command).map_err(CliError::input)?;
    Ok(Subject::Command {
        words: typed.command.clone(),
        leaves_stdout: typed.json || to_stdout(typed),
    })
}

fn to_stdout(typed: &Observe) -> bool {
    typed.output.as_deref() == Some(Path::new("-"))
}

/// Where the patterns go, checked before the program starts.
struct Files {
    pattern: Option<Destination>,
}

impl Files {
    fn new(typed: &Observe) -> Result<Self, CliError> {
        if typed.json && to_stdout(typed) {
            return Err(CliError::input(
                "--json and -o - both print on stdout; give -o a file's name",
            ));
        }
        if let Some(folder) = &typed.phases {
            std::fs::create_dir_all(folder)
                .map_err(|error| CliError::input(AtFile::new(folder, error)))?;
        }
        let pattern = typed.output.as_deref().map(Destination::new).transpose()?;
        Ok(Files { pattern })
    }
}

fn tell(
    typed: &Observe,
    files: &Files,
    observation: &Observation,
    is_command: bool,
) -> Result<(), CliError> {
    let name = name(typed, observation);
    let document = observation.document(&name);
    let written = files
        .pattern
        .as_ref()
        .map_or(Ok(()), |file| file.write(&seatmap_document::written(&document)));
    let phases =
        typed.phases.as_deref().map(|folder| write_phases(folder, observation, &name)).transpose();
    match () {
        () if typed.json => output::json(&document)?,
        () if files.pattern == Some(Destination::Stdout) => {}
        // Where a file could not be written, the user keeps the table at least.
        () => show(
            &(observation.table() + &next_step(typed, written.is_ok(), &phases, &document)),
            is_command,
        )?,
    }
    written.and(phases.map(drop))
}

/// A command has stdout for itself.
fn show(text: &str, is_command: bool) -> Result<(), CliError> {
    if !is_command {
        return output::print(text);
    }
    // A missing reader is not a failure.
    output::tell_text(text);
    Ok(())
}

/// The name that the user gave, or that of the program's first task.
fn name(typed: &Observe, observation: &Observation) -> String {
    let first =
        || observation.tasks.first().map_or("observed".to_owned(), |task| task.name.clone());
    let program = typed.command.first().map(Path::new).and_then(Path::file_name);
    let program = program.map(|name| name.to_string_lossy().into_owned());
    typed.name.clone().or(program).unwrap_or_else(first)
}

fn write_phases(folder: &Path, observation: &Observation, name: &str) -> Result<usize, CliError> {
    let phases: Vec<Phase> = observation.phases();
    for (number, phase) in phases.iter().enumerate() {
        let pattern = observation.pattern_of(phase, &format!("{name}, phase {number}"));
        let path = folder.join(format!("phase-{number}.pattern.json"));
        Destination::new(&path)?.write(&pattern.to_json())?;
    }
    Ok(phases.len())
}

fn next_step(
    typed: &Observe,
    is_written: bool,
    phases: &Result<Option<usize>, CliError>,
    document: &Document,
) -> String {
    let folder =
        typed.phases.as_ref().map(|folder| folder.display().to_string()).unwrap_or_default();
    let count = phases.as_ref().ok().copied().flatten();
    let of_phases = count.map(|count| format!("{count} phases in {}\n", output::visible(&folder)));
    let place = match &typed.output {
        _ if document.pattern.edges.is_empty() || !is_written => String::new(),
        Some(path) => {
            format!("next: seatmap place --pattern {}\n", shell_file(&path.display().to_string()))
        }
        None => "next: -o app.pattern.json keeps the pattern for seatmap place\n".to_owned(),
    };
    of_phases.unwrap_or_default() + &place
}

/// Waits for the command's end.
pub(super) fn attend(
    child: Child,
    is_asked: bool,
    interrupt: &Interrupt,
) -> std::io::Result<ExitStatus> {
    whole_run::attend(child, is_asked, &|| interrupt.asked())
}

pub(super) fn ending_of(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Killed(signal.unwrap_or(libc::SIGKILL)),
    }
}

pub(super) fn failed(error: ObserveError) -> CliError {
    if error.is_input() { CliError::input(error) } else { CliError::work(error) }
}
