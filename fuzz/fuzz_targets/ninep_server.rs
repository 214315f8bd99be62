//! Requests to the 9P server: every request gets a reply that can be read, and nothing outside is
//! touched.
#![no_main]

use seatmap_ninep::frame::{self, FrameHeader, LONGEST_BYTES};
use seatmap_ninep::{ExportedFolder, FileRequest, FileSession, Reply};
use std::fs;
use std::sync::LazyLock;

/// One for all: what a client leaves there, the next one finds. Removed by whoever removes
/// temporary files.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(folder.path().join("shown/a")).expect("a folder");
    fs::write(folder.path().join("secret"), "secret").expect("a file");
    std::os::unix::fs::symlink("../secret", folder.path().join("shown/a/link")).expect("a link");
    folder
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let export = ExportedFolder::new(&FOLDER.path().join("shown"), false).expect("the folder is there");
    let session = FileSession::new(export, Some(Box::new(std::io::sink())));
    let mut session = session.with_input(Box::new(&b"told"[..]));
    let mut rest = bytes;
    let mut body = Vec::new();
    let mut out = Vec::new();
    FileRequest::Attach { fid: 0, auth: 0, user: b"", tree: b"", uid: 0 }.frame(0, &mut out);
    session.answer(FrameHeader { number: 104, tag: 0 }, &out.split_off(frame::HEAD_BYTES), &mut body);
    while let Ok(Some(head)) = frame::read(&mut rest, session.agreed_bytes(), &mut body) {
        session.answer(head, &body, &mut out);
        let mut reply = Vec::new();
        let answered = frame::read(&mut out.as_slice(), LONGEST_BYTES, &mut reply).expect("whole").expect("one");
        assert_eq!(answered.tag, head.tag);
        Reply::parse(answered.number, &reply).expect("a reply");
    }
    assert_eq!(fs::read(FOLDER.path().join("secret")).expect("it is there"), b"secret");
});
