//! Says in one line of our own what is wrong with a command line: which command, which word, what
//! to type instead.
//!
//! The parser's own messages take five lines, of which the second repeats options that nobody asked
//! about.

mod value;

use crate::running::Program;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// The sentence for a mistake; `None` where there is none, as for `--help`, and for kinds that this
/// parser never reports here.
pub fn sentence(
    error: &clap::Error,
    program: &Program,
    words: impl IntoIterator<Item = OsString>,
) -> Option<String> {
    if error.kind() == ErrorKind::ValueValidation {
        return value::sentence(error);
    }
    let verb = verb((program.command)(), words);
    let problem = match error.kind() {
        ErrorKind::UnknownArgument => unknown(error, &verb)?,
        ErrorKind::InvalidSubcommand => unknown_command(error, &verb)?,
        ErrorKind::MissingRequiredArgument => missing(error, &verb)?,
        ErrorKind::ArgumentConflict => conflict(error)?,
        ErrorKind::InvalidValue => value::one_of(error)?,
        ErrorKind::TooManyValues => format!("{} takes no value", argument(error)?),
        ErrorKind::NoEquals => format!("{} takes its value after '='", argument(error)?),
        ErrorKind::InvalidUtf8 => "a word of the command line is not UTF-8".to_owned(),
        _ => return None,
    };
    // A command of another program is not a mistyped one of this, though one may look like it.
    if let Some(elsewhere) = elsewhere(error, program) {
        return Some(elsewhere);
    }
    // A question ends the sentence: the name that is meant stands in it.
    if problem.ends_with('?') {
        return Some(problem);
    }
    Some(format!("{problem}; see '{verb} --help'"))
}

/// The command that was typed, with all its words: `seatmap cell create`.
fn verb(command: Command, words: impl IntoIterator<Item = OsString>) -> String {
    let mut verb = command;
    let mut names = vec![verb.get_name().to_owned()];
    // Options and their values may stand between the words of a command.
    for word in words.into_iter().skip(1) {
        let Some(inner) = word.to_str().and_then(|word| verb.find_subcommand(word)) else {
            continue;
        };
        names.push(inner.get_name().to_owned());
        verb = inner.clone();
    }
    names.join(" ")
}

/// An option that the command does not have, or a word too many.
fn unknown(error: &clap::Error, verb: &str) -> Option<String> {
    let word = argument(error)?;
    let problem = if word.starts_with('-') {
        format!("'{verb}' has no option '{word}'")
    } else {
        format!("'{verb}' does not know what to do with '{word}'")
    };
    Some(problem + &suggestion(error, ContextKind::SuggestedArg))
}

/// The command is another program's.
fn elsewhere(error: &clap::Error, program: &Program) -> Option<String> {
    let word = text(error, ContextKind::InvalidSubcommand)?;
    let owner = program.owner_of(&word)?;
    Some(format!("'{word}' repeats a published experiment: type '{owner} {word}'"))
}

fn unknown_command(error: &clap::Error, verb: &str) -> Option<String> {
    let word = text(error, ContextKind::InvalidSubcommand)?;
    Some(format!(
        "'{verb}' has no command '{word}'{}",
        suggestion(error, ContextKind::SuggestedSubcommand)
    ))
}

/// The command needs one of each group of alternatives.
fn missing(error: &clap::Error, verb: &str) -> Option<String> {
    let Some(ContextValue::Strings(groups)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let groups: Vec<String> = groups.iter().map(|group| alternatives(group)).collect();
    Some(format!("'{verb}' needs {}", groups.join(", and ")))
}

/// The parser's `<--plan <FILE>|--cpus <LIST>|COMMAND>` in words: `--plan <FILE>, --cpus <LIST> or
/// COMMAND`.
fn alternatives(group: &str) -> String {
    let inner = group
        .strip_prefix('<')
        .and_then(|group| group.strip_suffix('>'))
        .filter(|_| group.contains('|'));
    let names: Vec<String> = inner.unwrap_or(group).split('|').map(name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Two options that exclude one another, or one that stands there twice.
fn conflict(error: &clap::Error) -> Option<String> {
    let argument = argument(error)?;
    let others = match error.get(ContextKind::PriorArg)? {
        ContextValue::String(other) => vec![other.clone()],
        ContextValue::Strings(others) => others.clone(),
        _ => return None,
    };
    // The parser reports an option that stands twice as a conflict with itself.
    if others.is_empty() || others.contains(&argument) {
        return Some(format!("{argument} may be given once"));
    }
    Some(format!(
        "{argument} cannot be used with {}",
        others.iter().map(|other| name(other)).collect::<Vec<_>>().join(" and ")
    ))
}

fn argument(error: &clap::Error) -> Option<String> {
    text(error, ContextKind::InvalidArg).map(|argument| name(&argument))
}

/// The parser's `[COMMAND]...` and `<SHELL>` without brackets; an option keeps its value, as in
/// `--cpus <LIST>`.
fn name(argument: &str) -> String {
    let word = argument.trim_end_matches("...");
    let bare = word.strip_prefix(['[', '<']).and_then(|word| word.strip_suffix([']', '>']));
    bare.filter(|bare| !bare.contains(['<', ' '])).unwrap_or(argument).to_owned()
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    error.get(kind).map(ToString::to_string)
}

/// The nearest name that exists, as a question; empty where none is near.
fn suggestion(error: &clap::Error, kind: ContextKind) -> String {
    let name = match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name),
        Some(ContextValue::Strings(names)) => names.last(),
        _ => None,
    };
    name.map(|name| format!("; did you mean '{name}'?")).unwrap_or_default()
}
