//! Opens the machine that a name or a file denotes.

use crate::cpus::OrAll;
use crate::error::{AtPath, CliError, CliResult};
use crate::{here, output, stdio};
use seatmap_data::document::{Position, shell_escaped};
use seatmap_data::machine::import::{self, ImportOptions, Imported, ProfileNote};
use seatmap_data::machine::{Profile, Topology};
use seatmap_data::pattern::import as pattern_import;
use seatmap_launch::named::KnownWord;
use seatmap_launch::sets::{self, ComputerCpus};
use seatmap_machines::catalog::machine::{Surroundings, is_archive};
use seatmap_machines::catalog::{Capability, Machine, OpenError};
use seatmap_machines::host::remembered;
use seatmap_measure::fit;
use seatmap_os::{Root, named_file};
use seatmap_sim::catalog::is_model;
use seatmap_watch::Rule;
use std::error::Error;
use std::io;
use std::path::Path;

/// Opens `host`, a bundled machine, or a file. Warnings go to stderr.
///
/// # Errors
/// There is no such machine, or the file cannot be understood.
pub fn machine(name: &str) -> CliResult<Machine> {
    warned(with_surroundings(|around| Machine::open(name, around)))
}

/// Opens the machine in the bytes of a file. Warnings go to stderr.
///
/// # Errors
/// The file cannot be understood.
pub fn machine_in(name: &str, bytes: &[u8]) -> CliResult<Machine> {
    warned(Machine::read(name, bytes, &here::today()))
}

fn warned(opened: Result<Machine, OpenError>) -> CliResult<Machine> {
    let machine = opened.map_err(CliError::input)?;
    warn(&machine.name, &machine.notes);
    Ok(machine)
}

/// The explained profile of a named machine.
///
/// # Errors
/// As [`machine`] and [`profile_of`].
pub fn profile(name: &str) -> CliResult<Profile> {
    profile_of(&machine(name)?)
}

/// The last measurement of this host; `None`, without a message, if unavailable.
pub fn remembered_of_host() -> Option<Profile> {
    let machine = machine("host").ok()?;
    let profile = with_surroundings(|around| machine.profile(around)).ok()?;
    profile.core_distance.is_some().then_some(profile)
}

/// The explained profile of a machine. Warns if this host has not been measured.
///
/// # Errors
/// The profile remembered of this host cannot be used, or a model cannot be run.
pub fn profile_of(machine: &Machine) -> CliResult<Profile> {
    let profile = with_surroundings(|around| machine.profile(around))?;
    // The topology alone may surprise, so warn.
    if machine.is_host() && profile.core_distance.is_none() {
        output::tell(remembered::not_measured());
    }
    Ok(explained(profile))
}

/// The CPUs of a machine, for words such as `kind:performance`; this process's on this host.
///
/// # Errors
/// The topology cannot be read.
pub fn cpus_of(machine: &Machine) -> CliResult<ComputerCpus> {
    if machine.is_host() {
        return ComputerCpus::read().map_err(CliError::work);
    }
    Ok(ComputerCpus::of_machine(topology_of(machine)?, root_of(machine)))
}

/// The parts of a machine.
///
/// # Errors
/// As [`profile_of`].
pub fn topology_of(machine: &Machine) -> CliResult<Topology> {
    with_surroundings(|around| machine.topology(around)).map_err(Into::into)
}

/// The words for the CPUs of a machine with this topology.
pub fn words_of(machine: &Machine, topology: &Topology) -> Vec<KnownWord> {
    sets::words::of_machine(&ComputerCpus::of_machine(topology.clone(), root_of(machine)))
}

/// This computer with this topology, without regard to the CPUs that this process may use.
pub fn whole_computer(topology: &Topology) -> ComputerCpus {
    ComputerCpus::of_machine(topology.clone(), Some(Root::new("/")))
}

/// The rules on a machine, whose words name CPUs of `computer`.
///
/// # Errors
/// The words of an `on=` rule name no CPUs.
pub fn rules_on(
    rules: impl IntoIterator<Item = Rule>,
    computer: &ComputerCpus,
    or_all: OrAll,
) -> CliResult<Vec<Rule>> {
    let rules = rules.into_iter().map(|rule| {
        rule.on_machine(|words| {
            let words = or_all.words(words, computer)?;
            sets::all_of(&words, computer).map_err(CliError::input)
        })
    });
    rules.collect()
}

/// The machine's files, if it is this host or a gathered folder.
fn root_of(machine: &Machine) -> Option<Root> {
    let folder = if machine.is_host() { Path::new("/") } else { Path::new(machine.given_name()) };
    folder.is_dir().then(|| Root::new(folder))
}

/// The explained profile of a machine whose distances are needed.
///
/// # Errors
/// As [`profile_of`], or the distances are unknown.
pub fn measured_profile_of(machine: &Machine) -> CliResult<Profile> {
    let profile = with_surroundings(|around| machine.profile(around))?;
    // Checks the profile: this host as a machine only promises to run programs.
    if profile.core_distance.is_none() {
        return Err(CliError::input(machine.lacks(Capability::Distances)));
    }
    Ok(explained(profile))
}

fn with_surroundings<T>(work: impl FnOnce(&Surroundings) -> T) -> T {
    work(&Surroundings { today: &here::today(), tool: &here::tool(), read: &read })
}

/// Whether this name means a file or stdin.
pub fn is_file(name: &str) -> bool {
    Path::new(name).exists() || name == "-"
}

/// The explained profile of another tool's file, or of one that denotes a machine, such as a model
/// or the output of `hwloc-gather-topology`. Warnings go to stderr.
///
/// # Errors
/// The file cannot be read or understood.
pub fn imported(path: &Path, options: &ImportOptions) -> CliResult<Profile> {
    let name = path.to_string_lossy();
    let machine = if path.is_dir() {
        machine(&name)?
    } else {
        let bytes = bytes(path)?;
        // Other tools' readers do not know models.
        if !is_archive(&bytes) && !std::str::from_utf8(&bytes).is_ok_and(is_model) {
            let imported = understood(path, &bytes, options)?;
            warn(&name, &imported.notes);
            return Ok(explained(imported.profile));
        }
        machine_in(&name, &bytes)?
    };
    import::with_facts(profile_of(&machine)?, options).map(explained).at(path)
}

/// The topology in a file, without warnings about its other contents.
///
/// # Errors
/// The file cannot be read or understood.
pub fn topology(path: &Path) -> CliResult<Topology> {
    Ok(understood(path, &bytes(path)?, &ImportOptions::default())?.profile.topology)
}

fn understood(path: &Path, bytes: &[u8], options: &ImportOptions) -> CliResult<Imported> {
    import::read_with(bytes, &path.to_string_lossy(), Some(&here::today()), options)
        .map_err(|error| CliError::at(path, not_a_machine(path, bytes, error)))
}

/// Recognises a pattern, which another verb reads.
fn not_a_machine(path: &Path, bytes: &[u8], error: import::MachineImportError) -> Box<dyn Error> {
    match pattern_import::read(bytes, "", None) {
        Ok(_) => {
            let file = shell_escaped(&path.to_string_lossy());
            format!(
                "this is a pattern, not a machine; use it with 'seatmap place --on MACHINE \
                 --pattern {file}'"
            )
            .into()
        }
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
/// The file cannot be read, is a device or pipe, or is too long.
pub fn bytes(path: &Path) -> CliResult<Vec<u8>> {
    read(path).at(path)
}

/// The document in a file of the kind that `is` recognises, else `None`. `-` is `None` too: stdin
/// can be read only once, and belongs to the machines.
///
/// # Errors
/// The file cannot be read, or is of this kind and cannot be understood.
pub fn if_in_file<T, E: Into<Box<dyn Error>>>(
    name: &str,
    is: fn(&[u8]) -> bool,
    parse: fn(&str) -> Result<T, E>,
) -> CliResult<Option<T>> {
    let path = Path::new(name);
    if name == "-" || !path.is_file() {
        return Ok(None);
    }
    let bytes = bytes(path)?;
    is(&bytes).then(|| parsed(path, &bytes, parse)).transpose()
}

/// The document in a file; `-` is stdin.
///
/// # Errors
/// The file cannot be read or understood.
pub fn document<T, E: Into<Box<dyn Error>>>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> CliResult<T> {
    parsed(path, &bytes(path)?, parse)
}

/// Parses the document in the bytes of a file.
///
/// # Errors
/// The file cannot be understood.
pub fn parsed<T, E: Into<Box<dyn Error>>>(
    path: &Path,
    bytes: &[u8],
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> CliResult<T> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let place = Position::of(bytes, error.valid_up_to());
        CliError::at(path, format!("{place}: this is not UTF-8 text"))
    })?;
    parse(text).at(path)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_whole(path).map_err(in_words)
}

/// Explains the usual errors without an error number.
fn in_words(error: io::Error) -> io::Error {
    let words = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::IsADirectory => "is a folder; give a file name",
        io::ErrorKind::PermissionDenied => "permission denied",
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
    // Some editors write a byte-order mark; readers may ignore it (RFC 8259, section 8.1).
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(bytes);
    Ok(bytes)
}

/// Explains the distances if the file does not.
fn explained(mut profile: Profile) -> Profile {
    if let Some(distance) = profile.core_distance.as_ref().filter(|_| profile.home_model.is_none())
    {
        profile.home_model = fit::explain(distance, &profile.topology);
    }
    profile
}

fn warn(name: &str, notes: &[ProfileNote]) {
    for note in notes {
        output::tell(&format!("{name}: {note}"));
    }
}
