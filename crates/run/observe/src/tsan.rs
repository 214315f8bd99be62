//! Reads traces of shared cache lines, from a program built with `-fsanitize=thread` and linked
//! with `libseatmap_trace`.
//!
//! A message is a line that moves from its last writer to another thread. It counts 64 bytes.

use crate::names::{by_path, numbered, places};
use crate::talk::line_edges;
use crate::trace::{TraceError, TraceText, traces};
use crate::{Method, Observation, ObservedTask, Sighting, TalkKind};
use seatmap_data::document::visible;
use seatmap_data::pattern::Edge;
use seatmap_data::pattern::graph::MAX_TASKS;
use seatmap_data::words::{agreeing, counted};
use seatmap_launch::lineage::TaskPath;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// A cache line that moved between threads.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedLine {
    /// The PID in this run.
    pub pid: i32,
    /// The line's address.
    pub address: u64,
    /// The most frequent pair's writing task, by index.
    pub from: usize,
    /// The receiving task.
    pub to: usize,
    /// Transfers after which the receiver accessed written bytes.
    pub truly: u64,
    /// Transfers after which it accessed other bytes (false sharing).
    pub falsely: u64,
    /// That pair's written bytes: a variable and an offset, the heap, a stack.
    pub written: String,
    /// The accessed bytes.
    pub accessed: String,
}

impl SharedLine {
    /// Whether separate lines would avoid most transfers.
    pub fn is_false_sharing(&self) -> bool {
        self.falsely > self.truly
    }
}

#[derive(Deserialize)]
struct Head {
    pid: i32,
    from_ns: i64,
    to_ns: i64,
    threads: usize,
    replaced_lines: u64,
    unnamed_transfers: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Record {
    Line(Line),
    Thread(Thread),
    Pair(Pair),
    End { end: bool },
}

#[derive(Deserialize)]
struct Thread {
    task: usize,
    parent: usize,
    tid: i32,
    cpu_ns: u64,
    name: String,
}

#[derive(Clone, Copy, Deserialize)]
struct Pair {
    from: usize,
    to: usize,
    #[serde(rename = "true")]
    truly: u64,
    #[serde(rename = "false")]
    falsely: u64,
}

#[derive(Deserialize)]
struct Line {
    line: u64,
    #[serde(flatten)]
    pair: Pair,
    written: String,
    accessed: String,
}

struct Process {
    head: Head,
    threads: Vec<Thread>,
    pairs: Vec<Pair>,
    lines: Vec<Line>,
    cut_off: Option<String>,
}

/// Reads a folder's traces. The lines are in the order of processes, then of frequency.
///
/// # Errors
/// [`TraceError`] if there are none, or one is malformed.
pub fn read(folder: &Path) -> Result<Sighting, TraceError> {
    sharing(&traces(folder, "threads")?)
}

/// Combines the traces of one program.
///
/// # Errors
/// [`TraceError`] for a file that is not a trace of threads.
pub fn sharing(traces: &[TraceText]) -> Result<Sighting, TraceError> {
    let mut processes = traces.iter().map(process).collect::<Result<Vec<_>, _>>()?;
    processes.sort_by_key(|process| (process.head.from_ns, process.head.pid));
    let total: usize = processes.iter().map(|process| process.threads.len()).sum();
    if total > MAX_TASKS {
        let total = counted(total, "thread");
        let what = format!("{total}, but a pattern has at most {MAX_TASKS}");
        return Err(TraceError::of(&traces[0].path, &what));
    }
    Ok(joined(&processes))
}

fn process(trace: &TraceText) -> Result<Process, TraceError> {
    let head = trace.head()?;
    let mut threads: Vec<Thread> = Vec::new();
    let mut pairs = Vec::new();
    let mut lines = Vec::new();
    let mut cut_off = Some(trace.cut_off());
    for record in trace.records()? {
        match record {
            Record::Thread(thread) => threads.push(thread),
            Record::Pair(pair) => pairs.push(pair),
            Record::Line(line) => lines.push(line),
            Record::End { end } => cut_off = cut_off.filter(|_| !end),
        }
    }
    threads.sort_by_key(|thread| thread.task);
    // A damaged file may have a thread twice.
    threads.dedup_by_key(|thread| thread.task);
    Ok(Process { head, threads, pairs, lines, cut_off })
}

type Key = (usize, usize);

fn joined(processes: &[Process]) -> Sighting {
    let paths = paths(processes);
    let places = places(&paths);
    let from = processes.iter().map(|process| process.head.from_ns).min().unwrap_or(0);
    let to = processes.iter().map(|process| process.head.to_ns).max().unwrap_or(0);
    let observation = Observation {
        unseen: processes.iter().flat_map(Process::unseen).collect(),
        ..Observation::whole(
            (Method::Tsan, "libseatmap_trace"),
            tasks(processes, &paths),
            (TalkKind::Line, edges(processes, &places)),
            to.saturating_sub(from).max(0) as f64 / 1e9,
        )
    };
    Sighting { observation, lines: lines(processes, &places) }
}

/// Each thread's path, in order. Each process begins one, because the traces do not name its
/// creator.
fn paths(processes: &[Process]) -> Vec<(TaskPath, Key)> {
    let mut creators: BTreeMap<Key, Option<Key>> = BTreeMap::new();
    for (at, process) in processes.iter().enumerate() {
        for thread in &process.threads {
            // Thread 0 is the process's first.
            let creator = (thread.task != 0).then_some((at, thread.parent));
            creators.insert((at, thread.task), creator);
        }
    }
    let order: Vec<Key> = creators.keys().copied().collect();
    by_path(&order, |key| {
        // The first thread replaces a creator missing in a damaged trace.
        creators[&key]
            .map(|creator| if creators.contains_key(&creator) { creator } else { (key.0, 0) })
    })
}

fn tasks(processes: &[Process], paths: &[(TaskPath, Key)]) -> Vec<ObservedTask> {
    let known = paths.iter().filter_map(|(path, (process, task))| {
        let Process { head, threads, .. } = processes.get(*process)?;
        let at = threads.binary_search_by_key(task, |thread| thread.task).ok()?;
        let Thread { tid, cpu_ns, name, .. } = &threads[at];
        Some(ObservedTask {
            name: visible(name).to_string(),
            path: path.to_string(),
            pid: head.pid,
            tid: *tid,
            cpu_s: *cpu_ns as f64 / 1e9,
        })
    });
    let mut tasks: Vec<ObservedTask> = known.collect();
    number_names(&mut tasks);
    tasks
}

pub(crate) fn number_names(tasks: &mut [ObservedTask]) {
    let names = numbered(tasks.iter().map(|task| task.name.as_str()));
    tasks.iter_mut().zip(names).for_each(|(task, name)| task.name = name);
}

fn edges(processes: &[Process], places: &HashMap<Key, usize>) -> Vec<Edge> {
    let pairs = processes
        .iter()
        .enumerate()
        .flat_map(|(at, process)| process.pairs.iter().map(move |pair| (at, pair)));
    line_edges(pairs.filter_map(|(at, pair)| {
        let ends = place(places, at, pair).filter(|(from, to)| from != to)?;
        Some((ends, pair.truly as f64 + pair.falsely as f64))
    }))
}

fn place(places: &HashMap<Key, usize>, process: usize, pair: &Pair) -> Option<(usize, usize)> {
    Some((*places.get(&(process, pair.from))?, *places.get(&(process, pair.to))?))
}

fn lines(processes: &[Process], places: &HashMap<Key, usize>) -> Vec<SharedLine> {
    let mut found = Vec::new();
    for (at, process) in processes.iter().enumerate() {
        let mut seen = HashSet::new();
        let fresh = process.lines.iter().filter(|line| seen.insert(line.line));
        let known = fresh.filter_map(|line| {
            let (from, to) = place(places, at, &line.pair)?;
            Some(SharedLine {
                pid: process.head.pid,
                address: line.line,
                from,
                to,
                truly: line.pair.truly,
                falsely: line.pair.falsely,
                written: visible(&line.written).to_string(),
                accessed: visible(&line.accessed).to_string(),
            })
        });
        let mut own: Vec<SharedLine> = known.collect();
        own.sort_by_key(|line| std::cmp::Reverse(line.truly.saturating_add(line.falsely)));
        found.append(&mut own);
    }
    found
}

impl Process {
    fn unseen(&self) -> Vec<String> {
        let Head { pid, threads, replaced_lines, unnamed_transfers, .. } = self.head;
        let beyond = threads.saturating_sub(self.threads.len());
        let sentences = [
            (
                beyond as u64,
                format!(
                    "{} of process {pid} {} as its last thread",
                    counted(beyond, "thread"),
                    agreeing(beyond, "counts", "count")
                ),
            ),
            (
                replaced_lines,
                format!(
                    "process {pid} used more lines than the table holds: {replaced_lines} had \
                     their state replaced"
                ),
            ),
            (
                unnamed_transfers,
                format!(
                    "process {pid} passed unnamed lines: {}",
                    counted(unnamed_transfers, "transfer")
                ),
            ),
        ];
        let lost =
            sentences.into_iter().filter(|(count, _)| *count > 0).map(|(_, sentence)| sentence);
        lost.chain(self.cut_off.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
