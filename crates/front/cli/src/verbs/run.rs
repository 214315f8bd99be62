//! `seatmap run`.

mod auto;
mod meant;
mod page;

use clap::{ArgGroup, Args, ValueEnum};
use meant::Meant;
use page::{SeatingOutputs, Voice};
use seatmap_console::time::time;
use seatmap_console::{CliError, CliResult, choice, living, output, time_in, time_within};
use seatmap_launch::share::SoleWork;
use seatmap_launch::{Executable, MemoryWish, ReturnsAt, asks, request};
use seatmap_observe::SubjectCommand;
use seatmap_trial::live::WorkMetric;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use page::{remark, show, warn_of_settings, write};

#[derive(Args)]
#[command(
    group = ArgGroup::new("seats")
        .args(["plan", "cpus", "rules", "move_pages", "auto", "replay", "fit"])
        .required(true)
        .multiple(true)
)]
#[command(override_usage = "\
    seatmap run [OPTIONS] SEATS [--] COMMAND [ARGUMENT]...
       seatmap run [OPTIONS] SEATS --pid PID
    SEATS: --cpus LIST, --plan FILE, --match NAME=SEATS, --auto, or --fit")]
#[command(group = ArgGroup::new("whom").args(["pid", "command", "replay"]).required(true))]
pub struct RunArgs {
    /// The plan: thread k, in order of creation, gets the seat of task k; - is stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "cpus")]
    plan: Option<PathBuf>,
    /// Seats in order of thread creation, the main thread first. A seat is a CPU or a set: core:3,
    /// l3:* (one seat per L3), kind:performance.
    ///
    /// If there are more threads than seats, the list repeats. 0-3,8 are five seats; sets are
    /// cpus:14-15, core:3, l3:0, numa:1 and package:0.
    ///
    /// In a range or *, seats used by other runs are taken last.
    #[arg(short = 'c', long, value_name = "LIST")]
    cpus: Option<String>,
    /// If a word of --cpus distinguishes no CPUs here, take all of them, and say so.
    #[arg(long, requires = "cpus")]
    or_all: bool,
    /// Find seats while the program runs: observe it, try seats in alternating periods, and keep
    /// them only if the program does more work.
    #[arg(long, conflicts_with_all = ["plan", "cpus", "rules", "move_pages"])]
    auto: bool,
    /// Show the program the CPUs that it gets under its mask and quotas, or N.
    ///
    /// By settings of known runtimes, a mask until its threads stand still, and private mounts over
    /// the lists of CPUs and the quotas. Nothing changes for other programs.
    #[arg(long, value_name = "N", require_equals = true, num_args = 0..=1,
          conflicts_with_all = ["pid", "auto", "move_pages"])]
    fit: Option<Option<usize>>,
    /// Widen each seat to all CPUs of its cache; the kernel chooses among them.
    #[arg(long, conflicts_with_all = ["rules", "move_pages"])]
    soft: bool,
    #[command(flatten)]
    pub live: AutoOptions,
    /// Use the list once: further threads get no seat; with --pid they keep their CPUs.
    #[arg(long, conflicts_with = "plan")]
    once: bool,
    /// Seat threads by name: 'worker*=1-3', or on a set, 'io*=cpus:14-15'.
    ///
    /// A * matches any text. Threads of a name are counted separately. With --pid also tid:4711=0
    /// and pid:4711=0-3.
    #[arg(long = "match", value_name = "NAME=SEATS")]
    rules: Vec<String>,
    /// Leave the first N threads without a seat, such as a runtime's service threads.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// Seat each thread and process at its creation.
    ///
    /// By default a process keeps all seats until it creates a thread or has lived for a moment, so
    /// that it starts one thread per CPU, and short-lived helpers take no seats.
    #[arg(long)]
    strict: bool,
    /// Start seating when a program with this name is executed (* matches any text), after wrappers
    /// and shims.
    #[arg(long, value_name = "NAME", conflicts_with = "pid")]
    start_at: Option<String>,
    /// When to return: after the program's first process (exit, the default), after the start
    /// (start, or no value), or after all its processes (never). Threads stay seated as long as
    /// they live.
    #[arg(long, value_enum, value_name = "WHEN", require_equals = true, num_args = 0..=1,
          default_value_t = Detach::Exit, default_missing_value = "start", conflicts_with = "pid")]
    detach: Detach,
    /// The NUMA policy: local, node:LIST, interleave[:LIST], weighted[:LIST], or plan.
    ///
    /// It is set before the program's first instruction. Weighted requires Linux 6.9; plan uses the
    /// nodes of each thread's task.
    #[arg(long, value_name = "WHERE")]
    memory: Option<MemoryWish>,
    /// Report the NUMA nodes of the pages when a process ends, and every TIME while it runs
    /// [default: 1s].
    #[arg(long, value_name = "TIME", require_equals = true, num_args = 0..=1,
          default_missing_value = "1", value_parser = seconds, conflicts_with = "pid")]
    verify_memory: Option<Duration>,
    /// Allow transparent huge pages and have glibc's malloc use them (prefer, or no value), or
    /// forbid them (never).
    #[arg(long, value_enum, value_name = "WHEN", require_equals = true, num_args = 0..=1,
          default_missing_value = "prefer", conflicts_with = "pid")]
    huge: Option<Huge>,
    /// With --pid, move pages to the NUMA nodes of the threads' CPUs, or to those of --memory
    /// node:LIST.
    #[arg(long, requires = "pid", conflicts_with = "command")]
    move_pages: bool,
    /// Seat the threads of a running process, in order of their thread IDs; with --auto also those
    /// of its children.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Vec<i32>,
    /// With --pid, succeed even if threads are without a seat.
    #[arg(long, requires = "pid", conflicts_with = "command")]
    allow_unseated: bool,
    /// With --pid, also seat process 1 or a kernel thread.
    #[arg(long, requires = "pid", conflicts_with = "command")]
    force: bool,
    /// Accept a plan made for another machine.
    #[arg(long, requires = "plan")]
    any_machine: bool,
    /// Write the seating as JSON, and again when the last process has ended.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the seating as a self-contained HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Omit the table and the remarks, but not lost seats.
    ///
    /// Lines about seats that are refused, lost, too few for the threads, or that slow the program
    /// down are always printed.
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments.
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Long enough for a reading, short enough to wait for.
const PERIOD: &str = "20ms to 1h";

/// How seats are found and compared while the program runs.
#[derive(Args)]
pub struct AutoOptions {
    /// With --auto, the measure of work: instructions, bytes (by read and write), switches (waits
    /// of the program's threads), wakeups (of its threads by each other), or command:LINE, which
    /// prints a growing total. Default: instructions if the processor counts them, else bytes if
    /// the program passes some, else switches and user time.
    #[arg(long, value_name = "METRIC", value_parser = WorkMetric::parse, hide_short_help = true)]
    metric: Option<WorkMetric>,
    /// With --auto, the length of a period [default: 500ms]. A candidate needs twenty.
    #[arg(long, value_name = "TIME", value_parser = time_in(PERIOD), hide_short_help = true)]
    period: Option<Duration>,
    /// With --auto, the time to observe before trying seats [default: 2s].
    #[arg(long, value_name = "TIME", value_parser = time_in(PERIOD), hide_short_help = true)]
    observe_for: Option<Duration>,
    /// With --auto, stop after this time. Seats proven better stay.
    #[arg(long, value_name = "TIME", value_parser = limit, hide_short_help = true)]
    seconds: Option<Duration>,
    /// With --auto, log every event and decision to a file, one per line.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    log: Option<PathBuf>,
    /// Replay a log, and check that its decisions are the same.
    #[arg(long, value_name = "FILE", exclusive = true, hide_short_help = true)]
    pub replay: Option<PathBuf>,
}

impl AutoOptions {
    /// The first given option that applies only to --auto.
    pub fn given_option(&self) -> Option<String> {
        first_given!(self; metric, period, observe_for, seconds, log)
    }
}

choice! {
    /// When the launcher returns.
    Detach for ReturnsAt {
        /// When the program has started.
        Start,
        /// When its first process has ended.
        Exit,
        /// When all its processes have ended.
        Never = ReturnsAt::End,
    }
}

/// Whether the program may use transparent huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Huge {
    /// It may, and malloc asks for them.
    Prefer,
    /// It may not.
    Never,
}

fn limit(text: &str) -> Result<Duration, String> {
    time(text).ok_or_else(|| {
        format!("'{text}' is not a time; write 500ms, 10s or 2m, or a number of seconds")
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(10)..=Duration::from_secs(1_000_000), "10ms to 11d")
}

/// Runs a program, or attaches to a running one, and pins its threads. The program's exit code is
/// this process's.
pub fn run(typed: &RunArgs) -> CliResult {
    if typed.auto || typed.live.replay.is_some() {
        return auto::run(typed);
    }
    let meant = meant::request(typed)?;
    let files = SeatingOutputs::new(typed)?;
    match meant {
        Meant::Attach(request) => page::attached(request.run()?, typed.allow_unseated, &files),
        Meant::Start(request) => {
            warn_of_settings(&request.program, &request.seats, request.options.widens, typed.quiet);
            let program = request.program.path.to_string_lossy().into_owned();
            let mut voice = Voice { files, program, has_plan: typed.plan.is_some() };
            request.run(&mut voice)?.leave_alike()
        }
    }
}

/// Refuses work on all CPUs of this node if several instances of one command would do it at the
/// same time.
pub fn check_sole(work: SoleWork) -> CliResult {
    Ok(request::check_sole(work)?)
}

/// A command to start and watch, with a warning if its program does not run in the command's own
/// processes. `how` examines a program that already runs.
pub fn command_to_watch(
    words: &[OsString],
    how: Option<&'static str>,
    leaves_stdout: bool,
) -> CliResult<SubjectCommand> {
    how.map_or(Ok(()), |how| living::check_not_running(words, how)).map_err(CliError::input)?;
    Executable::find(words).map_err(CliError::input)?;
    let texts: Vec<String> = words.iter().map(|word| word.to_string_lossy().into()).collect();
    output::tell_each(asks::hands_over(&texts));
    Ok(SubjectCommand { words: words.to_vec(), leaves_stdout })
}
