//! A closed, full or abandoned stdout, and closed stdin and stderr.

use crate::common::{Place, stderr};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::process::Output;

const PRINTING: [&str; 22] = [
    "--help",
    "--version",
    "help place",
    "run --help",
    "machines",
    "machines --json",
    "completions bash",
    "man",
    "pattern list",
    "pattern show ring:3",
    "pattern convert ring:3",
    "show graviton3",
    "show graviton3 --json",
    "measure --on graviton3 --cpus 0,1 --json",
    "measure --on graviton3 --cpus 0,1",
    "export graviton3 --format csv",
    "import x.csv",
    "place --on graviton3 --pattern ring:3 --kicks 1",
    "model fit x.csv -o -",
    "model fit x.csv --json",
    "doctor",
    "cell list --json",
];

fn place() -> Place {
    let place = Place::new();
    place.file("x.csv", ",,\n30,,\n60,61,\n");
    place
}

fn by_shell(place: &Place, arguments: &str, streams: &str) -> Output {
    let line = format!("exec \"$0\" {arguments} {streams}");
    let mut shell = place.command_of("sh");
    shell.args(["-c", &line, crate::PROGRAM]);
    shell.env("SEATMAP_RUN", place.path("run")).output().unwrap()
}

/// Asserts exit code 1 and a last line about the lost output.
fn assert_lost(arguments: &str, output: &Output) {
    let stderr = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{arguments}: {stderr}");
    assert!(
        stderr.lines().last().is_some_and(|line| line.starts_with("seatmap: stdout: ")),
        "{arguments}: {stderr}"
    );
    assert_eq!(
        stderr.lines().filter(|line| line.contains("stdout")).count(),
        1,
        "{arguments}: {stderr}"
    );
}

#[test]
fn closed_stdout_is_a_failure() {
    let place = place();
    PRINTING
        .iter()
        .for_each(|arguments| assert_lost(arguments, &by_shell(&place, arguments, ">&-")));
    // The standard library also discards output to a read-only descriptor.
    assert_lost("machines", &by_shell(&place, "machines", "1</dev/null"));
}

#[test]
fn full_stdout_is_a_failure() {
    if !std::path::Path::new("/dev/full").exists() {
        return seatmap_needs::skipped!("/dev/full is absent");
    }
    let place = place();
    PRINTING
        .iter()
        .for_each(|arguments| assert_lost(arguments, &by_shell(&place, arguments, ">/dev/full")));
}

#[test]
fn closed_pipe_is_success() {
    let place = Place::new();
    for arguments in ["--help", "machines", "completions zsh", "export --format json epyc-7r13-2s"]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.command(arguments).stdout(writer).output().unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(0), &b""[..]),
            "{arguments:?}"
        );
    }
}

/// Ranks of a job share stderr, and would mix lines of several writes.
#[test]
fn stderr_line_is_one_write() {
    let place = place();
    let lines = [("a remark", "import x.csv -o p.json"), ("an error", "show nowhere.json")];
    for (about, arguments) in lines {
        let (mut read, write) = std::io::pipe().unwrap();
        // A pipe in packet mode returns each write separately (pipe(2)).
        // SAFETY: the descriptor is open, and the flag needs no memory.
        let set = unsafe { libc::fcntl(write.as_raw_fd(), libc::F_SETFL, libc::O_DIRECT) };
        assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
        place.command(arguments).stderr(write).status().unwrap();
        let mut packet = [0; 4096];
        let length = read.read(&mut packet).unwrap();
        let first = String::from_utf8_lossy(&packet[..length]);
        assert!(first.starts_with("seatmap: ") && first.ends_with('\n'), "{about}: {first:?}");
    }
}
