//! The events of a run with their times, for the trace viewers of Chrome and Perfetto.

use crate::cell_be::transaction::Purpose;
use serde::Serialize;
use std::io::{self, Write};

/// The most events that are kept; a longer run keeps its beginning.
const MOST_EVENTS: usize = 1_000_000;

/// One span on one track.
#[derive(Clone, Copy, Debug, Serialize)]
struct Span {
    name: &'static str,
    ph: &'static str,
    pid: u8,
    tid: u32,
    ts: f64,
    dur: f64,
}

/// Spans in the Trace Event Format: one process for each chip, one thread for each ring, and one for each task's
/// calls.
#[derive(Clone, Debug)]
pub struct Trace {
    spans: Vec<Span>,
    cycles_per_us: f64,
}

/// The process under which viewers show the tasks; chips are 0 and 1.
const TASKS: u8 = 100;

impl Trace {
    /// An empty trace of a machine with this many core cycles in a microsecond.
    #[must_use]
    pub fn new(cycles_per_us: f64) -> Self {
        Trace { spans: Vec::new(), cycles_per_us }
    }

    pub(crate) fn ring(&mut self, chip: u8, ring: u8, begin: u64, end: u64, purpose: Purpose) {
        let name = match purpose {
            Purpose::Get => "get",
            Purpose::Put => "put",
            Purpose::Message(_) => "message",
            Purpose::Reserve | Purpose::Claim => "atomic",
        };
        self.add(name, chip, u32::from(ring), begin, end);
    }

    pub(crate) fn call(&mut self, task: u16, name: &'static str, begin: u64, end: u64) {
        self.add(name, TASKS, u32::from(task), begin, end);
    }

    fn add(&mut self, name: &'static str, pid: u8, tid: u32, begin: u64, end: u64) {
        if self.spans.len() < MOST_EVENTS {
            let us = |cycles: u64| cycles as f64 / self.cycles_per_us;
            self.spans.push(Span { name, ph: "X", pid, tid, ts: us(begin), dur: us(end - begin) });
        }
    }

    /// Writes the trace as JSON.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        to.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        for (at, span) in self.spans.iter().enumerate() {
            to.write_all(if at > 0 { b",\n" } else { b"\n" })?;
            serde_json::to_writer(&mut to, span)?;
        }
        to.write_all(b"\n]}\n")
    }
}
