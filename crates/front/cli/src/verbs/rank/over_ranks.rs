//! A study over the ranks of one start.

use super::asked::Asked;
use crate::args::{MeetingPlace, RankStudy};
use crate::error::CliError;
use crate::{input, meet, output, place};
use seatmap_catalog::{Capability, Runner};
use seatmap_cluster::spread::{Meet, Spread, SpreadError};
use seatmap_cluster::{Rank, RankError};
use seatmap_papers::rank::journal::RankJournal;
use seatmap_papers::rank::spread::{Ranks, SpreadStudyError};
use seatmap_papers::rank::study::Observe;
use seatmap_papers::rank::{Setup, Times};
use seatmap_port::channels::Bed;
use seatmap_sim::{CellBed, CoherentBed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// This process among the ranks that one launcher started.
pub struct Start {
    rank: Rank,
    meet: Meet,
    node: String,
}

/// Ranks on one node would disturb each other's threads, and those on several nodes are different hosts.
///
/// # Errors
/// The study is to run on this host.
pub fn check(runner: &Runner) -> Result<(), CliError> {
    match runner {
        Runner::Host => Err(CliError::input(
            "--spread needs a model (--on cell-ps3, say): the threads of a host are timed on one host at a time",
        )),
        _ => Ok(()),
    }
}

impl Start {
    /// By the variables of the launcher.
    ///
    /// # Errors
    /// No launcher gave this process a rank, or its secret is none.
    pub fn found(typed: &MeetingPlace) -> Result<Self, CliError> {
        let rank = meet::rank()?;
        let meet = Meet {
            meeting: meet::place(typed.meet.as_deref(), &rank),
            secret: meet::secret(typed.secret_file.as_deref())?,
            timeout: typed.timeout,
        };
        Ok(Start { rank, meet, node: place::host_name() })
    }

    /// Whether this is rank 0, which leads.
    pub fn is_first(&self) -> bool {
        self.rank.rank == 0
    }

    fn ranks(&self) -> Ranks<'_> {
        Ranks { rank: &self.rank, meet: &self.meet, node: &self.node }
    }

    /// Works for rank 0 until nothing is left to do.
    ///
    /// # Errors
    /// This rank was started otherwise than rank 0, does not find it, or cannot run the study.
    pub fn follow(&self, typed: &RankStudy) -> Result<(), CliError> {
        let runner = input::runner(&typed.on, Capability::RunsChannels, &typed.figures)?;
        check(&runner)?;
        let setup = Asked { runner: &runner, pus: &[] }.setup(typed)?;
        let done = match &runner {
            Runner::CellBe(model) => self.ranks().follow(&setup, || CellBed::new(Arc::clone(model))),
            Runner::Coherent(model) => self.ranks().follow(&setup, || CoherentBed::new(Arc::clone(model))),
            Runner::Host => unreachable!("a host was refused"),
        };
        done.map(drop).map_err(failed)
    }

    /// Has the study done by all ranks. Whether all is known now.
    ///
    /// # Errors
    /// The machine failed on a rank, or the ranks cannot meet. Ranks that go away are told, and others do their runs.
    pub fn lead<B: Bed>(
        &self,
        setup: &Setup,
        times: &mut Times,
        bed: impl Fn() -> B + Send + Sync,
        journal: Option<&mut RankJournal>,
        asked: (&mut Observe, &dyn Fn() -> bool),
    ) -> Result<bool, CliError> {
        let spread = self.ranks().lead(setup, times, bed, journal, asked).map_err(|error| match error {
            SpreadStudyError::Spread(error) => failed(error),
            other => CliError::work(other),
        })?;
        tell(&spread);
        Ok(spread.is_whole)
    }
}

/// The lost ranks, and how many parts each node did.
fn tell(spread: &Spread) {
    for lost in &spread.lost {
        output::tell(&format!("{}: {}; the others do its work", lost.rank, lost.why));
    }
    let mut of_node = BTreeMap::<&str, usize>::new();
    spread.done.iter().for_each(|(node, parts)| *of_node.entry(node).or_default() += parts);
    let parts: Vec<String> = of_node.iter().map(|(node, parts)| format!("{node} {parts}")).collect();
    output::tell(&format!("parts done by {} ranks: {}", spread.done.len(), parts.join(", ")));
}

/// Things that the user can change are bad input.
fn failed(error: SpreadError) -> CliError {
    let is_input = match &error {
        SpreadError::Rank(RankError::Meeting(error)) => meet::is_input(error),
        SpreadError::Other { .. } => true,
        _ => false,
    };
    if is_input { CliError::input(error) } else { CliError::work(error) }
}
