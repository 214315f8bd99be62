//! `seatmap-papers workers cellule`: both styles on a Cell model.

use super::TURNS;
use crate::args::{Workers, WorkersMeasurement};
use crate::figures::FigureChanges;
use crate::machine::{self, ExperimentRunner};
use seatmap_cell_sim::{CellBed, CellModel};
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_experiments::cellule::WorkersDocument;
use seatmap_experiments::cellule::document::CelluleResult;
use seatmap_experiments::cellule::simulated::inputs::Inputs;
use seatmap_experiments::cellule::simulated::{CelluleMachine, simulated as simulate};
use seatmap_machines::catalog::Capability;
use std::sync::Arc;

const SEED: u64 = 1;

pub fn check(typed: &Workers) -> Result<(), CliError> {
    let is_model = typed.what == WorkersMeasurement::Cellule;
    let is_changed = !typed.figures.set.is_empty();
    let of_models =
        [("--on", typed.on.is_some()), ("--seed", typed.seed.is_some()), ("--set", is_changed)];
    let of_host = [("--cpus", typed.cpus.is_some())];
    let refused = if is_model { &of_host[..] } else { &of_models[..] };
    match refused.iter().find(|(_, is_typed)| *is_typed) {
        Some((option, _)) if is_model => Err(CliError::input(format!(
            "{option} is for this computer: seatmap-papers workers cellule --on cell-qs20"
        ))),
        Some((option, _)) => Err(CliError::input(format!(
            "{option} is for cellule: seatmap-papers workers cellule --on cell-qs20"
        ))),
        None => Ok(()),
    }
}

pub fn simulated(typed: &Workers) -> Result<WorkersDocument, CliError> {
    let Some(name) = &typed.on else {
        return Err(CliError::input(
            "cellule runs on a model of the Cell: seatmap-papers workers cellule --on cell-qs20",
        ));
    };
    let (inputs, of_model) = changed(&typed.figures)?;
    let ExperimentRunner::CellBe(model) =
        machine::runner(name, Capability::RunsChannels, &of_model)?
    else {
        return Err(CliError::input(format!(
            "{name} is not a model of the Cell; try --on cell-qs20"
        )));
    };
    let spes = spes(&model, typed.workers)?;
    let machine =
        CelluleMachine { ppe: model.ppe(), spes: &spes, bed: || CellBed::new(Arc::clone(&model)) };
    let bar = Bar::new("simulating");
    let turns = typed.turns.unwrap_or(TURNS);
    let seed = typed.seed.unwrap_or(SEED);
    let found = simulate(&machine, &inputs, turns, seed, |done, all| bar.show(done, all))
        .map_err(CliError::work)?;
    let pus = [&[model.ppe()][..], &spes].concat();
    Ok(WorkersDocument::new(model.name.clone(), pus, CelluleResult::Cellule(Box::new(found))))
}

/// Splits the changes into inputs of the experiment and figures of the model.
fn changed(changes: &FigureChanges) -> Result<(Inputs, FigureChanges), CliError> {
    let mut inputs = Inputs::default();
    let mut of_model = FigureChanges { set: Vec::new() };
    for change in &changes.set {
        match inputs.clone().with_named(&change.key, change.value) {
            Some(_) if !(0.0..=1e9).contains(&change.value) => {
                return Err(CliError::input(format!(
                    "--set {}={}: write 0 to 1000000000",
                    change.key, change.value
                )));
            }
            Some(with_change) => inputs = with_change,
            None => of_model.set.push(change.clone()),
        }
    }
    Ok((inputs, of_model))
}

/// The SPEs to use, all on the first chip, as in the paper.
fn spes(model: &CellModel, count: Option<usize>) -> Result<Vec<u32>, CliError> {
    let most = model.spes.len();
    let count = count.unwrap_or(most);
    if !(1..=most).contains(&count) {
        return Err(CliError::input(format!(
            "--workers {count}: a chip of {} has SPEs for 1 to {most}",
            model.name
        )));
    }
    Ok((0..count as u32).collect())
}
