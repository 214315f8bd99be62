//! The models bundled with Seatmap.

use crate::coherent::FORMAT;
use crate::figure::parsed;
use crate::{CoherentModel, ModelError};
use seatmap_data::document::Outline;
use seatmap_data::machine::{Description, catalog};
use seatmap_data::statistics::words::counted;
use std::sync::Arc;

/// The most bytes of a model's file: twice the size of a twin of 1024 cores with all single pairs.
/// The model in memory takes a hundred times as much.
const MOST_BYTES: usize = 8 << 20;
/// The formats of models of the published experiments, without the version.
const MOVED_FORMAT: &str = "seatmap-model/";
/// The command for models of the Cell.
pub const SUCCESSOR: &str = "models of the Cell are machines of 'seatmap-papers'";

/// Reads a model, or a description with a clock.
///
/// # Errors
/// [`ModelError`]; `name` is the name of the text in its message.
pub fn from_toml(name: &str, text: &str) -> Result<Arc<CoherentModel>, ModelError> {
    if text.len() > MOST_BYTES {
        return Err(ModelError::impossible(
            name,
            format!("it has {}; a model has at most {MOST_BYTES}", counted(text.len(), "byte")),
        ));
    }
    // The format decides which reader reports the other errors.
    let table: toml::Table = parsed(name, text)?;
    let format = table.get("format").and_then(toml::Value::as_str);
    if format.is_some() {
        let _: Outline = parsed(name, text)?;
    }
    match format {
        Some(FORMAT) => Ok(Arc::new(CoherentModel::from_toml(name, text)?)),
        Some(seatmap_data::machine::description::FORMAT) => described(name, text),
        Some(other) => Err(ModelError::impossible(
            name,
            format!("unknown format '{other}'; expected {FORMAT}{}", moved(other)),
        )),
        None => Err(ModelError::impossible(
            name,
            format!("the key 'format' is missing; give \"{FORMAT}\""),
        )),
    }
}

fn moved(format: &str) -> String {
    if format.starts_with(MOVED_FORMAT) { format!("; {SUCCESSOR}") } else { String::new() }
}

/// Whether a text declares itself a model, rather than a profile.
pub fn is_model(text: &str) -> bool {
    text.lines().any(|line| {
        // By lines: invalid TOML is still the model that its author meant.
        let value = line
            .trim_start()
            .strip_prefix("format")
            .map(|rest| rest.trim_start_matches([' ', '\t', '=', '"', '\'']));
        value.is_some_and(|value| {
            ["seatmap-coherent/", MOVED_FORMAT].iter().any(|format| value.starts_with(format))
        })
    })
}

fn described(name: &str, text: &str) -> Result<Arc<CoherentModel>, ModelError> {
    let description = Description::from_toml(text)
        .map_err(|error| ModelError::impossible(name, error.to_string()))?;
    let clock = description.frequency_ghz;
    // Figures of ordinary machines are in core cycles, and distances in nanoseconds.
    let clock = clock.ok_or_else(|| ModelError::impossible(name, "give frequency_ghz"))?;
    let model =
        CoherentModel::from_profile(&description.to_profile(), &description.summary, clock)?;
    Ok(Arc::new(CoherentModel { sources: description.sources.clone(), ..model }))
}

/// The model of a bundled machine; `None` if none has this name.
///
/// # Errors
/// [`ModelError`], if a bundled model is wrong: a bug in Seatmap.
pub fn load(name: &str) -> Option<Result<Arc<CoherentModel>, ModelError>> {
    Some(from_toml(name, catalog::find(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_errors_name_the_fault_of_each_format() {
        let ring = catalog::find("xeon-phi-5110p").unwrap();
        let refused = |text: &str| from_toml("m.toml", text).unwrap_err().to_string();
        let cases = [
            (
                ring.replace("seatmap-coherent/1", "seatmap-coherent/2"),
                "m.toml: unknown format 'seatmap-coherent/2'; ",
            ),
            (
                ring.replace("seatmap-coherent/1", "seatmap-model/2"),
                "m.toml: unknown format 'seatmap-model/2'; expected seatmap-coherent/1; models of",
            ),
            (ring.replace("format = ", "# "), "m.toml: the key 'format' is missing"),
            (
                ring.replace("\"ring\"", "\"torus\""),
                "m.toml: unknown fabric.kind 'torus'; expected ring, mesh or levels",
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
    fn every_bundled_model_is_valid() {
        for name in catalog::names() {
            let model = load(name).unwrap().unwrap();
            assert_eq!(model.name, name);
            assert!(model.figures.all().all(|(_, figure)| !figure.source.is_empty()));
        }
    }
}
