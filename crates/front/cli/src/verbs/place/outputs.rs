//! The outputs of `seatmap place`.

use super::Inputs;
use crate::args::PlaceArgs;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_measure::appraise::Appraisal;
use seatmap_report::floor::{self, FloorPlan, SeatingComparison};
use seatmap_report::{placement, remarks};

pub struct PlaceOutputs {
    plan: Option<Destination>,
    page: Option<Destination>,
    picture: Option<Destination>,
    /// `None` if a file uses stdout.
    printed: Option<Printed>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Printed {
    Json,
    Table,
}

impl PlaceOutputs {
    pub fn new(typed: &PlaceArgs) -> Result<Self, CliError> {
        let plan = output::beside(typed.output.as_deref(), None, "-o")?;
        let page = output::beside(typed.forms.html.as_deref(), None, "--html")?;
        let picture = output::beside(typed.svg.as_deref(), None, "--svg")?;
        let on_stdout = [&plan, &page, &picture]
            .into_iter()
            .filter(|to| **to == Some(Destination::Stdout))
            .count();
        let printed = match (on_stdout, typed.forms.json) {
            (0, true) => Some(Printed::Json),
            (0, false) => Some(Printed::Table),
            (1, false) => None,
            _ => {
                return Err(CliError::input(
                    "only one of --json, -o -, --html - and --svg - can have stdout",
                ));
            }
        };
        Ok(PlaceOutputs { plan, page, picture, printed })
    }

    pub fn shows_remarks(&self) -> bool {
        self.printed == Some(Printed::Table)
    }

    pub fn is_drawn(&self) -> bool {
        self.page.is_some() || self.picture.is_some()
    }

    pub fn write(&self, inputs: &Inputs, appraisal: &Appraisal) -> Result<(), CliError> {
        let Inputs { pattern, machine, profile, .. } = inputs;
        let plan = &appraisal.plan;
        if let Some(destination) = &self.plan {
            destination.write(&plan.to_json())?;
        }
        if let Some(both) = appraisal.before_and_after.clone() {
            let floor = FloorPlan::of(profile, machine.model());
            let drawn = SeatingComparison::new(floor, pattern, plan, both);
            if let Some(page) = &self.page {
                page.write(&placement::page(profile, pattern, plan, &drawn).html())?;
            }
            if let Some(picture) = &self.picture {
                picture.write(&floor::svg(&drawn))?;
            }
        }
        match self.printed {
            Some(Printed::Json) => output::print_exact(&plan.to_json()),
            Some(Printed::Table) => {
                let mean = placement::mean_distance(plan, pattern, inputs.weight);
                let said = mean.into_iter().chain(remarks::sentences(&appraisal.remarks));
                output::show(&placement::table(plan).and(said.collect()))
            }
            None => Ok(()),
        }
    }
}
