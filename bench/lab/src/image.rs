//! The initial file system of a computer: programs with their libraries, scripts and modules, as
//! the cpio archive that Linux unpacks at its start.
//!
//! The format is "newc" of Linux' `Documentation/driver-api/early-userspace/buffer-format.rst`.

use crate::error::LabError;
use crate::tool::{find, output, write};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

enum Entry {
    Folder,
    Link(String),
    File { mode: u32, bytes: Vec<u8> },
}

/// Files by their paths in the guest, without the leading slash.
#[derive(Default)]
pub struct Initramfs {
    entries: BTreeMap<String, Entry>,
}

impl Initramfs {
    pub fn new() -> Self {
        let mut image = Self::default();
        for folder in ["bin", "lib", "lab", "modules", "proc", "sys", "dev", "tmp", "run", "etc"] {
            image.folder(folder);
        }
        image
    }

    pub fn folder(&mut self, path: &str) {
        let path = path.trim_matches('/');
        for (end, _) in path.match_indices('/') {
            self.entries.entry(path[..end].to_owned()).or_insert(Entry::Folder);
        }
        if !path.is_empty() {
            self.entries.entry(path.to_owned()).or_insert(Entry::Folder);
        }
    }

    fn put(&mut self, path: &str, entry: Entry) {
        let path = path.trim_start_matches('/');
        self.folder(path.rsplit_once('/').map_or("", |(folder, _)| folder));
        self.entries.insert(path.to_owned(), entry);
    }

    pub fn link(&mut self, path: &str, target: &str) {
        self.put(path, Entry::Link(target.to_owned()));
    }

    /// Adds a file of this computer, with its permissions.
    ///
    /// # Errors
    /// [`LabError::File`] if it cannot be read.
    pub fn file(&mut self, path: &str, source: &Path) -> Result<(), LabError> {
        let failed = LabError::file(source);
        let bytes = std::fs::read(source).map_err(&failed)?;
        let mode = std::fs::metadata(source).map_err(&failed)?.permissions().mode() & 0o777;
        self.put(path, Entry::File { mode, bytes });
        Ok(())
    }

    /// Adds a program of this computer with its shared libraries.
    ///
    /// # Errors
    /// [`LabError::File`] if one of them cannot be read.
    pub fn program(&mut self, path: &str, source: &Path) -> Result<(), LabError> {
        self.file(path, source)?;
        if let Some(Entry::File { bytes, .. }) = self.entries.get_mut(path.trim_start_matches('/'))
        {
            *bytes = without_debugging(source).unwrap_or_default();
        }
        for library in libraries(source) {
            self.file(&library.display().to_string(), &library)?;
        }
        Ok(())
    }

    /// Adds a folder of this computer with all its content.
    ///
    /// # Errors
    /// [`LabError::File`] if a file cannot be read.
    pub fn tree(&mut self, path: &str, source: &Path) -> Result<(), LabError> {
        self.folder(path);
        let failed = LabError::file(source);
        for entry in std::fs::read_dir(source).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            let kind = entry.file_type().map_err(&failed)?;
            let inside = format!("{path}/{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                self.tree(&inside, &entry.path())?;
            } else if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).map_err(&failed)?;
                self.link(&inside, &target.display().to_string());
            } else if kind.is_file() {
                self.file(&inside, &entry.path())?;
            }
        }
        Ok(())
    }

    /// Adds kernel modules with their dependencies, numbered in the order of loading.
    ///
    /// # Errors
    /// [`LabError`] if this kernel lacks one.
    pub fn modules(&mut self, kernel: &Path, names: &[String]) -> Result<(), LabError> {
        if names.is_empty() {
            return Ok(());
        }
        for tool in ["modprobe", "xz"] {
            find(tool)?;
        }
        let folder = kernel.join("lib/modules");
        let version = std::fs::read_dir(&folder)
            .ok()
            .and_then(|mut entries| entries.next()?.ok())
            .ok_or_else(|| LabError::Missing(folder.display().to_string()))?
            .file_name();
        let mut search = Command::new("modprobe");
        search.arg("--dirname").arg(kernel).arg("--set-version").arg(version);
        search.args(["--show-depends", "--all"]).args(names);
        let mut seen = Vec::new();
        for line in output(&mut search)?.lines() {
            let Some(file) = line.strip_prefix("insmod ").map(str::trim) else { continue };
            if seen.contains(&file.to_owned()) {
                continue;
            }
            seen.push(file.to_owned());
            let bytes = unpacked(Path::new(file))?;
            let name = format!("modules/{:02}.ko", seen.len());
            self.put(&name, Entry::File { mode: 0o644, bytes });
        }
        Ok(())
    }

    /// Writes the archive.
    ///
    /// # Errors
    /// [`LabError::File`] if it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LabError> {
        write(path, self.archive())
    }

    fn archive(&self) -> Vec<u8> {
        let mut archive = Vec::new();
        for (number, (path, entry)) in self.entries.iter().enumerate() {
            let (mode, bytes): (u32, &[u8]) = match entry {
                Entry::Folder => (0o040_755, &[]),
                Entry::Link(target) => (0o120_777, target.as_bytes()),
                Entry::File { mode, bytes } => (0o100_000 | mode, bytes),
            };
            append(&mut archive, number + 1, path, mode, bytes);
        }
        append(&mut archive, 0, "TRAILER!!!", 0, &[]);
        archive
    }
}

/// A header of 13 hexadecimal numbers, the name and the bytes, each padded to a multiple of four.
fn append(archive: &mut Vec<u8>, number: usize, name: &str, mode: u32, bytes: &[u8]) {
    let mut header = String::from("070701");
    let mode = mode as usize;
    let fields = [number, mode, 0, 0, 1, 0, bytes.len(), 0, 0, 0, 0, name.len() + 1, 0];
    for field in fields {
        let _ = write!(header, "{field:08x}");
    }
    archive.extend_from_slice(header.as_bytes());
    archive.extend_from_slice(name.as_bytes());
    archive.push(0);
    archive.resize(archive.len().next_multiple_of(4), 0);
    archive.extend_from_slice(bytes);
    archive.resize(archive.len().next_multiple_of(4), 0);
}

/// A program without debugging information: a quarter of the size, which the guest unpacks faster.
fn without_debugging(program: &Path) -> Option<Vec<u8>> {
    let name = program.file_name()?.to_string_lossy().into_owned();
    let small = std::env::temp_dir().join(format!("lab-{}-{name}", std::process::id()));
    let stripped = output(Command::new("strip").arg("-g").arg("-o").arg(&small).arg(program));
    let bytes = std::fs::read(stripped.map_or(program, |_| &small));
    let _ = std::fs::remove_file(&small);
    bytes.ok()
}

fn libraries(program: &Path) -> Vec<PathBuf> {
    let listed = output(Command::new("ldd").arg(program)).unwrap_or_default();
    listed.lines().filter_map(library).collect()
}

/// From a line of `ldd`: `libc.so.6 => /lib/libc.so.6 (0x7f)`.
fn library(line: &str) -> Option<PathBuf> {
    let line = line.trim();
    let path = line.split_once("=> ").map_or(line, |(_, path)| path);
    let path = path.split(" (").next().unwrap_or_default();
    path.starts_with('/').then(|| PathBuf::from(path))
}

fn unpacked(file: &Path) -> Result<Vec<u8>, LabError> {
    let extension = file.extension().and_then(|extension| extension.to_str());
    if extension != Some("xz") {
        return std::fs::read(file).map_err(LabError::file(file));
    }
    let unpacked = Command::new("xz").arg("-dc").arg(file).output();
    Ok(unpacked.map_err(LabError::start("xz"))?.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_holds_each_folder_before_its_files() {
        let mut image = Initramfs::default();
        let bytes = b"hello".to_vec();
        image.put("/etc/lab/words", Entry::File { mode: 0o644, bytes });
        image.link("bin", "usr/bin");
        let archive = image.archive();
        let text = String::from_utf8_lossy(&archive);
        let at = |name: &str| text.find(name).unwrap();
        assert!(at("etc\0") < at("etc/lab\0") && at("etc/lab\0") < at("etc/lab/words\0"));
        assert!(text.contains("hello") && text.contains("usr/bin"));
        assert_eq!(text.matches("070701").count(), 5, "four entries and the trailer");
        assert_eq!(archive.len() % 4, 0);
    }
}
