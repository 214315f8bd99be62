//! `seatmap machines`.

use crate::args::Machines;
use crate::error::CliError;
use crate::output;
use seatmap_machine::{Description, catalog};
use seatmap_sim::catalog::Model;
use serde::Serialize;

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    format: &'static str,
    machines: Vec<Entry>,
}

/// A bundled machine.
#[derive(Serialize)]
struct Entry {
    machine: &'static str,
    /// `profile`: distances to place on; `model`: what can run programs as well.
    kind: &'static str,
    pus: usize,
    summary: String,
    sources: Vec<String>,
}

/// Lists the bundled machines with what they are.
pub fn run(machines: &Machines) -> Result<(), CliError> {
    let all: Vec<Entry> = profiles().chain(models()).collect();
    if machines.json {
        return output::json(&Document { format: "seatmap-machines/1", machines: all });
    }
    let longest = all.iter().map(|entry| entry.machine.len()).max().unwrap_or(0);
    let line = |entry: &Entry| {
        let model = if entry.kind == "model" { " (model)" } else { "" };
        format!("{:longest$}  {:>3} PUs  {}{model}\n", entry.machine, entry.pus, entry.summary)
    };
    output::print(&all.iter().map(line).collect::<String>())
}

fn profiles() -> impl Iterator<Item = Entry> {
    let is_model = |name: &&str| seatmap_sim::catalog::names().any(|model| model == *name);
    catalog::names().filter(move |name| !is_model(name)).filter_map(|name| {
        let machine = Description::from_toml(catalog::find(name)?).ok()?;
        Some(Entry {
            machine: name,
            kind: "profile",
            pus: machine.shape().pus() as usize,
            summary: machine.summary().to_owned(),
            sources: machine.sources().to_vec(),
        })
    })
}

/// Of a Cell only the workers count, as on its profile.
fn models() -> impl Iterator<Item = Entry> {
    seatmap_sim::catalog::names().filter_map(|name| {
        let (pus, summary, sources) = match seatmap_sim::catalog::load(name)?.ok()? {
            Model::Cell(model) => (model.spes(), model.summary.clone(), model.sources.clone()),
            Model::Coherent(model) => (model.topology.pus.len(), model.summary.clone(), model.sources.clone()),
        };
        Some(Entry { machine: name, kind: "model", pus, summary, sources })
    })
}
