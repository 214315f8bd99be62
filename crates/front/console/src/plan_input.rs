//! Reads plans, and the seats that programs should have, from files.

use crate::error::CliError;
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
/// The file cannot be read, or holds no plan.
pub fn plan(path: &Path) -> Result<Plan, CliError> {
    plan_in(path, &input::bytes(path)?)
}

/// The plan of a file that has been read, if it was made for this computer.
///
/// # Errors
/// As [`plan`]; or the plan was made for another machine, unless any will do.
pub fn plan_of_host(path: &Path, bytes: &[u8], any_machine: bool) -> Result<Plan, CliError> {
    let plan = plan_in(path, bytes)?;
    // CPU numbers of one computer mean other places on another.
    match plan.check_machine(&host_name()) {
        Err(error) if !any_machine => Err(CliError::at(path, error)),
        _ => Ok(plan),
    }
}

/// The plan of a file that has been read.
///
/// # Errors
/// The file holds no plan.
pub fn plan_in(path: &Path, bytes: &[u8]) -> Result<Plan, CliError> {
    if is_foreign(bytes) {
        return Err(CliError::at(
            path,
            "this is not a plan; 'seatmap place --pattern PATTERN -o FILE' writes one",
        ));
    }
    input::parsed(path, bytes, Plan::from_json)
}

/// The plan for the ranks of a job in a file that has been read; `None` where it is something else.
///
/// # Errors
/// The file holds such a plan, and cannot be understood.
pub fn rank_plan_in(path: &Path, bytes: &[u8]) -> Result<Option<RankPlan>, CliError> {
    let is_plan = RankPlan::is_plan(bytes);
    is_plan.then(|| input::parsed(path, bytes, RankPlan::from_json)).transpose()
}

/// The seats in the file after `--expect`: a plan, a plan for ranks, or a seating; `-` is stdin.
/// Without a file they are those that launchers show.
///
/// # Errors
/// The file cannot be read, holds none of the three, or a plan that was made for another machine,
/// unless any will do; or the program of the seating has ended, or got other seats since.
pub fn expected_seats(file: Option<&Path>, any_machine: bool) -> Result<ExpectedSource, CliError> {
    let Some(path) = file else { return Ok(ExpectedSource::Launchers) };
    let bytes = input::bytes(path)?;
    // By what the document says of itself, as the user names a file and no kind.
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

/// Whether this is another kind of file than Seatmap's documents: it is not a JSON object, or a
/// whole one without a format. A document that was cut or damaged is not: the place of the damage
/// helps there.
fn is_foreign(bytes: &[u8]) -> bool {
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    !is_object || is_whole && !seatmap_data::document::is_kind(bytes, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(text: &str, any_machine: bool) -> Result<ExpectedSource, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        expected_seats(Some(file.path()), any_machine).map_err(|error| error.text())
    }

    fn labels(source: ExpectedSource) -> Vec<String> {
        match source {
            ExpectedSource::Given(expected) => {
                expected.seats.into_iter().map(|seat| seat.label).collect()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_document_says_itself_which_seats_it_holds() {
        let plan = Plan::new("a machine elsewhere", vec![3, 1]).to_json();
        assert_eq!(labels(read(&plan, true).unwrap()), ["task 0", "task 1"]);
        assert!(read(&plan, false).unwrap_err().contains("a machine elsewhere"));
        let seating = r#"{"format": "seatmap-seating/1", "threads": [{"tid": 9, "mask": "0-1"}]}"#;
        assert_eq!(labels(read(seating, false).unwrap()), ["thread 9"]);
        assert!(matches!(expected_seats(None, false), Ok(ExpectedSource::Launchers)));
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        let refusal = read("[]", false).unwrap_err();
        assert!(refusal.contains("neither a plan nor a seating"), "{refusal}");
    }
}
