//! Twins of published machines: how like they are, and how long fit and a simulated placement take.

use crate::row::Row;
use seatmap_machine::import;
use seatmap_pattern::Pattern;
use seatmap_place::search::Limit;
use seatmap_place::{Judge, PlaceRequest};
use seatmap_sim::{CoherentBed, CoherentModel};
use seatmap_twin::Needs;
use seatmap_workload::{Handoffs, handoffs_ns};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Tasks to place, where there are as many PUs.
const TASKS: usize = 64;
/// Starts of the local search: a search ends, however slow the computer is.
const KICKS: u64 = 10;
/// Rounds of messages along the pattern.
const ROUNDS: u32 = 4;
/// The longest time from the file to the placement.
const LIMIT_S: f64 = 20.0;
/// The largest difference between a twin's distances and its original's.
const LIMIT_NS: f64 = 0.5;
const LIMIT_PERCENT: f64 = 1.0;

/// A row for each matrix that can be read.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(folder) = seatmap_needs::published("core-to-core") else { return Ok(Vec::new()) };
    let mut files: Vec<_> =
        std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
    files.iter().filter_map(|path| row(path).transpose()).collect()
}

fn row(path: &Path) -> Result<Option<Row>, Box<dyn Error>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let began = Instant::now();
    // The folder of published files holds a console log as well, with the ending of a matrix.
    let Ok(profile) = import::read(&std::fs::read(path)?, &name, None) else {
        eprintln!("bench: skipped {name}: no matrix");
        return Ok(None);
    };
    let twin = seatmap_twin::fit(&profile, Needs::default())?;
    placed(&Arc::new(twin.model))?;
    let seconds = began.elapsed().as_secs_f64();
    let all = &twin.report.all;
    // Short distances are held to nanoseconds, long ones to a share.
    let is_like = all.rmse_ns <= LIMIT_NS || all.rmse_percent <= LIMIT_PERCENT;
    Ok(Some(Row::held(
        format!("twin of {name}, fitted, and up to {TASKS} tasks placed"),
        format!("RMSE {:.3} ns, {:.3} %; {seconds:.1} s", all.rmse_ns, all.rmse_percent),
        format!("RMSE <= {LIMIT_NS} ns or {LIMIT_PERCENT} %; < {LIMIT_S} s"),
        is_like && seconds < LIMIT_S,
    )))
}

/// Places a ring by runs.
fn placed(model: &Arc<CoherentModel>) -> Result<(), Box<dyn Error>> {
    let profile = seatmap_sim::coherent::profile(model)?;
    let pattern: Pattern =
        seatmap_pattern::generate(&format!("ring:{}", TASKS.min(model.topology.pus.len())))?;
    let program = Handoffs::along(&pattern, 0, ROUNDS);
    let mut request = PlaceRequest::new(&profile, &pattern);
    request.limit = Limit::kicks(KICKS);
    request.place_by(Judge {
        time_ns: &|placement| {
            handoffs_ns(&mut CoherentBed::new(Arc::clone(model)), &program, placement)
                .map_err(|error| error.to_string())
        },
        // No bound is known, so that the search takes all its kicks.
        floor_ns: 0.0,
    })?;
    Ok(())
}
