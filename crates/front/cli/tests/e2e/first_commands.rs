//! The first commands of users of other tools: each gets the right answer or the right command.

use crate::common::Place;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

struct FirstCommand<'a> {
    words: Vec<String>,
    code: i32,
    answer: &'a str,
}

fn parsed(line: &str) -> FirstCommand<'_> {
    let (command, rest) = line.split_once(" => ").unwrap();
    let (code, answer) = rest.split_once(": ").unwrap();
    let cpu = seatmap_os::affinity::current().unwrap()[0].to_string();
    let words = shlex::split(&command.replace("{cpu}", &cpu)).unwrap();
    FirstCommand { words, code: code.parse().unwrap(), answer }
}

fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("bin")).unwrap();
    let launchers = ["docker", "mpirun", "mpiexec", "srun", "ssh", "systemd-run"];
    let launchers = launchers.map(|name| format!("bin/{name}"));
    for name in launchers.iter().map(String::as_str).chain(["a.sh", "b.sh", "app"]) {
        std::fs::write(place.path(name), "#!/bin/sh\nexit 0\n").unwrap();
        std::fs::set_permissions(place.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    place
}

fn command(place: &Place, first: &FirstCommand<'_>) -> Command {
    let words: Vec<&str> = first.words.iter().map(String::as_str).collect();
    let mut command = place.command(&words);
    let usual = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{usual}", place.path("bin").display()));
    command
}

#[test]
fn commands_of_other_tools_get_helpful_answers() {
    let place = place();
    let lines: Vec<&str> = include_str!("first_commands.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    assert!(lines.len() >= 200, "{}", lines.len());
    let mut wrong = Vec::new();
    for line in lines {
        let first = parsed(line);
        let output = command(&place, &first).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        if output.status.code() != Some(first.code) || !said.contains(first.answer) {
            wrong.push(format!("{line}\n    {:?}: {said}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
