//! Every message is read back as written, and invalid bytes give only errors.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use proptest::prelude::*;
use seatmap_ninep::attributes::{AttributeChange, FileAttributes};
use seatmap_ninep::entry::FolderEntries;
use seatmap_ninep::frame::{self, FrameHeader, LONGEST_BYTES};
use seatmap_ninep::qid::Qid;
use seatmap_ninep::space::Space;
use seatmap_ninep::wire::{Data, MOST_NAMES, Malformed};
use seatmap_ninep::{FileRequest, Reply};

#[derive(Clone, Debug)]
struct Stuff {
    numbers: Vec<u64>,
    texts: Vec<Vec<u8>>,
    bytes: Vec<u8>,
}

impl Stuff {
    fn n(&self, at: usize) -> u64 {
        self.numbers[at]
    }

    fn m(&self, at: usize) -> u32 {
        self.numbers[at] as u32
    }

    fn text(&self, at: usize) -> &[u8] {
        self.texts.get(at).map_or(b"", Vec::as_slice)
    }

    fn data(&self) -> Data<'_> {
        Data(&self.bytes)
    }

    fn qid(&self, at: usize) -> Qid {
        Qid { kind: self.n(at) as u8, version: self.m(at), path: self.n(at) }
    }
}

fn stuff() -> impl Strategy<Value = Stuff> {
    let text = prop::collection::vec(any::<u8>(), 0..300);
    let texts = prop::collection::vec(text, 0..=MOST_NAMES);
    let bytes = prop::collection::vec(any::<u8>(), 0..5000);
    (prop::collection::vec(any::<u64>(), 20), texts, bytes)
        .prop_map(|(numbers, texts, bytes)| Stuff { numbers, texts, bytes })
}

fn change(of: &Stuff) -> AttributeChange {
    AttributeChange {
        valid: of.m(0),
        mode: of.m(1),
        uid: of.m(2),
        gid: of.m(3),
        size_bytes: of.n(4),
        accessed_s: of.n(5),
        accessed_ns: of.n(6),
        modified_s: of.n(7),
        modified_ns: of.n(8),
    }
}

fn requests(of: &Stuff) -> Vec<FileRequest<'_>> {
    let fid = of.m(0);
    let flags = of.m(1);
    let mode = of.m(2);
    let gid = of.m(3);
    let offset = of.n(4);
    let count = of.m(5);
    let name = of.text(0);
    let data = of.data();
    vec![
        FileRequest::Statfs { fid },
        FileRequest::Open { fid, flags },
        FileRequest::Create { fid, name, flags, mode, gid },
        FileRequest::Readlink { fid },
        FileRequest::Attributes { fid, mask: offset },
        FileRequest::Change { fid, change: change(of) },
        FileRequest::List { fid, offset, count },
        FileRequest::Sync { fid, only_data: flags },
        FileRequest::Folder { fid, name, mode, gid },
        FileRequest::Rename { from: fid, old: name, to: gid, new: of.text(1) },
        FileRequest::Remove { fid, name, flags },
        FileRequest::Version { size_bytes: count, version: name },
        FileRequest::Attach { fid, auth: gid, user: name, tree: of.text(1), uid: mode },
        FileRequest::Flush { tag: fid as u16 },
        FileRequest::Walk { fid, new: gid, names: of.texts.iter().map(Vec::as_slice).collect() },
        FileRequest::Read { fid, offset, count },
        FileRequest::Write { fid, offset, data },
        FileRequest::Clunk { fid },
    ]
}

fn attributes(of: &Stuff) -> FileAttributes {
    FileAttributes {
        mode: of.m(0),
        uid: of.m(1),
        gid: of.m(2),
        links: of.n(3),
        device: of.n(4),
        size_bytes: of.n(5),
        block_bytes: of.n(6),
        blocks: of.n(7),
        accessed_s: of.n(8),
        accessed_ns: of.n(9),
        modified_s: of.n(10),
        modified_ns: of.n(11),
        changed_s: of.n(12),
        changed_ns: of.n(13),
        born_s: of.n(14),
        born_ns: of.n(15),
        generation: of.n(16),
        data_version: of.n(17),
    }
}

fn space(of: &Stuff) -> Space {
    Space {
        kind: of.m(0),
        block_bytes: of.m(1),
        blocks: of.n(2),
        blocks_free: of.n(3),
        blocks_available: of.n(4),
        files: of.n(5),
        files_free: of.n(6),
        id: of.n(7),
        longest_name_bytes: of.m(8),
    }
}

fn replies(of: &Stuff) -> Vec<Reply<'_>> {
    let qid = of.qid(0);
    let unit_bytes = of.m(1);
    let data = of.data();
    vec![
        Reply::Error { code: of.m(0) },
        Reply::Statfs { space: space(of) },
        Reply::Open { qid, unit_bytes },
        Reply::Create { qid, unit_bytes },
        Reply::Readlink { target: of.text(0) },
        Reply::Attributes { valid: of.n(18), qid, attributes: attributes(of) },
        Reply::Change {},
        Reply::List { entries: data },
        Reply::Sync {},
        Reply::Folder { qid },
        Reply::Rename {},
        Reply::Remove {},
        Reply::Version { size_bytes: of.m(0), version: of.text(0) },
        Reply::Attach { qid },
        Reply::Flush {},
        Reply::Walk { qids: (0..of.texts.len()).map(|at| of.qid(at)).collect() },
        Reply::Read { data },
        Reply::Write { count: of.m(0) },
        Reply::Clunk {},
    ]
}

fn read(mut bytes: &[u8]) -> (FrameHeader, Vec<u8>) {
    let mut body = Vec::new();
    let head = frame::read(&mut bytes, LONGEST_BYTES, &mut body).unwrap().unwrap();
    assert!(bytes.is_empty());
    (head, body)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn requests_round_trip(of in stuff(), tag: u16) {
        let mut out = Vec::new();
        for request in requests(&of) {
            request.frame(tag, &mut out);
            let (head, body) = read(&out);
            prop_assert_eq!((head.tag, head.number), (tag, request.number()));
            prop_assert_eq!(FileRequest::parse(head.number, &body), Ok(request.clone()));
            let longer = [&body, &b"x"[..]].concat();
            prop_assert_eq!(FileRequest::parse(head.number, &longer), Err(Malformed::Long));
            for cut in 0..body.len().min(40) {
                prop_assert!(FileRequest::parse(head.number, &body[..cut]).is_err(), "{:?} cut at {}", request, cut);
            }
        }
    }

    #[test]
    fn replies_round_trip(of in stuff(), tag: u16) {
        let mut out = Vec::new();
        for reply in replies(&of) {
            reply.frame(tag, &mut out);
            let (head, body) = read(&out);
            prop_assert_eq!((head.tag, head.number), (tag, reply.number()));
            prop_assert_eq!(Reply::parse(head.number, &body), Ok(reply.clone()));
            prop_assert!(body.is_empty() || Reply::parse(head.number, &body[..body.len() - 1]).is_err());
        }
    }

    #[test]
    fn parser_survives_any_bytes(number: u8, body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = FileRequest::parse(number, &body);
        let _ = Reply::parse(number, &body);
        prop_assert!(FolderEntries(&body).count() <= body.len());
        let _ = frame::read(&mut body.as_slice(), LONGEST_BYTES, &mut Vec::new());
    }
}

#[test]
fn long_lists_and_unknown_numbers_are_refused() {
    assert_eq!(FileRequest::parse(110, &[0, 0, 0, 0, 0, 0, 0, 0, 17, 0]), Err(Malformed::Many));
    assert_eq!(FileRequest::parse(102, &[]), Err(Malformed::Unknown(102)));
    assert_eq!(Reply::parse(6, &[]), Err(Malformed::Unknown(6)));
}

/// The bytes of Linux 6.12's client, from `net/9p/client.c`.
#[test]
fn messages_have_the_bytes_of_linux() {
    let mut out = Vec::new();
    FileRequest::Version { size_bytes: 0x2_0018, version: b"9P2000.L" }.frame(0xffff, &mut out);
    assert_eq!(out, b"\x15\0\0\0\x64\xff\xff\x18\0\x02\0\x08\x009P2000.L");
    FileRequest::Walk { fid: 1, new: 2, names: vec![b"ab", b"c"] }.frame(3, &mut out);
    assert_eq!(out, b"\x18\0\0\0\x6e\x03\0\x01\0\0\0\x02\0\0\0\x02\0\x02\0ab\x01\0c");
    Reply::Error { code: 2 }.frame(3, &mut out);
    assert_eq!(out, b"\x0b\0\0\0\x07\x03\0\x02\0\0\0");
}
