//! `seatmap run`, as typed.

use clap::{ArgGroup, Args};
use seatmap_machine::{CpuList, CpuListError};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("seats").args(["plan", "cpus"]).required(true))]
#[command(group = ArgGroup::new("whom").args(["pid", "command"]).required(true))]
pub struct Run {
    /// The plan: thread k, in order of creation, sits where the plan has task k; - is stdin.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// CPUs in the order of seating: the first for the main thread, the next for the threads in order of creation, over
    /// and over.
    #[arg(long, value_name = "LIST", value_parser = sequence)]
    pub cpus: Option<CpuList>,
    /// Use the list of CPUs once: threads beyond its end are left where the kernel puts them.
    #[arg(long, conflicts_with = "plan")]
    pub once: bool,
    /// Seat the threads of this name (* stands for any text) by tasks of their own: 'worker*=1-3'. With --pid also
    /// tid:4711=0 and pid:4711=0-3.
    #[arg(long = "match", value_name = "NAME=TASKS")]
    pub rules: Vec<String>,
    /// Leave the first N threads without a seat: the service threads of a runtime.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip: usize,
    /// Seat the threads of a process that runs already, in order of their numbers.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Vec<i32>,
    /// Write the seating as JSON.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Say nothing, unless a thread does not sit where it should.
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// In the order given, repetitions kept.
fn sequence(text: &str) -> Result<CpuList, CpuListError> {
    text.parse()
}
