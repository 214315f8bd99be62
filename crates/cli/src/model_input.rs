//! From a name or a file to a model that can be run.

use crate::error::{AtFile, CliError};
use crate::input;
use seatmap_sim::SimError;
use seatmap_sim::catalog::{self, Model};
use std::path::Path;

/// The model of this name, or in this file.
///
/// # Errors
/// Neither; the error says what can be run.
pub fn model(name: &str) -> Result<Model, CliError> {
    if let Some(model) = catalog::load(name) {
        return model.map_err(CliError::input);
    }
    if !input::is_file(name) {
        let known: Vec<&str> = catalog::names().collect();
        return Err(CliError::input(format!(
            "'{name}' cannot be run: that takes a model, such as {}, or a file of one",
            known.join(", ")
        )));
    }
    let text = std::fs::read_to_string(Path::new(name))
        .map_err(|error| CliError::input(AtFile::new(Path::new(name), error)))?;
    if text.trim_start().starts_with('{') {
        return Err(CliError::input(format!(
            "{name} is a profile: it says how far apart cores are, and not how they work; only models can be run"
        )));
    }
    Model::from_toml(name, &text).map_err(CliError::input)
}

/// Whose fault a failed run is: what was asked for, or the work itself.
pub fn failed(error: SimError) -> CliError {
    match error {
        SimError::Refused { .. } | SimError::Seat(_) => CliError::input(error),
        _ => CliError::work(error),
    }
}
