//! A timeline of a run, for the trace viewers of Chrome and Perfetto.

use crate::transaction::TransactionPurpose;
use serde::Serialize;
use std::io::{self, Write};

/// The most events in a trace; a longer run keeps its first ones.
const MOST_EVENTS: usize = 1_000_000;

#[derive(Clone, Copy, Debug, Serialize)]
struct Row {
    name: &'static str,
    ph: &'static str,
    pid: u8,
    tid: u32,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Args>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Args {
    Messages { messages: u32 },
    Transfer { bytes: u32, tag: u8, local: u32, effective: u64 },
}

#[derive(Clone, Debug, Serialize)]
struct Name {
    name: &'static str,
    ph: &'static str,
    pid: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    args: NameArgs,
}

#[derive(Clone, Debug, Serialize)]
struct NameArgs {
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrackGroup {
    Spes,
    Transfers,
    Mailboxes,
    Threads,
}

impl TrackGroup {
    fn pid(self) -> u8 {
        match self {
            TrackGroup::Spes => 101,
            TrackGroup::Transfers => 102,
            TrackGroup::Mailboxes => 103,
            TrackGroup::Threads => 104,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TracedTransfer {
    pub name: &'static str,
    /// Distinguishes it from other transfers of its SPE.
    pub id: u64,
    pub bytes: u32,
    pub tag: u8,
    pub local: u32,
    pub effective: u64,
}

/// Events in the Trace Event Format. A bed has one process per chip with a thread per ring, and one
/// for the tasks' calls. A session also has processes for SPEs, transfers, mailboxes, and PPE
/// threads.
#[derive(Clone, Debug)]
pub struct EventTrace {
    rows: Vec<Row>,
    names: Vec<Name>,
    cycles_per_us: f64,
}

const TASKS: u8 = 100;

impl EventTrace {
    /// Creates an empty trace for a machine with this many core cycles per microsecond.
    pub fn new(cycles_per_us: f64) -> Self {
        EventTrace { rows: Vec::new(), names: Vec::new(), cycles_per_us }
    }

    /// Whether it is full, so that later events are missing.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= MOST_EVENTS
    }

    pub(crate) fn ring(
        &mut self,
        chip: u8,
        ring: u8,
        begin: u64,
        end: u64,
        purpose: TransactionPurpose,
    ) {
        let name = match purpose {
            TransactionPurpose::Get => "get",
            TransactionPurpose::Put => "put",
            TransactionPurpose::Message(_) => "message",
            TransactionPurpose::Reserve | TransactionPurpose::Claim => "atomic",
        };
        self.span(name, chip, u32::from(ring), begin, end);
    }

    pub(crate) fn call(&mut self, task: u16, name: &'static str, begin: u64, end: u64) {
        self.span(name, TASKS, u32::from(task), begin, end);
    }

    pub(crate) fn program(
        &mut self,
        group: TrackGroup,
        track: u32,
        name: &'static str,
        begin: u64,
        end: u64,
    ) {
        self.span(name, group.pid(), track, begin, end);
    }

    pub(crate) fn transfer_begins(&mut self, spe: u32, now: u64, transfer: TracedTransfer) {
        let TracedTransfer { name, id, bytes, tag, local, effective } = transfer;
        let args = Some(Args::Transfer { bytes, tag, local, effective });
        // `b` and `e` are an asynchronous event's ends; several may overlap on a track.
        let row = self.row(name, "b", TrackGroup::Transfers.pid(), spe, now);
        self.add(Row { id: Some(id), cat: Some("transfer"), args, ..row });
    }

    pub(crate) fn transfer_ends(&mut self, spe: u32, now: u64, name: &'static str, id: u64) {
        let row = self.row(name, "e", TrackGroup::Transfers.pid(), spe, now);
        self.add(Row { id: Some(id), cat: Some("transfer"), ..row });
    }

    pub(crate) fn messages(&mut self, spe: u32, name: &'static str, now: u64, messages: u32) {
        let row = self.row(name, "C", TrackGroup::Mailboxes.pid(), spe, now);
        // Viewers identify a counter by name and id, not by track.
        self.add(Row { id: Some(u64::from(spe)), args: Some(Args::Messages { messages }), ..row });
    }

    pub(crate) fn name(&mut self, group: TrackGroup, track: Option<u32>, name: String) {
        let kind = if track.is_some() { "thread_name" } else { "process_name" };
        self.names.push(Name {
            name: kind,
            ph: "M",
            pid: group.pid(),
            tid: track,
            args: NameArgs { name },
        });
    }

    fn row(&self, name: &'static str, ph: &'static str, pid: u8, tid: u32, time: u64) -> Row {
        Row {
            name,
            ph,
            pid,
            tid,
            // Viewers expect microseconds.
            ts: time as f64 / self.cycles_per_us,
            dur: None,
            id: None,
            cat: None,
            args: None,
        }
    }

    fn span(&mut self, name: &'static str, pid: u8, tid: u32, begin: u64, end: u64) {
        let dur = Some((end - begin) as f64 / self.cycles_per_us);
        // `X` is a complete event with its duration.
        let row = self.row(name, "X", pid, tid, begin);
        self.add(Row { dur, ..row });
    }

    fn add(&mut self, row: Row) {
        if !self.is_full() {
            self.rows.push(row);
        }
    }

    /// Writes the trace as JSON.
    ///
    /// # Errors
    /// The writer's error.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        to.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut separator: &[u8] = b"\n";
        for name in &self.names {
            to.write_all(separator)?;
            serde_json::to_writer(&mut to, name)?;
            separator = b",\n";
        }
        for row in &self.rows {
            to.write_all(separator)?;
            serde_json::to_writer(&mut to, row)?;
            separator = b",\n";
        }
        to.write_all(b"\n]}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_writes_names_spans_transfers_and_messages() {
        let mut trace = EventTrace::new(1000.0);
        trace.name(TrackGroup::Spes, None, "SPEs".to_owned());
        trace.name(TrackGroup::Spes, Some(3), "SPE 3".to_owned());
        trace.program(TrackGroup::Spes, 3, "work", 500, 1500);
        let transfer = TracedTransfer {
            name: "mfc_get",
            id: 7,
            bytes: 128,
            tag: 2,
            local: 256,
            effective: 0x1_0000_0000,
        };
        trace.transfer_begins(3, 1000, transfer);
        trace.transfer_ends(3, 2000, "mfc_get", 7);
        trace.messages(3, "inbound mailbox", 3000, 4);
        let mut text = Vec::new();
        trace.write(&mut text).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap(), @r#"
        {"displayTimeUnit":"ns","traceEvents":[
        {"name":"process_name","ph":"M","pid":101,"args":{"name":"SPEs"}},
        {"name":"thread_name","ph":"M","pid":101,"tid":3,"args":{"name":"SPE 3"}},
        {"name":"work","ph":"X","pid":101,"tid":3,"ts":0.5,"dur":1.0},
        {"name":"mfc_get","ph":"b","pid":102,"tid":3,"ts":1.0,"id":7,"cat":"transfer","args":{"bytes":128,"tag":2,"local":256,"effective":4294967296}},
        {"name":"mfc_get","ph":"e","pid":102,"tid":3,"ts":2.0,"id":7,"cat":"transfer"},
        {"name":"inbound mailbox","ph":"C","pid":103,"tid":3,"ts":3.0,"id":3,"args":{"messages":4}}
        ]}
        "#);
    }
}
