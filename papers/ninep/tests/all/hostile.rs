//! Random conversations: each request gets an answer, and nothing outside is touched.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use proptest::prelude::*;
use seatmap_ninep::attributes::AttributeChange;
use seatmap_ninep::frame::{self, LONGEST_BYTES};
use seatmap_ninep::wire::Data;
use seatmap_ninep::{ExportedFolder, FileClient, FileRequest, FileSession, Reply, serve};
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::path::Path;

struct Wire<'a> {
    incoming: Cursor<&'a [u8]>,
    outgoing: Vec<u8>,
}

impl Write for &mut Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for &mut Wire<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.incoming.read(into)
    }
}

/// An exported folder, a secret next to it, and links to the secret.
fn place() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("shown/a/b")).unwrap();
    fs::write(folder.path().join("secret"), "secret").unwrap();
    fs::write(folder.path().join("shown/a/file"), "content").unwrap();
    std::os::unix::fs::symlink("../secret", folder.path().join("shown/link")).unwrap();
    std::os::unix::fs::symlink("../..", folder.path().join("shown/a/up")).unwrap();
    folder
}

fn said(folder: &Path, bytes: &[u8]) -> Vec<u8> {
    let session = FileSession::new(
        ExportedFolder::new(&folder.join("shown"), false).unwrap(),
        Some(Box::new(io::sink())),
    );
    let session = session.with_input(Box::new(Cursor::new(b"told")));
    let mut wire = Wire { incoming: Cursor::new(bytes), outgoing: Vec::new() };
    let _ = serve(&mut wire, session);
    wire.outgoing
}

fn replies(mut bytes: &[u8]) -> usize {
    let mut body = Vec::new();
    let mut count = 0;
    while let Some(head) = frame::read(&mut bytes, LONGEST_BYTES, &mut body).unwrap() {
        Reply::parse(head.number, &body).unwrap();
        count += 1;
    }
    count
}

const NAMES: [&[u8]; 13] = [
    b"files",
    b"console",
    b"input",
    b"a",
    b"b",
    b"file",
    b"link",
    b"up",
    b"..",
    b"secret",
    b"x",
    b"../secret",
    b"\0",
];

/// Few fids and names, so that requests depend on each other.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let name = || prop::sample::select(&NAMES[..]);
    let names = prop::collection::vec(name(), 0..4);
    let flags = prop::sample::select(vec![0u32, 1, 2, 0o1000, 0o1001, 0o200_000, u32::MAX]);
    let numbers =
        (0..19usize, 0..6u32, 0..6u32, flags, prop_oneof![0..20u64, Just(u64::MAX)], any::<u16>());
    (numbers, names, name(), name()).prop_map(
        |((which, fid, new, flags, offset, tag), names, name, other)| {
            let count = offset as u32;
            let mode = flags & 0o777;
            let gid = new;
            let request = match which {
                0 => FileRequest::Statfs { fid },
                1 => FileRequest::Open { fid, flags },
                2 => FileRequest::Create { fid, name, flags, mode, gid },
                3 => FileRequest::Readlink { fid },
                4 => FileRequest::Attributes { fid, mask: offset },
                5 => FileRequest::Change {
                    fid,
                    change: AttributeChange {
                        valid: flags & !0o6,
                        size_bytes: offset.min(99),
                        ..AttributeChange::default()
                    },
                },
                6 => FileRequest::List { fid, offset, count: count.saturating_mul(99) },
                7 => FileRequest::Sync { fid, only_data: mode },
                8 => FileRequest::Folder { fid, name, mode: 0o755, gid },
                9 => FileRequest::Rename { from: fid, old: name, to: new, new: other },
                10 => FileRequest::Remove { fid, name, flags },
                11 => {
                    FileRequest::Version { size_bytes: count.saturating_mul(1000), version: name }
                }
                12 => FileRequest::Attach { fid, auth: 0, user: name, tree: b"", uid: 0 },
                13 => FileRequest::Flush { tag },
                14 => FileRequest::Read { fid, offset, count },
                15 => FileRequest::Write { fid, offset: offset.min(99), data: Data(name) },
                16 => FileRequest::Clunk { fid },
                _ => FileRequest::Walk { fid, new, names },
            };
            let mut out = Vec::new();
            request.frame(tag, &mut out);
            out
        },
    )
}

fn use_all(wire: &mut Wire<'_>) -> io::Result<()> {
    let mut client = FileClient::new(wire)?;
    let _ = client.list("files");
    let _ = client.attributes("files/a");
    let file = client.create("files/x")?;
    client.read(&file, 0, &mut [0; 100])?;
    client.write_all(&file, 0, b"abc")?;
    client.post(&file, 0, b"abc")?;
    client.settle()?;
    client.close(file)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_request_is_answered_without_outside_changes(requests in prop::collection::vec(request(), 0..60)) {
        let folder = place();
        let mut bytes = Vec::new();
        FileRequest::Attach { fid: 0, auth: 0, user: b"", tree: b"", uid: 0 }.frame(0, &mut bytes);
        let bytes = [bytes, requests.concat()].concat();
        prop_assert_eq!(replies(&said(folder.path(), &bytes)), requests.len() + 1);
        prop_assert_eq!(fs::read(folder.path().join("secret")).unwrap(), b"secret");
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn both_ends_survive_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        replies(&said(place().path(), &bytes));
        let mut wire = Wire { incoming: Cursor::new(&bytes), outgoing: Vec::new() };
        let _ = use_all(&mut wire);
    }
}
