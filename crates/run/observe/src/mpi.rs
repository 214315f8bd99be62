//! Reads messages between MPI ranks from a job's traces.

pub(crate) mod job;

use crate::trace::{TraceError, TraceText, traces};
use crate::{Method, Observation, ObservedTask, TalkKind};
use seatmap_data::document::visible;
use seatmap_data::pattern::graph::MAX_TASKS;
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_data::words::{agreeing, counted};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
struct Head {
    rank: usize,
    ranks: usize,
    pid: i32,
    tid: i32,
    from_ns: i64,
    to_ns: i64,
    cpu_ns: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Record {
    Called { call: String, peer: i64, messages: u64, bytes: u64 },
    Unseen { unseen: String, times: u64 },
    End { end: bool },
}

struct Rank {
    head: Head,
    records: Vec<Record>,
    cut_off: Option<String>,
}

/// Reads the traces of a folder.
///
/// # Errors
/// [`TraceError`] if there are none, or one is malformed.
pub fn read(folder: &Path) -> Result<Observation, TraceError> {
    messages(&traces(folder, "rank")?)
}

/// Combines the traces of one job.
///
/// # Errors
/// [`TraceError`] for a file that is not a trace of a rank.
pub fn messages(traces: &[TraceText]) -> Result<Observation, TraceError> {
    let mut ranks: BTreeMap<usize, Rank> = BTreeMap::new();
    let mut size = 0;
    for trace in traces {
        let head: Head = trace.head()?;
        let records: Vec<Record> = trace.records()?;
        size = size.max(head.ranks).max(head.rank.saturating_add(1));
        // A damaged file may claim any number of ranks, so this check comes first.
        if size > MAX_TASKS {
            let size = counted(size, "rank");
            let what = format!("{size}, but a pattern has at most {MAX_TASKS}");
            return Err(TraceError::of(&trace.path, &what));
        }
        let is_whole = records.iter().any(|record| matches!(record, Record::End { end: true }));
        let cut_off = (!is_whole).then(|| trace.cut_off());
        ranks.insert(head.rank, Rank { head, records, cut_off });
    }
    let from = ranks.values().map(|rank| rank.head.from_ns).min().unwrap_or(0);
    let to = ranks.values().map(|rank| rank.head.to_ns).max().unwrap_or(0);
    let sent = ranks.values().flat_map(|rank| rank.sent(size));
    let sent = Pattern::gathered("", size, sent);
    // A rank without a trace is also a task, so that tasks have their ranks' numbers.
    let tasks = (0..size).map(|rank| task(rank, ranks.get(&rank))).collect();
    Ok(Observation {
        unseen: unseen(&ranks, size),
        ..Observation::whole(
            (Method::Mpi, "libseatmap_mpi"),
            tasks,
            (TalkKind::Message, sent.edges),
            to.saturating_sub(from).max(0) as f64 / 1e9,
        )
    })
}

fn task(number: usize, rank: Option<&Rank>) -> ObservedTask {
    let (pid, tid) = rank.map_or((0, 0), |rank| (rank.head.pid, rank.head.tid));
    let cpu_s = rank.map_or(0.0, |rank| rank.head.cpu_ns as f64 / 1e9);
    ObservedTask { name: format!("rank {number}"), path: number.to_string(), pid, tid, cpu_s }
}

fn unseen(ranks: &BTreeMap<usize, Rank>, size: usize) -> Vec<String> {
    let mut calls: BTreeMap<&str, u64> = BTreeMap::new();
    for record in ranks.values().flat_map(|rank| &rank.records) {
        if let Record::Unseen { unseen, times } = record {
            let sum = calls.entry(unseen).or_default();
            *sum = sum.saturating_add(*times);
        }
    }
    let calls = calls
        .into_iter()
        .map(|(call, times)| format!("{} of {}", counted(times, "call"), visible(call)));
    let absent = size - ranks.len();
    let absent = (absent > 0).then(|| {
        let they = agreeing(absent, "it", "they");
        let size = counted(size, "rank");
        format!("{absent} of {size} left no trace: {they} did not call MPI_Finalize")
    });
    calls.chain(absent).chain(ranks.values().filter_map(|rank| rank.cut_off.clone())).collect()
}

impl Rank {
    fn sent(&self, size: usize) -> impl Iterator<Item = Edge> {
        let own = self.head.rank;
        self.records.iter().filter_map(move |record| {
            let Record::Called { call, peer, messages, bytes } = record else { return None };
            // MPI_PROC_NULL is negative; a message to itself crosses no core.
            let peer = usize::try_from(*peer).ok().filter(|peer| *peer < size && *peer != own)?;
            // `MPI_Get` receives; every other call sends.
            let (from, to) = if call == "Get" { (peer, own) } else { (own, peer) };
            Some(Edge { from, to, bytes: *bytes as f64, messages: *messages as f64 })
        })
    }
}

#[cfg(test)]
mod tests;
