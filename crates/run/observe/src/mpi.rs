//! Reads messages between MPI ranks from a job's traces.

pub(crate) mod job;

use crate::trace::{TraceError, TraceText, traces};
use crate::{Method, Observation, ObservedTask, PairMessages, TalkKind, Window};
use seatmap_data::document::visible;
use seatmap_data::pattern::Edge;
use seatmap_data::pattern::graph::MAX_TASKS;
use seatmap_data::statistics::words::{agreeing, counted};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// One call's messages between two ranks in a communicator.
#[derive(Clone, Debug, PartialEq)]
pub struct MpiTraffic {
    /// The sending rank.
    pub from: usize,
    /// The receiving rank.
    pub to: usize,
    /// The call, without `MPI_`.
    pub call: String,
    /// The communicator or window, if named.
    pub communicator: String,
    /// The messages.
    pub messages: u64,
    /// The bytes.
    pub bytes: u64,
}

/// A job's ranks and their messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Messages {
    /// The ranks, with each pair's messages.
    pub observation: Observation,
    /// The messages by call and communicator.
    pub sums: Vec<MpiTraffic>,
}

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
    Called(Called),
    Unseen(Unseen),
    End { end: bool },
}

#[derive(Deserialize)]
struct Called {
    call: String,
    peer: i64,
    messages: u64,
    bytes: u64,
    communicator: String,
}

#[derive(Deserialize)]
struct Unseen {
    unseen: String,
    times: u64,
}

struct Rank {
    head: Head,
    called: Vec<Called>,
    unseen: Vec<Unseen>,
    cut_off: Option<String>,
}

/// Reads the traces of a folder.
///
/// # Errors
/// [`TraceError`] if there are none, or one is malformed.
pub fn read(folder: &Path) -> Result<Messages, TraceError> {
    messages(&traces(folder, "rank")?)
}

/// Combines the traces of one job.
///
/// # Errors
/// [`TraceError`] for a file that is not a trace of a rank.
pub fn messages(traces: &[TraceText]) -> Result<Messages, TraceError> {
    let mut ranks: BTreeMap<usize, Rank> = BTreeMap::new();
    let mut size = 0;
    for trace in traces {
        let rank = rank(trace)?;
        size = size.max(rank.head.ranks).max(rank.head.rank.saturating_add(1));
        // A damaged file may claim any number of ranks, so this check comes first.
        if size > MAX_TASKS {
            let what = format!(
                "{size}, but a pattern has at most {MAX_TASKS}",
                size = counted(size, "rank")
            );
            return Err(TraceError::TooLarge { path: trace.path.clone(), what });
        }
        ranks.insert(rank.head.rank, rank);
    }
    Ok(joined(&ranks, size))
}

fn rank(trace: &TraceText) -> Result<Rank, TraceError> {
    let mut rank = Rank {
        head: trace.head()?,
        called: Vec::new(),
        unseen: Vec::new(),
        cut_off: Some(trace.cut_off()),
    };
    for record in trace.records()? {
        match record {
            Record::Called(called) => rank.called.push(called),
            Record::Unseen(unseen) => rank.unseen.push(unseen),
            Record::End { end } => rank.cut_off = rank.cut_off.filter(|_| !end),
        }
    }
    Ok(rank)
}

fn joined(ranks: &BTreeMap<usize, Rank>, size: usize) -> Messages {
    let sums: Vec<MpiTraffic> = ranks.values().flat_map(|rank| rank.sums(size)).collect();
    let from = ranks.values().map(|rank| rank.head.from_ns).min().unwrap_or(0);
    let to = ranks.values().map(|rank| rank.head.to_ns).max().unwrap_or(0);
    let to_s = to.saturating_sub(from).max(0) as f64 / 1e9;
    let edges = edges(&sums);
    let observation = Observation {
        methods: vec![Method::Mpi],
        means: "libseatmap_mpi".to_owned(),
        shares: PairMessages::of_edges(&edges, TalkKind::Message),
        // A rank without a trace is also a task, so that tasks have the numbers of their ranks.
        tasks: (0..size).map(|rank| task(rank, ranks.get(&rank))).collect(),
        windows: vec![Window { from_s: 0.0, to_s, edges }],
        overhead: None,
        outsiders: Vec::new(),
        from_start: false,
        unseen: unseen(ranks, size),
    };
    Messages { observation, sums }
}

fn task(number: usize, rank: Option<&Rank>) -> ObservedTask {
    let (pid, tid) = rank.map_or((0, 0), |rank| (rank.head.pid, rank.head.tid));
    let cpu_s = rank.map_or(0.0, |rank| rank.head.cpu_ns as f64 / 1e9);
    ObservedTask { name: format!("rank {number}"), path: number.to_string(), pid, tid, cpu_s }
}

fn edges(sums: &[MpiTraffic]) -> Vec<Edge> {
    let mut all: HashMap<(usize, usize), (f64, f64)> = HashMap::new();
    for sum in sums {
        let (bytes, messages) = all.entry((sum.from, sum.to)).or_default();
        *bytes += sum.bytes as f64;
        *messages += sum.messages as f64;
    }
    let mut edges: Vec<Edge> = all
        .into_iter()
        .map(|((from, to), (bytes, messages))| Edge { from, to, bytes, messages })
        .collect();
    edges.sort_by_key(|edge| (edge.from, edge.to));
    edges
}

fn unseen(ranks: &BTreeMap<usize, Rank>, size: usize) -> Vec<String> {
    let mut calls: BTreeMap<&str, u64> = BTreeMap::new();
    for Unseen { unseen, times } in ranks.values().flat_map(|rank| &rank.unseen) {
        let sum = calls.entry(unseen).or_default();
        *sum = sum.saturating_add(*times);
    }
    let calls = calls.into_iter().map(|(call, times)| {
        format!("{times} of {}", visible(call), times = counted(times, "call"))
    });
    let absent = size - ranks.len();
    let absent = (absent > 0).then(|| {
        format!(
            "{absent} of {size} left no trace: {they} did not call MPI_Finalize",
            size = counted(size, "rank"),
            they = agreeing(absent, "it", "they")
        )
    });
    calls.chain(absent).chain(ranks.values().filter_map(|rank| rank.cut_off.clone())).collect()
}

impl Rank {
    fn sums(&self, size: usize) -> Vec<MpiTraffic> {
        let own = self.head.rank;
        self.called
            .iter()
            .filter_map(|called| {
                // MPI_PROC_NULL is negative; a message to itself crosses no core.
                let peer = usize::try_from(called.peer).ok()?;
                (peer < size && peer != own).then(|| called.sum(own, peer))
            })
            .collect()
    }
}

impl Called {
    /// `MPI_Get` receives; every other call sends.
    fn sum(&self, own: usize, peer: usize) -> MpiTraffic {
        let (from, to) = if self.call == "Get" { (peer, own) } else { (own, peer) };
        let call = visible(&self.call).to_string();
        let communicator = visible(&self.communicator).to_string();
        MpiTraffic { from, to, call, communicator, messages: self.messages, bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests;
