//! Programs that report on themselves.

use crate::{
    ObservationOutcome, ObserveError, Sighting, SubjectCommand, command, mpi, preload, tsan,
};
use seatmap_launch::Ending;
use seatmap_os::StopCheck;
use seatmap_os::scratch::Scratch;
use std::path::{Path, PathBuf};

const VARIABLE: &str = "SEATMAP_TRACE";

/// The kind of a program's reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportMethod {
    /// Its memory accesses ([`Method::Tsan`](crate::Method::Tsan)).
    Accesses,
    /// The messages of its ranks ([`Method::Mpi`](crate::Method::Mpi)).
    Messages {
        /// This process's rank, if a launcher starts it once per rank.
        rank: Option<JobRank>,
    },
}

/// The rank of one process among several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRank {
    /// Its number, from 0.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
    /// The launcher's unique name for this start.
    pub job: Option<String>,
    /// The file of the job's pattern. Traces are next to it, so all nodes must share its folder.
    pub pattern: PathBuf,
}

/// A command that will report on itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRequest {
    /// The reports.
    pub method: ReportMethod,
    /// The command.
    pub command: SubjectCommand,
}

impl ReportRequest {
    pub(crate) fn run(&self, stop: StopCheck) -> Result<ObservationOutcome, ObserveError> {
        let folder = Scratch::new("observe").map_err(ObserveError::System)?;
        let ending = self.end_of(folder.path(), stop)?;
        Ok(ObservationOutcome::of_ended(ending, self.read(folder.path())))
    }

    pub(crate) fn end_of(&self, folder: &Path, stop: StopCheck) -> Result<Ending, ObserveError> {
        let mut command = self.command.prepared();
        command.env(VARIABLE, folder);
        // The library stays until the command has ended.
        let _library = match self.method {
            ReportMethod::Messages { .. } => Some(preload::load_into(&mut command)?),
            ReportMethod::Accesses => None,
        };
        let child = command.spawn().map_err(ObserveError::System)?;
        let status = command::attend(child, false, stop).map_err(ObserveError::System)?;
        Ok(Ending::of(status))
    }

    pub(crate) fn read(&self, folder: &Path) -> Result<Sighting, ObserveError> {
        match self.method {
            ReportMethod::Messages { .. } => mpi::read(folder)
                .map(|observation| Sighting { observation, lines: Vec::new() })
                .map_err(|error| ObserveError::of_traces(error, ObserveError::NoMessages)),
            ReportMethod::Accesses => tsan::read(folder)
                .map_err(|error| ObserveError::of_traces(error, ObserveError::NoAccesses)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(method: ReportMethod, name: &str, text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        let command = SubjectCommand::default();
        ReportRequest { method, command }.read(folder.path()).unwrap_err().to_string()
    }

    #[test]
    fn damaged_trace_differs_from_missing_trace() {
        let messages = || ReportMethod::Messages { rank: None };
        let damaged = "{\"format\":\"seatmap-trace/1\"}\n";
        for (method, name) in
            [(messages(), "rank-0-1.jsonl"), (ReportMethod::Accesses, "threads-1.jsonl")]
        {
            let told = refusal(method, name, damaged);
            assert!(told.contains(name) && told.contains("run the program again"), "{told}");
        }
        assert!(refusal(messages(), "other", "").starts_with("no rank recorded its messages"));
        let told = refusal(ReportMethod::Accesses, "other", "");
        assert!(told.starts_with("the program recorded no accesses"), "{told}");
    }
}
