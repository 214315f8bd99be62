//! Checks running programs, once or repeatedly.

mod step;

use crate::expected::ReportedProgram;
use crate::judge::judged::{Judged, changes};
use crate::seating::FORMAT;
use crate::standard::{ExpectedSource, Standard};
use crate::{
    ChoiceError, Finding, ProcessChoice, Seating, Verdict, WatchOptions, Watcher, files, metrics,
};
use seatmap_data::document::Blame;
use seatmap_data::machine::Topology;
use seatmap_data::words::{agreeing, counted};
use seatmap_os::{FileError, Root, StopCheck, visibility};
use std::time::{Duration, Instant};

pub use step::{CheckStep, CheckView};

/// A request to check seats.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// The programs.
    pub choice: ProcessChoice,
    /// The time to watch them.
    pub window: Duration,
    /// Whether the scheduler counts the threads' CPUs.
    pub trace: bool,
    /// The rules and seats to compare with.
    pub standard: Standard,
    /// The CPUs of this computer.
    pub topology: Topology,
    /// This computer's name.
    pub machine: String,
    /// How often to check until the programs have ended.
    pub again_every: Option<Duration>,
}

/// Why programs cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// There is nothing to look at.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The ranks of a job, or published seats, cannot be read.
    #[error(transparent)]
    Files(#[from] FileError),
    /// The programs have ended, or are hidden.
    #[error("{0}")]
    Nothing(String),
    /// The seats on file are another program's.
    #[error(
        "the file has the seats of {}, which is not among the checked programs; 'seatmap check \
         --expect FILE' alone checks it, and a plan applies to any program", .0.named()
    )]
    OfAnother(ReportedProgram),
}

impl Blame for CheckError {
    fn is_input(&self) -> bool {
        match self {
            CheckError::Choice(error) => error.is_input(),
            CheckError::Nothing(_) | CheckError::OfAnother(_) => true,
            CheckError::Files(_) => false,
        }
    }
}

/// Why a check failed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CheckFailure {
    /// The last check found this many faults.
    #[error("{} {} wrong", counted(*.0, "thing"), agreeing(*.0, "is", "are"))]
    Wrong(usize),
    /// An earlier check found faults, and the last one did not.
    #[error("something was wrong during the watch")]
    WasWrong,
    /// A strict check could not read everything.
    #[error(
        "not everything could be seen, but --strict requires it{}",
        if *.may_root_see { "; run it as root" } else { "" }
    )]
    NotAllSeen {
        /// Whether another user may see more.
        may_root_see: bool,
    },
}

impl Blame for CheckFailure {
    fn is_input(&self) -> bool {
        false
    }
}

/// A running check.
pub struct RunningCheck<'a> {
    request: &'a CheckRequest,
    /// `None` if no program is bound or chosen.
    watcher: Option<Watcher>,
    began: Instant,
    is_begun: bool,
    seating: Seating,
    before: Vec<Finding>,
    findings: Vec<Finding>,
    worst: Option<Verdict>,
}

impl CheckRequest {
    /// Takes the first look.
    ///
    /// # Errors
    /// [`CheckError`]: there is nothing to look at.
    pub fn begin(&self) -> Result<RunningCheck<'_>, CheckError> {
        Ok(RunningCheck {
            request: self,
            watcher: self.watcher()?,
            began: Instant::now(),
            is_begun: false,
            seating: Seating::default(),
            before: Vec::new(),
            findings: Vec::new(),
            worst: None,
        })
    }

    /// Checks once, and returns the result as metrics.
    ///
    /// # Errors
    /// [`CheckError`]: there is nothing to look at.
    pub fn metrics(&self) -> Result<String, CheckError> {
        let mut check = self.begin()?;
        check.next(&|| false)?;
        check.metrics()
    }

    fn watcher(&self) -> Result<Option<Watcher>, CheckError> {
        let options = WatchOptions {
            window: self.window,
            trace: self.trace,
            every_cpu: true,
            ..WatchOptions::default()
        };
        let pids = match (&self.choice, &self.standard.seats) {
            (ProcessChoice::Bound, ExpectedSource::Ranks(ranks)) => match ranks.living()? {
                pids if pids.is_empty() => return Ok(None),
                pids => Some(pids),
            },
            (ProcessChoice::Bound, _) => {
                let reported = self.standard.reported();
                reported.map(|program| program.processes.iter().copied().collect())
            }
            _ => None,
        };
        let choice = pids.map_or_else(
            || self.choice.clone(),
            |pids| ProcessChoice::Processes { pids, with_children: false },
        );
        match Watcher::begin(&choice, &options) {
            Ok(watcher) => Ok(Some(watcher)),
            // A computer without bound programs is healthy.
            Err(ChoiceError::Empty(_)) if choice == ProcessChoice::Bound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn judged<'s>(&self, seating: &'s Seating) -> Result<Judged<'s>, FileError> {
        let judged = Judged::new(seating, &self.topology, &self.standard.of(seating)?);
        let Some(baselines) = &self.standard.baselines else { return Ok(judged) };
        let units = baselines.judge(seating, self.choice == ProcessChoice::All);
        Ok(judged.beside(units, self.standard.strict))
    }
}

impl RunningCheck<'_> {
    /// The next check; `None` after the last. A repeated check ends when `stop` returns true, or
    /// with the programs.
    ///
    /// # Errors
    /// [`CheckError::Nothing`], [`CheckError::Files`].
    pub fn next(&mut self, stop: StopCheck) -> Result<Option<CheckStep<'_>>, CheckError> {
        if std::mem::replace(&mut self.is_begun, true) {
            self.again(stop)
        } else {
            self.first(stop).map(Some)
        }
    }

    fn first(&mut self, stop: StopCheck) -> Result<CheckStep<'_>, CheckError> {
        let request = self.request;
        if let Some(watcher) = &mut self.watcher {
            // A user may end a repeated check within its first window.
            watcher.watch(request.window, stop);
            self.seating = watcher.seating();
            let may_be_empty =
                request.again_every.is_some() || request.choice == ProcessChoice::All;
            // If `/proc` hides other users, it may show no program at all.
            if self.seating.processes.is_empty() && !may_be_empty {
                return Err(CheckError::Nothing(self.seating.why_empty()));
            }
            let reported = request.standard.reported();
            if let Some(program) = reported.filter(|program| !program.is_in(&self.seating)) {
                return Err(CheckError::OfAnother(program.clone()));
            }
        } else {
            self.seating.format = FORMAT.to_owned();
            self.seating.machine.clone_from(&request.machine);
            self.seating.unseen = files::hidden_threads(&Root::new("/"));
        }
        let judged = request.judged(&self.seating)?;
        self.findings.clone_from(&judged.findings);
        self.worst = Some(judged.verdict);
        Ok(if self.watcher.is_none() && !request.standard.has_seats() {
            CheckStep::NothingBound(judged)
        } else {
            CheckStep::First(judged)
        })
    }

    fn again(&mut self, stop: StopCheck) -> Result<Option<CheckStep<'_>>, CheckError> {
        let (Some(every), Some(watcher)) = (self.request.again_every, &mut self.watcher) else {
            return Ok(None);
        };
        if stop() {
            return Ok(None);
        }
        watcher.watch(every, stop);
        self.seating = watcher.seating();
        if stop() || self.seating.processes.is_empty() {
            return Ok(None);
        }
        let judged = self.request.judged(&self.seating)?;
        self.before = std::mem::replace(&mut self.findings, judged.findings.clone());
        self.worst = self.worst.max(Some(judged.verdict));
        if changes(&self.before, &judged.findings).is_empty() {
            return Ok(Some(CheckStep::Unchanged));
        }
        Ok(Some(CheckStep::Again { before: &self.before, judged, gone: self.began.elapsed() }))
    }

    /// The latest check as metrics.
    ///
    /// # Errors
    /// [`CheckError::Files`]: published seats cannot be read.
    pub fn metrics(&self) -> Result<String, CheckError> {
        Ok(metrics::text(&self.request.judged(&self.seating)?))
    }

    /// Whether all checks succeeded.
    ///
    /// # Errors
    /// [`CheckFailure`]: the worst verdict, with the findings of the last check.
    pub fn end(self) -> Result<(), CheckFailure> {
        let wrong = self.findings.iter().filter(|finding| finding.is_wrong()).count();
        match self.worst.filter(|worst| worst.fails(self.request.standard.strict)) {
            None => Ok(()),
            Some(_) if wrong > 0 => Err(CheckFailure::Wrong(wrong)),
            Some(Verdict::Wrong) => Err(CheckFailure::WasWrong),
            Some(_) => {
                let root = Root::new("/");
                let may_root_see =
                    !visibility::may_trace(&root) && !visibility::is_in_user_namespace(&root);
                Err(CheckFailure::NotAllSeen { may_root_see })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::RankSeats;
    use std::cell::Cell;

    fn request(choice: ProcessChoice) -> CheckRequest {
        CheckRequest {
            choice,
            window: Duration::ZERO,
            trace: false,
            standard: Standard::default(),
            topology: Topology::unknown(0..4),
            machine: "here".to_owned(),
            again_every: None,
        }
    }

    fn own() -> ProcessChoice {
        let own = std::process::id() as i32;
        ProcessChoice::Processes { pids: vec![own], with_children: false }
    }

    #[test]
    fn single_check_yields_one_step() {
        let request = request(own());
        let mut check = request.begin().unwrap();
        let step = check.next(&|| false).unwrap();
        assert!(
            matches!(&step, Some(CheckStep::First(judged)) if judged.seating.processes.len() == 1)
        );
        assert!(check.next(&|| false).unwrap().is_none());
        assert!(check.worst.is_some());
    }

    #[test]
    fn repeated_check_stops_on_request() {
        let again_every = Some(Duration::from_millis(1));
        let request = CheckRequest { again_every, ..request(own()) };
        let mut check = request.begin().unwrap();
        let checks = Cell::new(0);
        let stop = || checks.get() >= 3;
        let mut repeated = 0;
        while let Some(step) = check.next(&stop).unwrap() {
            let is_later = matches!(step, CheckStep::Again { .. } | CheckStep::Unchanged);
            repeated += usize::from(is_later);
            checks.set(checks.get() + 1);
        }
        assert_eq!((checks.get(), repeated), (3, 2));
    }

    #[test]
    fn missing_ranks_are_reported_as_wrong() {
        let ranks = RankSeats {
            seats: vec![crate::RankPlace::Here(seatmap_os::CpuSet::single(0))],
            rank_of: |_| None,
        };
        let standard = Standard { seats: ExpectedSource::Ranks(ranks), ..Standard::default() };
        let request = CheckRequest { standard, ..request(ProcessChoice::Bound) };
        let mut check = request.begin().unwrap();
        let step = check.next(&|| false).unwrap();
        assert!(
            matches!(&step, Some(CheckStep::First(judged)) if judged.findings.iter().any(Finding::is_wrong))
        );
        assert_eq!(check.end().unwrap_err().to_string(), "1 thing is wrong");
    }

    #[test]
    fn absent_process_is_an_input_error() {
        let gone = ProcessChoice::Processes { pids: vec![i32::MAX], with_children: false };
        let request = request(gone);
        let error = request.begin().err().unwrap();
        assert!(error.is_input(), "{error}");
    }

    fn end(worst: Option<Verdict>, strict: bool) -> Result<(), CheckFailure> {
        let standard = Standard { strict, ..Standard::default() };
        let request = CheckRequest { standard, ..request(own()) };
        let mut check = request.begin().unwrap();
        check.worst = worst;
        check.end()
    }

    #[test]
    fn worst_verdict_decides_result() {
        assert_eq!(end(None, true), Ok(()));
        assert_eq!(end(Some(Verdict::NotAllSeen), false), Ok(()));
        let not_all_seen = end(Some(Verdict::NotAllSeen), true).unwrap_err();
        assert!(matches!(not_all_seen, CheckFailure::NotAllSeen { .. }), "{not_all_seen}");
        assert_eq!(end(Some(Verdict::Wrong), false), Err(CheckFailure::WasWrong));
        assert_eq!(CheckFailure::Wrong(2).to_string(), "2 things are wrong");
    }
}
