//! Handmade, hostile and real recordings.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::Cursor;
use std::process::Command;

const PARTS: u64 = 1 | 2 | 4 | 8 | 1 << 7 | 1 << 8 | 1 << 15;
const LOAD: u64 = 0x02;
const STORE: u64 = 0x04;
const MODIFIED: u64 = 0x10 << 19;
const PEER: u64 = 0x02 << 38;

/// As in perf.data-file-format.txt.
#[derive(Default)]
struct Made(Vec<u8>);

impl Made {
    fn record(&mut self, kind: u32, mode: u16, body: &[u8]) {
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(mode.to_ne_bytes());
        self.0.extend((body.len() as u16 + 8).to_ne_bytes());
        self.0.extend(body);
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn fork(&mut self, (pid, tid): ThreadKey, (ppid, ptid): ThreadKey, time_ns: u64) {
        let numbers: Vec<u8> =
            [pid, ppid, tid, ptid].iter().flat_map(|number| number.to_ne_bytes()).collect();
        self.record(7, 0, &[numbers, Made::words(&[time_ns])].concat());
    }

    fn name(&mut self, (pid, tid): ThreadKey, name: &[u8; 8]) {
        self.record(3, 0, &[&pid.to_ne_bytes()[..], &tid.to_ne_bytes(), name, &[0; 8]].concat());
    }

    fn sample(&mut self, (pid, tid): ThreadKey, address: u64, source: u64, period: u64) {
        let thread = u64::from(tid as u32) << 32 | u64::from(pid as u32);
        let mode = if address >> 63 == 1 { 1 } else { 2 };
        self.record(
            9,
            mode,
            &Made::words(&[0x4000, thread, 5_000_000_000, address, 0, period, source]),
        );
    }

    fn name_at(&mut self, (pid, tid): ThreadKey, name: &[u8; 8], time_ns: u64) {
        let thread = [pid.to_ne_bytes(), tid.to_ne_bytes()].concat();
        self.record(3, 0, &[&thread[..], name, &thread, &time_ns.to_ne_bytes(), &[0; 8]].concat());
    }

    fn file(&self) -> Vec<u8> {
        let attribute = 128_u64;
        let header = 104_u64;
        let records = header + attribute + 16;
        let mut words =
            vec![recording_magic(), header, attribute + 16, header, attribute + 16, records];
        words.push(self.0.len() as u64);
        words.resize(13, 0);
        words.extend([4 | attribute << 32, 0x1cd, 1000, PARTS]);
        words.resize(13 + 18, 0);
        [Made::words(&words), self.0.clone()].concat()
    }
}

fn recording_magic() -> u64 {
    u64::from_le_bytes(*b"PERFILE2")
}

const MAIN: ThreadKey = (70, 70);
const A: ThreadKey = (70, 71);
const B: ThreadKey = (70, 72);

/// B writes a word next to one of the main thread's.
fn program() -> Made {
    let mut made = Made::default();
    made.name(MAIN, b"app\0\0\0\0\0");
    made.fork(A, MAIN, 10);
    made.fork(B, MAIN, 20);
    made.name(B, b"reader\0\0");
    (0..3).for_each(|_| made.sample(A, 0x1000, STORE, 1000));
    (0..2).for_each(|_| made.sample(B, 0x1000, LOAD | MODIFIED, 500));
    made.sample(MAIN, 0x2000, STORE, 1000);
    made.sample(B, 0x2038, LOAD | PEER, 300);
    made.sample(B, 0x3000, LOAD, 300);
    made.sample(A, u64::MAX << 20, LOAD | MODIFIED, 300);
    made
}

fn read_bytes(bytes: Vec<u8>) -> Result<Sighting, PerfDataError> {
    read(Cursor::new(bytes))
}

#[test]
fn line_transfers_from_writer_to_reader() {
    let sampled = read_bytes(program().file()).unwrap();
    let told: Vec<_> = sampled
        .observation
        .tasks
        .iter()
        .map(|task| (task.name.as_str(), task.path.as_str()))
        .collect();
    assert_eq!(told, [("app#0", "0"), ("app#1", "0.0"), ("reader", "0.1")]);
    assert_eq!(
        sampled.observation.windows[0].edges,
        line_edges([((0, 2), 300.0), ((1, 2), 1000.0)])
    );
    let expected = [
        "accesses without a sample: 8 were sampled, and 3 of these took a line from another core",
        "the kernel's memory: 1 of the samples hit it",
    ];
    assert_eq!(sampled.observation.unseen, expected);
    sampled.observation.pattern("app").check().unwrap();
}

#[test]
fn thread_names_apply_from_their_time() {
    let mut made = Made::default();
    made.fork(A, MAIN, 20);
    made.name_at(A, b"worker\0\0", 30);
    made.fork(B, MAIN, 40);
    made.name_at(MAIN, b"before\0\0", 5);
    made.name_at(MAIN, b"app\0\0\0\0\0", 10);
    [MAIN, A, B].into_iter().for_each(|thread| made.sample(thread, 0x1000, STORE, 1000));
    let mut file = made.file();
    file[104 + 40..104 + 48].copy_from_slice(&(1_u64 << 18).to_ne_bytes());
    let sampled = read_bytes(file).unwrap();
    let told: Vec<&str> = sampled.observation.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(told, ["app#0", "worker", "app#1"]);
}

#[test]
fn false_sharing_reports_addresses() {
    let sampled = read_bytes(program().file()).unwrap();
    let [first, second] = &sampled.lines[..] else {
        unreachable!("two lines: {:?}", sampled.lines)
    };
    assert!(!first.is_false_sharing() && (first.from, first.to, first.truly) == (1, 2, 1000));
    assert!(second.is_false_sharing() && second.falsely == 300);
    assert_eq!((second.written.as_str(), second.accessed.as_str()), ("0x2000", "0x2038"));
}

#[test]
fn transfers_are_divided_among_writers() {
    let mut made = program();
    (0..9).for_each(|_| made.sample(MAIN, 0x1008, STORE, 1000));
    let edges = read_bytes(made.file()).unwrap().observation.windows[0].edges.clone();
    let messages: Vec<f64> = edges.iter().map(|edge| edge.messages).collect();
    // Three of twelve writes were A's.
    assert_eq!(messages, [300.0 + 750.0, 250.0]);
}

#[test]
fn unsupported_recordings_are_rejected_with_reason() {
    let said = |bytes: &[u8]| read_bytes(bytes.to_vec()).unwrap_err().to_string();
    let whole = program().file();
    assert_eq!(said(b"Mem: 1"), PerfDataError::Foreign.to_string());
    let folder = std::fs::File::open("/").unwrap();
    assert!(matches!(read(folder), Err(PerfDataError::Read(_))), "it is not another format");
    assert_eq!(
        said(&[&b"PERFILE2"[..], &16_u64.to_ne_bytes()].concat()),
        "it was written to a pipe; record again with -o FILE"
    );
    let turned = [b"2ELIFREP", &whole[8..]].concat();
    assert!(said(&turned).starts_with("it is from a computer with the other byte order"));
    assert!(said(&whole[..whole.len() - 1]).starts_with("the recording is damaged at byte "));
    let mut compressed = program();
    compressed.record(81, 0, &[0; 16]);
    assert_eq!(said(&compressed.file()), "its records are compressed; record again without -z");
    let mut plain = whole.clone();
    plain[104 + 24..104 + 32].copy_from_slice(&(PARTS & !8).to_ne_bytes());
    assert_eq!(said(&plain), PerfDataError::NoAddresses.to_string());
}

/// Kernel events have addresses and threads like a processor's.
#[test]
fn samples_match_perf_script() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("perf.data");
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-d", "-e", "page-faults,minor-faults", "-c", "1", "-o"]).arg(&file);
    let made = perf.args(["--", "sh", "-c", "(:); exec ls /"]).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return seatmap_needs::skipped!("perf records no page faults here");
    }
    let script =
        Command::new("perf").args(["script", "-F", "tid,addr", "-i"]).arg(&file).output().unwrap();
    let script = String::from_utf8(script.stdout).unwrap();
    let theirs: Vec<(i32, u64)> = script
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let tid = words.next()?.parse().ok()?;
            Some((tid, u64::from_str_radix(words.next()?, 16).ok()?))
        })
        .collect();
    let mut ours = Vec::new();
    let mut recording = PerfRecording::open(std::fs::File::open(&file).unwrap()).unwrap();
    assert!(recording.tells_addresses());
    let mut is_child_seen = false;
    recording
        .records(|record| match record {
            PerfDataRecord::Sampled(sample) => ours.push((sample.tid, sample.address)),
            PerfDataRecord::Created { pid, tid, creator, .. } => {
                is_child_seen |= pid == tid && creator != pid
            }
            _ => {}
        })
        .unwrap();
    let sorted = |mut all: Vec<(i32, u64)>| {
        all.sort_unstable();
        all
    };
    assert!(ours.len() > 20 && is_child_seen, "{ours:?}");
    assert_eq!(sorted(ours), sorted(theirs));
}

proptest! {
    #[test]
    fn damaged_recording_never_panics(at in any::<proptest::sample::Index>(), with in any::<Vec<u8>>(), word in any::<u64>()) {
        let whole = program().file();
        let mut bytes = whole.clone();
        let place = at.index(bytes.len());
        bytes.splice(place..(place + with.len()).min(whole.len()), with);
        let _ = read_bytes(bytes);
        let mut bytes = whole.clone();
        let place = at.index(whole.len() / 8) * 8;
        bytes[place..place + 8].copy_from_slice(&word.to_ne_bytes());
        if let Ok(sampled) = read_bytes(bytes) {
            prop_assert!(sampled.observation.windows[0].edges.iter().all(|edge| edge.from != edge.to));
            let _ = sampled.observation.pattern("hostile").check();
        }
    }

    #[test]
    fn every_thread_has_one_path(threads in proptest::collection::btree_map((1..5_i32, 1..9_i32), (0..9_i32, 0..4_u64), 1..12)) {
        let paths = paths(&threads);
        let all: BTreeSet<ThreadKey> = paths.iter().map(|(_, thread)| *thread).collect();
        let different: BTreeSet<&TaskPath> = paths.iter().map(|(path, _)| path).collect();
        prop_assert!(all.len() == threads.len() && paths.len() == threads.len() && different.len() == paths.len());
    }
}
