//! Where finished pairs are kept until the profile is safe.

use super::source::Source;
use crate::args::Measure;
use seatmap_console::error::CliError;
use seatmap_console::{here, output};
use seatmap_measure::journal::{Journal, JournalError, Machine};
use seatmap_measure::samples::Samples;
use seatmap_measure::survey::SurveyRequest;
use seatmap_os::trusted;
use seatmap_os::trusted::{Open, TrustedFolder};
use seatmap_report::counted;
use std::fs::File;
use std::path::PathBuf;

/// The journal of a run, there or not.
pub struct Kept {
    path: Option<PathBuf>,
    machine: Machine,
}

impl Kept {
    /// Beside the output file; else with what is remembered of this host; else nowhere.
    ///
    /// # Errors
    /// A run that cannot go on because nothing was kept.
    pub fn at(typed: &Measure, source: &Source) -> Result<Self, CliError> {
        let beside = typed
            .output
            .as_ref()
            .filter(|path| !path.exists() || path.is_file())
            .filter(|path| *path != "-");
        let path = match (beside, source) {
            (Some(output), _) => Some(output.with_added_extension("journal")),
            (None, Source::Host { .. }) => remembered(),
            (None, Source::Simulated { .. } | Source::Replayed { .. }) => None,
        };
        if typed.resume && path.is_none() {
            return Err(CliError::input("--resume needs -o FILE here: nothing was kept"));
        }
        Ok(Kept { path, machine: source.machine() })
    }

    /// The journal, and what it holds already, read from a clock with this resolution.
    ///
    /// # Errors
    /// The journal cannot be written, is another run's, or holds what no run can have measured.
    pub fn open(
        &self,
        request: &SurveyRequest,
        resume: bool,
        resolution_ns: f64,
    ) -> Result<(Option<Journal>, Samples), CliError> {
        let mut samples = Samples::new(request.pus.clone());
        let Some(path) = &self.path else { return Ok((None, samples)) };
        let header = request.header(self.machine.clone());
        let file: File = trusted::open(path, Open::Keep).map_err(CliError::work)?;
        if !resume {
            return Ok((
                Some(Journal::create(path, file, &header).map_err(CliError::work)?),
                samples,
            ));
        }
        let (journal, records) =
            Journal::resume(path, file, &header, resolution_ns).map_err(unusable)?;
        for record in &records {
            samples.add(record.i, record.j, record.pass, record.batches());
        }
        output::tell(&format!(
            "going on after {} kept in {}",
            counted(records.len(), "visit"),
            path.display()
        ));
        Ok((Some(journal), samples))
    }

    /// The message about a run that was interrupted after this many visits.
    pub fn farewell(&self, visits: u64) -> String {
        match &self.path {
            Some(path) => format!(
                "interrupted; {visits} to pairs are kept in {}: the same command with --resume goes on there",
                path.display(),
                visits = counted(visits, "visit")
            ),
            None => "interrupted; nothing was kept, since no -o FILE was given".to_owned(),
        }
    }
}

/// A journal to go on with that is not this run's is what was typed; that it is in use or
/// unreadable is not.
fn unusable(error: JournalError) -> CliError {
    match error {
        JournalError::OtherRun { .. }
        | JournalError::Version { .. }
        | JournalError::Damaged { .. } => CliError::input(error),
        JournalError::Busy { .. } | JournalError::Io { .. } => CliError::work(error),
    }
}

/// The journal of a run without `-o`, if its folder is this user's alone or can be made.
fn remembered() -> Option<PathBuf> {
    match TrustedFolder::create(&here::state_folder()?) {
        Ok(folder) => Some(folder.path().join(format!("{}.journal", here::host_name()))),
        Err(error) => {
            output::tell(&format!("nothing will be kept or remembered: {error}"));
            None
        }
    }
}
