//! The bundled machines.

use seatmap_data::machine::{Description, catalog};
use seatmap_sim::ModelError;

pub use catalog::{find, names, suggest};

pub(crate) fn description(name: &str, text: &str) -> Result<Description, ModelError> {
    Description::from_toml(text).map_err(|error| ModelError::impossible(name, error.to_string()))
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
