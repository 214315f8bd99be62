//! Reads plans and expected seats from files.

use crate::error::{CliError, CliResult};
use crate::here::host_name;
use crate::input;
use seatmap_cluster::ranks_here;
use seatmap_data::plan::Plan;
use seatmap_data::plan::placed::is_plan;
use seatmap_os::Root;
use seatmap_place::ranks::RankPlan;
use seatmap_watch::{Expected, ExpectedSource};
use std::path::Path;

/// The plan in a file; `-` is stdin.
///
/// # Errors
/// The file cannot be read or is not a plan.
pub fn plan(path: &Path) -> CliResult<Plan> {
    plan_in(path, &input::bytes(path)?)
}

/// The plan in the bytes of a file, checked to be for this computer.
///
/// # Errors
/// As [`plan`]; or the plan is for another machine and `any_machine` is false.
pub fn plan_of_host(path: &Path, bytes: &[u8], any_machine: bool) -> CliResult<Plan> {
    let plan = plan_in(path, bytes)?;
    // The same CPU number is a different place on another computer.
    match plan.check_machine(&host_name()) {
        Err(error) if !any_machine => Err(CliError::at(path, error)),
        _ => Ok(plan),
    }
}

/// The plan in the bytes of a file.
///
/// # Errors
/// The file is not a plan.
pub fn plan_in(path: &Path, bytes: &[u8]) -> CliResult<Plan> {
    if is_foreign(bytes) {
        return Err(CliError::at(
            path,
            "this is not a plan; 'seatmap place --pattern PATTERN -o FILE' writes one",
        ));
    }
    input::parsed(path, bytes, Plan::from_json)
}

/// The plan for a job's ranks in the bytes of a file; `None` if they are something else.
///
/// # Errors
/// The file is such a plan but cannot be understood.
pub fn rank_plan_in(path: &Path, bytes: &[u8]) -> CliResult<Option<RankPlan>> {
    let is_plan = RankPlan::is_plan(bytes);
    is_plan.then(|| input::parsed(path, bytes, RankPlan::from_json)).transpose()
}

/// The seats in the file after `--expect`: a plan, a plan for ranks, or a seating; `-` is stdin.
/// Without a file, the seats that launchers report.
///
/// # Errors
/// The file cannot be read or is none of the three; the plan is for another machine and
/// `any_machine` is false; or the seating's program has ended or been moved since.
pub fn expected_seats(file: Option<&Path>, any_machine: bool) -> CliResult<ExpectedSource> {
    let Some(path) = file else { return Ok(ExpectedSource::Launchers) };
    let bytes = input::bytes(path)?;
    // The document itself states its kind; the user names only a file.
    if let Some(plan) = rank_plan_in(path, &bytes)? {
        let seats = ranks_here::seats(&plan, &host_name(), any_machine);
        return Ok(ExpectedSource::Ranks(seats));
    }
    if is_plan(&bytes) {
        let plan = plan_of_host(path, &bytes, any_machine)?;
        return Ok(ExpectedSource::Given(Expected::of_plan(&plan)));
    }
    input::parsed(path, &bytes, |text| Expected::of_living(text, &Root::new("/")))
        .map(ExpectedSource::Given)
}

/// Whether the file is not a JSON object, or a complete one without a format.
fn is_foreign(bytes: &[u8]) -> bool {
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    !is_object || is_whole && !seatmap_data::document::is_kind(bytes, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str, any_machine: bool) -> Result<Vec<String>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        match expected_seats(Some(file.path()), any_machine).map_err(|error| error.text())? {
            ExpectedSource::Given(expected) => {
                Ok(expected.seats.into_iter().map(|seat| seat.label).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    #[test]
    fn document_kind_determines_expected_seats() {
        let plan = Plan::new("a machine elsewhere", vec![3, 1]).to_json();
        assert_eq!(labels(&plan, true).unwrap(), ["task 0", "task 1"]);
        assert!(labels(&plan, false).unwrap_err().contains("a machine elsewhere"));
        let seating = r#"{"format": "seatmap-seating/1", "threads": [{"tid": 9, "mask": "0-1"}]}"#;
        assert_eq!(labels(seating, false).unwrap(), ["thread 9"]);
        assert!(matches!(expected_seats(None, false), Ok(ExpectedSource::Launchers)));
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        let refusal = labels("[]", false).unwrap_err();
        assert!(refusal.contains("neither a plan nor a seating"), "{refusal}");
    }
}
