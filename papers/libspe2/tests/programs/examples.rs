//! The examples, built by their own Makefile, on this computer and on simulated Cells.

use crate::MACHINES;
use crate::sdk::copy;
use crate::tool::Tool;
use std::process::Command;

#[test]
fn every_example_checks_itself_on_every_machine() {
    let Some(tool) = Tool::new() else { return };
    if !seatmap_needs::tool("make") {
        return;
    }
    tool.install();
    let folder = tool.path("examples");
    copy(&tool.source("../examples"), &folder);
    let make = |goal: &str, machine: &str| {
        let mut command = Command::new("make");
        command
            .args(["-s", "-j2", goal])
            .arg(format!("CELLCC={}", tool.path("prefix/bin/seatmap-cellcc").display()));
        command
            .current_dir(&folder)
            .env("SEATMAP_SPE", machine)
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL");
        let output = command.output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && words.is_empty(), "{goal} on {machine}: {words}");
        String::from_utf8(output.stdout).unwrap()
    };
    make("clean", "host");
    make("all", "host");
    let said = make("run", "host");
    let programs: Vec<&str> = said.lines().filter_map(|line| line.strip_suffix(':')).collect();
    assert!(
        programs.len() >= 10 && programs[0] == "hello" && said.contains("0 wrong prices"),
        "{said}"
    );
    for machine in &MACHINES[1..] {
        assert_eq!(make("run", machine), said, "{machine}");
    }
}
