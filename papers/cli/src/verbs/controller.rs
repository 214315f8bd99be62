//! `seatmap-papers controller`: cells for several users, in turn.

mod ask;
mod meant;
mod serve;
mod start;

use crate::args::{ControllerSocket, ControllerVerb};
use seatmap_cell::{CellHost, GuardianCommand, guardian};
use seatmap_console::error::CliError;
use seatmap_controller::{file_proxy, server, warden};
use std::ffi::OsString;
use std::path::PathBuf;

pub fn run(verb: ControllerVerb) -> Result<(), CliError> {
    match verb {
        ControllerVerb::Serve(typed) => serve::run(&typed),
        ControllerVerb::Create(typed) => ask::create(&typed),
        ControllerVerb::List { at, json } => ask::list(&at, json),
        ControllerVerb::Destroy { name, at } => ask::destroy(name, &at),
        ControllerVerb::Renew(typed) => ask::renew(typed),
        ControllerVerb::Start(typed) => start::run(&typed),
        ControllerVerb::Guardian { name } => {
            guardian::serve(&host()?, &name).map_err(CliError::work)
        }
        ControllerVerb::Warden => warden::serve(&host()?).map_err(CliError::work),
        // Needs no folder of records: it runs as the user whose files it serves.
        ControllerVerb::FileProxy { folder, read_only } => {
            file_proxy::serve(&folder, read_only).map_err(CliError::work)
        }
    }
}

fn host() -> Result<CellHost, CliError> {
    CellHost::here(itself("guardian")).map_err(CliError::work)
}

/// A helper process of this program that outlives its parent.
fn itself(part: &str) -> GuardianCommand {
    // The running binary, even if its file was replaced.
    GuardianCommand(["/proc/self/exe", "controller", part].map(OsString::from).to_vec())
}

fn socket(typed: &ControllerSocket) -> Result<PathBuf, CliError> {
    match &typed.socket {
        Some(socket) => Ok(socket.clone()),
        None => Ok(host()?.run.file(server::SOCKET)),
    }
}
