//! `seatmap measure`.

mod meant;
mod page;

use crate::args::MeasureArgs;
use crate::progress::Display;
use page::MeasureOutputs;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::view::ColourChoice;
use seatmap_console::{input, output};
use seatmap_measure::measurement::MeasureNews;
use std::ops::ControlFlow;

pub fn run(typed: MeasureArgs, colour: ColourChoice) -> Result<(), CliError> {
    let page = MeasureOutputs::new(&typed, colour)?;
    let machine = input::machine(&typed.on)?;
    let request = meant::request(&typed, &machine)?;
    // A program that sees a journal may stop its run.
    let interrupt = StopFlag::listen()?;
    let mut listener = Listener { interrupt, colour, display: None };
    let measurement = request.run(&mut |news| listener.hear(news))?;
    page.show(&measurement, &request.source, machine.kind())?;
    // Last, because until now the journal keeps the measurement.
    measurement.forget_journal().map_err(CliError::work)
}

struct Listener {
    interrupt: StopFlag,
    colour: ColourChoice,
    display: Option<Display>,
}

impl Listener {
    fn hear(&mut self, news: MeasureNews<'_>) -> ControlFlow<()> {
        output::tell_each(news.sentence());
        match news {
            MeasureNews::Begins { pus, resolution_ns } => {
                self.display = Some(Display::new(pus, resolution_ns, self.colour));
            }
            MeasureNews::Step(step) => {
                self.display.iter_mut().for_each(|display| display.show(step))
            }
            MeasureNews::Ends => self.display = None,
            _ => {}
        }
        self.interrupt.flow()
    }
}
