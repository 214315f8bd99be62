//! Runs a command once on its seats and reads the metric.

mod process;
mod taken;

use crate::tune::disturbance::{Disturbance, DisturbanceWatch};
use crate::tune::metric::Metric;
use process::{FinishedRun, RunProcess};
use seatmap_data::document::printed_number;
use seatmap_os::counter::Counter;
use seatmap_os::holder::Holder;
use seatmap_os::quota::Quotas;
use seatmap_os::{CpuSet, Ending, Root, cpu_list, scratch};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use taken::Needed;

/// The reason for missing CPUs if no cell holds them.
pub(crate) const TAKEN: &str = "a cpuset or mask was changed, or a CPU went offline";

/// The part of a failed command's output in its error.
const TAIL_BYTES: u64 = 2000;

/// Longer outputs are searched only at their end.
const SEARCHED_BYTES: u64 = 64 << 20;

/// A command and its seats.
#[derive(Clone, Debug, Default)]
pub struct Contestant {
    /// Its name in the result.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// A program that starts the command, with arguments: `seatmap run --plan FILE --`. May be
    /// empty.
    pub launcher: Vec<OsString>,
    /// The file that adds processes to its control group, if any.
    pub group: Option<PathBuf>,
    /// The CPUs that it may use; by default the caller's.
    pub cpus: Option<CpuSet>,
    /// The CPUs of its cell, if any; this process is outside.
    pub cell: Option<CpuSet>,
    /// The time for leftover processes to end, such as launchers' daemons. Default: 0.
    pub patience: Duration,
}

impl Contestant {
    /// The command line as text.
    pub fn line(&self) -> String {
        let words: Vec<String> =
            self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunReading {
    /// The metric's value.
    pub value: f64,
    /// The duration, including the metric's own command, in seconds.
    pub seconds: f64,
    /// The CPU time taken from it.
    pub disturbance: Disturbance,
}

/// Why a run has no reading.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The program was not found, or the system refused to create a process.
    #[error("'{command}' cannot be started")]
    Start {
        /// The command.
        command: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The command failed.
    #[error(
        "'{command}' {how}{said}{}",
        if .how.is_cut() {
            "; an interrupted run cannot be compared: let it end by itself"
        } else {
            ""
        }
    )]
    Failed {
        /// The command.
        command: String,
        /// Its exit code or signal.
        how: Ending,
        /// The end of its output.
        said: String,
    },
    /// It ended, but left a process running.
    #[error(
        "'{command}' left process {pid} ('{name}') running; Seatmap ended it, because runs must \
         not overlap: keep the program in the foreground"
    )]
    LeftRunning {
        /// The command.
        command: String,
        /// The leftover process.
        pid: i32,
        /// Its name.
        name: String,
    },
    /// It ended, but the leftover processes cannot be listed.
    #[error("'{command}' ended, but its remaining processes cannot be listed")]
    Unseen {
        /// The command.
        command: String,
        /// The kernel's error.
        #[source]
        source: io::Error,
    },
    /// The output has no match.
    #[error(
        "the metric '{metric}' matches no number (digits, with a point for decimals) in the \
         output of '{command}'{said}"
    )]
    NoMatch {
        /// The metric.
        metric: String,
        /// The command.
        command: String,
        /// The end of the output.
        said: String,
    },
    /// The metric's own command failed, so a number that it printed means nothing.
    #[error("the metric '{metric}' {how}")]
    MetricFailed {
        /// The metric.
        metric: String,
        /// Its exit code or signal.
        how: Ending,
    },
    /// The metric's own command did not print a number.
    #[error(
        "the metric '{metric}' printed {printed:?} instead of one number; print digits with a \
         point for decimals, such as 1234.5"
    )]
    NotANumber {
        /// The metric.
        metric: String,
        /// The printed text.
        printed: String,
    },
    /// A CPU was missing at some time: a cpuset or mask changed, or it went offline.
    #[error(
        "'{command}': the run is void, because its {} {}: {}",
        cpu_list::named(.cpus),
        if !*.is_back {
            "cannot be used now"
        } else if .cpus.parse::<u32>().is_ok() {
            "was not always available"
        } else {
            "were not always all available"
        },
        .holder.or(TAKEN)
    )]
    CpusTaken {
        /// The command.
        command: String,
        /// The missing CPUs, or those of the run if all are back.
        cpus: String,
        /// Whether all are back.
        is_back: bool,
        /// The cell that held them, if one did.
        holder: Holder,
    },
    /// The CPUs of the run could not be checked.
    #[error(
        "'{command}': the run is void, because it is unknown whether its {} stayed available",
        cpu_list::named(.cpus)
    )]
    CpusUnseen {
        /// The command.
        command: String,
        /// The CPUs of the run.
        cpus: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The metric's own command did not end in time.
    #[error(
        "the metric '{metric}' was still running after {limit:?}{} and was stopped; it must print \
         a number of the finished run at once (or let the command itself print the number, for \
         'regex:PATTERN')",
        if *.is_whole_time { " (all of --seconds)" } else { "" }
    )]
    MetricLate {
        /// The metric.
        metric: String,
        /// Its time limit.
        limit: Duration,
        /// Whether the limit is the time of all runs together.
        is_whole_time: bool,
    },
    /// A reading is not above 0, so it has no ratio.
    #[error(
        "the metric '{metric}' read {value} from '{command}'; readings are compared as ratios and \
         must be above 0"
    )]
    NotPositive {
        /// The metric.
        metric: String,
        /// The command.
        command: String,
        /// The reading.
        value: f64,
    },
    /// The kernel cannot count this event.
    #[error("'perf:{event}' cannot be counted here{hint}")]
    Counter {
        /// The event.
        event: String,
        /// Advice; may be empty.
        hint: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The output could not be stored or read.
    #[error("cannot store the command's output")]
    Output(#[source] io::Error),
}

/// Runs commands one at a time, each in its own session and without input. It stores their output
/// and ends leftover processes.
#[derive(Clone, Debug)]
pub struct CommandRunner {
    metric: Metric,
    raised: bool,
    metric_limit: Duration,
    is_whole_time: bool,
    quotas: Quotas,
}

/// The metric's command prints a number of a finished run.
const METRIC_LIMIT: Duration = Duration::from_secs(30);

/// The shortest limit: shells start late on a busy computer.
const LEAST_METRIC_LIMIT: Duration = Duration::from_secs(1);

impl CommandRunner {
    /// A runner that reads this metric.
    pub fn new(metric: Metric) -> Self {
        let quotas = Quotas::of_self(&Root::new("/"));
        CommandRunner {
            metric,
            raised: false,
            metric_limit: METRIC_LIMIT,
            is_whole_time: false,
            quotas,
        }
    }

    /// Makes the kernel prefer the command to other sessions (autogroups, sched(7)), if privileged.
    pub fn raised(self, raised: bool) -> Self {
        CommandRunner { raised, ..self }
    }

    /// Sets the time limit of the metric's own command.
    pub fn metric_limit(self, metric_limit: Duration) -> Self {
        CommandRunner { metric_limit, ..self }
    }

    /// Limits the metric's own command to the time of all runs together.
    pub fn within(self, time: Option<Duration>) -> Self {
        match time.map(|time| time.max(LEAST_METRIC_LIMIT)) {
            Some(time) if time < self.metric_limit => {
                CommandRunner { metric_limit: time, is_whole_time: true, ..self }
            }
            _ => self,
        }
    }

    /// The metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Runs a command to its end. `None` if `stop` became true; all its processes have then been
    /// ended.
    ///
    /// # Errors
    /// [`TrialError`]. If a CPU was missing at any time, [`TrialError::CpusTaken`], or
    /// [`TrialError::CpusUnseen`] if the CPUs could not be checked.
    pub fn run(
        &self,
        contestant: &Contestant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<RunReading>, TrialError> {
        Ok(self.printing(contestant, stop)?.map(|(reading, _)| reading))
    }

    /// Runs a command as [`CommandRunner::run`] does, and returns also the last 64 MiB of its
    /// stdout.
    ///
    /// # Errors
    /// As [`CommandRunner::run`].
    pub fn run_with_output(
        &self,
        contestant: &Contestant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(RunReading, String)>, TrialError> {
        let Some((reading, printed)) = self.printing(contestant, stop)? else { return Ok(None) };
        let [out, _] = printed.read(SEARCHED_BYTES).map_err(TrialError::Output)?;
        Ok(Some((reading, out)))
    }

    fn printing(
        &self,
        contestant: &Contestant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(RunReading, Printed)>, TrialError> {
        let needed = Needed::by(contestant).map_err(TrialError::Output)?;
        if needed.are_short() {
            return Err(needed.error(contestant));
        }
        let reading = self.once(contestant, needed.cpus(), &|| stop() || needed.are_short());
        // A CPU may be missing since the last check.
        if needed.are_short() && !stop() { Err(needed.error(contestant)) } else { reading }
    }

    fn once(
        &self,
        contestant: &Contestant,
        cpus: &CpuSet,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(RunReading, Printed)>, TrialError> {
        // A short command ends before the first check.
        if stop() {
            return Ok(None);
        }
        let printed = Printed::new().map_err(TrialError::Output)?;
        // A child inherits only counters that exist at its creation (perf_event_open(2),
        // `inherit`).
        let mut counter = self.counter()?;
        let watch = DisturbanceWatch::begin(&self.quotas);
        let started = RunProcess::new(contestant, self.raised, &printed)
            .map_err(|source| TrialError::Start { command: contestant.line(), source })?;
        let ended = started
            .wait(stop)
            .map_err(|source| TrialError::Unseen { command: contestant.line(), source })?;
        let Some(ended) = ended else { return Ok(None) };
        let disturbance = watch.end(cpus);
        // A figure printed by a failed run means nothing.
        self.check(contestant, &ended, &printed)?;
        let asked = Instant::now();
        let read = match &self.metric {
            Metric::Command(line) => self.by_command(line, contestant, stop)?,
            _ => Some(self.value(contestant, &ended, &printed, counter.as_mut())?),
        };
        let Some(value) = read else { return Ok(None) };
        if value <= 0.0 {
            let metric = self.metric.to_string();
            let command = contestant.line();
            return Err(TrialError::NotPositive { metric, command, value });
        }
        let by_command = if self.metric.has_command() { asked.elapsed() } else { Duration::ZERO };
        let seconds = (ended.elapsed + by_command).as_secs_f64();
        Ok(Some((RunReading { value, seconds, disturbance }, printed)))
    }

    fn counter(&self) -> Result<Option<Counter>, TrialError> {
        let Metric::Counted(event) = &self.metric else { return Ok(None) };
        Counter::of_children(event).map(Some).map_err(|source| {
            let hint = match source.raw_os_error() {
                Some(libc::EACCES | libc::EPERM) => {
                    " (run it as root, or lower /proc/sys/kernel/perf_event_paranoid)"
                }
                _ if event.is_software() => "",
                _ => {
                    " (most virtual machines have no counters; software events such as \
                     task-clock work everywhere)"
                }
            };
            TrialError::Counter { event: event.to_string(), hint, source }
        })
    }

    fn check(
        &self,
        contestant: &Contestant,
        ended: &FinishedRun,
        printed: &Printed,
    ) -> Result<(), TrialError> {
        let command = contestant.line();
        if !ended.ending.is_success() {
            return Err(TrialError::Failed { command, how: ended.ending, said: printed.tail() });
        }
        match &ended.left {
            Some((pid, name)) => {
                Err(TrialError::LeftRunning { command, pid: *pid, name: name.clone() })
            }
            None => Ok(()),
        }
    }

    fn value(
        &self,
        contestant: &Contestant,
        ended: &FinishedRun,
        printed: &Printed,
        counter: Option<&mut Counter>,
    ) -> Result<f64, TrialError> {
        match (&self.metric, counter) {
            (Metric::Time, _) => Ok(ended.elapsed.as_secs_f64()),
            (Metric::CpuTime, _) => Ok(ended.cpu_time.as_secs_f64()),
            (Metric::Printed(pattern), _) => {
                let read = printed.read(SEARCHED_BYTES).map_err(TrialError::Output)?;
                let found =
                    read.iter().filter_map(|text| Metric::last_number(pattern, text)).next();
                found.ok_or_else(|| TrialError::NoMatch {
                    metric: self.metric.to_string(),
                    command: contestant.line(),
                    said: printed.tail(),
                })
            }
            (Metric::Counted(event), Some(counter)) => {
                counter.read().map(|count| count as f64).map_err(|source| TrialError::Counter {
                    event: event.to_string(),
                    hint: "",
                    source,
                })
            }
            (Metric::Command(_), _) => {
                unreachable!("a command's number is asked for by that command")
            }
            (Metric::Counted(_), None) => unreachable!("a metric that is counted has a counter"),
        }
    }

    fn by_command(
        &self,
        line: &str,
        contestant: &Contestant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<f64>, TrialError> {
        let asking = Contestant {
            command: ["/bin/sh", "-c", line].map(Into::into).to_vec(),
            cpus: contestant.cpus.clone(),
            ..Contestant::default()
        };
        let printed = Printed::new().map_err(TrialError::Output)?;
        let started = RunProcess::new(&asking, false, &printed)
            .map_err(|source| TrialError::Start { command: line.to_owned(), source })?;
        let began = Instant::now();
        let ended = started.wait(&|| stop() || began.elapsed() > self.metric_limit);
        let ended =
            ended.map_err(|source| TrialError::Unseen { command: line.to_owned(), source })?;
        let Some(ended) = ended else {
            return if stop() {
                Ok(None)
            } else {
                Err(TrialError::MetricLate {
                    metric: self.metric.to_string(),
                    limit: self.metric_limit,
                    is_whole_time: self.is_whole_time,
                })
            };
        };
        let metric = self.metric.to_string();
        if !ended.ending.is_success() {
            return Err(TrialError::MetricFailed { metric, how: ended.ending });
        }
        let [out, _] = printed.read(SEARCHED_BYTES).map_err(TrialError::Output)?;
        let printed = out.trim().to_owned();
        match printed_number(&printed) {
            Some(read) => Ok(Some(read)),
            None => Err(TrialError::NotANumber { metric, printed }),
        }
    }
}

/// A run's output in unnamed files. A pipe would end only with its last holder.
pub(crate) struct Printed {
    out: File,
    error: File,
}

fn end_of(mut file: &File, most: u64) -> io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    // The last match counts.
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    // The cut may split a character.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Printed {
    fn new() -> io::Result<Self> {
        Ok(Printed { out: scratch::file()?, error: scratch::file()? })
    }

    fn read(&self, most: u64) -> io::Result<[String; 2]> {
        Ok([end_of(&self.out, most)?, end_of(&self.error, most)?])
    }

    /// The last lines of stderr, or else of stdout.
    fn tail(&self) -> String {
        let read = self.read(TAIL_BYTES).unwrap_or_default();
        let said = read.iter().rev().map(|text| text.trim()).find(|text| !text.is_empty());
        said.map_or_else(
            || "; it printed nothing".to_owned(),
            |text| format!("; it printed: {}", last_lines(text)),
        )
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join(" | ")
}

/// The time for a process to end by itself after SIGTERM.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::one_at_a_time;
