//! `seatmap tune`.

mod meant;
mod spread;

use crate::args::Tune;
use meant::ModelPart;
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::output;
use seatmap_console::outputs::Outputs;
use seatmap_report::{tune, under_way};
use seatmap_trial::tune::model_race::{NumberedJob, TakeTimes};
use seatmap_trial::tune::{RaceEnd, RaceEvent, program_race};

pub fn run(typed: &Tune) -> Result<(), CliError> {
    match &typed.on {
        Some(name) if typed.command.is_empty() => on_model(typed, name),
        None if typed.command.is_empty() => Err(CliError::input(
            "nothing to run: give a COMMAND, or race on a model with --on MODEL --pattern PATTERN",
        )),
        _ => of_program(typed),
    }
}

fn of_program(typed: &Tune) -> Result<(), CliError> {
    let outputs = outputs(typed)?;
    let request = meant::of_program(typed)?;
    let interrupt = StopFlag::listen()?;
    let mut bar = Some(Bar::new("racing"));
    let end = program_race::run(&request, &|| interrupt.is_raised(), &mut |event| {
        tell(&event, &mut bar);
    })?;
    drop(bar);
    show(&outputs, &end)
}

fn on_model(typed: &Tune, name: &str) -> Result<(), CliError> {
    let (race, ranks) = match meant::on_model(typed, name)? {
        ModelPart::Follow(messages, ranks) => return ranks.follow(&messages),
        ModelPart::Lead(race, ranks) => (race, ranks),
    };
    let outputs = outputs(typed)?;
    let interrupt = StopFlag::listen()?;
    let mut over_ranks = ranks.map(|ranks| {
        let messages = &race.messages;
        let interrupt = &interrupt;
        move |jobs: &[NumberedJob], take: &mut TakeTimes<'_>| {
            ranks.lead(messages, jobs, take, interrupt)
        }
    });
    let bar = Bar::new("racing");
    let end = race
        .run(
            over_ranks.as_mut().map(|lead| lead as _),
            &|| interrupt.is_raised(),
            &mut |known, of| bar.show(known, of),
        )
        .map_err(spread::failed)?;
    drop(bar);
    show(&outputs, &end)
}

fn outputs(typed: &Tune) -> Result<Outputs, CliError> {
    typed.forms.outputs(typed.output.as_deref())
}

fn tell(event: &RaceEvent<'_>, bar: &mut Option<Bar>) {
    match event {
        RaceEvent::RunMade { runs, of } => bar.iter().for_each(|bar| bar.show(*runs, *of)),
        RaceEvent::RunsKept { .. } | RaceEvent::RunLost { .. } | RaceEvent::TookLonger { .. } => {
            *bar = None;
        }
        _ => {}
    }
    if let Some(line) = under_way::of_race(event) {
        output::tell(&line);
    }
}

fn show(outputs: &Outputs, end: &RaceEnd) -> Result<(), CliError> {
    outputs.show(&end.tuned, &tune::page(&end.tuned))?;
    match (&outputs.file, &end.plan) {
        (None, _) => Ok(()),
        (Some(file), Ok(plan)) => file.write(plan),
        (Some(_), Err(none)) => {
            output::tell(&none.to_string());
            Ok(())
        }
    }
}
