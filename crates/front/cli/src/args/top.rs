//! `seatmap top`, as typed.

use clap::{ArgGroup, Args};
use seatmap_console::time::time_in;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("shown").args(["pid", "cgroup", "name"]))]
pub struct Top {
    /// Show this process; may be given several times. Default: all programs.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Vec<i32>,
    /// Show the members of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<String>,
    /// Show the programs with this name; * matches any text.
    #[arg(long, value_name = "GLOB")]
    pub name: Option<String>,
    /// The time between two samples: 500ms, 2s; a plain number is seconds.
    #[arg(long, value_name = "TIME", default_value = "1.5", value_parser = time_in("100ms to 1h"))]
    pub interval: Duration,
    /// Start with the view of wakeups (key W), and record them too. Requires root, or CAP_BPF and
    /// CAP_PERFMON.
    #[arg(long)]
    pub wakes: bool,
    /// The expected seats, as for 'seatmap check': a plan, or the output of 'seatmap run --report'
    /// or 'seatmap check -o'; - is stdin. Default: the seats of a running 'seatmap run'.
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Accept a plan made for another machine.
    #[arg(long, requires = "expect")]
    pub any_machine: bool,
    /// Print one sample as JSON on stdout and exit: the document of 'seatmap check --json', with
    /// events per second.
    #[arg(long, conflicts_with_all = ["record", "once"])]
    pub json: bool,
    /// Print one frame as text and exit; also if stdout is not a terminal.
    #[arg(long, conflicts_with = "record")]
    pub once: bool,
    /// Record to a file while this runs; 'seatmap show FILE --html PAGE' replays it. - is stdout,
    /// with --seconds.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Record for this time, without a screen: 30s, 5m; a plain number is seconds.
    #[arg(long, value_name = "TIME", requires = "record", value_parser = time_in("100ms to 1d"))]
    pub seconds: Option<Duration>,
}
