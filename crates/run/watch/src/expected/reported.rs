//! The program of a seating on file, and whether it still lives.

use super::Report;
use crate::seating::Seating;
use seatmap_data::document::DocumentError;
use seatmap_os::{Root, Tid, boot, task};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// The kernel counts starts in ticks, and the system clock is adjusted.
const SAME_TIME: Duration = Duration::from_secs(2);

/// The program of a seating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedProgram {
    /// Its first process.
    pub pid: Tid,
    /// That process's name; empty if it ended too soon.
    pub name: String,
    /// Its processes, by number.
    pub processes: BTreeSet<Tid>,
    /// The time of writing, since 1970; `None` in older documents.
    pub written: Option<Duration>,
    /// Whether the file is from a run's start; the seats may have changed since.
    pub is_beginning: bool,
}

/// Why a seating on file does not apply.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It is not a seating.
    #[error("neither a plan nor a seating: {0}")]
    Document(#[from] DocumentError),
    /// None of its processes lives.
    #[error(
        "its program, {}, has ended; a plan ('seatmap place -o FILE') applies to any program",
        .0.named()
    )]
    HasEnded(ReportedProgram),
    /// The seats may have changed since.
    #[error(
        "it was written before the run of {} ended, so its seats may be outdated; 'seatmap check \
         --pid {}' compares with the present ones",
        .0.named(), .0.pid
    )]
    IsBeginning(ReportedProgram),
}

impl ReportedProgram {
    pub(super) fn of(report: &Report) -> Option<Self> {
        let mut seated =
            report.threads.iter().filter_map(|thread| Some((thread.pid?, &thread.name)));
        let (pid, thread) = seated.next()?;
        let process = report.processes.iter().find(|process| process.pid == pid);
        let name = process.map(|process| process.name.clone()).or_else(|| thread.clone());
        let written = report.taken_at_s.and_then(|at| Duration::try_from_secs_f64(at).ok());
        Some(ReportedProgram {
            pid,
            name: name.unwrap_or_default(),
            processes: seated.map(|(pid, _)| pid).chain([pid]).collect(),
            written: written.filter(|written| !written.is_zero()),
            is_beginning: report.complete == Some(false),
        })
    }

    pub(crate) fn living(self, root: &Root) -> Result<Self, ReportError> {
        let latest = self.latest_start();
        let processes = self.processes.iter().copied();
        let processes: BTreeSet<Tid> = processes.filter(|pid| lives(root, *pid, latest)).collect();
        match processes.first() {
            None => Err(ReportError::HasEnded(self)),
            Some(first) if !processes.contains(&self.pid) => {
                ReportedProgram { pid: *first, name: String::new(), processes, ..self }.whole()
            }
            Some(_) => ReportedProgram { processes, ..self }.whole(),
        }
    }

    fn whole(self) -> Result<Self, ReportError> {
        if self.is_beginning { Err(ReportError::IsBeginning(self)) } else { Ok(self) }
    }

    /// In clock ticks after the boot; later processes only reuse a PID.
    fn latest_start(&self) -> Option<u64> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let ago = now.saturating_sub(self.written? + SAME_TIME);
        let ago_ticks = ago.as_millis().saturating_mul(u128::from(boot::ticks_per_s())) / 1000;
        Some(boot::ticks().saturating_sub(u64::try_from(ago_ticks).unwrap_or(u64::MAX)))
    }

    /// Whether a seating contains one of its processes.
    pub fn is_in(&self, seating: &Seating) -> bool {
        seating.processes.iter().any(|process| self.processes.contains(&process.pid))
    }

    /// The program in a sentence: `redis-server (4711)`.
    pub fn named(&self) -> String {
        if self.name.is_empty() {
            format!("process {}", self.pid)
        } else {
            format!("{} ({})", self.name, self.pid)
        }
    }
}

fn lives(root: &Root, pid: Tid, latest_start: Option<u64>) -> bool {
    match task::of_process(root, pid) {
        Ok(threads) => threads.iter().any(|thread| {
            let is_early = latest_start.is_none_or(|latest| thread.started_ticks <= latest);
            !thread.has_ended() && is_early
        }),
        // `/proc` may hide other users' processes.
        Err(_) => root.is_this_computer() && task::exists(pid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expected;

    fn of_living(pid: Tid, written: Duration, is_complete: bool) -> Result<Expected, String> {
        let written_s = written.as_secs_f64();
        let text = format!(
            r#"{{"format": "seatmap-seating/1", "taken_at_s": {written_s},
            "complete": {is_complete}, "threads": [{{"pid": {pid}, "tid": {pid}, "name": "server", "cpus": [0]}}]}}"#
        );
        Expected::of_living(&text, &Root::new("/")).map_err(|error| error.to_string())
    }

    fn now() -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn ended_program_has_no_seats() {
        let own = std::process::id() as Tid;
        let expected = of_living(own, now(), true).unwrap();
        assert_eq!(expected.seated_processes(), Some(BTreeSet::from([own])));
        assert!(expected.concerns(own) && !expected.concerns(own + 1));
        let ended = of_living(i32::MAX, now(), true).unwrap_err();
        assert!(ended.starts_with("its program, server (2147483647), has ended"), "{ended}");
    }

    #[test]
    fn reused_pid_is_not_the_reported_program() {
        let own = std::process::id() as Tid;
        let day = Duration::from_secs(86_400);
        assert!(of_living(own, now() - day, true).unwrap_err().contains("has ended"));
        assert!(of_living(own, Duration::ZERO, true).is_ok());
    }

    #[test]
    fn incomplete_report_is_rejected() {
        let own = std::process::id() as Tid;
        let beginning = of_living(own, now(), false).unwrap_err();
        assert!(beginning.contains(&format!("'seatmap check --pid {own}'")), "{beginning}");
    }
}
