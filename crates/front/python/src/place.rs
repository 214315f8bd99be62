//! Placements, as `seatmap place` finds them.

use crate::call::{beside_python, unless_interrupted};
use crate::failure::PythonFailure;
use crate::machine::PyMachine;
use crate::pattern::PyPattern;
use pyo3::prelude::*;
use seatmap_console::{here, output};
use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::{Objective, Plan, export};
use seatmap_machines::catalog::Machine;
use seatmap_machines::catalog::usable::{self, Usable};
use seatmap_measure::appraise::{Appraisal, AppraisalRequest, BeforePlan, rehearsal};
use seatmap_place::search::{SearchStop, SearchTime};
use seatmap_place::{MessageWait, PlaceRequest, SmtUse};
use seatmap_report::floor::{FloorPlan, SeatingComparison};
use seatmap_report::{placement, remarks};
use std::sync::Arc;

/// The options of a placement, a Python dictionary with the names and meanings of `seatmap place`'s
/// options.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PlaceOptions {
    objective: Option<String>,
    waiting: Option<bool>,
    smt: Option<bool>,
    cpus: Option<Vec<u32>>,
    fix: Vec<(usize, u32)>,
    memory: bool,
    seconds: f64,
    kicks: Option<u64>,
    threads: Option<usize>,
    seed: u64,
}

impl PlaceOptions {
    fn time(&self) -> Result<SearchTime, PythonFailure> {
        let seconds = self.seconds;
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err(PythonFailure::Input(format!("seconds={seconds}: give a time above 0")));
        }
        Ok(self.kicks.map_or(SearchTime::Seconds(seconds), SearchTime::Kicks))
    }

    /// A single search is reproducible; parallel searches differ.
    fn threads(&self) -> usize {
        let usual = match self.kicks {
            Some(_) => 1,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        self.threads.unwrap_or(usual).max(1)
    }

    fn waiting(&self) -> MessageWait {
        match self.waiting {
            None => MessageWait::AsObserved,
            Some(true) => MessageWait::Asleep,
            Some(false) => MessageWait::Spinning,
        }
    }

    fn smt(&self) -> SmtUse {
        match self.smt {
            None => SmtUse::Auto,
            Some(true) => SmtUse::Shared,
            Some(false) => SmtUse::Apart,
        }
    }
}

fn objective(word: &str) -> Result<Objective, PythonFailure> {
    match word {
        "distance" => Ok(Objective::Distance),
        "congestion" => Ok(Objective::Congestion),
        "simulated" => Ok(Objective::Simulated),
        "time" => Ok(Objective::Time),
        other => Err(PythonFailure::Input(format!(
            "unknown objective '{other}'; expected one of: distance, congestion, simulated, time"
        ))),
    }
}

/// A plan with its machine and pattern.
#[pyclass(frozen, module = "seatmap._seatmap")]
pub struct Placement {
    machine: Machine,
    profile: Arc<Profile>,
    pattern: Arc<Pattern>,
    appraisal: Appraisal,
}

#[pymethods]
impl Placement {
    /// The plan as `seatmap-plan/1`.
    fn json(&self) -> String {
        self.appraisal.plan.to_json()
    }

    /// The table of `seatmap place`.
    fn text(&self) -> String {
        placement::table(&self.appraisal.plan).text(None)
    }

    /// The remarks below the table of `seatmap place`, one per line.
    fn remarks(&self) -> String {
        remarks::sentences(&self.appraisal.remarks).into_iter().map(|line| line + "\n").collect()
    }

    /// The page of `seatmap place --html`.
    fn page(&self) -> String {
        let plan = &self.appraisal.plan;
        let Some(both) = self.appraisal.before_and_after.clone() else { return String::new() };
        let floor = FloorPlan::of(&self.profile, self.machine.model());
        let drawn = SeatingComparison::new(floor, &self.pattern, plan, both);
        placement::page(&self.profile, &self.pattern, plan, &drawn).html()
    }
}

/// Places the tasks of a pattern on a machine.
#[pyfunction]
pub fn place(
    py: Python<'_>,
    pattern: &PyPattern,
    machine: &PyMachine,
    options: PlaceOptions,
) -> PyResult<Placement> {
    beside_python(py, || {
        let profile = &machine.profile;
        let fixed: Vec<u32> = options.fix.iter().map(|(_, cpu)| *cpu).collect();
        let Usable { cpus, remarks } =
            usable::for_tasks(&machine.machine, profile, options.cpus.clone(), &fixed)?;
        output::tell_each(remarks);
        let mut request = PlaceRequest {
            waiting: options.waiting(),
            cpus,
            smt: options.smt(),
            fixed: options.fix.clone(),
            threads: options.threads(),
            seed: options.seed,
            ..PlaceRequest::new(profile, &pattern.0)
        };
        request.objective = match &options.objective {
            Some(word) => objective(word)?,
            None => request.usual_objective(),
        };
        let stop = SearchStop::default();
        let request = AppraisalRequest {
            machine: &machine.machine,
            place: request,
            time: options.time()?,
            stop: Some(stop.clone()),
            rounds: rehearsal::ROUNDS,
            widen: None,
            near_memory: options.memory,
            with_remarks: true,
            before: Some(BeforePlan::InOrder),
            date: here::today(),
            tool: here::tool(),
        };
        let appraisal = unless_interrupted(|| Ok(request.appraise()?), || stop.stop())?;
        Ok(Placement {
            machine: machine.machine.clone(),
            profile: Arc::clone(profile),
            pattern: Arc::clone(&pattern.0),
            appraisal,
        })
    })
}

/// Refuses a plan for another computer.
#[pyfunction]
pub fn check_plan(text: &str) -> PyResult<()> {
    let plan = Plan::from_json(text).map_err(PythonFailure::input)?;
    Ok(plan.check_machine(&here::host_name()).map_err(PythonFailure::input)?)
}

/// Checks a plan and returns it with its table.
#[pyfunction]
pub fn read_plan(text: &str) -> PyResult<(String, String)> {
    let plan = Plan::from_json(text).map_err(PythonFailure::input)?;
    Ok((plan.to_json(), placement::table(&plan).text(None)))
}

/// The plan in a format of `seatmap export`.
#[pyfunction]
pub fn export_plan(text: &str, format: &str) -> PyResult<String> {
    let plan = Plan::from_json(text).map_err(PythonFailure::input)?;
    let known = export::FORMATS.iter().find(|(word, _)| *word == format);
    let Some((_, write)) = known else {
        let words = export::FORMATS.map(|(word, _)| word).join(", ");
        return Err(PythonFailure::Input(format!(
            "a plan cannot be written as {format}; formats for it are {words}"
        ))
        .into());
    };
    Ok(write(&plan).map_err(PythonFailure::input)?)
}
