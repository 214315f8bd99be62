//! The machines on which experiments run.

use crate::figures::FigureChanges;
use seatmap_cell_sim::{CellModel, catalog};
use seatmap_console::error::CliError;
use seatmap_console::input;
use seatmap_data::document::content_hash;
use seatmap_machines::catalog::Capability;
use seatmap_os::CpuList;
use seatmap_sim::CoherentModel;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum ExperimentRunner {
    Host,
    CellBe(Arc<CellModel>),
    Coherent(Arc<CoherentModel>),
}

impl From<Option<Arc<CoherentModel>>> for ExperimentRunner {
    fn from(model: Option<Arc<CoherentModel>>) -> Self {
        model.map_or(ExperimentRunner::Host, ExperimentRunner::Coherent)
    }
}

impl ExperimentRunner {
    pub fn check_cpus(&self, named: Option<&CpuList>) -> Result<(), CliError> {
        match (named, self) {
            (None, _) | (_, ExperimentRunner::Host) => Ok(()),
            _ => {
                Err(CliError::input("--cpus names CPUs of this computer; leave it out on a model"))
            }
        }
    }

    /// Rejects ranks on this computer: ranks on one node would disturb each other's threads, and
    /// several nodes are different computers.
    pub fn check_ranks(&self) -> Result<(), CliError> {
        match self {
            ExperimentRunner::Host => Err(CliError::input(
                "--spread needs a model, such as --on cell-ps3: real threads are timed on one \
                 computer",
            )),
            _ => Ok(()),
        }
    }

    /// A hash of a model's content, so that a rank with a different model of the same name is
    /// detected. Empty for this computer.
    pub fn model_hash(&self) -> String {
        match self {
            ExperimentRunner::CellBe(model) => content_hash(&**model),
            ExperimentRunner::Coherent(model) => {
                content_hash(&(&model.name, &model.topology, &model.figures))
            }
            ExperimentRunner::Host => String::new(),
        }
    }
}

/// Opens a machine with a capability and changed figures.
///
/// # Errors
/// The machine does not exist or lacks the capability, the figures are not a Cell model's, or it
/// cannot run with them.
pub fn runner(
    name: &str,
    what: Capability,
    changes: &FigureChanges,
) -> Result<ExperimentRunner, CliError> {
    match opened(name)? {
        Opened::CellBe(_) if what == Capability::RunsLines => Err(CliError::input(format!(
            "{name} is a model of the Cell: it cannot run programs that share cache lines; \
             'seatmap-papers place' runs messages on it"
        ))),
        Opened::CellBe(model) => changed(&model, changes).map(ExperimentRunner::CellBe),
        Opened::Other(_) if !changes.set.is_empty() => Err(CliError::input(format!(
            "--set changes figures of a Cell model, but {name} is not one"
        ))),
        Opened::Other(machine) => Ok(machine.runner(what).map_err(CliError::input)?.into()),
    }
}

/// Opens a Cell model with changed figures.
///
/// # Errors
/// The machine does not exist or is not a Cell model, or it cannot run with these figures.
pub fn cell(name: &str, changes: &FigureChanges) -> Result<Arc<CellModel>, CliError> {
    match opened(name)? {
        Opened::CellBe(model) => changed(&model, changes),
        Opened::Other(_) => {
            Err(CliError::input(format!("{name} is not a model of the Cell; try --on cell-qs20")))
        }
    }
}

fn changed(model: &CellModel, changes: &FigureChanges) -> Result<Arc<CellModel>, CliError> {
    changes
        .set
        .iter()
        .try_fold(model.clone(), |model, change| model.with_figure(&change.key, change.value))
        .map(Arc::new)
        .map_err(CliError::input)
}

enum Opened {
    CellBe(Arc<CellModel>),
    Other(seatmap_machines::catalog::Machine),
}

fn opened(name: &str) -> Result<Opened, CliError> {
    let path = Path::new(name);
    // A file of that name in the working directory comes first. Stdin can be read only once.
    if input::is_file(name) && !path.is_dir() {
        let bytes = input::bytes(path)?;
        return match std::str::from_utf8(&bytes) {
            Ok(text) if catalog::is_model(text) => {
                let model = CellModel::from_toml(name, text).map_err(CliError::input)?;
                Ok(Opened::CellBe(Arc::new(model)))
            }
            _ => input::machine_in(name, &bytes).map(Opened::Other),
        };
    }
    match catalog::load(name) {
        Some(model) => model.map(Opened::CellBe).map_err(CliError::input),
        None if name.starts_with("cell-") => Err(CliError::input(format!(
            "no machine called '{name}' comes with Seatmap; the models of the Cell are {}",
            catalog::names().collect::<Vec<_>>().join(", ")
        ))),
        None => input::machine(name).map(Opened::Other),
    }
}
