//! Names that turn text around, take no room or command a terminal, wherever a name is shown.

use crate::common::Place;
use seatmap_document::is_hidden;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// An override, isolates, a C1 control, marks, a byte order mark, and an escape sequence.
const NAME: &str = "x\u{202e}\u{2066}\u{2069}\u{9b}1m\u{200e}\u{200f}\u{feff}\u{1b}[31m";

/// A machine, its twin, a pattern and a plan that are called so in whatever they have names for.
fn hostile() -> Place {
    let place = Place::new();
    let mut profile = place.json(&["export", "xeon-e5-2680-2s", "--format", "json"]);
    profile["name"] = NAME.into();
    (profile["origin"]["source"], profile["origin"]["tool"]) = (NAME.into(), NAME.into());
    for key in ["cpu_model", "hypervisor", "kernel", "governor", "bios"] {
        profile["environment"][key] = NAME.into();
    }
    profile["environment"]["mitigations"] = serde_json::json!({ NAME: NAME });
    place.file("machine.json", profile.to_string());
    let mut pattern = place.json(&["pattern", "convert", "ring:4"]);
    (pattern["name"], pattern["names"]) = (NAME.into(), vec![NAME; 4].into());
    place.file("pattern.json", pattern.to_string());
    place.stdout(&["model", "fit", "machine.json", "-o", "twin.toml"]);
    place.stdout(&["place", "--on", "machine.json", "--pattern", "pattern.json", "--kicks", "1", "-o", "plan.json"]);
    place
}

fn assert_shown(what: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    assert_eq!(text.lines().find(|line| line.contains(is_hidden)), None, "{what}");
}

/// The name is seen, and nothing hidden with it.
fn assert_named(place: &Place, arguments: &str) {
    let output = place.run(&arguments.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        ["\\u{202e}", "\\u202e"].iter().any(|escaped| text.contains(escaped)),
        "{arguments} names nothing:\n{text}"
    );
    assert_shown(arguments, &output.stdout);
    assert_shown(arguments, &output.stderr);
}

#[test]
fn names_are_shown_in_every_medium() {
    let place = hostile();
    for arguments in [
        "show machine.json",
        "show machine.json --json",
        "show machine.json --html -",
        "measure --on machine.json --cpus 0,1",
        "measure --on machine.json --cpus 0,1 --json",
        "export machine.json --format svg",
        "export machine.json --format json",
        "pattern show pattern.json",
        "pattern show pattern.json --svg -",
        "pattern show pattern.json --html -",
        "pattern convert pattern.json",
        "place --on machine.json --pattern pattern.json --kicks 1",
        "place --on machine.json --pattern pattern.json --kicks 1 --json",
        "place --on machine.json --pattern pattern.json --kicks 1 --svg -",
        "place --on machine.json --pattern pattern.json --kicks 1 --html -",
        "export plan.json --format taskset",
        "export plan.json --format omp-places",
        "export plan.json --format rankfile",
        "export plan.json --format systemd",
        "export plan.json --format hwloc",
        "export plan.json --format json",
        "model fit machine.json -o -",
        "model fit machine.json --json",
        "stats --on twin.toml -f fetchadd -n 2 -i 100",
        "stats --on twin.toml -f fetchadd -n 2 -i 100 --json",
        "channels curve --on twin.toml --json",
        "channels curve --on twin.toml --html -",
        "rank --on twin.toml --pattern ring:3 --runs 1 --sample 3",
        "rank --on twin.toml --pattern ring:3 --runs 1 --sample 3 --svg -",
        "rank --on twin.toml --pattern ring:3 --runs 1 --sample 3 --html -",
    ] {
        assert_named(&place, arguments);
    }
}

#[test]
fn what_was_typed_is_shown_too() {
    let place = Place::new();
    for arguments in
        [&["show", NAME][..], &["place", "--on", "graviton3", "--pattern", NAME], &["workers", NAME], &[NAME]]
    {
        let output = place.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("\\u{202e}"), "{arguments:?}");
        assert_shown(arguments[0], &output.stderr);
    }
}

#[test]
fn documents_keep_the_name_itself() {
    let place = hostile();
    for (file, key) in [("machine.json", "/name"), ("plan.json", "/machine"), ("plan.json", "/names/0")] {
        let text = place.stdout(&["export", file, "--format", "json"]);
        assert_shown(file, text.as_bytes());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document.pointer(key).unwrap(), NAME, "{file} {key}");
    }
}

#[test]
fn a_threads_name_is_shown() {
    let place = Place::new();
    let Ok(program) = std::fs::read("/bin/true") else { return seatmap_needs::skipped!("no /bin/true") };
    let name = place.file("a\u{202e}\u{9b}b", program);
    std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    let cpu = seatmap_os::affinity::current().unwrap()[0].to_string();
    let output = place.run(&["run", "--cpus", &cpu, "--", &format!("./{name}")]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("a\\u{202e}\\u{9b}b"), "{output:?}");
    assert_shown("run", &output.stderr);
}

/// Text that a terminal or a table must never get: escape sequences, line ends, C1 controls,
/// overrides, NUL, and length.
fn hostile_text() -> String {
    format!("\u{1b}[2J\u{1b}]0;x\u{7}\nseatmap: all is well\r\u{9b}1m\u{202e}\u{0}{}", "y".repeat(5000))
}

/// The pointers to all strings of a document. Elements of one array stand for each other.
fn strings(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(pointer.to_owned()),
        Value::Array(elements) => {
            elements.iter().take(1).for_each(|element| strings(element, &format!("{pointer}/0"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| strings(member, &format!("{pointer}/{key}"), found));
        }
        _ => {}
    }
}

/// Runs a verb on copies of a document, each with one hostile string, whether it takes the copy or refuses it.
fn assert_strings_are_shown(place: &Place, document: &Value, arguments: &str) {
    let mut pointers = Vec::new();
    strings(document, "", &mut pointers);
    assert!(pointers.len() > 1, "{arguments}: {pointers:?}");
    for pointer in pointers {
        let mut copy = document.clone();
        *copy.pointer_mut(&pointer).unwrap() = hostile_text().into();
        place.file("copy.json", copy.to_string());
        let output = place.run(&arguments.split(' ').collect::<Vec<_>>());
        for text in [&output.stdout, &output.stderr] {
            assert_shown(&format!("{arguments} with {pointer}"), text);
            let text = String::from_utf8_lossy(text);
            let forged = text.lines().find(|line| line.starts_with("seatmap: all is well"));
            assert_eq!(forged, None, "{arguments} with {pointer}");
        }
    }
}

#[test]
fn no_string_of_a_document_commands_a_terminal_or_forges_a_line() {
    let place = Place::new();
    let profile = place.json(&["export", "graviton3", "--format", "json"]);
    assert_strings_are_shown(&place, &profile, "show copy.json");
    let pattern = place.json(&["pattern", "convert", "ring:4"]);
    assert_strings_are_shown(&place, &pattern, "pattern show copy.json");
    let on = ["place", "--on", "graviton3", "--pattern", "ring:4", "--kicks", "1", "--json"];
    let plan = place.json(&on);
    assert_strings_are_shown(&place, &plan, "export copy.json --format taskset");
    assert_strings_are_shown(&place, &plan, "run --plan copy.json --any-machine true");
}

#[test]
fn no_string_of_a_comparison_commands_a_terminal_or_forges_a_line() {
    let place = Place::new();
    let mut results = place.json(&["bench", "--runs", "1", "--warmup", "0", "--json", "true"]);
    let bench = ["bench", "--runs", "1", "--warmup", "0", "--baseline", "then.json", "--name"];
    // One string at a time takes a run each; these are the ones that sentences repeat.
    for pointer in ["/commands/0/name", "/begun", "/fingerprint/seats", "/fingerprint/kernel"] {
        if let Some(string) = results.pointer_mut(pointer) {
            *string = hostile_text().into();
        }
    }
    place.file("then.json", results.to_string());
    let output = place.run(&[&bench[..], &[&hostile_text().replace('\0', ""), "true"]].concat());
    for text in [&output.stdout, &output.stderr] {
        assert_shown("bench", text);
        assert!(!String::from_utf8_lossy(text).lines().any(|line| line.starts_with("seatmap: all is well")));
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("\\u{1b}[2J"), "the name is shown");
}
