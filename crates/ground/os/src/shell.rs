//! Quoting for printed shell commands.

use crate::visible::is_hidden;

/// Quotes a word for a POSIX shell, if necessary. Hidden characters are escaped for bash, ksh, zsh
/// and POSIX 2024 (`$'\012'`), so the command can be copied from a terminal.
///
/// ```
/// use seatmap_os::shell::shell_word;
/// assert_eq!(shell_word("old.xml"), "old.xml");
/// assert_eq!(shell_word("Zoë's file.xml"), r"'Zoë'\''s file.xml'");
/// ```
pub fn shell_word(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.contains(is_hidden) {
        return with_escapes(word);
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Escapes a word of a command that is itself quoted. Adds quotation marks only for hidden
/// characters, because a shell drops a line break after a backslash.
///
/// ```
/// use seatmap_os::shell::shell_escaped;
/// assert_eq!(shell_escaped("Zoë's file"), r"Zoë\'s\ file");
/// assert_eq!(shell_escaped("a\nb"), r"$'a\012b'");
/// ```
pub fn shell_escaped(word: &str) -> String {
    if word.is_empty() || word.contains(is_hidden) {
        return shell_word(word);
    }
    word.chars()
        .flat_map(|c| (!is_plain(c) && !c.is_alphanumeric()).then_some('\\').into_iter().chain([c]))
        .collect()
}

/// Needs no quoting.
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
                // A following digit must not extend the escape.
                quoted
                    .extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\{byte:03o}")));
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

/// Quotes a file's name, and prevents one with a leading `-` from being an option.
pub fn shell_file(name: &str) -> String {
    let word = shell_word(name);
    if name.starts_with('-') { format!("./{word}") } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_reads_quoted_words_unchanged() {
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
