//! `seatmap advise`, as typed.

use clap::{ArgGroup, Args};
use seatmap_console::outputs::ResultForms;
use seatmap_console::time::time_within;
use seatmap_trial::live::WorkMetric;
use std::ffi::OsString;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(override_usage = "\
    seatmap advise [OPTIONS] [--] COMMAND [ARGUMENT]...
       seatmap advise [OPTIONS] --pid PID (or --name, --unit, --cgroup)")]
#[command(
    group = ArgGroup::new("advised")
        .args(["pid", "name", "unit", "cgroup", "command"])
        .required(true)
)]
pub struct Advise {
    /// Advise on this process and its children; may be given several times.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Vec<i32>,
    /// Advise on the programs with this name; * matches any text.
    #[arg(long, value_name = "GLOB")]
    pub name: Option<String>,
    /// Advise on the processes of this systemd unit.
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// Advise on the members of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<String>,
    /// Advise for another machine: a bundled machine or a profile's file. The program is examined
    /// here, and no seats are tried.
    #[arg(long, value_name = "MACHINE", conflicts_with = "prove")]
    pub on: Option<String>,
    /// The measure of work that compares seats: command:LINE prints a growing total. Default: bytes
    /// between the program's threads, and between it and its local clients.
    #[arg(long, value_name = "METRIC", value_parser = total)]
    pub metric: Option<WorkMetric>,
    /// The most time to try seats: 10s, 2m; a plain number is seconds. Default: 16 s, with --prove
    /// 60 s.
    #[arg(long, value_name = "TIME", value_parser = trial)]
    pub seconds: Option<Duration>,
    /// Try seats for a minute, even if the examination shows that they hardly matter.
    #[arg(long)]
    pub prove: bool,
    #[command(flatten)]
    pub forms: ResultForms,
    /// The command to run and to advise on. It continues after the advice. With --json its output
    /// goes to stderr.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Waits and switches do not serve: threads on one CPU switch more or less often for the same work.
fn total(text: &str) -> Result<WorkMetric, String> {
    match WorkMetric::parse(text) {
        Ok(metric @ WorkMetric::Command(_)) => Ok(metric),
        _ => Err(format!("'{text}' is not command:LINE, a shell line that prints a growing total")),
    }
}

/// From a round of a few periods to a day.
fn trial(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_secs(1)..=Duration::from_secs(86_400), "1s to 1d")
}
