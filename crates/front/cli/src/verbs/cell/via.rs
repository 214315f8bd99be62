//! Cells through a controller.

use super::told;
use crate::args::{CellCreate, CellVerb};
use indicatif::ProgressBar;
use seatmap_cell::{CellList, Name};
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_control::{Ask, CellPhase, ControlClient, Create, Heard, Listed, Say};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// Asks the controller for what was typed.
pub fn run(socket: &Path, verb: &CellVerb) -> Result<(), CliError> {
    let mut client = ControlClient::connect(socket)?;
    match verb {
        CellVerb::Create(typed) => create(client, typed),
        CellVerb::Destroy { name, .. } => {
            told_of(ask(&mut client, Ask::Destroy { name: name.clone() })?, false)
        }
        CellVerb::Renew(typed) => {
            let renew = Ask::Renew { name: typed.name.clone(), lease_s: typed.ttl };
            told_of(ask(&mut client, renew)?, typed.json)
        }
        CellVerb::List { json, .. } => told_of(ask(&mut client, Ask::List)?, *json),
        _ => Ok(()),
    }
}

/// Asks, and shows on a terminal how many are before.
fn ask(client: &mut ControlClient, ask: Ask) -> Result<Say, CliError> {
    let bar = ProgressBar::new_spinner();
    let said = client.ask(ask, &mut |before| {
        bar.enable_steady_tick(Duration::from_millis(200));
        bar.set_message(format!("waiting, {before} before"));
    });
    bar.finish_and_clear();
    Ok(said?)
}

fn create(mut client: ControlClient, typed: &CellCreate) -> Result<(), CliError> {
    if typed.profile.is_some() {
        return Err(CliError::input(
            "a controller chooses CPUs without a profile; leave --profile out, or name the CPUs",
        ));
    }
    let said = ask(&mut client, Ask::Create(wanted(typed)))?;
    told_of(said, typed.json)?;
    if typed.queued.hold { hold(client) } else { Ok(()) }
}

fn wanted(typed: &CellCreate) -> Create {
    Create {
        name: typed.name.clone(),
        cpus: typed.cpus.as_ref().map(|list| list.0.clone()),
        count: typed.count.map(NonZeroUsize::get),
        require: typed.require.into(),
        noise_limit: typed.noise,
        is_tested: !typed.untested,
        lease_s: typed.ttl,
        memory_bytes: typed.memory,
        priority: typed.queued.priority,
        takes_turns: typed.queued.turns,
        is_detached: !typed.queued.hold,
        waits: !typed.queued.no_wait,
    }
}

/// Stays connected and prints the controller's messages until interrupted.
fn hold(client: ControlClient) -> Result<(), CliError> {
    let interrupt = Interrupt::listen()?;
    let mut ended = None;
    client.hear_all(&|| interrupt.is_raised(), &mut |heard| {
        match heard {
            Heard::Said(say) => ended = message(say),
            Heard::Stopped(stopped) => output::tell(&stopped.to_string()),
        }
        if ended.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    ended.map_or(Ok(()), |name| Err(CliError::work(format!("the cell '{name}' has ended"))))
}

/// Prints a message; the name of the cell that has ended, where it says so.
fn message(say: Say) -> Option<Name> {
    match say {
        Say::Damaged { name, faults } if faults.is_empty() => {
            output::tell(&format!("{name}: as it was made"))
        }
        Say::Damaged { name, faults } => {
            faults.iter().for_each(|fault| output::tell(&format!("{name}: {fault}")))
        }
        Say::Suspended { name } => output::tell(&format!("{name}: its turn is over for now")),
        Say::Resumed { name } => output::tell(&format!("{name}: its turn")),
        Say::Ended { name } => return Some(name),
        _ => {}
    }
    None
}

fn told_of(said: Say, json: bool) -> Result<(), CliError> {
    match said {
        Say::Cell { cell } if json => output::json(&cell),
        Say::Cell { cell } => output::print(&told::cell(&cell)),
        Say::Cells { cells } if json => output::json(&CellList::of(&cells)),
        Say::Cells { cells } => output::print(&cells.iter().map(line).collect::<String>()),
        Say::Done { left } if !left.is_empty() => {
            left.iter().for_each(|left| output::tell(left));
            Err(CliError::work(format!(
                "{} of the cell's changes could not be put back",
                left.len()
            )))
        }
        _ => Ok(()),
    }
}

fn line(listed: &Listed) -> String {
    let cell = listed.cell.as_ref().map(|cell| told::table(std::slice::from_ref(cell)));
    let word = if listed.phase == CellPhase::Waiting {
        "waits"
    } else {
        "suspended: others have their turn"
    };
    let mut text = cell.unwrap_or_else(|| format!("{}  {word}\n", listed.name));
    listed
        .faults
        .iter()
        .for_each(|fault| text += &format!("  wrong: {}\n", output::visible(fault)));
    text
}
