//! Names with characters that reorder text, have no width or control a terminal, wherever a name is
//! shown.

use crate::common::{Place, stderr, stdout};
use crate::hostile::assert_shown;
use crate::product::product;

/// An override, isolates, a C1 control, marks, a byte order mark, and an escape sequence.
const NAME: &str = "x\u{202e}\u{2066}\u{2069}\u{9b}1m\u{200e}\u{200f}\u{feff}\u{1b}[31m";

#[test]
fn names_are_escaped_in_every_medium() {
    let place = Place::new();
    let Some(exported) = product(&place, "export xeon-e5-2680-2s --format json") else {
        return;
    };
    let mut profile: serde_json::Value = serde_json::from_str(&exported).unwrap();
    profile["name"] = NAME.into();
    place.file("machine.json", profile.to_string());
    product(&place, "model fit machine.json -o twin.toml");
    for arguments in [
        "stats --on twin.toml -f fetchadd -n 2 -i 100",
        "stats --on twin.toml -f fetchadd -n 2 -i 100 --json",
        "channels curve --on twin.toml --json",
        "channels curve --on twin.toml --html -",
        "rank --on twin.toml --pattern ring:3 --runs 1 --sample 3",
        "rank --on twin.toml --pattern ring:3 --runs 1 --sample 3 --svg -",
        "rank --on twin.toml --pattern ring:3 --runs 1 --sample 3 --html -",
    ] {
        let output = place.run(arguments.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{arguments}: {}", stderr(&output));
        let text = stdout(&output);
        assert!(
            ["\\u{202e}", "\\u202e"].iter().any(|escaped| text.contains(escaped)),
            "{arguments}:\n{text}"
        );
        assert_shown(arguments, &output.stdout);
        assert_shown(arguments, &output.stderr);
    }
}

#[test]
fn arguments_are_escaped_in_errors() {
    let output = Place::new().run(["workers", NAME]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("\\u{202e}"));
    assert_shown("workers", &output.stderr);
}
