//! `seatmap import`.

use crate::args::Import;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::{here, input};
use seatmap_data::machine::Profile;
use seatmap_data::machine::import::ImportOptions;
use seatmap_os::CpuList;
use seatmap_report::shown;
use std::path::{Path, PathBuf};

pub fn run(typed: Import) -> Result<(), CliError> {
    let options = ImportOptions {
        frequency_hz: typed.frequency,
        cpus: typed.cpus.clone().map(CpuList::distinct).transpose().map_err(CliError::input)?,
        topology: typed.topology.as_deref().map(input::topology).transpose()?,
    };
    let folder = typed.output.as_deref().filter(|path| path.is_dir());
    // One file would replace the other.
    if typed.files.len() > 1 && (folder.is_none() || typed.name.is_some()) {
        return Err(CliError::input(
            "several files need an existing folder: give -o FOLDER, and leave --name out",
        ));
    }
    let targets = folder.map(|folder| targets(&typed.files, folder)).transpose()?;
    for (at, file) in typed.files.iter().enumerate() {
        let mut profile = input::imported(file, &options)?;
        if let Some(name) = &typed.name {
            profile.name.clone_from(name);
        }
        let tool = profile.origin.tool;
        profile.origin.tool = tool.map(|tool| format!("{tool}, imported by {}", here::tool()));
        let target = targets.as_ref().map_or(typed.output.as_deref(), |targets| Some(&targets[at]));
        deliver(&profile, target, typed.json)?;
    }
    Ok(())
}

/// Named like the file, because a name in the file could be any path.
fn targets(files: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let mut targets: Vec<PathBuf> = Vec::new();
    for file in files {
        let target = folder.join(file.file_stem().unwrap_or_default()).with_added_extension("json");
        if let Some(other) = targets.iter().position(|other| *other == target) {
            let one = files[other].display();
            let two = file.display();
            let target = target.display();
            return Err(CliError::input(format!(
                "{one} and {two} would both become {target}; import them separately"
            )));
        }
        // An unnamed target must not replace the other tool's file.
        if is_same(file, &target) {
            return Err(CliError::input(format!(
                "{} would be overwritten by its own profile; give -o another folder, or a file \
                 name",
                file.display()
            )));
        }
        targets.push(target);
    }
    Ok(targets)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = [one, other].map(std::fs::canonicalize);
    matches!(real, [Ok(one), Ok(other)] if one == other)
}

fn deliver(profile: &Profile, target: Option<&Path>, json: bool) -> Result<(), CliError> {
    let text = profile.to_json();
    let Some(target) = target.filter(|target| *target != Path::new("-")) else {
        return output::print_exact(&text);
    };
    Destination::new(target)?.write(&text)?;
    if json {
        return output::print_exact(&text);
    }
    let line = format!("{}: {}", target.display(), shown::summary(profile));
    output::print(&(output::visible(&line) + "\n"))
}
