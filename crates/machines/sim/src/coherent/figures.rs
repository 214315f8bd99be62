//! The figures of a coherent machine.

use crate::coherent::fabric::LANES;
use crate::coherent::layout::CoherentTiming;
use crate::figure::{ModelFigure, figures};

figures! {
    "Every figure of a coherent model. Cycles are core cycles.",
    /// Cycles from one stop or tile to the next.
    hop_cycles,
    /// Cycles for which a message keeps a link's address lane busy.
    address_busy_cycles,
    /// Cycles for which a line keeps a link's data lane busy.
    data_busy_cycles,
    /// Cycles for which a message keeps a link's acknowledge lane busy.
    acknowledge_busy_cycles,
    /// Cycles in which a cache answers its own core.
    hit_cycles,
    /// Cycles from a core's access that misses to the request that leaves its cache.
    miss_cycles,
    /// Cycles from a change of a line until a waiting task looks again: a spin loop with its pause.
    look_cycles,
    /// Cycles in which a cache answers a snoop.
    cache_cycles,
    /// Cycles in which a directory looks a line up, or a message buffer answers.
    directory_cycles,
    /// Cycles for which that delays the next message.
    directory_busy_cycles,
    /// Requests that a directory holds; it sends further ones back, and they come again.
    directory_queue,
    /// Cycles in which memory answers a directory.
    memory_cycles,
    /// Additional cycles of an atomic compared with a store.
    atomic_cycles,
    /// The longest time between two tasks' random starts.
    start_skew_cycles,
}

impl CoherentFigures {
    pub(crate) fn timing(&self, ticks_per_cycle: u32) -> CoherentTiming {
        let ticks = |figure: &ModelFigure| figure.ticks(ticks_per_cycle);
        CoherentTiming {
            hit: ticks(&self.hit_cycles),
            miss: ticks(&self.miss_cycles),
            cache: ticks(&self.cache_cycles),
            directory: ticks(&self.directory_cycles),
            directory_busy: ticks(&self.directory_busy_cycles),
            directory_queue: self.directory_queue.whole() as u32,
            memory: ticks(&self.memory_cycles),
            atomic: ticks(&self.atomic_cycles),
            start_skew: ticks(&self.start_skew_cycles),
        }
    }

    pub(crate) fn busy(&self, ticks_per_cycle: u32) -> [u32; LANES] {
        [&self.address_busy_cycles, &self.data_busy_cycles, &self.acknowledge_busy_cycles]
            .map(|figure| figure.ticks(ticks_per_cycle) as u32)
    }

    /// The first figure outside its range. Most figures must not be zero: steps without time would
    /// stop the model's clock.
    pub fn flaw(&self) -> Option<String> {
        let (key, figure) = self.all().find(|(key, figure)| {
            // Half a cycle is the least that rounds to a whole one.
            let least =
                if ["atomic_cycles", "start_skew_cycles"].contains(key) { 0.0 } else { 0.5 };
            !figure.value.is_finite() || figure.value < least || figure.value > 1e9
        })?;
        Some(format!("figures.{key} is {:?}; give 0.5 to 1e9", figure.value))
    }
}
