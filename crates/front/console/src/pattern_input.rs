//! Finds the pattern that a generator or a file denotes.

use crate::error::{AtPath, CliError, CliResult};
use crate::{input, output};
use seatmap_data::document::{json_problem, shell_escaped};
use seatmap_data::machine::import as machine_import;
use seatmap_data::pattern::qaplib::{Instance, Which};
use seatmap_data::pattern::{Pattern, generate, import, loads};
use seatmap_data::statistics::words::counted;
use std::error::Error;
use std::path::Path;

/// The pattern of a generator such as `ring:8`, of a file, or of stdin (`-`). Warnings go to
/// stderr.
///
/// # Errors
/// The text is none of these, or the file does not contain a pattern.
pub fn pattern(text: &str) -> CliResult<Pattern> {
    pattern_of(text, None)
}

/// The pattern of a file or a generator; `which` selects a matrix of a QAPLIB file.
///
/// # Errors
/// As [`pattern`], or there is no matrix to select.
pub fn pattern_of(text: &str, which: Option<Which>) -> CliResult<Pattern> {
    let path = Path::new(text);
    // In an unsearchable folder, assume a file: reading it gives the reason.
    let is_file = text == "-" || path.try_exists().unwrap_or_else(|_| text.contains('/'));
    // A generator takes precedence over a file. Plain words go to the generators, which list the
    // known ones; a slash or a dot means a file.
    if generate::is_spec(text) || (!is_file && !text.contains(['/', '.'])) {
        return match which {
            None => seatmap_data::pattern::generate(text).map_err(CliError::input),
            Some(_) => Err(CliError::input(format!(
                "{text}: --matrix is for QAPLIB's .dat files; leave it out"
            ))),
        };
    }
    if !is_file {
        let remedy = "'seatmap pattern list' lists the patterns known by name";
        return Err(CliError::input(format!("{text}: there is no such file; {remedy}")));
    }
    let name = path
        .file_stem()
        .map_or_else(|| text.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let bytes = input::bytes(path)?;
    let imported = import::read(&bytes, &name, which)
        .map_err(|error| CliError::at(path, not_a_pattern(path, &bytes, error)))?;
    imported.notes.iter().for_each(|note| output::tell(&format!("{text}: {note}")));
    Ok(imported.pattern)
}

/// Recognises a machine, which another option reads.
fn not_a_pattern(path: &Path, bytes: &[u8], error: import::PatternImportError) -> Box<dyn Error> {
    // Without a choice of matrices, the file is still a pattern.
    if matches!(error, import::PatternImportError::OneMatrix) {
        return error.into();
    }
    let file = path.to_string_lossy();
    match machine_import::read(bytes, &file, None) {
        Ok(_) => {
            let file = shell_escaped(&file);
            let takes = format!("give it as '--on {file}', or show it with 'seatmap show {file}'");
            format!("this is a machine, not a pattern; {takes}").into()
        }
        Err(foreign @ machine_import::MachineImportError::Foreign { .. })
            if matches!(error, import::PatternImportError::Unknown) =>
        {
            foreign.into()
        }
        Err(_) => error.into(),
    }
}

/// Sets a pattern's loads from a list such as `4,1,1,1`, or from a file with such a list.
///
/// # Errors
/// The text is neither, or the number of loads differs from the number of tasks.
pub fn give_loads(pattern: &mut Pattern, typed: Option<&str>) -> CliResult {
    let Some(typed) = typed else { return Ok(()) };
    let path = Path::new(typed);
    let loads = if typed == "-" || path.exists() {
        let text = text_of(path, "the file is not text, so it is not a list of loads")?;
        loads::read(&text).at(path)?
    } else {
        loads::read(typed)
            .map_err(|error| CliError::input(format!("--load {typed}: {}", json_problem(error))))?
    };
    let given = loads.len();
    let tasks = pattern.tasks;
    if given != tasks {
        return Err(CliError::input(format!(
            "--load {typed}: {given} for {tasks}; give one for each task",
            tasks = counted(tasks, "task"),
            given = counted(given, "load")
        )));
    }
    pattern.loads = loads;
    Ok(())
}

/// The QAPLIB instance in a file.
///
/// # Errors
/// The file cannot be read or is not an instance.
pub fn instance(path: &Path) -> CliResult<Instance> {
    let text = text_of(path, "the file is not text, so it is not a QAPLIB instance")?;
    Instance::read(&text).at(path)
}

fn text_of(path: &Path, problem: &'static str) -> CliResult<String> {
    String::from_utf8(input::bytes(path)?).map_err(|_| CliError::at(path, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_path_is_not_reported_missing() {
        let [missing, hidden] = ["none/x.mtx", "Cargo.toml/x.mtx"]
            .map(|text| format!("{:?}", pattern(text).unwrap_err()));
        assert!(missing.contains("no such file") && !hidden.contains("no such file"), "{hidden}");
    }
}
