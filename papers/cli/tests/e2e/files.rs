//! Files and a console for programs that cannot open any: `controller serve --export`, `controller
//! start --channel` and `--no-io`.
//!
//! This test binary is also the tested program: with a channel or as a stranger, it plays one of
//! the parts below.

use crate::common::{Arguments, Place, in_front_of, terminal};
use crate::real_cells::{is_root, made, make, seatmap, stderr, wait_until};
use crate::serve::{Controller, controller, highest};
use seatmap_ninep::{Fence, FileClient, OpenMode, client};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The variable with the socket for this binary as a stranger.
const SOCKET: &str = "SEATMAP_TEST_SOCKET";

fn serving<'a>(place: &'a Place, more: impl Arguments) -> Controller<'a> {
    fs::create_dir(place.path("shown")).unwrap();
    place.file("shown/in", "abc");
    Controller::start(place, ("--export shown", more), &[])
}

fn connected(place: &Place) -> FileClient<UnixStream> {
    FileClient::new(UnixStream::connect(place.path("socket.9p")).unwrap()).unwrap()
}

fn content(client: &mut FileClient<impl Read + Write>, path: &str) -> io::Result<String> {
    let file = client.open(path, OpenMode::Read)?;
    let mut bytes = [0; 100];
    let count = client.read(&file, 0, &mut bytes)?;
    client.close(file)?;
    Ok(String::from_utf8_lossy(&bytes[..count]).into_owned())
}

fn started(place: &Place, options: impl Arguments, program: impl AsRef<OsStr>) -> Command {
    let mut command = seatmap(place, ["cell", "run", "-q", "first", "--", crate::PROGRAM]);
    command.args(["controller", "start"]).args(options.words()).arg("--").arg(program);
    command
}

/// A part: gives up all its rights and works anyway.
#[test]
fn inner_unprivileged_program_uses_files() {
    if std::env::var_os(client::VARIABLE).is_none() {
        return;
    }
    // SAFETY: no other code takes it.
    let mut client = unsafe { FileClient::inherited() }.unwrap().unwrap();
    Fence::new().unwrap().close().unwrap();
    assert_eq!(fs::read("/proc/version").unwrap_err().raw_os_error(), Some(libc::EPERM));
    assert_eq!(UnixStream::pair().unwrap_err().raw_os_error(), Some(libc::EPERM));
    assert!(Command::new("/bin/true").status().is_err());
    let read = content(&mut client, "files/in").unwrap();
    let file = client.create("files/out").unwrap();
    client.write_all(&file, 0, format!("{read} was read").as_bytes()).unwrap();
    client.close(file).unwrap();
    let console = client.open("console", OpenMode::Write).unwrap();
    client.write_all(&console, 0, b"[all is done]").unwrap();
    assert_eq!(std::thread::spawn(|| 7).join().unwrap(), 7, "threads are not I/O");
}

#[test]
fn unprivileged_cell_program_uses_files_and_console() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let controller = serving(&place, "");
    if !made(&controller.ask(make("first", &cpus))) {
        return;
    }
    let own = std::env::current_exe().unwrap();
    let part = ["--exact", "files::inner_unprivileged_program_uses_files", "--nocapture"];
    let output = started(&place, "--channel=socket.9p", own).args(part).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("[all is done]"), "{output:?}");
    assert_eq!(place.read("shown/out"), "abc was read");
    let nowhere = started(&place, "--channel=nowhere", "true").output().unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(
        stderr(&nowhere).contains("nowhere: no files are exported there"),
        "{}",
        stderr(&nowhere)
    );
}

/// Builds a static C program; skips with a message if that is impossible.
fn built(place: &Place, name: &str) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
    let built =
        Command::new("gcc").args(["-static", "-o"]).arg(place.path(name)).arg(source).output();
    let is_built = built.is_ok_and(|built| built.status.success());
    if !is_built {
        seatmap_needs::skipped!("no gcc that links statically here");
    }
    is_built.then(|| format!("./{name}"))
}

/// A cell, and a command that runs a program in it without rights, which repeats its input. `None`
/// if cells or programs cannot be made here.
fn repeater<'a>(place: &'a Place, cpus: &str) -> Option<(Controller<'a>, impl Fn() -> Command)> {
    let controller = serving(place, "");
    let program = built(place, "repeats")?;
    made(&controller.ask(make("first", cpus)))
        .then_some((controller, move || started(place, "--channel=socket.9p --no-io", &program)))
}

#[test]
fn unprivileged_program_reads_its_stdin() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let Some((_controller, repeater)) = repeater(&place, &cpus) else { return };
    let run = |stdin: Stdio| repeater().stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
    let said = |child: Child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // Each typed line comes back before the next: the reader does not wait for more input than
    // there is.
    let mut talk = run(Stdio::piped());
    let mut types = talk.stdin.take().unwrap();
    let mut reads = BufReader::new(talk.stdout.take().unwrap());
    for line in ["hi\n", "\n", "more\n"] {
        types.write_all(line.as_bytes()).unwrap();
        let mut heard = String::new();
        reads.read_line(&mut heard).unwrap();
        assert_eq!(heard, line);
    }
    drop(types);
    assert_eq!(said(talk), "");
    let long = place.file("long", (0..20_000).map(|n| format!("{n}\n")).collect::<String>());
    assert_eq!(said(run(File::open(place.path(long)).unwrap().into())), place.read(long));
    assert_eq!(said(run(Stdio::null())), "", "it is at its end at once");
}

#[test]
fn terminal_input_keeps_lines_and_end() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let Some((_controller, repeater)) = repeater(&place, &cpus) else { return };
    let (mut keys, terminal) = terminal();
    let mut command = repeater();
    in_front_of(terminal, command.stdout(Stdio::piped()));
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut heard = BufReader::new(child.stdout.take().unwrap());
    keys.write_all(b"half a lo\x7fine\nrest").unwrap();
    let mut line = String::new();
    heard.read_line(&mut line).unwrap();
    assert_eq!(line, "half a line\n", "what was rubbed out does not come");
    keys.write_all(b"\x04\x04").unwrap();
    assert!(child.wait().unwrap().success(), "the first ends the line, the second all");
    line.clear();
    heard.read_to_string(&mut line).unwrap();
    assert_eq!(line, "rest");
}

#[test]
fn unread_input_stays_in_the_pipe() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let controller = serving(&place, "");
    if !made(&controller.ask(make("first", &cpus))) {
        return;
    }
    let (mut next, mut types) = std::io::pipe().unwrap();
    types.write_all(b"for the next").unwrap();
    let mut command = started(&place, "--channel=socket.9p", "sleep");
    let mut sleeper = command.arg("60").stdin(next.try_clone().unwrap()).spawn().unwrap();
    wait_until("it runs", || {
        let path = format!("/proc/{0}/task/{0}/children", sleeper.id());
        std::fs::read_to_string(path).is_ok_and(|children| !children.is_empty())
    });
    // SAFETY: the child has not been waited for, so that the number is its own; it passes the
    // signal on.
    unsafe { libc::kill(sleeper.id() as i32, libc::SIGTERM) };
    sleeper.wait().unwrap();
    let mut left = [0; 12];
    next.read_exact(&mut left).unwrap();
    assert_eq!(&left, b"for the next");
}

#[test]
fn static_program_runs_unprivileged() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let controller = Controller::start(&place, "", &[]);
    if !made(&controller.ask(make("first", &cpus))) {
        return;
    }
    let run = |program: &str| {
        let output = started(&place, "--no-io", program).output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr(&output),
        )
    };
    let (code, _, told) = run("/bin/sh");
    assert!(code == Some(2) && told.contains("/sh: opens libraries before it runs"), "{told}");
    let Some(program) = built(&place, "opens") else { return };
    assert_eq!(
        run(&program),
        (Some(0), "opened 0, sockets 0, EPERM 2\n".to_owned(), String::new())
    );
}

#[test]
fn file_proxies_avoid_cells_and_outlive_controller() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let mut controller = serving(&place, "");
    if !made(&controller.ask(make("first", &cpus))) {
        return;
    }
    let mut client = connected(&place);
    let cpu = cpus.split('-').next().unwrap().to_owned();
    let pid = controller.pid();
    let status = |pid: &str| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    // File proxies are children of the accepting thread.
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let children = threads
        .map(|task| fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default());
    let children = children.collect::<String>();
    let file_proxy = children
        .split_whitespace()
        .find(|pid| status(pid).starts_with("Name:\tseatmap-proxy"))
        .unwrap();
    let may_run = status(file_proxy)
        .lines()
        .find(|line| line.starts_with("Cpus_allowed_list"))
        .unwrap()
        .to_owned();
    assert!(!may_run.ends_with(&cpu), "{may_run}");
    controller.kill();
    assert_eq!(content(&mut client, "files/in").unwrap(), "abc");
    drop(client);
    wait_until("the file_proxy is gone", || {
        status(file_proxy).is_empty() || status(file_proxy).contains("(zombie)")
    });
}

#[test]
fn read_only_export_refuses_changes() {
    let place = Place::new();
    let _controller = serving(&place, "--export-read-only");
    let mut client = connected(&place);
    assert_eq!(client.create("files/out").unwrap_err().kind(), io::ErrorKind::ReadOnlyFilesystem);
    assert_eq!(content(&mut client, "files/in").unwrap(), "abc");
    assert_eq!(
        client.open("console", OpenMode::Write).unwrap_err().kind(),
        io::ErrorKind::NotFound,
        "none was handed over"
    );
}

#[test]
fn malformed_client_harms_no_other() {
    let place = Place::new();
    let controller = serving(&place, "");
    for nonsense in
        [&b"\xff\xff\xff\xff"[..], b"\x00\0\0\0\0\0\0", br#"{"format":"seatmap-control/1"}"#, b""]
    {
        let mut stream = UnixStream::connect(place.path("socket.9p")).unwrap();
        stream.write_all(nonsense).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    }
    assert_eq!(content(&mut connected(&place), "files/in").unwrap(), "abc");
    assert!(controller.ask("list").status.success());
    // The limit of one user's programs, which allows new ones after some have exited.
    let crowd: Vec<UnixStream> =
        (0..40).map(|_| UnixStream::connect(place.path("socket.9p")).unwrap()).collect();
    let heard = crowd.into_iter().map(FileClient::new).collect::<Vec<_>>();
    assert_eq!(heard.iter().filter(|client| client.is_ok()).count(), 16);
    drop(heard);
    let again = || FileClient::new(UnixStream::connect(place.path("socket.9p")).unwrap()).is_ok();
    wait_until("there is room again", again);
}

#[test]
fn missing_export_folder_is_refused() {
    let place = Place::new();
    let output = controller(&place, "serve --export nothing").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("/nothing: cannot be exported to programs: "),
        "{}",
        stderr(&output)
    );
}

/// A part: tries what only root may do.
#[test]
fn inner_other_user_is_denied() {
    let Some(socket) = std::env::var_os(SOCKET) else { return };
    let mut client = match UnixStream::connect(socket).and_then(FileClient::new) {
        Ok(client) => client,
        Err(error) => return println!("[kept out: {:?}]", error.kind()),
    };
    let denied = |error: io::Error| assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    denied(content(&mut client, "files/secret").unwrap_err());
    denied(client.create("files/mine").unwrap_err());
    denied(client.open("files/in", OpenMode::Write).unwrap_err());
    denied(client.remove("files/in").unwrap_err());
    denied(client.rename("files/in", "files/out").unwrap_err());
    denied(client.list("files/closed").unwrap_err());
    denied(content(&mut client, "files/closed/in").unwrap_err());
    assert_eq!(content(&mut client, "files/in").unwrap(), "abc");
    let file = client.create("files/open/mine").unwrap();
    client.close(file).unwrap();
    println!("[let in]");
}

#[test]
fn other_user_gets_no_extra_permissions() {
    if !is_root() {
        return seatmap_needs::skipped!("only root can become a stranger");
    }
    let place = Place::new();
    let _controller = serving(&place, "--group 4711");
    let mode = |name: &str, mode| {
        fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap()
    };
    place.file("shown/secret", "secret");
    ["shown/closed", "shown/open"]
        .iter()
        .for_each(|folder| fs::create_dir(place.path(folder)).unwrap());
    place.file("shown/closed/in", "secret");
    [
        ("", 0o755),
        ("shown", 0o755),
        ("shown/secret", 0o600),
        ("shown/closed", 0o700),
        ("shown/open", 0o777),
    ]
    .into_iter()
    .for_each(|(name, bits)| mode(name, bits));
    let as_stranger = |gid| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "files::inner_other_user_is_denied", "--nocapture"])
            .env(SOCKET, place.path("socket.9p"));
        let output = command.gid(gid).uid(65_534).current_dir("/").output()?;
        assert!(output.status.success(), "{output:?}");
        io::Result::Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    match as_stranger(4711) {
        Ok(said) => assert!(said.contains("[let in]"), "{said}"),
        Err(error) => {
            return seatmap_needs::skipped!("a stranger cannot start this test here: {error}");
        }
    }
    let made = fs::metadata(place.path("shown/open/mine")).unwrap();
    assert_eq!((made.uid(), made.gid()), (65_534, 4711));
    assert!(as_stranger(65_534).unwrap().contains("[kept out: "));
}
