//! Finds shared cache lines in recordings of `perf c2c record` or `perf mem record` (Intel's PEBS,
//! AMD's IBS, Arm's SPE).
//!
//! perf(1) knows each processor's events; this module reads its file. A message is a sampled load
//! of a line that another core's cache held modified, times the accesses for which a sample stands.
//! It counts 64 bytes.

mod lines;
pub mod perf;
mod recording;
mod sample;

use crate::names::{by_path, places};
use crate::talk::line_edges;
use crate::tsan::{SharedLine, number_names};
use crate::{Method, Observation, ObservedTask, Sighting, TalkKind};
use lines::{LINE_BYTES, LineTransfer, SampledLines, ThreadKey};
use recording::{PerfDataRecord, PerfRecording};
use seatmap_data::document::visible;
use seatmap_data::pattern::graph::MAX_TASKS;
use seatmap_data::words::{counted, counted_figure};
use seatmap_launch::lineage::TaskPath;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek};

/// The longest recording, in seconds: thirty years.
const LONGEST_S: f64 = 1e9;

const MOST_LINES: usize = 256;

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PerfDataError {
    /// The file could not be opened.
    #[error(transparent)]
    Open(io::Error),
    /// The file could not be read.
    #[error("cannot read the recording")]
    Read(#[source] io::Error),
    /// The file does not begin like a recording.
    #[error("not a recording of perf; 'perf c2c record -o FILE -- COMMAND' makes one")]
    Foreign,
    /// This kind is not supported: why, and what to do.
    #[error("{0}")]
    Unread(&'static str),
    /// The file ends too early, or contradicts itself.
    #[error("the recording is damaged at byte {0}; record again")]
    Damaged(u64),
    /// Its events have no addresses.
    #[error(
        "its events have no memory addresses; record with 'perf c2c record' or 'perf mem record'"
    )]
    NoAddresses,
    /// It has more threads than a pattern may have.
    #[error(
        "{} accessed memory, but a pattern has at most {MAX_TASKS}; record one program, without -a",
        counted(*.0, "thread")
    )]
    TooLarge(usize),
}

#[derive(Default)]
struct Seen {
    lines: SampledLines,
    /// With times, because the file separates the records of each CPU.
    changes: Vec<(u64, Change)>,
    names: HashMap<i32, String>,
    /// Creator and time, if known.
    threads: BTreeMap<ThreadKey, (i32, u64)>,
    lost: u64,
    span_ns: Option<(u64, u64)>,
}

enum Change {
    /// It inherits its creator's name.
    Created { tid: i32, creator: i32 },
    /// It has this name from now on.
    Named { tid: i32, name: String },
}

/// Reads a recording, most frequently moved lines first.
///
/// # Errors
/// [`PerfDataError`].
pub fn read(file: impl Read + Seek) -> Result<Sighting, PerfDataError> {
    let mut recording = PerfRecording::open(file)?;
    if !recording.tells_addresses() {
        return Err(PerfDataError::NoAddresses);
    }
    let mut seen = Seen::default();
    recording.records(|record| seen.take(record))?;
    seen.sampled()
}

impl Seen {
    fn take(&mut self, record: PerfDataRecord) {
        match record {
            PerfDataRecord::Created { pid, tid, creator, time_ns } => {
                self.threads.insert((pid, tid), (creator, time_ns));
                self.changes.push((time_ns, Change::Created { tid, creator }));
            }
            PerfDataRecord::Named { pid, tid, name, time_ns } => {
                self.threads.entry((pid, tid)).or_default();
                // Without a time, only the order of the file is known.
                let latest = self.changes.last().map_or(0, |(time_ns, _)| *time_ns);
                self.changes.push((time_ns.unwrap_or(latest), Change::Named { tid, name }));
            }
            PerfDataRecord::Lost(count) => self.lost = self.lost.saturating_add(count),
            PerfDataRecord::Sampled(sample) => {
                self.threads.entry((sample.pid, sample.tid)).or_default();
                let (from, to) = self.span_ns.unwrap_or((sample.time_ns, sample.time_ns));
                self.span_ns = Some((from.min(sample.time_ns), to.max(sample.time_ns)));
                self.lines.add(&sample);
            }
        }
    }

    fn name(&mut self) {
        // A stable sort: simultaneous changes keep the order of the file.
        self.changes.sort_by_key(|(time_ns, _)| *time_ns);
        for (_, change) in std::mem::take(&mut self.changes) {
            let (tid, name) = match change {
                Change::Created { tid, creator } => (tid, self.names.get(&creator).cloned()),
                Change::Named { tid, name } => (tid, Some(name)),
            };
            name.map(|name| self.names.insert(tid, name));
        }
    }

    fn sampled(mut self) -> Result<Sighting, PerfDataError> {
        self.name();
        // perf uses the numbers -1 and 0 for itself.
        self.threads.retain(|(pid, tid), _| *pid > 0 && *tid > 0);
        if self.threads.len() > MAX_TASKS {
            return Err(PerfDataError::TooLarge(self.threads.len()));
        }
        let paths = paths(&self.threads);
        let places = places(&paths);
        let transfers: Vec<_> = self
            .lines
            .transfers()
            .into_iter()
            .filter_map(|one| Some((*places.get(&one.from)?, *places.get(&one.to)?, one)))
            .collect();
        let edges = transfers.iter().map(|(from, to, one)| ((*from, *to), one.messages));
        let (from, to) = self.span_ns.unwrap_or_default();
        let observation = Observation {
            unseen: self.unseen(),
            ..Observation::whole(
                (Method::C2c, "perf's samples"),
                self.tasks(&paths),
                (TalkKind::Line, line_edges(edges)),
                ((to - from) as f64 / 1e9).min(LONGEST_S),
            )
        };
        Ok(Sighting { observation, lines: shared_lines(transfers) })
    }

    fn tasks(&self, paths: &[(TaskPath, ThreadKey)]) -> Vec<ObservedTask> {
        let named = paths.iter().map(|(path, (pid, tid))| ObservedTask {
            name: self.names.get(tid).map(|name| visible(name).to_string()).unwrap_or_default(),
            path: path.to_string(),
            pid: *pid,
            tid: *tid,
            cpu_s: 0.0,
        });
        let mut tasks: Vec<ObservedTask> = named.collect();
        number_names(&mut tasks);
        tasks
    }

    fn unseen(&self) -> Vec<String> {
        let SampledLines { samples, transfers, kernel, .. } = self.lines;
        let orphans = self.lines.orphans();
        let mut told = vec![format!(
            "accesses without a sample: {samples} were sampled, and {transfers} of these took a \
             line from another core"
        )];
        if samples > 0 && transfers == 0 {
            let none = "transfers, if there were any: the events do not show what another core's \
                        cache answered";
            told.push(none.to_owned());
        }
        if orphans >= 1.0 {
            let orphans = counted_figure(orphans, 0, "transfer");
            told.push(format!(
                "the writers of the lines of about {orphans}: no sample of another thread hit them"
            ));
        }
        if kernel > 0 {
            told.push(format!("the kernel's memory: {kernel} of the samples hit it"));
        }
        if self.lost > 0 {
            told.push(format!("lost records: {}", self.lost));
        }
        told
    }
}

/// A process without a recorded creation begins a path.
fn paths(threads: &BTreeMap<ThreadKey, (i32, u64)>) -> Vec<(TaskPath, ThreadKey)> {
    let by_tid: HashMap<i32, ThreadKey> =
        threads.keys().map(|thread| (thread.1, *thread)).collect();
    let mut order: Vec<ThreadKey> = threads.keys().copied().collect();
    order.sort_by_key(|thread| (threads[thread].1, *thread));
    by_path(&order, |thread| {
        // Its creator is 0 without a recorded creation.
        let creator = threads[&thread].0;
        let known = by_tid.get(&creator).copied().filter(|_| creator > 0);
        // Older threads become the first one's children.
        let first = (thread.0, thread.0);
        known
            .or_else(|| threads.contains_key(&first).then_some(first))
            .filter(|creator| *creator != thread)
    })
}

/// Most frequently moved first, each with its most frequent pair.
fn shared_lines(transfers: Vec<(usize, usize, LineTransfer)>) -> Vec<SharedLine> {
    let mut lines: BTreeMap<(i32, u64), SharedLine> = BTreeMap::new();
    let mut most: HashMap<(i32, u64), f64> = HashMap::new();
    for (from, to, transfer) in transfers {
        let key = (transfer.from.0, transfer.line);
        let line = lines.entry(key).or_insert_with(|| SharedLine {
            pid: key.0,
            address: transfer.line * LINE_BYTES,
            from,
            to,
            truly: 0,
            falsely: 0,
            written: String::new(),
            accessed: String::new(),
        });
        let count = transfer.messages.round() as u64;
        // False sharing: one thread writes no word that the other accesses.
        let is_false = transfer.written & transfer.accessed == 0;
        let sum = if is_false { &mut line.falsely } else { &mut line.truly };
        *sum = sum.saturating_add(count);
        if most.get(&key).is_none_or(|most| *most < transfer.messages) {
            most.insert(key, transfer.messages);
            (line.from, line.to) = (from, to);
            (line.written, line.accessed) =
                (bytes(transfer.line, transfer.written), bytes(transfer.line, transfer.accessed));
        }
    }
    let mut found: Vec<SharedLine> = lines.into_values().collect();
    found.sort_by_key(|line| std::cmp::Reverse(line.truly.saturating_add(line.falsely)));
    found.truncate(MOST_LINES);
    found
}

fn bytes(line: u64, words: u8) -> String {
    format!("{:#x}", line * LINE_BYTES + u64::from(words.trailing_zeros() % 8) * 8)
}

#[cfg(test)]
mod tests;
