//! One command on many machines, each whole and in the situations that containers make.
//!
//! Every run is a `seatmap pretend` of its own, so its command repeats it. Its record and output
//! are read afterwards, and compared with the whole machine's.
//!
//! | module | holds |
//! |---|---|
//! | [`situation`] | the situations, as options of `seatmap pretend` |
//! | [`session`] | the processes, side by side |
//! | [`fault`] | what is wrong in one run |
//! | [`report`] | all runs as a document, and as JUnit XML |

pub mod fault;
pub mod report;
pub mod session;
pub mod situation;

use crate::{PretendReport, report as pretend_report};
use fault::ZooFault;
use report::{ZooReport, ZooRun};
use seatmap_data::document::{self, Blame, DocumentError, shell_word};
use seatmap_data::machine::Topology;
use seatmap_launch::Ending;
use seatmap_os::StopCheck;
use session::{ZooRunEnd, ZooSession};
use situation::Situation;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The compared bytes of a run's output.
const MOST_OUTPUT: u64 = 1 << 18;

/// The end of a `seatmap pretend` whose command line is wrong.
const USAGE: Ending = Ending::Exited(2);

/// A command to run on many machines.
#[derive(Clone, Debug)]
pub struct ZooRequest {
    /// The machines, by their names for `seatmap pretend`.
    pub machines: Vec<(String, Topology)>,
    /// The words that begin a `seatmap pretend`.
    pub pretend: Vec<OsString>,
    /// Further options of each run, such as `--check RULES`.
    pub options: Vec<String>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The longest time of a run.
    pub timeout: Duration,
    /// Runs side by side.
    pub jobs: usize,
    /// Whether other output than on the whole machine is wrong.
    pub same_output: bool,
}

/// Why the zoo has no result.
#[derive(Debug, thiserror::Error)]
pub enum ZooError {
    /// A run did not start the program.
    #[error("{message}; this repeats it: {repeat}")]
    NotStarted {
        /// Its message.
        message: String,
        /// The command that repeats it.
        repeat: String,
        /// Whether the command line is wrong.
        is_input: bool,
    },
    /// A report or a process cannot be read.
    #[error("cannot follow the programs")]
    Kernel(#[from] io::Error),
    /// A record cannot be understood: a bug in Seatmap.
    #[error(transparent)]
    Record(#[from] DocumentError),
    /// The user ended it.
    #[error("interrupted; all programs were ended")]
    Stopped,
}

impl Blame for ZooError {
    fn is_input(&self) -> bool {
        matches!(self, ZooError::NotStarted { is_input: true, .. })
    }
}

/// A run before it starts.
struct PlannedRun<'a> {
    machine: &'a str,
    topology: &'a Topology,
    situation: Situation,
    options: Vec<String>,
}

/// A run after its end.
struct FinishedZooRun {
    lasted_s: f64,
    /// `None` if the time was over.
    record: Option<PretendReport>,
    output: String,
}

/// The runs under way, for the threads that follow them.
struct ZooWork<'a> {
    request: &'a ZooRequest,
    session: ZooSession,
    planned: Vec<PlannedRun<'a>>,
    next: AtomicUsize,
    results: Mutex<ZooResults>,
}

#[derive(Default)]
struct ZooResults {
    finished: BTreeMap<usize, FinishedZooRun>,
    failure: Option<ZooError>,
}

impl ZooRequest {
    /// Runs the command everywhere. `progress` receives the finished and all runs.
    ///
    /// # Errors
    /// [`ZooError`]: no machine can be shown, or the user ended the runs.
    pub fn run(
        &self,
        progress: &(dyn Fn(usize, usize) + Sync),
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<ZooReport, ZooError> {
        let work = ZooWork {
            request: self,
            session: ZooSession::begin()?,
            planned: self.planned(),
            next: AtomicUsize::new(0),
            results: Mutex::default(),
        };
        // The first run is alone, so that a program that cannot start is reported for it.
        if work.step(progress, is_stopped) {
            std::thread::scope(|scope| {
                for _ in 0..self.jobs.max(1) {
                    scope.spawn(|| while work.step(progress, is_stopped) {});
                }
            });
        }
        let results = work.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        match results.failure {
            Some(failure) => Err(failure),
            None => Ok(self.report(&work.planned, &results.finished)),
        }
    }

    fn planned(&self) -> Vec<PlannedRun<'_>> {
        let machines = self.machines.iter().flat_map(|(machine, topology)| {
            Situation::ALL.into_iter().filter_map(move |situation| {
                let options = situation.options(topology)?;
                Some(PlannedRun { machine, topology, situation, options })
            })
        });
        machines.collect()
    }

    fn report(
        &self,
        planned: &[PlannedRun],
        finished: &BTreeMap<usize, FinishedZooRun>,
    ) -> ZooReport {
        let mut runs = Vec::with_capacity(planned.len());
        let mut whole = None;
        for (plan, run) in planned.iter().zip(finished.values()) {
            // The whole machine is the first of its situations.
            let is_whole = plan.situation.name == Situation::WHOLE.name;
            whole = if is_whole { Some(run) } else { whole };
            let compared = whole.filter(|_| !is_whole);
            runs.push(ZooRun {
                machine: plan.machine.to_owned(),
                situation: plan.situation.name.to_owned(),
                repeat: self.repeat(plan),
                exit_code: run.record.as_ref().and_then(|record| record.exit_code),
                signal: run.record.as_ref().and_then(|record| record.signal),
                is_timed_out: run.record.is_none(),
                lasted_s: run.lasted_s,
                threads: run.record.as_ref().map_or(0, |record| record.threads.len() as u64),
                faults: self.faults(plan, run, compared),
            });
        }
        let command = self.command.iter().map(|word| word.to_string_lossy().into_owned());
        ZooReport {
            format: report::FORMAT.to_owned(),
            command: command.collect(),
            timeout_s: self.timeout.as_secs_f64(),
            runs,
        }
    }

    fn faults(
        &self,
        plan: &PlannedRun,
        run: &FinishedZooRun,
        whole: Option<&FinishedZooRun>,
    ) -> Vec<ZooFault> {
        let Some(record) = &run.record else {
            let what = format!("the program still ran after {} s", self.timeout.as_secs_f64());
            return vec![ZooFault::wrong("timeout", what)];
        };
        let of_whole = whole.and_then(|whole| whole.record.as_ref());
        let ending = fault::of_ending(ending(record), of_whole.map(ending));
        let output = whole
            .filter(|whole| whole.record.is_some())
            .and_then(|whole| fault::of_output(&run.output, &whole.output, self.same_output));
        let of_threads = fault::of_threads(record, plan.topology);
        ending.into_iter().chain(of_threads).chain(output).collect()
    }

    fn repeat(&self, plan: &PlannedRun) -> String {
        let options = plan.options.iter().chain(&self.options).map(String::as_str);
        let command = self.command.iter().map(|word| word.to_string_lossy());
        let words = ["seatmap", "pretend", plan.machine].into_iter().chain(options).chain(["--"]);
        let words = words.map(Cow::Borrowed).chain(command);
        words.map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ")
    }
}

fn ending(record: &PretendReport) -> Ending {
    match (record.exit_code, record.signal) {
        (None, Some(signal)) => Ending::Killed(signal),
        (code, _) => Ending::Exited(code.unwrap_or_default()),
    }
}

impl ZooWork<'_> {
    fn results(&self) -> MutexGuard<'_, ZooResults> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the next run; false if none is left, or it fails.
    fn step(
        &self,
        progress: &(dyn Fn(usize, usize) + Sync),
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> bool {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(plan) = self.planned.get(at) else { return false };
        let run = self.one(plan, &|| is_stopped() || self.results().failure.is_some());
        let mut results = self.results();
        match run {
            Ok(run) => {
                results.finished.insert(at, run);
                progress(results.finished.len(), self.planned.len());
                true
            }
            Err(failure) => {
                results.failure.get_or_insert(failure);
                false
            }
        }
    }

    fn one(&self, plan: &PlannedRun, is_stopped: StopCheck) -> Result<FinishedZooRun, ZooError> {
        let request = self.request;
        let folder = tempfile::tempdir()?;
        let [record, output, error] =
            ["record", "output", "error"].map(|name| folder.path().join(name));
        let mut words = request.pretend.iter();
        let mut command = Command::new(words.next().ok_or_else(|| io::Error::other("no program"))?);
        command
            .args(words)
            .arg(plan.machine)
            .args(plan.options.iter().chain(&request.options))
            .args([OsStr::new("--quiet"), OsStr::new("--output"), record.as_os_str()])
            .arg("--")
            .args(&request.command)
            .stdin(Stdio::null())
            .stdout(File::create(&output)?)
            .stderr(File::create(&error)?);
        let begun = Instant::now();
        let end = self.session.run(&mut command, request.timeout, is_stopped)?;
        let lasted_s = begun.elapsed().as_secs_f64();
        let output = beginning_of(&output)?;
        let record = match end {
            ZooRunEnd::Stopped => return Err(ZooError::Stopped),
            ZooRunEnd::TimedOut => None,
            ZooRunEnd::Ended(ending) => match std::fs::read_to_string(&record) {
                Ok(text) => Some(document::read(&text, pretend_report::FORMAT)?),
                Err(_) => return Err(self.not_started(plan, ending, &beginning_of(&error)?)),
            },
        };
        Ok(FinishedZooRun { lasted_s, record, output })
    }

    /// The last line is that of `seatmap pretend`.
    fn not_started(&self, plan: &PlannedRun, ending: Ending, said: &str) -> ZooError {
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let message = last.trim_start_matches("seatmap: ");
        ZooError::NotStarted {
            message: if message.is_empty() { ending.to_string() } else { message.to_owned() },
            repeat: self.request.repeat(plan),
            is_input: ending == USAGE,
        }
    }
}

fn beginning_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
