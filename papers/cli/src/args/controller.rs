//! Arguments of `seatmap-papers controller`.

use clap::{Args, Subcommand};
use seatmap_cell::Name;
use seatmap_console::new_cell::{NewCell, lease_s};
use seatmap_controller::Policy;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Controller {
    #[command(subcommand)]
    pub verb: ControllerVerb,
}

#[derive(Debug, Subcommand)]
pub enum ControllerVerb {
    /// Create and destroy cells for clients, in turn, until interrupted.
    Serve(ControllerServe),
    /// Request a cell, and wait for it.
    Create(ControllerCreate),
    /// List cells and waiting requests.
    List {
        #[command(flatten)]
        at: ControllerSocket,
        /// Print them as JSON on stdout, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Destroy one of your own cells; root can destroy any.
    Destroy {
        /// The name in 'seatmap-papers controller list'.
        #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
        name: Name,
        #[command(flatten)]
        at: ControllerSocket,
    },
    /// Change the time at which the lease of one of your own cells ends.
    Renew(ControllerRenew),
    /// Start a program with files and a console from a controller, or without I/O rights.
    Start(ControllerStart),
    /// The process that undoes a cell's changes if its creator dies.
    #[command(hide = true)]
    Guardian {
        /// The name of the cell.
        name: Name,
    },
    /// The process that cleans up if a controller dies.
    #[command(hide = true)]
    Warden,
    /// The process that reads and writes files for a program without I/O rights.
    #[command(hide = true)]
    FileProxy {
        /// The folder that it serves.
        folder: PathBuf,
        /// Whether the program can only read.
        #[arg(long)]
        read_only: bool,
    },
}

/// The address of a controller.
#[derive(Debug, Args)]
pub struct ControllerSocket {
    /// The controller's socket; by default controller.sock in the folder of cell records.
    #[arg(long, value_name = "SOCKET")]
    pub socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ControllerServe {
    #[command(flatten)]
    pub at: ControllerSocket,
    /// Also accept requests from members of this group, not only from root and yourself. The socket
    /// must be in a folder that they can access.
    #[arg(long, value_name = "GROUP", requires = "socket")]
    pub group: Option<String>,
    /// The order of requests: fifo, priority, or fair (the user with the least recent CPU time
    /// first).
    #[arg(long, value_name = "POLICY", default_value = "fifo")]
    pub policy: Policy,
    /// The length of a turn, for cells that take turns: 10s, 1m.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = lease_s)]
    pub slice: u64,
    /// Offer this folder to programs in cells without I/O rights, over 9P at the socket's path plus
    /// .9p.
    #[arg(long, value_name = "FOLDER")]
    pub export: Option<PathBuf>,
    /// Let programs only read that folder.
    #[arg(long, requires = "export")]
    pub export_read_only: bool,
}

#[derive(Debug, Args)]
pub struct ControllerCreate {
    #[command(flatten)]
    pub cell: NewCell,
    #[command(flatten)]
    pub at: ControllerSocket,
    /// Fail if the cell cannot be created immediately.
    #[arg(long)]
    pub no_wait: bool,
    /// The priority, 0 to 9, if the controller's policy is priority.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=9)
    )]
    pub priority: u8,
    /// Take turns with other cells that do: during their turns, all threads of this cell are
    /// stopped.
    #[arg(long)]
    pub turns: bool,
    /// Stay connected; the cell ends with this command.
    #[arg(long)]
    pub hold: bool,
    /// Print the cell as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ControllerRenew {
    /// The name in 'seatmap-papers controller list'.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
    pub name: Name,
    #[command(flatten)]
    pub at: ControllerSocket,
    /// The new lease, from now: 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = lease_s)]
    pub ttl: u64,
    /// Print the cell as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ControllerStart {
    /// Connect the program to files and a console through a controller's 9P socket (default:
    /// controller.sock.9p in the folder of cell records).
    #[arg(long, value_name = "SOCKET", num_args = 0..=1, require_equals = true)]
    pub channel: Option<Option<PathBuf>>,
    /// Remove all I/O rights of the program except reading and writing open files; it must be
    /// statically linked.
    #[arg(long)]
    pub no_io: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
