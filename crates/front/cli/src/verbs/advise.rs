//! `seatmap advise`.

mod meant;

use crate::args::Advise;
use seatmap_advise::Step;
use seatmap_advise::request::LOOK;
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_console::view;
use seatmap_console::waiting::Waiting;
use seatmap_report::advise;
use std::cell::Cell;

/// Looks at one program, and says what to do with it.
pub fn run(typed: &Advise) -> Result<(), CliError> {
    let outputs = typed.forms.outputs(None)?;
    let request = meant::request(typed)?;
    let interrupt = Interrupt::listen()?;
    let look = Cell::new(Some(Waiting::new("looking", Some(LOOK.as_secs_f64()))));
    let trial = Bar::new("trying seats");
    let run = request.run(&|| interrupt.is_raised(), &|step| tell(&look, &trial, step));
    drop(look);
    drop(trial);
    let mut run = run?;
    let has_columns = view::text_columns(&std::io::stdout()).is_some();
    let text = if has_columns { advise::rows_text } else { advise::text };
    let shown = outputs.show(&run.advice, advise::html, text);
    if run.runs_on() {
        output::tell_person("the command runs on, and this ends with it; Ctrl-C ends both");
    }
    // After the page: a command that was started for it is not left alone when nobody reads.
    run.wait(&|| interrupt.is_raised()).map_err(CliError::work)?;
    shown
}

/// The bar of the look is gone before that of the trial is drawn.
fn tell(look: &Cell<Option<Waiting>>, trial: &Bar, step: Step) {
    match step {
        Step::Looking => {}
        Step::Trying(share) => {
            look.set(None);
            trial.show((100.0 * share) as usize, 100);
        }
        Step::LeftChanged(mask) => output::tell(mask),
    }
}
