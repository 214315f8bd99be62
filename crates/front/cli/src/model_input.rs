//! From a name or a file to a model that can be run.

use crate::error::CliError;
use crate::input;
use seatmap_machine::import::Format;
use seatmap_sim::catalog::{self, Model};
use seatmap_sim::{CoherentModel, SimError};
use std::path::Path;
use std::sync::Arc;

/// The model of this name, or in this file.
///
/// # Errors
/// Neither; the error says what can be run.
pub fn model(name: &str) -> Result<Model, CliError> {
    if let Some(model) = catalog::load(name) {
        return model.map_err(CliError::input);
    }
    if !input::is_file(name) && seatmap_machine::catalog::find(name).is_some() {
        return Err(CliError::input(format!(
            "'{name}' cannot be run: that takes a model, such as 'seatmap model fit {name} -o twin.toml' makes of it"
        )));
    }
    if !input::is_file(name) {
        let known: Vec<&str> = catalog::names().collect();
        return Err(CliError::input(format!(
            "'{name}' cannot be run: that takes a model, such as {}, or a file of one",
            known.join(", ")
        )));
    }
    let bytes = input::bytes(Path::new(name))?;
    let is_described = || Format::recognise(&String::from_utf8_lossy(&bytes), name) == Some(Format::Description);
    match model_in(name, &bytes) {
        Some(model) => model,
        None if is_described() => Model::from_toml(name, &String::from_utf8_lossy(&bytes)).map_err(CliError::input),
        // What cannot be understood is no profile either.
        None => Err(input::machine_in(name, &bytes).err().unwrap_or_else(|| {
            CliError::input(format!(
                "{name} is a profile: it says how far apart cores are, and not how they work; \
             'seatmap model fit {name} -o twin.toml' makes a model of it, which can be run"
            ))
        })),
    }
}

/// The model in a file that says it is one; `None` where it does not.
pub fn model_in(name: &str, bytes: &[u8]) -> Option<Result<Model, CliError>> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| catalog::is_model(text))?;
    Some(Model::from_toml(name, text).map_err(CliError::input))
}

/// The model of this name or in this file; `None` for anything else.
///
/// # Errors
/// A model's file that is wrong.
pub fn known(name: &str) -> Result<Option<Model>, CliError> {
    match catalog::load(name) {
        Some(model) => model.map(Some).map_err(CliError::input),
        None if name != "-" && Path::new(name).is_file() => model_in(name, &input::bytes(Path::new(name))?).transpose(),
        None => Ok(None),
    }
}

/// The coherent machine of this name or in this file; `None` for anything else.
///
/// # Errors
/// A model's file that is wrong.
pub fn coherent(name: &str) -> Result<Option<Arc<CoherentModel>>, CliError> {
    Ok(known(name)?.and_then(|model| match model {
        Model::Coherent(model) => Some(model),
        Model::Cell(_) => None,
    }))
}

/// Whose fault a failed run is: what was asked for, or the work itself.
pub fn failed(error: SimError) -> CliError {
    match error {
        SimError::Refused { .. } | SimError::Seat(_) => CliError::input(error),
        _ => CliError::work(error),
    }
}
