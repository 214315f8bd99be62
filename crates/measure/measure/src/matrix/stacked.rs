//! Pairs whose vCPUs share one CPU of the host.
//!
//! A round trip between them takes a slice of the host's scheduler, milliseconds, and a usual visit
//! a minute. Therefore short visits precede the first usual one and, if far too long, replace it.

use super::MatrixRun;
use crate::error::MeasureError;
use crate::probe::{Probe, VisitBatches};
use crate::regimes::{STACKED_NS, is_stacked};

/// Of a short visit, and round trips per batch.
const BATCHES: u32 = 3;
const ROUND_TRIPS: u32 = 2;

/// Short visits to a pair that looks stacked: an interruption prolongs one, not all.
const VISITS: usize = 5;

impl<P: Probe> MatrixRun<'_, P> {
    /// The pairs worth a usual visit; keeps the batches of stacked pairs.
    pub(super) fn without_stacked(
        &mut self,
        round: &[(usize, usize)],
        pass: usize,
    ) -> Result<Vec<(usize, usize)>, MeasureError<P::Error>> {
        let known: Vec<bool> = round
            .iter()
            .map(|(i, j)| is_stacked(&self.samples.pair(*i, *j).passes.concat()))
            .collect();
        // Only a hypervisor stacks vCPUs.
        if !self.probe.has_hosts() || (pass > 0 && !known.contains(&true)) {
            return Ok(round.to_vec());
        }
        let looks: Vec<bool> = self.short(round)?.iter().map(is_long).collect();
        let mut left = Vec::new();
        for (pair, looks_stacked) in round.iter().zip(looks) {
            match if looks_stacked { self.stacked(*pair)? } else { None } {
                Some(batches) => self.keep(*pair, pass, batches)?,
                None => left.push(*pair),
            }
        }
        Ok(left)
    }

    fn stacked(
        &mut self,
        pair: (usize, usize),
    ) -> Result<Option<VisitBatches>, MeasureError<P::Error>> {
        let mut all = VisitBatches::default();
        for _ in 0..VISITS {
            let visit = self.short(&[pair])?.pop().unwrap_or_default();
            if !is_long(&visit) {
                return Ok(None);
            }
            all.round_trip_ns.extend(visit.round_trip_ns);
            all.discards += visit.discards;
        }
        // With `--quick` short visits have more batches than a journal allows.
        all.round_trip_ns.truncate(self.plan.batches as usize);
        Ok(Some(all))
    }

    fn short(
        &mut self,
        round: &[(usize, usize)],
    ) -> Result<Vec<VisitBatches>, MeasureError<P::Error>> {
        self.visited(round, [BATCHES, ROUND_TRIPS])
    }
}

fn is_long(batches: &VisitBatches) -> bool {
    !batches.round_trip_ns.is_empty() && batches.round_trip_ns.iter().all(|ns| *ns >= STACKED_NS)
}
