//! Checks of running programs, as `seatmap check` makes them.

use crate::call::{Interruption, beside_python};
use crate::failure::PythonFailure;
use pyo3::prelude::*;
use seatmap_console::cpus::OrAll;
use seatmap_console::{here, input};
use seatmap_data::plan::Plan;
use seatmap_machines::host::topology;
use seatmap_os::Tid;
use seatmap_watch::{
    CheckRequest, CheckStep, CheckView, Expected, ExpectedSource, ProcessChoice, Rule, Standard,
};
use std::time::Duration;

/// The result of a check.
#[pyclass(frozen, get_all, module = "seatmap._seatmap")]
pub struct Judgement {
    fails: bool,
    /// The error of `seatmap check`; `None` if nothing is wrong.
    failure: Option<String>,
    /// The check as `seatmap-seating/1`.
    json: String,
    /// The table of `seatmap check`.
    text: String,
}

/// The options of a check, as a Python dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct CheckOptions {
    pids: Vec<Tid>,
    children: bool,
    seconds: f64,
    rules: Vec<String>,
    plan: Option<String>,
    any_machine: bool,
    strict: bool,
}

/// Checks the CPUs of these processes' threads.
#[pyfunction]
pub fn check(py: Python<'_>, options: CheckOptions) -> PyResult<Judgement> {
    beside_python(py, || {
        let seconds = options.seconds;
        let window = Duration::try_from_secs_f64(seconds)
            .map_err(|error| PythonFailure::Input(format!("seconds={seconds}: {error}")))?;
        let rules = options.rules.iter().map(|rule| rule.parse()).collect::<Result<Vec<Rule>, _>>();
        let rules = rules.map_err(PythonFailure::input)?;
        let topology = topology::of_group().map_err(PythonFailure::work)?;
        let computer = input::whole_computer(&topology);
        let rules = input::rules_on(rules, &computer, OrAll::default())?;
        let request = CheckRequest {
            choice: ProcessChoice::Processes {
                pids: options.pids,
                with_children: options.children,
            },
            window,
            trace: false,
            standard: Standard {
                rules,
                seats: seats(options.plan.as_deref(), options.any_machine)?,
                baselines: None,
                strict: options.strict,
            },
            topology,
            machine: here::host_name(),
            again_every: None,
        };
        let interruption = Interruption::listen();
        let judged = judged(&request, &interruption);
        interruption.unless_raised(judged)
    })
}

fn seats(plan: Option<&str>, any_machine: bool) -> Result<ExpectedSource, PythonFailure> {
    let Some(text) = plan else { return Ok(ExpectedSource::Launchers) };
    let plan = Plan::from_json(text).map_err(PythonFailure::input)?;
    if !any_machine {
        plan.check_machine(&here::host_name()).map_err(PythonFailure::input)?;
    }
    Ok(ExpectedSource::Given(Expected::of_plan(&plan)))
}

fn judged(request: &CheckRequest, interruption: &Interruption) -> Result<Judgement, PythonFailure> {
    let view = CheckView { is_document: true, is_quiet: false };
    let mut check = request.begin()?;
    let shown = check.next(&|| interruption.is_raised())?.map(|step| shown(&step, view));
    let (json, text) = shown.unwrap_or_default();
    let failure = check.end().err().map(|failure| failure.to_string());
    Ok(Judgement { fails: failure.is_some(), failure, json, text })
}

fn shown(step: &CheckStep, view: CheckView) -> (String, String) {
    let json = step.judged().map(seatmap_data::document::written);
    let page = step.text(view).map(|text| seatmap_report::check::page(&text, false).text(None));
    (json.unwrap_or_default(), page.unwrap_or_default())
}
