//! Chooses the machine below the library: `SEATMAP_SPE`.

use crate::error::SpeError;
use crate::pool;
use crate::simulated::driver;
use crate::simulated::request::Driver;
use seatmap_cell_sim::CellModel;
use seatmap_cell_sim::catalog;
use std::sync::{Arc, OnceLock};

/// The machine that runs the programs.
#[derive(Clone, Debug)]
pub enum SpeMachine {
    /// This computer.
    Host,
    /// A simulated Cell.
    Simulated(Arc<Driver>),
}

/// The environment's machine, chosen once for the process.
///
/// # Errors
/// [`SpeError::Machine`], at every call.
pub fn machine() -> Result<&'static SpeMachine, SpeError> {
    static MACHINE: OnceLock<Result<SpeMachine, String>> = OnceLock::new();
    let found = MACHINE.get_or_init(|| open(std::env::var("SEATMAP_SPE").ok().as_deref()));
    found.as_ref().map_err(|words| SpeError::Machine(words.clone()))
}

/// The simulated Cell's driver, if used.
pub fn simulated() -> Option<&'static Arc<Driver>> {
    match machine() {
        Ok(SpeMachine::Simulated(driver)) => Some(driver),
        _ => None,
    }
}

/// Chips and SPEs; on this computer, one chip and the SPEs' CPUs.
///
/// # Errors
/// [`SpeError::Machine`].
pub fn processors() -> Result<(usize, usize), SpeError> {
    Ok(match machine()? {
        SpeMachine::Host => (1, pool::seats()?),
        SpeMachine::Simulated(driver) => (driver.model().chips, driver.model().spes()),
    })
}

fn open(setting: Option<&str>) -> Result<SpeMachine, String> {
    match setting {
        None | Some("" | "host") => Ok(SpeMachine::Host),
        Some(name) => driver::start(&model(name)?).map(SpeMachine::Simulated),
    }
}

fn model(name: &str) -> Result<Arc<CellModel>, String> {
    if let Some(found) = catalog::load(name) {
        return found.map_err(|error| format!("SEATMAP_SPE={name}: {error}"));
    }
    if !name.contains(['/', '.']) {
        return Err(unknown(name));
    }
    let text =
        std::fs::read_to_string(name).map_err(|error| format!("SEATMAP_SPE={name}: {error}"))?;
    let model = CellModel::from_toml(name, &text);
    model.map(Arc::new).map_err(|error| format!("SEATMAP_SPE={error}"))
}

fn unknown(name: &str) -> String {
    let known = catalog::names().collect::<Vec<_>>().join(", ");
    format!("SEATMAP_SPE={name}: expected host, {}, or the file of a model of the Cell", known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cell_models_are_accepted() {
        assert_eq!(model("cell-qs20").unwrap().spes(), 16);
        for name in ["cell-ps4", "xeon-phi-5110p", "./none.toml", "Host"] {
            let words = model(name).unwrap_err();
            assert!(words.starts_with(&format!("SEATMAP_SPE={name}: ")), "{words}");
        }
        assert!(
            model("ps3")
                .unwrap_err()
                .contains("expected host, cell-ps3, cell-qs20, cell-qs22, or the file")
        );
        assert!(
            matches!(open(None), Ok(SpeMachine::Host))
                && matches!(open(Some("host")), Ok(SpeMachine::Host))
        );
    }
}
