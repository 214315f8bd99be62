//! The bundled machines.

use crate::catalog::machine::MachineKind;
use seatmap_data::machine::Description;
use seatmap_data::machine::catalog;
use seatmap_sim::ModelError;
use seatmap_sim::catalog::{from_toml, is_model};

pub use catalog::{names, suggest};

/// A bundled machine; `None` if none has this name.
///
/// # Errors
/// The bundled file is wrong: a bug in Seatmap.
pub fn open(name: &str) -> Result<Option<MachineKind>, ModelError> {
    let Some(text) = catalog::find(name) else { return Ok(None) };
    if is_model(text) {
        return from_toml(name, text).map(|model| Some(MachineKind::Model(model)));
    }
    let profile = description(name, text)?.to_profile();
    let model = from_toml(name, text)?;
    Ok(Some(MachineKind::Description(Box::new(profile), Some(model))))
}

pub(crate) fn description(name: &str, text: &str) -> Result<Description, ModelError> {
    Description::from_toml(text).map_err(|error| ModelError::Impossible {
        name: name.to_owned(),
        message: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Capability, Machine};

    #[test]
    fn every_bundled_machine_opens_and_runs() {
        for name in names() {
            let machine = Machine::bundled(name).unwrap();
            assert_eq!(machine.name, name);
            assert!(
                machine.require(Capability::Distances).is_ok()
                    && machine.runner(Capability::RunsChannels).is_ok()
            );
        }
    }
}
