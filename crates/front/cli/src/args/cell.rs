//! `seatmap cell`, as typed.

use super::{CellFileProxy, CellQueued, CellRenew, CellServe};
use clap::{Args, Subcommand, ValueEnum};
use seatmap_cell::{Backend, Name, NameError};
use seatmap_console::time::time;
use seatmap_os::CpuList;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct Cell {
    #[command(subcommand)]
    pub verb: CellVerb,
}

#[derive(Debug, Subcommand)]
pub enum CellVerb {
    /// Make a cell: everybody else leaves its CPUs.
    Create(CellCreate),
    /// List the cells there are.
    List {
        /// Print them as a JSON array on stdout, and nothing else.
        #[arg(long)]
        json: bool,
        /// Ask the controller at this socket, which also tells of those that wait.
        #[arg(long, value_name = "SOCKET")]
        via: Option<PathBuf>,
    },
    /// Show a cell: how far it is closed, what is left on its CPUs, and what is wrong with it.
    Show(CellNamed),
    /// Run a program in a cell, each thread on a CPU of its own.
    Run(CellRun),
    /// Look whether a cell is still what it was made to be; exit code 1 where it is not.
    Verify(CellNamed),
    /// Undo a cell. A program that runs in it is moved out.
    Destroy {
        /// The name by which 'seatmap cell list' has it.
        #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL, value_parser = name)]
        name: Name,
        /// Through the controller at this socket.
        #[arg(long, value_name = "SOCKET")]
        via: Option<PathBuf>,
    },
    /// Have the lease of a cell end at another time.
    Renew(CellRenew),
    /// Make and undo cells for others, in turn, until interrupted.
    Serve(CellServe),
    /// Undo everything that any cell has changed on this host.
    Restore,
    /// The process that puts a cell's changes back when its creator dies.
    #[command(hide = true)]
    Guardian {
        /// The name by which 'seatmap cell list' has it.
        #[arg(value_parser = name)]
        name: Name,
    },
    /// The process that winds up a controller's affairs when it dies.
    #[command(hide = true)]
    Warden,
    /// The process that reads and writes files for a program without I/O rights.
    #[command(hide = true)]
    FileProxy(CellFileProxy),
}

impl CellVerb {
    /// The socket of the controller that is asked, where one is.
    pub fn controller(&self) -> Option<&Path> {
        match self {
            CellVerb::Create(create) => create.queued.via.as_deref(),
            CellVerb::List { via, .. } | CellVerb::Destroy { via, .. } => via.as_deref(),
            CellVerb::Renew(renew) => renew.via.as_deref(),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub struct CellCreate {
    /// The word by which it is known from now on.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL, value_parser = name)]
    pub name: Name,
    /// Its CPUs, such as 2-5,8. With --ttl alone, Seatmap chooses as many as the best core has.
    #[arg(long, value_name = "LIST", value_parser = listed, conflicts_with = "count")]
    pub cpus: Option<CpuList>,
    /// How many CPUs; Seatmap chooses those that suit a cell best.
    #[arg(long, value_name = "N")]
    pub count: Option<NonZeroUsize>,
    /// Choose CPUs that are near one another by the distances in this profile.
    #[arg(long, alias = "near", value_name = "FILE")]
    pub profile: Option<String>,
    /// Choose a CPU for each task of this pattern, where they talk cheapest by the profile.
    #[arg(
        long,
        value_name = "PATTERN",
        requires = "profile",
        conflicts_with_all = ["cpus", "count"]
    )]
    pub pattern: Option<String>,
    /// Give it memory of its own, in whole huge pages: 64M.
    #[arg(long, value_name = "BYTES", default_value = "0", value_parser = bytes)]
    pub memory: u64,
    /// Refuse a cell from which more time is stolen: 2%.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub noise: Option<f64>,
    /// Do not measure its noise, before and after: that takes most of a second.
    #[arg(long, conflicts_with = "noise")]
    pub untested: bool,
    /// Undo it after this time: 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub ttl: Option<u64>,
    /// Refuse a cell that is closed less than this.
    #[arg(long, value_name = "LEVEL", default_value = "affinity")]
    pub require: Level,
    #[command(flatten)]
    pub queued: CellQueued,
    /// Print the cell as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// How far a cell is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// An isolated partition of cgroup version 2.
    V2Partition,
    /// An exclusive cpuset of cgroup version 1.
    V1Exclusive,
    /// Threads moved by their affinity.
    Affinity,
}

impl From<Level> for Backend {
    fn from(level: Level) -> Self {
        match level {
            Level::V2Partition => Backend::V2Partition,
            Level::V1Exclusive => Backend::V1Exclusive,
            Level::Affinity => Backend::Affinity,
        }
    }
}

#[derive(Debug, Args)]
pub struct CellNamed {
    /// The name by which 'seatmap cell list' has it.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL, value_parser = name)]
    pub name: Name,
    /// Print it as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CellRun {
    /// The cell [default: cell]. Directly after -- the command begins, and the cell is the default
    /// one.
    #[arg(value_name = "NAME")]
    pub name: Option<OsString>,
    /// Seat threads by this plan, whose CPUs are the cell's; without it each takes the next CPU,
    /// over and over.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Write the seating, and the noise that the program had, as JSON.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Say nothing, unless a thread does not sit where it should.
    #[arg(short, long)]
    pub quiet: bool,
    /// Connect it to files and a console by a controller's 9P socket (default: controller.sock.9p
    /// where cells are remembered).
    #[arg(long, value_name = "SOCKET", num_args = 0..=1, require_equals = true)]
    pub channel: Option<Option<PathBuf>>,
    /// Take it all I/O rights but reading and writing what is open; it must be linked statically.
    #[arg(long)]
    pub no_io: bool,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A word of a command line that `cell run` cannot use.
#[derive(Debug, thiserror::Error)]
pub enum CellRunError {
    /// The first word names no cell.
    #[error(
        "{0}; write seatmap cell run NAME COMMAND, or -- before the command for the default cell"
    )]
    Name(#[from] NameError),
    /// Only the cell was named.
    #[error(
        "COMMAND is missing: write seatmap cell run NAME COMMAND, or seatmap cell run -- COMMAND"
    )]
    NoCommand,
}

impl CellRun {
    /// The cell and the command, from the words of the whole command line. The parser does not tell
    /// whether `--` stood before the first word; the words do, since everything up to the end is
    /// the command's.
    ///
    /// # Errors
    /// The first word names no cell, or there is no command.
    pub fn cell_and_command(
        &self,
        words: &[OsString],
    ) -> Result<(Name, Vec<OsString>), CellRunError> {
        let Some(first) = &self.name else { return Err(CellRunError::NoCommand) };
        // The cell's place and the command are the last words of the line, so that a `--` stands
        // right before them or nowhere.
        let own_words = self.command.len() + 1;
        let before = words.len().checked_sub(own_words + 1).and_then(|at| words.get(at));
        // `seatmap cell run -- app` puts `app` where the name belongs: the command begins there.
        let is_unnamed = before.is_some_and(|word| word == "--")
            && words.get(words.len() - own_words) == Some(first);
        if is_unnamed {
            let command = std::iter::once(first).chain(&self.command).cloned().collect();
            return Ok((name(seatmap_cell::name::USUAL)?, command));
        }
        let cell = name(&first.to_string_lossy())?;
        if self.command.is_empty() {
            Err(CellRunError::NoCommand)
        } else {
            Ok((cell, self.command.clone()))
        }
    }
}

pub(super) fn name(text: &str) -> Result<Name, NameError> {
    text.parse()
}

/// A list as everywhere. Earlier versions took a word and a number as well.
fn listed(text: &str) -> Result<CpuList, String> {
    match text {
        // The word of an earlier version, with the way to say it now.
        "auto" => Err("leave --cpus out, and Seatmap chooses; --count N says how many".to_owned()),
        text => seatmap_console::values::own_cpus(text),
    }
}

/// A number with one of these units behind it.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
    // A size beyond 64 bits is refused, and not wrapped around.
    number.parse::<u64>().ok()?.checked_mul(factor)
}

fn bytes(text: &str) -> Result<u64, String> {
    // Memory comes in multiples of 1024.
    let units = [("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)];
    with_unit(text, &units).ok_or_else(|| "write a size such as 64M".to_owned())
}

pub(super) fn seconds(text: &str) -> Result<u64, String> {
    // Leases end at whole seconds; 0 would undo the cell while it is made.
    let whole = time(text).filter(|time| !time.is_zero() && time.subsec_nanos() == 0);
    let seconds = whole.map(|time| time.as_secs());
    seconds.ok_or_else(|| {
        format!(
            "'{text}' is not a time of whole seconds; write 30s, 10m or 2h; a number alone is \
             seconds"
        )
    })
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    number
        .filter(|it| (0.0..=100.0).contains(it))
        .ok_or_else(|| "write a percentage such as 2%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_a_list() {
        assert_eq!(listed("3"), Ok(CpuList(vec![3])));
        assert_eq!(listed("1,5"), Ok(CpuList(vec![1, 5])));
        assert!(listed("x").is_err() && listed("1,1").is_err() && listed("").is_err());
        assert!(listed("auto").unwrap_err().contains("leave --cpus out"));
    }

    #[test]
    fn sizes_times_and_shares_have_units() {
        assert_eq!(
            (bytes("64M"), bytes("2048"), seconds("10m")),
            (Ok(64 << 20), Ok(2048), Ok(600))
        );
        assert_eq!((percent("2%"), percent("0.5")), (Ok(2.0), Ok(0.5)));
        for bad in ["", "x", "1y", "-1", "99999999999999999999g"] {
            assert!(bytes(bad).is_err() && seconds(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds("10"), Ok(10));
        assert!(seconds("0.5").is_err() && seconds("0").is_err());
        assert!(percent("101").is_err() && percent("nan").is_err() && percent("%").is_err());
    }
}
