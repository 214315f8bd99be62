//! `seatmap observe`.

mod meant;
mod page;

use crate::args::ObserveArgs;
use page::ObserveOutputs;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::output;
use seatmap_console::waiting::Waiting;
use seatmap_data::statistics::words::lasting;
use seatmap_launch::Ending;
use seatmap_observe::ObservationOutcome;
use seatmap_observe::request::USUAL_TIME;

/// Observes the communication between the threads of a program. A command's exit code is this
/// process's.
pub fn run(typed: &ObserveArgs) -> Result<(), CliError> {
    let page = ObserveOutputs::new(typed)?;
    let request = meant::request(typed)?;
    // Ctrl-C kills the reading of a recording, but ends an observation regularly.
    let interrupt = typed.recording.is_none().then(StopFlag::listen).transpose()?;
    let waiting = waiting(typed);
    let observed = request.run(&|| is_raised(&interrupt));
    drop(waiting);
    let ObservationOutcome { sighting, end } = observed?;
    // The page precedes a command that outlives its observation.
    let shown = sighting
        .map_err(CliError::from)
        .and_then(|sighting| sighting.map_or(Ok(()), |sighting| page.show(&sighting)));
    let ending = end.wait(&|| is_raised(&interrupt));
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

fn is_raised(interrupt: &Option<StopFlag>) -> bool {
    interrupt.as_ref().is_some_and(StopFlag::is_raised)
}
