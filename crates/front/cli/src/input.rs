//! From a name or a file to a profile.

use crate::error::{AtFile, CliError};
use crate::{model_input, output, place, stdio};
use seatmap_machine::import::{self, Imported, Note};
use seatmap_machine::{Origin, OriginKind, Profile, catalog};
use seatmap_measure::fit;
use seatmap_seats::remembered;
use seatmap_sim::catalog::Model;
use std::io::Read;
use std::path::Path;

/// The profile of a machine: `host`, a bundled name, or a file. Warnings go to stderr.
///
/// # Errors
/// No such machine, or a file that cannot be understood.
pub fn machine(name: &str) -> Result<Profile, CliError> {
    match name {
        "host" => host(),
        _ if is_file(name) => machine_in(name, &bytes(Path::new(name))?),
        _ if looks_like_a_path(name) => Err(CliError::input(format!(
            "{name}: there is no such file; 'seatmap machines' lists the machines known by name"
        ))),
        // What is described by its distances has them as they were written.
        _ if catalog::find(name).is_some() => catalog::load(name).map_err(CliError::input),
        _ => match seatmap_sim::catalog::load(name) {
            Some(found) => model(&found.map_err(CliError::input)?),
            None => catalog::load(name).map_err(CliError::input),
        },
    }
}

/// A model's profile: what messages between its workers, or lines between its cores, take in virtual time.
fn model(model: &Model) -> Result<Profile, CliError> {
    model.profile().map(explained).map_err(CliError::work)
}

/// Whether a machine or document of this name is read from a file or stdin.
pub fn is_file(name: &str) -> bool {
    Path::new(name).exists() || name == "-"
}

/// The profile of a machine whose file has been read. Warnings go to stderr.
///
/// # Errors
/// A file that cannot be understood.
pub fn machine_in(name: &str, bytes: &[u8]) -> Result<Profile, CliError> {
    if let Some(found) = model_input::model_in(name, bytes) {
        return model(&found?);
    }
    let imported = understood(Path::new(name), bytes, &import::Options::default())?;
    warn(name, &imported.notes);
    Ok(explained(imported.profile))
}

fn looks_like_a_path(name: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|extension| extension.len() <= 4)
}

/// The remembered profile of this host, else its topology.
fn host() -> Result<Profile, CliError> {
    if let Some(profile) = remembered::latest().map_err(CliError::input)? {
        remembered::of_this_computer(&profile).map_err(CliError::input)?;
        return Ok(profile);
    }
    let topology = seatmap_host::topology::of_host().map_err(CliError::work)?;
    let origin = Origin {
        kind: OriginKind::Measured,
        source: place::host_name(),
        date: Some(place::today()),
        tool: Some(place::tool()),
    };
    let mut profile = Profile::new(place::host_name(), origin, topology);
    profile.environment = seatmap_host::environment::read();
    output::tell("this host has not been measured yet; 'seatmap measure' does it in a second or two");
    Ok(profile)
}

/// A file of any kind that can be read; `-` is stdin.
///
/// # Errors
/// The file cannot be read or understood.
pub fn file(path: &Path, options: &import::Options) -> Result<Imported, CliError> {
    understood(path, &bytes(path)?, options)
}

fn understood(path: &Path, bytes: &[u8], options: &import::Options) -> Result<Imported, CliError> {
    import::read_with(bytes, &path.to_string_lossy(), Some(&place::today()), options)
        .map_err(|error| CliError::input(AtFile::new(path, error)))
}

/// What stands in a file; `-` is stdin. At most one byte more than is ever accepted, so that an endless file ends.
///
/// # Errors
/// The file cannot be read.
pub fn bytes(path: &Path) -> Result<Vec<u8>, CliError> {
    let limit = import::MAX_FILE_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true if stdio::was_closed(0) => Err(std::io::Error::other("stdin is closed")),
        true => std::io::stdin().take(limit).read_to_end(&mut bytes),
        false => std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    read.map_err(|error| CliError::input(AtFile::new(path, error)))?;
    Ok(bytes)
}

/// The profile with its distances explained, where its file does not.
pub fn explained(mut profile: Profile) -> Profile {
    if let Some(distance) = profile.core_distance.as_ref().filter(|_| profile.home_model.is_none()) {
        profile.home_model = fit::explain(distance, &profile.topology);
    }
    profile
}

/// Tells what a reader of the file should know.
pub fn warn(name: &str, notes: &[Note]) {
    for note in notes {
        output::tell(&format!("{name}: {note}"));
    }
}
