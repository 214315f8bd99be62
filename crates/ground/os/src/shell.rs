//! Words of printed commands, quoted as a shell reads them.

use crate::visible::is_hidden;

/// A word as a POSIX shell takes it: as it is where that is safe, in quotes otherwise. Hidden
/// characters are written as bash, ksh, zsh and POSIX of 2024 read them (`$'\012'`), so that the
/// command can be copied from a terminal.
///
/// ```
/// use seatmap_os::shell::shell_word;
/// assert_eq!(shell_word("old.xml"), "old.xml");
/// assert_eq!(shell_word("Zoë's file.xml"), r"'Zoë'\''s file.xml'");
/// ```
#[must_use]
pub fn shell_word(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.contains(is_hidden) {
        return with_escapes(word);
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word of a command that itself stands in quotation marks: without marks of its own, where it
/// has no hidden character. A shell drops a line break behind a backslash.
///
/// ```
/// use seatmap_os::shell::shell_escaped;
/// assert_eq!(shell_escaped("Zoë's file"), r"Zoë\'s\ file");
/// assert_eq!(shell_escaped("a\nb"), r"$'a\012b'");
/// ```
#[must_use]
pub fn shell_escaped(word: &str) -> String {
    if word.is_empty() || word.contains(is_hidden) {
        return shell_word(word);
    }
    word.chars()
        .flat_map(|c| (!is_plain(c) && !c.is_alphanumeric()).then_some('\\').into_iter().chain([c]))
        .collect()
}

/// Whether a shell takes a character as it is.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+,:=@%".contains(c)
}

fn with_escapes(word: &str) -> String {
    let mut quoted = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if is_hidden(c) => {
                let mut bytes = [0; 4];
                // Always three digits, so that one behind the escape is not read as a part of it.
                quoted
                    .extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\{byte:03o}")));
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

/// A file's name in a command: never an option, even if it begins with `-`.
#[must_use]
pub fn shell_file(name: &str) -> String {
    let word = shell_word(name);
    if name.starts_with('-') { format!("./{word}") } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_word() {
        for word in ["a", "", "two words", "it's", "$HOME `x` \"y\" \\", "a\nb\u{1b}'\u{202e}", "*"]
        {
            for quoted in [shell_word(word), shell_escaped(word)] {
                let script = format!("printf %s {quoted}");
                let shell = std::process::Command::new("bash").args(["-c", &script]).output();
                let Ok(shell) = shell else { return };
                assert_eq!(String::from_utf8_lossy(&shell.stdout), word, "{script}");
                assert!(!quoted.contains(is_hidden));
            }
        }
        assert_eq!(shell_file("-x y"), "./'-x y'");
    }
}
