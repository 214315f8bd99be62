//! The conformance suite: a program for each group of calls, on every machine and in both styles.

use crate::MACHINES;
use crate::tool::Tool;

/// Each group has one source for both sides.
const GROUPS: [&str; 7] =
    ["contexts", "programs", "runs", "events", "mailboxes", "transfers", "areas"];
/// This group's calls have no context.
const CALLBACKS: &str = "callbacks";

fn conforms(name: &str) {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source(&format!("tests/conformance/{name}.c"));
    let program = tool.build(&source, &source);
    for machine in MACHINES {
        assert_eq!(tool.succeed(&program, &[("SEATMAP_SPE", machine)]), "", "{name} on {machine}");
    }
    assert_eq!(
        tool.succeed(&program, &[("SEATMAP_SPE_STYLE", "linux")]),
        "",
        "{name} in Linux's style"
    );
}

#[test]
fn contexts_conform() {
    conforms(GROUPS[0]);
}

#[test]
fn programs_conform() {
    conforms(GROUPS[1]);
}

#[test]
fn runs_conform() {
    conforms(GROUPS[2]);
}

#[test]
fn events_conform() {
    conforms(GROUPS[3]);
}

#[test]
fn mailboxes_conform() {
    conforms(GROUPS[4]);
}

#[test]
fn transfers_conform() {
    conforms(GROUPS[5]);
}

#[test]
fn areas_conform() {
    conforms(GROUPS[6]);
}

#[test]
fn callbacks_conform() {
    conforms(CALLBACKS);
}

fn calls(header: &str) -> Vec<&str> {
    let before = header
        .split('(')
        .filter_map(|text| text.rsplit(|one: char| !one.is_alphanumeric() && one != '_').next());
    before.filter(|name| name.starts_with("spe_")).collect()
}

#[test]
fn suite_covers_success_and_failure_of_every_call() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = std::fs::read_to_string(folder.join("include/libspe2.h")).unwrap();
    let sources = GROUPS.iter().chain([&CALLBACKS]);
    let sources = sources.map(|name| folder.join(format!("tests/conformance/{name}.c")));
    let suite: String = sources.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let suite: String = suite.lines().filter(|line| !line.trim_start().starts_with("/*")).collect();
    let calls = calls(&header);
    assert_eq!(calls.len(), 38, "{calls:?}");
    for call in calls {
        let fails =
            ["FAILS", "IS_NULL"].map(|check| suite.matches(&format!("{check}({call}(")).count());
        let fails: usize = fails.iter().sum();
        // It fails only without memory.
        assert!(fails > 0 || call == "spe_event_handler_create", "no error of {call} is tested");
        assert!(suite.matches(call).count() > fails, "no success of {call} is tested");
    }
}
