//! Cells through a controller.

use super::{meant, page};
use crate::args::CellVerb;
use indicatif::ProgressBar;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_control::{ControlClient, Heard, Say};
use seatmap_report::cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// Asks the controller for what was typed.
pub fn run(socket: &Path, verb: &CellVerb) -> Result<(), CliError> {
    let Some((ask, json)) = meant::ask(verb)? else { return Ok(()) };
    let mut client = ControlClient::connect(socket)?;
    let bar = ProgressBar::new_spinner();
    let said = client.ask(ask, &mut |before| {
        bar.enable_steady_tick(Duration::from_millis(200));
        bar.set_message(format!("waiting, {before} before"));
    });
    bar.finish_and_clear();
    page::answer(said?, json)?;
    match verb {
        CellVerb::Create(typed) if typed.queued.hold => hold(client),
        _ => Ok(()),
    }
}

/// Stays connected and prints the controller's messages until interrupted.
fn hold(client: ControlClient) -> Result<(), CliError> {
    let interrupt = Interrupt::listen()?;
    let mut ended = None;
    client.hear_all(&|| interrupt.is_raised(), &mut |heard| {
        match heard {
            Heard::Said(Say::Ended { name }) => {
                ended = Some(name);
                return ControlFlow::Break(());
            }
            Heard::Said(say) => cell::news(&say).iter().for_each(|line| output::tell(line)),
            Heard::Stopped(stopped) => output::tell(&stopped.to_string()),
        }
        ControlFlow::Continue(())
    })?;
    ended.map_or(Ok(()), |name| Err(CliError::work(format!("the cell '{name}' has ended"))))
}
