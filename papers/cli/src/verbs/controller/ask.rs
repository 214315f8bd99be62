//! A client's requests to a controller, and their answers.

use super::{meant, socket};
use crate::args::{ControllerCreate, ControllerRenew, ControllerSocket};
use indicatif::ProgressBar;
use seatmap_cell::Name;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::output;
use seatmap_controller::{ControlClient, ControllerEvent, JobList, RequestKind, Say};
use seatmap_papers_report::controller as words;
use seatmap_report::cell;
use std::ops::ControlFlow;
use std::time::Duration;

pub fn create(typed: &ControllerCreate) -> Result<(), CliError> {
    let ask = RequestKind::Create(meant::create(typed)?);
    let client = answered(&typed.at, ask, typed.json)?;
    if typed.hold { hold(client) } else { Ok(()) }
}

pub fn list(at: &ControllerSocket, json: bool) -> Result<(), CliError> {
    answered(at, RequestKind::List, json).map(drop)
}

pub fn destroy(name: Name, at: &ControllerSocket) -> Result<(), CliError> {
    answered(at, RequestKind::Destroy { name }, false).map(drop)
}

pub fn renew(typed: ControllerRenew) -> Result<(), CliError> {
    let ask = RequestKind::Renew { name: typed.name, lease_s: typed.ttl };
    answered(&typed.at, ask, typed.json).map(drop)
}

fn answered(
    at: &ControllerSocket,
    ask: RequestKind,
    json: bool,
) -> Result<ControlClient, CliError> {
    let mut client = ControlClient::connect(&socket(at)?)?;
    let bar = ProgressBar::new_spinner();
    let said = client.ask(ask, &mut |before| {
        bar.enable_steady_tick(Duration::from_millis(200));
        bar.set_message(format!("waiting, {before} before"));
    });
    bar.finish_and_clear();
    show(said?, json)?;
    Ok(client)
}

fn show(said: Say, json: bool) -> Result<(), CliError> {
    match said {
        Say::Cell { cell } if json => output::json(&cell),
        Say::Cell { cell } => output::print(&cell::text(&cell)),
        Say::Cells { cells } if json => output::json(&JobList::of(&cells)),
        Say::Cells { cells } => output::print(&cells.iter().map(words::listed).collect::<String>()),
        Say::Done { left } if !left.is_empty() => {
            left.iter().for_each(|left| output::tell(left));
            let count = left.len();
            Err(CliError::work(format!("{count} of the cell's changes could not be restored")))
        }
        _ => Ok(()),
    }
}

/// Stays connected and prints the controller's messages until interrupted.
fn hold(client: ControlClient) -> Result<(), CliError> {
    let interrupt = StopFlag::listen()?;
    let mut ended = None;
    client.hear_all(&|| interrupt.is_raised(), &mut |heard| {
        match heard {
            ControllerEvent::Said(Say::Ended { name }) => {
                ended = Some(name);
                return ControlFlow::Break(());
            }
            ControllerEvent::Said(say) => {
                words::news(&say).iter().for_each(|line| output::tell(line))
            }
            ControllerEvent::Stopped(stopped) => output::tell(&stopped.to_string()),
        }
        ControlFlow::Continue(())
    })?;
    ended.map_or(Ok(()), |name| Err(CliError::work(format!("the cell '{name}' has ended"))))
}
