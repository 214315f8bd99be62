//! One thing that is wrong with a seating, or worth knowing.

use seatmap_os::Tid;
use serde::{Deserialize, Serialize};

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gravity {
    /// Worth knowing; it fails no check.
    Remark,
    /// Wrong: the check fails.
    Wrong,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule that it breaks, as it is typed: `one-per-cpu`, `expect`, `memory-local`.
    pub rule: String,
    /// How grave it is.
    pub gravity: Gravity,
    /// The fault, its place and its size, as a sentence.
    pub what: String,
    /// The process; null where it concerns several.
    pub pid: Option<Tid>,
    /// The threads, by number.
    pub tids: Vec<Tid>,
    /// The CPUs, as a list.
    pub cpus: String,
    /// For how long that has been so at least, in seconds: the age of the thread, or the time it was watched.
    pub since_s: Option<f64>,
    /// How bad it is: a share of time, of memory or of interrupts, in percent or a second.
    pub measure: Option<Measure>,
    /// The command that mends it.
    pub remedy: Option<String>,
}

/// A figure with its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The figure.
    pub value: f64,
    /// Its unit: `percent of one CPU`, `percent of the pages`, `a second`.
    pub unit: String,
}
