//! For tests of programs: faults in their help and manual pages.

use crate::guide::{Guides, read};
use crate::manual::pages;
use clap::Command;
use std::io;

/// The examples that the parser rejects, each with its error.
pub fn mistakes(guides: Guides, program: &str, command: fn() -> Command) -> Vec<String> {
    let mut wrong = Vec::new();
    for guide in read(guides, program) {
        for (line, _) in guide.examples {
            // sudo or srun may precede the program; a pipe may follow.
            let words = line.split(' ').map(|word| word.trim_matches(['\'', '<', '(', ')']));
            let words = Vec::from_iter(
                words
                    .skip_while(|word| *word != program)
                    .take_while(|word| !matches!(*word, ">" | "|")),
            );
            if let Err(error) = command().try_get_matches_from(&words) {
                wrong.push(format!("{line}: {error}"));
            }
        }
    }
    wrong
}

/// The options without a useful text on their page, each with the page's file. Repeating the
/// option's name is not useful.
///
/// # Errors
/// A page cannot be composed.
pub fn unexplained(command: Command, guides: Guides) -> io::Result<Vec<String>> {
    let mut bare = Vec::new();
    for page in pages(command, guides)? {
        let mut lines = page.text.lines().peekable();
        while let Some(line) = lines.next() {
            if line != ".TP" {
                continue;
            }
            let Some(head) = lines.next() else { continue };
            let text = lines.peek().filter(|text| !text.starts_with('.')).copied();
            if !text.is_some_and(|text| says_more(text, head)) {
                bare.push(format!("{}: {head}", page.file));
            }
        }
    }
    Ok(bare)
}

/// Whether a text has words that its heading lacks.
fn says_more(text: &str, head: &str) -> bool {
    let head = head.to_lowercase();
    let small = ["a", "an", "the", "of", "its", "to"];
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words
        .filter(|word| !word.is_empty() && !small.contains(&word.as_str()))
        .any(|word| !head.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    #[test]
    fn unexplained_options_are_found() {
        let bare = Arg::new("bare").long("bare");
        let repeated = Arg::new("seed").long("seed").help("The seed");
        let told = Arg::new("told").long("told").help("Where random choices start");
        let command = Command::new("p").arg(bare).arg(repeated).arg(told);
        let found = unexplained(command, "").unwrap();
        let heads =
            Vec::from_iter(found.iter().map(|line| line.contains("bare") || line.contains("seed")));
        assert_eq!(heads, [true, true], "{found:?}");
    }
}
