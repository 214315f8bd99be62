//! From a generator or a file to a pattern.

use crate::error::{AtFile, CliError};
use crate::input;
use seatmap_pattern::qaplib::Instance;
use seatmap_pattern::{Pattern, generate, import};
use std::path::Path;

/// The pattern that a text names: a generator such as `ring:8`, a file, or `-` for stdin.
///
/// # Errors
/// Neither, or a file that is no pattern.
pub fn pattern(text: &str) -> Result<Pattern, CliError> {
    let path = Path::new(text);
    if generate::is_spec(text) || (text != "-" && !path.exists() && !text.contains(['/', '.'])) {
        return seatmap_pattern::generate(text).map_err(CliError::input);
    }
    let name = path.file_stem().map_or_else(|| text.to_owned(), |stem| stem.to_string_lossy().into_owned());
    import::read(&self::text(path)?, &name).map_err(|error| CliError::input(AtFile::new(path, error)))
}

/// The QAPLIB instance in a file.
///
/// # Errors
/// The file cannot be read or is no instance.
pub fn instance(path: &Path) -> Result<Instance, CliError> {
    Instance::read(&text(path)?).map_err(|error| CliError::input(AtFile::new(path, error)))
}

fn text(path: &Path) -> Result<String, CliError> {
    let not_text = |_| CliError::input(AtFile::new(path, "this is no pattern, which is text"));
    String::from_utf8(input::bytes(path)?).map_err(not_text)
}
