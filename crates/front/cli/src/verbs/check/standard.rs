//! The things that programs are held against, by `seatmap check` and `seatmap top` alike.

use crate::verbs::place::ranks;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::{here, input, plan_input};
use seatmap_os::root::Root;
use seatmap_ranks::RankPlan;
use seatmap_watch::{Asked, Expected, Rule, Seating};
use std::path::Path;

/// Rules and seats. The seats are given, or the programs' launchers show them.
#[derive(Default)]
pub struct Standard {
    asked: Asked,
    /// A plan for the ranks of a job, whose seats depend on the processes found.
    ranks: Option<RankPlan>,
    any_machine: bool,
}

impl Standard {
    /// These rules, and the seats of a file: a plan, a plan for ranks, or a seating.
    pub fn new(
        rules: &[Rule],
        expect: Option<&Path>,
        any_machine: bool,
        strict: bool,
    ) -> Result<Self, CliError> {
        let (expected, ranks) =
            expect.map_or(Ok((None, None)), |path| expected(path, any_machine))?;
        Ok(Standard {
            asked: Asked { rules: rules.to_vec(), expected, strict },
            ranks,
            any_machine,
        })
    }

    /// Whether seats were given.
    pub fn has_seats(&self) -> bool {
        self.asked.expected.is_some() || self.is_of_ranks()
    }

    /// Whether the seats are those of the ranks of a job.
    pub fn is_of_ranks(&self) -> bool {
        self.ranks.is_some()
    }

    /// The rules and seats that this seating is held against.
    ///
    /// # Errors
    /// The seats that a launcher shows cannot be read.
    pub fn of(&self, seating: &Seating) -> Result<Asked, CliError> {
        match &self.ranks {
            Some(plan) => {
                let expected = Some(ranks::expected(plan, seating, self.any_machine));
                Ok(Asked { expected, ..self.asked.clone() })
            }
            None => self.asked.of(&Root::new("/"), seating).map_err(CliError::work),
        }
    }
}

fn expected(
    path: &Path,
    any_machine: bool,
) -> Result<(Option<Expected>, Option<RankPlan>), CliError> {
    let bytes = input::bytes(path)?;
    match ranks::of_bytes(path, &bytes)? {
        Some(plan) => Ok((None, Some(plan))),
        None => Ok((Some(of_threads(path, &bytes, any_machine)?), None)),
    }
}

fn of_threads(path: &Path, bytes: &[u8], any_machine: bool) -> Result<Expected, CliError> {
    if seatmap_plan::plan::is_plan(bytes) {
        let plan = plan_input::plan_in(path, bytes)?;
        return match plan.check_machine(&here::host_name()) {
            Err(error) if !any_machine => Err(CliError::input(AtFile::new(path, error))),
            _ => Ok(Expected::of_plan(&plan)),
        };
    }
    let read = Expected::of_seating(&String::from_utf8_lossy(bytes));
    read.map_err(|error| {
        CliError::input(AtFile::new(path, format!("neither a plan nor a seating: {error}")))
    })
}
