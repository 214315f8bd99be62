//! `seatmap-papers controller start`: sets up a program in a cell, and becomes it.

use super::host;
use crate::args::ControllerStart;
use seatmap_console::error::CliError;
use seatmap_controller::{channel, server};
use seatmap_launch::Executable;
use seatmap_ninep::{Fence, client};
use seatmap_os::interpreter;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Becomes the program, with `exec`: the program keeps this process's terminal, affinity and cell.
pub fn run(typed: &ControllerStart) -> Result<(), CliError> {
    let program = Executable::find(&typed.command).map_err(CliError::input)?;
    let path = program.file();
    let fence = typed.no_io.then(|| fence(path)).transpose()?;
    let channel = connected(typed)?;
    let mut command = Command::new(path);
    command.arg0(&typed.command[0]).args(&typed.command[1..]);
    if let Some(channel) = &channel {
        command.env(client::VARIABLE, channel.as_raw_fd().to_string());
    }
    if let Some(fence) = fence {
        fence.close().map_err(CliError::work)?;
    }
    Err(CliError::work_at(path, command.exec()))
}

/// A fence for a program without a dynamic loader; with one, the program would not reach its first
/// instruction.
fn fence(path: &Path) -> Result<Fence, CliError> {
    let is_static = interpreter::is_static(path).map_err(|error| CliError::at(path, error))?;
    if !is_static {
        return Err(CliError::input(format!(
            "{}: opens libraries before it runs, which --no-io forbids; link it statically, or \
             let it set up its own fence",
            path.display()
        )));
    }
    Fence::before_exec().map_err(CliError::work)
}

/// The connection for files, console and input, which the program inherits.
fn connected(typed: &ControllerStart) -> Result<Option<UnixStream>, CliError> {
    let Some(socket) = &typed.channel else { return Ok(None) };
    let socket = match socket {
        Some(socket) => socket.clone(),
        None => channel::beside(&host()?.run.file(server::SOCKET)),
    };
    let console = std::io::stdout();
    let input = std::io::stdin();
    channel::connect(&socket, [console.as_fd(), input.as_fd()]).map(Some).map_err(CliError::input)
}
