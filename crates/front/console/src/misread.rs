//! Explains a wrong command line in one line: which command, which word, and a correction.
//!
//! The parser's own messages take five lines, and the second repeats unrelated options.

mod habits;
mod value;

use crate::running::CliProgram;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use habits::{MACHINES, TIMES};
use seatmap_data::document::shell_word;
use seatmap_data::machine::catalog::edits;
use seatmap_data::statistics::words::joined;
use seatmap_launch::Executable;
use std::ffi::OsString;

/// The sentence for a mistake; `None` for `--help` and kinds never reported here.
pub fn sentence(
    error: &clap::Error,
    program: &CliProgram,
    words: impl IntoIterator<Item = OsString>,
) -> Option<String> {
    let words = Vec::from_iter(words);
    let (verb, command) = verb((program.command)(), words_before(error, &words));
    if let Some(answered) = habit(error, &verb, &command, &words) {
        return Some(answered);
    }
    let problem = match error.kind() {
        ErrorKind::ValueValidation => return value::sentence(error),
        ErrorKind::UnknownArgument => unknown(error, &verb, &command, &words)?,
        ErrorKind::InvalidSubcommand => unknown_command(error, &verb, &command)?,
        ErrorKind::MissingRequiredArgument => missing(error, &verb, &command)?,
        ErrorKind::ArgumentConflict => conflict(error)?,
        ErrorKind::InvalidValue => value::one_of(error)?,
        ErrorKind::TooManyValues => format!("{} takes no value", argument(error)?),
        ErrorKind::NoEquals => format!("{} needs '=' before its value", argument(error)?),
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8".to_owned(),
        _ => return None,
    };
    // A command of another program is not a typo, even if it looks like one.
    if let Some(elsewhere) = elsewhere(error, &verb, program) {
        return Some(elsewhere);
    }
    // A suggestion ends the sentence: it already names the right word.
    if problem.ends_with('?') {
        return Some(problem);
    }
    Some(format!("{problem}; see '{verb} --help'"))
}

fn words_before<'a>(error: &clap::Error, words: &'a [OsString]) -> &'a [OsString] {
    let unknown = match error.kind() {
        ErrorKind::UnknownArgument => text(error, ContextKind::InvalidArg),
        _ => text(error, ContextKind::InvalidSubcommand),
    };
    let at = unknown.and_then(|unknown| {
        words.iter().skip(1).position(|word| {
            let word = word.to_string_lossy();
            // `-pc` has the unknown `-p`.
            word == unknown || unknown.starts_with('-') && word.starts_with(&unknown)
        })
    });
    &words[..at.map_or(words.len(), |at| at + 1)]
}

fn habit(error: &clap::Error, verb: &str, command: &Command, words: &[OsString]) -> Option<String> {
    let (what, word) = match error.kind() {
        ErrorKind::InvalidSubcommand => ("command", text(error, ContextKind::InvalidSubcommand)?),
        ErrorKind::UnknownArgument => ("option", argument(error)?),
        // `taskset -pc` means two options there; here, `c` would be the value of `-p`.
        ErrorKind::ValueValidation => ("option", String::new()),
        _ => return None,
    };
    // `mpirun -np 4`: one option of several letters.
    let own = words.iter().map(|typed| typed.to_string_lossy()).take_while(|typed| typed != "--");
    let clusters = own
        .filter(|typed| what == "option" && is_cluster(typed) && typed.starts_with(word.as_str()));
    let mut typed = clusters.map(String::from).chain([word.clone()]);
    typed.find_map(|typed| {
        let answer = habits::answer(&typed, verb, command)?;
        Some(format!("'{verb}' has no {what} '{typed}'; {answer}"))
    })
}

fn is_cluster(word: &str) -> bool {
    word.len() > 2 && word.starts_with('-') && !word.starts_with("--")
}

/// The command's full name, such as `seatmap cell create`, and its definition.
fn verb(command: Command, words: &[OsString]) -> (String, Command) {
    let mut verb = command;
    let mut names = vec![verb.get_name().to_owned()];
    // Options and their values may be between the words of a command.
    for word in words.iter().skip(1) {
        let Some(inner) = word.to_str().and_then(|word| verb.find_subcommand(word)) else {
            continue;
        };
        names.push(inner.get_name().to_owned());
        verb = inner.clone();
    }
    (names.join(" "), verb)
}

/// `--seconds`, if the command has it. If its help begins `With --auto`, that option must be given
/// too.
fn time_option(command: &Command, words: &[OsString]) -> Option<&'static str> {
    let option = command.get_arguments().find(|option| option.get_long() == Some("seconds"))?;
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let needed = help.strip_prefix("With ").and_then(|help| help.split([',', ' ']).next());
    let is_meant = needed.is_none_or(|needed| words.iter().any(|word| word == needed));
    is_meant.then_some("--seconds")
}

fn machine_hint(command: &Command) -> String {
    let takes_word = command.get_positionals().any(|word| word.get_id() == "machine");
    match (has_option(command, "on"), takes_word) {
        (true, _) => question(Some("--on")),
        (false, true) => "; give the machine's name without an option".to_owned(),
        (false, false) => String::new(),
    }
}

fn has_option(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|option| option.get_long() == Some(name))
}

fn unknown(
    error: &clap::Error,
    verb: &str,
    command: &Command,
    words: &[OsString],
) -> Option<String> {
    let word = argument(error)?;
    let is_option = word.starts_with('-');
    let hint = match word.as_str() {
        time if TIMES.contains(&time) => question(time_option(command, words)),
        machine if MACHINES.contains(&machine) => machine_hint(command),
        _ if !is_option && has_option(command, "pid") => {
            "; name a running program with '--pid PID'".to_owned()
        }
        _ => suggestion(error, &word, ContextKind::SuggestedArg),
    };
    let problem = if is_option { "has no option" } else { "takes no argument" };
    Some(format!("'{verb}' {problem} '{word}'{hint}"))
}

fn elsewhere(error: &clap::Error, verb: &str, program: &CliProgram) -> Option<String> {
    let word = text(error, ContextKind::InvalidSubcommand).or_else(|| argument(error))?;
    let typed = format!("{verb} {word}");
    let typed = typed.strip_prefix(program.name)?.trim_start();
    let command = program.successor_of(typed)?;
    Some(format!("'{typed}' is part of the published experiments: type '{command}'"))
}

fn unknown_command(error: &clap::Error, verb: &str, command: &Command) -> Option<String> {
    let word = text(error, ContextKind::InvalidSubcommand)?;
    let problem = format!("'{verb}' has no command '{word}'");
    let near = suggestion(error, &word, ContextKind::SuggestedSubcommand);
    let hint = if near.is_empty() { program_hint(&word, command) } else { near };
    Some(problem + &hint)
}

/// Suggests how to start a program, if the word is one.
fn program_hint(word: &str, command: &Command) -> String {
    let starts_programs = command.find_subcommand("advise").is_some();
    if !starts_programs || Executable::find(&[OsString::from(word)]).is_err() {
        return String::new();
    }
    let program = shell_word(word);
    format!(
        "; it is a program: 'seatmap advise -- {program}' recommends whether and how to pin it, \
         and 'seatmap run --cpus 0-3 -- {program}' pins it"
    )
}

/// One group of alternatives each. Long groups omit what the short help omits.
fn missing(error: &clap::Error, verb: &str, command: &Command) -> Option<String> {
    let Some(ContextValue::Strings(groups)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let groups = groups.iter().map(|group| alternatives(group, command));
    Some(format!("'{verb}' needs {}", joined(groups, ", and ")))
}

const MOST_NAMED: usize = 4;

/// Turns the parser's `<--plan <FILE>|--cpus <LIST>|COMMAND>` into `--plan <FILE>, --cpus <LIST> or
/// COMMAND`.
fn alternatives(group: &str, command: &Command) -> String {
    let inner = group.strip_prefix('<').and_then(|group| group.strip_suffix('>'));
    let group = inner.filter(|_| group.contains('|')).unwrap_or(group);
    let mut names = Vec::from_iter(group.split('|'));
    if names.len() > MOST_NAMED {
        names.retain(|name| is_in_short_help(name, command));
    }
    let names = Vec::from_iter(names.into_iter().map(name));
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Whether the short help lists `--plan <FILE>`.
fn is_in_short_help(alternative: &str, command: &Command) -> bool {
    let long = alternative.strip_prefix("--").and_then(|rest| rest.split([' ', '=']).next());
    let mut hidden = command
        .get_arguments()
        .filter(|option| option.is_hide_set() || option.is_hide_short_help_set());
    long.is_none() || hidden.all(|option| option.get_long() != long)
}

/// Explains options that exclude each other, or an option given twice.
fn conflict(error: &clap::Error) -> Option<String> {
    let argument = argument(error)?;
    let others = match error.get(ContextKind::PriorArg)? {
        ContextValue::String(other) => vec![other.clone()],
        ContextValue::Strings(others) => others.clone(),
        _ => return Some(format!("{argument} cannot be used with the other options given")),
    };
    // The parser reports an option given twice as a conflict with itself.
    if others.is_empty() || others.contains(&argument) {
        return Some(format!("{argument} was given more than once"));
    }
    Some(format!(
        "{argument} cannot be used with {}",
        joined(others.iter().map(|other| name(other)), " and ")
    ))
}

fn argument(error: &clap::Error) -> Option<String> {
    text(error, ContextKind::InvalidArg).map(|argument| name(&argument))
}

/// Removes the brackets of `[COMMAND]...` and `<SHELL>`; an option keeps its value, as in `--cpus
/// <LIST>`.
fn name(argument: &str) -> String {
    let word = argument.trim_end_matches("...");
    let bare = word.strip_prefix(['[', '<']).and_then(|word| word.strip_suffix([']', '>']));
    bare.filter(|bare| !bare.contains(['<', ' '])).unwrap_or(argument).to_owned()
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    error.get(kind).map(ToString::to_string)
}

/// The nearest name as a question; empty if none is near. The parser is too generous: it suggests
/// `--auto` for `--duration`.
fn suggestion(error: &clap::Error, typed: &str, kind: ContextKind) -> String {
    let name = match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name),
        Some(ContextValue::Strings(names)) => names.last(),
        _ => None,
    };
    question(name.map(String::as_str).filter(|name| is_near(typed, name)))
}

fn question(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean '{name}'?")).unwrap_or_default()
}

/// Allows one edit in four letters plus one (a swap is two), or a prefix.
fn is_near(typed: &str, name: &str) -> bool {
    let [typed, name] = [typed, name].map(|word| word.trim_start_matches('-'));
    edits(typed, name) <= 1 + typed.chars().count().div_ceil(4) || name.starts_with(typed)
}
