//! `seatmap observe`.

mod meant;
mod page;

use crate::args::Observe;
use page::Page;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_launch::Ending;
use seatmap_observe::Observed;

/// Observes who talks to whom in a program. A command's exit code is this process's.
pub fn run(typed: &Observe) -> Result<(), CliError> {
    let page = Page::new(typed)?;
    let request = meant::request(typed)?;
    // Ctrl-C ends the reading of a recording, and asks an observation to end.
    let interrupt = typed.recording.is_none().then(Interrupt::listen).transpose()?;
    let Observed { sighting, end } = request.run(&|| is_raised(&interrupt))?;
    // A command that outlives the time of its observation is waited for behind the page.
    let shown = sighting
        .map_err(CliError::from)
        .and_then(|sighting| sighting.map_or(Ok(()), |sighting| page.show(&sighting)));
    let ending = end.wait(&|| is_raised(&interrupt));
    // After the wait: an error of the page must not leave the command running without its parent.
    shown?;
    match ending? {
        Ending::Exited(0) => Ok(()),
        ending => ending.leave_alike(),
    }
}

fn is_raised(interrupt: &Option<Interrupt>) -> bool {
    interrupt.as_ref().is_some_and(Interrupt::is_raised)
}
