//! `seatmap-papers workers`.

mod inside;
mod model;

use crate::args::{Workers, WorkersMeasurement};
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::here;
use seatmap_console::output::{self, Destination};
use seatmap_experiments::cellule::costs::costs;
use seatmap_experiments::cellule::document::CelluleResult;
use seatmap_experiments::cellule::gains::{GainFigure, gains};
use seatmap_experiments::cellule::libspe2::gains::Curves;
use seatmap_experiments::cellule::libspe2::libspe2;
use seatmap_experiments::cellule::seats::on;
use seatmap_experiments::cellule::streams;
use seatmap_experiments::cellule::streams::StreamLink;
use seatmap_experiments::cellule::{CelluleError, WorkerSeats, WorkersDocument, compare};
use seatmap_os::cpus::{CpuError, Cpus};
use seatmap_papers_report::html;
use seatmap_papers_report::svg::{Chart, charts};
use std::time::Duration;

const TURNS: u32 = 9;
const LASTING: Duration = Duration::from_secs(3);

pub fn run(typed: &Workers) -> Result<(), CliError> {
    if typed.svg.is_some()
        && !matches!(
            typed.what,
            WorkersMeasurement::Gains | WorkersMeasurement::Libspe2 | WorkersMeasurement::Cellule
        )
    {
        return Err(CliError::input(
            "--svg draws gains by size: seatmap-papers workers gains|libspe2|cellule \
             --svg FILE",
        ));
    }
    check(typed)?;
    if typed.in_cell {
        return output::print_exact(&String::from_utf8_lossy(&inside::run(typed)?));
    }
    let picture = output::beside(typed.svg.as_deref(), None, "--svg")?;
    let page = output::page(typed.html.as_deref(), typed.json)?;
    let document = match typed.what {
        WorkersMeasurement::Cellule => model::simulated(typed)?,
        _ => on_host(typed)?,
    };
    match (picture, &document.found) {
        (Some(picture), CelluleResult::Gains(figures)) => {
            picture.write(&charts(&drawn(figures)))?
        }
        (Some(picture), CelluleResult::Libspe2(found)) => {
            picture.write(&charts(&of_programs("C programs", &found.figures)))?
        }
        (Some(picture), CelluleResult::Cellule(found)) => {
            picture.write(&charts(&of_programs("simulated", &found.figures)))?
        }
        _ => {}
    }
    if let Some(page) = &page {
        page.write(&html::workers(&document))?;
    }
    // Text after the page would become part of its file.
    if page == Some(Destination::Stdout) {
        return Ok(());
    }
    if typed.json { output::json(&document) } else { output::print(&document.text()) }
}

fn on_host(typed: &Workers) -> Result<WorkersDocument, CliError> {
    let cpus = match &typed.cpus {
        Some(cpus) => cpus.0.clone(),
        None => here::cpus_to_measure(None)?,
    };
    let found = measured(typed, &cpus)?;
    Ok(WorkersDocument::new(here::host_name(), cpus, found))
}

fn check(typed: &Workers) -> Result<(), CliError> {
    model::check(typed)?;
    let is_streams = typed.what == WorkersMeasurement::Streams;
    if typed.seconds.is_some() && !is_streams {
        return Err(CliError::input(
            "--seconds is for streams: seatmap-papers workers streams --seconds 10s",
        ));
    }
    if typed.ports && !is_streams {
        return Err(CliError::input(
            "--ports is for streams: seatmap-papers workers streams --ports",
        ));
    }
    let only_others = [("--turns", typed.turns.is_some()), ("--workers", typed.workers.is_some())];
    match only_others.iter().find(|(_, is_typed)| is_streams && *is_typed) {
        Some((option, _)) => Err(CliError::input(format!(
            "{option} is for calls, gains and programs: streams take none"
        ))),
        None => Ok(()),
    }
}

fn measured(typed: &Workers, cpus: &[u32]) -> Result<CelluleResult, CliError> {
    let workers = typed.workers.unwrap_or_else(|| WorkerSeats::usual_workers(cpus));
    let seats = WorkerSeats::new(cpus, workers).map_err(CliError::input)?;
    // A CPU outside this process's mask may still be in its cpuset.
    match Cpus::read().map_err(CliError::work)?.check(cpus) {
        Ok(()) | Err(CpuError::Forbidden { .. }) => {}
        Err(error) => return Err(CliError::input(error)),
    }
    let bar = Bar::new("measuring");
    let turns = typed.turns.unwrap_or(TURNS);
    let found = match typed.what {
        WorkersMeasurement::Calls => counted(cpus, workers, turns).map(CelluleResult::Calls),
        WorkersMeasurement::Program(workload) => {
            compare(workload, &seats, turns).map(|found| CelluleResult::Program(Box::new(found)))
        }
        WorkersMeasurement::Gains => {
            gains(cpus, workers, turns, |done, all| bar.show(done, all)).map(CelluleResult::Gains)
        }
        WorkersMeasurement::Libspe2 => libspe2(&seats, turns, |done, all| bar.show(done, all))
            .map(|it| CelluleResult::Libspe2(Box::new(it))),
        // `model` creates this document.
        WorkersMeasurement::Streams | WorkersMeasurement::Cellule => {
            let link = if typed.ports { StreamLink::Ports } else { StreamLink::Loopback };
            let lasting = typed.seconds.unwrap_or(LASTING);
            through(cpus, link, lasting).map(CelluleResult::Streams)
        }
    };
    found.map_err(CliError::work)
}

fn counted(
    cpus: &[u32],
    workers: usize,
    turns: u32,
) -> Result<Vec<seatmap_experiments::cellule::costs::WorkerCosts>, CelluleError> {
    // Seats are chosen for each number: the last worker may share the controller's CPU.
    (1..=workers).map(|workers| costs(&WorkerSeats::new(cpus, workers)?, turns)).collect()
}

fn through(
    cpus: &[u32],
    link: StreamLink,
    lasting: Duration,
) -> Result<Vec<streams::Through>, CelluleError> {
    on(cpus, || link.configurations().map(|one| streams::run(one, link, lasting)).collect())
}

fn drawn(figures: &[GainFigure]) -> Vec<Chart> {
    figures
        .iter()
        .flat_map(|figure| {
            [
                gain_chart(figure, "a thread a worker", true),
                gain_chart(figure, "a thread a task", false),
            ]
        })
        .collect()
}

fn gain_chart(figure: &GainFigure, over: &str, is_worker: bool) -> Chart {
    Chart {
        title: format!("{}: gain over {over}", figure.title),
        across: figure.across.to_owned(),
        up: "(Linux - runtime) / Linux in %".to_owned(),
        curves: figure.curves(is_worker),
    }
}

/// The gain of the cell's style of libspe2 over Linux's.
fn of_programs(which: &str, figures: &[Curves]) -> Vec<Chart> {
    figures
        .iter()
        .map(|figure| Chart {
            title: format!("{}: {which}, cell over Linux style", figure.title),
            across: figure.across.to_owned(),
            up: "(Linux - cell) / Linux in %".to_owned(),
            curves: figure.curves(),
        })
        .collect()
}
