//! The machines of a gallery.

use seatmap_data::machine::Profile;
use seatmap_machines::catalog::{Machine, MachineEntry};
use std::io;
use std::path::{Path, PathBuf};

const ENDINGS: [&str; 6] = [".json", ".csv", ".toml", ".mct", ".xml", ".txt"];

/// The name of the page of all machines, not available for a machine.
const TAKEN: &str = "index";

/// A gallery's files cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot list the profiles in this folder", .folder.display())]
pub struct GalleryError {
    /// Folder.
    pub folder: PathBuf,
    /// Operating system's error.
    pub source: io::Error,
}

/// Machines side by side, each with a unique name.
#[derive(Default)]
pub struct Gallery {
    machines: Vec<GalleryMachine>,
}

/// A machine in a gallery.
pub struct GalleryMachine {
    /// Its name in the gallery: letters, digits, dots and single hyphens.
    pub name: String,
    /// Name or path on the command line.
    pub given_name: String,
    /// Machine.
    pub machine: Machine,
    /// Its topology, distances and origin.
    pub profile: Profile,
    /// A one-line description, for bundled machines.
    pub summary: Option<String>,
    /// Sources of its figures, for bundled machines.
    pub sources: Vec<String>,
}

impl Gallery {
    /// Adds a bundled machine.
    pub fn add_bundled(&mut self, entry: MachineEntry, machine: Machine, profile: Profile) {
        self.add(machine, profile);
        if let Some(added) = self.machines.last_mut() {
            added.summary = Some(entry.summary);
            added.sources = entry.sources;
        }
    }

    /// Adds a machine, named after its file.
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

    /// The machines, in order of addition.
    pub fn machines(&self) -> &[GalleryMachine] {
        &self.machines
    }
}

/// The machine files of a folder, without hidden files and `.md`.
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

/// Double hyphens separate the names of a pair, so a single name has none.
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
    fn gallery_file_names_are_harmless() {
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
