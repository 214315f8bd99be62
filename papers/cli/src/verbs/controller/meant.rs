//! Converts the command line to requests and controller options, with all usage errors.

use super::{itself, socket};
use crate::args::{ControllerCreate, ControllerServe};
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_controller::{Create, Exported, ServerOptions, peer};
use std::num::NonZeroUsize;
use std::time::Duration;

pub fn create(typed: &ControllerCreate) -> Result<Create, CliError> {
    let cell = &typed.cell;
    cell.check(false)?;
    Ok(Create {
        name: cell.name.clone(),
        cpus: cell.or_all.here(cell.cpus.as_ref())?.map(|found| found.list.0),
        count: cell.count.map(NonZeroUsize::get),
        require: cell.require.into(),
        noise_limit: cell.noise,
        is_tested: !cell.untested,
        lease_s: cell.ttl,
        memory_bytes: cell.memory,
        priority: typed.priority,
        takes_turns: typed.turns,
        is_detached: !typed.hold,
        waits: !typed.no_wait,
    })
}

pub fn server(typed: &ControllerServe) -> Result<ServerOptions, CliError> {
    Ok(ServerOptions {
        group: typed.group.as_deref().map(group).transpose()?,
        socket: socket(&typed.at)?,
        policy: typed.policy,
        slice: Duration::from_secs(typed.slice),
        warden: itself("warden"),
        export: export(typed)?,
    })
}

fn group(name: &str) -> Result<u32, CliError> {
    peer::group(name).ok_or_else(|| {
        CliError::input(format!(
            "there is no group '{}'; /etc/group lists them",
            output::visible(name)
        ))
    })
}

/// The folder to export, as an absolute path, because the file proxy starts in another folder.
fn export(typed: &ControllerServe) -> Result<Option<Exported>, CliError> {
    let Some(folder) = &typed.export else { return Ok(None) };
    Ok(Some(Exported {
        folder: std::path::absolute(folder).map_err(CliError::input)?,
        is_read_only: typed.export_read_only,
        file_proxy: itself("file-proxy"),
    }))
}
