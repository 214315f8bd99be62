//! `seatmap-papers controller`, as typed.

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
    /// Make and undo cells for others, in turn, until interrupted.
    Serve(ControllerServe),
    /// Ask for a cell, and wait until it is one's turn.
    Create(ControllerCreate),
    /// List the cells, and the requests that wait.
    List {
        #[command(flatten)]
        at: ControllerSocket,
        /// Print them as JSON on stdout, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Undo a cell of one's own; root undoes any.
    Destroy {
        /// The name by which 'seatmap-papers controller list' has it.
        #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
        name: Name,
        #[command(flatten)]
        at: ControllerSocket,
    },
    /// Have the lease of a cell of one's own end at another time.
    Renew(ControllerRenew),
    /// Start a program with files and a console of a controller, or without I/O rights.
    Start(ControllerStart),
    /// The process that puts a cell's changes back when its creator dies.
    #[command(hide = true)]
    Guardian {
        /// The name of the cell.
        name: Name,
    },
    /// The process that winds up a controller's affairs when it dies.
    #[command(hide = true)]
    Warden,
    /// The process that reads and writes files for a program without I/O rights.
    #[command(hide = true)]
    FileProxy {
        /// The folder that it serves.
        folder: PathBuf,
        /// Whether nothing in it is changed.
        #[arg(long)]
        read_only: bool,
    },
}

/// The place where a controller listens.
#[derive(Debug, Args)]
pub struct ControllerSocket {
    /// The controller's socket; by default controller.sock in the folder where cells are
    /// remembered.
    #[arg(long, value_name = "SOCKET")]
    pub socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ControllerServe {
    #[command(flatten)]
    pub at: ControllerSocket,
    /// Take orders from members of this group too, not only from root and oneself; the socket must
    /// be where they can reach it.
    #[arg(long, value_name = "GROUP", requires = "socket")]
    pub group: Option<String>,
    /// The order of jobs: fifo, priority, or fair (whose user has had least of late).
    #[arg(long, value_name = "POLICY", default_value = "fifo")]
    pub policy: Policy,
    /// How long a turn lasts, for cells that take turns: 10s, 1m.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = lease_s)]
    pub slice: u64,
    /// Show this folder to programs in cells that have no I/O rights of their own, over 9P at a
    /// socket of the same name and .9p.
    #[arg(long, value_name = "FOLDER")]
    pub export: Option<PathBuf>,
    /// Change nothing in that folder.
    #[arg(long, requires = "export")]
    pub export_read_only: bool,
}

#[derive(Debug, Args)]
pub struct ControllerCreate {
    #[command(flatten)]
    pub cell: NewCell,
    #[command(flatten)]
    pub at: ControllerSocket,
    /// Fail where it cannot be made at once.
    #[arg(long)]
    pub no_wait: bool,
    /// How urgent it is, 0 to 9, where the controller's policy is priority.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=9)
    )]
    pub priority: u8,
    /// Take turns with others who do: all of its threads are stopped while it is their turn.
    #[arg(long)]
    pub turns: bool,
    /// Stay connected: the cell ends with this command.
    #[arg(long)]
    pub hold: bool,
    /// Print the cell as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ControllerRenew {
    /// The name by which 'seatmap-papers controller list' has it.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
    pub name: Name,
    #[command(flatten)]
    pub at: ControllerSocket,
    /// When it ends, from now: 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = lease_s)]
    pub ttl: u64,
    /// Print the cell as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ControllerStart {
    /// Connect it to files and a console by a controller's 9P socket (default: controller.sock.9p
    /// where cells are remembered).
    #[arg(long, value_name = "SOCKET", num_args = 0..=1, require_equals = true)]
    pub channel: Option<Option<PathBuf>>,
    /// Take it all I/O rights but reading and writing what is open; it must be linked statically.
    #[arg(long)]
    pub no_io: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
