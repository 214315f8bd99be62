//! `seatmap cell`.

mod meant;
mod page;
pub mod program;

use crate::args::{CellArgs, CellVerb};
use crate::myself;
use seatmap_cell::{CellHost, GuardedHost, NoiseJudge};
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_report::counted;

pub fn run(typed: &CellArgs) -> Result<(), CliError> {
    let verb = &typed.verb;
    let host = CellHost::here(myself::cell_guardian()).map_err(CliError::work)?;
    if !matches!(verb, CellVerb::Restore) {
        // Every other command finishes what a killed program left.
        output::tell_each(host.take_over()?);
    }
    on_host(&host, verb)
}

fn on_host(host: &CellHost, verb: &CellVerb) -> Result<(), CliError> {
    match verb {
        CellVerb::Create(typed) => {
            let request = meant::cell(host, typed)?;
            let mut judge = (!typed.cell.untested).then(judge);
            let record = seatmap_cell::create(host, &request, judge.as_deref_mut());
            page::cell(&record?, &[], typed.json)
        }
        CellVerb::List { json } => page::cells(&seatmap_cell::examine_all(host)?, *json),
        CellVerb::Show(typed) => {
            let (record, faults) = seatmap_cell::examine(host, &typed.name)?;
            page::cell(&record, &faults, typed.json)
        }
        CellVerb::Verify(typed) => {
            let (record, faults) = seatmap_cell::examine(host, &typed.name)?;
            page::verdict(&record, &faults, typed.json)
        }
        CellVerb::Destroy { name } => page::left(&seatmap_cell::destroy(host, name)?),
        CellVerb::Renew(typed) => {
            let record = seatmap_cell::renew(host, &typed.name, typed.ttl)?;
            page::cell(&record, &[], typed.json)
        }
        CellVerb::Run(typed) => program::run(host, typed),
        CellVerb::Restore => restore(host),
    }
}

fn restore(host: &CellHost) -> Result<(), CliError> {
    let restored = seatmap_cell::restore(host)?;
    output::tell_each(&restored.lost);
    output::tell(&format!("{} undone", counted(restored.cells, "cell")));
    page::left(&restored.left)
}

fn judge() -> Box<NoiseJudge<'static>> {
    Box::new(|cpus| Ok(seatmap_health::noise::measure_briefly(&cpus.0)?.worst_stolen_percent()))
}
