//! Verbs and options in messages exist on the command line.

use crate::verbs::command;
use clap::error::{ContextKind, ErrorKind};
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap();
        if path.is_dir() && !["tests", "target", "benches"].contains(&name.as_str()) {
            sources(&path, found);
        } else if (name.ends_with(".rs") || ["habits.txt", "guides.txt"].contains(&&*name))
            && name != "tests.rs"
            && name != "mentioned_tests.rs"
            && name != "misread.rs"
            && name != "misread_tests.rs"
        {
            found.push(path);
        }
    }
}

fn quoted(source: &str) -> Vec<String> {
    // Tests contain wrong commands on purpose.
    let text = source.split("#[cfg(test)]").next().unwrap_or_default();
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut found = Vec::new();
    let mut rest = code.as_str();
    while let Some(at) = rest.find("'seatmap ") {
        rest = &rest[at + 1..];
        let Some((inside, after)) = rest.split_once('\'') else { break };
        rest = after;
        // A backslash at the end of a line joins it with the next.
        found.push(inside.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" "));
    }
    found
}

fn words(command: &str) -> Vec<String> {
    command
        .split(' ')
        // A name or file takes "1" as well as a number.
        .map(|word| if word.contains('{') { "1".to_owned() } else { word.to_owned() })
        .collect()
}

/// A message may omit arguments.
fn mistake(line: &str) -> Option<String> {
    let error = command().try_get_matches_from(words(line)).err()?;
    let is_short = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::MissingSubcommand
    );
    // The value of a placeholder does not matter.
    let is_placeholder =
        error.kind() == ErrorKind::ValueValidation && line.contains(char::is_uppercase);
    // The value of an option may be omitted as well.
    let value = error.get(ContextKind::InvalidValue).map(ToString::to_string);
    let has_no_value =
        error.kind() == ErrorKind::InvalidValue && value.is_none_or(|value| value.is_empty());
    (!is_short && !is_placeholder && !has_no_value).then(|| format!("{line}: {error}"))
}

#[test]
fn commands_named_in_messages_exist() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut files);
    let all: Vec<String> =
        files.iter().flat_map(|file| quoted(&std::fs::read_to_string(file).unwrap())).collect();
    assert!(all.len() > 40, "{all:?}");
    let mistakes: Vec<String> = all.iter().filter_map(|line| mistake(line)).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

#[test]
fn unknown_command_in_message_is_detected() {
    assert!(mistake("seatmap cell destory one").is_some());
    assert!(mistake("seatmap measure --homse 64").is_some());
    assert_eq!(mistake("seatmap measure --homes {}"), None);
    assert_eq!(quoted("a(\"use 'seatmap \\\n    show' or\"); // x"), ["seatmap show"]);
}
