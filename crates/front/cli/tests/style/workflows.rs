//! The CI workflows of hosting services: they call `make`, and only targets that exist.

use super::{assert_none, root, texts};
use std::process::{Command, Stdio};

/// The commands of a workflow: the text after `run:`, one line each.
fn commands(workflow: &str) -> impl Iterator<Item = &str> {
    let items = workflow.lines().map(|line| line.trim_start().trim_start_matches("- "));
    items.filter_map(|line| line.strip_prefix("run: ")).map(str::trim)
}

fn installs(command: &str) -> bool {
    ["cargo install ", "rustup toolchain install ", "sudo apt-get install "]
        .iter()
        .any(|start| command.starts_with(start))
}

/// The targets that a command makes; `None` if it is another command.
fn made(command: &str) -> Option<Vec<&str>> {
    let (before, targets) = command.rsplit_once("make ")?;
    let is_make = before.is_empty() || before.starts_with("sudo ") && before.ends_with(' ');
    is_make.then(|| targets.split_whitespace().collect())
}

fn flaws(name: &str, workflow: &str, makefile: &str) -> Vec<String> {
    let is_target = |target: &&str| makefile.contains(&format!("\n{target}:"));
    let is_known = |command: &str| {
        installs(command)
            || made(command)
                .is_some_and(|targets| !targets.is_empty() && targets.iter().all(is_target))
    };
    let unknown = commands(workflow).filter(|command| !is_known(command));
    unknown.map(|command| format!("{name}: {command}")).collect()
}

#[test]
fn workflows_call_make() {
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    let workflows: Vec<_> = texts(&[".yml"])
        .into_iter()
        .filter(|(name, _)| name.starts_with(".github/workflows/"))
        .collect();
    assert!(workflows.len() >= 5, "the workflows are not where they were");
    let bare = workflows.iter().filter(|(_, text)| made_by(text).is_empty());
    assert_none(
        "workflows that make nothing",
        &bare.map(|(name, _)| name.clone()).collect::<Vec<_>>(),
    );
    let found: Vec<String> =
        workflows.iter().flat_map(|(name, text)| flaws(name, text, &makefile)).collect();
    assert_none("commands that are not targets of the Makefile", &found);
}

fn made_by(workflow: &str) -> Vec<&str> {
    commands(workflow).filter_map(made).flatten().collect()
}

#[test]
fn workflows_and_templates_are_yaml() {
    let load =
        "import sys, yaml\nfor name in sys.argv[1:]: assert yaml.safe_load(open(name)), name";
    let can = Command::new("python3").args(["-c", "import yaml"]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        return seatmap_needs::skipped!("python3 with yaml is not installed");
    }
    let names: Vec<_> = texts(&[".yml"])
        .into_iter()
        .filter(|(name, _)| name.starts_with(".github/"))
        .map(|(name, _)| root().join(name))
        .collect();
    assert!(names.len() >= 9, "the files are not where they were");
    let output = Command::new("python3").args(["-c", load]).args(names).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn workflow_offences_are_found() {
    let makefile = "all:\n\ntest:\n\t./test\n";
    let workflow = "    - run: make test\n    - run: sudo env \"A=b\" make test\n    \
                    - run: make tests\n    \
                    - run: curl it | sh\n    - run: cargo install --locked mdbook\n";
    assert_eq!(flaws("w", workflow, makefile), ["w: make tests", "w: curl it | sh"]);
}
