//! A row of the table of `seatmap top`.

use seatmap_os::Tid;

/// The identity of a row, equal in all samples: a thread, or a process in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowId {
    /// Process.
    pub pid: Tid,
    /// Thread; `None` for the row of a process.
    pub tid: Option<Tid>,
}

/// A row of the table.
#[derive(Clone)]
pub struct TopRow {
    /// Thread or process.
    pub id: RowId,
    /// Name of the thread or process.
    pub name: String,
    /// Name of the program, which decides the colour.
    pub program: String,
    /// CPU in the last sample.
    pub cpu: Option<u32>,
    /// Allowed CPUs, as a list.
    pub mask: String,
    /// CPUs of its planned seat, as a list; empty without one.
    pub seat: String,
    /// Load as a share of one CPU; the sum for a process.
    pub load_percent: f64,
    /// Share of the time spent waiting for a CPU; `None` if the kernel does not count it.
    pub wait_percent: Option<f64>,
    /// Context switches per second.
    pub switches: f64,
    /// Changes of CPU per second; `None` if not read.
    pub migrations: Option<f64>,
    /// Wake-ups per second.
    pub wakeups: f64,
    /// Index of its gravest finding.
    pub finding: Option<usize>,
    /// Threads of this row.
    pub threads: Vec<Tid>,
}
