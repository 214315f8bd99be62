//! The measurement through MPI: all ranks run the program, and rank 0 receives the figures.

use super::{Lead, Member, UNEXPECTED, milliseconds, sentence};
use crate::measure::ClusterProgress;
use crate::mpi::{self, MpiError, MpiTask};
use crate::wire::{receive, send};
use crate::worker::{RankInstruction, RankReply};
use std::time::{Duration, Instant};

/// The time to start an MPI job and run its collectives, and the time for a pair besides its trips.
const START: Duration = Duration::from_secs(90);
const PER_PAIR: Duration = Duration::from_secs(2);

/// A pair's time, as a multiple of that for one message size.
const TIMES: u32 = 20;

/// How much longer rank 0 waits than the others let their programs run.
const GRACE: Duration = Duration::from_secs(10);

impl Lead<'_> {
    pub fn measure_mpi(
        &mut self,
        progress: &mut dyn FnMut(ClusterProgress),
    ) -> Result<(), MpiError> {
        let pairs: Vec<[usize; 2]> = self.cluster.measured().collect();
        progress(ClusterProgress::Done("pairs by MPI", 0, pairs.len()));
        let ranks: Vec<usize> = self.members.iter().map(|member| member.said.rank).collect();
        let limit = START
            + (PER_PAIR + TIMES * self.options.trips)
                * u32::try_from(pairs.len()).unwrap_or(u32::MAX);
        let plan = mpi::plan(self.options.trips, &ranks, &pairs);
        let order = RankInstruction::Mpi(MpiTask { plan, limit_ms: milliseconds(limit) });
        let printed = self.all_run(&order, limit + GRACE)?;
        self.cluster.mpi = Some(mpi::read(&printed, self.cluster.nodes.len())?);
        progress(ClusterProgress::Done("pairs by MPI", pairs.len(), pairs.len()));
        Ok(())
    }

    fn all_run(&mut self, order: &RankInstruction, limit: Duration) -> Result<String, MpiError> {
        let mut all: Vec<&mut Member> = self.members.iter_mut().chain(&mut self.others).collect();
        if let Some(lost) = all.iter().find(|member| member.lost.is_some()) {
            return Err(failed(lost, lost.lost.clone().unwrap_or_default()));
        }
        for member in &mut all {
            send(&mut member.stream, order).map_err(|error| failed(member, error.to_string()))?;
        }
        let until = Instant::now() + limit;
        let mut printed = String::new();
        let mut failure = None;
        for member in &mut all {
            // The standard library rejects a timeout of zero.
            let left =
                until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let answer = member
                .stream
                .set_read_timeout(Some(left))
                .and_then(|()| receive(&mut member.stream));
            match answer {
                Ok(RankReply::Mpi(text)) if member.said.rank == 0 => printed = text,
                Ok(RankReply::Mpi(_)) => {}
                // Rank 0's output has the first cause. A rank that waited for another fails too;
                // the error names the silent one.
                Ok(RankReply::Failed(why)) => {
                    failure = failure.or(Some((member.said.node.clone(), why)))
                }
                Ok(_) => return Err(failed(member, UNEXPECTED.to_owned())),
                Err(error) => return Err(failed(member, sentence(&error, limit))),
            }
        }
        match failure.filter(|_| !printed.contains("\"error\"")) {
            Some((node, why)) => Err(MpiError::Failed { node, why }),
            None => Ok(printed),
        }
    }
}

fn failed(member: &Member, why: String) -> MpiError {
    MpiError::Failed { node: member.said.node.clone(), why }
}
