//! The parts of help and manual pages other than the options: examples, exit codes, files,
//! variables, related commands.
//!
//! Each program has one text with a guide for each verb, which help, manual pages and tests read.

use clap::Command;
use seatmap_report::terminal::{command, wrapped};

/// A word of a page and its meaning, without a full stop.
pub type GuideEntry = (String, String);

/// The text of a program's guides: blocks separated by blank lines.
///
/// The first line of a block is `program`, `verb` with the words after the program's name, or
/// `part` with a name. Then each line is a keyword with a word, followed by the word's meaning on
/// indented lines: `$` begins an example, `with` inserts a part. Without exit codes, a verb has the
/// usual ones. `{program}` is the program's name.
pub type Guides = &'static str;

/// The verbs for shells, and parts for all programs.
const SHARED: Guides = include_str!("guides.txt");

const NARROW: usize = 80;

/// The help of one command.
pub struct VerbGuide {
    /// Words after the program's name, such as `cell create`; else empty.
    pub verb: String,
    /// Useful command lines, with what each does.
    pub examples: Vec<GuideEntry>,
    /// Examples in `-h`, chosen so that it fits on one screen.
    pub short_examples: usize,
    /// Exit codes.
    pub exits: Vec<GuideEntry>,
    /// Files that the command reads or writes at fixed paths.
    pub files: Vec<GuideEntry>,
    /// Environment variables.
    pub environment: Vec<GuideEntry>,
    /// Related commands of this program; other manual pages include their section: `taskset(1)`.
    pub see_also: Vec<String>,
}

/// The guides of a program's verbs.
pub fn read(guides: Guides, program: &str) -> Vec<VerbGuide> {
    let text = format!("{guides}\n{SHARED}").replace("{program}", program);
    let blocks = Vec::from_iter(text.split("\n\n").filter_map(|block| block.split_once('\n')));
    let verbs = blocks.iter().filter_map(|(head, lines)| {
        let verb = if *head == "program" { "" } else { head.strip_prefix("verb ")? };
        Some(VerbGuide::of(verb, lines, &blocks))
    });
    verbs.collect()
}

impl VerbGuide {
    fn of(verb: &str, lines: &str, blocks: &[(&str, &str)]) -> Self {
        let mut guide = VerbGuide {
            verb: verb.to_owned(),
            examples: Vec::new(),
            short_examples: 3,
            exits: Vec::new(),
            files: Vec::new(),
            environment: Vec::new(),
            see_also: Vec::new(),
        };
        guide.add(lines, blocks);
        if guide.exits.is_empty() {
            guide.add("with usual exits", blocks);
        }
        guide.add("with all commands", blocks);
        guide
    }

    fn add(&mut self, lines: &str, blocks: &[(&str, &str)]) {
        // Tabs separate a word from its meaning, and the lines of the meaning.
        for line in lines.replace("\n  ", "\t").lines() {
            let (line, meaning) = line.split_once('\t').unwrap_or((line, ""));
            let (keyword, word) = line.split_once(' ').unwrap_or_default();
            let entry = (word.to_owned(), meaning.replace('\t', " "));
            match keyword {
                "$" => self.examples.push(entry),
                "exit" => self.exits.push(entry),
                "file" => self.files.push(entry),
                "variable" => self.environment.push(entry),
                "short" => self.short_examples = word.parse().unwrap_or_default(),
                "see" => self.see_also.extend(word.split(", ").map(str::to_owned)),
                _ => {
                    let part =
                        blocks.iter().find(|(head, _)| head.strip_prefix("part ") == Some(word));
                    part.into_iter().for_each(|(_, lines)| self.add(lines, blocks));
                }
            }
        }
    }

    /// The related pages as (name, section), with this program's prefix for its own.
    pub fn pages<'a>(&'a self, program: &'a str) -> impl Iterator<Item = (String, &'a str)> {
        self.see_also.iter().map(move |page| match page.split_once('(') {
            Some((name, section)) => (name.to_owned(), section.trim_end_matches(')')),
            None => (format!("{program}-{}", page.replace(' ', "-")), "1"),
        })
    }

    /// The text after the options of `-h`.
    fn short_help(&self) -> String {
        let shown = self.examples.iter().take(self.short_examples.max(1));
        let lines = Vec::from_iter(shown.map(|(line, _)| line.as_str()));
        match &lines[..] {
            [] => String::new(),
            [one] => format!("Example: {one}"),
            many => format!("Examples:\n  {}", many.join("\n  ")),
        }
    }

    /// The text after the options of `--help`.
    fn long_help(&self) -> String {
        let mut text = String::new();
        if !self.examples.is_empty() {
            text += "Examples:\n";
            for (line, about) in &self.examples {
                text += &command(&format!("  {line}"), NARROW);
                text += &wrapped(&format!("          {about}"), NARROW);
            }
            text.push('\n');
        }
        text += "Exit status:\n";
        for (code, about) in &self.exits {
            // The parser's own wrapping would not indent continuation lines.
            text += &wrapped(&format!("  {code}  {about}"), NARROW);
        }
        text.trim_end().to_owned()
    }
}

/// Adds examples and exit codes after the options.
pub fn with_guides(command: Command, guides: Guides) -> Command {
    let guides = read(guides, command.get_name());
    below(command, "", &guides)
}

fn below(command: Command, verb: &str, guides: &[VerbGuide]) -> Command {
    let command = match guides.iter().find(|guide| guide.verb == verb) {
        Some(guide) if verb.is_empty() => command.after_long_help(guide.long_help()),
        Some(guide) => command.after_help(guide.short_help()).after_long_help(guide.long_help()),
        None => command,
    };
    command.mut_subcommands(|inner| {
        let words = format!("{verb} {}", inner.get_name());
        below(inner, words.trim_start(), guides)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDES: Guides = "\
verb a b
short 1
$ {program} a b 1
  do one
$ p a b 2
  do
  two
with x
see a c, taskset(1)

part x
file /run/p
  seats
";

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
            long.contains(
                "\nExamples:\n  p a b 1\n          do one\n  p a b 2\n          do two\n"
            ) && long.contains("\n  1  the work failed\n"),
            "{long}"
        );
    }

    #[test]
    fn guide_names_files_and_related_pages() {
        let guides = read(GUIDES, "p");
        let pages = Vec::from_iter(guides[0].pages("p"));
        assert_eq!(pages, [("p-a-c".to_owned(), "1"), ("taskset".to_owned(), "1")]);
        assert_eq!(guides[0].files, [("/run/p".to_owned(), "seats".to_owned())]);
        let verbs = Vec::from_iter(guides.iter().map(|guide| &*guide.verb));
        assert_eq!(verbs, ["a b", "completions", "man"]);
    }
}
