//! Seatmap's folder for state between runs, and this host's name in it.

use rustix::fs::{Access, access};
use std::path::PathBuf;

/// The folder of remembered profiles and unfinished runs: `$XDG_STATE_HOME/seatmap` or
/// `~/.local/state/seatmap`.
pub fn folder() -> Option<PathBuf> {
    let state =
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("seatmap"))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Whether permissions let this user create files there, or in its nearest existing parent.
pub fn takes_files() -> bool {
    let Some(folder) = folder() else { return false };
    let there = folder.ancestors().find(|above| above.symlink_metadata().is_ok());
    there.is_some_and(|there| access(there, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

/// The file of this host's remembered profile; it may not exist.
pub fn host_profile() -> Option<PathBuf> {
    Some(folder()?.join(format!("{}.json", host_name())))
}

/// This host's name, or `host`.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().map(|c| if c == '/' { '-' } else { c }).collect();
    if name.is_empty() || name.starts_with('.') { "host".to_owned() } else { name }
}
