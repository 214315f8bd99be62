//! The output of `seatmap observe`: a table or a document, and the files of patterns.

use super::ObserveArgs;
use seatmap_console::{AtPath, CliResult, Destination, output};
use seatmap_data::statistics::words::counted;
use seatmap_observe::{Observation, Sighting};
use seatmap_report::Page;
use seatmap_report::observation::page;
use std::path::{Path, PathBuf};

pub struct ObserveOutputs {
    /// The pattern's name: the user's, or the program's.
    name: Option<String>,
    is_document: bool,
    is_command: bool,
    pattern: Option<Destination>,
    output: Option<PathBuf>,
    phases: Option<PathBuf>,
}

impl ObserveOutputs {
    pub fn new(typed: &ObserveArgs) -> CliResult<Self> {
        let pattern = output::file(typed.output.as_deref(), typed.json)?;
        // A folder that cannot be created would cost the whole observation.
        if let Some(folder) = &typed.phases {
            std::fs::create_dir_all(folder).at(folder)?;
        }
        let program = typed.command.first().map(Path::new).and_then(Path::file_name);
        let program = program.map(|name| name.to_string_lossy().into_owned());
        Ok(ObserveOutputs {
            name: typed.name.clone().or(program),
            is_document: typed.json,
            is_command: !typed.command.is_empty(),
            pattern,
            output: typed.output.clone(),
            phases: typed.phases.clone(),
        })
    }

    pub fn show(&self, sighting: &Sighting) -> CliResult {
        let observation = &sighting.observation;
        let name = self.name.as_deref().unwrap_or_else(|| observation.name());
        let document = observation.document(name);
        let written = self
            .pattern
            .as_ref()
            .map_or(Ok(()), |file| file.write(&seatmap_data::document::written(&document)));
        // The observation cannot be repeated.
        let phases = self.write_phases(observation, name);
        if self.is_document {
            output::json(&document)?;
        } else if self.pattern != Some(Destination::Stdout) {
            let written_phases = phases.as_ref().ok().cloned().flatten();
            // The user has at least the table.
            let next = written.is_ok().then(|| document.next_step(self.output.as_deref()));
            let said = written_phases.into_iter().chain(next.flatten()).collect();
            self.print(&page(observation).and(said))?;
        }
        written.and(phases.map(drop))?;
        output::tell_each(sighting.false_sharing());
        Ok(())
    }

    fn print(&self, page: &Page) -> CliResult {
        if !self.is_command {
            return output::show(page);
        }
        // A missing reader is not a failure.
        output::tell_page(page);
        Ok(())
    }

    fn write_phases(&self, observation: &Observation, name: &str) -> CliResult<Option<String>> {
        let Some(folder) = &self.phases else { return Ok(None) };
        let patterns = observation.patterns_of_phases(name);
        for (number, pattern) in patterns.iter().enumerate() {
            Destination::new(&phase_file(folder, number))?.write(&pattern.to_json())?;
        }
        remove_phases(folder, patterns.len())?;
        let folder = output::visible(&folder.display().to_string());
        Ok(Some(format!("{} in {folder}", counted(patterns.len(), "phase"))))
    }
}

fn phase_file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("phase-{number}.pattern.json"))
}

/// Earlier files would seem part of this observation.
fn remove_phases(folder: &Path, first: usize) -> CliResult {
    let files = (first..).map(|number| phase_file(folder, number));
    for path in files.take_while(|path| path.is_file()) {
        std::fs::remove_file(&path).work_at(&path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftover_phase_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("phase-x.pattern.json");
        std::fs::write(&other, "").unwrap();
        for number in 0..4 {
            std::fs::write(phase_file(folder.path(), number), "").unwrap();
        }
        remove_phases(folder.path(), 2).unwrap();
        let there = [0, 1, 2, 3].map(|number| phase_file(folder.path(), number).exists());
        assert_eq!(there, [true, true, false, false]);
        assert!(other.exists());
        remove_phases(folder.path(), 2).unwrap();
    }
}
