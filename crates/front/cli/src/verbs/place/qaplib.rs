//! `seatmap place --qaplib`.

use crate::args::PlaceArgs;
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_console::waiting::Waiting;
use seatmap_console::{here, pattern_input};
use seatmap_measure::appraise::QapRequest;
use seatmap_report::qap;
use std::path::Path;

pub fn run(typed: &PlaceArgs, file: &Path) -> Result<(), CliError> {
    let request = QapRequest {
        name: file.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        instance: pattern_input::instance(file)?,
        time: typed.time(),
        threads: typed.threads(),
        seed: typed.seed,
        tool: here::tool(),
    };
    let waiting = Waiting::new("solving", request.time.seconds());
    let solution = request.solve();
    drop(waiting);
    if typed.forms.json {
        output::json(&solution)
    } else {
        output::print(&qap::text(&file.display().to_string(), &solution))
    }
}
