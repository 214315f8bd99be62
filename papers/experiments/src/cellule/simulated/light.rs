//! Cellule's way: one polling light task, in its own partition.

use super::inputs::CostKind;
use super::program::{ProgramRun, SpeCalls, since};
use seatmap_cell_sim::channels::{Channels, SignalNumber};
use std::cell::Cell;

pub struct Light<'a, C> {
    channels: &'a C,
    run: &'a ProgramRun,
    run_ticks: Cell<u64>,
}

impl<'a, C: Channels> Light<'a, C> {
    pub fn new(channels: &'a C, run: &'a ProgramRun) -> Self {
        Light { channels, run, run_ticks: Cell::new(0) }
    }

    fn spend(&self, cost: CostKind) {
        let mut left = self.run.cycles(cost);
        while left > 0 {
            let own = self.until_switch();
            let step = left.min(own);
            self.channels.compute(step);
            left -= step;
        }
    }

    /// Cycles until the other partition's turn; it waits for this one's own turn first. The SPEs
    /// continue, because the hypervisor does not switch them.
    fn until_switch(&self) -> u64 {
        if !self.run.is_perturbed {
            return u64::MAX;
        }
        let slice = self.run.cycles(CostKind::PartitionSlice).max(1);
        // The program begins within a turn of its own partition.
        let past = (self.run.phase * slice as f64) as u64;
        let at = (self.channels.cycles() + past) % (2 * slice);
        if at < slice {
            return slice - at;
        }
        self.channels.compute(2 * slice - at);
        slice
    }
}

impl<C: Channels> SpeCalls for Light<'_, C> {
    fn map(&self) {
        self.spend(CostKind::LightMap);
    }

    fn load(&self) {
        self.spend(CostKind::LightLoad);
    }

    fn create(&self, spe: usize) {
        self.spend(CostKind::LightCreate);
        let began = self.channels.decrementer();
        self.spend(CostKind::LightRun);
        self.channels.signal(1 + spe, SignalNumber::One, 1);
        self.run_ticks.set(self.run_ticks.get() + since(self.channels, began));
    }

    fn write(&self, spe: usize, message: u32) {
        self.spend(CostKind::LightWrite);
        self.channels.mailbox_write(1 + spe, message);
    }

    fn sees_answer(&self, spe: usize) -> bool {
        self.spend(CostKind::Look);
        self.run.signs[spe].has_answered()
    }

    fn read(&self, spe: usize) {
        self.spend(CostKind::LightRead);
        self.channels.outbox_read(1 + spe);
    }

    fn join(&self, spe: usize) {
        self.spend(CostKind::LightJoin);
        self.spend(CostKind::Look);
        while self.run.signs[spe].stopped_at().is_none() {
            self.spend(CostKind::Look);
        }
    }

    fn run_ticks(&self) -> u64 {
        self.run_ticks.get()
    }

    fn kernel_share(&self) -> Option<f64> {
        None
    }
}
