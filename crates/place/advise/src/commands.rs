//! The command to paste, and the one that undoes it.

use crate::trial::TriedSeats;
use seatmap_os::Tid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// With more threads than this, the command is `seatmap run --auto`.
const MOST_BINDINGS: usize = 4;

/// A command to paste.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Paste {
    /// The command.
    pub command: String,
    /// The command that undoes it; null if it undoes itself when it ends.
    pub undo: Option<String>,
}

impl Paste {
    /// The command for the seats of a trial. `cpus` are the program's before.
    pub fn of_seats(seats: &TriedSeats, pids: &[Tid], cpus: &str) -> Self {
        let mut by_seat: BTreeMap<&str, Vec<Tid>> = BTreeMap::new();
        let seated = seats.tids.iter().zip(&seats.candidate.seats);
        for (tid, seat) in seated.filter_map(|(tid, seat)| Some((tid, seat.as_ref()?))) {
            by_seat.entry(seat).or_default().push(*tid);
        }
        let bindings: Vec<(&str, Tid)> = by_seat
            .iter()
            .flat_map(|(seat, tids)| tids.iter().map(move |tid| (*seat, *tid)))
            .collect();
        if bindings.len() > MOST_BINDINGS {
            let pids: Vec<String> = pids.iter().map(|pid| format!("--pid {pid}")).collect();
            // It restores the masks when it ends.
            let command = format!("seatmap run --auto {}", pids.join(" "));
            return Paste { command, undo: None };
        }
        let command: Vec<String> = bindings.iter().map(|(seat, tid)| bind(seat, *tid)).collect();
        let undo: Vec<String> = bindings.iter().map(|(_, tid)| bind(cpus, *tid)).collect();
        Paste { command: command.join("; "), undo: Some(undo.join("; ")) }
    }
}

fn bind(cpus: &str, tid: Tid) -> String {
    format!("taskset -cp {cpus} {tid}")
}
