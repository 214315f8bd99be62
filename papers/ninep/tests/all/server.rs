//! The server with its own client and with hostile ones, over a pair of sockets.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_ninep::attributes::AttributeChange;
use seatmap_ninep::frame::{self, LONGEST_BYTES};
use seatmap_ninep::session::VERSION;
use seatmap_ninep::wire::Data;
use seatmap_ninep::{
    ExportedFolder, FileClient, FileRequest, FileSession, MOST_FIDS, OpenMode, Refusal, Reply,
    serve,
};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

struct Console(Sender<Vec<u8>>);

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A folder with a secret next to it, and its server.
struct Served {
    folder: tempfile::TempDir,
    stream: UnixStream,
    console: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

fn served(is_read_only: bool) -> Served {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("shown")).unwrap();
    fs::write(folder.path().join("secret"), "secret").unwrap();
    fs::write(folder.path().join("shown/file"), "content").unwrap();
    let shown = folder.path().join("shown");
    let (stream, own) = UnixStream::pair().unwrap();
    let (says, console) = channel();
    let thread = std::thread::spawn(move || {
        let session = FileSession::new(
            ExportedFolder::new(&shown, is_read_only)?,
            Some(Box::new(Console(says))),
        );
        serve(own, session)
    });
    Served { folder, stream, console, thread }
}

impl Served {
    fn shown(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("shown").join(name)
    }

    fn client(&self) -> FileClient<UnixStream> {
        FileClient::new(self.stream.try_clone().unwrap()).unwrap()
    }

    /// Sends a request that our client never sends. Returns the reply's number.
    fn ask(&mut self, request: &FileRequest<'_>) -> Result<u8, Refusal> {
        let mut bytes = Vec::new();
        request.frame(5, &mut bytes);
        self.ask_bytes(&bytes)
    }

    fn ask_bytes(&mut self, bytes: &[u8]) -> Result<u8, Refusal> {
        self.stream.write_all(bytes).unwrap();
        let mut body = Vec::new();
        let head = frame::read(&mut self.stream, LONGEST_BYTES, &mut body).unwrap().unwrap();
        match Reply::parse(head.number, &body).unwrap() {
            Reply::Error { code } => Err(Refusal(code)),
            reply => Ok(reply.number()),
        }
    }

    fn walk(&mut self, new: u32, names: &[&[u8]]) -> Result<u8, Refusal> {
        self.ask(&FileRequest::Walk { fid: 0, new, names: names.to_vec() })
    }

    fn attached(mut self) -> Self {
        self.ask(&FileRequest::Version { size_bytes: LONGEST_BYTES, version: VERSION }).unwrap();
        self.ask(&FileRequest::Attach { fid: 0, auth: 0, user: b"", tree: b"/", uid: 0 }).unwrap();
        self
    }

    fn is_alive(&mut self) {
        self.walk(4711, &[b"files", b"file"]).unwrap();
        self.ask(&FileRequest::Clunk { fid: 4711 }).unwrap();
    }
}

#[test]
fn client_performs_common_file_operations() {
    let served = served(false);
    let mut client = served.client();
    let file = client.open("files/file", OpenMode::Read).unwrap();
    let mut bytes = [0; 100];
    assert_eq!(client.read(&file, 3, &mut bytes).unwrap(), 4);
    assert_eq!(&bytes[..4], b"tent");
    assert_eq!(client.read(&file, 7, &mut bytes).unwrap(), 0);
    client.close(file).unwrap();
    client.make_folder("files/a").unwrap();
    let large: Vec<u8> = (0..1_000_000u32).map(|n| n as u8).collect();
    let file = client.create("files/a/large").unwrap();
    client.write_all(&file, 0, &large).unwrap();
    client.sync(&file).unwrap();
    assert_eq!(fs::read(served.shown("a/large")).unwrap(), large);
    client.resize(&file, 10).unwrap();
    client.close(file).unwrap();
    assert_eq!(client.attributes("files/a/large").unwrap().size_bytes, 10);
    client.rename("files/a/large", "files/small").unwrap();
    let file = client.create("files/small").unwrap();
    client.close(file).unwrap();
    assert_eq!(fs::read(served.shown("small")).unwrap(), b"", "what is there is made anew");
    client.remove("files/small").unwrap();
    client.remove_folder("files/a").unwrap();
    assert_eq!(client.list("files").unwrap(), [b"file"]);
    assert_eq!(client.list("").unwrap(), [&b"files"[..], b"console"]);
    assert_eq!(
        client.open("files/none", OpenMode::Read).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    drop(client);
    drop(served.stream);
    served.thread.join().unwrap().unwrap();
}

#[test]
fn posted_writes_keep_order_and_report_failures_once() {
    let served = served(false);
    let mut client = served.client();
    let file = client.create("files/log").unwrap();
    (0..1000u64).for_each(|at| client.post(&file, at, &[at as u8]).unwrap());
    let mut last = [0];
    client.read(&file, 999, &mut last).unwrap();
    assert_eq!(last[0], 999u64 as u8, "who reads finds what was posted before");
    client.post(&file, 1000, &vec![7; 1_000_000]).unwrap();
    client.settle().unwrap();
    assert_eq!(fs::metadata(served.shown("log")).unwrap().len(), 1_001_000);
    let closed = client.open("files/file", OpenMode::Read).unwrap();
    (0..100).for_each(|_| client.post(&closed, 0, b"x").unwrap());
    assert_eq!(
        client.attributes("files/file").unwrap().size_bytes,
        7,
        "others are answered all the same"
    );
    assert_eq!(client.settle().unwrap_err().raw_os_error(), Some(libc::EBADF));
    client.settle().unwrap();
}

#[test]
fn console_is_write_only() {
    let served = served(true);
    let mut client = served.client();
    let console = client.open("console", OpenMode::Write).unwrap();
    client.write_all(&console, 0, b"hello").unwrap();
    assert_eq!(served.console.recv().unwrap(), b"hello");
    let mut bytes = [0];
    assert_eq!(client.read(&console, 0, &mut bytes).unwrap_err().raw_os_error(), Some(libc::EBADF));
    assert_eq!(
        client.open("console", OpenMode::Read).unwrap_err().raw_os_error(),
        Some(libc::EACCES)
    );
}

#[test]
fn input_is_read_only_and_streamed() {
    let folder = tempfile::tempdir().unwrap();
    let (stream, own) = UnixStream::pair().unwrap();
    let shown = folder.path().to_owned();
    let (input, mut types) = io::pipe().unwrap();
    let thread = std::thread::spawn(move || {
        let session = FileSession::new(ExportedFolder::new(&shown, true)?, None);
        serve(own, session.with_input(Box::new(input)))
    });
    let mut client = FileClient::new(stream).unwrap();
    assert_eq!(client.list("").unwrap(), [&b"files"[..], b"input"]);
    assert_eq!(client.attributes("input").unwrap().mode, libc::S_IFREG | 0o444);
    for access in [OpenMode::Write, OpenMode::Both] {
        assert_eq!(client.open("input", access).unwrap_err().raw_os_error(), Some(libc::EACCES));
    }
    let input = client.open("input", OpenMode::Read).unwrap();
    let mut bytes = [0; 4];
    types.write_all(b"hello").unwrap();
    assert_eq!((client.read(&input, 0, &mut bytes).unwrap(), &bytes), (4, b"hell"));
    assert_eq!(
        (client.read(&input, 0, &mut bytes).unwrap(), bytes[0]),
        (1, b'o'),
        "its places are not asked for"
    );
    drop(types);
    assert_eq!(client.read(&input, 5, &mut bytes).unwrap(), 0);
    assert_eq!(client.write(&input, 0, b"x").unwrap_err().raw_os_error(), Some(libc::EBADF));
    assert!(client.resize(&input, 0).is_err() && client.create("input").is_err());
    drop(client);
    thread.join().unwrap().unwrap();
}

#[test]
fn folders_of_any_size_are_listed() {
    let served = served(false);
    let mut names: Vec<Vec<u8>> = (0..3000).map(|n| format!("{n:0100}").into_bytes()).collect();
    names
        .iter()
        .for_each(|name| fs::write(served.shown(str::from_utf8(name).unwrap()), "").unwrap());
    names.push(b"file".to_vec());
    let mut listed = served.client().list("files").unwrap();
    listed.sort();
    assert_eq!(listed, names);
}

#[test]
fn deep_paths_are_walked() {
    let served = served(false);
    let mut client = served.client();
    let mut path = "files".to_owned();
    for _ in 0..40 {
        path += "/d";
        client.make_folder(&path).unwrap();
    }
    assert!(client.attributes(&path).is_ok());
    assert_eq!(
        client.attributes(&format!("{path}/d/d")).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
}

#[test]
fn no_path_leads_outside_the_folder() {
    let mut served = served(false).attached();
    symlink("../secret", served.shown("link")).unwrap();
    symlink("/", served.shown("root")).unwrap();
    let outside: [&[&[u8]]; 8] = [
        &[b"files", b"..", b"secret"],
        &[b".."],
        &[b"files", b"../secret"],
        &[b"files", b"/etc/passwd"],
        &[b"/etc/passwd"],
        &[b"files", b"file\0"],
        &[b"files", b""],
        &[b"files", b"root", b"etc"],
    ];
    for (names, new) in outside.into_iter().zip(10..) {
        let walked = served.walk(new, names);
        assert_eq!(
            served.ask(&FileRequest::Clunk { fid: new }),
            Err(Refusal::FID),
            "{names:?}: {walked:?}"
        );
    }
    assert_eq!(served.walk(30, &[b"..", b"secret"]), Err(Refusal::INVALID));
    served.walk(31, &[b"files", b"link"]).unwrap();
    assert_eq!(served.ask(&FileRequest::Open { fid: 31, flags: 0 }), Err(Refusal::LINK));
    served.walk(32, &[b"files"]).unwrap();
    for name in [&b"../secret"[..], b"..", b"/tmp/x", b"a/b", b"x\0", b"."] {
        let created = FileRequest::Create { fid: 32, name, flags: 2, mode: 0o644, gid: 0 };
        assert_eq!(served.ask(&created), Err(Refusal::INVALID));
        assert_eq!(
            served.ask(&FileRequest::Folder { fid: 32, name, mode: 0o755, gid: 0 }),
            Err(Refusal::INVALID)
        );
        assert_eq!(
            served.ask(&FileRequest::Remove { fid: 32, name, flags: 0 }),
            Err(Refusal::INVALID)
        );
        let renamed = |old, new| FileRequest::Rename { from: 32, old, to: 32, new };
        assert_eq!(served.ask(&renamed(b"file", name)), Err(Refusal::INVALID));
        assert_eq!(served.ask(&renamed(name, b"file")), Err(Refusal::INVALID));
    }
    // A link in a new file's place is not followed either.
    let created = FileRequest::Create { fid: 32, name: b"link", flags: 1, mode: 0o644, gid: 0 };
    assert_eq!(served.ask(&created), Err(Refusal(libc::EEXIST as u32)));
    assert_eq!(fs::read(served.folder.path().join("secret")).unwrap(), b"secret");
    served.is_alive();
}

#[test]
fn open_uses_the_file_walked_to() {
    let mut served = served(false).attached();
    served.walk(1, &[b"files", b"file"]).unwrap();
    fs::rename(served.shown("file"), served.shown("moved")).unwrap();
    symlink("../secret", served.shown("file")).unwrap();
    assert_eq!(served.ask(&FileRequest::Open { fid: 1, flags: 1 }), Ok(13));
    served.ask(&FileRequest::Write { fid: 1, offset: 0, data: Data(b"CON") }).unwrap();
    assert_eq!(fs::read(served.shown("moved")).unwrap(), b"CONtent");
    assert_eq!(fs::read(served.folder.path().join("secret")).unwrap(), b"secret");
}

#[test]
fn files_get_no_setuid_or_setgid_bits() {
    let mut served = served(false).attached();
    served.walk(1, &[b"files"]).unwrap();
    served
        .ask(&FileRequest::Create { fid: 1, name: b"new", flags: 2, mode: 0o7755, gid: 0 })
        .unwrap();
    served.walk(2, &[b"files", b"file"]).unwrap();
    let change = AttributeChange {
        valid: AttributeChange::MODE,
        mode: 0o6711,
        ..AttributeChange::default()
    };
    served.ask(&FileRequest::Change { fid: 2, change }).unwrap();
    let mode = |name| fs::metadata(served.shown(name)).unwrap().permissions().mode() & 0o6000;
    assert_eq!((mode("new"), mode("file")), (0, 0));
}

#[test]
fn pipes_and_sockets_are_not_opened() {
    let mut served = served(false).attached();
    let pipe = std::ffi::CString::new(served.shown("pipe").to_str().unwrap()).unwrap();
    // SAFETY: the path ends in a zero byte.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    let _socket = UnixListener::bind(served.shown("socket")).unwrap();
    for (name, fid) in [(&b"pipe"[..], 1), (b"socket", 2)] {
        served.walk(fid, &[b"files", name]).unwrap();
        assert_eq!(
            served.ask(&FileRequest::Open { fid, flags: 0 }),
            Err(Refusal::DEVICE),
            "and nobody waits"
        );
    }
}

#[test]
fn read_only_folder_refuses_changes() {
    let mut served = served(true).attached();
    served.walk(1, &[b"files"]).unwrap();
    served.walk(2, &[b"files", b"file"]).unwrap();
    let refused = Err(Refusal::READ_ONLY);
    for flags in [1, 2, libc::O_TRUNC as u32] {
        assert_eq!(served.ask(&FileRequest::Open { fid: 2, flags }), refused);
    }
    assert_eq!(
        served.ask(&FileRequest::Create { fid: 1, name: b"x", flags: 1, mode: 0o644, gid: 0 }),
        refused
    );
    assert_eq!(
        served.ask(&FileRequest::Folder { fid: 1, name: b"x", mode: 0o755, gid: 0 }),
        refused
    );
    assert_eq!(served.ask(&FileRequest::Remove { fid: 1, name: b"file", flags: 0 }), refused);
    assert_eq!(
        served.ask(&FileRequest::Rename { from: 1, old: b"file", to: 1, new: b"x" }),
        refused
    );
    assert_eq!(
        served.ask(&FileRequest::Change { fid: 2, change: AttributeChange::to_size(0) }),
        refused
    );
    assert_eq!(served.ask(&FileRequest::Open { fid: 2, flags: 0 }), Ok(13));
    assert_eq!(fs::read(served.shown("file")).unwrap(), b"content");
}

#[test]
fn unknown_and_excess_fids_are_refused() {
    let mut served = served(false).attached();
    assert_eq!(served.ask(&FileRequest::Clunk { fid: 9 }), Err(Refusal::FID));
    assert_eq!(
        served.ask(&FileRequest::Walk { fid: 9, new: 10, names: vec![] }),
        Err(Refusal::FID)
    );
    assert_eq!(
        served.ask(&FileRequest::Read { fid: 0, offset: 0, count: 1 }),
        Err(Refusal::FID),
        "not open"
    );
    served.walk(1, &[b"files", b"file"]).unwrap();
    assert_eq!(served.walk(1, &[b"files"]), Err(Refusal::FID), "in use");
    assert_eq!(
        served.ask(&FileRequest::Attach { fid: 1, auth: 0, user: b"", tree: b"", uid: 0 }),
        Err(Refusal::FID)
    );
    assert_eq!(served.ask(&FileRequest::Open { fid: 1, flags: 0 }), Ok(13));
    assert_eq!(
        served.ask(&FileRequest::Open { fid: 1, flags: 0 }),
        Err(Refusal::FID),
        "open already"
    );
    let given = (2..10_000).filter(|fid| served.walk(*fid, &[]).is_ok()).count();
    assert_eq!(given, MOST_FIDS - 2);
    assert_eq!(served.walk(10_001, &[]), Err(Refusal::MANY));
    served.ask(&FileRequest::Clunk { fid: 2 }).unwrap();
    served.is_alive();
    // A new version drops them all.
    let mut served = served.attached();
    served.is_alive();
}

#[test]
fn attach_as_other_user_is_refused() {
    let mut served = served(false).attached();
    let claims = |fid, uid| FileRequest::Attach { fid, auth: 0, user: b"root", tree: b"", uid };
    assert_eq!(served.ask(&claims(7, 4711)), Err(Refusal::ACCESS));
    assert_eq!(served.ask(&claims(7, u32::MAX)), Ok(105));
    assert_eq!(
        served.ask(&FileRequest::Attach { fid: 8, auth: 0, user: b"", tree: b"etc", uid: 0 }),
        Err(Refusal::ABSENT)
    );
}

#[test]
fn excessive_counts_and_lengths_are_bounded() {
    let mut served = served(false).attached();
    served.walk(1, &[b"files", b"file"]).unwrap();
    served.ask(&FileRequest::Open { fid: 1, flags: 2 }).unwrap();
    assert_eq!(served.ask(&FileRequest::Read { fid: 1, offset: 0, count: u32::MAX }), Ok(117));
    assert!(served.ask(&FileRequest::Read { fid: 1, offset: u64::MAX, count: 1 }).is_err());
    assert!(
        served.ask(&FileRequest::Write { fid: 1, offset: u64::MAX - 1, data: Data(b"x") }).is_err()
    );
    // More data than the frame has, a longer name than it has, a cut request, one with further
    // bytes.
    assert_eq!(
        served.ask_bytes(b"\x18\0\0\0\x76\x05\0\x01\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xffx"),
        Err(Refusal::INVALID)
    );
    assert_eq!(
        served.ask_bytes(b"\x13\0\0\0\x6e\x05\0\0\0\0\0\x07\0\0\0\x01\0\xff\xff"),
        Err(Refusal::INVALID)
    );
    assert_eq!(served.ask_bytes(b"\x07\0\0\0\x78\x05\0"), Err(Refusal::INVALID));
    assert_eq!(served.ask_bytes(b"\x0c\0\0\0\x78\x05\0\x01\0\0\0x"), Err(Refusal::INVALID));
    for number in [0, 6, 16, 18, 20, 30, 32, 52, 54, 70, 102, 106, 112, 122, 255] {
        assert_eq!(
            served.ask_bytes(&[7, 0, 0, 0, number, 5, 0]),
            Err(Refusal::UNKNOWN),
            "{number}"
        );
    }
    assert_eq!(
        served.ask(&FileRequest::Version { size_bytes: 7, version: VERSION }),
        Err(Refusal::INVALID)
    );
    served.is_alive();
}

#[test]
fn stream_without_frames_ends() {
    for bytes in [
        &b"\x06\0\0\0\0\0\0"[..],
        b"\xff\xff\xff\xff\0\0\0",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x08\0\0\0\x78\0\0",
    ] {
        let mut served = served(false);
        served.stream.write_all(bytes).unwrap();
        served.stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(served.thread.join().unwrap().is_err(), "{bytes:?}");
        assert!(matches!(served.stream.read(&mut [0]), Ok(0)));
    }
}

#[test]
fn client_that_never_reads_blocks_only_itself() {
    let served = served(false);
    served.stream.set_nonblocking(true).unwrap();
    let mut bytes = Vec::new();
    FileRequest::Version { size_bytes: LONGEST_BYTES, version: VERSION }.frame(0, &mut bytes);
    while (&served.stream).write(&bytes).is_ok() {}
    // The server waits for a reader, and ends with the connection.
    served.stream.shutdown(std::net::Shutdown::Both).unwrap();
    let _ = served.thread.join().unwrap();
}

#[test]
fn file_permissions_are_enforced() {
    // SAFETY: the call cannot fail and touches nothing.
    if unsafe { libc::geteuid() } == 0 {
        return seatmap_needs::skipped!(
            "root may everything; the tests of the controller become somebody else"
        );
    }
    let mut served = served(false).attached();
    fs::set_permissions(served.shown("file"), fs::Permissions::from_mode(0o0)).unwrap();
    served.walk(1, &[b"files", b"file"]).unwrap();
    assert_eq!(served.ask(&FileRequest::Open { fid: 1, flags: 0 }), Err(Refusal::ACCESS));
}

#[test]
fn missing_folder_is_refused() {
    assert!(ExportedFolder::new(Path::new("/no/such"), false).is_err());
    assert!(ExportedFolder::new(Path::new("/proc/version"), false).is_err());
}

fn lied_to(answer: impl Fn(&mut UnixStream) + Send + 'static) -> io::Error {
    let (own, mut other) = UnixStream::pair().unwrap();
    let liar = std::thread::spawn(move || {
        let _ = frame::read(&mut other, LONGEST_BYTES, &mut Vec::new());
        answer(&mut other);
    });
    let error = FileClient::new(own).unwrap_err();
    liar.join().unwrap();
    error
}

#[test]
fn client_refuses_wrong_replies() {
    let send = |reply: Reply<'static>, tag| {
        lied_to(move |stream| {
            let mut bytes = Vec::new();
            reply.frame(tag, &mut bytes);
            stream.write_all(&bytes).unwrap();
        })
    };
    let version = |size_bytes| Reply::Version { size_bytes, version: VERSION };
    assert_eq!(send(version(5), u16::MAX).kind(), io::ErrorKind::InvalidData);
    assert_eq!(send(version(u32::MAX), u16::MAX).kind(), io::ErrorKind::InvalidData);
    assert_eq!(send(version(8192), 3).kind(), io::ErrorKind::InvalidData);
    assert_eq!(send(Reply::Clunk {}, u16::MAX).kind(), io::ErrorKind::InvalidData);
    assert_eq!(send(Reply::Error { code: u32::MAX }, u16::MAX).raw_os_error(), Some(-1));
    assert_eq!(lied_to(|_| {}).kind(), io::ErrorKind::UnexpectedEof);
    let long = |stream: &mut UnixStream| stream.write_all(&[0xff; 64]).unwrap();
    assert_eq!(lied_to(long).kind(), io::ErrorKind::InvalidData);
}
