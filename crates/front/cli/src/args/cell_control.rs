//! `seatmap cell serve`, and what its clients type.

use super::cell::{name, seconds};
use clap::Args;
use seatmap_cell::Name;
use seatmap_control::Policy;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CellServe {
    /// Listen at this socket; by default controller.sock in the folder where cells are remembered.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Take orders from members of this group too, not only from root and oneself; the socket must
    /// be where they can reach it.
    #[arg(long, value_name = "GROUP", requires = "socket")]
    pub group: Option<String>,
    /// The order of jobs: fifo, priority, or fair (whose user has had least of late).
    #[arg(long, value_name = "POLICY", default_value = "fifo")]
    pub policy: Policy,
    /// How long a turn lasts, for cells that take turns: 10s, 1m.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds)]
    pub slice: u64,
    /// Show this folder to programs in cells that have no I/O rights of their own, over 9P at a
    /// socket of the same name and .9p.
    #[arg(long, value_name = "FOLDER")]
    pub export: Option<PathBuf>,
    /// Change nothing in that folder.
    #[arg(long, requires = "export")]
    pub export_read_only: bool,
    /// Print where it listens as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// How a cell is asked of a controller.
#[derive(Debug, Args)]
pub struct CellQueued {
    /// Ask the controller at this socket for it, and wait until it is one's turn.
    #[arg(long, value_name = "SOCKET")]
    pub via: Option<PathBuf>,
    /// Fail where it cannot be made at once.
    #[arg(long, requires = "via")]
    pub no_wait: bool,
    /// How urgent it is, 0 to 9, where the controller's policy is priority.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "via",
        value_parser = clap::value_parser!(u8).range(0..=9)
    )]
    pub priority: u8,
    /// Take turns with others who do: all of its threads are stopped while it is their turn.
    #[arg(long, requires = "via")]
    pub turns: bool,
    /// Stay connected: the cell ends with this command.
    #[arg(long, requires = "via")]
    pub hold: bool,
}

#[derive(Debug, Args)]
pub struct CellRenew {
    /// The name by which 'seatmap cell list' has it.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL, value_parser = name)]
    pub name: Name,
    /// When it ends, from now: 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub ttl: u64,
    /// Through the controller at this socket.
    #[arg(long, value_name = "SOCKET")]
    pub via: Option<PathBuf>,
    /// Print the cell as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A process that turns into a file proxy.
#[derive(Debug, Args)]
pub struct CellFileProxy {
    /// The folder that it serves.
    pub folder: PathBuf,
    /// Whether nothing in it is changed.
    #[arg(long)]
    pub read_only: bool,
}
