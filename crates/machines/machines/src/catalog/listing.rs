//! The bundled machines as a list for people and programs.

use crate::catalog::bundled;
use crate::catalog::capability::Capability;
use crate::catalog::machine::{Machine, MachineKind, OpenError};
use seatmap_data::machine::zoo;
use serde::Serialize;

/// The bundled machines: the output of `seatmap machines --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineList {
    /// Name and version of the format.
    format: &'static str,
    /// The machines, in alphabetical order.
    pub machines: Vec<MachineEntry>,
}

/// A bundled machine.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Entry"))]
pub struct MachineEntry {
    /// The machine's name on the command line.
    pub machine: &'static str,
    /// `profile`: a description with distances; `model`: distances come from running it; `sheet`: a
    /// machine of the zoo, without distances.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["profile", "model", "sheet"])))]
    pub kind: &'static str,
    /// Hardware threads.
    pub pus: usize,
    /// The machine's capabilities: `distances` has distances, `homes` the homes of lines, `loaded`
    /// distances under load; `lines` runs programs over shared lines, `channels` over channels.
    pub can: Vec<&'static str>,
    /// A description in one line.
    pub summary: String,
    /// The publications and files behind its figures.
    pub sources: Vec<String>,
}

impl MachineList {
    /// The machines of `seatmap pretend --zoo`: the bundled ones, then its own.
    ///
    /// # Errors
    /// As [`MachineList::bundled`].
    pub fn zoo() -> Result<Self, OpenError> {
        let mut list = MachineList::bundled()?;
        for name in zoo::names() {
            let Some(sheet) = zoo::find(name) else { continue };
            let sheet = sheet.map_err(OpenError::unreadable(name))?;
            list.machines.push(MachineEntry {
                machine: name,
                kind: "sheet",
                pus: sheet.topology().pus.len(),
                can: Vec::new(),
                summary: sheet.summary,
                sources: vec![sheet.source],
            });
        }
        Ok(list)
    }

    /// All bundled machines.
    ///
    /// # Errors
    /// A bundled file is wrong: a bug in Seatmap.
    pub fn bundled() -> Result<Self, OpenError> {
        let machines = bundled::names().map(entry).collect::<Result<Vec<MachineEntry>, _>>()?;
        Ok(MachineList { format: "seatmap-machines/1", machines })
    }
}

fn entry(name: &'static str) -> Result<MachineEntry, OpenError> {
    let machine = Machine::bundled(name)?;
    let can = machine.capabilities().into_iter().map(Capability::word).collect();
    let described;
    let (kind, pus, summary, sources) = match &machine.kind {
        MachineKind::Model(model) => {
            ("model", model.topology.pus.len(), &*model.summary, &*model.sources)
        }
        _ => {
            // Reads the text again, because a profile keeps neither summary nor sources.
            let text = bundled::find(name).unwrap_or_default();
            described = bundled::description(name, text)?;
            let pus = described.topology.pus() as usize;
            ("profile", pus, &*described.summary, &*described.sources)
        }
    };
    let summary = summary.to_owned();
    Ok(MachineEntry { machine: name, kind, pus, can, summary, sources: sources.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_describes_every_bundled_machine() {
        let list = MachineList::bundled().unwrap();
        assert_eq!(list.machines.len(), bundled::names().count());
        for entry in &list.machines {
            assert!(entry.pus > 1 && !entry.summary.is_empty(), "{entry:?}");
            assert!(entry.can.contains(&"distances") && !entry.sources.is_empty(), "{entry:?}");
        }
        assert!(list.machines.iter().any(|entry| entry.kind == "model"));
        let zoo = MachineList::zoo().unwrap().machines;
        assert!(zoo.len() > 40 && zoo.iter().all(|entry| Machine::bundled(entry.machine).is_ok()));
        assert!(list.machines.iter().any(|entry| entry.kind == "profile"));
    }
}
