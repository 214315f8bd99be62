//! `seatmap import`.

use crate::args::Import;
use crate::error::{AtFile, CliError};
use crate::output::{self, Destination};
use crate::{input, place};
use seatmap_machine::{Profile, Topology, import};
use std::path::{Path, PathBuf};

/// Reads files, explains them, and writes profiles.
pub fn run(typed: Import) -> Result<(), CliError> {
    let topology = typed.topology.as_deref().map(topology).transpose()?;
    let folder = typed.output.as_deref().filter(|path| path.is_dir());
    if typed.files.len() > 1 && (folder.is_none() || typed.name.is_some()) {
        return Err(CliError::input(
            "several files need a folder to go to: -o FOLDER, which must exist, and no --name",
        ));
    }
    for file in &typed.files {
        let profile = profile(file, &typed, topology.as_ref())?;
        let target = match (folder, &typed.output) {
            (Some(folder), _) => Some(folder.join(&profile.name).with_added_extension("json")),
            (None, output) => output.clone(),
        };
        deliver(&profile, target, typed.json)?;
    }
    Ok(())
}

fn profile(file: &Path, typed: &Import, topology: Option<&Topology>) -> Result<Profile, CliError> {
    let imported = input::file(file, &import::Options { frequency_hz: typed.frequency })?;
    input::warn(&file.display().to_string(), &imported.notes);
    let mut profile = imported.profile;
    if let Some(topology) = topology {
        import::marry(&mut profile, topology.clone()).map_err(|error| CliError::input(AtFile::new(file, error)))?;
    }
    if let Some(name) = &typed.name {
        profile.name.clone_from(name);
    }
    profile.origin.tool = profile.origin.tool.map(|tool| format!("{tool}, imported by {}", place::tool()));
    Ok(input::explained(profile))
}

fn topology(path: &Path) -> Result<Topology, CliError> {
    Ok(input::file(path, &import::Options::default())?.profile.topology)
}

fn deliver(profile: &Profile, target: Option<PathBuf>, json: bool) -> Result<(), CliError> {
    let text = profile.to_json();
    let Some(target) = target else { return output::print(&text) };
    Destination::new(&target)?.write(&text)?;
    match json {
        true => output::print(&text),
        false if target == Path::new("-") => Ok(()),
        false => output::print(&format!("{}: {}\n", target.display(), summary(profile))),
    }
}

/// One line: `epyc: 192 PUs in 12 groups of 16, R2 0.999`.
fn summary(profile: &Profile) -> String {
    let pus = profile.topology.pus.len();
    let Some(model) = &profile.home_model else { return format!("{} with {pus} PUs", profile.name) };
    let mut sizes: Vec<usize> = model.groups.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let groups = model.groups.len();
    format!("{} with {pus} PUs in {groups} groups of {}, R2 {:.4}", profile.name, sizes.join(" or "), model.r2)
}
