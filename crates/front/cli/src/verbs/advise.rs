//! `seatmap advise`.

mod meant;

use crate::args::Advise;
use seatmap_advise::AdviceProgress;
use seatmap_advise::request::LOOK;
use seatmap_console::bar::Bars;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::output;
use seatmap_report::advise;
use std::cell::RefCell;

pub fn run(typed: &Advise) -> Result<(), CliError> {
    let outputs = typed.forms.outputs(None)?;
    let request = meant::request(typed, outputs.on_stdout().is_some())?;
    let interrupt = StopFlag::listen()?;
    let bars = RefCell::default();
    let run = request.run(&|| interrupt.is_raised(), &|step| tell(&bars, step));
    bars.borrow_mut().clear();
    let mut run = run?;
    let shown = outputs.show(&run.advice, &advise::page(&run.advice));
    if run.runs_on() {
        output::tell("the command continues to run; Ctrl-C ends it");
    }
    // The command runs to its end even without a reader.
    run.wait(&|| interrupt.is_raised()).map_err(CliError::work)?;
    shown
}

fn tell(bars: &RefCell<Bars>, step: AdviceProgress) {
    match step {
        AdviceProgress::Looking => bars.borrow_mut().wait("observing", Some(LOOK)),
        AdviceProgress::Trying(percent) => bars.borrow_mut().show("trying seats", percent, 100),
        AdviceProgress::LeftChanged(mask) => output::tell(mask),
    }
}
