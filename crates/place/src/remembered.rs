//! Where Seatmap remembers what it measured, so that programs find the profile of the host that they run on.

use crate::PlaceError;
use seatmap_machine::{Profile, import};
use std::path::{Path, PathBuf};

/// The folder of remembered profiles and unfinished runs: `$XDG_STATE_HOME/seatmap` or `~/.local/state/seatmap`; `None`
/// where neither is known.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    let absolute = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("seatmap"))
}

/// The file of this host's remembered profile, there or not.
#[must_use]
pub fn host_profile() -> Option<PathBuf> {
    Some(state_folder()?.join(format!("{}.json", host_name())))
}

/// This host's name, or `host`.
#[must_use]
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().map(|c| if c == '/' { '-' } else { c }).collect();
    if name.is_empty() || name.starts_with('.') { "host".to_owned() } else { name }
}

/// This host's remembered profile.
///
/// # Errors
/// [`PlaceError::Unfit`] where the host was not measured, or its file cannot be read.
pub fn host() -> Result<Profile, PlaceError> {
    let path = host_profile().filter(|path| path.exists());
    let not_measured = "this host has not been measured yet; 'seatmap measure' does it in a second or two";
    read(&path.ok_or_else(|| PlaceError::Unfit(not_measured.to_owned()))?)
}

/// The profile in a file.
fn read(path: &Path) -> Result<Profile, PlaceError> {
    let unfit = |error: &dyn std::fmt::Display| PlaceError::Unfit(format!("{}: {error}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| unfit(&error))?;
    import::read(&bytes, &path.to_string_lossy(), None).map_err(|error| unfit(&error))
}

/// The CPUs that this process may use; `None` where the kernel does not say.
#[must_use]
pub fn allowed_cpus() -> Option<Vec<u32>> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    list.trim().parse::<seatmap_machine::CpuList>().ok().map(|cpus| cpus.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_profile_is_refused_by_name() {
        let torn = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let error = read(torn).unwrap_err().to_string();
        assert!(error.contains("Cargo.toml: "), "{error}");
        assert!(read(Path::new("/nowhere/at-all.json")).is_err());
    }

    #[test]
    fn the_process_runs_somewhere() {
        assert!(allowed_cpus().is_none_or(|cpus| !cpus.is_empty()));
    }
}
