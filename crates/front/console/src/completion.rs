//! Shell completions. The shell's script runs this program at each key press, so completions
//! include the machines, patterns and cells that exist now.

use crate::error::{CliError, CliResult};
use crate::living;
use crate::output;
use crate::running::{CliProgram, KnownValue, KnownValues, Lookup};
use clap::{Arg, Command};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{EnvCompleter, Shells};
use seatmap_data::document::{is_hidden, visible};
use seatmap_data::pattern::generate::GENERATORS;
use std::ffi::{OsStr, OsString};

/// bash would pass `kind:p` as three words, and drop the last of `kind:`.
const WHOLE_WORDS: &str = "COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n";

/// The script that enables completions in a shell.
///
/// # Errors
/// The shell is not supported.
pub fn script(program: &CliProgram, shell: clap_complete::Shell) -> CliResult<String> {
    let shells = Shells::builtins();
    let mut script = Vec::new();
    let name = program.name;
    let known = shells.completer(&shell.to_string());
    let variable = program.completion_variable;
    known
        .ok_or_else(|| CliError::input(format!("there are no completions for {shell}")))?
        .write_registration(variable, name, name, name, &mut script)
        .map_err(CliError::work)?;
    let mut text = String::from_utf8_lossy(&script).into_owned();
    match shell {
        clap_complete::Shell::Zsh => {
            // zsh loads completion functions at the first key press, so the script must also
            // answer if called as that function.
            let function = name.replace('-', "_");
            text += &format!(
                "[[ $funcstack[1] != _{name} ]] || _clap_dynamic_completer_{function} \"$@\"\n"
            );
        }
        clap_complete::Shell::Bash => text += WHOLE_WORDS,
        _ => {}
    }
    Ok(text)
}

/// Prints the completions that a shell requests; `None` if no shell does.
pub fn answer(program: &CliProgram) -> Option<CliResult> {
    let name = std::env::var(program.completion_variable).ok()?;
    let shells = Shells::builtins();
    // The words to complete follow the script's own.
    let words = Vec::from_iter(std::env::args_os().skip_while(|word| word != "--").skip(1));
    // Without words to complete there is no request, even if the variable is set.
    let shell = shells.completer(&name).filter(|_| !words.is_empty())?;
    Some(completed(program, shell, words))
}

fn completed(program: &CliProgram, shell: &dyn EnvCompleter, words: Vec<OsString>) -> CliResult {
    let command = with_values((program.command)(), program.known_values);
    let mut command = with_programs(command, begins_command(&words));
    let folder = std::env::current_dir().ok();
    let mut candidates = Vec::new();
    shell
        .write_complete(&mut command, words, folder.as_deref(), &mut candidates)
        .map_err(CliError::work)?;
    output::print_exact(&String::from_utf8_lossy(&candidates))
}

/// Adds the known values of arguments to the command line.
pub fn with_values(command: Command, known_values: Lookup) -> Command {
    let itself = command.clone();
    command
        .mut_args(|argument: Arg| match known_values(&itself, &argument) {
            Some(values) => argument.add(completer(values, false)),
            None => with_common_values(argument),
        })
        .mut_subcommands(|inner| with_values(inner, known_values))
}

/// Whether the word to complete is the first of a command.
fn begins_command(words: &[OsString]) -> bool {
    // bash and zsh pass the word's index; for other shells it is the last.
    let place = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|place| place.parse().ok());
    let place: usize = place.unwrap_or_else(|| words.len().saturating_sub(1));
    let before = &words[..place.min(words.len())];
    // Without `--`, the parser knows which word begins the command.
    before.last().is_some_and(|word| word == "--") || before.iter().all(|word| word != "--")
}

fn with_programs(command: Command, begins: bool) -> Command {
    let complete = move |argument: Arg| {
        let names = argument.get_value_names().unwrap_or_default();
        if names.first().is_none_or(|name| name != "COMMAND") || !argument.is_positional() {
            return argument;
        }
        argument.add(completer(if begins { living::programs } else { Vec::new }, true))
    };
    command.mut_args(complete).mut_subcommands(move |inner| with_programs(inner, begins))
}

/// Adds the values of arguments that mean the same in every program.
fn with_common_values(argument: Arg) -> Arg {
    let name = argument.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
    let values = match (name.unwrap_or_default(), argument.get_id().as_str()) {
        ("MACHINE" | "PROFILE" | "DOCUMENT", _) | ("FILE", "profile") => completer(machines, true),
        ("PATTERN", _) => completer(patterns, true),
        ("WORDS", _) | ("LIST", "cpus") => completer_of_cpus(),
        ("PID", _) => completer(living::processes, false),
        ("GLOB", _) => completer(living::program_names, false),
        ("UNIT", _) => completer(living::units, false),
        ("PATH", "cgroup") => completer(living::groups, true),
        _ => return argument,
    };
    argument.add(values)
}

/// Also completes files if the argument accepts them.
fn completer(values: KnownValues, or_file: bool) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let mut found: Vec<_> = values()
            .into_iter()
            // A word that is not UTF-8 begins no name but may begin a file name.
            .filter(|known| typed.to_str().is_some_and(|typed| begins(known, typed)))
            .map(|known| {
                let about = known.about.map(|about| visible(&about).into());
                CompletionCandidate::new(known.value).help(about)
            })
            .collect();
        // Bundled names first: the folder may contain many files.
        if or_file {
            found.extend(PathCompleter::any().complete(typed));
        }
        // A shell prints names of other users' programs, groups and files unescaped.
        found.retain(|one| !one.get_value().to_string_lossy().contains(is_hidden));
        found
    })
}

fn completer_of_cpus() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let typed = typed.to_str().unwrap_or_default();
        let mut begin = typed.rfind([',', '/', '+']).map_or(0, |at| at + 1);
        if typed[begin..].starts_with("not:") {
            begin += "not:".len();
        }
        let (before, word) = typed.split_at(begin);
        let words = living::cpu_words().into_iter().filter(|known| known.value.starts_with(word));
        words
            .map(|known| {
                let about = known.about.map(Into::into);
                CompletionCandidate::new(format!("{before}{}", known.value)).help(about)
            })
            .collect()
    })
}

/// Also matches the description and the last path component.
fn begins(known: &KnownValue, typed: &str) -> bool {
    let about = known.about.as_deref().unwrap_or_default();
    let names = [known.value.as_str(), about, living::last_part(&known.value)];
    names.iter().any(|name| name.starts_with(typed))
}

fn machines() -> Vec<KnownValue> {
    ["host"]
        .into_iter()
        .chain(seatmap_machines::catalog::bundled::names())
        .map(KnownValue::from)
        .collect()
}

/// Generators such as `ring:`; the user adds the parameters.
fn patterns() -> Vec<KnownValue> {
    let forms = GENERATORS.iter();
    forms
        .filter_map(|(form, _)| {
            Some(KnownValue::told(form.split_once(':')?.0.to_owned() + ":", *form))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_completions_are_complete_and_unique() {
        let mut names = Vec::from_iter(machines().into_iter().map(|known| known.value));
        assert!(
            ["host", "scc-48", "xeon-8375c-2s", "xeon-phi-5110p"]
                .iter()
                .all(|it| names.contains(&it.to_string()))
        );
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(patterns().iter().any(|known| known.value == "stencil2d:"));
    }
}
