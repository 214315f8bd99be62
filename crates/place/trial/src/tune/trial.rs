//! Runs a command once on its seats and reads the metric.

mod process;
mod taken;

use crate::tune::disturbance::{Disturbance, DisturbanceWatch};
use crate::tune::metric::Metric;
use process::{FinishedRun, RunProcess};
use regex_lite::Regex;
use seatmap_data::document::{Blame, printed_number};
use seatmap_os::counter::{Counter, CounterEvent};
use seatmap_os::holder::Holder;
use seatmap_os::quota::Quotas;
use seatmap_os::{CpuSet, Root, cpu_list, scratch};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use taken::Needed;

/// The reason for missing CPUs without a cell.
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
    /// A program that starts the command, such as `seatmap run --plan FILE --`. May be empty.
    pub launcher: Vec<OsString>,
    /// The file that adds processes to its control group, if any.
    pub group: Option<PathBuf>,
    /// The CPUs that it may use; by default the caller's.
    pub cpus: Option<CpuSet>,
    /// The CPUs of its cell, if any; this process is outside.
    pub cell: Option<CpuSet>,
    /// Variables that are set for it.
    pub variables: Vec<(String, String)>,
    /// Whether its threads are counted while it runs.
    pub counts_threads: bool,
    /// The time for leftover processes to end, such as launchers' daemons. Default: 0.
    pub patience: Duration,
}

impl Contestant {
    /// A shell command.
    pub fn shell(line: &str) -> Self {
        let command = ["/bin/sh", "-c", line].map(Into::into).to_vec();
        Contestant { command, ..Contestant::default() }
    }

    /// The command line as text.
    pub fn line(&self) -> String {
        texts(&self.command).join(" ")
    }
}

/// The words of a command as texts.
pub fn texts(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunReading {
    /// The metric's value.
    pub value: f64,
    /// The second metric's value, if there is one.
    pub second_value: Option<f64>,
    /// The duration, including the metric's own command, in seconds.
    pub seconds: f64,
    /// The CPU time that it used for each second, in CPUs.
    pub cpus_used: f64,
    /// The most threads of its processes at one look; 0 if they were not counted.
    pub threads: usize,
    /// The CPU time taken from it.
    pub disturbance: Disturbance,
}

/// Why a run has no reading.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// It says nothing about the command: the reason, as a sentence.
    #[error("{0}")]
    NoReading(String),
    /// The system refused something that the run needs: a process, a counter, a file.
    #[error("{0}")]
    System(String, #[source] io::Error),
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
}

seatmap_data::into_failure!(TrialError);

impl Blame for TrialError {
    fn is_input(&self) -> bool {
        false
    }
}

fn system(what: String) -> impl FnOnce(io::Error) -> TrialError {
    |source| TrialError::System(what, source)
}

pub(crate) fn unstored(source: io::Error) -> TrialError {
    TrialError::System("cannot store the command's output".to_owned(), source)
}

/// Runs commands one at a time, each in its own session, without input. Stores their output and
/// ends leftover processes.
#[derive(Clone, Debug)]
pub struct CommandRunner {
    /// The metric.
    pub metric: Metric,
    /// A second metric of the same runs.
    pub second: Option<Metric>,
    /// Whether the kernel prefers the command to other sessions (autogroups, sched(7)), if
    /// privileged.
    pub raised: bool,
    metric_limit: Duration,
    is_whole_time: bool,
    quotas: Quotas,
}

/// The metric's command prints a number of a finished run.
const METRIC_LIMIT: Duration = Duration::from_secs(30);

/// The shortest limit: shells start late on a busy computer.
const LEAST_METRIC_LIMIT: Duration = Duration::from_secs(1);

impl CommandRunner {
    /// Reads this metric. The time of all runs together limits the metric's own command.
    pub fn new(metric: Metric, time: Option<Duration>) -> Self {
        let time = time.map(|time| time.max(LEAST_METRIC_LIMIT));
        let shorter = time.filter(|time| *time < METRIC_LIMIT);
        CommandRunner {
            metric,
            second: None,
            raised: false,
            metric_limit: shorter.unwrap_or(METRIC_LIMIT),
            is_whole_time: shorter.is_some(),
            quotas: Quotas::of_self(&Root::new("/")),
        }
    }

    /// Runs a command to its end. `None` if `stop` became true; all its processes have then ended.
    ///
    /// # Errors
    /// [`TrialError`]. If a CPU was missing at any time, [`TrialError::CpusTaken`].
    pub fn run(
        &self,
        contestant: &Contestant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<RunReading>, TrialError> {
        Ok(self.run_printing(contestant, stop)?.map(|(reading, _)| reading))
    }

    /// As [`CommandRunner::run`], with the command's output.
    ///
    /// # Errors
    /// As [`CommandRunner::run`].
    pub fn run_printing(
        &self,
        contestant: &Contestant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(RunReading, Printed)>, TrialError> {
        let needed = Needed::by(contestant).map_err(unstored)?;
        if needed.are_short() {
            return Err(needed.error(contestant));
        }
        let reading = self.once(contestant, &needed.cpus, &|| stop() || needed.are_short());
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
        let command = contestant.line();
        let printed = Printed::new().map_err(unstored)?;
        // A child inherits only counters that exist at its creation (perf_event_open(2),
        // `inherit`).
        let counter = counter_of(&self.metric)?;
        let second_counter = self.second.as_ref().map(counter_of).transpose()?.flatten();
        let watch = DisturbanceWatch::begin(&self.quotas);
        let ended = finished(&command, contestant, self.raised, &printed, stop)?;
        let Some(ended) = ended else { return Ok(None) };
        let disturbance = watch.end(cpus);
        // A figure printed by a failed run means nothing.
        check(&command, &ended, &printed)?;
        let asked = Instant::now();
        let run = EndedRun { contestant, ended: &ended, printed: &printed, stop };
        let Some(value) = self.read(&self.metric, counter, &run)? else { return Ok(None) };
        let second_value = match &self.second {
            None => None,
            Some(second) => match self.read(second, second_counter, &run)? {
                None => return Ok(None),
                value => value,
            },
        };
        let mut metrics = self.second.iter().chain([&self.metric]);
        let has_command = metrics.any(Metric::has_command);
        let by_command = if has_command { asked.elapsed() } else { Duration::ZERO };
        let reading = RunReading {
            value,
            second_value,
            seconds: (ended.elapsed + by_command).as_secs_f64(),
            cpus_used: ended.cpu_time.div_duration_f64(ended.elapsed),
            threads: ended.threads,
            disturbance,
        };
        Ok(Some((reading, printed)))
    }

    /// `None` if `stop` became true.
    fn read(
        &self,
        metric: &Metric,
        counter: Option<Counter>,
        run: &EndedRun<'_>,
    ) -> Result<Option<f64>, TrialError> {
        let EndedRun { contestant, ended, printed, stop } = run;
        let command = contestant.line();
        let read = match metric {
            Metric::Time => Some(ended.elapsed.as_secs_f64()),
            Metric::CpuTime => Some(ended.cpu_time.as_secs_f64()),
            Metric::Printed(pattern) => Some(printed.last(pattern)?.ok_or_else(|| {
                TrialError::NoReading(format!(
                    "the metric '{metric}' matches no number (digits, with a point for decimals) \
                     in the output of '{command}'{}",
                    printed.tail()
                ))
            })?),
            Metric::Counted(event) => {
                let read = counter.map(|mut counter| counter.read()).transpose();
                read.map_err(system(uncounted(event, "")))?.map(|count| count as f64)
            }
            Metric::Command(line) => self.by_command(metric, line, contestant, stop)?,
        };
        if let Some(value) = read.filter(|value| *value <= 0.0) {
            return Err(TrialError::NoReading(format!(
                "the metric '{metric}' read {value} from '{command}'; readings are compared as \
                 ratios and must be above 0"
            )));
        }
        Ok(read)
    }

    fn by_command(
        &self,
        metric: &Metric,
        line: &str,
        contestant: &Contestant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<f64>, TrialError> {
        let asking = Contestant { cpus: contestant.cpus.clone(), ..Contestant::shell(line) };
        let printed = Printed::new().map_err(unstored)?;
        let began = Instant::now();
        let ended = finished(line, &asking, false, &printed, &|| {
            stop() || began.elapsed() > self.metric_limit
        })?;
        let Some(ended) = ended else {
            if stop() {
                return Ok(None);
            }
            let whole = if self.is_whole_time { " (all of --seconds)" } else { "" };
            return Err(TrialError::NoReading(format!(
                "the metric '{metric}' was still running after {:?}{whole} and was stopped; it \
                 must print a number of the finished run at once (or let the command itself print \
                 the number, for 'regex:PATTERN')",
                self.metric_limit
            )));
        };
        if !ended.ending.is_success() {
            return Err(TrialError::NoReading(format!("the metric '{metric}' {}", ended.ending)));
        }
        let out = printed.stdout()?;
        let out = out.trim();
        printed_number(out).map(Some).ok_or_else(|| {
            TrialError::NoReading(format!(
                "the metric '{metric}' printed {out:?} instead of one number; print digits with a \
                 point for decimals, such as 1234.5"
            ))
        })
    }
}

/// A run that has ended, to be read.
struct EndedRun<'a> {
    contestant: &'a Contestant,
    ended: &'a FinishedRun,
    printed: &'a Printed,
    stop: &'a dyn Fn() -> bool,
}

fn counter_of(metric: &Metric) -> Result<Option<Counter>, TrialError> {
    let Metric::Counted(event) = metric else { return Ok(None) };
    Counter::of_children(event).map(Some).map_err(|source| {
        let hint = match source.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => {
                " (run it as root, or lower /proc/sys/kernel/perf_event_paranoid)"
            }
            _ if event.is_software() => "",
            _ => {
                " (most virtual machines have no counters; software events such as task-clock \
                 work everywhere)"
            }
        };
        TrialError::System(uncounted(event, hint), source)
    })
}

fn uncounted(event: &CounterEvent, hint: &str) -> String {
    format!("'perf:{event}' cannot be counted here{hint}")
}

fn finished(
    name: &str,
    contestant: &Contestant,
    raised: bool,
    printed: &Printed,
    stop: &dyn Fn() -> bool,
) -> Result<Option<FinishedRun>, TrialError> {
    let started = RunProcess::new(contestant, raised, printed)
        .map_err(system(format!("'{name}' cannot be started")))?;
    let unlisted = format!("'{name}' ended, but its remaining processes cannot be listed");
    started.wait(stop).map_err(system(unlisted))
}

fn check(command: &str, ended: &FinishedRun, printed: &Printed) -> Result<(), TrialError> {
    let how = &ended.ending;
    if !how.is_success() {
        let advice = if how.is_cut() {
            "; an interrupted run cannot be compared: let it end by itself"
        } else {
            ""
        };
        let said = printed.tail();
        return Err(TrialError::NoReading(format!("'{command}' {how}{said}{advice}")));
    }
    match &ended.left {
        Some((pid, name)) => Err(TrialError::NoReading(format!(
            "'{command}' left process {pid} ('{name}') running; Seatmap ended it, because runs \
             must not overlap: keep the program in the foreground"
        ))),
        None => Ok(()),
    }
}

/// A run's output in unnamed files. A pipe would end only with its last holder.
#[derive(Debug)]
pub struct Printed {
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

    /// The last 64 MiB of stdout.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn stdout(&self) -> Result<String, TrialError> {
        end_of(&self.out, SEARCHED_BYTES).map_err(unstored)
    }

    /// In stdout, or else in stderr.
    fn last(&self, pattern: &Regex) -> Result<Option<f64>, TrialError> {
        let read = self.read(SEARCHED_BYTES).map_err(unstored)?;
        Ok(read.iter().find_map(|text| Metric::last_number(pattern, text)))
    }

    fn read(&self, most: u64) -> io::Result<[String; 2]> {
        Ok([end_of(&self.out, most)?, end_of(&self.error, most)?])
    }

    /// Of stderr, or else of stdout.
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
