//! The bandwidth of this host's memory.

use super::{StreamArrays, StreamPlan, TooLittleMemory, parts};
use crate::plan::Effort;
use crate::survey::Warning;
use seatmap_data::machine::{Bandwidth, Topology};
use seatmap_machines::host::HostStreams;
use seatmap_machines::host::streams::StreamError;
use seatmap_os::{Root, memory};
use std::ops::ControlFlow;

/// A prepared measurement of this host's memory bandwidth. It has no memory yet.
pub struct HostBandwidth {
    plan: StreamPlan,
    arrays: StreamArrays,
}

impl HostBandwidth {
    /// A measurement on these CPUs, with arrays that the free memory allows.
    ///
    /// # Errors
    /// [`TooLittleMemory`].
    pub fn new(
        topology: &Topology,
        pus: &[u32],
        effort: Effort,
        seed: u64,
    ) -> Result<Self, TooLittleMemory> {
        let parts = parts(topology, pus);
        let groups = parts.iter().map(|(group, _)| group);
        let free_bytes = memory::allocatable_bytes(&Root::new("/"));
        let arrays = StreamArrays::new(topology, groups, free_bytes)?;
        Ok(HostBandwidth { plan: StreamPlan::new(parts, effort, seed), arrays })
    }

    /// Measures, and adds warnings about figures that are less than asked for. `go_on` is that of
    /// [`StreamPlan::measure`].
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn measure(
        self,
        warnings: &mut Vec<Warning>,
        go_on: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Bandwidth>, StreamError> {
        let HostBandwidth { plan, arrays } = self;
        let mut streams = HostStreams::new(arrays.most_bytes())?;
        let planned = plan.rounds();
        let measured = plan
            .measure(|kernel, pus| streams.rates_gbps(kernel, &arrays.bytes_of(pus)), go_on)?
            .map(|measured| Bandwidth { array_over_cache: arrays.over_cache(), ..measured });
        if let Some(Bandwidth { rounds, array_over_cache, .. }) = measured {
            let rounds_left = planned - rounds;
            warnings.extend((rounds_left > 0).then_some(Warning::FewRounds { rounds, planned }));
            let small = Warning::SmallArrays { array_over_cache };
            warnings.extend(arrays.are_small().then_some(small));
        }
        Ok(measured)
    }
}
