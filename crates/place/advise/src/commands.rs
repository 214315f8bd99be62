//! The command to paste, and the one that undoes it.

use crate::trial::TriedSeats;
use seatmap_data::words::joined;
use seatmap_launch::named::KnownWord;
use seatmap_launch::sets::{ComputerCpus, words::word_for};
use seatmap_os::{CpuSet, Tid};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
    /// The word for exactly the CPUs of the seats, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<KnownWord>,
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
            return Paste { command, ..Paste::default() };
        }
        let command: Vec<String> = bindings.iter().map(|(seat, tid)| bind(seat, *tid)).collect();
        let undo: Vec<String> = bindings.iter().map(|(_, tid)| bind(cpus, *tid)).collect();
        Paste { command: command.join("; "), undo: Some(undo.join("; ")), word: None }
    }

    /// The command for seats of whole processes, of which one thread is as good as another.
    pub fn of_processes(seats: &TriedSeats, pids: &[Tid], cpus: &str) -> Self {
        let seat = seats.candidate.seats.iter().flatten().next().map_or(cpus, String::as_str);
        let [command, undo] = [seat, cpus]
            .map(|cpus| joined(pids.iter().map(|pid| format!("taskset -acp {cpus} {pid}")), "; "));
        Paste { command, undo: Some(undo), word: None }
    }

    /// Adds the word for the CPUs of these seats, which replaces their numbers if all threads share
    /// one seat.
    pub fn worded(self, seats: &TriedSeats, computer: &ComputerCpus) -> Self {
        let lists: BTreeSet<&String> = seats.candidate.seats.iter().flatten().collect();
        let all: CpuSet = lists
            .iter()
            .filter_map(|list| CpuSet::of_list(list))
            .flat_map(|set| set.list().0)
            .collect();
        let Some(word) = word_for(&all, computer) else { return self };
        let command = match lists.first() {
            Some(list) if lists.len() == 1 => {
                let named = format!("taskset -cp $(seatmap cpus {}) ", word.word);
                self.command.replace(&format!("taskset -cp {list} "), &named)
            }
            _ => self.command,
        };
        Paste { command, word: Some(word), ..self }
    }
}

fn bind(cpus: &str, tid: Tid) -> String {
    format!("taskset -cp {cpus} {tid}")
}
