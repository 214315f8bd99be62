//! The runs of a race on a model, made by all ranks of a start.

use seatmap_cluster::spread::SpreadError;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::over_ranks::{self, LaunchedRank};
use seatmap_trial::tune::OnModel;
use seatmap_trial::tune::model_race::{ModelRaceError, NumberedJob, TakeTimes};
use std::error::Error;
use std::sync::atomic::AtomicBool;

/// The ranks of a start, which make the runs of one race.
pub struct RanksOfRace {
    pub start: LaunchedRank,
    /// The inputs of all times besides CPUs and skew: ranks with other inputs are refused.
    pub name: String,
}

impl RanksOfRace {
    pub fn follow(&self, messages: &OnModel) -> Result<(), CliError> {
        self.start.ranks().follow(&self.name, &|jobs: &[NumberedJob], is_over: &AtomicBool| {
            messages.numbered_times_ns(jobs, is_over)
        })?;
        Ok(())
    }

    /// Assigns the runs, as rank 0.
    pub fn lead(
        &self,
        messages: &OnModel,
        jobs: &[NumberedJob],
        take: &mut TakeTimes<'_>,
        interrupt: &StopFlag,
    ) -> Result<(), Box<dyn Error>> {
        let spread = self.start.ranks().lead(
            &self.name,
            jobs,
            &|jobs: &[NumberedJob], is_over: &AtomicBool| messages.numbered_times_ns(jobs, is_over),
            take,
            &|| interrupt.flow(),
        )?;
        over_ranks::tell(&spread);
        Ok(())
    }
}

pub fn failed(error: ModelRaceError) -> CliError {
    match error {
        ModelRaceError::Elsewhere(error) => match error.downcast::<SpreadError>() {
            Ok(error) => (*error).into(),
            Err(error) => CliError::Work(error),
        },
        error => error.into(),
    }
}
