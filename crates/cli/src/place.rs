//! Where Seatmap remembers what it measured.

use std::path::PathBuf;

/// The folder of remembered profiles and unfinished runs: `$XDG_STATE_HOME/seatmap` or `~/.local/state/seatmap`; `None`
/// where neither is known.
pub fn state_folder() -> Option<PathBuf> {
    let absolute = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("seatmap"))
}

/// The remembered profile of this host.
pub fn host_profile() -> Option<PathBuf> {
    Some(state_folder()?.join(format!("{}.json", host_name())))
}

/// This host's name, or `host`.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().map(|c| if c == '/' { '-' } else { c }).collect();
    if name.is_empty() || name.starts_with('.') { "host".to_owned() } else { name }
}

/// Today, in UTC, as `YYYY-MM-DD`.
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// This program with its version.
pub fn tool() -> String {
    concat!("seatmap ", env!("CARGO_PKG_VERSION")).to_owned()
}
