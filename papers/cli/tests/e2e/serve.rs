//! `seatmap-papers controller serve` and its clients. If root and version 1 cpusets allow it, the
//! tests create real cells on the highest CPU.

use crate::common::{Arguments, Guarded, Json, Place};
use crate::real_cells::{self, has_groups, is_root, made, make, seatmap, stderr, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::MutexGuard;

pub struct Controller<'a> {
    place: &'a Place,
    child: Guarded,
}

impl<'a> Controller<'a> {
    pub fn start(place: &'a Place, arguments: impl Arguments, variables: &[(&str, &str)]) -> Self {
        let mut command = controller(place, "serve --socket socket");
        command.args(arguments.words()).envs(variables.iter().copied()).stdout(Stdio::piped());
        let mut child = Guarded(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening at socket"), "{line}");
        Controller { place, child }
    }

    pub fn ask(&self, arguments: impl Arguments) -> Output {
        client(self.place, arguments).output().unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn list(&self) -> Vec<Value> {
        let output = self.ask("list --json");
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        listed["cells"].elements().clone()
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Controller<'_> {
    /// Even after a failed test, no cell may outlive the folder with its journal.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // SAFETY: the child has not been waited for, so that the number is its own.
            unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        }
        let _ = self.child.wait();
        for name in ["first", "second", "kept", "held", "half", "one", "two"] {
            let _ = seatmap(self.place, ["cell", "destroy", name]).output();
        }
    }
}

pub fn controller(place: &Place, arguments: impl Arguments) -> Command {
    let mut command = place.command(("controller", arguments));
    command.env("SEATMAP_RUN", place.path("run")).stderr(Stdio::piped());
    command
}

fn client(place: &Place, arguments: impl Arguments) -> Command {
    let mut command = controller(place, arguments);
    command.args(["--socket", "socket"]).stdout(Stdio::piped());
    command
}

/// The highest CPU, if a cell is possible there and `seatmap` is next to the tested program.
pub fn highest() -> Option<(String, MutexGuard<'static, ()>)> {
    if !Path::new(crate::PROGRAM).with_file_name("seatmap").exists() {
        seatmap_needs::skipped!("seatmap is not built: the tests of the whole workspace build it");
        return None;
    }
    real_cells::highest()
}

#[test]
fn invalid_options_are_refused() {
    let place = Place::new();
    let assert_refused = |arguments: &str, words: &str| {
        let output = controller(&place, arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(stderr(&output).contains(words), "{arguments}: {}", stderr(&output));
    };
    for (arguments, words) in [
        ("list --socket nowhere", "nowhere: no controller answers"),
        ("serve --policy best", "write fifo, priority or fair"),
        ("serve --socket s --group no-such", "no group 'no-such'"),
        ("create --no-wait", "no CPUs and no time given"),
        (&format!("list --socket {}", "x".repeat(108)), "at most 107 bytes"),
    ] {
        assert_refused(arguments, words);
    }
    let _first = Controller::start(&place, "", &[]);
    assert_refused("serve --socket other", "another controller runs here");
}

#[test]
fn second_controller_leaves_first_socket_alone() {
    let place = Place::new();
    let first = Controller::start(&place, "", &[]);
    let mut second = controller(&place, "serve --socket socket");
    let second = second.env("SEATMAP_RUN", place.path("other")).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(stderr(&second).contains("another process listens there"), "{}", stderr(&second));
    assert!(first.list().is_empty(), "it still answers");
}

#[test]
fn excessive_numbers_are_refused() {
    let place = Place::new();
    let controller = Controller::start(&place, "", &[]);
    let mut stream = UnixStream::connect(place.path("socket")).unwrap();
    for (what, told) in [
        (r#""cpus":[4294967295]"#, "CPU 4294967295 is not online"),
        (r#""count":18446744073709551615"#, "too many"),
        (r#""count":0"#, "give at least 1"),
        (r#""cpus":[]"#, "name a CPU"),
        (r#""cpus":[],"count":0"#, "not both"),
        (r#""cpus":[1],"count":1"#, "not both"),
        (r#""count":1,"noise_limit":-1"#, "0 to 100 %"),
        (r#""count":1,"lease_s":0"#, "at least 1 s"),
        (r#""cpus":[4294967294,4294967295,4294967293]"#, "4294967293-4294967295"),
    ] {
        writeln!(
            stream,
            r#"{{"format":"seatmap-control/1","id":1,"do":"create","name":"x",{what}}}"#
        )
        .unwrap();
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).unwrap();
        assert!(answer.contains(r#""kind":"asked""#) && answer.contains(told), "{what}: {answer}");
    }
    assert!(controller.list().is_empty());
}

#[test]
fn impossible_requests_are_refused_without_queueing() {
    let place = Place::new();
    let controller = Controller::start(&place, "--policy fair", &[]);
    let refused = |arguments: &str| {
        let output = controller.ask(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    };
    assert!(refused("create --cpus 100000-100001").contains("are not online"));
    assert!(refused("create --count 4000").contains("one must stay for other programs"));
    assert!(refused("create --turns --count 1 --memory 2M").contains("takes turns"));
    assert!(refused("destroy quiet").contains("there is no cell 'quiet'"));
    assert!(refused("renew quiet --ttl 1m").contains("there is no cell 'quiet'"));
    assert!(controller.list().is_empty());
}

#[test]
fn malformed_requests_get_an_error() {
    let place = Place::new();
    let controller = Controller::start(&place, "", &[]);
    let mut stream = UnixStream::connect(place.path("socket")).unwrap();
    let deep = "[".repeat(5000);
    for bad in
        ["", "{}", "null", "\u{0}", &deep, r#"{"format":"seatmap-control/2","id":7,"do":"list"}"#]
    {
        writeln!(stream, "{bad}").unwrap();
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).unwrap();
        assert!(answer.contains(r#""say":"error","kind":"asked""#), "{bad}: {answer}");
    }
    // An endless line is cut off and its client disconnected.
    let long = vec![b'x'; 2 << 20];
    let _ = stream.write_all(&long);
    assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    assert!(controller.list().is_empty());
}

#[test]
fn other_users_are_denied() {
    if !is_root() {
        return seatmap_needs::skipped!("only root can become a stranger");
    }
    let place = Place::new();
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.folder(), everybody).unwrap();
    let as_stranger = |gid| {
        let mut stream = client(&place, "list");
        let output = stream.gid(gid).uid(65_534).output();
        output.map(|output| (output.status.code(), stderr(&output)))
    };
    let _controller = Controller::start(&place, "--group 4711", &[]);
    match as_stranger(65_534) {
        Ok((code, told)) => {
            assert_eq!(code, Some(1));
            assert!(told.contains("only root and members of the controller's group"), "{told}");
            assert_eq!(as_stranger(4711).unwrap().0, Some(0));
        }
        Err(error) => seatmap_needs::skipped!("a stranger cannot start the binary here: {error}"),
    }
}

#[test]
fn cells_queue_and_end_with_their_holder() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let controller = Controller::start(&place, "", &[]);
    if !made(&controller.ask(make("first", &cpus))) {
        return;
    }
    let busy = controller.ask((make("second", &cpus), "--no-wait"));
    assert_eq!(busy.status.code(), Some(1));
    assert!(stderr(&busy).contains("leave --no-wait out to queue it"), "{}", stderr(&busy));
    let mut second = Guarded(client(&place, (make("second", &cpus), "--hold")).spawn().unwrap());
    let phase = |name: &str| {
        let cells = controller.list();
        cells.iter().find(|cell| cell["name"] == name).map(|cell| cell["phase"].text().to_owned())
    };
    wait_until("the second waits", || phase("second").as_deref() == Some("waiting"));
    let renewed = controller.ask("renew first --ttl 1h --json");
    let renewed: Value = serde_json::from_slice(&renewed.stdout).unwrap();
    assert!(renewed["expires_s"].is_u64(), "it had no lease before: {renewed}");
    assert!(controller.ask("destroy first").status.success());
    wait_until("the second stands", || phase("second").as_deref() == Some("standing"));
    second.kill().unwrap();
    second.wait().unwrap();
    wait_until("the second is gone", || phase("second").is_none());
    assert!(!has_groups(&place));
}

#[test]
fn killed_controller_leaves_only_detached_cells() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let mut controller = Controller::start(&place, "", &[]);
    if !made(&controller.ask(make("kept", &cpus))) {
        return;
    }
    controller.kill();
    let mut controller = Controller::start(&place, "", &[]);
    assert_eq!(controller.list()[0]["uid"], 0, "it is taken over, and whose it is still known");
    assert!(controller.ask("destroy kept").status.success());
    let mut held = Guarded(client(&place, (make("held", &cpus), "--hold")).spawn().unwrap());
    wait_until("it is made", || controller.list().iter().any(|cell| cell["phase"] == "standing"));
    controller.kill();
    held.wait().unwrap();
    wait_until("the warden has undone it", || !has_groups(&place));
}

/// Runs the command from the message.
#[test]
fn stopped_controller_is_named() {
    let place = Place::new();
    let controller = Controller::start(&place, "", &[]);
    let pid = controller.pid();
    let signal = |word: &str| {
        let status = Command::new("sh").args(["-c", &format!("kill {word} {pid}")]).status();
        assert!(status.unwrap().success());
    };
    signal("-STOP");
    let output = controller.ask("list");
    signal("-CONT");
    let sentence = format!(
        "seatmap-papers: the controller is stopped (process {pid}); 'kill -CONT {pid}' continues it"
    );
    assert_eq!((output.status.code(), stderr(&output)), (Some(1), sentence));
    assert!(controller.ask("list").status.success());
}

fn account(place: &Place) -> Value {
    serde_json::from_str(&place.read("run/controller.usage")).unwrap()
}

#[test]
fn recorded_usage_survives_killed_controller() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    std::fs::set_permissions(place.folder(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let start = || Controller::start(&place, "--policy fair --group 4711", &[]);
    let as_stranger = |arguments: String| {
        let mut command = client(&place, arguments);
        command.gid(4711).uid(65_534);
        command
    };
    let mut controller = start();
    match as_stranger(make("kept", &cpus)).output() {
        Ok(output) if !made(&output) => return,
        Ok(_) => {}
        Err(error) => {
            return seatmap_needs::skipped!("a stranger cannot start the binary here: {error}");
        }
    }
    controller.kill();
    let mut known = account(&place);
    // Ten minutes of root's CPU time, in the account's format.
    known["cpu_us"]["0"] = 600_000_000.into();
    place.file("run/controller.usage", known.to_string());
    let mut controller = start();
    assert_eq!(controller.ask((make("half", &cpus), "--no-wait")).status.code(), Some(1));
    controller.kill();
    let known = account(&place);
    let roots = known["cpu_us"]["0"].whole();
    assert!(
        (1..600_000_000).contains(&roots) && known["cpu_us"]["65534"].is_u64(),
        "it ages: {known}"
    );
    let controller = start();
    let phase = |name: &str| {
        let cells = controller.list();
        cells.iter().find(|cell| cell["name"] == name).map(|cell| cell["phase"].text().to_owned())
    };
    let mut first = Guarded(client(&place, (make("one", &cpus), "--hold")).spawn().unwrap());
    wait_until("root waits", || phase("one").as_deref() == Some("waiting"));
    let mut second = Guarded(as_stranger(make("two", &cpus) + " --hold").spawn().unwrap());
    wait_until("the stranger waits", || phase("two").as_deref() == Some("waiting"));
    assert!(controller.ask("destroy kept").status.success());
    wait_until("it is the stranger's turn", || phase("two").as_deref() == Some("standing"));
    assert_eq!(phase("one").as_deref(), Some("waiting"), "who came first had more");
    for client in [&mut second, &mut first] {
        client.kill().unwrap();
        client.wait().unwrap();
    }
    wait_until("both are gone", || controller.list().is_empty() && !has_groups(&place));
}

/// The messages of a controller ended right after its start.
fn told_in_a_short_life(place: &Place) -> String {
    let mut command = controller(place, "serve --socket socket");
    let mut child = Guarded(command.stdout(Stdio::null()).spawn().unwrap());
    wait_until("it listens", || place.path("socket").exists());
    // SAFETY: the child has not been waited for, so that the number is its own.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(child.wait().unwrap().success());
    told
}

#[test]
fn unusable_account_is_reported_and_restarted() {
    let place = Place::new();
    std::fs::create_dir(place.path("run")).unwrap();
    place.file(
        "run/controller.usage",
        r#"{"format":"seatmap-usage/1","boot_id":"another","at_ms":1,"cpu_us":{}}"#,
    );
    let told = told_in_a_short_life(&place);
    assert!(
        told.ends_with(
            "controller.usage: is from another boot; the users' recent CPU time restarts at zero\n"
        ),
        "{told}"
    );
    assert_ne!(account(&place)["boot_id"], "another");
}

#[test]
fn damaged_ledger_is_reported_and_kept() {
    let place = Place::new();
    std::fs::create_dir(place.path("run")).unwrap();
    place.file("run/controller.ledger", "[{\"boot_id\":");
    let told = told_in_a_short_life(&place);
    assert!(told.contains("controller.ledger") && told.contains("may still be stopped"), "{told}");
    assert_eq!(place.read("run/controller.ledger.damaged"), "[{\"boot_id\":");
}

#[test]
fn controller_killed_during_create_leaves_nothing() {
    let Some((cpus, _taken)) = highest() else { return };
    let affinity = || seatmap_os::affinity::current().unwrap();
    let before = affinity();
    if !before.iter().any(|cpu| format!("{cpu}-{cpu}") == cpus) {
        return seatmap_needs::skipped!("CPU {cpus} is somebody else's just now");
    }
    // In the first two, it writes the ledger and its copy before it listens.
    for step in [3, 4, 5, 9, 14, 30] {
        let place = Place::new();
        let step = step.to_string();
        let mut dying = Controller::start(&place, "", &[("SEATMAP_CELL_FAIL_AT", &step)]);
        let output = dying.ask((make("half", &cpus), "--hold"));
        assert_eq!(output.status.code(), Some(1), "{step}: {}", stderr(&output));
        dying.kill();
        let after = Controller::start(&place, "", &[]);
        wait_until("all is undone", || after.list().is_empty() && !has_groups(&place));
    }
    // Another program's cell may exist meanwhile; it ends, but masks left narrow by this test would
    // not.
    wait_until("every mask is as before", || affinity() == before);
}

#[test]
fn gangs_take_turns_with_all_their_threads() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let controller = Controller::start(&place, "--slice 1s", &[]);
    if !made(&controller.ask((make("one", &cpus), "--turns"))) {
        return;
    }
    let mut program = Guarded(seatmap(&place, "cell run -q one -- sleep 60").spawn().unwrap());
    let own = program.id();
    let child = || {
        let path = format!("/proc/{own}/task/{own}/children");
        let children = std::fs::read_to_string(path).unwrap_or_default();
        children.split_whitespace().next()?.parse::<i32>().ok()
    };
    let sleeper = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child()?)).ok()?;
        let is_it = stat.contains("(sleep)");
        // A pinned thread is traced, so its stopped state is shown as a lowercase letter.
        is_it
            .then(|| stat.rsplit_once(") ").unwrap().1.chars().next().unwrap().to_ascii_uppercase())
    };
    wait_until("it sleeps", || sleeper() == Some('S'));
    assert!(made(&controller.ask((make("two", &cpus), "--turns"))));
    let is_one = |phase: &str| {
        controller.list().iter().any(|cell| cell["name"] == "one" && cell["phase"] == phase)
    };
    wait_until("it is stopped", || sleeper() == Some('T') && is_one("suspended"));
    wait_until("it goes on", || sleeper() == Some('S') && is_one("standing"));
    assert!(controller.ask("destroy two").status.success());
    wait_until("it stands", || is_one("standing"));
    assert!(controller.ask("destroy one").status.success());
    assert!(controller.list().is_empty() && !has_groups(&place));
    // SAFETY: the child of a child of ours, which has not been waited for.
    unsafe { libc::kill(child().unwrap(), libc::SIGKILL) };
    program.wait().unwrap();
}

#[test]
fn unrecordable_turn_ends_the_cell() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let controller = Controller::start(&place, "--slice 1s", &[]);
    if !made(&controller.ask((make("one", &cpus), "--turns"))) {
        return;
    }
    // A file cannot replace a folder, so the ledger cannot be written, as on a full disk.
    let ledger = place.path("run/controller.ledger");
    std::fs::remove_file(&ledger).unwrap();
    std::fs::create_dir(&ledger).unwrap();
    let second = controller.ask((make("two", &cpus), "--turns"));
    let stands = has_groups(&place);
    std::fs::remove_dir(&ledger).unwrap();
    assert!(stderr(&second).contains("cannot write the ledger"), "{}", stderr(&second));
    assert!(!stands && controller.list().is_empty(), "the first has no CPUs any more");
}

#[test]
fn intruder_in_cell_is_reported() {
    let Some((cpus, _taken)) = highest() else { return };
    let place = Place::new();
    let controller = Controller::start(&place, "", &[]);
    if !made(&controller.ask(make("first", &cpus))) {
        return;
    }
    let group = controller.list()[0]["cell"]["group"].text().to_owned();
    let mut intruder = Guarded(Command::new("sleep").arg("60").spawn().unwrap());
    std::fs::write(format!("{group}/tasks"), intruder.id().to_string()).unwrap();
    let wrong = || controller.list()[0]["faults"].to_string();
    wait_until("it is seen", || wrong().contains("(sleep) is in the cell, but Seatmap did not"));
    assert_eq!(controller.list()[0]["cell"]["state"], "damaged");
    intruder.kill().unwrap();
    intruder.wait().unwrap();
    wait_until("all is well again", || wrong() == "[]");
}
