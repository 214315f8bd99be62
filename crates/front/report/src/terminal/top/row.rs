//! A line of the table.

use seatmap_os::Tid;

/// The identity of a line, which stays the same from look to look: a thread, or a process in the
/// tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// The process.
    pub pid: Tid,
    /// The thread; `None` for the line of the whole process.
    pub tid: Option<Tid>,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct TopRow {
    /// The thread or process.
    pub id: RowId,
    /// The thread's name, or the process's.
    pub name: String,
    /// The name of its program, which decides on the colour.
    pub program: String,
    /// The CPU of the last look.
    pub cpu: Option<u32>,
    /// The CPUs that it may run on, as a list.
    pub mask: String,
    /// The CPUs of the seat that it should have, as a list; empty where it has none.
    pub seat: String,
    /// The share of one CPU; for a process the sum.
    pub load_percent: f64,
    /// The share of the time in which it waited for a CPU; `None` where the kernel does not count
    /// it.
    pub wait_percent: Option<f64>,
    /// How often it left a CPU in a second.
    pub switches: f64,
    /// How often it changed its CPU in a second; `None` where that was not read.
    pub migrations: Option<f64>,
    /// How often something woke it up in a second.
    pub wakeups: f64,
    /// The gravest finding about it, by place in the list.
    pub finding: Option<usize>,
    /// The threads that it stands for.
    pub threads: Vec<Tid>,
}
