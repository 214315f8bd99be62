//! Collects the files to import, also from a folder such as `/etc/systemd/system`.

use super::systemd::KINDS;
use std::io;
use std::path::{Path, PathBuf};

/// In bytes: units, domains and states of kubelet are far smaller.
pub const MOST_BYTES: usize = 4 << 20;

/// A server has a few hundred units.
const MOST_FILES: usize = 4096;

/// The states of kubelet in `/var/lib/kubelet`.
const STATES: [&str; 2] = ["cpu_manager_state", "memory_manager_state"];

type Unread = (PathBuf, io::Error);

/// The files of a folder and its drop-in folders that may seat services, sorted, without links,
/// which lead to other such files; and the unreadable drop-in folders.
///
/// # Errors
/// The folder cannot be read, or has more files than any computer has units.
pub fn files_of(folder: &Path) -> io::Result<(Vec<PathBuf>, Vec<Unread>)> {
    let mut files = Vec::new();
    let mut unread = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_file() && is_of_interest(&name) {
            files.push(entry.path());
        } else if kind.is_dir() && name.ends_with(".d") {
            match drop_ins(&entry.path()) {
                Ok(inner) => files.extend(inner),
                Err(error) => unread.push((entry.path(), error)),
            }
        }
        if files.len() > MOST_FILES {
            return Err(io::Error::other(format!("there are more than {MOST_FILES} files")));
        }
    }
    files.sort();
    Ok((files, unread))
}

fn drop_ins(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_drop_in = entry.file_name().to_string_lossy().ends_with(".conf");
        if entry.file_type()?.is_file() && is_drop_in {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn is_of_interest(name: &str) -> bool {
    STATES.contains(&name) || KINDS.iter().chain(&[".xml"]).any(|kind| name.ends_with(kind))
}

/// The text of a file; bytes that are not text are replaced.
///
/// # Errors
/// The file is too large.
pub fn text_of(bytes: &[u8]) -> io::Result<String> {
    if bytes.len() > MOST_BYTES {
        return Err(io::Error::other(format!(
            "the file has more than {} MiB, too much for a unit, domain or kubelet state",
            MOST_BYTES >> 20
        )));
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
