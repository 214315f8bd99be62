//! The models that come with Seatmap, compiled into the binary.

use crate::figure::syntax;
use crate::{CellModel, CoherentModel, ModelError, SimError};
use seatmap_document::Outline;
use seatmap_machine::{Description, Profile, catalog};
use seatmap_statistics::words::counted;
use std::sync::Arc;

/// The most bytes of a model's file. A twin of 1024 cores with all its single pairs has half as
/// many, and the model in memory takes a hundred times as much.
const MOST_BYTES: usize = 8 << 20;

/// A model of either kind.
#[derive(Clone, Debug)]
pub enum Model {
    /// A Cell Broadband Engine.
    Cell(Arc<CellModel>),
    /// A machine with coherent caches.
    Coherent(Arc<CoherentModel>),
}

impl Model {
    /// Reads a model of any kind.
    ///
    /// # Errors
    /// [`ModelError`]; `name` is the name of the text in its message.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ModelError> {
        if text.len() > MOST_BYTES {
            return Err(impossible(
                name,
                format!("it has {}; a model has at most {MOST_BYTES}", counted(text.len(), "byte")),
            ));
        }
        // The format is read on its own first: it decides whose reader names the errors of the
        // rest.
        let table: toml::Table =
            toml::from_str(text).map_err(|error| syntax(name, text, &error))?;
        let format = table.get("format").and_then(toml::Value::as_str);
        if format.is_some() {
            let _: Outline = toml::from_str(text).map_err(|error| syntax(name, text, &error))?;
        }
        match format {
            Some(crate::coherent::FORMAT) => {
                Ok(Model::Coherent(Arc::new(CoherentModel::from_toml(name, text)?)))
            }
            Some(seatmap_machine::description::FORMAT) => described(name, text),
            Some(crate::cell_be::model::FORMAT) => {
                Ok(Model::Cell(Arc::new(CellModel::from_toml(name, text)?)))
            }
            Some(other) => Err(impossible(
                name,
                format!(
                    "format is '{other}'; {} and {} can be run",
                    crate::coherent::FORMAT,
                    crate::cell_be::model::FORMAT
                ),
            )),
            None => Err(impossible(
                name,
                format!("it has no format, such as format = \"{}\"", crate::coherent::FORMAT),
            )),
        }
    }

    /// The machine in the form of any other machine's profile: topology, distances in virtual time,
    /// homes.
    ///
    /// # Errors
    /// [`SimError`], if the model cannot be run.
    pub fn profile(&self) -> Result<Profile, SimError> {
        match self {
            Model::Cell(model) => crate::cell_be::profile(model),
            Model::Coherent(model) => crate::coherent::profile(model),
        }
    }

    /// The name on the command line.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Model::Cell(model) => &model.name,
            Model::Coherent(model) => &model.name,
        }
    }
}

fn impossible(name: &str, message: String) -> ModelError {
    ModelError::Impossible { name: name.to_owned(), message }
}

/// Whether a text declares itself a model, rather than a profile.
#[must_use]
pub fn is_model(text: &str) -> bool {
    text.lines().any(|line| {
        // By lines and not as TOML: a file that has ceased to be TOML is still the model that its
        // author takes it for.
        let value = line
            .trim_start()
            .strip_prefix("format")
            .map(|rest| rest.trim_start_matches([' ', '\t', '=', '"', '\'']));
        value.is_some_and(|value| {
            ["seatmap-coherent/", "seatmap-model/"].iter().any(|format| value.starts_with(format))
        })
    })
}

/// A hierarchical machine from a description, which must give its clock.
fn described(name: &str, text: &str) -> Result<Model, ModelError> {
    let description =
        Description::from_toml(text).map_err(|error| impossible(name, error.to_string()))?;
    let clock = description.frequency_ghz();
    // Figures of ordinary machines are core cycles, and distances nanoseconds.
    let clock = clock
        .ok_or_else(|| impossible(name, "give frequency_ghz, so that it can be run".to_owned()))?;
    let model =
        CoherentModel::from_profile(&description.to_profile(), description.summary(), clock)?;
    Ok(Model::Coherent(Arc::new(CoherentModel {
        sources: description.sources().to_vec(),
        ..model
    })))
}

/// The names of all bundled machines that can be run.
pub fn names() -> impl Iterator<Item = &'static str> {
    catalog::names()
}

/// A bundled machine that can be run; `None` if none has this name.
///
/// # Errors
/// [`ModelError`], if a bundled model is wrong: a bug in Seatmap.
pub fn load(name: &str) -> Option<Result<Model, ModelError>> {
    Some(Model::from_toml(name, catalog::find(name)?))
}

/// A bundled Cell; `None` if none has this name.
///
/// # Errors
/// As [`load`].
pub fn cell(name: &str) -> Option<Result<Arc<CellModel>, ModelError>> {
    match load(name)? {
        Ok(Model::Cell(model)) => Some(Ok(model)),
        Ok(Model::Coherent(_)) => None,
        Err(error) => Some(Err(error)),
    }
}

/// The names of the bundled Cells.
pub fn cells() -> impl Iterator<Item = &'static str> {
    names().filter(|name| cell(name).is_some())
}

/// A bundled coherent machine; `None` if none has this name.
///
/// # Errors
/// As [`load`].
pub fn coherent(name: &str) -> Option<Result<Arc<CoherentModel>, ModelError>> {
    match load(name)? {
        Ok(Model::Coherent(model)) => Some(Ok(model)),
        Ok(Model::Cell(_)) => None,
        Err(error) => Some(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_said_of_its_own_kind() {
        let ring = catalog::find("xeon-phi-5110p").unwrap();
        let refused = |text: &str| Model::from_toml("m.toml", text).unwrap_err().to_string();
        let cases = [
            (
                ring.replace("seatmap-coherent/1", "seatmap-coherent/2"),
                "m.toml: format is 'seatmap-coherent/2'; ",
            ),
            (ring.replace("format = ", "# "), "m.toml: it has no format"),
            (
                ring.replace("\"ring\"", "\"torus\""),
                "m.toml: fabric.kind is 'torus'; ring, mesh and levels are known",
            ),
            (ring.replace("stops = 64", "stops = 18446744073709551615"), "m.toml:"),
            (ring.replace("stops = 64", "stops ="), "m.toml:22:"),
            (" ".repeat(MOST_BYTES + 1), "m.toml: it has 8388609 bytes"),
        ];
        for (text, told) in cases {
            let error = refused(&text);
            assert!(error.starts_with(told) && !error.contains("spes"), "{error}");
        }
    }

    #[test]
    fn every_bundled_model_is_sound() {
        for name in names() {
            let model = load(name).unwrap().unwrap();
            assert_eq!(model.name(), name);
            let figures: Vec<_> = match &model {
                Model::Cell(model) => model.figures.all().collect(),
                Model::Coherent(model) => model.figures.all().collect(),
            };
            assert!(figures.iter().all(|(_, figure)| !figure.source.is_empty()));
        }
    }
}
