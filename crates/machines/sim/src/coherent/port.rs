//! A task's view of a coherent machine.

use crate::coherent::request::LineCall;
use crate::engine::{TaskMessage, TaskYielder};
use seatmap_data::port::{Addr, Port, Stamp};
use std::cell::Cell;

pub struct CoherentPort<'a> {
    /// Time, separate from the machine so that reading it costs nothing.
    pub clock: &'a Cell<u64>,
    pub yielder: &'a TaskYielder<LineCall>,
    pub pu: u32,
    pub words: u32,
    /// Ticks from one look of a polling loop to the next.
    pub look: u64,
    pub ticks_per_cycle: u64,
}

impl CoherentPort<'_> {
    #[inline]
    fn call(&self, request: LineCall) -> u64 {
        if let Some(word) = request.word() {
            self.check(word);
        }
        self.yielder.suspend(TaskMessage::Call(request))
    }

    #[inline]
    fn check(&self, Addr(word): Addr) {
        assert!(
            word < self.words,
            "word {word} is outside the {} words of the workload",
            self.words
        );
    }
}

impl Port for CoherentPort<'_> {
    fn load(&self, word: Addr) -> u64 {
        self.call(LineCall::Load(word))
    }

    fn store(&self, word: Addr, value: u64) {
        self.call(LineCall::Store(word, value));
    }

    fn copy(&self, from: Addr, to: Addr, words: u32) {
        if let Some(last) = words.checked_sub(1) {
            self.check(from.word(last));
            self.check(to.word(last));
            self.call(LineCall::Copy { from, to, words });
        }
    }

    fn fetch_add(&self, word: Addr, value: u64) -> u64 {
        self.call(LineCall::Add(word, value))
    }

    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64> {
        let found = self.call(LineCall::Exchange { word, current, new });
        if found == current { Ok(found) } else { Err(found) }
    }

    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        self.call(LineCall::WaitWhile(word, value))
    }

    fn stamp(&self) -> Stamp {
        Stamp { ticks: self.clock.get(), pu: self.pu }
    }

    fn compute(&self, cycles: u64) {
        // A call of no cycles would still suspend the task, and let others run first.
        if cycles > 0 {
            self.call(LineCall::Compute(cycles.saturating_mul(self.ticks_per_cycle)));
        }
    }

    fn computed(&self, cycles: u64) {
        self.compute(cycles);
    }

    fn pause(&self) {
        self.call(LineCall::Compute(self.look));
    }
}
