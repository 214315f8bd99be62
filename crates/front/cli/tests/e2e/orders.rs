//! The ranks of a job obey orders only from a sender that knows the secret.

mod relay;

use crate::common::{Arguments, Json, Place, assert_contains, files};
use crate::common::{begun, rank};
use relay::{Relay, Tampering};
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

const SECRET: &str = "the secret of these ranks";

const NOBODY: u32 = 65_534;

const MEASURE: &str = "cluster measure --each-rank --trips 1ms --timeout 60s";

fn ended(child: Child) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn at_port(place: &Place, at: usize, size: usize, port: u16, more: impl Arguments) -> Command {
    let meet = format!("127.0.0.1:{port}");
    let mut command = rank(place, at, size, (MEASURE, &["--meet", &meet], more));
    command.env("SEATMAP_SECRET", SECRET);
    command
}

/// A folder writable by all users. `None` if this process cannot become another user, or that user
/// cannot start the program.
fn shared() -> Option<Place> {
    let place = Place::new();
    fs::set_permissions(place.folder(), Permissions::from_mode(0o777)).unwrap();
    let mut other = place.command("--version");
    other.uid(NOBODY);
    match other.output() {
        Ok(output) if output.status.success() => Some(place),
        other => {
            seatmap_needs::skipped!("another user does not start seatmap here: {other:?}");
            None
        }
    }
}

#[test]
fn meeting_file_of_other_user_is_refused() {
    let Some(place) = shared() else { return };
    let mut attacker = rank(&place, 0, 2, (MEASURE, "--mpi --mpicc true"));
    let mut attacker = attacker.uid(NOBODY).stderr(std::process::Stdio::null()).spawn().unwrap();
    let meeting = place.path(".seatmap-meeting");
    while !meeting.exists() && attacker.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(meeting.exists());
    for at in [1, 0] {
        let (code, told) = ended(begun(rank(&place, at, 2, MEASURE)));
        assert_eq!(code, Some(2), "{told}");
        assert!(
            told.contains("the meeting file is not trusted")
                && told.contains("belongs to user 65534"),
            "{told}"
        );
    }
    let spread = "tune --on scc-48 --pattern ring:4 --spread";
    let (code, told) = ended(begun(rank(&place, 1, 2, spread)));
    assert!(code == Some(2) && told.contains("belongs to user 65534"), "{told}");
    attacker.kill().unwrap();
    attacker.wait().unwrap();
}

#[test]
fn linked_or_readable_meeting_files_are_refused() {
    let place = Place::new();
    let note = r#"{"job":null,"addresses":["127.0.0.1:9"],"secret":"the secret of the attacker"}"#;
    place.file("note", note);
    fs::set_permissions(place.path("note"), Permissions::from_mode(0o600)).unwrap();
    symlink("note", place.path(".seatmap-meeting")).unwrap();
    let refused = |more: &str| {
        let (code, told) = ended(begun(rank(&place, 1, 2, (MEASURE, more))));
        assert_eq!(code, Some(2), "{told}");
        told
    };
    assert!(refused("").contains("is a link or a special file"));
    assert!(refused("--secret-file .seatmap-meeting").contains("is a link or a special file"));
    fs::remove_file(place.path(".seatmap-meeting")).unwrap();
    fs::set_permissions(place.path("note"), Permissions::from_mode(0o644)).unwrap();
    for more in ["--meet note", "--secret-file note"] {
        assert!(refused(more).contains("other users can read 'note' (mode 0644)"), "{more:?}");
    }
    if chown(place.path("note"), Some(NOBODY), None).is_ok() {
        assert!(refused("--secret-file note").contains("belongs to user 65534"));
    }
    assert_eq!(files(&place), ["note"]);
}

/// The second of three ranks reaches rank 0 through a relay. Returns its end, that of rank 0, and
/// the first relayed order.
fn relayed(place: &Place, tampering: Tampering) -> ([(Option<i32>, String); 2], Vec<u8>) {
    let port = free_port();
    let first = begun(at_port(place, 0, 3, port, "-o cluster.json"));
    let relay = Relay::begin(port, tampering);
    let second = begun(at_port(place, 1, 3, relay.port, ""));
    let third = begun(at_port(place, 2, 3, port, ""));
    let ends = [ended(second), ended(first)];
    ended(third);
    (ends, relay.orders.try_recv().unwrap())
}

const FORGED: &str = "a message is not from the other rank, or was changed on its way";

#[test]
fn recorded_order_is_refused_in_later_job() {
    let place = Place::new();
    let ([second, first], order) = relayed(&place, Tampering::None);
    assert_eq!((second.0, first.0), (Some(0), Some(0)), "{second:?} {first:?}");
    let cluster = place.read_json("cluster.json");
    assert_eq!(cluster["pairs"].elements().len(), 3);
    // The same ranks and secret, and an order recorded in the first job.
    let place = Place::new();
    let ([second, _], _) = relayed(&place, Tampering::Replay(order));
    assert!(second.0 == Some(1) && second.1.contains(FORGED), "{second:?}");
}

/// An order of an earlier version, which contained a program.
const ORDER: &str = r##"{"Mpi":{"program":[35,33,47,98,105,110,47,115,104,10,116,111,117,99,104,32,111,98,101,121,101,100],
                     "plan":"","limit_ms":1000}}"##;

#[test]
fn relay_without_secret_gives_no_orders() {
    for (what, tampering) in [
        ("an order of its own", Tampering::Insert(ORDER.as_bytes().to_vec())),
        ("the end of all", Tampering::Insert(br#""End""#.to_vec())),
        ("an order for the second time", Tampering::Repeat),
        ("an order that was changed", Tampering::Flip),
        ("the answer to an order as the next one", Tampering::Reflect),
    ] {
        let place = Place::new();
        // Rank 0 may already have all results of that rank.
        let ([second, _], _) = relayed(&place, tampering);
        assert!(second.0 == Some(1) && second.1.contains(FORGED), "{what}: {second:?}");
        assert_eq!(files(&place), ["cluster.json"], "{what}");
    }
}

#[test]
fn answers_altered_by_relay_are_refused() {
    let place = Place::new();
    let ([_, first], _) = relayed(&place, Tampering::FlipAnswer);
    assert_eq!(first.0, Some(1), "{first:?}");
    let cluster = place.read("cluster.json");
    assert!(cluster.contains(FORGED) && !cluster.contains("\"nodes\":[1,2]"), "{cluster}");
    let place = Place::new();
    let ([second, _], _) = relayed(&place, Tampering::Cut);
    assert!(second.0 == Some(1) && second.1.contains("rank 0 has exited"), "{second:?}");
}

#[test]
fn spread_work_refuses_relay_orders() {
    let place = Place::new();
    let port = free_port();
    let work = |at: usize, port: u16| {
        let meet = format!("127.0.0.1:{port}");
        let race = "tune --on scc-48 --pattern ring:4 --budget 144 --json";
        let spread = ["--spread", "--timeout", "60s", "--meet", &meet];
        let mut command = rank(&place, at, 2, (race, spread));
        command.env("SEATMAP_SECRET", SECRET);
        begun(command)
    };
    let first = work(0, port);
    let relay = Relay::begin(port, Tampering::Insert(br#"{"Part":"[]"}"#.to_vec()));
    let (code, told) = ended(work(1, relay.port));
    assert!(code == Some(1) && told.contains(FORGED), "{told}");
    assert_eq!(ended(first).0, Some(0), "rank 0 does all the work itself");
}

#[test]
fn ranks_started_with_other_options_refuse_orders() {
    let place = Place::new();
    let first = begun(rank(&place, 0, 2, (MEASURE, "--mpi --mpicc true")));
    let second = begun(rank(&place, 1, 2, MEASURE));
    for (code, told) in [ended(second), ended(first)] {
        assert_ne!(code, Some(0));
        assert_contains(&told, "start all ranks with the same command line");
    }
}

fn connected(address: &str) -> TcpStream {
    let begun = Instant::now();
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return stream,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(60), "{address}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn rank_0_listens_only_on_given_address() {
    let place = Place::new();
    let port = free_port();
    let mut first = begun(at_port(&place, 0, 2, port, ""));
    drop(connected(&format!("127.0.0.1:{port}")));
    for other in seatmap_os::net::addresses().into_iter().chain(["127.0.0.2".parse().unwrap()]) {
        if other.to_string() != "127.0.0.1" {
            assert!(TcpStream::connect((other, port)).is_err(), "{other}");
        }
    }
    first.kill().unwrap();
    first.wait().unwrap();
}

struct Crowd {
    streams: Vec<TcpStream>,
    said: usize,
}

impl Crowd {
    fn gather(address: &str, count: usize) -> Self {
        Crowd { streams: (0..count).map(|_| connected(address)).collect(), said: 0 }
    }

    /// Sends one more byte on each connection, of a message that never ends.
    fn trickle(&mut self) {
        let byte = [0, 0, 0xff, 0].get(self.said).copied().unwrap_or(b'x');
        self.said += 1;
        for stream in &mut self.streams {
            let _ = stream.write_all(&[byte]);
        }
    }
}

#[test]
fn silent_connections_keep_no_rank_out() {
    let Some(place) = shared() else { return };
    let port = free_port();
    let limited = |at: usize| {
        let mut command = at_port(&place, at, 2, port, "-o cluster.json");
        command.uid(NOBODY);
        // SAFETY: the call is async-signal-safe, and the limit is a plain value.
        unsafe {
            command.pre_exec(|| {
                let limit = libc::rlimit { rlim_cur: 100, rlim_max: 100 };
                match libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        command
    };
    let first = begun(limited(0));
    let mut crowd = Crowd::gather(&format!("127.0.0.1:{port}"), 300);
    crowd.trickle();
    let mut second = begun(limited(1));
    while second.try_wait().unwrap().is_none() {
        crowd.trickle();
        std::thread::sleep(Duration::from_millis(20));
    }
    let second = ended(second);
    let first = ended(first);
    assert_eq!((second.0, first.0), (Some(0), Some(0)), "{second:?} {first:?}");
    assert!(!first.1.contains("panicked"), "{first:?}");
}

#[test]
fn errors_never_quote_the_standard_library() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = (&stream).write_all(&[0, 0, 0, 9, b'x']);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = (&stream).read(&mut [0; 64]);
        }
    });
    let meet = format!("127.0.0.1:{port}");
    let mut second = rank(&place, 1, 2, format!("cluster measure --timeout 300ms --meet {meet}"));
    second.env("SEATMAP_SECRET", SECRET);
    let (code, told) = ended(begun(second));
    assert_eq!(code, Some(1));
    assert!(!told.contains("whole buffer") && !told.contains("os error"), "{told}");
    assert_contains(&told, "connection");
}
