//! The parts of help and manual pages other than the options: examples, exit codes, files,
//! variables, related commands.
//!
//! A program has one table for each verb, which help, manual pages and tests read.

use clap::Command;
use seatmap_report::terminal::{command, wrapped};

/// A word of a page and its meaning, without a full stop.
pub type GuideEntry = (&'static str, &'static str);

/// Success.
pub const DONE: GuideEntry = ("0", "done");
/// A failure of the work.
pub const FAILED: GuideEntry = ("1", "the work failed");
/// A user error.
pub const USAGE: GuideEntry = ("2", "the command line or an input file is wrong");
/// The codes of a command that succeeds or fails.
pub const USUAL_EXITS: &[GuideEntry] = &[DONE, FAILED, USAGE];

const NARROW: usize = 80;

/// The program's name in examples that several programs share.
const ITS_NAME: &str = "{program}";

/// The help of one command.
#[derive(Clone, Copy)]
pub struct VerbGuide {
    /// Words after the program's name, such as `cell create`; else empty.
    pub verb: &'static str,
    /// Useful command lines, with what each does.
    pub examples: &'static [GuideEntry],
    /// Examples in `-h`, chosen so that it fits on one screen.
    pub short_examples: usize,
    /// Exit codes.
    pub exits: &'static [GuideEntry],
    /// Files that the command reads or writes at fixed paths.
    pub files: &'static [GuideEntry],
    /// Environment variables.
    pub environment: &'static [GuideEntry],
    /// Related commands of this program; other manual pages include their section: `taskset(1)`.
    pub see_also: &'static [&'static str],
}

impl VerbGuide {
    /// A table with only the usual exit codes.
    pub const USUAL: VerbGuide = VerbGuide {
        verb: "",
        examples: &[],
        short_examples: 3,
        exits: USUAL_EXITS,
        files: &[],
        environment: &[],
        see_also: &[],
    };

    /// The examples, with this program's name.
    pub fn examples_of<'a>(&'a self, program: &'a str) -> impl Iterator<Item = (String, &'a str)> {
        self.examples.iter().map(move |(line, about)| (line.replace(ITS_NAME, program), *about))
    }

    /// The related pages as (name, section), with this program's prefix for its own.
    pub fn pages<'a>(&'a self, program: &'a str) -> impl Iterator<Item = (String, &'a str)> {
        self.see_also.iter().map(move |page| match page.split_once('(') {
            Some((name, section)) => (name.to_owned(), section.trim_end_matches(')')),
            None => (format!("{program}-{}", page.replace(' ', "-")), "1"),
        })
    }

    /// The text after the options of `-h`.
    fn short_help(&self, program: &str) -> String {
        let shown = self.examples_of(program).take(self.short_examples.max(1));
        let lines = Vec::from_iter(shown.map(|(line, _)| line));
        match &lines[..] {
            [] => String::new(),
            [one] => format!("Example: {one}"),
            many => format!("Examples:\n  {}", many.join("\n  ")),
        }
    }

    /// The text after the options of `--help`.
    fn long_help(&self, program: &str) -> String {
        let mut text = String::new();
        if !self.examples.is_empty() {
            text += "Examples:\n";
            for (line, about) in self.examples_of(program) {
                text += &command(&format!("  {line}"), NARROW);
                text += &wrapped(&format!("          {about}"), NARROW);
            }
            text.push('\n');
        }
        text += "Exit status:\n";
        for (code, about) in self.exits {
            // The parser's own wrapping would not indent continuation lines.
            text += &wrapped(&format!("  {code}  {about}"), NARROW);
        }
        text.trim_end().to_owned()
    }
}

/// The tables of a program, by verb.
pub type Guides = &'static [&'static [VerbGuide]];

/// The table of the command with these words after the program's name.
pub fn of(guides: Guides, verb: &str) -> Option<&'static VerbGuide> {
    guides.iter().copied().flatten().find(|guide| guide.verb == verb)
}

/// Adds examples and exit codes after the options.
pub fn with_guides(command: Command, guides: Guides) -> Command {
    let program = command.get_name().to_owned();
    below(command, &program, "", guides)
}

fn below(command: Command, program: &str, verb: &str, guides: Guides) -> Command {
    let command = match of(guides, verb) {
        Some(guide) if verb.is_empty() => command.after_long_help(guide.long_help(program)),
        Some(guide) => {
            command.after_help(guide.short_help(program)).after_long_help(guide.long_help(program))
        }
        None => command,
    };
    command.mut_subcommands(|inner| {
        let words = format!("{verb} {}", inner.get_name());
        below(inner, program, words.trim_start(), guides)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDES: Guides = &[&[VerbGuide {
        verb: "a b",
        examples: &[("{program} a b 1", "do one"), ("p a b 2", "do two")],
        short_examples: 1,
        see_also: &["a c", "taskset(1)"],
        ..VerbGuide::USUAL
    }]];

    #[test]
    fn help_has_examples_and_codes() {
        let command = Command::new("p")
            .subcommand(Command::new("a").subcommand(Command::new("b").about("does b")));
        let mut command = with_guides(command, GUIDES);
        command.build();
        let inner = command.find_subcommand_mut("a").unwrap().find_subcommand_mut("b").unwrap();
        let short = inner.render_help().to_string();
        assert!(short.ends_with("\nExample: p a b 1\n"), "{short}");
        let long = inner.render_long_help().to_string();
        assert!(
            long.contains("\nExamples:\n  p a b 1\n          do one\n  p a b 2\n")
                && long.contains("\n  1  the work failed\n"),
            "{long}"
        );
    }

    #[test]
    fn guide_names_related_pages() {
        let pages = Vec::from_iter(of(GUIDES, "a b").unwrap().pages("p"));
        assert_eq!(pages, [("p-a-c".to_owned(), "1"), ("taskset".to_owned(), "1")]);
        assert!(of(GUIDES, "a").is_none());
    }
}
