//! `seatmap import`.

use crate::args::Import;
use seatmap_catalog::machine::is_archive;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::output::{self, Destination};
use seatmap_console::{here, input};
use seatmap_machine::{Profile, Topology, import};
use seatmap_os::CpuList;
use seatmap_report::counted;
use seatmap_sim::catalog::is_model;
use std::path::{Path, PathBuf};

/// Reads files, explains them, and writes profiles.
pub fn run(typed: Import) -> Result<(), CliError> {
    let options = import::ImportOptions {
        frequency_hz: typed.frequency,
        cpus: typed.cpus.clone().map(CpuList::distinct).transpose().map_err(CliError::input)?,
        topology: typed.topology.as_deref().map(topology).transpose()?,
    };
    let folder = typed.output.as_deref().filter(|path| path.is_dir());
    // One file would take the place of the other, under one path or one name.
    if typed.files.len() > 1 && (folder.is_none() || typed.name.is_some()) {
        return Err(CliError::input(
            "several files need a folder to go to: -o FOLDER, which must exist, and no --name",
        ));
    }
    // All names before the first file is read: a clash must not come to light half way.
    let targets = folder.map(|folder| targets(&typed.files, folder)).transpose()?;
    for (at, file) in typed.files.iter().enumerate() {
        let profile = profile(file, &typed, &options)?;
        let target = targets.as_ref().map_or(typed.output.as_deref(), |targets| Some(&targets[at]));
        deliver(&profile, target, typed.json)?;
    }
    Ok(())
}

/// A file's profile in the folder, named as the file is: a name from within the file could lead
/// anywhere.
fn targets(files: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let mut targets: Vec<PathBuf> = Vec::new();
    for file in files {
        let target = folder.join(file.file_stem().unwrap_or_default()).with_added_extension("json");
        if let Some(other) = targets.iter().position(|other| *other == target) {
            let one = files[other].display();
            let two = file.display();
            let target = target.display();
            return Err(CliError::input(format!(
                "{one} and {two} would both become {target}; import them apart"
            )));
        }
        // Nobody named this target: the other tool's file must not be lost under the profile.
        if is_same(file, &target) {
            return Err(CliError::input(format!(
                "{} would be replaced by its own profile; give -o another folder, or a file's name",
                file.display()
            )));
        }
        targets.push(target);
    }
    Ok(targets)
}

/// Whether both names are of one file that is there.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = [one, other].map(std::fs::canonicalize);
    matches!(real, [Ok(one), Ok(other)] if one == other)
}

fn profile(
    file: &Path,
    typed: &Import,
    options: &import::ImportOptions,
) -> Result<Profile, CliError> {
    let mut profile = read(file, options)?;
    if let Some(name) = &typed.name {
        profile.name.clone_from(name);
    }
    profile.origin.tool =
        profile.origin.tool.map(|tool| format!("{tool}, imported by {}", here::tool()));
    Ok(input::explained(profile))
}

/// Another tool's file; or what any verb takes as a machine: a model, or a tree of
/// `hwloc-gather-topology`.
fn read(file: &Path, options: &import::ImportOptions) -> Result<Profile, CliError> {
    let name = file.to_string_lossy();
    if file.is_dir() {
        return added(file, input::profile(&name)?, options);
    }
    let bytes = input::bytes(file)?;
    // A model is text too, which no other tool's reader knows.
    if is_archive(&bytes) || std::str::from_utf8(&bytes).is_ok_and(is_model) {
        return added(file, input::profile_of(&input::machine_in(&name, &bytes)?)?, options);
    }
    let imported = input::understood(file, &bytes, options)?;
    input::warn(&name, &imported.notes);
    Ok(imported.profile)
}

/// A machine that was not read as another tool's file, with the facts that the user has added.
fn added(
    file: &Path,
    profile: Profile,
    options: &import::ImportOptions,
) -> Result<Profile, CliError> {
    import::with_facts(profile, options).map_err(|error| CliError::input(AtFile::new(file, error)))
}

fn topology(path: &Path) -> Result<Topology, CliError> {
    Ok(input::file(path, &import::ImportOptions::default())?.profile.topology)
}

fn deliver(profile: &Profile, target: Option<&Path>, json: bool) -> Result<(), CliError> {
    let text = profile.to_json();
    let Some(target) = target.filter(|target| *target != Path::new("-")) else {
        return output::print(&text);
    };
    Destination::new(target)?.write(&text)?;
    if json {
        output::print(&text)
    } else {
        output::print(
            &(output::visible(&format!("{}: {}", target.display(), summary(profile))) + "\n"),
        )
    }
}

/// One line: `epyc: 192 PUs in 12 groups of 16, R2 0.999`.
fn summary(profile: &Profile) -> String {
    let pus = counted(profile.topology.pus.len(), "PU");
    let Some(model) = &profile.home_model else { return format!("{} with {pus}", profile.name) };
    let mut sizes: Vec<usize> = model.groups.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let groups = counted(model.groups.len(), "group");
    format!("{} with {pus} in {groups} of {}, R2 {:.4}", profile.name, sizes.join(" or "), model.r2)
}
