//! Finds the machine that a name or a file stands for.

use crate::error::CliError;
use crate::{here, output, stdio};
use seatmap_data::document::{Position, shell_escaped};
use seatmap_data::machine::import::{self, ImportOptions, Imported, ProfileNote};
use seatmap_data::machine::{Profile, Topology};
use seatmap_data::pattern::import as pattern_import;
use seatmap_machines::catalog::machine::{Surroundings, is_archive};
use seatmap_machines::catalog::{Capability, Machine, OpenError};
use seatmap_machines::host::remembered;
use seatmap_measure::fit;
use seatmap_os::named_file;
use seatmap_sim::catalog::is_model;
use std::error::Error;
use std::io;
use std::path::Path;

/// The machine that was named: `host`, a bundled name, or a file. Warnings go to stderr.
///
/// # Errors
/// No such machine, or a file that cannot be understood.
pub fn machine(name: &str) -> Result<Machine, CliError> {
    warned(with_surroundings(|around| Machine::open(name, around)))
}

/// The machine in a file that has been read. Warnings go to stderr.
///
/// # Errors
/// A file that cannot be understood.
pub fn machine_in(name: &str, bytes: &[u8]) -> Result<Machine, CliError> {
    warned(Machine::read(name, bytes, &here::today()))
}

fn warned(opened: Result<Machine, OpenError>) -> Result<Machine, CliError> {
    let machine = opened.map_err(CliError::input)?;
    warn(&machine.name, &machine.notes);
    Ok(machine)
}

/// The profile of the machine that was named, explained.
///
/// # Errors
/// As [`machine`] and [`profile_of`].
pub fn profile(name: &str) -> Result<Profile, CliError> {
    profile_of(&machine(name)?)
}

/// The last measurement of this host, without a word where there is none or where it cannot be
/// read.
#[must_use]
pub fn remembered_of_host() -> Option<Profile> {
    let machine = machine("host").ok()?;
    let profile = with_surroundings(|around| machine.profile(around)).ok()?;
    profile.core_distance.is_some().then_some(profile)
}

/// The profile of a machine, explained. Says so where this host has not been measured.
///
/// # Errors
/// The profile remembered of this host cannot be used, or a model cannot be run.
pub fn profile_of(machine: &Machine) -> Result<Profile, CliError> {
    let profile = with_surroundings(|around| machine.profile(around))?;
    // The work goes on with the topology alone, so that its answer would surprise without a word.
    if machine.is_host() && profile.core_distance.is_none() {
        output::tell(remembered::not_measured());
    }
    Ok(explained(profile))
}

/// The profile of a machine whose distances are needed, explained.
///
/// # Errors
/// As [`profile_of`], or nobody knows its distances.
pub fn measured_profile_of(machine: &Machine) -> Result<Profile, CliError> {
    let profile = with_surroundings(|around| machine.profile(around))?;
    // The profile says it of this host, which the machine knows only to run programs.
    if profile.core_distance.is_none() {
        return Err(CliError::input(machine.lacks(Capability::Distances)));
    }
    Ok(explained(profile))
}

fn with_surroundings<T>(work: impl FnOnce(&Surroundings) -> T) -> T {
    work(&Surroundings { today: &here::today(), tool: &here::tool(), read: &read })
}

/// Whether a machine or document of this name is read from a file or stdin.
pub fn is_file(name: &str) -> bool {
    Path::new(name).exists() || name == "-"
}

/// The profile of a file of any kind, explained: another tool's, or what stands for a machine, such
/// as a model or what `hwloc-gather-topology` made. The facts that the options add are in it.
/// Warnings go to stderr.
///
/// # Errors
/// The file cannot be read or understood.
pub fn imported(path: &Path, options: &ImportOptions) -> Result<Profile, CliError> {
    let name = path.to_string_lossy();
    let machine = if path.is_dir() {
        machine(&name)?
    } else {
        let bytes = bytes(path)?;
        // A model is text too, which no other tool's reader knows.
        if !is_archive(&bytes) && !std::str::from_utf8(&bytes).is_ok_and(is_model) {
            let imported = understood(path, &bytes, options)?;
            warn(&name, &imported.notes);
            return Ok(explained(imported.profile));
        }
        machine_in(&name, &bytes)?
    };
    import::with_facts(profile_of(&machine)?, options)
        .map(explained)
        .map_err(|error| CliError::at(path, error))
}

/// The topology in a file, without a word about anything else in it.
///
/// # Errors
/// The file cannot be read or understood.
pub fn topology(path: &Path) -> Result<Topology, CliError> {
    Ok(understood(path, &bytes(path)?, &ImportOptions::default())?.profile.topology)
}

fn understood(path: &Path, bytes: &[u8], options: &ImportOptions) -> Result<Imported, CliError> {
    import::read_with(bytes, &path.to_string_lossy(), Some(&here::today()), options)
        .map_err(|error| CliError::at(path, not_a_machine(path, bytes, error)))
}

/// The error for a file that is not read as a machine: patterns are read by another verb.
fn not_a_machine(path: &Path, bytes: &[u8], error: import::MachineImportError) -> Box<dyn Error> {
    match pattern_import::read(bytes, "", None) {
        Ok(_) => {
            let file = shell_escaped(&path.to_string_lossy());
            format!(
                "this is a pattern, and not a machine; \
                 'seatmap place --on MACHINE --pattern {file}' takes it"
            )
            .into()
        }
        // It knows the format by name, and the way to convert it.
        Err(foreign @ pattern_import::PatternImportError::Foreign { .. })
            if matches!(error, import::MachineImportError::Unknown) =>
        {
            foreign.into()
        }
        Err(_) => error.into(),
    }
}

/// The bytes of a file; `-` is stdin.
///
/// # Errors
/// The file cannot be read, is a device or pipe, or is longer than any that is read.
pub fn bytes(path: &Path) -> Result<Vec<u8>, CliError> {
    read(path).map_err(|error| CliError::at(path, error))
}

/// The document in a file of the kind that `is` recognises; `None` where the name is not a file's,
/// or the file holds something else. Stdin can be read once only, and belongs to the machines.
///
/// # Errors
/// The file cannot be read, or is of this kind and cannot be understood.
pub fn if_in_file<T, E: Into<Box<dyn Error>>>(
    name: &str,
    is: fn(&[u8]) -> bool,
    parse: fn(&str) -> Result<T, E>,
) -> Result<Option<T>, CliError> {
    let path = Path::new(name);
    if name == "-" || !path.is_file() {
        return Ok(None);
    }
    let bytes = bytes(path)?;
    is(&bytes).then(|| parsed(path, &bytes, parse)).transpose()
}

/// The document in a file that has been read.
///
/// # Errors
/// The file cannot be understood.
pub fn parsed<T, E: Into<Box<dyn Error>>>(
    path: &Path,
    bytes: &[u8],
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, CliError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let place = Position::of(bytes, error.valid_up_to());
        CliError::at(path, format!("{place}: this is not UTF-8 text"))
    })?;
    parse(text).map_err(|error| CliError::at(path, error))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_whole(path).map_err(in_words)
}

/// The errors that a mistyped name has, in words that need no number.
fn in_words(error: io::Error) -> io::Error {
    let words = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::IsADirectory => "is a folder; give a file's name",
        io::ErrorKind::PermissionDenied => "this user may not read it",
        _ => return error,
    };
    io::Error::new(error.kind(), words)
}

fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let most = import::MAX_FILE_BYTES as u64;
    let bytes = if path != Path::new("-") {
        named_file::read(path, most)?
    } else if stdio::was_closed(0) {
        // Rust replaces a closed stdin by /dev/null, which would read as an empty file.
        return Err(io::Error::other("stdin is closed"));
    } else {
        named_file::read_stream(io::stdin(), most)?
    };
    // Some editors write a byte-order mark; a document is one with it and without (RFC 8259,
    // section 8.1).
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(bytes);
    Ok(bytes)
}

/// The profile with its distances explained, where its file does not.
fn explained(mut profile: Profile) -> Profile {
    if let Some(distance) = profile.core_distance.as_ref().filter(|_| profile.home_model.is_none())
    {
        profile.home_model = fit::explain(distance, &profile.topology);
    }
    profile
}

/// Tells what a reader of the file should know.
fn warn(name: &str, notes: &[ProfileNote]) {
    for note in notes {
        output::tell(&format!("{name}: {note}"));
    }
}
