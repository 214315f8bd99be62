//! Imports other tools' files into a [`Profile`].
//!
//! A file is recognised by its content, so it may have any name:
//!
//! | kind | module | distances | topology |
//! |---|---|---|---|
//! | core-to-core-latency CSV | [`core_to_core`] | one-way ns, doubled | none: row k is PU k |
//! | MCTOP `.mct` | [`mctop`] | one-way cycles, doubled, as ns | cores and NUMA nodes, by latency |
//! | hwloc XML, v2 and v3 | [`hwloc_xml`] | those of [`crate::machine::export::hwloc_xml`] | all |
//! | Seatmap's profiles, JSON | [`crate::machine::profile`] | as they are | as it is |
//! | Seatmap's descriptions, TOML | [`crate::machine::description`] | predicted | as described |
//!
//! Files are not trusted. Sizes are bounded before memory is allocated, nested input is read with
//! an explicit stack, and every problem is a [`MachineImportError`] with its position. Oddities
//! become a [`ProfileNote`] with the profile.

mod clusters;
pub mod core_to_core;
pub(crate) mod cpuset;
mod error;
mod foreign;
mod format;
pub mod hwloc_xml;
mod marry;
pub mod mctop;
mod note;
pub mod quantisation;
mod round_trip;

pub use error::MachineImportError;
pub use format::Format;
use marry::name_rows;
pub use marry::{Rows, marry};
pub use note::ProfileNote;

use crate::document::{inconsistent, plain_text};
use crate::machine::{CoreDistance, Description, Matrix, Origin, OriginKind, Profile, Topology};
use crate::statistics::words::counted;
use seatmap_os::CpuList;

/// The largest file: room for the matrices of 2,000 PUs in JSON.
pub const MAX_FILE_BYTES: usize = 512 << 20;

/// The most PUs of a matrix or topology: the limit of Linux's `NR_CPUS` on x86-64.
pub const MAX_PUS: usize = 8192;

/// Facts missing from the file, given by the user.
#[derive(Debug, Default)]
pub struct ImportOptions {
    /// Cycles per second for files that count cycles: the nominal frequency of the time-stamp
    /// counter.
    pub frequency_hz: Option<f64>,
    /// CPUs of the rows of a matrix without names, in order.
    pub cpus: Option<CpuList>,
    /// Topology of the machine of a matrix.
    pub topology: Option<Topology>,
}

/// An imported file.
#[derive(Debug, PartialEq)]
pub struct Imported {
    /// Machine that the file describes.
    pub profile: Profile,
    /// Oddities of the file.
    pub notes: Vec<ProfileNote>,
}

/// Reads a file of any known kind; see [`read_with`].
///
/// # Errors
/// The same errors as [`read_with`].
pub fn read(bytes: &[u8], name: &str, date: Option<&str>) -> Result<Profile, MachineImportError> {
    read_with(bytes, name, date, &ImportOptions::default()).map(|imported| imported.profile)
}

/// Reads a file of any known kind.
///
/// `name` is the file's name, with or without folders. Without its extension it names the profile,
/// unless the file has a name. `date` is the day of the import, `YYYY-MM-DD`.
///
/// ```
/// use seatmap_data::machine::import;
/// let profile = import::read(b",\n40.5,\n", "data/duo.csv", Some("2026-01-31"))?;
/// assert_eq!(profile.name, "duo");
/// assert_eq!(profile.core_distance.unwrap().median_ns[(0, 1)], 81.0);
/// # Ok::<(), seatmap_data::machine::import::MachineImportError>(())
/// ```
///
/// # Errors
/// [`MachineImportError`] with the problem, its position and the remedy.
pub fn read_with(
    bytes: &[u8],
    name: &str,
    date: Option<&str>,
    options: &ImportOptions,
) -> Result<Imported, MachineImportError> {
    if let Some(packed) = foreign::packed(bytes) {
        return Err(packed);
    }
    if bytes.len() > MAX_FILE_BYTES {
        inconsistent(format!(
            "the file has {}, but the limit is {MAX_FILE_BYTES}; import a smaller part of it",
            counted(bytes.len(), "byte")
        ))?;
    }
    let text = plain_text(bytes)?;
    let file = File { name: name.rsplit(['/', '\\']).next().unwrap_or(name), path: name, date };
    // First, because a foreign output's name could make it look like a known format.
    if let Some(foreign) = foreign::recognised(text) {
        return Err(foreign);
    }
    let mut imported = match Format::recognise(text, name).ok_or(MachineImportError::Unknown)? {
        Format::Profile => Imported { profile: Profile::from_json(text)?, notes: Vec::new() },
        Format::Description => {
            Imported { profile: Description::from_toml(text)?.to_profile(), notes: Vec::new() }
        }
        Format::CoreToCore => core_to_core::read(text, file)?,
        Format::Mctop => mctop::read(text, file, options)?,
        Format::HwlocXml => hwloc_xml::read(text, file)?,
    };
    add(&mut imported, options)?;
    imported.profile.check()?;
    Ok(imported)
}

/// A profile with facts added by the user.
///
/// # Errors
/// [`MachineImportError`]: they do not fit the profile.
pub fn with_facts(
    profile: Profile,
    options: &ImportOptions,
) -> Result<Profile, MachineImportError> {
    let mut imported = Imported { profile, notes: Vec::new() };
    add(&mut imported, options)?;
    Ok(imported.profile)
}

fn add(imported: &mut Imported, options: &ImportOptions) -> Result<(), MachineImportError> {
    if let Some(cpus) = &options.cpus {
        name_rows(&mut imported.profile, &cpus.0)?;
    }
    if let Some(topology) = &options.topology {
        let rows = if options.cpus.is_some() { Rows::Named } else { Rows::Numbered };
        marry(&mut imported.profile, topology.clone(), rows)?;
    }
    // The note that rows were counted does not help a user who named them.
    let is_explained = options.cpus.is_some() || options.topology.is_some();
    imported.notes.retain(|note| !is_explained || !matches!(note, ProfileNote::RowsInOrder { .. }));
    Ok(())
}

#[derive(Clone, Copy, Debug)]
struct File<'a> {
    name: &'a str,
    path: &'a str,
    date: Option<&'a str>,
}

impl File<'_> {
    fn profile(&self, tool: &str, topology: Topology) -> Profile {
        let stem = self.name.rsplit_once('.').map_or(self.name, |(stem, _)| stem);
        let origin = Origin {
            kind: OriginKind::Imported,
            source: self.name.to_owned(),
            date: self.date.map(str::to_owned),
            tool: Some(tool.to_owned()),
        };
        Profile::new(stem, origin, topology)
    }

    fn profile_of_matrix(&self, tool: &str, topology: Topology, median_ns: Matrix) -> Profile {
        let pus = topology.os_indices().collect();
        let mut profile = self.profile(tool, topology);
        profile.core_distance = Some(CoreDistance::imported(pus, median_ns));
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8], name: &str) -> String {
        read(bytes, name, None).unwrap_err().to_string()
    }

    #[test]
    fn empty_or_non_text_file_error_names_the_position() {
        assert_eq!(refusal(b"\n \r\n", "x.csv"), "the file is empty; create it again");
        assert!(refusal(b"1,\n\xff,", "x").starts_with("line 2, column 1: this is not UTF-8 text"));
    }

    #[test]
    fn unknown_format_error_lists_known_formats() {
        insta::assert_snapshot!(refusal(b"Dear all,", "letter.txt"), @"unrecognised format; expected one of: seatmap-profile JSON, seatmap-machine TOML, core-to-core-latency CSV (run it with --csv), MCTOP .mct, hwloc v2 XML (lstopo --of xml)");
    }

    #[test]
    fn byte_order_mark_is_skipped() {
        assert_eq!(read(b"\xef\xbb\xbf,\n40.5,\n", "duo.csv", None).unwrap().topology.pus.len(), 2);
    }
}
