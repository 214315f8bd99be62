//! Names that reverse text, are invisible or control a terminal, wherever a name is shown.

use crate::common::{Place, stderr, stdout};
use crate::hostile::assert_shown;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// An override, isolates, a C1 control, marks, a byte order mark, and an escape sequence.
const NAME: &str = "x\u{202e}\u{2066}\u{2069}\u{9b}1m\u{200e}\u{200f}\u{feff}\u{1b}[31m";

fn hostile() -> Place {
    let place = Place::new();
    let mut profile = place.json("export xeon-e5-2680-2s --format json");
    profile["name"] = NAME.into();
    (profile["origin"]["source"], profile["origin"]["tool"]) = (NAME.into(), NAME.into());
    for key in ["cpu_model", "hypervisor", "kernel", "governor", "bios"] {
        profile["environment"][key] = NAME.into();
    }
    profile["environment"]["mitigations"] = serde_json::json!({ NAME: NAME });
    place.file("machine.json", profile.to_string());
    let mut pattern = place.json("pattern convert ring:4");
    (pattern["name"], pattern["names"]) = (NAME.into(), vec![NAME; 4].into());
    place.file("pattern.json", pattern.to_string());
    place.stdout("model fit machine.json -o twin.toml");
    place.stdout("place --on machine.json --pattern pattern.json --kicks 1 -o plan.json");
    place
}

fn assert_named(place: &Place, arguments: &str) {
    let output = place.run(arguments.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{arguments}: {}", stderr(&output));
    let text = stdout(&output);
    assert!(
        ["\\u{202e}", "\\u202e"].iter().any(|escaped| text.contains(escaped)),
        "{arguments} names nothing:\n{text}"
    );
    assert_shown(arguments, &output.stdout);
    assert_shown(arguments, &output.stderr);
}

#[test]
fn names_are_escaped_in_every_medium() {
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
    ] {
        assert_named(&place, arguments);
    }
}

#[test]
fn arguments_are_escaped_in_errors() {
    let place = Place::new();
    for arguments in
        [&["show", NAME][..], &["place", "--on", "graviton3", "--pattern", NAME], &[NAME]]
    {
        let output = place.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("\\u{202e}"), "{arguments:?}");
        assert_shown(arguments[0], &output.stderr);
    }
}

#[test]
fn documents_keep_names_unchanged() {
    let place = hostile();
    for (file, key) in
        [("machine.json", "/name"), ("plan.json", "/machine"), ("plan.json", "/names/0")]
    {
        let text = place.stdout(["export", file, "--format", "json"]);
        assert_shown(file, text.as_bytes());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document.pointer(key).unwrap(), NAME, "{file} {key}");
    }
}

#[test]
fn thread_name_is_escaped() {
    let place = Place::new();
    let Ok(program) = std::fs::read("/bin/true") else {
        return seatmap_needs::skipped!("no /bin/true");
    };
    let name = place.file("a\u{202e}\u{9b}b", program);
    std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    let cpu = seatmap_os::affinity::current().unwrap()[0].to_string();
    let output = place.run(["run", "--cpus", &cpu, "--", &format!("./{name}")]);
    assert!(stderr(&output).contains("a\\u{202e}\\u{9b}b"), "{output:?}");
    assert_shown("run", &output.stderr);
}
