//! `seatmap machines`.

use crate::args::Machines;
use seatmap_catalog::{Capability, Machine, MachineKind, bundled};
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_machine::Description;
use seatmap_sim::catalog::Model;
use serde::Serialize;

/// The machines that come with Seatmap: the output of `seatmap machines --json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Document {
    /// Name and version of the format.
    #[cfg_attr(test, schemars(extend("const" = "seatmap-machines/1")))]
    format: &'static str,
    /// The machines, in alphabetical order.
    machines: Vec<Entry>,
}

/// A bundled machine.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Entry {
    /// The name by which the command line calls it.
    machine: &'static str,
    /// `profile`: a description, whose distances are written down; `model`: distances come from
    /// running it.
    #[cfg_attr(test, schemars(extend("enum" = ["profile", "model"])))]
    kind: &'static str,
    /// Hardware threads; the workers of a Cell.
    pus: usize,
    /// The machine's capabilities: `distances` holds distances, `homes` knows the homes of lines,
    /// `loaded` has distances under load, `lines` runs programs over shared lines, `channels` over
    /// channels.
    can: Vec<&'static str>,
    /// A description in one line.
    summary: String,
    /// The publications and files that its figures stand on.
    sources: Vec<String>,
}

/// Lists the bundled machines with what each can do and how it was made.
pub fn run(machines: &Machines) -> Result<(), CliError> {
    let all = bundled::names().map(entry).collect::<Result<Vec<Entry>, CliError>>()?;
    if machines.json {
        return output::json(&Document { format: "seatmap-machines/1", machines: all });
    }
    let longest = all.iter().map(|entry| entry.machine.len()).max().unwrap_or(0);
    let widest = all.iter().map(|entry| entry.can.join(" ").len()).max().unwrap_or(0);
    output::print(
        &all.iter()
            .map(|entry| {
                let model = if entry.kind == "model" { " (model)" } else { "" };
                // Plural: a machine has two PUs or more.
                format!(
                    "{:longest$}  {:>3} PUs  {:widest$}  {}{model}\n",
                    entry.machine,
                    entry.pus,
                    entry.can.join(" "),
                    entry.summary
                )
            })
            .collect::<String>(),
    )
}

fn entry(name: &'static str) -> Result<Entry, CliError> {
    let machine = Machine::bundled(name).map_err(CliError::work)?;
    let can = machine.capabilities().into_iter().map(Capability::word).collect();
    let (kind, pus, summary, sources) = match &machine.kind {
        // Only the workers of a Cell count, as in its profile.
        MachineKind::Model(Model::Cell(model)) => {
            ("model", model.spes(), model.summary.clone(), model.sources.clone())
        }
        MachineKind::Model(Model::Coherent(model)) => {
            ("model", model.topology.pus.len(), model.summary.clone(), model.sources.clone())
        }
        _ => described(name)?,
    };
    Ok(Entry { machine: name, kind, pus, can, summary, sources })
}

fn described(name: &str) -> Result<(&'static str, usize, String, Vec<String>), CliError> {
    // The text once more: a profile keeps neither the summary nor the sources.
    let text = seatmap_machine::catalog::find(name).unwrap_or_default();
    let described = Description::from_toml(text).map_err(CliError::work)?;
    Ok((
        "profile",
        described.shape().pus() as usize,
        described.summary().to_owned(),
        described.sources().to_vec(),
    ))
}
