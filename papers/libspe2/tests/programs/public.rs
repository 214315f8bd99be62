//! Programs in the style of public ones, each built by its own Makefile with the names of the
//! Cell's tools.

use crate::sdk::copy;
use crate::tool::Tool;
use std::path::Path;
use std::process::Command;

fn check(folder: &Path, tools: &Path, machine: &str) -> Option<String> {
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("make");
    command.args(["-s", "check"]).current_dir(folder).env("PATH", path).env("SEATMAP_SPE", machine);
    let output = command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
    let words = [output.stdout, output.stderr].concat();
    (!output.status.success()).then(|| String::from_utf8_lossy(&words).into_owned())
}

#[test]
fn public_style_programs_run_unchanged() {
    // Some are in C++.
    let Some(tool) = Tool::with_cplusplus() else { return };
    if !seatmap_needs::tool("make") {
        return;
    }
    let tools = tool.install().join("../../../bin").canonicalize().unwrap();
    let folder = tool.path("public");
    copy(&tool.source("tests/public"), &folder);
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let programs: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    assert!(programs.len() >= 15, "{programs:?}");
    for program in programs {
        for machine in ["host", "cell-qs20"] {
            let failed = check(&program, &tools, machine);
            assert!(
                failed.is_none(),
                "{} on {machine}: {}",
                program.display(),
                failed.unwrap_or_default()
            );
        }
    }
}
