//! `seatmap run`, as typed.

use clap::{ArgGroup, Args, ValueEnum};
use seatmap_console::time::{time, time_within};
use seatmap_launch::MemoryWish;
use seatmap_trial::live::WorkMetric;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("seats")
        .args(["plan", "cpus", "rules", "move_pages", "auto", "replay"])
        .required(true)
        .multiple(true)
)]
#[command(override_usage = "\
    seatmap run [OPTIONS] SEATS [--] COMMAND [ARGUMENT]...
       seatmap run [OPTIONS] SEATS --pid PID
    SEATS: --cpus LIST, --plan FILE, --match NAME=SEATS, or --auto")]
#[command(group = ArgGroup::new("whom").args(["pid", "command", "replay"]).required(true))]
pub struct RunArgs {
    /// The plan: thread k, in order of creation, sits where the plan has task k; - is stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "cpus")]
    pub plan: Option<PathBuf>,
    /// Seats in order: the first for the main thread, the next for the threads in order of
    /// creation. A seat is a CPU, or a set: core:3, l3:0, l3:* (one seat for each).
    ///
    /// With more threads than seats the list begins again. 0-3,8 are five seats; sets are
    /// cpus:14-15, core:3, l3:0, numa:1 and package:0.
    ///
    /// Among the members of a range or *, seats that other runs have come last.
    #[arg(short = 'c', long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Find seats while the program runs: observe it, try seats in alternating periods, and keep
    /// them only if the program does more work with them.
    #[arg(long, conflicts_with_all = ["plan", "cpus", "rules", "move_pages"])]
    pub auto: bool,
    /// Give each thread all CPUs of its seat's cache instead of one; the kernel chooses among them.
    #[arg(long, conflicts_with_all = ["rules", "move_pages"])]
    pub soft: bool,
    #[command(flatten)]
    pub live: AutoOptions,
    /// Use the list once: threads beyond its end are left where the kernel puts them; with --pid
    /// they keep the CPUs that they had.
    #[arg(long, conflicts_with = "plan")]
    pub once: bool,
    /// Seat the threads of this name: 'worker*=1-3', or on a set, 'io*=cpus:14-15'.
    ///
    /// A * stands for any text. The threads of a name are counted as tasks of their own. With
    /// --pid also tid:4711=0 and pid:4711=0-3.
    #[arg(long = "match", value_name = "NAME=SEATS")]
    pub rules: Vec<String>,
    /// Leave the first N threads without a seat: the service threads of a runtime.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip: usize,
    /// Seat each thread and process when it is created, and not a moment later.
    ///
    /// Without this a process keeps the whole set until it creates a thread or has lived for a
    /// moment, so that it starts as many threads as it has CPUs, and short-lived helpers take no
    /// seats.
    #[arg(long)]
    pub strict: bool,
    /// Begin to seat when a program of this name is executed (* stands for any text), behind
    /// wrappers and shims.
    #[arg(long, value_name = "NAME", conflicts_with = "pid")]
    pub start_at: Option<String>,
    /// When to return: once the program's first process has ended (exit, the usual), when the
    /// program has started (start, or no value), or when all its processes have ended (never). Its
    /// threads are seated as long as they live.
    #[arg(long, value_enum, value_name = "WHEN", require_equals = true, num_args = 0..=1,
          default_value_t = Detach::Exit, default_missing_value = "start", conflicts_with = "pid")]
    pub detach: Detach,
    /// Where memory comes from: local, node:LIST, interleave[:LIST], weighted[:LIST], or plan.
    ///
    /// It is set before the program's first instruction. Weighted needs Linux 6.9; plan takes for
    /// each thread the nodes that the plan gives to its task.
    #[arg(long, value_name = "WHERE")]
    pub memory: Option<MemoryWish>,
    /// Ask the kernel on which NUMA nodes the pages are: when a process ends, and each TIME while
    /// it runs (1s if left out).
    #[arg(long, value_name = "TIME", require_equals = true, num_args = 0..=1,
          default_missing_value = "1", value_parser = seconds, conflicts_with = "pid")]
    pub verify_memory: Option<Duration>,
    /// Let the program have transparent huge pages and tell glibc's malloc to ask for them (prefer,
    /// or no value), or keep it from them (never).
    #[arg(long, value_enum, value_name = "WHEN", require_equals = true, num_args = 0..=1,
          default_missing_value = "prefer", conflicts_with = "pid")]
    pub huge: Option<Huge>,
    /// With --pid, move the pages to the NUMA nodes where the threads sit, or to those of --memory
    /// node:LIST.
    #[arg(long, requires = "pid", conflicts_with = "command")]
    pub move_pages: bool,
    /// Seat the threads of a process that runs already, in order of their numbers.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Vec<i32>,
    /// With --pid, succeed even if threads have no seat.
    #[arg(long, requires = "pid", conflicts_with = "command")]
    pub allow_unseated: bool,
    /// With --pid, seat even process 1 or a thread of the kernel.
    #[arg(long, requires = "pid", conflicts_with = "command")]
    pub force: bool,
    /// Run a plan that was made for another machine.
    #[arg(long, requires = "plan")]
    pub any_machine: bool,
    /// Write the seating as JSON, and again when what outlives the first process has ended.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the seating as one self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Leave out the table and the remarks, but no line about a seat that was lost.
    ///
    /// Lines about seats that were refused or lost, that cannot hold the threads, or that make the
    /// program do less are printed in any case.
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments.
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

/// The way in which seats are found and judged while the program runs.
#[derive(Debug, Args)]
pub struct AutoOptions {
    /// With --auto, the work by which seats are judged: instructions, switches (waits of the
    /// program's threads), wakeups (of its threads by each other), or command:LINE, which prints a
    /// total that grows with the work done. By default instructions where the processor counts
    /// them, else switches.
    #[arg(long, value_name = "METRIC", value_parser = WorkMetric::parse, hide_short_help = true)]
    pub metric: Option<WorkMetric>,
    /// With --auto, the length of a period, 500ms if left out. A candidate needs twenty of them.
    #[arg(long, value_name = "TIME", value_parser = period, hide_short_help = true)]
    pub period: Option<Duration>,
    /// With --auto, how long to observe before seats are tried, 2s if left out.
    #[arg(long, value_name = "TIME", value_parser = period, hide_short_help = true)]
    pub observe_for: Option<Duration>,
    /// With --auto, stop after this time. Seats that were shown to be better stay.
    #[arg(long, value_name = "TIME", value_parser = limit, hide_short_help = true)]
    pub seconds: Option<Duration>,
    /// With --auto, write every event and decision to a file, a line each.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub log: Option<PathBuf>,
    /// Take the decisions of a log again, and check that they are the same.
    #[arg(long, value_name = "FILE", exclusive = true, hide_short_help = true)]
    pub replay: Option<PathBuf>,
}

impl AutoOptions {
    /// The first option that means something with --auto alone.
    pub fn given_option(&self) -> Option<&'static str> {
        let options = [
            ("--metric", self.metric.is_some()),
            ("--period", self.period.is_some()),
            ("--observe-for", self.observe_for.is_some()),
            ("--seconds", self.seconds.is_some()),
            ("--log", self.log.is_some()),
        ];
        options.into_iter().find_map(|(name, is_there)| is_there.then_some(name))
    }
}

/// When the launcher returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Detach {
    /// When the program has started.
    Start,
    /// When its first process has ended.
    Exit,
    /// When all its processes have ended.
    Never,
}

/// Whether the program may have transparent huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Huge {
    /// It may, and malloc asks for them.
    Prefer,
    /// It may not.
    Never,
}

/// Long enough for a reading, short enough to wait for.
fn period(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(20)..=Duration::from_secs(3600), "20ms to 1h")
}

fn limit(text: &str) -> Result<Duration, String> {
    time(text).ok_or_else(|| {
        format!("'{text}' is not a time; write 500ms, 10s or 2m, or a number of seconds")
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(10)..=Duration::from_secs(1_000_000), "10ms to 11d")
}
