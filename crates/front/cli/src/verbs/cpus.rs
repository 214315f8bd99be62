//! `seatmap cpus`.

use crate::args::CpusArgs;
use seatmap_console::error::CliError;
use seatmap_console::outputs::Outputs;
use seatmap_console::{input, output};
use seatmap_launch::count::CpuCount;
use seatmap_launch::named::NamedCpus;
use seatmap_launch::notation;
use seatmap_launch::sets::or_all;
use seatmap_report::cpus;

pub fn run(typed: &CpusArgs) -> Result<(), CliError> {
    let outputs = Outputs::new(typed.json, None, None)?;
    let machine = input::machine(&typed.on)?;
    let computer = input::cpus_of(&machine)?;
    let words = match &typed.words {
        Some(words) if typed.or_all => {
            let accepted = or_all(words, &|| Ok(computer.clone())).map_err(CliError::input)?;
            accepted.remarks.iter().for_each(|remark| output::tell(remark));
            Some(accepted.words)
        }
        words => words.clone(),
    };
    let limits =
        if machine.is_host() { Some(CpuCount::of_self().map_err(CliError::work)?) } else { None };
    let named = NamedCpus::of(&machine.name, words.as_deref(), &computer, limits)
        .map_err(CliError::input)?;
    if let Some(write) = typed.notation.as_deref().and_then(notation::writer) {
        return output::print_exact(&write(&named.set()).map_err(CliError::input)?);
    }
    let page = match typed {
        CpusArgs { count: true, .. } => cpus::count(&named),
        CpusArgs { why: true, .. } => cpus::why(&named),
        _ => cpus::list(&named),
    };
    outputs.show(&named, &page)
}
