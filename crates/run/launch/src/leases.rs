//! The seats of this run among those of other runs.
//!
//! Without leases, two simultaneous runs would both use the first seats of a list. A lease lasts
//! until the thread ends.

use seatmap_data::words::{agreeing, counted};
use seatmap_os::lease::CpuLeases;
use seatmap_os::{CpuSet, Root, Tid};
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Leases {
    root: Option<Root>,
    /// `None` before the first seat, because the front's copy of the folder would keep the leases.
    cpus: Option<CpuLeases>,
    of_thread: HashMap<Tid, CpuSet>,
    /// Threads on another run's seat despite a choice.
    crowded: usize,
}

impl Leases {
    pub fn on(root: &Root) -> Self {
        Leases { root: Some(root.clone()), ..Leases::default() }
    }

    /// The index of the first seat that no other run, or the fewest, have. The list is not empty.
    pub fn choose<'a>(
        &mut self,
        tid: Tid,
        seats: impl Iterator<Item = &'a CpuSet> + Clone,
    ) -> usize {
        let Some(root) = &self.root else { return 0 };
        let cpus = self.cpus.get_or_insert_with(|| CpuLeases::new(root));
        let Some(freest) = cpus.take_freest(seats.clone()) else { return 0 };
        if let Some(chosen) = seats.clone().nth(freest.at) {
            let had_choice = seats.clone().any(|seat| seat != chosen);
            self.crowded += usize::from(had_choice && freest.runs > 0);
            if let Some(before) = self.of_thread.insert(tid, chosen.clone()) {
                cpus.give_back(&before);
            }
        }
        freest.at
    }

    pub fn end(&mut self, tid: Tid) {
        if let (Some(cpus), Some(seat)) = (&mut self.cpus, self.of_thread.remove(&tid)) {
            cpus.give_back(&seat);
        }
    }

    pub fn renumber(&mut self, former: Tid, tid: Tid) {
        if let Some(seat) = self.of_thread.remove(&former) {
            self.of_thread.insert(tid, seat);
        }
    }

    pub fn shared(&self) -> CpuSet {
        let single = self.of_thread.values().filter(|seat| seat.only().is_some());
        let single = single.fold(CpuSet::default(), |all, seat| all.with(seat));
        self.cpus.as_ref().map(|cpus| cpus.of_others(&single)).unwrap_or_default()
    }

    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.cpus.as_ref().is_some_and(CpuLeases::is_blocked) {
            notes.push(format!(
                "cannot avoid the seats of other runs: another process holds the lock on {}",
                seatmap_os::lease::FOLDER
            ));
        }
        if self.crowded > 0 {
            notes.push(format!(
                "{} {} of another run: no other seat was free",
                counted(self.crowded, "thread"),
                agreeing(self.crowded, "got the seat", "got seats")
            ));
        }
        notes
    }
}
