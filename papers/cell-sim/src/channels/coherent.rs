//! A coherent model as a machine for programs over channels.

use super::lines::{DECREMENTER_SHIFT, OnLines};
use super::{Bed, ChannelProgram};
use seatmap_data::port::Testbed;
use seatmap_sim::{CoherentBed, SimError};
use std::collections::BTreeSet;

impl Bed for CoherentBed {
    type Error = SimError;

    fn run<P: ChannelProgram>(
        &mut self,
        seats: &[u32],
        program: &P,
        seed: u64,
    ) -> Result<Vec<P::Output>, SimError> {
        let workload = OnLines::new(program, self.modules())
            .map_err(|error| SimError::Seat(error.to_string()))?;
        // Local stores are lines of memory here, and start with zeros.
        self.clear_memory();
        let own_seed = std::mem::replace(&mut self.seed, seed);
        let outputs = Testbed::run(self, seats, &workload);
        self.seed = own_seed;
        outputs
    }

    fn ns_per_tick(&self) -> f64 {
        f64::from(1 << DECREMENTER_SHIFT) * self.model().ns_per_tick()
    }

    fn ns_per_cycle(&self) -> f64 {
        self.model().ns_per_tick()
    }

    fn modules(&self) -> usize {
        let pus = &self.model().topology.pus;
        let nodes: BTreeSet<_> = pus.iter().filter_map(|pu| pu.numa).collect();
        nodes.len().max(1)
    }
}
