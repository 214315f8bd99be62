//! Reads a plan from a file.

use crate::error::CliError;
use crate::here::host_name;
use crate::input;
use seatmap_plan::Plan;
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
    let text = std::str::from_utf8(bytes).map_err(|error| {
        CliError::at(path, format!("the file is not text, as a plan is: {error}"))
    })?;
    if is_foreign(bytes) {
        return Err(CliError::at(
            path,
            "this is not a plan; 'seatmap place --pattern PATTERN -o FILE' writes one",
        ));
    }
    Plan::from_json(text).map_err(|error| CliError::at(path, error))
}

/// Whether this is another kind of file than Seatmap's documents: it is not a JSON object, or a
/// whole one without a format. A document that was cut or damaged is not: the place of the damage
/// helps there.
fn is_foreign(bytes: &[u8]) -> bool {
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    !is_object || is_whole && !seatmap_document::is_kind(bytes, "")
}
