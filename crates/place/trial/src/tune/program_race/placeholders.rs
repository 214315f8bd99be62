//! Placeholders in a command, such as `{hosts}`, that each run replaces.

use std::ffi::OsString;

/// Whether a command contains a placeholder.
pub fn holds(command: &[OsString], place: &str) -> bool {
    command.iter().any(|word| word.to_string_lossy().contains(place))
}

/// The command with `words` in place of each word that is the placeholder, and with `line` within
/// other words, such as a shell command.
pub fn replaced(
    command: &[OsString],
    place: &str,
    words: &[OsString],
    line: &str,
) -> Vec<OsString> {
    let mut replaced: Vec<OsString> = Vec::with_capacity(command.len());
    for word in command {
        match word.to_str() {
            Some(text) if text == place => replaced.extend_from_slice(words),
            Some(text) => replaced.push(text.replace(place, line).into()),
            None => replaced.push(word.clone()),
        }
    }
    replaced
}
