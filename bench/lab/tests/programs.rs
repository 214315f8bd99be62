//! The lab's program without an emulator.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::process::Command;

fn lab(words: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_seatmap-lab")).args(words).output().unwrap();
    let both = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&both).into_owned())
}

#[test]
fn every_computer_is_listed_with_command_line() {
    let (is_done, listed) = lab(&["list"]);
    assert!(is_done, "{listed}");
    let names: Vec<&str> =
        listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() >= 8, "{listed}");
    for name in names {
        let (is_done, shown) = lab(&["show", name]);
        assert!(is_done && shown.contains("-smp") && shown.contains("lab_computer="), "{shown}");
    }
}

#[test]
fn an_unknown_computer_is_an_error() {
    let (is_done, said) = lab(&["show", "none"]);
    assert!(!is_done && said.contains("no computer 'none'"), "{said}");
}
