//! This computer's name and what is remembered of it, and today.

use crate::running;
pub use seatmap_os::state::{folder as state_folder, host_name, host_profile};

/// Today, in UTC, as `YYYY-MM-DD`.
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// This moment, in UTC, as RFC 3339 has it.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// This program with its version.
pub fn tool() -> String {
    format!("{} {}", running::name(), env!("CARGO_PKG_VERSION"))
}
