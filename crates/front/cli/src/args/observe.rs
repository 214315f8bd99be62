//! `seatmap observe`, as typed.

use clap::{ArgGroup, Args, ValueEnum};
use seatmap_console::time::time_in;
use seatmap_observe::{Method, TracingMechanism};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(override_usage = "\
    seatmap observe [OPTIONS] [--] COMMAND [ARGUMENT]...
       seatmap observe [OPTIONS] --pid PID | --cgroup PATH | --recording FILE")]
#[command(
    group = ArgGroup::new("observed").args(["pid", "cgroup", "command", "recording"]).required(true)
)]
pub struct ObserveArgs {
    /// The method: auto takes the best allowed one, and names it.
    #[arg(long, value_name = "METHOD", default_value = "auto")]
    pub method: ObserveChoice,
    /// How to record wakeups: ebpf counts them in the kernel, perf reads a record of each.
    #[arg(long, value_name = "MEANS", default_value = "best")]
    pub means: MeansChoice,
    /// A recording of 'perf c2c record' or 'perf mem record' for the method c2c; nothing is run.
    #[arg(long, value_name = "FILE")]
    pub recording: Option<PathBuf>,
    /// How long to observe: 500ms, 10s, 2m; a plain number is seconds. Default: 10 s, or until the
    /// command ends.
    #[arg(long, value_name = "TIME", value_parser = time_in("100ms to 1d"))]
    pub seconds: Option<Duration>,
    /// Observe this process and its children, also new ones; may be given several times.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Vec<i32>,
    /// Observe the processes of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<String>,
    /// Write the pattern to a file, for 'seatmap place --pattern FILE'; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a pattern for each phase into this folder: phase-0.pattern.json, phase-1.pattern.json,
    /// ... Files of an earlier observation are replaced or removed.
    #[arg(long, value_name = "FOLDER")]
    pub phases: Option<PathBuf>,
    /// The pattern's name; the program's by default.
    #[arg(long)]
    pub name: Option<String>,
    /// Print only the pattern as JSON, on stdout. The command's output goes to stderr.
    #[arg(long)]
    pub json: bool,
    /// The command to run and observe.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A method of observing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ObserveChoice {
    /// The best allowed method.
    Auto,
    /// Wakeups, by the thread that caused each.
    Wakeups,
    /// Bytes over pipes, unix sockets and TCP on this computer.
    Sockets,
    /// Goroutines handed from thread to thread, in a Go program.
    Goroutines,
    /// Cache lines shared by threads, in a program linked with libseatmap_trace.
    Tsan,
    /// A removed method: the error names the replacement.
    #[value(hide = true)]
    Pages,
    /// Messages between the ranks of an MPI program.
    Mpi,
    /// Cache lines shared by threads, sampled by the processor; perf c2c record runs the command.
    C2c,
}

impl ObserveChoice {
    /// The method; `None` if Seatmap is to choose, or it was removed.
    pub fn method(self) -> Option<Method> {
        match self {
            ObserveChoice::Auto | ObserveChoice::Pages => None,
            ObserveChoice::Wakeups => Some(Method::Wakeups),
            ObserveChoice::Sockets => Some(Method::Sockets),
            ObserveChoice::Goroutines => Some(Method::Goroutines),
            ObserveChoice::Tsan => Some(Method::Tsan),
            ObserveChoice::Mpi => Some(Method::Mpi),
            ObserveChoice::C2c => Some(Method::C2c),
        }
    }
}

/// How wakeups are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MeansChoice {
    /// The best allowed one.
    Best,
    /// Programs in the kernel.
    Ebpf,
    /// Records of each wakeup.
    Perf,
}

impl MeansChoice {
    /// The means.
    pub fn means(self) -> TracingMechanism {
        match self {
            MeansChoice::Best => TracingMechanism::Best,
            MeansChoice::Ebpf => TracingMechanism::Ebpf,
            MeansChoice::Perf => TracingMechanism::Perf,
        }
    }
}
