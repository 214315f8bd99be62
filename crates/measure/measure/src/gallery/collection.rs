//! The machines of a gallery.

use seatmap_data::machine::Profile;
use seatmap_machines::catalog::{Machine, MachineEntry};
use std::io;
use std::path::{Path, PathBuf};

/// Endings of names that say the kind of a file and nothing about its machine.
const ENDINGS: [&str; 6] = [".json", ".csv", ".toml", ".mct", ".xml", ".txt"];

/// The name that the page of all machines has, so that no machine can have it.
const TAKEN: &str = "index";

/// Why the files of a gallery cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot list the profiles in this folder", .folder.display())]
pub struct GalleryError {
    /// The folder.
    pub folder: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

/// Machines side by side, each with a name that no other one has.
#[derive(Clone, Debug, Default)]
pub struct Gallery {
    machines: Vec<GalleryMachine>,
}

/// A machine in a gallery.
#[derive(Clone, Debug)]
pub struct GalleryMachine {
    /// Its name in the gallery: letters, digits, dots and single hyphens, as in a file's name.
    pub name: String,
    /// The name or path by which a command line chooses it.
    pub given_name: String,
    /// The machine.
    pub machine: Machine,
    /// Its topology, distances and origin.
    pub profile: Profile,
    /// A description in one line, where it comes with Seatmap.
    pub summary: Option<String>,
    /// The publications and files that its figures stand on, where it comes with Seatmap.
    pub sources: Vec<String>,
}

impl Gallery {
    /// Adds a machine that comes with Seatmap.
    pub fn add_bundled(&mut self, entry: MachineEntry, machine: Machine, profile: Profile) {
        self.add(machine, profile);
        if let Some(added) = self.machines.last_mut() {
            added.summary = Some(entry.summary);
            added.sources = entry.sources;
        }
    }

    /// Adds a machine. Its name is made of its file's, with a number where another one has it.
    pub fn add(&mut self, machine: Machine, profile: Profile) {
        let given_name = machine.given_name().to_owned();
        let wanted = file_name(&given_name);
        let name = std::iter::once(wanted.clone())
            .chain((2usize..).map(|number| format!("{wanted}-{number}")))
            .find(|name| self.machines.iter().all(|other| other.name != *name))
            .unwrap_or(wanted);
        self.machines.push(GalleryMachine {
            name,
            given_name,
            machine,
            profile,
            summary: None,
            sources: Vec::new(),
        });
    }

    /// The machines, in the order in which they were added.
    #[must_use]
    pub fn machines(&self) -> &[GalleryMachine] {
        &self.machines
    }
}

/// The files of a folder that hold machines, by name: all but hidden ones and pages of text
/// (`.md`).
///
/// # Errors
/// The folder cannot be read.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, GalleryError> {
    listed(folder).map_err(|source| GalleryError { folder: folder.to_owned(), source })
}

fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && !name.starts_with('.') && !name.ends_with(".md") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A name as a file of a site can have it, from the path of a machine. Two hyphens in a row stand
/// between the names of a pair, and no single name has them.
fn file_name(given_name: &str) -> String {
    let last = given_name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let stem = ENDINGS.iter().find_map(|ending| last.strip_suffix(ending)).unwrap_or(last);
    let mut name = String::new();
    for c in stem.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        if c != '-' || !name.ends_with('-') {
            name.push(c);
        }
    }
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() || name == TAKEN {
        format!("machine-{name}").trim_end_matches('-').to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files_without_harm() {
        let names = ["a/b.json", "../../etc/passwd", "x <y>&.csv", "index.json", "...", "host"]
            .map(file_name);
        assert_eq!(names, ["b", "passwd", "x-y", "machine-index", "machine", "host"]);
        assert!(!file_name("a--b").contains("--"));
    }

    #[test]
    fn equal_names_get_numbers() {
        let mut gallery = Gallery::default();
        for _ in 0..3 {
            let machine = Machine::bundled("graviton3").unwrap();
            gallery.add(machine, seatmap_data::machine::catalog::load("graviton3").unwrap());
        }
        let names: Vec<&str> = gallery.machines().iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["graviton3", "graviton3-2", "graviton3-3"]);
    }
}
