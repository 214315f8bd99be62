//! `seatmap top`, as typed.

use clap::{ArgGroup, Args};
use seatmap_console::time::time_within;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("shown").args(["pid", "cgroup", "name"]))]
pub struct Top {
    /// Show this process; may be given several times. Without a choice, all programs are shown.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Vec<i32>,
    /// Show the members of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<String>,
    /// Show the programs of this name; * stands for any text.
    #[arg(long, value_name = "GLOB")]
    pub name: Option<String>,
    /// The time between two looks: 500ms, 2s; a number alone is seconds.
    #[arg(long, value_name = "TIME", default_value = "1.5", value_parser = pause)]
    pub interval: Duration,
    /// Begin with the view of wakeups (the key W: who wakes whom), and record them too. Needs root,
    /// or CAP_BPF and CAP_PERFMON.
    #[arg(long)]
    pub wakes: bool,
    /// The seats that the threads should have, as for 'seatmap check': a plan, or what 'seatmap run
    /// --report' or 'seatmap check -o' wrote; - is stdin. Without it, the seats that a living
    /// 'seatmap run' shows.
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Accept a plan that was made for another machine.
    #[arg(long, requires = "expect")]
    pub any_machine: bool,
    /// Print one look as JSON on stdout and end: the document of 'seatmap check --json', with the
    /// events a second.
    #[arg(long, conflicts_with_all = ["record", "once"])]
    pub json: bool,
    /// Print one frame as text and end. A stdout that is not a terminal has the same effect.
    #[arg(long, conflicts_with = "record")]
    pub once: bool,
    /// Record to a file as long as this runs; 'seatmap show FILE --html PAGE' replays it. - is
    /// stdout, with --seconds.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Record for so long, without a screen: 30s, 5m; a number alone is seconds.
    #[arg(long, value_name = "TIME", requires = "record", value_parser = lasting)]
    pub seconds: Option<Duration>,
}

fn pause(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(100)..=Duration::from_secs(3600), "100ms to 1h")
}

fn lasting(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(100)..=Duration::from_secs(86_400), "100ms to 1d")
}
