//! Generates manual pages.

use crate::error::{AtPath, CliResult};
use crate::guide::{self, GuideEntry, Guides, VerbGuide};
use crate::output::{self, Destination};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use seatmap_report::capital;
use std::io;
use std::path::Path;

/// A page of the manual.
pub struct ManualPage {
    /// File name.
    pub file: String,
    /// Text, in the language of man(7).
    pub text: String,
}

/// Writes the manual pages of a command and its subcommands into a folder, or prints the main one.
///
/// # Errors
/// The folder or a file in it cannot be written.
pub fn write(command: Command, guides: Guides, folder: Option<&Path>) -> CliResult {
    let pages = pages(command, guides)?;
    let Some(folder) = folder else {
        return pages.first().map_or(Ok(()), |main| output::print_exact(&main.text));
    };
    std::fs::create_dir_all(folder).work_at(folder)?;
    // As for any output, a link of another user is not followed.
    pages.iter().try_for_each(|page| Destination::new(&folder.join(&page.file))?.write(&page.text))
}

/// The manual pages, the program's first.
///
/// # Errors
/// A page cannot be composed.
pub fn pages(command: Command, guides: Guides) -> io::Result<Vec<ManualPage>> {
    // The command `help` repeats --help, and would have another page for each verb.
    let mut command = with_all_texts(command.disable_help_subcommand(true));
    command.build();
    let program = command.get_name().to_owned();
    let guides = guide::read(guides, &program);
    let mut pages = Vec::new();
    let mut commands = vec![(String::new(), command)];
    while let Some((verb, command)) = commands.pop() {
        let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
        let inner = inner.map(|inner| {
            (format!("{verb} {}", inner.get_name()).trim_start().to_owned(), inner.clone())
        });
        commands.extend(inner);
        let guide = guides.iter().find(|guide| guide.verb == verb);
        pages.push(page(command, &program, guide)?);
    }
    Ok(pages)
}

/// The library omits the text of options that `-h` hides.
fn with_all_texts(command: Command) -> Command {
    command.mut_args(|argument| argument.hide_short_help(false)).mut_subcommands(with_all_texts)
}

fn page(command: Command, program: &str, guide: Option<&VerbGuide>) -> io::Result<ManualPage> {
    let has_commands = command.get_subcommands().any(|inner| !inner.is_hide_set());
    let has_version = command.get_version().is_some();
    let has_options = command.get_arguments().any(|argument| !argument.is_hide_set());
    let title = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let man = Man::new(command).title(&title).source(program).manual("Seatmap");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if has_options {
        man.render_options_section(&mut text)?;
    }
    if has_commands {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(guide) = guide {
        of_guide(program, guide).to_writer(&mut text)?;
    }
    if has_version {
        man.render_version_section(&mut text)?;
    }
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    Ok(ManualPage { file: format!("{title}.1"), text: without_repeated_preamble(&text) })
}

fn of_guide(program: &str, guide: &VerbGuide) -> Roff {
    let mut roff = Roff::default();
    list(&mut roff, "EXIT STATUS", &guide.exits);
    list(&mut roff, "FILES", &guide.files);
    list(&mut roff, "ENVIRONMENT", &guide.environment);
    list(&mut roff, "EXAMPLES", &guide.examples);
    let mut related: Vec<Inline> = Vec::new();
    for (name, section) in guide.pages(program) {
        if !related.is_empty() {
            related.push(roman(", "));
        }
        related.extend([bold(name), roman(format!("({section})"))]);
    }
    if !related.is_empty() {
        roff.control("SH", ["SEE ALSO"]).text(related);
    }
    roff
}

/// Nothing without entries.
fn list(roff: &mut Roff, title: &str, entries: &[GuideEntry]) {
    if !entries.is_empty() {
        roff.control("SH", [title]);
    }
    for (word, about) in entries {
        let about = capital(about) + ".";
        roff.control("TP", []).text([bold(word)]).text([roman(about)]);
    }
}

/// The library repeats the definition of the apostrophe before each section.
fn without_repeated_preamble(text: &str) -> String {
    let preamble = Vec::from_iter(text.lines().take_while(|line| !line.starts_with(".TH")));
    let body = text.lines().filter(|line| !preamble.contains(line));
    preamble.iter().copied().chain(body).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    const GUIDES: Guides = "\
verb sit
$ p sit --rare 3
  sit on three
file /run/p
  remembered seats
see stand, taskset(1)
";

    #[test]
    fn a_page_has_every_text_and_section() {
        let rare = Arg::new("rare").long("rare").help("Seldom needed").hide_short_help(true);
        let command = Command::new("p").version("1").subcommand(Command::new("sit").arg(rare));
        let pages = pages(command, GUIDES).unwrap();
        let files = Vec::from_iter(pages.iter().map(|page| &*page.file));
        assert_eq!(files, ["p.1", "p-sit.1"]);
        let text = &pages[1].text;
        for part in [
            "Seldom needed",
            ".SH \"EXIT STATUS\"",
            "The work failed.",
            ".SH FILES\n",
            "\\fBp sit \\-\\-rare 3\\fR\nSit on three.\n",
            "\\fBp\\-stand\\fR(1), \\fBtaskset\\fR(1)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(text.matches(".ds Aq").count(), 2, "{text}");
    }
}
