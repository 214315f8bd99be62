//! `seatmap advise`.

mod meant;

use crate::args::Advise;
use seatmap_advise::Step;
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_console::outputs::Outputs;
use seatmap_report::advise;

/// Looks at one program, and says what to do with it.
pub fn run(typed: &Advise) -> Result<(), CliError> {
    let outputs = Outputs::new(typed.json, None, typed.html.as_deref())?;
    let request = meant::request(typed)?;
    let interrupt = Interrupt::listen()?;
    let bar = Bar::new("looking");
    let run = request.run(&|| interrupt.is_raised(), &|step| tell(&bar, step))?;
    drop(bar);
    let shown = outputs.show(&run.advice, advise::html, advise::text);
    // After the page: a command that was started for it is not left alone when nobody reads.
    run.wait(&|| interrupt.is_raised()).map_err(CliError::work)?;
    shown
}

/// The trial takes most of the time, and is the only part whose length is known.
fn tell(bar: &Bar, step: Step) {
    match step {
        Step::Looking => {}
        Step::Trying(share) => bar.show((100.0 * share) as usize, 100),
        Step::LeftChanged(mask) => output::tell(mask),
    }
}
