//! The command to paste, and the one that undoes it.

use crate::trial::TriedSeats;
use seatmap_os::Tid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most commands that are pasted for single threads; more are left to `seatmap run --auto`.
const MOST_BINDINGS: usize = 4;

/// A command, and the one that undoes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Paste {
    /// The command.
    pub command: String,
    /// The command that undoes it; null where it undoes itself at its end.
    pub undo: Option<String>,
}

impl Paste {
    /// The command that gives a program the seats of a trial. Its threads could use `cpus` before.
    #[must_use]
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
            // It keeps the seats while it runs, and gives the masks back when it is ended.
            let command = format!("seatmap run --auto {}", pids.join(" "));
            return Paste { command, undo: None };
        }
        let bind = |cpus: &str, tid: Tid| format!("taskset -cp {cpus} {tid}");
        let command: Vec<String> = bindings.iter().map(|(seat, tid)| bind(seat, *tid)).collect();
        let undo: Vec<String> = bindings.iter().map(|(_, tid)| bind(cpus, *tid)).collect();
        Paste { command: command.join("; "), undo: Some(undo.join("; ")) }
    }
}
