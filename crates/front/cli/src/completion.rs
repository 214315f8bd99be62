//! Completions. The shell's script asks this program for them at each press of the key, so they include the machines,
//! patterns and cells that exist now.

use crate::error::CliError;
use crate::output;
use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{EnvCompleter, Shells};
use seatmap_cell::{GuardianCommand, Host};
use seatmap_pattern::generate::GENERATORS;
use std::ffi::{OsStr, OsString};

/// Set by the script to the shell's name.
const VARIABLE: &str = "SEATMAP_COMPLETE";

/// zsh loads `_seatmap` from its function path at the first press of the key: the script, called as that, must answer
/// too.
const AS_ZSH_FUNCTION: &str = "[[ $funcstack[1] != _seatmap ]] || _clap_dynamic_completer_seatmap \"$@\"\n";

/// The values that an argument may have, but for files.
type Values = fn() -> Vec<String>;

/// The script that makes a shell ask.
///
/// # Errors
/// A shell that is not known.
pub fn script(shell: clap_complete::Shell) -> Result<String, CliError> {
    let shells = Shells::builtins();
    let (mut script, name) = (Vec::new(), "seatmap");
    let known = shells.completer(&shell.to_string());
    let written = known.map(|shell| shell.write_registration(VARIABLE, name, name, name, &mut script));
    written.ok_or_else(|| CliError::input(format!("there are no completions for {shell}")))?.map_err(CliError::work)?;
    let more = if shell == clap_complete::Shell::Zsh { AS_ZSH_FUNCTION } else { "" };
    Ok(String::from_utf8_lossy(&script).into_owned() + more)
}

/// Prints the completions that a shell asks for; `None` where no shell asks.
pub fn answer() -> Option<Result<(), CliError>> {
    let name = std::env::var(VARIABLE).ok()?;
    let shells = Shells::builtins();
    // The words of the line to be completed come after the script's own.
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let shell = shells.completer(&name).filter(|_| !words.is_empty())?;
    Some(completed(shell, words))
}

fn completed(shell: &dyn EnvCompleter, words: Vec<OsString>) -> Result<(), CliError> {
    let (mut candidates, folder) = (Vec::new(), std::env::current_dir().ok());
    let asked = shell.write_complete(&mut command(), words, folder.as_deref(), &mut candidates);
    asked.map_err(CliError::work)?;
    output::print_exact(&String::from_utf8_lossy(&candidates))
}

/// The command line, where arguments know their values.
fn command() -> Command {
    with_values(crate::args::command())
}

fn with_values(command: Command) -> Command {
    let names: Values = match command.get_name() {
        "study" => studies,
        _ => cells,
    };
    // A cell that is to be made has a new name.
    let has_names = matches!(command.get_name(), "study" | "show" | "run" | "verify" | "destroy" | "renew");
    let filled = |arg: Arg| match arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str()) {
        Some("MACHINE" | "PROFILE" | "DOCUMENT") => arg.add(completer(machines, true)),
        Some("PATTERN") => arg.add(completer(patterns, true)),
        Some("FILE") if arg.get_id() == "profile" => arg.add(completer(machines, true)),
        Some("WHAT") if arg.is_positional() => arg.add(completer(works, false)),
        Some("NAME") if has_names && arg.is_positional() => arg.add(completer(names, false)),
        _ => arg,
    };
    command.mut_args(filled).mut_subcommands(with_values)
}

/// Values that begin as typed, and files where one may be given instead.
fn completer(values: Values, or_file: bool) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let begins = |value: &String| typed.to_str().is_some_and(|typed| value.starts_with(typed));
        let mut found: Vec<_> = values().into_iter().filter(begins).map(CompletionCandidate::new).collect();
        if or_file {
            found.extend(PathCompleter::any().complete(typed));
        }
        found
    })
}

fn machines() -> Vec<String> {
    ["host"].into_iter().chain(seatmap_catalog::bundled::names()).map(str::to_owned).collect()
}

/// `ring:`, to be followed by what only the user knows.
fn patterns() -> Vec<String> {
    GENERATORS.iter().filter_map(|(form, _)| Some(form.split_once(':')?.0.to_owned() + ":")).collect()
}

fn works() -> Vec<String> {
    ["calls", "gains", "streams", "matrix:", "black-scholes:"].map(str::to_owned).into()
}

fn studies() -> Vec<String> {
    let all = ["all".to_owned()].into_iter();
    all.chain(crate::verbs::study::names()).collect()
}

/// The names of the existing cells; none where they cannot be listed.
fn cells() -> Vec<String> {
    let cells = Host::here(GuardianCommand(Vec::new())).and_then(|host| host.cells());
    cells.unwrap_or_default().into_iter().map(|cell| cell.name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of values that are looked for here are those of the command line.
    #[test]
    fn arguments_with_known_values_complete_them() {
        let mut asked = 0;
        let mut commands = vec![command()];
        while let Some(command) = commands.pop() {
            asked += command.get_arguments().filter(|arg| arg.get::<ArgValueCompleter>().is_some()).count();
            commands.extend(command.get_subcommands().cloned());
        }
        assert!(asked >= 15, "{asked}");
    }

    #[test]
    fn every_known_machine_is_there_once() {
        let mut names = machines();
        assert!(
            ["host", "cell-ps3", "xeon-8375c-2s", "xeon-phi-5110p"].iter().all(|it| names.contains(&it.to_string()))
        );
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(patterns().contains(&"stencil2d:".to_owned()));
    }
}
