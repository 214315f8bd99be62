//! A program in C whose files and console are behind a socket.

use crate::installed::{How, can_compile, library};
use seatmap_ninep::{ExportedFolder, FileSession, serve};
use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Output;

/// Runs it with a server of this folder on its standard input.
fn run(how: How, folder: &std::path::Path) -> Output {
    let (own, other) = UnixStream::pair().unwrap();
    let console = fs::File::create(folder.join("console")).unwrap();
    let export = ExportedFolder::new(folder, false).unwrap();
    let server = std::thread::spawn(move || {
        serve(own, FileSession::new(export, Some(Box::new(console) as Box<dyn Write>)))
    });
    let mut command = library().command("examples/files.c", how, false);
    let output = command.stdin(OwnedFd::from(other)).env("SEATMAP_9P_FD", "0").output().unwrap();
    drop(command);
    server.join().unwrap().unwrap();
    output
}

#[test]
fn unprivileged_c_program_copies_file() {
    if !can_compile() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), "content").unwrap();
    let output = run(How::Shared, folder.path());
    assert!(output.status.success(), "{output:?}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!((read("out").as_str(), read("console").as_str()), ("content", "copied\n"));
}

#[test]
fn channel_error_is_printed() {
    if !can_compile() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = run(How::Shared, folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "by the channel: No such file or directory (os error 2)\n"
    );
}
