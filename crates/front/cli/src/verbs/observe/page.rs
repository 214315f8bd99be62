//! The page of `seatmap observe`: a table or a document, and the files of patterns.

use crate::args::Observe;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::output::{self, Destination};
use seatmap_document::shell_file;
use seatmap_observe::tsan::SharedLine;
use seatmap_observe::{Document, Observation, Sighting};
use seatmap_statistics::words::counted;
use std::path::{Path, PathBuf};

/// The most lines of falsely shared memory that are shown.
const MOST_LINES: usize = 5;

/// The ways in which a sighting is shown, checked before the program starts.
pub struct Page {
    /// The pattern's name: the user's, or the program's.
    name: Option<String>,
    is_document: bool,
    /// Whether stdout is the command's.
    is_command: bool,
    pattern: Option<Destination>,
    /// The file of the pattern, as it was typed.
    output: Option<PathBuf>,
    phases: Option<PathBuf>,
}

impl Page {
    pub fn new(typed: &Observe) -> Result<Self, CliError> {
        if typed.json && typed.output.as_deref() == Some(Path::new("-")) {
            return Err(CliError::input(
                "--json and -o - both print on stdout; give -o a file's name",
            ));
        }
        // Now and not at the end: a folder that cannot be made would cost the whole observation.
        if let Some(folder) = &typed.phases {
            std::fs::create_dir_all(folder)
                .map_err(|error| CliError::input(AtFile::new(folder, error)))?;
        }
        let program = typed.command.first().map(Path::new).and_then(Path::file_name);
        let program = program.map(|name| name.to_string_lossy().into_owned());
        Ok(Page {
            name: typed.name.clone().or(program),
            is_document: typed.json,
            is_command: !typed.command.is_empty(),
            pattern: typed.output.as_deref().map(Destination::new).transpose()?,
            output: typed.output.clone(),
            phases: typed.phases.clone(),
        })
    }

    /// Prints the sighting, and writes its patterns.
    pub fn show(&self, sighting: &Sighting) -> Result<(), CliError> {
        let observation = &sighting.observation;
        let name = self.name(observation);
        let document = observation.document(&name);
        let written = self
            .pattern
            .as_ref()
            .map_or(Ok(()), |file| file.write(&seatmap_document::written(&document)));
        // Written even where the first file failed: what the program showed cannot be had again.
        let phases = self
            .phases
            .as_deref()
            .map(|folder| write_phases(folder, observation, &name))
            .transpose();
        if self.is_document {
            output::json(&document)?;
        } else if self.pattern != Some(Destination::Stdout) {
            // Where a file could not be written, the user keeps the table at least.
            let next = self.next_step(written.is_ok(), &phases, &document);
            self.print(&(observation.table() + &next))?;
        }
        // The first failure is the one reported, after the table was shown.
        written.and(phases.map(drop))?;
        for line in sighting.false_sharing().take(MOST_LINES) {
            output::tell(&false_sharing(observation, line));
        }
        Ok(())
    }

    /// The name, or that of the program's first task.
    fn name(&self, observation: &Observation) -> String {
        let first = observation.tasks.first().map(|task| task.name.clone());
        self.name.clone().or(first).unwrap_or_else(|| "observed".to_owned())
    }

    fn print(&self, text: &str) -> Result<(), CliError> {
        if !self.is_command {
            return output::print(text);
        }
        // A missing reader is not a failure.
        output::tell_text(text);
        Ok(())
    }

    fn next_step(
        &self,
        is_written: bool,
        phases: &Result<Option<usize>, CliError>,
        document: &Document,
    ) -> String {
        let folder = self.phases.as_deref().unwrap_or(Path::new("")).display().to_string();
        let count = phases.as_ref().ok().copied().flatten();
        let of_phases =
            count.map(|count| counted(count, "phase") + " in " + &output::visible(&folder) + "\n");
        let place = match &self.output {
            _ if document.pattern.edges.is_empty() || !is_written => String::new(),
            Some(path) => {
                let file = shell_file(&path.display().to_string());
                format!("next: seatmap place --pattern {file}\n")
            }
            None => "next: -o app.pattern.json keeps the pattern for seatmap place\n".to_owned(),
        };
        of_phases.unwrap_or_default() + &place
    }
}

fn write_phases(folder: &Path, observation: &Observation, name: &str) -> Result<usize, CliError> {
    let patterns = observation.patterns_of_phases(name);
    for (number, pattern) in patterns.iter().enumerate() {
        let path = folder.join(format!("phase-{number}.pattern.json"));
        Destination::new(&path)?.write(&pattern.to_json())?;
    }
    Ok(patterns.len())
}

/// A line that passes between threads which do not use each other's bytes.
fn false_sharing(observation: &Observation, line: &SharedLine) -> String {
    let [from, to] =
        [line.from, line.to].map(|task| observation.tasks.get(task).map_or("?", |task| &task.name));
    format!(
        "false sharing: '{from}' writes {} and '{to}' uses {}, on one cache line that passed {}",
        line.written,
        line.accessed,
        counted(line.falsely, "time")
    )
}
